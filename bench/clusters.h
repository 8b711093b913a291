/* SPDX-License-Identifier: MIT
 *
 * A pass over a million points in three dimensions against the number of clusters, 1 to 100,000. */
#ifndef BENCH_CLUSTERS_H
#define BENCH_CLUSTERS_H

#include "goals.h"

#include <json.h>

#define BENCH_CLUSTER_COUNTS 11

typedef struct bench_clusters_run {
    int threads;
    size_t clusters;
    size_t born;                /* clusters of the run by angle */
    bench_samples first, later; /* spherical k-means: the first pass, and a later one */
    bench_samples birth, quiet; /* DP-vMF-means without initial means: the same */
} bench_clusters_run;

typedef struct bench_clusters {
    size_t count; /* points; 0: not requested */
    float *points, *means;
    int32_t *labels;
    int run_count;
    bench_clusters_run run[8 * BENCH_CLUSTER_COUNTS];
} bench_clusters;

/* Draws `share` of the points; results for each number of threads. */
void bench_clusters_open(bench_clusters *clusters, double share, const int *threads, int thread_counts);
void bench_clusters_repeat(bench_clusters *clusters);
void bench_clusters_free(bench_clusters *clusters);

void bench_clusters_goals(const bench_clusters *clusters, bench_goals *goals);
void bench_clusters_print(const bench_clusters *clusters);
void bench_clusters_write(const bench_clusters *clusters, ast_text *json);

#endif
