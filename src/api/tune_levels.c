/* SPDX-License-Identifier: MIT
 *
 * The tree of joins of a set, the level that its evidence prefers, and the silhouettes of its levels.
 *
 * A level is a cut of the tree, after which points join their nearest mean a few times, as they do after a merge. */
#include "tune_call.h"

#include "evidence.h"
#include "memory.h"
#include "rounding.h"
#include "tree_cut.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PASSES 5
#define FEW_DIRECTIONS 64 /* so few distinct rows, each with copies, are exact directions */
#define UNIT 0x1p40       /* of the sums of rows: 4,000 of them stay below 2^63 */

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

ast_status ast_tune_grow_tree(ast_tuning *t, ast_tune_set *set, double angle) {
    size_t count = set->points.count, joins;
    int32_t *labels = ast_allocate(count, sizeof *labels);
    ast_options options = ast_tune_run_options(t, angle);
    ast_report report = {.size = sizeof report};
    ast_free(set->joins);
    set->joins = NULL;
    if (!set->leaves)
        set->leaves = ast_allocate(count, sizeof *set->leaves);
    options.merge.tree = 1;
    options.merge.leaves = set->leaves;
    ast_status status = labels && set->leaves ? AST_OK : ast_fail_memory(t->fault);
    if (status == AST_OK)
        status = ast_tune_run(t, &set->points, &options, labels, &report);
    ast_free(labels);
    if (status != AST_OK)
        return status;
    set->leaf_count = report.clusters;
    const ast_tree_join *tree = ast_tree(t->inner, &joins);
    set->joins = ast_allocate(joins, sizeof *set->joins);
    if (!set->joins)
        return ast_fail_memory(t->fault);
    memcpy(set->joins, tree, joins * sizeof *set->joins);
    return AST_OK;
}

/* ---- The evidence ------------------------------------------------------------------------------------------------ */

/* Distinct rows of every label, equal rows being neighbours: their number and their sum; all rows, if their angles were
 * rounded. Axial: rows are flipped to
 * the side of the sum so far. labels: (count) */
static void add_distinct(const ast_tuning *t, const ast_tune_set *set, const int32_t *labels, double *counts,
                         int64_t *sums) {
    bool axial = t->options->axial != 0;
    size_t dimension = set->points.dimension, bytes = dimension * sizeof *set->rows;
    for (size_t i = 0; i < set->points.count; i++) {
        const float *row = set->rows + i * dimension;
        int32_t label = labels[i];
        if (t->rounding == 0 && i > 0 && label == labels[i - 1] && memcmp(row, row - dimension, bytes) == 0)
            continue;
        int64_t *sum = sums + (size_t)label * dimension;
        double side = 0;
        for (size_t d = 0; axial && d < dimension; d++)
            side += (double)sum[d] * (double)row[d];
        for (size_t d = 0; d < dimension; d++)
            sum[d] += llrint((side < 0 ? -UNIT : UNIT) * (double)row[d]);
        counts[label]++;
    }
}

/* The evidence of clusters, given by the labels (count) of a set. Close it if that succeeds. */
static ast_status open_evidence(ast_tuning *t, const ast_tune_set *set, const int32_t *labels, size_t clusters,
                                ast_evidence *e) {
    size_t dimension = set->points.dimension;
    double *counts = ast_allocate_zero(clusters, sizeof *counts);
    int64_t *sums = ast_allocate_zero(clusters * dimension, sizeof *sums);
    bool ready = counts && sums && ast_evidence_open_in(e, clusters, dimension, t->points->dimension, UNIT);
    ast_status status = ready ? AST_OK : ast_fail_memory(t->fault);
    if (ready)
        add_distinct(t, set, labels, counts, sums);
    if (ready)
        e->row_scale = ast_rounding_scale(t->points->dimension, t->rounding);
    for (size_t k = 0; ready && k < clusters && !ast_pool_poll(t->context->pool); k++)
        ast_evidence_leaf(e, counts[k], sums + k * dimension);
    ast_free_all(counts, sums);
    if (ready && ast_pool_cancelled(t->context->pool)) {
        ast_evidence_close(e);
        status = ast_fail_cancelled(t->fault);
    }
    return status;
}

