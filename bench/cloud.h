/* SPDX-License-Identifier: MIT
 *
 * Normals of point clouds: the k-d tree, the neighbours, and the whole call; and the planes of a scan. */
#ifndef BENCH_CLOUD_H
#define BENCH_CLOUD_H

#include "cloud_files.h"
#include "goals.h"

#include <json.h>

#define BENCH_CLOUD_NEIGHBOURS 16

enum {
    BENCH_CLOUD_SCAN,
    BENCH_CLOUD_CUBE,
    BENCH_CLOUDS
}; /* the walls of a room with noise; points anywhere in a cube */

typedef struct bench_cloud_run {
    int cloud, threads;
    bench_samples build, nearest, normals;
    bench_samples planes; /* of a scan: clusters of its normals, and planes with outlines */
} bench_cloud_run;

typedef struct bench_clouds {
    size_t count; /* points of each; 0: not requested */
    float *points[BENCH_CLOUDS], *normals;
    int32_t *labels;
    bench_cloud_files files;
    int run_count;
    bench_cloud_run run[8 * BENCH_CLOUDS];
} bench_clouds;

/* Makes the clouds, `share` of a million points each; results for each number of threads. */
void bench_clouds_open(bench_clouds *clouds, double share, const int *threads, int thread_counts);
void bench_clouds_repeat(bench_clouds *clouds);
void bench_clouds_free(bench_clouds *clouds);

void bench_clouds_goals(const bench_clouds *clouds, bench_goals *goals);
void bench_clouds_print(const bench_clouds *clouds);
void bench_clouds_write(const bench_clouds *clouds, ast_text *json);
void bench_clouds_write_points(double share, const char *folder); /* cloud_scan.npy and cloud_cube.npy, for peers */

#endif
