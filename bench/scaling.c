/* SPDX-License-Identifier: MIT
 *
 * The runs. A run is a few passes of spherical k-means starting from points, or DP-vMF-means without initial means. It
 * reports the first pass, the fastest later pass, and the time of the call outside of passes. Without bounds every pass
 * compares every point with every mean, or uses cells from 192 clusters on. */
#include "scaling.h"

#include "asterism.h"
#include "cells.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 4
#define COVER 27000. /* clusters times square degrees: how many clusters an angle gives for uniform points */

/* ---- Points ------------------------------------------------------------------------------------------------------ */

typedef struct cloud {
    size_t count, dimension;
    float *points, *means, *start; /* (count, D); (clusters, D): the true means, if there are any, and the starts */
    int32_t *labels;
} cloud;

static void open_cloud(cloud *c, size_t count, size_t dimension, size_t clusters, double kappa, double separation) {
    ast_context *context;
    ast_open(&context, 0);
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = count,
                           .dimension = dimension,
                           .clusters = clusters,
                           .kappa = kappa,
                           .separation = separation,
                           .seed = 4};
    *c = (cloud){.count = count, .dimension = dimension};
    c->points = bench_alloc(count * dimension * sizeof *c->points);
    c->labels = bench_alloc(count * sizeof *c->labels);
    c->means = bench_alloc(clusters * dimension * sizeof *c->means);
    if (!context || ast_sample_mixture(context, &mixture, c->points, c->labels, c->means) != AST_OK)
        bench_die("no points: %s", context ? ast_message(context) : "no memory");
    ast_close(context);
}

/* Uniform on the sphere, in random order. */
static void open_everywhere(cloud *c, size_t count) {
    ast_random random;
    ast_random_seed(&random, 9, 0);
    *c = (cloud){.count = count, .dimension = 3};
    c->points = bench_alloc(3 * count * sizeof *c->points);
    c->labels = bench_alloc(count * sizeof *c->labels);
    for (size_t i = 0; i < count; i++) {
        double z = 2 * ast_random_uniform(&random) - 1, turn = 2 * acos(-1.0) * ast_random_uniform(&random);
        c->points[3 * i] = (float)(sqrt(1 - z * z) * cos(turn));
        c->points[3 * i + 1] = (float)(sqrt(1 - z * z) * sin(turn));
        c->points[3 * i + 2] = (float)z;
    }
}

static void close_cloud(cloud *c) {
    free(c->points);
    free(c->means);
    free(c->start);
    free(c->labels);
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

typedef struct times {
    double first, later, besides; /* seconds: a pass, another pass, everything outside of passes */
    double passes;                /* all of them */
    size_t clusters;
} times;

static int note(const ast_progress *state, void *data) {
    times *t = data;
    t->passes += state->seconds;
    if (state->iteration == 1)
        t->first = state->seconds;
    else if (state->iteration > 1 && state->seconds < t->later)
        t->later = state->seconds;
    return 0;
}

static times run(const bench_scaling *s, const cloud *c, size_t count, const ast_options *given) {
    ast_context *context;
    ast_open(&context, s->threads);
    ast_points points = ast_points_f4(c->points, count, c->dimension);
    ast_report report = {.size = sizeof report};
    times t = {.later = INFINITY};
    ast_options options = *given;
    options.max_iterations = PASSES;
    options.progress = note;
    options.progress_data = &t;
    double begin = bench_now();
    if (!context || ast_cluster(context, &points, &options, c->labels, &report) != AST_OK)
        bench_die("%s", context ? ast_message(context) : "no context could be opened");
    t.besides = bench_now() - begin - t.passes;
    t.clusters = report.clusters;
    ast_close(context);
    return t;
}

/* Spherical k-means of the first `count` points, starting from some of them. */
static times run_kmeans(const bench_scaling *s, cloud *c, size_t count, size_t clusters, int bounds) {
    size_t row = c->dimension * sizeof *c->start;
    free(c->start);
    c->start = bench_alloc(clusters * row);
    for (size_t k = 0; k < clusters;
         k++) /* points are in random order, so evenly spaced ones are as good as drawn ones */
        memcpy(c->start + k * c->dimension, c->points + k * (count / clusters) * c->dimension, row);
    ast_options options;
    ast_options_init(&options);
    options.method = AST_SPKM;
    options.start.by = AST_GIVEN;
    options.start.means = c->start;
    options.start.means_count = clusters;
    options.bounds = bounds;
    return run(s, c, count, &options);
}

static times run_dp(const bench_scaling *s, const cloud *c, double angle, int bounds) {
    ast_options options;
    ast_options_init(&options);
    options.angle = angle;
    options.bounds = bounds;
    return run(s, c, c->count, &options);
}

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

bench_curve *bench_panel_curve(bench_panel *panel, const char *name, double from) {
    for (int i = 0; i < panel->curves; i++)
        if (strcmp(panel->curve[i].name, name) == 0)
            return &panel->curve[i];
    bench_curve *curve = &panel->curve[panel->curves++];
    *curve = (bench_curve){.name = name, .from = from};
    return curve;
}

void bench_curve_note(bench_curve *curve, double x, double seconds) {
    for (int i = 0; i < curve->count; i++)
        if (curve->x[i] == x) {
            curve->seconds[i] = fmin(curve->seconds[i], seconds);
            return;
        }
    if (curve->count == BENCH_CURVE_POINTS || !isfinite(seconds) || seconds <= 0)
        return;
    curve->x[curve->count] = x;
    curve->seconds[curve->count++] = seconds;
}

double bench_curve_slope(const bench_curve *curve) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < curve->count; i++) {
        if (curve->x[i] < curve->from)
            continue;
        double a = log(curve->x[i]), b = log(curve->seconds[i]);
        n++;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    return n > 1 ? (n * xy - x * y) / (n * xx - x * x) : NAN;
}

