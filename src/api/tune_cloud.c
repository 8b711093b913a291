/* SPDX-License-Identifier: MIT
 *
 * The silhouette that one elongated cloud reaches with a metric learned from its own pieces. Within the pieces the
 * scatter is small along the axis that was cut, so the map stretches this axis, and the pieces look separate. The draws
 * have the mean and the covariance of the sample but no clusters, and go through the same steps as the sample. Without
 * a map, too, the pieces of an elongated cloud look more separate than those of a round one. */
#include "tune_call.h"

#include "memory.h"
#include "random.h"
#include "symmetric.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 2
#define TERMS 64 /* rows in a sum: their differences from the mean with random signs are nearly normal together */
#define ROUNDS 2 /* of the map from clusters, as for the sample */
#define FIRST_SEED 2000
#define MOST_SHAPED 64 /* components: above that the lengths of rows in an elongated cloud are nearly equal */
#define SHAPE_STEPS 8  /* towards the shape */
#define LEAST_SHARE 1e-6

static void find_mean(const float *rows, size_t count, size_t dimension, double *mean) {
    memset(mean, 0, dimension * sizeof *mean);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dimension; d++)
            mean[d] += (double)rows[i * dimension + d] / (double)count;
}

/* A cloud to draw from: its mean (D), and for each row a factor of its difference from the mean (count). */
typedef struct cloud {
    const float *rows;
    size_t count, dimension;
    double *mean, *factors;
} cloud;

static double difference(const cloud *c, size_t i, size_t d) {
    return (double)c->rows[i * c->dimension + d] - c->mean[d];
}

/* shape (D, D): the mean of factor^2 times the outer product of the differences. */
static void find_shape(const cloud *c, double *shape) {
    size_t dimension = c->dimension;
    memset(shape, 0, dimension * dimension * sizeof *shape);
    for (size_t i = 0; i < c->count; i++) {
        double square = c->factors[i] * c->factors[i] / (double)c->count;
        for (size_t a = 0; a < dimension; a++)
            for (size_t b = 0; b < dimension; b++)
                shape[a * dimension + b] += square * difference(c, i, a) * difference(c, i, b);
    }
}

/* factor = 1 / the length of the difference where the shape, given by eigenvalues and vectors (rows), is round. */
static void find_factors(cloud *c, const double *vectors, const double *values) {
    size_t dimension = c->dimension;
    double total = 0;
    for (size_t k = 0; k < dimension; k++)
        total += values[k];
    for (size_t i = 0; i < c->count; i++) {
        double squared = 0;
        for (size_t k = 0; k < dimension; k++) {
            double along = 0;
            for (size_t d = 0; d < dimension; d++)
                along += vectors[k * dimension + d] * difference(c, i, d);
            squared += along * along / fmax(values[k], LEAST_SHARE * total);
        }
        c->factors[i] = sqrt((double)dimension / fmax(squared, LEAST_SHARE * (double)dimension));
    }
}

/* The factors then leave the mean square length of the differences as it is. */
static void keep_length(cloud *c) {
    double before = 0, after = 0;
    for (size_t i = 0; i < c->count; i++)
        for (size_t d = 0; d < c->dimension; d++) {
            double part = difference(c, i, d);
            before += part * part;
            after += part * part * c->factors[i] * c->factors[i];
        }
    for (size_t i = 0; i < c->count && after > 0; i++)
        c->factors[i] *= sqrt(before / after);
}

/* Normalised rows are short along the long axes of their cloud: with their covariance alone the draws would be too
 * round. Tyler's estimate of the shape does not depend on the lengths. */
static ast_status shape_cloud(ast_tuning *t, cloud *c) {
    size_t n = c->dimension;
    for (size_t i = 0; i < c->count; i++)
        c->factors[i] = 1;
    if (n > MOST_SHAPED || c->count < 2 * n)
        return AST_OK;
    double *shape = ast_allocate(n * n + n, sizeof *shape), *values = shape ? shape + n * n : NULL;
    ast_status status = shape ? AST_OK : ast_fail_memory(t->fault);
    for (int step = 0; step < SHAPE_STEPS && status == AST_OK; step++) {
        find_shape(c, shape);
        status = ast_symmetric_eigen(t->context->pool, n, shape, values, t->fault);
        if (status == AST_OK)
            find_factors(c, shape, values);
    }
    if (status == AST_OK)
        keep_length(c);
    ast_free(shape);
    return status;
}

/* x (D) = mean + sum of TERMS random differences with random signs, over the root of TERMS; normalised. */
static void draw_row(const cloud *c, ast_random *random, double *x) {
    memcpy(x, c->mean, c->dimension * sizeof *x);
    for (int term = 0; term < TERMS; term++) {
        size_t i = (size_t)ast_random_below(random, c->count);
        double factor = (ast_random_u64(random) >> 63 ? 1 : -1) / sqrt(TERMS) * c->factors[i];
        for (size_t d = 0; d < c->dimension; d++)
            x[d] += factor * difference(c, i, d);
    }
    if (ast_normalise(x, c->dimension) == 0)
        x[0] = 1;
}

