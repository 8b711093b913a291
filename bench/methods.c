/* SPDX-License-Identifier: MIT
 *
 * Points in three dimensions from mixtures: 300,000 in 10 clusters for the silhouette, 30,000 in 30 clusters (those of
 * `reproduce synthetic`) for the sampler and for the mixture, both with 50 components. */
#include "methods.h"

#include "asterism.h"

#include <stdio.h>
#include <stdlib.h>

#define COMPONENTS 50
#define SWEEPS 60  /* per repetition ... */
#define WARM_UP 10 /* ... of which the first do not count: labels still change a lot */

#define SILHOUETTE_MS 3 /* the goals, on two threads */
#define SWEEPS_A_SECOND 500

static const struct {
    const char *name, *unit;
    size_t points, clusters;
    double kappa, separation;
} made[BENCH_METHODS] = {{"silhouette", "call", 300000, 10, 20, 30},
                         {"fsd", "sweep", 30000, 30, 200, 30},
                         {"movmf", "pass", 30000, 30, 200, 30}};

void bench_methods_open(bench_methods *methods, double share, const int *threads, int thread_counts) {
    ast_context *context;
    ast_open(&context, 1);
    if (!context)
        bench_die("no context could be opened");
    for (int m = 0; m < BENCH_METHODS; m++) {
        size_t count = methods->count[m] = (size_t)((double)made[m].points * share);
        methods->points[m] = bench_alloc(3 * count * sizeof *methods->points[m]);
        methods->truth[m] = bench_alloc(count * sizeof *methods->truth[m]);
        ast_mixture mixture = {.size = sizeof mixture,
                               .points = count,
                               .dimension = 3,
                               .clusters = made[m].clusters,
                               .kappa = made[m].kappa,
                               .separation = made[m].separation,
                               .seed = 1};
        if (ast_sample_mixture(context, &mixture, methods->points[m], methods->truth[m], NULL) != AST_OK)
            bench_die("%s", ast_message(context));
        for (int t = 0; t < thread_counts; t++)
            methods->run[methods->run_count++] = (bench_method_run){.method = m, .threads = threads[t]};
    }
    methods->labels = bench_alloc(methods->count[BENCH_SILHOUETTE] * sizeof *methods->labels);
    ast_close(context);
}

void bench_methods_free(bench_methods *methods) {
    for (int m = 0; m < BENCH_METHODS; m++) {
        free(methods->points[m]);
        free(methods->truth[m]);
    }
    free(methods->labels);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

/* The second of two calls, whose memory is warm. */
static double time_silhouette(const bench_methods *methods, ast_context *context, const ast_points *points) {
    double seconds = 0, silhouette;
    for (int call = 0; call < 2; call++) {
        double begin = bench_now();
        if (ast_silhouette(context, points, methods->truth[BENCH_SILHOUETTE], AST_COSINE, 1, &silhouette, NULL) !=
            AST_OK)
            bench_die("%s", ast_message(context));
        seconds = bench_now() - begin;
    }
    return seconds;
}

typedef struct clock_of_passes {
    int passes;
    double seconds;
} clock_of_passes;

static int take_pass(const ast_progress *state, void *data) {
    clock_of_passes *clock = data;
    if (state->iteration > WARM_UP) {
        clock->passes++;
        clock->seconds += state->seconds;
    }
    return 0;
}

/* The mean over the passes, which differ little. */
static double time_passes(const bench_methods *methods, ast_context *context, const ast_points *points, int method) {
    clock_of_passes clock = {0};
    ast_options options;
    ast_report report = {.size = sizeof report};
    ast_options_init(&options);
    options.method = method == BENCH_FSD ? AST_FSD : AST_MOVMF;
    options.clusters = COMPONENTS;
    options.max_iterations = SWEEPS;
    options.mixture.tolerance = 0;
    options.progress = take_pass;
    options.progress_data = &clock;
    if (ast_cluster(context, points, &options, methods->labels, &report) != AST_OK)
        bench_die("%s", ast_message(context));
    return clock.passes ? clock.seconds / clock.passes : report.seconds / report.iterations;
}

void bench_methods_repeat(bench_methods *methods) {
    for (int r = 0; r < methods->run_count; r++) {
        bench_method_run *run = &methods->run[r];
        ast_points points = ast_points_f4(methods->points[run->method], methods->count[run->method], 3);
        ast_context *context;
        ast_open(&context, run->threads);
        if (!context)
            bench_die("no context could be opened");
        bench_samples_add(&run->time, run->method == BENCH_SILHOUETTE
                                          ? time_silhouette(methods, context, &points)
                                          : time_passes(methods, context, &points, run->method));
        ast_close(context);
    }
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* Only for the full number of points: otherwise constant costs would dominate. */
void bench_methods_goals(const bench_methods *methods, bench_goals *goals) {
    for (int r = 0; r < methods->run_count; r++) {
        const bench_method_run *run = &methods->run[r];
        double least = bench_samples_min(&run->time);
        if (run->threads != 2 || methods->count[run->method] < made[run->method].points)
            continue;
        if (run->method == BENCH_SILHOUETTE)
            bench_goals_add(goals, SILHOUETTE_MS, 1e3 * least, 0, "silhouette, 2 threads: milliseconds");
        if (run->method == BENCH_FSD)
            bench_goals_add(goals, SWEEPS_A_SECOND, 1 / least, 1, "fsd, 2 threads: sweeps a second");
    }
}

void bench_methods_print(const bench_methods *methods) {
    if (methods->run_count == 0)
        return;
    printf("\nMethods beside the clustering, 3 dimensions: milliseconds (median)\n");
    printf("  %-10s %8s %8s %7s %22s %12s\n", "", "points", "clusters", "threads", "", "a second");
    for (int r = 0; r < methods->run_count; r++) {
        const bench_method_run *run = &methods->run[r];
        double least = bench_samples_min(&run->time);
        printf("  %-10s %8zu %8zu %7d %8.3f (%7.3f) %5s %11.0f\n", made[run->method].name, methods->count[run->method],
               run->method == BENCH_SILHOUETTE ? made[run->method].clusters : (size_t)COMPONENTS, run->threads,
               1e3 * least, 1e3 * bench_samples_median(&run->time), made[run->method].unit, 1 / least);
    }
}

void bench_methods_write(const bench_methods *methods, ast_text *json) {
    if (methods->run_count == 0)
        return;
    ast_json_open(json, "methods", '[');
    for (int r = 0; r < methods->run_count; r++) {
        const bench_method_run *run = &methods->run[r];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "method", made[run->method].name);
        ast_json_string(json, "unit", made[run->method].unit);
        ast_json_number(json, "points", (double)methods->count[run->method], 9);
        ast_json_number(json, "threads", run->threads, 9);
        ast_json_number(json, "seconds", bench_samples_min(&run->time), 9);
        ast_json_number(json, "seconds_median", bench_samples_median(&run->time), 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}
