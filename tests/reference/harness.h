/* SPDX-License-Identifier: MIT
 *
 * Runs the library in one of its ways (instruction set, threads, parallel mode, bounds) and compares what it says with
 * the reference, down to the bit. A difference fails the running cmocka test with the case's seed in the message. */
#ifndef REF_HARNESS_H
#define REF_HARNESS_H

#include "reference/cases.h"
#include "reference/reference.h"

/* cmocka wants these four before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* One way to run. */
typedef struct ref_setup {
    const char *isa;
    int threads;
    ast_parallel parallel;
    int bounds;
} ref_setup;

#define REF_SETUPS 48 /* {base, avx2} x {1, 2, 3, 8} threads x {ordered, oir, serial} x bounds {on, off} */
ref_setup ref_setup_number(size_t number); /* 0..REF_SETUPS-1 */

/* Way number `way` of `ways`: a few at random, so that all are met over the cases; all of them if asked for. */
ref_setup ref_setup_of_way(ast_random *random, size_t way, size_t ways);
const char *ref_setup_text(const ref_setup *setup);

/* The vector instructions that the library has kernels for, on this kind of processor. */
#if defined(__aarch64__)
#define REF_FAST "neon"
#else
#define REF_FAST "avx2"
#endif

/* Whether this machine has the instruction set. If not, the first call says so in one line; a test that compares
 * instruction sets then leaves that one out. */
bool ref_has(const char *isa);

/* The context for an instruction set and a number of threads: opened once and used again, so that what one case leaves
 * behind meets the next. It has that instruction set, or "base" on a machine without it. */
ast_context *ref_context(const char *isa, int threads);
void ref_contexts_close(void);
int ref_contexts_end(void **state); /* the same, as the teardown of a group of tests */

/* Calls `check` for the seeds 1, 2, ... of as many cases as ref_case_count(most) says, each in some `ways`; or, with
 * AST_TEST_SEED, for the one seed in all of them. */
void ref_check_seeds(void (*check)(uint64_t seed, ref_size size, size_t ways), ref_size size, size_t most,
                     size_t ways);

/* The passes a run reported through its progress callback. */
typedef struct ref_trace {
    ast_progress *passes;
    size_t count, capacity;
    size_t starts; /* that k-means++ reported before them */
} ref_trace;

int ref_trace_record(const ast_progress *state, void *trace); /* the callback */
void ref_trace_free(ref_trace *trace);

/* The options of DP-vMF-means with this angle. */
ast_options ref_dp_options(double angle);

/* Runs ast_cluster on the case with these options in this way and compares labels, means, counts, iterations and the
 * objective of every pass with `expected`. */
void ref_check_run(const ref_case *made, const ref_points *points, const ref_result *expected,
                   const ast_options *options, const ref_setup *setup);

#endif