static ast_status draw_cloud(ast_tuning *t, int number, float *rows) {
    size_t count = t->sample.points.count, dimension = t->sample.points.dimension;
    double *numbers = ast_allocate(2 * dimension + count, sizeof *numbers), *x = numbers;
    if (!numbers)
        return ast_fail_memory(t->fault);
    cloud c = {t->unmapped ? t->unmapped : t->sample.rows, count, dimension, numbers + dimension,
               numbers + 2 * dimension};
    ast_random random;
    ast_random_seed(&random, AST_TUNE_SEED, FIRST_SEED + (uint64_t)number);
    find_mean(c.rows, count, dimension, c.mean);
    ast_status status = shape_cloud(t, &c);
    for (size_t i = 0; i < count && status == AST_OK && !ast_pool_poll(t->context->pool); i++) {
        draw_row(&c, &random, x);
        for (size_t d = 0; d < dimension; d++)
            rows[i * dimension + d] = (float)x[d];
    }
    ast_free(numbers);
    return status == AST_OK ? ast_check_cancelled(t->context) : status;
}

/* One round: the map, the tree, the level; then the cut that the next map is learned from. A row without a direction
 * gets the first axis. */
static ast_status look_at_draw(ast_tuning *t, const ast_points *raw, const ast_fitted_metric *metric, ast_tune_set *set,
                               size_t clusters, ast_tune_cut *cut, double *silhouette) {
    size_t dimension = raw->dimension, finest = t->map_clusters > clusters ? t->map_clusters : clusters;
    ast_status status = ast_metric_map(t->context, raw, &metric->map, set->rows);
    for (size_t i = 0; i < raw->count && status == AST_OK; i++) {
        float *row = set->rows + i * dimension;
        if (isfinite(row[0]))
            continue;
        memset(row, 0, dimension * sizeof *row);
        row[0] = 1;
    }
    if (status == AST_OK)
        status = ast_tune_grow_tree(t, set, t->report->leaf_angle);
    ast_tune_cut_close(cut);
    if (status == AST_OK)
        status = ast_tune_cut_open(t, set, finest, cut);
    if (status == AST_OK)
        status = ast_tune_measure_level(t, cut, clusters, silhouette);
    if (status == AST_OK && t->map_clusters > 1 && t->map_clusters != clusters && t->map_clusters <= set->leaf_count)
        status = ast_tune_cut_at(t, cut, t->map_clusters);
    return status;
}

/* Without a map. */
static ast_status measure_plain_draw(ast_tuning *t, int number, size_t clusters, double *highest) {
    ast_tune_set set = {0};
    ast_tune_cut cut = {0};
    double silhouette = 0;
    bool ready = ast_tune_set_open(&set, t->sample.points.count, t->sample.points.dimension, false);
    ast_status status = ready ? draw_cloud(t, number, set.rows) : ast_fail_memory(t->fault);
    if (status == AST_OK)
        status = ast_tune_grow_tree(t, &set, t->report->leaf_angle);
    if (status == AST_OK)
        status = ast_tune_cut_open(t, &set, clusters, &cut);
    if (status == AST_OK)
        status = ast_tune_measure_level(t, &cut, clusters, &silhouette);
    *highest = fmax(*highest, silhouette);
    ast_tune_cut_close(&cut);
    ast_tune_set_free(&set);
    return status;
}

static ast_status measure_draw(ast_tuning *t, int number, size_t clusters, double *highest) {
    size_t count = t->sample.points.count, dimension = t->sample.points.dimension;
    ast_tune_set raw = {0}, set = {0};
    ast_tune_cut cut = {0};
    ast_fitted_metric metric = {0};
    bool ready = ast_tune_set_open(&raw, count, dimension, false) && ast_tune_set_open(&set, count, dimension, false);
    ast_status status = ready ? draw_cloud(t, number, raw.rows) : ast_fail_memory(t->fault);
    if (status == AST_OK)
        status = ast_metric_fit_local(t->context, &raw.points, NAN, &metric);
    for (int round = 0; round <= ROUNDS && status == AST_OK; round++) {
        double silhouette = 0;
        status = look_at_draw(t, &raw.points, &metric, &set, clusters, &cut, &silhouette);
        *highest = fmax(*highest, silhouette);
        if (status == AST_OK && round < ROUNDS && clusters <= set.leaf_count)
            status = ast_metric_fit_within(t->context, &raw.points, cut.labels, NAN, &metric);
    }
    ast_tune_cut_close(&cut);
    ast_tune_set_free(&raw);
    ast_tune_set_free(&set);
    ast_fitted_metric_free(&metric);
    return status;
}

ast_status ast_tune_measure_cloud(ast_tuning *t, size_t clusters, double *silhouette) {
    ast_status status = AST_OK;
    *silhouette = -1;
    for (int draw = 0; draw < DRAWS && status == AST_OK; draw++) {
        status =
            (t->report->metric == AST_METRIC_LOCAL ? measure_draw : measure_plain_draw)(t, draw, clusters, silhouette);
        t->planned++;
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    return status;
}
