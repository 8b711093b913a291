/* SPDX-License-Identifier: MIT
 *
 * Every allocation and every thread start of a call fails once: the call says so, writes nothing, loses nothing, and
 * the context works on. */
#ifndef AST_TESTS_FAILING_H
#define AST_TESTS_FAILING_H

#include "asterism.h"
#include "reference/cases.h"
#include "reference/no_memory.h"
#include "reference/reference.h"

/* cmocka wants these four before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum {
    N = 1100,
    MOST = 20000,             /* no call allocates that often */
    STEP = REF_SLOWER / 2 + 1 /* 1: every allocation; under a sanitizer, for time, every sixth or more */
};

typedef struct scene {
    const char *name;
    size_t dimension;
    int threads;
    ast_options options;
    float *x;
    double *weights; /* or NULL */
    ast_points points;
    int32_t expected[N]; /* the labels of an undisturbed run */
} scene;

/* One call of the library, with results in `out` (N numbers) that a failure must leave alone. */
typedef ast_status call(ast_context *context, const scene *s, int32_t *out);

call call_cluster, call_assign, call_silhouette;

/* Lets every allocation of the call fail, in a context that has done `before` (or nothing). */
void fail_all(const scene *s, call *tested, call *before);

void scene_open(scene *s, const char *name, size_t dimension, int threads, double angle);
void scene_expect(scene *s); /* runs the clustering undisturbed, for what the other calls work on */
void scene_close(scene *s);

#endif
