/* SPDX-License-Identifier: MIT
 *
 * Times of frames. */
#include "series.h"

#include "bench.h"

#include <stdlib.h>

void bench_series_open(bench_series *series, int frames, int repetitions) {
    *series = (bench_series){.frames = frames};
    series->best = bench_alloc((size_t)frames * sizeof *series->best);
    series->all = bench_alloc((size_t)repetitions * (size_t)frames * sizeof *series->all);
}

void bench_series_free(bench_series *series) {
    free(series->best);
    free(series->all);
}

void bench_series_note(bench_series *series, int frame, double seconds) {
    series->all[series->repetitions * series->frames + frame] = seconds;
    if (series->repetitions == 0 || seconds < series->best[frame])
        series->best[frame] = seconds;
}

void bench_series_end(bench_series *series) {
    series->repetitions++;
}

double bench_series_best(const bench_series *series, double share) {
    return bench_quantile(series->best, (size_t)series->frames, share);
}

double bench_series_any(const bench_series *series, double share) {
    return bench_quantile(series->all, (size_t)series->repetitions * (size_t)series->frames, share);
}

double bench_series_typical(const bench_series *series, double share) {
    double *frames = bench_alloc((size_t)series->frames * sizeof *frames);
    double *times = bench_alloc((size_t)series->repetitions * sizeof *times);
    for (int f = 0; f < series->frames; f++) {
        for (int r = 0; r < series->repetitions; r++)
            times[r] = series->all[r * series->frames + f];
        frames[f] = bench_quantile(times, (size_t)series->repetitions, 0.5);
    }
    double at = bench_quantile(frames, (size_t)series->frames, share);
    free(frames);
    free(times);
    return at;
}

static void write_spread(ast_text *json, const char *key, double (*at)(const bench_series *, double),
                         const bench_series *series) {
    ast_json_open(json, key, '{');
    ast_json_number(json, "min", at(series, 0), 9);
    ast_json_number(json, "median", at(series, 0.5), 9);
    ast_json_number(json, "p99", at(series, 0.99), 9);
    ast_json_number(json, "max", at(series, 1), 9);
    ast_json_close(json, '}');
}

void bench_series_write(const bench_series *series, ast_text *json) {
    write_spread(json, "seconds", bench_series_best, series);
    write_spread(json, "seconds_all_repetitions", bench_series_any, series);
}
