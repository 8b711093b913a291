/* SPDX-License-Identifier: MIT
 *
 * How the time of a pass grows with the number of clusters, in three dimensions. Points are uniform on the sphere, in
 * random order, so that neighbours in memory are not neighbours in space. Below the number of clusters from which cells
 * are used, runs use no bounds, so that a pass compares every point with every mean. */
#include "clusters.h"

#include "asterism.h"
#include "cells.h"
#include "random.h"
#include "scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 1000000
#define PASSES 5     /* per run */
#define UNIT 30      /* clusters of the pass that is the unit */
#define COVER 27000. /* clusters times square degrees: how many clusters an angle gives for uniform points */

static const size_t counts[BENCH_CLUSTER_COUNTS] = {1, 3, 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000};

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void draw(ast_random *random, float *x) {
    double z = 2 * ast_random_uniform(random) - 1, turn = 2 * acos(-1.0) * ast_random_uniform(random);
    x[0] = (float)(sqrt(1 - z * z) * cos(turn));
    x[1] = (float)(sqrt(1 - z * z) * sin(turn));
    x[2] = (float)z;
}

void bench_clusters_open(bench_clusters *clusters, double share, const int *threads, int thread_counts) {
    ast_random random;
    ast_random_seed(&random, 9, 0);
    clusters->count = (size_t)(POINTS * share);
    clusters->points = bench_alloc(3 * clusters->count * sizeof *clusters->points);
    clusters->means = bench_alloc(3 * counts[BENCH_CLUSTER_COUNTS - 1] * sizeof *clusters->means);
    clusters->labels = bench_alloc(clusters->count * sizeof *clusters->labels);
    for (size_t i = 0; i < clusters->count; i++)
        draw(&random, clusters->points + 3 * i);
    for (int t = 0; t < thread_counts; t++)
        for (int c = 0; c < BENCH_CLUSTER_COUNTS; c++)
            clusters->run[clusters->run_count++] = (bench_clusters_run){.threads = threads[t], .clusters = counts[c]};
}

