/* SPDX-License-Identifier: MIT
 *
 * What the machine can do at all, whatever the program: memory bandwidth and multiply-adds. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "bench.h"

/* Bytes read a second, summing an array that fits no cache. */
double bench_read_bandwidth(bench_team *team, size_t bytes);

/* Bytes moved a second by a = b + s c over three arrays of `bytes` / 3: two read and one written, as STREAM counts. */
double bench_triad_bandwidth(bench_team *team, size_t bytes);

/* Single-precision floating-point operations a second (a multiply-add is two). */
double bench_multiply_add_peak(bench_team *team);

/* One worker's share of the above with 256-bit FMA instructions: `rounds` times BENCH_FMA_PER_ROUND operations. The
 * returned value only keeps the compiler from dropping the work. */
#define BENCH_FMA_PER_ROUND (12 * 8 * 2)
float bench_fma_rounds_avx2(size_t rounds);

#endif
