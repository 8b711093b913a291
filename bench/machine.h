/* SPDX-License-Identifier: MIT
 *
 * The limits of the machine, independent of the program: memory bandwidth and multiply-adds. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "bench.h"

/* Bytes read per second, summing an array larger than any cache. */
double bench_read_bandwidth(bench_team *team, size_t bytes);

/* Bytes moved per second by a = b + s c over three arrays of `bytes` / 3: two read and one written, as STREAM
 * counts. */
double bench_triad_bandwidth(bench_team *team, size_t bytes);

/* Single-precision floating-point operations per second (a multiply-add is two). */
double bench_multiply_add_peak(bench_team *team);

/* One worker's share of the above with 256-bit FMA instructions: `rounds` times BENCH_FMA_PER_ROUND operations. The
 * returned value only keeps the compiler from removing the work. */
#define BENCH_FMA_PER_ROUND (12 * 8 * 2)
float bench_fma_rounds_avx2(size_t rounds);

#endif