void bench_clusters_free(bench_clusters *clusters) {
    free(clusters->points);
    free(clusters->means);
    free(clusters->labels);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

typedef struct watch {
    bench_samples *first, *later;
} watch;

static int note(const ast_progress *state, void *data) {
    const watch *w = data;
    if (state->iteration == 1)
        bench_samples_add(w->first, state->seconds);
    else if (state->iteration > 1)
        bench_samples_add(w->later, state->seconds);
    return 0;
}

static size_t time_run(ast_context *context, const bench_clusters *clusters, const ast_options *given,
                       bench_samples *first, bench_samples *later) {
    bench_samples passes = {0};
    watch w = {first, &passes};
    ast_report report = {.size = sizeof report};
    ast_points points = ast_points_f4(clusters->points, clusters->count, 3);
    ast_options options = *given;
    options.max_iterations = PASSES;
    options.progress = note;
    options.progress_data = &w;
    if (ast_cluster(context, &points, &options, clusters->labels, &report) != AST_OK)
        bench_die("%s", ast_message(context));
    if (passes.count)
        bench_samples_add(later, bench_samples_median(&passes));
    return report.clusters;
}

static void repeat_run(bench_clusters *clusters, bench_clusters_run *run) {
    ast_context *context;
    ast_open(&context, run->threads);
    ast_options options;
    if (!context)
        bench_die("no context could be opened");
    for (size_t k = 0; k < run->clusters;
         k++) /* points are in random order, so evenly spaced ones are as good as drawn ones */
        memcpy(clusters->means + 3 * k, clusters->points + 3 * (k * (clusters->count / run->clusters)),
               3 * sizeof *clusters->means);
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.start.by = AST_GIVEN;
    options.start.means = clusters->means;
    options.start.means_count = run->clusters;
    options.bounds = run->clusters >= AST_CELLS_MIN_CLUSTERS;
    time_run(context, clusters, &options, &run->first, &run->later);
    ast_options_init(&options);
    options.angle = fmin(180, sqrt(COVER / (double)run->clusters));
    options.bounds = run->clusters >= AST_CELLS_MIN_CLUSTERS;
    run->born = time_run(context, clusters, &options, &run->birth, &run->quiet);
    ast_close(context);
}

void bench_clusters_repeat(bench_clusters *clusters) {
    for (int r = 0; r < clusters->run_count; r++)
        repeat_run(clusters, &clusters->run[r]);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static const bench_clusters_run *find(const bench_clusters *clusters, int threads, size_t count) {
    for (int r = 0; r < clusters->run_count; r++)
        if (clusters->run[r].threads == threads && clusters->run[r].clusters == count)
            return &clusters->run[r];
    return NULL;
}

static double in_units(const bench_clusters *clusters, const bench_clusters_run *run) {
    double unit = bench_samples_min(&find(clusters, run->threads, UNIT)->later);
    return unit > 0 ? bench_samples_min(&run->later) / unit : 0;
}

/* The slope of log(seconds of a later pass) over log(clusters), from `least` clusters on. */
static double slope(const bench_clusters *clusters, int threads, size_t least) {
    bench_curve curve = {.from = (double)least};
    for (int r = 0; r < clusters->run_count; r++) {
        const bench_clusters_run *run = &clusters->run[r];
        if (run->threads == threads)
            bench_curve_note(&curve, (double)run->clusters, bench_samples_min(&run->later));
    }
    return bench_curve_slope(&curve);
}

void bench_clusters_goals(const bench_clusters *clusters, bench_goals *goals) {
    static const struct {
        size_t clusters;
        double most;
    } wanted[] = {{10000, 4}, {100000, 10}};
    for (int r = 0; r < clusters->run_count; r++)
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
            if (clusters->run[r].threads == 2 && clusters->run[r].clusters == wanted[w].clusters)
                bench_goals_add(goals, wanted[w].most, in_units(clusters, &clusters->run[r]), 0,
                                "%zu clusters, 2 threads: a pass, in passes with %d", wanted[w].clusters, UNIT);
}

void bench_clusters_print(const bench_clusters *clusters) {
    if (clusters->count == 0)
        return;
    printf("\nMany clusters, %zu x 3: milliseconds, the least; in units of a pass with %d clusters\n", clusters->count,
           UNIT);
    printf("  %7s %9s | %10s %10s %8s | %9s %10s %10s\n", "threads", "clusters", "k-means: 1", "a pass", "units",
           "dp: born", "pass 1", "a pass");
    for (int r = 0; r < clusters->run_count; r++) {
        const bench_clusters_run *run = &clusters->run[r];
        printf("  %7d %9zu | %10.1f %10.1f %8.2f | %9zu %10.1f %10.1f\n", run->threads, run->clusters,
               1e3 * bench_samples_min(&run->first), 1e3 * bench_samples_min(&run->later), in_units(clusters, run),
               run->born, 1e3 * bench_samples_min(&run->birth), 1e3 * bench_samples_min(&run->quiet));
        if (run->clusters == counts[BENCH_CLUSTER_COUNTS - 1])
            printf("  log-log slope of a k-means pass: %.2f over all, %.2f from 1,000 clusters on\n",
                   slope(clusters, run->threads, 1), slope(clusters, run->threads, 1000));
    }
}

void bench_clusters_write(const bench_clusters *clusters, ast_text *json) {
    if (clusters->count == 0)
        return;
    ast_json_open(json, "clusters", '[');
    for (int r = 0; r < clusters->run_count; r++) {
        const bench_clusters_run *run = &clusters->run[r];
        ast_json_open(json, NULL, '{');
        ast_json_number(json, "points", (double)clusters->count, 9);
        ast_json_number(json, "threads", run->threads, 9);
        ast_json_number(json, "clusters", (double)run->clusters, 9);
        ast_json_number(json, "kmeans_first_seconds", bench_samples_min(&run->first), 9);
        ast_json_number(json, "kmeans_pass_seconds", bench_samples_min(&run->later), 9);
        ast_json_number(json, "dp_clusters", (double)run->born, 9);
        ast_json_number(json, "dp_first_seconds", bench_samples_min(&run->birth), 9);
        ast_json_number(json, "dp_pass_seconds", bench_samples_min(&run->quiet), 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}
