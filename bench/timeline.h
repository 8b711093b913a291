/* SPDX-License-Identifier: MIT
 *
 * What each thread does during a run, as a timeline in Chrome's trace format: open it in chrome://tracing or Perfetto;
 * bench/timeline.py sums it up and simulates more threads. */
#ifndef BENCH_TIMELINE_H
#define BENCH_TIMELINE_H

#include "depth.h"
#include "embeddings.h"
#include "stream.h"
#include "workloads.h"

/* What is traced: the workloads, streams and depth scenes that have points, and the embeddings. */
typedef struct bench_timeline_input {
    const bench_workload *workloads;          /* (BENCH_WORKLOADS) */
    const bench_streams *streams;             /* W4 */
    const bench_depths *depths;               /* its first scene */
    const bench_embedding_points *embeddings; /* W5; points NULL: none */
    const int *threads;
    int thread_counts;
} bench_timeline_input;

/* Runs everything once on each number of threads, and writes the file. */
void bench_timeline_run(const bench_timeline_input *input, const char *path);

#endif
