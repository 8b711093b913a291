/* SPDX-License-Identifier: MIT
 *
 * What is measured for a workload on a number of threads, and the results. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bare.h"
#include "workloads.h"

/* The machine, on a number of threads. */
typedef struct bench_limits {
    int threads;
    double read, triad;  /* bytes per second, the best of the repetitions */
    double multiply_add; /* single-precision operations per second, the best */
} bench_limits;

void bench_limits_repeat(bench_limits *limits); /* one more repetition */

/* One pass of a run; its time over the repetitions. */
typedef struct bench_pass {
    size_t changed, clusters;
    uint64_t scored;
    bench_samples time;
} bench_pass;

/* Runs of ast_cluster. */
enum {
    BENCH_COLD,           /* DP-vMF-means without initial means */
    BENCH_COLD_UNBOUNDED, /* the same, with every point compared with every mean in every pass */
    BENCH_WARM,           /* DP-vMF-means from the final means of the cold run */
    BENCH_WARM_UNBOUNDED,
    BENCH_SPKM, /* spherical k-means from the workload's start */
    BENCH_SPKM_UNBOUNDED,
    BENCH_RUNS
};

const char *bench_run_name(int kind);

typedef struct bench_run {
    bench_samples total; /* the whole call */
    double spent;        /* seconds over all repetitions */
    int passes, room;
    bench_pass *pass;
    size_t clusters;
    double objective;
    int converged;
    uint64_t labels_hash;
} bench_run;

/* A workload on a number of threads. */
typedef struct bench_result {
    const bench_workload *workload;
    int threads;
    const char *instruction_set;
    int methods;
    const bench_method *method[BENCH_MAX_METHODS];
    bench_samples bare[BENCH_MAX_METHODS];
    bench_run run[BENCH_RUNS];
    size_t peak_memory, memory_budget; /* bytes; 0: not measured */
    void *state;                       /* contexts and scratch, while it is measured */
} bench_result;

void bench_result_open(bench_result *result, const bench_workload *workload, int threads);

/* One more repetition of everything, in turn. A run that has taken more than `patience` seconds so far is not repeated
 * again. */
void bench_result_repeat(bench_result *result, double patience);

/* One more repetition of the bare pass alone. */
void bench_result_repeat_bare(bench_result *result);

/* Frees contexts and scratch; the results stay until bench_result_free. */
void bench_result_close(bench_result *result);
void bench_result_free(bench_result *result);

/* The index of the fastest method, and its seconds. */
int bench_bare_best(const bench_result *result);
double bench_bare_seconds(const bench_result *result);

/* Peak resident memory of a separate process that reads the workload's file from `folder` and clusters it. */
void bench_measure_memory(bench_result *result, const char *program, const char *folder);

/* The code of that process. Returns its exit code. */
int bench_memory_child(const char *file, double angle, int threads);

#endif
