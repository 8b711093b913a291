/* SPDX-License-Identifier: MIT
 *
 * The silhouette that one elongated cloud reaches with a metric learned from its own pieces. Within the pieces the
 * scatter is small along the axis that was cut, so the map stretches this axis, and the pieces look separate. The draws
 * have the mean and the covariance of the sample but no clusters, and go through the same steps as the sample. */
#include "tune_call.h"

#include "memory.h"
#include "random.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 2
#define TERMS 64 /* rows in a sum: their differences from the mean with random signs are nearly normal together */
#define ROUNDS 2 /* of the map from clusters, as for the sample */
#define FIRST_SEED 2000

static void find_mean(const float *rows, size_t count, size_t dimension, double *mean) {
    memset(mean, 0, dimension * sizeof *mean);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < dimension; d++)
            mean[d] += (double)rows[i * dimension + d] / (double)count;
}

/* x (D) = mean + sum of TERMS random differences with random signs, over the root of TERMS; normalised. */
static void draw_row(const float *rows, size_t count, size_t dimension, const double *mean, ast_random *random,
                     double *x) {
    memcpy(x, mean, dimension * sizeof *x);
    for (int term = 0; term < TERMS; term++) {
        const float *row = rows + (size_t)ast_random_below(random, count) * dimension;
        double factor = (ast_random_u64(random) >> 63 ? 1 : -1) / sqrt(TERMS);
        for (size_t d = 0; d < dimension; d++)
            x[d] += factor * ((double)row[d] - mean[d]);
    }
    if (ast_normalise(x, dimension) == 0)
        x[0] = 1;
}

static ast_status draw_cloud(ast_tuning *t, int number, float *rows) {
    size_t count = t->sample.points.count, dimension = t->sample.points.dimension;
    double *mean = ast_allocate(2 * dimension, sizeof *mean), *x = mean ? mean + dimension : NULL;
    ast_random random;
    ast_random_seed(&random, AST_TUNE_SEED, FIRST_SEED + (uint64_t)number);
    if (mean)
        find_mean(t->unmapped, count, dimension, mean);
    for (size_t i = 0; i < count && mean && !ast_pool_poll(t->context->pool); i++) {
        draw_row(t->unmapped, count, dimension, mean, &random, x);
        for (size_t d = 0; d < dimension; d++)
            rows[i * dimension + d] = (float)x[d];
    }
    ast_free(mean);
    return mean ? ast_check_cancelled(t->context) : ast_fail_memory(t->fault);
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
        t->planned++;
        status = measure_draw(t, draw, clusters, silhouette);
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    return status;
}
