/* SPDX-License-Identifier: MIT
 *
 * The numbers of streams: for people, as goals, as JSON. */
#include "stream.h"

#include <stdio.h>

#define FRAME 3.5   /* bare passes, the median frame */
#define TAIL 2.0    /* p99, in medians */
#define UNSEEN 1.25 /* ten more clusters that are tracked but not visible */
#define STEADY 1.1  /* a frame at the end of a long stream, relative to one at its beginning */

static double best(const bench_stream_run *run, double share) {
    return bench_series_best(&run->times, share);
}

static double any(const bench_stream_run *run, double share) {
    return bench_series_any(&run->times, share);
}

static double bare_seconds(const bench_streams *s, const bench_stream_run *run) {
    return bench_samples_min(&s->bare[(run - s->run) / BENCH_STREAM_KINDS].time);
}

static double mean_passes(const bench_stream_run *run) {
    double sum = 0;
    for (int f = 0; f < BENCH_FRAMES; f++)
        sum += run->passes[f];
    return sum / BENCH_FRAMES;
}

static int most_passes(const bench_stream_run *run) {
    int most = 0;
    for (int f = 0; f < BENCH_FRAMES; f++)
        most = run->passes[f] > most ? run->passes[f] : most;
    return most;
}

int bench_streams_agree(const bench_streams *s) {
    for (int r = 0; r < s->run_count; r++)
        if (s->run[r].labels_hash != s->run[r % BENCH_STREAM_KINDS].labels_hash)
            return 0;
    return 1;
}

/* ---- The tables ------------------------------------------------------------------------------------------------- */

static void print_run(const bench_streams *s, const bench_stream_run *run) {
    double bare = bare_seconds(s, run);
    printf("  %-20s %8.3f %8.3f %8.3f %8.3f %8.2f %7.1f %5d %5d %9d %5d %7d\n", bench_stream_name(run->kind),
           1e3 * best(run, 0), 1e3 * best(run, 0.5), 1e3 * best(run, 0.99), 1e3 * best(run, 1),
           bench_series_typical(&run->in_bare, 0.5), mean_passes(run), most_passes(run), run->nan_frames, run->switches,
           run->lost, run->least_unseen);
    printf("  %-20s %8.3f %8.3f %8.3f %8.3f %8.2f%s\n", "  all repetitions", 1e3 * any(run, 0), 1e3 * any(run, 0.5),
           1e3 * any(run, 0.99), 1e3 * any(run, 1), any(run, 0.5) / bare,
           run->unconverged ? "  some frames did not converge" : "");
}

static void print_million(const bench_million *m) {
    printf("%zu frames x 50 x 3, one stream: %.1f s; %d ids, at most %zu clusters at a time\n", m->frames, m->seconds,
           (int)m->ids, m->most_clusters);
    printf("  median frame: %.3f us at the beginning, %.3f us at the end\n", 1e6 * m->first, 1e6 * m->last);
    printf("  peak memory: %.2f MiB at the beginning, %.2f MiB at the end; heap in use: %zu and %zu bytes\n\n",
           (double)m->peak_early / (1 << 20), (double)m->peak_late / (1 << 20), m->heap_early, m->heap_late);
}

void bench_streams_print(const bench_streams *s) {
    for (int r = 0; r < s->run_count; r++) {
        const bench_stream_run *run = &s->run[r];
        if (run->kind == 0) {
            const bench_axes *bare = &s->bare[r / BENCH_STREAM_KINDS];
            printf("W4, %d thread%s: %d frames x %zu x 3, six axis directions, kappa 100, 0.5 degrees a frame\n",
                   run->threads, run->threads == 1 ? "" : "s", BENCH_FRAMES, s->count);
            printf("  bare pass, %-12s %9.3f ms (%.3f)\n", bare->name, 1e3 * bench_samples_min(&bare->time),
                   1e3 * bench_samples_median(&bare->time));
            printf("  %-20s %8s %8s %8s %8s %8s %7s %5s %5s %9s %5s %7s\n", "ms a frame", "min", "median", "p99", "max",
                   "/ bare", "passes", "most", "NaN", "switches", "lost", "unseen");
        }
        print_run(s, run);
        if (run->kind == BENCH_STREAM_KINDS - 1)
            printf("\n");
    }
    if (s->million.frames)
        print_million(&s->million);
}

/* ---- Goals ------------------------------------------------------------------------------------------------------ */

