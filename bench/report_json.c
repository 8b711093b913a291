/* SPDX-License-Identifier: MIT
 *
 * All numbers as one JSON file: seconds, bytes and operations per second, unrounded. */
#include "report.h"

#include <asterism.h>
#include <json.h>
#include <time.h>

static void write_samples(ast_text *json, const char *key, const bench_samples *samples) {
    ast_json_open(json, key, '{');
    ast_json_number(json, "min", bench_samples_min(samples), 9);
    ast_json_number(json, "median", bench_samples_median(samples), 9);
    ast_json_number(json, "first", samples->count ? samples->seconds[0] : 0, 9);
    ast_json_number(json, "repetitions", samples->count, 9);
    ast_json_close(json, '}');
}

static void write_limits(ast_text *json, const bench_report *report) {
    ast_json_open(json, "limits", '[');
    for (int i = 0; i < report->limit_count; i++) {
        ast_json_open(json, NULL, '{');
        ast_json_number(json, "threads", report->limits[i].threads, 9);
        ast_json_number(json, "read_bytes_per_second", report->limits[i].read, 9);
        ast_json_number(json, "triad_bytes_per_second", report->limits[i].triad, 9);
        ast_json_number(json, "multiply_add_per_second", report->limits[i].multiply_add, 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void write_passes(ast_text *json, const bench_run *run, double bare) {
    ast_json_open(json, "pass", '[');
    for (int i = 0; i < run->passes; i++) {
        ast_json_open(json, NULL, '{');
        ast_json_number(json, "min", bench_samples_min(&run->pass[i].time), 9);
        ast_json_number(json, "median", bench_samples_median(&run->pass[i].time), 9);
        ast_json_number(json, "bare_passes", bench_samples_min(&run->pass[i].time) / bare, 9);
        ast_json_number(json, "changed", (double)run->pass[i].changed, 9);
        ast_json_number(json, "scored", (double)run->pass[i].scored, 9);
        ast_json_number(json, "clusters", (double)run->pass[i].clusters, 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void write_run(ast_text *json, const bench_result *r, int kind) {
    const bench_run *run = &r->run[kind];
    char hash[32];
    if (run->total.count == 0)
        return;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->labels_hash);
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "run", bench_run_name(kind));
    write_samples(json, "seconds", &run->total);
    ast_json_number(json, "bare_passes", bench_samples_min(&run->total) / bench_bare_seconds(r), 9);
    ast_json_number(json, "passes", run->passes, 9);
    ast_json_number(json, "clusters", (double)run->clusters, 9);
    ast_json_number(json, "objective", run->objective, 9);
    ast_json_number(json, "converged", run->converged, 9);
    ast_json_string(json, "labels_hash", hash);
    write_passes(json, run, bench_bare_seconds(r));
    ast_json_close(json, '}');
}

static void write_result(ast_text *json, const bench_result *r) {
    const bench_workload *w = r->workload;
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "workload", w->name);
    ast_json_string(json, "about", w->about);
    ast_json_number(json, "points", (double)w->count, 9);
    ast_json_number(json, "dimension", (double)w->dimension, 9);
    ast_json_number(json, "angle", w->angle, 9);
    ast_json_number(json, "threads", r->threads, 9);
    ast_json_string(json, "instruction_set", r->instruction_set);
    ast_json_open(json, "bare", '{');
    for (int m = 0; m < r->methods; m++)
        write_samples(json, r->method[m]->name, &r->bare[m]);
    ast_json_close(json, '}');
    ast_json_open(json, "runs", '[');
    for (int kind = 0; kind < BENCH_RUNS; kind++)
        write_run(json, r, kind);
    ast_json_close(json, ']');
    if (r->peak_memory) {
        ast_json_number(json, "peak_memory_bytes", (double)r->peak_memory, 9);
        ast_json_number(json, "memory_budget_bytes", (double)r->memory_budget, 9);
    }
    ast_json_close(json, '}');
}

static void write_goals(ast_text *json, const bench_goals *goals) {
    ast_json_open(json, "goals", '[');
    for (int i = 0; i < goals->count; i++) {
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "goal", goals->goal[i].what);
        ast_json_number(json, goals->goal[i].at_least ? "at_least" : "at_most", goals->goal[i].goal, 9);
        ast_json_number(json, "reached", goals->goal[i].reached, 9);
        ast_json_number(json, "met", bench_goal_met(&goals->goal[i]), 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void write_head(ast_text *json, const bench_report *report) {
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    ast_json_string(json, "program", "asterism-bench");
    ast_json_string(json, "version", ast_version());
    ast_json_string(json, "date", date);
    ast_json_string(json, "machine", report->machine);
    ast_json_number(json, "processors", report->processors, 9);
    ast_json_number(json, "load_average", report->load, 9);
    ast_json_number(json, "repetitions", report->repetitions, 9);
    ast_json_number(json, "share_of_points", report->share, 9);
}

void bench_report_write(const bench_report *report, const char *path) {
    ast_text json = {.indent = 2};
    FILE *file = fopen(path, "w");
    if (!file)
        bench_die("%s cannot be written", path);
    ast_json_open(&json, NULL, '{');
    write_head(&json, report);
    write_limits(&json, report);
    ast_json_open(&json, "results", '[');
    for (int i = 0; i < report->result_count; i++)
        write_result(&json, &report->results[i]);
    ast_json_close(&json, ']');
    bench_streams_write(&report->streams, &json);
    bench_depths_write(&report->depths, &json);
    bench_clouds_write(&report->clouds, &json);
    bench_methods_write(&report->methods, &json);
    bench_axials_write(&report->axials, &json);
    bench_clusters_write(&report->clusters, &json);
    bench_scaling_write(&report->scaling, &json);
    bench_embeddings_write(&report->embeddings, &json);
    write_goals(&json, &report->goals);
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    bool whole = ast_text_print(&json, file) && !ferror(file);
    ast_text_free(&json);
    if (fclose(file) != 0 || !whole)
        bench_die("%s could not be written completely", path);
}
