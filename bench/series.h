/* SPDX-License-Identifier: MIT
 *
 * Times of the frames of a sequence that is run again and again. A frame's time is its least over the repetitions; with
 * all repetitions taken as they came, the machine's own hiccups are in. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include <json.h>

typedef struct bench_series {
    int frames, repetitions; /* repetitions: those that are complete */
    double *best;            /* (frames) seconds, the least over the repetitions */
    double *all;             /* (repetitions, frames) seconds */
} bench_series;

void bench_series_open(bench_series *series, int frames, int repetitions);
void bench_series_free(bench_series *series); /* fine on a zeroed one */

void bench_series_note(bench_series *series, int frame, double seconds); /* in the repetition at hand */
void bench_series_end(bench_series *series);                             /* every frame of it was noted */

/* Seconds at a share of the sorted times, nearest rank. */
double bench_series_best(const bench_series *series, double share);
double bench_series_any(const bench_series *series, double share);

/* Two objects: "seconds" and "seconds_all_repetitions", each with min, median, p99 and max. */
void bench_series_write(const bench_series *series, ast_text *json);

#endif
