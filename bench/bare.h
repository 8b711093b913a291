/* SPDX-License-Identifier: MIT
 *
 * The bare fused pass: label + sums over row-major f4 points, with everything known. For each point the arg-max of its
 * dot products with K means, and the exact sums (each component times 2^30, rounded, in int64) and counts of every
 * cluster. No missing rows, no threshold, no births, no bounds, no exact tie-break: the lower limit for any clustering
 * that compares every point with every mean. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include "bench.h"

/* One worker's part of a pass. */
typedef struct bench_slice {
    const float *points; /* (count, dimension) */
    size_t count, dimension, clusters;
    const float *means; /* (clusters, dimension) */
    const void *packed; /* the means in the layout of the method */
    int32_t *labels;    /* (count) out */
    int64_t *sums;      /* (clusters, dimension) added to */
    int64_t *counts;    /* (clusters) added to */
} bench_slice;

/* A way to run the pass. */
typedef struct bench_method {
    const char *name;
    int (*usable)(size_t dimension);
    size_t (*packed_bytes)(size_t clusters, size_t dimension); /* NULL: uses the means as they are */
    void (*pack)(const float *means, size_t clusters, size_t dimension, void *packed);
    size_t (*scratch_bytes)(size_t clusters, size_t dimension); /* per worker */
    void (*pass)(const bench_slice *slice, void *scratch);
} bench_method;

extern const bench_method bench_bare_plain; /* any processor, any dimension */
extern const bench_method bench_bare_small; /* AVX2, D = 3 */
extern const bench_method bench_bare_wide;  /* AVX2 and FMA, D >= 16: matrix-multiply tiles */
extern const bench_method bench_bare_blas;  /* D >= 16: sgemm of OpenBLAS, if installed */

/* The methods for points of that dimension on this machine; NULL ends the list. The list is valid until the next
 * call. */
#define BENCH_MAX_METHODS 3
const bench_method *const *bench_bare_methods(size_t dimension);

/* sum += round(x 2^30), the part of the pass that the methods share. */
void bench_add_row(const float *x, size_t dimension, int64_t *sum);
void bench_add_row_avx2(const float *x, size_t dimension, int64_t *sum);

/* A prepared pass: means packed, scratch memory allocated. */
typedef struct bench_bare bench_bare;

bench_bare *bench_bare_open(const bench_method *method, const float *points, size_t count, size_t dimension,
                            const float *means, size_t clusters);
void bench_bare_close(bench_bare *bare);

/* Runs the pass once, including the merging of the workers' sums, and returns the seconds. */
double bench_bare_run(bench_bare *bare, bench_team *team);

/* The least of a few runs on a team of so many threads, which ends with them: the unit for what is measured next to it on
 * a machine whose speed changes. */
double bench_bare_now(bench_bare *bare, int threads);

const int32_t *bench_bare_labels(const bench_bare *bare); /* of the last run */

/* Checks the last run against a plain double-precision pass: exits unless the sums are exactly those of the labels and
 * no label has a score below the best by more than rounding. */
void bench_bare_check(const bench_bare *bare);

#endif