static void add_threads(const bench_stream_run *run, bench_goals *goals) {
    const bench_stream_run *w4 = &run[BENCH_STREAM_W4], *unseen = &run[BENCH_STREAM_UNSEEN];
    int n = run->threads;
    const char *threads = n == 1 ? "thread" : "threads";
    bench_goals_add(goals, FRAME, bench_series_typical(&w4->in_bare, 0.5), 0, "W4, %d %s: median frame, in bare passes",
                    n, threads);
    bench_goals_add(goals, TAIL, best(w4, 0.99) / best(w4, 0.5), 0, "W4, %d %s: p99 / median", n, threads);
    bench_goals_add(goals, UNSEEN, best(unseen, 0.5) / best(&run[BENCH_STREAM_LONG], 0.5), 0,
                    "W4, %d %s: median with ten unseen more / without", n, threads);
    bench_goals_add(goals, BENCH_EXTRAS, unseen->least_unseen, 1, "W4, %d %s: unseen clusters in every frame", n,
                    threads);
    bench_goals_add(goals, 0, w4->switches, 0, "W4, %d %s: visible directions that change their id", n, threads);
    bench_goals_add(goals, 0, w4->lost, 0, "W4, %d %s: directions that return with another id", n, threads);
    bench_goals_add(goals, 0, run[BENCH_STREAM_PAPER].nan_frames, 0, "W4 paper's, %d %s: frames with a NaN", n,
                    threads);
}

static void add_million(const bench_million *m, bench_goals *goals) {
    double growth = m->heap_late > m->heap_early ? (double)(m->heap_late - m->heap_early) : 0;
    bench_goals_add(goals, STEADY, m->last / m->first, 0, "%zu small frames: median at the end / beginning", m->frames);
    bench_goals_add(goals, 0, growth, 0, "%zu small frames: growth of the heap, bytes", m->frames);
    bench_goals_add(goals, 0, (double)(m->peak_late - m->peak_early) / 1024, 0,
                    "%zu small frames: growth of the peak memory, KiB", m->frames);
}

void bench_streams_goals(const bench_streams *s, bench_goals *goals) {
    for (int r = 0; r < s->run_count; r += BENCH_STREAM_KINDS)
        add_threads(&s->run[r], goals);
    if (s->million.frames)
        add_million(&s->million, goals);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static void write_frames(ast_text *json, const bench_stream_run *run) {
    ast_json_open(json, "frames", '[');
    for (int f = 0; f < BENCH_FRAMES; f++) {
        ast_json_open(json, NULL, '{');
        ast_json_number(json, "seconds", run->times.best[f], 9);
        ast_json_number(json, "passes", run->passes[f], 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void write_run(ast_text *json, const bench_streams *s, const bench_stream_run *run) {
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)run->labels_hash);
    ast_json_open(json, NULL, '{');
    ast_json_string(json, "run", bench_stream_name(run->kind));
    ast_json_number(json, "points", (double)s->count, 9);
    ast_json_number(json, "threads", run->threads, 9);
    ast_json_number(json, "repetitions", run->times.repetitions, 9);
    ast_json_number(json, "bare_seconds", bare_seconds(s, run), 9);
    ast_json_number(json, "median_in_bare_passes", bench_series_typical(&run->in_bare, 0.5), 9);
    bench_series_write(&run->times, json);
    ast_json_number(json, "mean_passes", mean_passes(run), 9);
    ast_json_number(json, "most_passes", most_passes(run), 9);
    ast_json_number(json, "unconverged_frames", run->unconverged, 9);
    ast_json_number(json, "nan_frames", run->nan_frames, 9);
    ast_json_number(json, "id_switches", run->switches, 9);
    ast_json_number(json, "lost_on_return", run->lost, 9);
    ast_json_number(json, "least_unseen", run->least_unseen, 9);
    ast_json_string(json, "labels_hash", hash);
    write_frames(json, run);
    ast_json_close(json, '}');
}

static void write_million(ast_text *json, const bench_million *m) {
    ast_json_open(json, "million", '{');
    ast_json_number(json, "frames", (double)m->frames, 9);
    ast_json_number(json, "seconds", m->seconds, 9);
    ast_json_number(json, "median_first", m->first, 9);
    ast_json_number(json, "median_last", m->last, 9);
    ast_json_number(json, "peak_memory_first", (double)m->peak_early, 9);
    ast_json_number(json, "peak_memory_last", (double)m->peak_late, 9);
    ast_json_number(json, "heap_first", (double)m->heap_early, 9);
    ast_json_number(json, "heap_last", (double)m->heap_late, 9);
    ast_json_number(json, "ids", m->ids, 9);
    ast_json_number(json, "most_clusters", (double)m->most_clusters, 9);
    ast_json_close(json, '}');
}

void bench_streams_write(const bench_streams *s, ast_text *json) {
    ast_json_open(json, "streams", '[');
    for (int r = 0; r < s->run_count; r++)
        write_run(json, s, &s->run[r]);
    ast_json_close(json, ']');
    if (s->million.frames)
        write_million(json, &s->million);
}
