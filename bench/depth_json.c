/* SPDX-License-Identifier: MIT
 *
 * The numbers of depth frames as JSON: seconds, unrounded. */
#include "depth.h"

#include <stdio.h>

static void write_stage(ast_text *json, const char *name, const bench_series *series) {
    if (series->repetitions == 0)
        return;
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "stage", name);
    ast_json_number(json, "frames", series->frames, 9);
    bench_series_write(series, json);
    ast_json_close(json, '}');
}

static void write_stages(ast_text *json, const bench_depth_run *run) {
    ast_json_open(json, "stages", '[');
    for (int s = 0; s < BENCH_STAGES; s++)
        write_stage(json, bench_stage_name(s), &run->stage[s]);
    write_stage(json, "clustering: loading points", &run->load);
    write_stage(json, "clustering: in passes", &run->passes);
    write_stage(json, "PNG decoding alone", &run->scene->decoding);
    ast_json_close(json, ']');
}

static void write_frames(ast_text *json, const bench_depth_run *run) {
    ast_json_open(json, "frames", '[');
    for (int f = 0; f < run->scene->frames; f++) {
        ast_json_open(json, NULL, '{');
        ast_json_number(json, "normals_seconds", run->stage[BENCH_STAGE_PLANES].best[f], 9);
        ast_json_number(json, "clustering_seconds", run->stage[BENCH_STAGE_CLUSTERING].best[f], 9);
        ast_json_number(json, "passes", run->iterations[f], 9);
        ast_json_number(json, "scored_in_frames", run->scored[f], 9);
        ast_json_number(json, "missing_share", run->missing[f], 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void write_run(ast_text *json, const bench_depth_run *run) {
    const bench_series *clustering = &run->stage[BENCH_STAGE_CLUSTERING];
    double bare = bench_samples_min(&run->bare->time);
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->labels_hash);
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "scene", run->scene->name);
    ast_json_number(json, "width", (double)run->scene->frame[0].width, 9);
    ast_json_number(json, "height", (double)run->scene->frame[0].height, 9);
    ast_json_number(json, "threads", run->threads, 9);
    ast_json_number(json, "repetitions", clustering->repetitions, 9);
    ast_json_number(json, "bare_seconds", bare, 9);
    ast_json_number(json, "clustering_median_in_bare_passes", bench_series_typical(&run->in_bare, 0.5), 9);
    ast_json_number(json, "clustering_p99_in_bare_passes", bench_series_typical(&run->in_bare, 0.99), 9);
    if (run->all_labelled.count) {
        ast_json_number(json, "all_decoded_seconds", bench_samples_min(&run->scene->all_decoded), 9);
        ast_json_number(json, "all_from_files_seconds", bench_samples_min(&run->all_labelled), 9);
    }
    ast_json_number(json, "unconverged_frames", run->unconverged, 9);
    ast_json_string(json, "labels_hash", hash);
    write_stages(json, run);
    write_frames(json, run);
    ast_json_close(json, '}');
}

void bench_depths_write(const bench_depths *d, ast_text *json) {
    ast_json_open(json, "depth", '[');
    for (int r = 0; r < d->run_count; r++)
        write_run(json, &d->run[r]);
    ast_json_close(json, ']');
}
