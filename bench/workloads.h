/* SPDX-License-Identifier: MIT
 *
 * The named workloads, generated from a seed: the same numbers on every machine. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "bench.h"

enum { BENCH_W1, BENCH_W2, BENCH_W3, BENCH_WORKLOADS };

typedef struct bench_workload {
    const char *name, *about;
    size_t count, dimension, clusters; /* clusters: of the truth */
    double share;                      /* of the number of points of the named workload */
    double angle;                      /* degrees, for DP-vMF-means */
    float *points;                     /* (count, dimension) */
    int32_t *truth;                    /* (count) -1: noise */
    float *means;                      /* (clusters, dimension) of the truth */
    float *start;                      /* (clusters, dimension) points to start spherical k-means from */
} bench_workload;

/* Only `share` of the points, for quick runs; 1 for the workload as named. */
void bench_workload_make(bench_workload *workload, int which, double share);
void bench_workload_free(bench_workload *workload);
const char *bench_workload_name(int which);

/* Writes DIR/W1.npy, W1_truth.npy, W1_means.npy and W1_start.npy (or W2, W3). Exits with a sentence on failure. */
void bench_workload_write(const bench_workload *workload, const char *folder);

#endif
