/* SPDX-License-Identifier: MIT
 *
 * The numbers of depth frames as JSON: seconds, unrounded. */
#include "depth.h"

#include <stdio.h>

static void write_stage(bench_json *json, const char *name, const bench_series *series) {
    if (series->repetitions == 0)
        return;
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "stage", name);
    bench_json_number(json, "frames", series->frames);
    bench_series_write(series, json);
    bench_json_close(json, '}');
}

static void write_stages(bench_json *json, const bench_depth_run *run) {
    bench_json_open(json, "stages", '[');
    for (int s = 0; s < BENCH_STAGES; s++)
        write_stage(json, bench_stage_name(s), &run->stage[s]);
    write_stage(json, "clustering: loading points", &run->load);
    write_stage(json, "clustering: in passes", &run->passes);
    write_stage(json, "PNG decoding alone", &run->scene->decoding);
    bench_json_close(json, ']');
}

static void write_frames(bench_json *json, const bench_depth_run *run) {
    bench_json_open(json, "frames", '[');
    for (int f = 0; f < run->scene->frames; f++) {
        bench_json_open(json, NULL, '{');
        bench_json_number(json, "normals_seconds", run->stage[BENCH_STAGE_PLANES].best[f]);
        bench_json_number(json, "clustering_seconds", run->stage[BENCH_STAGE_CLUSTERING].best[f]);
        bench_json_number(json, "passes", run->iterations[f]);
        bench_json_number(json, "scored_in_frames", run->scored[f]);
        bench_json_number(json, "missing_share", run->missing[f]);
        bench_json_close(json, '}');
    }
    bench_json_close(json, ']');
}

static void write_run(bench_json *json, const bench_depth_run *run) {
    const bench_series *clustering = &run->stage[BENCH_STAGE_CLUSTERING];
    double bare = bench_samples_min(&run->bare->time);
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->labels_hash);
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "scene", run->scene->name);
    bench_json_number(json, "width", (double)run->scene->frame[0].width);
    bench_json_number(json, "height", (double)run->scene->frame[0].height);
    bench_json_number(json, "threads", run->threads);
    bench_json_number(json, "repetitions", clustering->repetitions);
    bench_json_number(json, "bare_seconds", bare);
    bench_json_number(json, "clustering_median_in_bare_passes", bench_series_best(clustering, 0.5) / bare);
    bench_json_number(json, "clustering_p99_in_bare_passes", bench_series_best(clustering, 0.99) / bare);
    if (run->all_labelled.count) {
        bench_json_number(json, "all_decoded_seconds", bench_samples_min(&run->scene->all_decoded));
        bench_json_number(json, "all_from_files_seconds", bench_samples_min(&run->all_labelled));
    }
    bench_json_number(json, "unconverged_frames", run->unconverged);
    bench_json_text(json, "labels_hash", hash);
    write_stages(json, run);
    write_frames(json, run);
    bench_json_close(json, '}');
}

void bench_depths_write(const bench_depths *d, bench_json *json) {
    bench_json_open(json, "depth", '[');
    for (int r = 0; r < d->run_count; r++)
        write_run(json, &d->run[r]);
    bench_json_close(json, ']');
}