/* The best level of the tree: *limit, the number of its clusters; *evidence, its evidence less that of one cluster. */
static ast_status find_best_level(ast_tuning *t, const ast_tune_set *set, ast_evidence *e, size_t *limit,
                                  double *evidence) {
    double highest = -INFINITY, value = 0;
    for (size_t clusters = set->leaf_count; clusters > 0; clusters--) {
        if (ast_pool_poll(t->context->pool))
            return ast_fail_cancelled(t->fault);
        value = ast_evidence_value(e);
        if (value >= highest) {
            highest = value;
            *limit = clusters;
        }
        if (clusters == 1)
            break;
        const ast_tree_join *join = &set->joins[set->leaf_count - clusters];
        ast_evidence_join(e, join->a, join->b, t->options->axial && ast_evidence_opposite(e, join->a, join->b));
    }
    *evidence = highest - value;
    return AST_OK;
}

/* The rows of a part with few flat faces are copies of a few directions, each of which the evidence counts once. No
 * distribution with a density has copies, so the silhouettes decide then. */
static bool mostly_copies(const ast_tune_set *set, const ast_evidence *e) {
    return e->points <= FEW_DIRECTIONS && 2 * e->points <= (double)set->points.count;
}

ast_status ast_tune_find_best_by_evidence(ast_tuning *t, const ast_tune_set *set, size_t *limit, double *evidence) {
    ast_evidence e;
    ast_status status = open_evidence(t, set, set->leaves, set->leaf_count, &e);
    if (status != AST_OK)
        return status;
    status = find_best_level(t, set, &e, limit, evidence);
    if (status == AST_OK && *limit == 1 && mostly_copies(set, &e))
        *limit = set->leaf_count;
    ast_evidence_close(&e);
    return status;
}

/* The evidence less that of one cluster with all points. */
static double join_all(ast_evidence *e, size_t clusters, bool axial) {
    double apart = ast_evidence_value(e);
    size_t all = 0;
    for (size_t k = 1; k < clusters; k++) {
        ast_evidence_join(e, all, k, axial && ast_evidence_opposite(e, all, k));
        all = clusters + k - 1;
    }
    return apart - ast_evidence_value(e);
}

ast_status ast_tune_evidence(ast_tuning *t, const int32_t *labels, size_t clusters, double *evidence) {
    ast_evidence e;
    ast_status status = open_evidence(t, &t->sample, labels, clusters, &e);
    if (status != AST_OK)
        return status;
    *evidence = join_all(&e, clusters, t->options->axial != 0);
    ast_evidence_close(&e);
    return AST_OK;
}

/* ---- The levels -------------------------------------------------------------------------------------------------- */

/* Means of the labels, from sums in order of the rows. Axial: a row counts on the side of the mean so far. */
static void find_means(ast_tune_cut *cut) {
    const ast_tune_set *set = cut->set;
    size_t dimension = set->points.dimension;
    memset(cut->sums, 0, cut->clusters * dimension * sizeof *cut->sums);
    for (size_t i = 0; i < set->points.count; i++) {
        const float *row = set->rows + i * dimension, *mean = cut->means + (size_t)cut->labels[i] * dimension;
        double *sum = cut->sums + (size_t)cut->labels[i] * dimension, factor = set->weights ? set->weights[i] : 1,
               side = 0;
        for (size_t d = 0; cut->axial && d < dimension; d++)
            side += (double)mean[d] * (double)row[d];
        factor = side < 0 ? -factor : factor;
        for (size_t d = 0; d < dimension; d++)
            sum[d] += factor * (double)row[d];
    }
    for (size_t k = 0; k < cut->clusters; k++) {
        double *sum = cut->sums + k * dimension, length = ast_normalise(sum, dimension);
        for (size_t d = 0; d < dimension && length > 0; d++)
            cut->means[k * dimension + d] = (float)sum[d];
    }
}