static bench_panel *open_panel(bench_scaling *s, int which, const char *x_label, size_t points, const char *rest) {
    bench_panel *panel = &s->panel[which];
    panel->x_label = x_label;
    if (points >= 1000000)
        snprintf(panel->title, sizeof panel->title, "%zu million %s", points / 1000000, rest);
    else if (points)
        snprintf(panel->title, sizeof panel->title, "%zu,000 %s", points / 1000, rest);
    else
        snprintf(panel->title, sizeof panel->title, "%s", rest);
    fprintf(stderr, "scaling: %s\n", panel->title);
    return panel;
}

/* ---- Panels ------------------------------------------------------------------------------------------------------ */

/* 1, 3, 10, 30 ... */
static size_t next_step(size_t x) {
    size_t power = 1;
    while (10 * power <= x)
        power *= 10;
    return x == power ? 3 * power : 10 * power;
}

static void by_points(bench_scaling *s) {
    size_t most = s->full ? 100000000 : 1000000;
    bench_panel *panel = open_panel(s, BENCH_BY_POINTS, "points", 0, "D = 3, K = 30");
    cloud c;
    open_cloud(&c, most, 3, 30, 400, 30);
    for (int r = 0; r < s->repetitions; r++)
        for (size_t count = 10000; count <= most; count = next_step(count)) {
            times t = run_kmeans(s, &c, count, 30, 0), bounded = run_kmeans(s, &c, count, 30, 1);
            double from = (double)most / 100;
            bench_curve_note(bench_panel_curve(panel, "every point compared", from), (double)count, t.later);
            bench_curve_note(bench_panel_curve(panel, "with bounds", from), (double)count, bounded.later);
            bench_curve_note(bench_panel_curve(panel, "outside of passes", from), (double)count, t.besides);
        }
    close_cloud(&c);
}

static void from_nothing(bench_scaling *s) {
    size_t most = s->full ? 100000000 : 1000000;
    cloud c;
    open_cloud(&c, most, 3, 30, 400, 30);
    bench_scaling_large(s, c.points, most, c.means, 30, c.labels);
    close_cloud(&c);
}

static void by_clusters(bench_scaling *s) {
    size_t points = s->full ? 1000000 : 200000, most = s->full ? 100000 : 10000;
    bench_panel *panel = open_panel(s, BENCH_BY_CLUSTERS, "clusters", points, "points, D = 3");
    cloud c;
    open_everywhere(&c, points);
    for (int r = 0; r < s->repetitions; r++)
        for (size_t clusters = 1; clusters <= most; clusters = next_step(clusters)) {
            times t = run_kmeans(s, &c, points, clusters, clusters >= AST_CELLS_MIN_CLUSTERS);
            bench_curve_note(bench_panel_curve(panel, "a pass", 1000), (double)clusters, t.later);
            bench_curve_note(bench_panel_curve(panel, "the first pass", 1000), (double)clusters, t.first);
        }
    close_cloud(&c);
}

