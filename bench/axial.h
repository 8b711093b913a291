/* SPDX-License-Identifier: MIT
 *
 * The cost of treating x and -x as the same: the same points, with their signs and with random signs. */
#ifndef BENCH_AXIAL_H
#define BENCH_AXIAL_H

#include "goals.h"

#include <json.h>

enum { BENCH_AXIAL_A, BENCH_AXIAL_B, BENCH_AXIAL_C, BENCH_AXIALS };

typedef struct bench_axial_run {
    int set, threads, kmeans; /* kmeans: ten iterations from given means; otherwise DP-vMF-means until it converges */
    int passes[2];
    size_t clusters[2];
    bench_samples time[2]; /* directed, axial */
} bench_axial_run;

typedef struct bench_axials {
    size_t count[BENCH_AXIALS]; /* 0: not requested */
    float *points[BENCH_AXIALS][2], *start[BENCH_AXIALS];
    int32_t *labels;
    int run_count;
    bench_axial_run run[16 * BENCH_AXIALS];
} bench_axials;

/* Draws the points, `share` of their number; results for each number of threads. */
void bench_axials_open(bench_axials *axials, double share, const int *threads, int thread_counts);
void bench_axials_repeat(bench_axials *axials);
void bench_axials_free(bench_axials *axials);

void bench_axials_goals(const bench_axials *axials, bench_goals *goals);
void bench_axials_print(const bench_axials *axials);
void bench_axials_write(const bench_axials *axials, ast_text *json);

#endif
