/* SPDX-License-Identifier: MIT
 *
 * Times of the frames of a sequence that runs repeatedly. The time of a frame is its minimum over the repetitions; the
 * list of all repetitions includes the disturbances of the machine. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include <json.h>

typedef struct bench_series {
    int frames, repetitions; /* repetitions: the complete ones */
    double *best;            /* (frames) seconds, the minimum over the repetitions */
    double *all;             /* (repetitions, frames) seconds */
} bench_series;

void bench_series_open(bench_series *series, int frames, int repetitions);
void bench_series_free(bench_series *series); /* also for a zeroed one */

void bench_series_note(bench_series *series, int frame, double seconds); /* in the current repetition */
void bench_series_end(bench_series *series);                             /* every frame of it must be recorded */

/* Seconds at a share of the sorted times, nearest rank. */
double bench_series_best(const bench_series *series, double share);
double bench_series_any(const bench_series *series, double share);

/* The same of each frame's median over the repetitions. */
double bench_series_typical(const bench_series *series, double share);

/* Two objects: "seconds" and "seconds_all_repetitions", each with min, median, p99 and max. */
void bench_series_write(const bench_series *series, ast_text *json);

#endif