static void by_clusters_wide(bench_scaling *s) {
    size_t points = s->full ? 20000 : 5000, most = s->full ? 10000 : 1000;
    bench_panel *panel = open_panel(s, BENCH_BY_CLUSTERS_WIDE, "clusters", points, "points, D = 300");
    cloud c;
    open_cloud(&c, points, 300, 200, ast_vmf_kappa(300, 0.5), 0);
    for (int r = 0; r < s->repetitions; r++)
        for (size_t clusters = 1; clusters <= most; clusters = next_step(clusters)) {
            times t = run_kmeans(s, &c, points, clusters, 0), bounded = run_kmeans(s, &c, points, clusters, 1);
            bench_curve_note(bench_panel_curve(panel, "every point compared", 100), (double)clusters, t.later);
            bench_curve_note(bench_panel_curve(panel, "with bounds", 100), (double)clusters, bounded.later);
        }
    close_cloud(&c);
}

static void by_dimension(bench_scaling *s) {
    size_t points = s->full ? 20000 : 5000;
    bench_panel *panel = open_panel(s, BENCH_BY_DIMENSION, "dimension", points, "points, K = 100");
    for (size_t dimension = 2; dimension <= 4096; dimension *= 2) {
        cloud c;
        open_cloud(&c, points, dimension, 100, ast_vmf_kappa(dimension, 0.5), 0);
        for (int r = 0; r < s->repetitions; r++) {
            times t = run_kmeans(s, &c, points, 100, 0);
            bench_curve_note(bench_panel_curve(panel, "every point compared", 64), (double)dimension, t.later);
            bench_curve_note(bench_panel_curve(panel, "outside of passes", 64), (double)dimension, t.besides);
        }
        close_cloud(&c);
    }
}

/* The number of births follows from the angle: it is the same in every repetition. */
static void by_births(bench_scaling *s) {
    size_t points = s->full ? 1000000 : 200000, most = s->full ? 100000 : 10000;
    bench_panel *panel =
        open_panel(s, BENCH_BY_BIRTHS, "births in the first pass", points, "points, D = 3, from nothing");
    cloud c;
    open_everywhere(&c, points);
    for (int r = 0; r < s->repetitions; r++)
        for (size_t clusters = 10; clusters <= most; clusters = next_step(clusters)) {
            times t = run_dp(s, &c, sqrt(COVER / (double)clusters), clusters >= AST_CELLS_MIN_CLUSTERS);
            bench_curve_note(bench_panel_curve(panel, "the first pass", 1000), (double)t.clusters, t.first);
            bench_curve_note(bench_panel_curve(panel, "a pass after it", 1000), (double)t.clusters, t.later);
        }
    close_cloud(&c);
}

static void by_workers(bench_scaling *s) {
    open_panel(s, BENCH_BY_WORKERS, "processors", s->full ? 100000 : 20000, "points, D = 300, K = 200");
    bench_scaling_workers(s);
}

static const struct {
    const char *name;
    void (*run)(bench_scaling *s);
} panels[BENCH_PANELS + 1] = {
    {"points", by_points},         {"clusters", by_clusters},  {"clusters-300", by_clusters_wide},
    {"dimension", by_dimension},   {"processors", by_workers}, {"births", by_births},
    {"from-nothing", from_nothing}};

int bench_panel_known(const char *name) {
    for (int p = 0; p <= BENCH_PANELS; p++)
        if (strcmp(name, panels[p].name) == 0)
            return 1;
    return 0;
}

void bench_scaling_run(bench_scaling *s, const char *panel, int full, int threads, int repetitions) {
    s->full = full;
    s->threads = threads;
    s->repetitions = repetitions;
    for (int p = 0; p <= BENCH_PANELS; p++)
        if (!panel || strcmp(panel, panels[p].name) == 0)
            panels[p].run(s);
}
