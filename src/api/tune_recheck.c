/* SPDX-License-Identifier: MIT
 *
 * Chooses the level on more rows than the sample has. More rows have more noise and so more small clusters in the tree:
 * at the number of clusters that is best for the sample, a large cluster may be split among all rows. So the levels
 * around the chosen one are measured again on all rows, or on as many as take little time. */
#include "tune_call.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        t->planned++;
        status = ast_tune_measure_level(t, cut, levels[i].clusters, &excess[i]);
        excess[i] -= levels[i].null;
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    return status;
}

ast_status ast_tune_recheck_level(ast_tuning *t, size_t *chosen) {
    ast_tune_set set = {0};
    ast_tune_cut cut = {0};
    double excess[AST_TUNE_LEVELS(SIZE_MAX)];
    if (t->present <= t->sample.points.count)
        return AST_OK;
    ast_status status = ast_tune_open_larger(t, &set);
    if (status == AST_OK && t->report->metric == AST_METRIC_LOCAL)
        status = map_rows(t, &set);
    if (status == AST_OK)
        status = ast_tune_grow_tree(t, &set, t->report->leaf_angle);
    if (status == AST_OK)
        status = ast_tune_cut_open(t, &set, t->tuned->levels[t->tuned->level_count - 1].clusters, &cut);
    if (status == AST_OK)
        status = measure_around(t, &cut, *chosen, excess);
    if (status == AST_OK)
        *chosen = ast_tune_settled(excess, t->tuned->levels, t->tuned->level_count, *chosen);
    ast_tune_cut_close(&cut);
    ast_tune_set_free(&set);
    return status;
}
