/* SPDX-License-Identifier: MIT
 *
 * Axial samples have random signs. Turned to the side of their true mean they are directed points of the same clusters,
 * so that both runs have the same work except for the signs. */
#include "axial.h"

#include "asterism.h"

#include <stdio.h>
#include <stdlib.h>

#define RATIO 1.15 /* the goal: time of an axial run, relative to a directed one */
#define ITERATIONS 10

static const struct {
    const char *name;
    size_t count, dimension, clusters;
    double kappa, separation, angle;
} sets[BENCH_AXIALS] = {{"300,000 x 3, 6 axes", 300000, 3, 6, 100, 40, 45},
                        {"1,000,000 x 3, 15 axes", 1000000, 3, 15, 400, 25, 22},
                        {"100,000 x 300, 200 axes", 100000, 300, 200, 665, 0, 70}};

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static void turn_to_mean(float *point, const float *mean, size_t dimension) {
    double cosine = 0;
    for (size_t d = 0; d < dimension; d++)
        cosine += (double)point[d] * (double)mean[d];
    for (size_t d = 0; cosine < 0 && d < dimension; d++)
        point[d] = -point[d];
}

static void draw(bench_axials *a, int s, double share) {
    size_t dimension = sets[s].dimension, count = (size_t)((double)sets[s].count * share);
    size_t size = count * dimension * sizeof(float);
    int32_t *truth = bench_alloc(count * sizeof *truth);
    ast_context *context;
    ast_open(&context, 0);
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = count,
                           .dimension = dimension,
                           .clusters = sets[s].clusters,
                           .kappa = sets[s].kappa,
                           .separation = sets[s].separation,
                           .axial = 1,
                           .seed = 11};
    a->count[s] = count;
    a->points[s][0] = bench_alloc(size);
    a->points[s][1] = bench_alloc(size);
    a->start[s] = bench_alloc(sets[s].clusters * dimension * sizeof(float));
    if (!context || ast_sample_mixture(context, &mixture, a->points[s][1], truth, a->start[s]) != AST_OK)
        bench_die("no axial points: %s", context ? ast_message(context) : "no memory");
    for (size_t i = 0; i < count; i++) {
        float *point = a->points[s][0] + i * dimension;
        for (size_t d = 0; d < dimension; d++)
            point[d] = a->points[s][1][i * dimension + d];
        turn_to_mean(point, a->start[s] + (size_t)truth[i] * dimension, dimension);
    }
    ast_close(context);
    free(truth);
}

static void add_run(bench_axials *a, int set, int threads, int kmeans) {
    bench_axial_run *run = &a->run[a->run_count++]; /* zeroed */
    run->set = set;
    run->threads = threads;
    run->kmeans = kmeans;
}

void bench_axials_open(bench_axials *a, double share, const int *threads, int thread_counts) {
    size_t most = 0;
    for (int s = 0; s < BENCH_AXIALS; s++) {
        draw(a, s, share);
        most = a->count[s] > most ? a->count[s] : most;
        for (int t = 0; t < thread_counts; t++)
            for (int kmeans = 0; kmeans < 2; kmeans++)
                add_run(a, s, threads[t], kmeans);
    }
    a->labels = bench_alloc(most * sizeof *a->labels);
}

void bench_axials_free(bench_axials *a) {
    for (int s = 0; s < BENCH_AXIALS; s++) {
        free(a->points[s][0]);
        free(a->points[s][1]);
        free(a->start[s]);
    }
    free(a->labels);
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static void repeat_run(bench_axials *a, bench_axial_run *run) {
    int s = run->set;
    ast_context *context;
    ast_open(&context, run->threads);
    if (!context)
        bench_die("no context could be opened");
    for (int axial = 0; axial < 2; axial++) {
        ast_points points = ast_points_f4(a->points[s][axial], a->count[s], sets[s].dimension);
        ast_options options;
        ast_report report = {.size = sizeof report};
        ast_options_init(&options);
        options.axial = axial;
        if (run->kmeans) {
            options.method = AST_SPKM;
            options.start.by = AST_GIVEN;
            options.start.means = a->start[s];
            options.start.means_count = sets[s].clusters;
            options.max_iterations = ITERATIONS;
            options.bounds = 0; /* every point is compared with every mean: the work to which signs add */
        } else {
            options.angle = sets[s].angle;
        }
        if (ast_cluster(context, &points, &options, a->labels, &report) != AST_OK)
            bench_die("%s", ast_message(context));
        bench_samples_add(&run->time[axial], report.seconds);
        run->passes[axial] = report.iterations;
        run->clusters[axial] = report.clusters;
    }
    ast_close(context);
}

void bench_axials_repeat(bench_axials *a) {
    for (int r = 0; r < a->run_count; r++)
        repeat_run(a, &a->run[r]);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* Per pass, because runs may differ by one pass. */
static double pass_seconds(const bench_axial_run *run, int axial) {
    return bench_samples_min(&run->time[axial]) / run->passes[axial];
}

static const char *method_of(const bench_axial_run *run) {
    return run->kmeans ? "spkm" : "dp";
}

void bench_axials_goals(const bench_axials *a, bench_goals *goals) {
    for (int r = 0; r < a->run_count; r++)
        if (a->run[r].threads == 2)
            bench_goals_add(goals, RATIO, pass_seconds(&a->run[r], 1) / pass_seconds(&a->run[r], 0), 0,
                            "axial over directed, %s, %s, 2 threads: a pass", sets[a->run[r].set].name,
                            method_of(&a->run[r]));
}

void bench_axials_print(const bench_axials *a) {
    if (a->run_count == 0)
        return;
    printf("\nAxial and directed points: milliseconds a pass, passes, clusters\n");
    printf("  %-26s %-6s %7s %30s %30s %7s\n", "points", "method", "threads", "directed", "axial", "ratio");
    for (int r = 0; r < a->run_count; r++) {
        const bench_axial_run *run = &a->run[r];
        printf("  %-26s %-6s %7d", sets[run->set].name, method_of(run), run->threads);
        for (int axial = 0; axial < 2; axial++)
            printf(" %12.3f %6d %10zu", 1e3 * pass_seconds(run, axial), run->passes[axial], run->clusters[axial]);
        printf(" %7.2f\n", pass_seconds(run, 1) / pass_seconds(run, 0));
    }
}

void bench_axials_write(const bench_axials *a, ast_text *json) {
    if (a->run_count == 0)
        return;
    ast_json_open(json, "axial", '[');
    for (int r = 0; r < a->run_count; r++) {
        const bench_axial_run *run = &a->run[r];
        ast_json_open(json, NULL, '{');
        ast_json_string(json, "points", sets[run->set].name);
        ast_json_string(json, "method", method_of(run));
        ast_json_number(json, "threads", run->threads, 9);
        ast_json_number(json, "directed_seconds", bench_samples_min(&run->time[0]), 9);
        ast_json_number(json, "axial_seconds", bench_samples_min(&run->time[1]), 9);
        ast_json_number(json, "directed_passes", run->passes[0], 9);
        ast_json_number(json, "axial_passes", run->passes[1], 9);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}
