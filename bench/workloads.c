/* SPDX-License-Identifier: MIT
 *
 * The named workloads. */
#include "workloads.h"

#include <asterism.h>
#include <formats.h>
#include <math.h>
#include <random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct recipe {
    const char *name, *about;
    size_t count, dimension, clusters;
    double angle, kappa, separation, noise;
} recipe;

/* For W3 (`kappa` 0 here) the cosine to the own mean is given: the concentration follows from the dimension. */
static const recipe recipes[BENCH_WORKLOADS] = {
    {"W1", "six axis directions, kappa 100, 5% uniform noise", 300000, 3, 6, 70, 100, 0, 0.05},
    {"W2", "30 clusters, kappa 400, means at least 30 degrees apart", 1000000, 3, 30, 25, 400, 30, 0},
    {"W3", "200 clusters, cosine to the own mean about 0.5", 100000, 300, 200, 83, 0, 0, 0},
};

#define COSINE_W3 0.5

const char *bench_workload_name(int which) {
    return recipes[which].name;
}

/* ---- W1 --------------------------------------------------------------------------------------------------------- */

/* Turns a point around the z axis into one around the axis of the label: +x -x +y -y +z -z. */
static void place(float *out, int label, double x, double y, double z) {
    int axis = label / 2, sign = label % 2 ? -1 : 1;
    out[(axis + 1) % 3] = (float)x;
    out[(axis + 2) % 3] = (float)y;
    out[axis] = (float)(sign * z);
}

/* For D = 3 the distribution of the cosine to the mean has a closed inverse; uniform points have z uniform in -1..1. */
static void draw_axis_point(ast_random *random, const recipe *r, float *out, int32_t *label) {
    int noise = ast_random_uniform(random) < r->noise;
    double u = ast_random_uniform(random), turn = 2 * acos(-1.0) * ast_random_uniform(random);
    int axis = (int)ast_random_below(random, r->clusters);
    double z = noise ? 2 * u - 1 : 1 + log(u + (1 - u) * exp(-2 * r->kappa)) / r->kappa;
    double across = sqrt(fmax(0, 1 - z * z));
    *label = noise ? -1 : axis;
    place(out, axis, across * cos(turn), across * sin(turn), z);
}

static void make_axes(bench_workload *w, const recipe *r) {
    ast_random random;
    ast_random_seed(&random, 1, 0);
    for (size_t k = 0; k < w->clusters; k++)
        place(w->means + 3 * k, (int)k, 0, 0, 1);
    for (size_t i = 0; i < w->count; i++)
        draw_axis_point(&random, r, w->points + 3 * i, w->truth + i);
}

/* ---- W2, W3 ----------------------------------------------------------------------------------------------------- */

static void make_mixture(bench_workload *w, const recipe *r) {
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = w->count,
                           .dimension = w->dimension,
                           .clusters = w->clusters,
                           .kappa = r->kappa,
                           .separation = r->separation,
                           .noise = r->noise,
                           .seed = 1};
    if (mixture.kappa == 0)
        mixture.kappa = ast_vmf_kappa(w->dimension, COSINE_W3);
    ast_context *context;
    ast_open(&context, 0);
    if (!context)
        bench_die("the library could not be opened");
    if (ast_sample_mixture(context, &mixture, w->points, w->truth, w->means) != AST_OK)
        bench_die("%s: %s", r->name, ast_message(context));
    ast_close(context);
}

void bench_workload_make(bench_workload *w, int which, double share) {
    const recipe *r = &recipes[which];
    *w = (bench_workload){.name = r->name,
                          .about = r->about,
                          .dimension = r->dimension,
                          .clusters = r->clusters,
                          .angle = r->angle,
                          .share = share,
                          .count = (size_t)((double)r->count * share)};
    size_t table = w->clusters * w->dimension * sizeof(float), row = w->dimension * sizeof(float);
    w->points = bench_alloc(w->count * row);
    w->truth = bench_alloc(w->count * sizeof *w->truth);
    w->means = bench_alloc(table);
    w->start = bench_alloc(table);
    if (which == BENCH_W1)
        make_axes(w, r);
    else
        make_mixture(w, r);
    /* Points are in random order, so evenly spaced ones are as good as drawn ones. */
    for (size_t k = 0; k < w->clusters; k++)
        memcpy(w->start + k * w->dimension, w->points + k * (w->count / w->clusters) * w->dimension, row);
}

void bench_workload_free(bench_workload *w) {
    free(w->points);
    free(w->truth);
    free(w->means);
    free(w->start);
    *w = (bench_workload){0};
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

static ast_output *create(const char *folder, const char *name, const char *suffix) {
    char path[4096];
    ast_format_error error;
    snprintf(path, sizeof path, "%s/%s%s.npy", folder, name, suffix);
    ast_output *output = ast_output_open(path, false, &error);
    if (!output)
        bench_die("%s", error.text);
    return output;
}

static void write_matrix(const char *folder, const char *name, const char *suffix, const float *values, size_t rows,
                         size_t columns) {
    ast_format_error error;
    ast_output *output = create(folder, name, suffix);
    if (!ast_write_array(output, ast_value_array(values, rows, columns), &error) || !ast_output_commit(output, &error))
        bench_die("%s", error.text);
}

void bench_workload_write(const bench_workload *w, const char *folder) {
    ast_format_error error;
    write_matrix(folder, w->name, "", w->points, w->count, w->dimension);
    write_matrix(folder, w->name, "_means", w->means, w->clusters, w->dimension);
    write_matrix(folder, w->name, "_start", w->start, w->clusters, w->dimension);
    ast_output *output = create(folder, w->name, "_truth");
    if (!ast_write_array(output, ast_label_array(w->truth, w->count, 0), &error) || !ast_output_commit(output, &error))
        bench_die("%s", error.text);
}
