/* SPDX-License-Identifier: MIT
 *
 * The unit in which frames are measured: a bare pass over points around six axis directions. */
#ifndef BENCH_AXES_H
#define BENCH_AXES_H

#include "bare.h"

/* Its times on a number of threads. */
typedef struct bench_axes {
    int threads;
    const char *name; /* of the method */
    bench_samples time;
} bench_axes;

/* One more repetition: the best of a few passes. points: (count, 3), means: (BENCH_AXES, 3). */
void bench_axes_repeat(bench_axes *axes, const float *points, size_t count, const float *means);

#endif
