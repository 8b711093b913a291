/* SPDX-License-Identifier: MIT
 *
 * Chooses the level on more rows than the sample has. More rows have more noise and so more small clusters in the tree:
 * at the number of clusters that is best for the sample, a large cluster may be split among all rows. So the levels
 * around the chosen one are measured again on all rows, or on as many as take little time. Where the sample is all rows,
 * the recommended run is tried: it learns a map of its own, with which the same level of its tree may split a large
 * cluster; then a level near it is taken whose run does not. */
#include "tune_call.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGREES 0.95 /* adjusted Rand index: the run gives the clusters of the level */
#define TRIES 3     /* levels whose runs are looked at */

/* Maps the rows, and leaves out those that the map has no direction for. */
static ast_status map_rows(ast_tuning *t, ast_tune_set *set) {
    size_t count = set->points.count, dimension = set->points.dimension, kept = 0;
    float *rows = ast_allocate(count * dimension, sizeof *rows);
    ast_status status =
        rows ? ast_metric_map(t->context, &set->points, &t->metric.map, rows) : ast_fail_memory(t->fault);
    for (size_t i = 0; i < count && status == AST_OK; i++) {
        if (!isfinite(rows[i * dimension]))
            continue;
        memcpy(set->rows + kept * dimension, rows + i * dimension, dimension * sizeof *rows);
        if (set->weights)
            set->weights[kept] = set->weights[i];
        kept++;
    }
    set->points.count = kept;
    ast_free(rows);
    return status;
}

/* excess (levels): of the levels around the chosen one, from half to twice its clusters; NaN: of others. */
static ast_status measure_around(ast_tuning *t, ast_tune_cut *cut, size_t chosen, double *excess) {
    const ast_tune_level *levels = t->tuned->levels;
    size_t count = t->tuned->level_count;
    double least = ast_tune_least_stability(levels, count);
    ast_status status = AST_OK;
    for (size_t i = 0; i < count && status == AST_OK; i++) {
        excess[i] = NAN;
        if (!ast_tune_is_around(levels, chosen, i) || levels[i].stability < least)
            continue;
        status = ast_tune_measure_level(t, cut, levels[i].clusters, &excess[i]);
        excess[i] -= levels[i].null;
        t->planned++;
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    return status;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* How far the run that would be recommended gives the clusters of a level. raw: the rows of the cut before the map;
 * labels (count) */
static ast_status compare_run(ast_tuning *t, ast_tune_cut *cut, const float *raw, size_t clusters, int32_t *labels,
                              double *agreement) {
    ast_points points = ast_points_f4(raw, cut->set->points.count, cut->set->points.dimension);
    ast_options options = ast_tune_run_options(t, t->report->leaf_angle);
    ast_report report = {.size = sizeof report};
    ast_agreement found = {.size = sizeof found};
    points.weights = cut->set->weights;
    options.merge.by = AST_MERGE_COUNT;
    options.merge.count = clusters;
    options.metric = AST_METRIC_LOCAL;
    ast_status status = ast_tune_cut_at(t, cut, clusters);
    if (status == AST_OK)
        status = ast_tune_run(t, &points, &options, labels, &report);
    if (status == AST_OK)
        status = ast_tune_take_fault(t, ast_compare(t->inner, labels, cut->labels, points.count, &found));
    *agreement = found.ari;
    t->planned++;
    return status == AST_OK ? ast_tune_step(t) : status;
}

/* If the run does not give the clusters of the chosen level, a level near it whose run does takes its place. */
static ast_status confirm(ast_tuning *t, ast_tune_cut *cut, const float *raw, size_t *chosen) {
    const ast_tune_level *levels = t->tuned->levels;
    size_t tries[TRIES], count = ast_tune_list_neighbours(levels, t->tuned->level_count, *chosen, TRIES, tries);
    double agreement = 0;
    int32_t *labels = ast_allocate(cut->set->points.count, sizeof *labels);
    ast_status status = labels ? AST_OK : ast_fail_memory(t->fault);
    for (size_t i = 0; i < count && status == AST_OK && agreement < AGREES; i++) {
        agreement = 0;
        if (levels[tries[i]].clusters <= cut->set->leaf_count)
            status = compare_run(t, cut, raw, levels[tries[i]].clusters, labels, &agreement);
        if (status == AST_OK && agreement >= AGREES)
            *chosen = tries[i];
    }
    ast_free(labels);
    return status;
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

static ast_status open_all(ast_tuning *t, ast_tune_set *set) {
    ast_status status = ast_tune_open_larger(t, set);
    if (status == AST_OK && t->report->metric == AST_METRIC_LOCAL)
        status = map_rows(t, set);
    return status == AST_OK ? ast_tune_grow_tree(t, set, t->report->leaf_angle) : status;
}

ast_status ast_tune_recheck_level(ast_tuning *t, size_t *chosen) {
    ast_tune_set set = {0};
    ast_tune_cut cut = {0};
    double excess[AST_TUNE_LEVELS(SIZE_MAX)];
    bool larger = t->present > t->report->points;
    ast_status status = larger ? open_all(t, &set) : AST_OK;
    if (status == AST_OK)
        status = ast_tune_cut_open(t, larger ? &set : &t->sample, t->tuned->levels[t->tuned->level_count - 1].clusters,
                                   &cut);
    if (status == AST_OK && larger)
        status = measure_around(t, &cut, *chosen, excess);
    if (status == AST_OK && larger)
        *chosen = ast_tune_level_by_excess(excess, t->tuned->levels, t->tuned->level_count, *chosen);
    else if (status == AST_OK && t->report->metric == AST_METRIC_LOCAL)
        status = confirm(t, &cut, t->unmapped, chosen);
    ast_tune_cut_close(&cut);
    ast_tune_set_free(&set);
    return status;
}
