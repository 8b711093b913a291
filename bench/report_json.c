/* SPDX-License-Identifier: MIT
 *
 * All numbers as one JSON file: seconds, bytes and operations a second, unrounded. */
#include "json.h"
#include "report.h"

#include <asterism.h>
#include <time.h>

static void write_samples(bench_json *json, const char *key, const bench_samples *samples) {
    bench_json_open(json, key, '{');
    bench_json_number(json, "min", bench_samples_min(samples));
    bench_json_number(json, "median", bench_samples_median(samples));
    bench_json_number(json, "first", samples->count ? samples->seconds[0] : 0);
    bench_json_number(json, "repetitions", samples->count);
    bench_json_close(json, '}');
}

static void write_limits(bench_json *json, const bench_report *report) {
    bench_json_open(json, "limits", '[');
    for (int i = 0; i < report->limit_count; i++) {
        bench_json_open(json, NULL, '{');
        bench_json_number(json, "threads", report->limits[i].threads);
        bench_json_number(json, "read_bytes_per_second", report->limits[i].read);
        bench_json_number(json, "triad_bytes_per_second", report->limits[i].triad);
        bench_json_number(json, "multiply_add_per_second", report->limits[i].multiply_add);
        bench_json_close(json, '}');
    }
    bench_json_close(json, ']');
}

static void write_passes(bench_json *json, const bench_run *run, double bare) {
    bench_json_open(json, "pass", '[');
    for (int i = 0; i < run->passes; i++) {
        bench_json_open(json, NULL, '{');
        bench_json_number(json, "min", bench_samples_min(&run->pass[i].time));
        bench_json_number(json, "median", bench_samples_median(&run->pass[i].time));
        bench_json_number(json, "bare_passes", bench_samples_min(&run->pass[i].time) / bare);
        bench_json_number(json, "changed", (double)run->pass[i].changed);
        bench_json_number(json, "scored", (double)run->pass[i].scored);
        bench_json_number(json, "clusters", (double)run->pass[i].clusters);
        bench_json_close(json, '}');
    }
    bench_json_close(json, ']');
}

static void write_run(bench_json *json, const bench_result *r, int kind) {
    const bench_run *run = &r->run[kind];
    char hash[32];
    if (run->total.count == 0)
        return;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->labels_hash);
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "run", bench_run_name(kind));
    write_samples(json, "seconds", &run->total);
    bench_json_number(json, "bare_passes", bench_samples_min(&run->total) / bench_bare_seconds(r));
    bench_json_number(json, "passes", run->passes);
    bench_json_number(json, "clusters", (double)run->clusters);
    bench_json_number(json, "objective", run->objective);
    bench_json_number(json, "converged", run->converged);
    bench_json_text(json, "labels_hash", hash);
    write_passes(json, run, bench_bare_seconds(r));
    bench_json_close(json, '}');
}

static void write_result(bench_json *json, const bench_result *r) {
    const bench_workload *w = r->workload;
    bench_json_open(json, NULL, '{');
    bench_json_text(json, "workload", w->name);
    bench_json_text(json, "about", w->about);
    bench_json_number(json, "points", (double)w->count);
    bench_json_number(json, "dimension", (double)w->dimension);
    bench_json_number(json, "angle", w->angle);
    bench_json_number(json, "threads", r->threads);
    bench_json_text(json, "instruction_set", r->instruction_set);
    bench_json_open(json, "bare", '{');
    for (int m = 0; m < r->methods; m++)
        write_samples(json, r->method[m]->name, &r->bare[m]);
    bench_json_close(json, '}');
    bench_json_open(json, "runs", '[');
    for (int kind = 0; kind < BENCH_RUNS; kind++)
        write_run(json, r, kind);
    bench_json_close(json, ']');
    if (r->peak_memory) {
        bench_json_number(json, "peak_memory_bytes", (double)r->peak_memory);
        bench_json_number(json, "memory_budget_bytes", (double)r->memory_budget);
    }
    bench_json_close(json, '}');
}

static void write_goals(bench_json *json, const bench_goals *goals) {
    bench_json_open(json, "goals", '[');
    for (int i = 0; i < goals->count; i++) {
        bench_json_open(json, NULL, '{');
        bench_json_text(json, "goal", goals->goal[i].what);
        bench_json_number(json, goals->goal[i].at_least ? "at_least" : "at_most", goals->goal[i].goal);
        bench_json_number(json, "reached", goals->goal[i].reached);
        bench_json_number(json, "met", bench_goal_met(&goals->goal[i]));
        bench_json_close(json, '}');
    }
    bench_json_close(json, ']');
}

static void write_head(bench_json *json, const bench_report *report) {
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    bench_json_text(json, "program", "asterism-bench");
    bench_json_text(json, "version", ast_version());
    bench_json_text(json, "date", date);
    bench_json_text(json, "machine", report->machine);
    bench_json_number(json, "processors", report->processors);
    bench_json_number(json, "load_average", report->load);
    bench_json_number(json, "repetitions", report->repetitions);
    bench_json_number(json, "share_of_points", report->share);
}

void bench_report_write(const bench_report *report, const char *path) {
    bench_json json = {.file = fopen(path, "w")};
    if (!json.file)
        bench_die("%s: it cannot be written", path);
    bench_json_open(&json, NULL, '{');
    write_head(&json, report);
    write_limits(&json, report);
    bench_json_open(&json, "results", '[');
    for (int i = 0; i < report->result_count; i++)
        write_result(&json, &report->results[i]);
    bench_json_close(&json, ']');
    bench_streams_write(&report->streams, &json);
    bench_depths_write(&report->depths, &json);
    bench_clouds_write(&report->clouds, &json);
    bench_methods_write(&report->methods, &json);
    bench_axials_write(&report->axials, &json);
    bench_clusters_write(&report->clusters, &json);
    bench_scaling_write(&report->scaling, &json);
    write_goals(&json, &report->goals);
    bench_json_close(&json, '}');
    if (ferror(json.file) | fclose(json.file))
        bench_die("%s: it could not be written in full", path);
}
