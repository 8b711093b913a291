/* SPDX-License-Identifier: MIT
 *
 * Reading clouds from files in the page cache: megabytes per second. */
#ifndef BENCH_CLOUD_FILES_H
#define BENCH_CLOUD_FILES_H

#include "goals.h"

#include <json.h>

enum { BENCH_PLY, BENCH_PLY_SWAPPED, BENCH_PCD, BENCH_PLY_TEXT, BENCH_PCD_TEXT, BENCH_CLOUD_FILES };

typedef struct bench_cloud_files {
    char folder[256]; /* "": not requested */
    size_t bytes[BENCH_CLOUD_FILES];
    bench_samples time[BENCH_CLOUD_FILES];
} bench_cloud_files;

/* Writes `count` points, (count, 3), in every format. */
void bench_cloud_files_open(bench_cloud_files *files, const float *points, size_t count);
void bench_cloud_files_repeat(bench_cloud_files *files);
void bench_cloud_files_free(bench_cloud_files *files);

void bench_cloud_files_goals(const bench_cloud_files *files, bench_goals *goals);
void bench_cloud_files_print(const bench_cloud_files *files);
void bench_cloud_files_write(const bench_cloud_files *files, ast_text *json);

#endif
