/* SPDX-License-Identifier: MIT
 *
 * The metric of a tune (docs/metric.md): learned from the neighbours of all points, then from clusters of the sample.
 * All further steps of tune see the mapped sample. */
#include "tune_call.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PHYSICAL 8 /* components: with so few, angles are those of a space that people measure in */
#define FEWEST 20  /* points that have neighbourhoods */
#define ROUND                                                                                                          \
    0.93 /* of what a scatter equal in all directions has: draws of those are above 0.97, clusters with a few long     \
            axes below 0.9 */

static bool is_possible(const ast_tuning *t) {
    return !t->options->axial && !t->options->center && !t->points->starts &&
           t->points->dimension <= AST_MOST_DIMENSION;
}

/* A scatter of n draws that is equal in all directions has the expected roundness 1 / (1 + D / n). */
static bool is_round(const ast_tuning *t) {
    double ratio = (double)t->points->dimension / (double)t->present;
    return t->metric.roundness * (1 + ratio) >= ROUND;
}

/* Takes rows that the map has no direction for out of the sample. Returns how many remain. */
static size_t drop_missing(ast_tuning *t, bool drop) {
    ast_tune_set *set = &t->sample;
    size_t dimension = set->points.dimension, kept = 0;
    for (size_t i = 0; i < set->points.count; i++) {
        if (!isfinite(set->rows[i * dimension]))
            continue;
        if (drop && kept < i) {
            memcpy(set->rows + kept * dimension, set->rows + i * dimension, dimension * sizeof *set->rows);
            memcpy(t->unmapped + kept * dimension, t->unmapped + i * dimension, dimension * sizeof *set->rows);
            if (set->weights)
                set->weights[kept] = set->weights[i];
        }
        kept++;
    }
    set->points.count = drop ? kept : set->points.count;
    return kept;
}

static ast_status map_sample(ast_tuning *t) {
    const ast_points *sample = &t->sample.points;
    ast_points raw = ast_points_f4(t->unmapped, sample->count, sample->dimension);
    return ast_metric_map(t->context, &raw, &t->metric.map, t->sample.rows);
}

/* The metric is local if the map leaves enough rows. */
static ast_status map_or_restore(ast_tuning *t) {
    const ast_points *sample = &t->sample.points;
    size_t bytes = sample->count * sample->dimension * sizeof *t->unmapped;
    t->unmapped = ast_allocate(1, bytes);
    if (!t->unmapped)
        return ast_fail_memory(t->fault);
    memcpy(t->unmapped, t->sample.rows, bytes);
    ast_status status = map_sample(t);
    bool enough = status == AST_OK && drop_missing(t, false) >= FEWEST;
    if (enough)
        drop_missing(t, true);
    else
        memcpy(t->sample.rows, t->unmapped, bytes);
    t->report->points = sample->count;
    t->report->metric = enough ? AST_METRIC_LOCAL : AST_METRIC_PLAIN;
    return status;
}

ast_status ast_tune_open_metric(ast_tuning *t) {
    const ast_points *sample = &t->sample.points;
    bool decide = t->options->metric == AST_METRIC_AUTO;
    if (t->options->metric == AST_METRIC_PLAIN ||
        (decide && (!is_possible(t) || sample->dimension <= PHYSICAL || t->present < FEWEST)))
        return AST_OK;
    ast_status status = ast_metric_fit_local(t->context, t->points, NAN, &t->metric);
    if (status != AST_OK || (decide && is_round(t)))
        return status;
    return map_or_restore(t);
}

ast_status ast_tune_refine_metric(ast_tuning *t, const int32_t *labels) {
    const ast_points *sample = &t->sample.points;
    ast_points raw = ast_points_f4(t->unmapped, sample->count, sample->dimension);
    ast_status status = ast_metric_fit_within(t->context, &raw, labels, NAN, &t->metric);
    if (status == AST_OK)
        status = map_sample(t);
    if (status == AST_OK)
        t->report->points = drop_missing(t, true);
    return status;
}

void ast_tune_close_metric(ast_tuning *t) {
    ast_fitted_metric_free(&t->metric);
    ast_free(t->unmapped);
}
