/* SPDX-License-Identifier: MIT
 *
 * The numbers as a table for people and as one JSON file. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "cloud.h"
#include "axial.h"
#include "clusters.h"
#include "embeddings.h"
#include "methods.h"
#include "scaling.h"
#include "depth.h"
#include "goals.h"
#include "stream.h"

#define BENCH_MAX_COUNTS 8 /* of threads */
#define BENCH_MAX_RESULTS (BENCH_WORKLOADS * BENCH_MAX_COUNTS)

typedef struct bench_report {
    char machine[128]; /* the processor's name */
    int processors, repetitions;
    double share, load; /* of the points; load average at the start */
    int limit_count, result_count;
    bench_limits limits[BENCH_MAX_COUNTS];
    bench_workload workloads[BENCH_WORKLOADS];
    bench_result results[BENCH_MAX_RESULTS];
    bench_streams streams;
    bench_depths depths;
    bench_clouds clouds;
    bench_methods methods;
    bench_axials axials;
    bench_clusters clusters;
    bench_scaling scaling;
    bench_embeddings embeddings;
    bench_goals goals;
} bench_report;

void bench_report_machine(bench_report *report); /* fills in machine, processors and load */
void bench_print_limits(const bench_report *report);
void bench_print_result(const bench_report *report, const bench_result *result);
void bench_print_goals(const bench_report *report);
void bench_report_write(const bench_report *report, const char *path); /* as JSON; exits with a sentence on failure */

#endif
