/* SPDX-License-Identifier: MIT
 *
 * Cases for the tests: data of every awkward kind, each made from one seed alone, so that the seed a test prints on
 * failure is all that is needed to see it again. */
#ifndef REF_CASES_H
#define REF_CASES_H

#include "asterism.h"
#include "random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define REF_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define REF_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REF_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define REF_TSAN 1
#endif
#endif

/* How many times less to do than in a plain build, so that every build takes about as long. */
#if defined(REF_TSAN)
#define REF_SLOWER 30
#elif defined(REF_ASAN)
#define REF_SLOWER 10
#else
#define REF_SLOWER 1
#endif

/* The sizes a case may have. */
typedef enum ref_size {
    REF_SMALL, /* any dimension, 0..600 points, most below 60 */
    REF_LARGE  /* 4,095..20,000 points in three dimensions: several blocks of any block size */
} ref_size;

typedef struct ref_case {
    uint64_t seed;
    char text[240];      /* what the case is, for messages */
    ast_points points;   /* the view that the library gets: any type, any strides, weights or none */
    double angle;        /* degrees */
    const float *means;  /* (means_count, D) to start from, or NULL */
    size_t means_count;
    int continuous;      /* no two scores are equal except by accident */
    void *data;          /* owned */
    double *weights;     /* owned */
    float *given;        /* owned */
} ref_case;

void ref_case_make(ref_case *made, uint64_t seed, ref_size size);
void ref_case_free(ref_case *made);

/* Whether AST_TEST_LONG=1 asks for all that a test can do, instead of what fits into a merge. */
bool ref_long(void);

/* How large to make an input: `most` with AST_TEST_LONG=1, half of it without, a share of `most` under a sanitizer. */
size_t ref_scaled(size_t most);

/* n of AST_TEST_SHARE=n, or 1: a program that runs a second time, for one more way to do things, does an n-th. */
size_t ref_share(void);

/* How many cases to run: `most` with AST_TEST_LONG=1, half of them without it, fewer under a sanitizer, of all of which
 * an n-th by ref_share, at least one; or just as many as AST_TEST_CASES says. */
size_t ref_case_count(size_t most);

/* The one seed to run, from AST_TEST_SEED, or 0. */
uint64_t ref_case_only(void);

/* Makes v (D) a unit vector, unless it is zero; a uniform one. */
void ref_make_unit(double *v, size_t dimension);
void ref_random_direction(ast_random *random, double *v, size_t dimension);

/* (N, D) unit floats: `clusters` directions spread evenly over the sphere (D = 3) or at random, each with normal noise
 * of `spread` in every component, in random order; a share of `noise` is uniform. */
void ref_fill_clustered(float *x, size_t count, size_t dimension, size_t clusters, double spread, double noise,
                        uint64_t seed);

/* height x width normals of a room seen by a camera: flat walls in image order, cut by straight edges, a share of
 * `noise` uniform. Runs on it see many clusters born and die. */
void ref_fill_image(float *x, size_t height, size_t width, double noise, uint64_t seed);

/* An order-dependent hash of labels: one number to compare a run by. */
uint64_t ref_hash(const int32_t *labels, size_t count);

/* Goes on from `hash`. Every NaN counts as the same one. */
uint64_t ref_hash_floats(uint64_t hash, const float *x, size_t count);

#endif