/* The first row of each cluster: its mean if the rows cancel out. */
static void start_means(ast_tune_cut *cut) {
    size_t dimension = cut->set->points.dimension;
    int32_t next = 0;
    for (size_t i = 0; i < cut->set->points.count; i++)
        if (cut->labels[i] == next)
            memcpy(cut->means + (size_t)next++ * dimension, cut->set->rows + i * dimension,
                   dimension * sizeof *cut->means);
    if (cut->axial)
        find_means(cut);
}

static ast_status join_nearest(ast_tuning *t, ast_tune_cut *cut) {
    size_t count = cut->set->points.count;
    ast_status status = AST_OK;
    start_means(cut);
    for (int pass = 0; pass < PASSES && status == AST_OK; pass++) {
        find_means(cut);
        ast_assign_options to = ast_assign_to(cut->means, cut->clusters);
        to.axial = cut->axial;
        status = ast_tune_take_fault(t, ast_assign(t->inner, &cut->set->points, &to, cut->nearest, NULL));
        if (status != AST_OK || memcmp(cut->nearest, cut->labels, count * sizeof *cut->labels) == 0)
            break;
        memcpy(cut->labels, cut->nearest, count * sizeof *cut->labels);
        size_t before = cut->clusters;
        cut->clusters = ast_number_labels(cut->labels, count, cut->group, cut->clusters);
        if (cut->clusters < before)
            start_means(cut);
    }
    return status;
}

ast_status ast_tune_cut_open(ast_tuning *t, const ast_tune_set *set, size_t most, ast_tune_cut *cut) {
    size_t count = set->points.count, dimension = set->points.dimension,
           numbers = 2 * set->leaf_count > most ? 2 * set->leaf_count : most;
    *cut = (ast_tune_cut){.set = set, .axial = t->options->axial != 0};
    bool ready = ast_replace_arrays(AST_REQUEST(cut->labels, count), AST_REQUEST(cut->nearest, count),
                                    AST_REQUEST(cut->group, numbers), AST_REQUEST(cut->means, most * dimension),
                                    AST_REQUEST(cut->sums, most * dimension));
    return ready ? AST_OK : ast_fail_memory(t->fault);
}

void ast_tune_cut_close(ast_tune_cut *cut) {
    ast_free_all(cut->labels, cut->nearest, cut->group, cut->means, cut->sums);
}

ast_status ast_tune_cut_at(ast_tuning *t, ast_tune_cut *cut, size_t clusters) {
    cut->clusters = ast_cut_joins(cut->set->joins, cut->set->leaf_count, clusters, cut->set->leaves,
                                  cut->set->points.count, cut->group, cut->labels);
    ast_status status = join_nearest(t, cut);
    if (status == AST_OK)
        find_means(cut);
    return status;
}

ast_status ast_tune_measure_level(ast_tuning *t, ast_tune_cut *cut, size_t clusters, double *silhouette) {
    *silhouette = -1;
    if (clusters > cut->set->leaf_count)
        return AST_OK;
    ast_status status = ast_tune_cut_at(t, cut, clusters);
    if (status == AST_OK)
        status = ast_tune_silhouette(t, &cut->set->points, cut->labels, cut->clusters, silhouette);
    if (status == AST_OK && isnan(*silhouette))
        *silhouette = 0; /* the passes left one cluster */
    return status;
}

ast_status ast_tune_measure_levels(ast_tuning *t, const ast_tune_set *set, ast_null kind) {
    const ast_tuned *tuned = t->tuned;
    ast_tune_cut cut;
    ast_status status = ast_tune_cut_open(t, set, tuned->levels[tuned->level_count - 1].clusters, &cut);
    for (size_t i = 0; i < tuned->level_count && status == AST_OK; i++) {
        ast_tune_level *row = &tuned->levels[i];
        double silhouette;
        status = ast_tune_measure_level(t, &cut, row->clusters, &silhouette);
        if (set == &t->sample)
            row->silhouette = silhouette;
        else if (kind == AST_NULL_ONE)
            row->null = fmax(row->null, silhouette);
        if (set != &t->sample && !(row->null_any >= silhouette)) {
            row->null_any = silhouette;
            tuned->nulls[i] = kind;
        }
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    ast_tune_cut_close(&cut);
    return status;
}
