/* SPDX-License-Identifier: MIT
 *
 * Methods other than the clustering: the exact silhouette, a sweep of the FSD sampler, a pass of expectation
 * maximisation. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#include "goals.h"

#include <json.h>

enum { BENCH_SILHOUETTE, BENCH_FSD, BENCH_MOVMF, BENCH_METHODS };

typedef struct bench_method_run {
    int method, threads;
    bench_samples time; /* of one silhouette, sweep or pass */
} bench_method_run;

typedef struct bench_methods {
    size_t count[BENCH_METHODS]; /* points; 0: not requested */
    float *points[BENCH_METHODS];
    int32_t *truth[BENCH_METHODS], *labels;
    int run_count;
    bench_method_run run[8 * BENCH_METHODS];
} bench_methods;

/* Draws the points, `share` of their number; results for each number of threads. */
void bench_methods_open(bench_methods *methods, double share, const int *threads, int thread_counts);
void bench_methods_repeat(bench_methods *methods);
void bench_methods_free(bench_methods *methods);

void bench_methods_goals(const bench_methods *methods, bench_goals *goals);
void bench_methods_print(const bench_methods *methods);
void bench_methods_write(const bench_methods *methods, ast_text *json);

#endif
