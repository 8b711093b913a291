/* SPDX-License-Identifier: MIT
 *
 * Entry points of tallies: check, label the points of a part, join, end the iteration. tally_bytes.c has the bytes. */
#include "tally.h"

#include "memory.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POINTS 0x1p32  /* sums of 2^30 a point fit 64 bits */
#define MOST_WEIGHT 0x1p62  /* what the unit of weights is made for; rounding may add half a unit a point */
#define UNIT_LENGTH 0x1p-20 /* squared, more or less: a cluster of one point has its bits, and those are nearly so */

/* ---- Opening and closing ---------------------------------------------------------------------------------------- */

static ast_status check_means(const float *means, size_t clusters, size_t dimension, ast_fault *fault) {
    if (!means || clusters == 0 || clusters > INT32_MAX)
        return ast_fail(fault, AST_BAD_OPTION, "there are %zu means; a tally needs 1 to 2147483647",
                        means ? clusters : 0);
    if (dimension < 2 || dimension > INT32_MAX)
        return ast_fail(fault, AST_BAD_OPTION, "the means have dimension %zu; directions have 2 and more components",
                        dimension);
    return AST_OK;
}

ast_status ast_tally_start(ast_context *context, const float *given, size_t clusters, size_t dimension, float *means) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_fault *fault = &context->fault;
    ast_status status = check_means(given, clusters, dimension, fault);
    if (status == AST_OK)
        status = ast_check_pointer(means, "means", fault);
    ast_points view = ast_points_f4(given, clusters, dimension);
    float *rows = status == AST_OK ? ast_allocate(clusters * dimension, sizeof *rows) : NULL;
    if (status == AST_OK && !rows)
        status = ast_fail_memory(fault);
    for (size_t k = 0; status == AST_OK && k < clusters; k++) {
        ast_row_kind kind = ast_read_row(&view, k, rows + k * dimension);
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
            status = ast_fail(fault, AST_BAD_DATA, "mean %zu (counting from 1) has no direction: it holds %s", k + 1,
                              kind == AST_ROW_INFINITE ? "an infinity" : "a NaN, or zeros only");
    }
    if (status == AST_OK)
        memcpy(means, rows, clusters * dimension * sizeof *rows);
    ast_free(rows);
    return ast_leave(context, status);
}

static ast_status check_options(const ast_tally_options *o, ast_fault *fault) {
    ast_status status = ast_check_struct(o, sizeof *o, "options", fault);
    if (status != AST_OK)
        return status;
    if (!(o->smallest_weight >= 0) || isinf(o->smallest_weight))
        return ast_fail(fault, AST_BAD_OPTION,
                        "smallest_weight is %g; it must be a number above 0, or 0 for no weights", o->smallest_weight);
    if (o->smallest_weight > 0 && (!(o->total_weight >= 1) || isinf(o->total_weight)))
        return ast_fail(fault, AST_BAD_OPTION,
                        "total_weight is %g; it is the sum of weight / smallest_weight, at least 1", o->total_weight);
    return AST_OK;
}

static ast_status add_means(ast_tally *t, const float *means, size_t count, size_t dimension) {
    for (size_t k = 0; k < count; k++) {
        double squared = 0;
        for (size_t d = 0; d < dimension; d++)
            squared += (double)means[k * dimension + d] * (double)means[k * dimension + d];
        if (!(fabs(squared - 1) <= UNIT_LENGTH))
            return ast_fail(t->fault, AST_BAD_DATA,
                            "mean %zu (counting from 1) is no unit vector; ast_tally_start makes it one", k + 1);
    }
    return ast_clusters_add_means(&t->clusters, means, count) ? AST_OK : ast_fail_memory(t->fault);
}

static ast_status set_up(ast_tally *t, const float *means, size_t clusters, size_t dimension) {
    const ast_tally_options *o = &t->options;
    ast_clusters_clear(&t->clusters, dimension);
    t->clusters.axial = o->axial != 0;
    if (o->smallest_weight > 0)
        t->clusters.unit = t->clusters.weight_unit = ast_weight_unit_for_total(o->total_weight);
    ast_status status = add_means(t, means, clusters, dimension);
    t->all = (ast_tally_sums){.sums = t->clusters.sums, .weights = t->clusters.weights, .members = t->clusters.members};
    return status;
}

ast_status ast_tally_open(ast_tally **opened, ast_context *context, const float *means, size_t clusters,
                          size_t dimension, const ast_tally_options *options) {
    const ast_tally_options usual = {.size = sizeof usual}, *given = options ? options : &usual;
    const char *problem = opened ? NULL : "tally: the pointer is NULL";
    ast_status status = ast_open_handle(opened, sizeof **opened, context, problem);
    if (status != AST_OK)
        return status;
    (*opened)->context = context;
    (*opened)->fault = &context->fault;
    status = check_means(means, clusters, dimension, &context->fault);
    if (status == AST_OK)
        status = check_options(given, &context->fault);
    if (status == AST_OK) {
        (*opened)->options = *given;
        status = set_up(*opened, means, clusters, dimension);
    }
    if (status != AST_OK) {
        ast_tally_close(*opened);
        *opened = NULL;
    }
    return status;
}

void ast_tally_close(ast_tally *t) {
    if (!t || ast_in_callback(t->context, __func__))
        return;
    ast_clusters_free(&t->clusters);
    ast_tally_free(&t->all);
    ast_free_all(t->moves, t->bytes, t);
}

/* The iteration is over. */
static void clear(ast_tally *t) {
    size_t clusters = t->clusters.live;
    memset(t->clusters.sums, 0, clusters * t->clusters.dimension * sizeof *t->clusters.sums);
    memset(t->clusters.weights, 0, clusters * sizeof *t->clusters.weights);
    memset(t->clusters.members, 0, clusters * sizeof *t->clusters.members);
    ast_tally_free(&t->all);
    t->all.points = t->all.missing = t->all.changed = t->all.label_hash = 0;
}

/* ---- Adding ----------------------------------------------------------------------------------------------------- */

static ast_status check_points(const ast_tally *t, const ast_points *points) {
    ast_status status = ast_check_points(points, t->fault);
    if (status == AST_OK && points->dimension != t->clusters.dimension)
        status = ast_fail(t->fault, AST_BAD_DATA, "the points have dimension %zu, the means %zu", points->dimension,
                          t->clusters.dimension);
    if (status == AST_OK && (points->weights != NULL) != (t->options.smallest_weight > 0))
        status = ast_fail(t->fault, AST_BAD_OPTION,
                          points->weights ? "the points have weights: smallest_weight and total_weight are to be set"
                                          : "smallest_weight is set, but these points have no weights");
    if (status == AST_OK && t->options.axial)
        status = ast_refuse_sparse(points, "an axial tally", t->fault);
    return status;
}

/* The weights of these points, divided by the smallest of all. */
static ast_status scale_weights(const ast_tally *t, const ast_points *points, const int32_t *labels, double *scaled) {
    double smallest = t->options.smallest_weight, total = 0;
    for (size_t i = 0; i < points->count; i++) {
        scaled[i] = points->weights[i] / smallest;
        if (labels[i] != AST_MISSING && points->weights[i] > 0 && points->weights[i] < smallest)
            return ast_fail(t->fault, AST_BAD_DATA,
                            "weight %zu (counting from 1) is %g, less than the smallest_weight of %g", i + 1,
                            points->weights[i], smallest);
        total += labels[i] == AST_MISSING ? 0 : scaled[i];
    }
    if (total > t->options.total_weight * (1 + 0x1p-20))
        return ast_fail(t->fault, AST_BAD_DATA, "the weights come to %g times the smallest, but total_weight is %g",
                        total, t->options.total_weight);
    return AST_OK;
}

/* The part's points as a labelling with the tally's means as clusters. */
static ast_status load(ast_tally *t, const ast_points *points, double *scaled) {
    ast_context *context = t->context;
    ast_fault *fault = &context->fault;
    ast_labelling *l = context->labelling;
    ast_labelling_input input = ast_resident_input(context, points, t->clusters.axial);
    ast_status status = ast_labelling_load(l, &input, fault);
    if (status == AST_OK && points->weights)
        status = scale_weights(t, points, ast_view_of(l).labels, scaled);
    if (status != AST_OK)
        return status;
    if (points->weights)
        ast_labelling_weigh(l, scaled, t->clusters.unit);
    ast_labelling_set_rule(l, &ast_nearest_rule, NAN);
    return ast_labelling_add_means(l, t->clusters.means, t->clusters.live, fault);
}

static uint64_t count_changes(const ast_labelling *l, const int32_t *labels) {
    const ast_labelling_view v = ast_view_of(l);
    uint64_t changed = 0;
    for (size_t i = 0; i < v.rows->count; i++)
        changed += v.labels[i] >= 0 && (!labels || labels[i] != v.labels[i]);
    return changed;
}

ast_status ast_tally_add_part(ast_tally *t, const ast_tally_sums *part) {
    size_t clusters = t->clusters.live;
    double total = 0;
    for (size_t k = 0; k < clusters; k++)
        total += (double)t->all.weights[k] + (double)part->weights[k];
    if ((double)t->all.points + (double)part->points >= MOST_POINTS)
        return ast_fail(t->fault, AST_BAD_DATA, "a tally takes less than 4294967296 points, and these are more");
    if (t->options.smallest_weight > 0 && total > MOST_WEIGHT * (1 + 0x1p-20) + MOST_POINTS)
        return ast_fail(t->fault, AST_BAD_DATA, "the weights come to more than the total_weight of %g",
                        t->options.total_weight);
    return ast_tally_join(&t->all, part, clusters, t->clusters.dimension) ? AST_OK : ast_fail_memory(t->fault);
}

static ast_status add_loaded(ast_tally *t, uint64_t first, int32_t *labels) {
    ast_labelling *l = t->context->labelling;
    ast_pass_result result;
    size_t unused = 0;
    ast_tally_sums part;
    ast_status status = ast_labelling_pass(l, AST_ORDERED, &result, t->fault);
    if (status == AST_OK)
        status = ast_check_cancelled(t->context);
    if (status != AST_OK)
        return status;
    if (!ast_tally_gather(l, first, &part))
        return ast_fail_memory(t->fault);
    const ast_labelling_view v = ast_view_of(l);
    status = ast_label_weightless(l, &(ast_components){0}, NULL, &unused, t->fault);
    part.points = v.rows->count;
    part.missing = v.missing;
    part.changed = count_changes(l, labels);
    if (status == AST_OK)
        status = ast_tally_add_part(t, &part);
    ast_tally_free(&part);
    for (size_t i = 0; status == AST_OK && labels && i < v.rows->count; i++)
        labels[i] = v.labels[i] < 0 ? -1 : v.labels[i];
    return status;
}

ast_status ast_tally_add(ast_tally *t, const ast_points *points, uint64_t first, int32_t *labels) {
    if (!ast_enter(t ? t->context : NULL))
        return AST_BAD_OPTION;
    double *scaled = NULL;
    ast_status status = check_points(t, points);
    if (status != AST_OK)
        return ast_leave(t->context, status);
    if (points->weights) {
        scaled = ast_allocate(points->count, sizeof *scaled);
        status = scaled ? AST_OK : ast_fail_memory(t->fault);
    }
    if (status == AST_OK)
        status = load(t, points, scaled);
    if (status == AST_OK)
        status = add_loaded(t, first, labels);
    if (status != AST_OK)
        ast_labelling_clear(t->context->labelling);
    ast_labelling_weigh(t->context->labelling, NULL, 0);
    ast_free(scaled);
    return ast_leave(t->context, status);
}

/* ---- The result ------------------------------------------------------------------------------------------------- */

ast_status ast_tally_look(const ast_tally *t, ast_tally_totals *totals) {
    if (!ast_enter(t ? t->context : NULL))
        return AST_BAD_OPTION;
    if (ast_check_struct(totals, sizeof *totals, "totals", t->fault) != AST_OK)
        return ast_leave(t->context, AST_BAD_OPTION);
    const ast_cluster_list *c = &t->clusters;
    double objective = 0;
    for (size_t j = 0; j < c->live * c->dimension; j++)
        objective += (double)c->sums[j] * (double)c->means[j];
    *totals = (ast_tally_totals){.size = sizeof *totals,
                                 .points = t->all.points,
                                 .missing = t->all.missing,
                                 .changed = t->all.changed,
                                 .objective = objective / c->unit,
                                 .unit = c->unit,
                                 .sums = c->sums,
                                 .weights = c->weights,
                                 .members = c->members};
    return ast_leave(t->context, AST_OK);
}

static ast_status update(ast_tally *t, ast_tally_step *step) {
    ast_cluster_list *c = &t->clusters;
    uint64_t members = 0;
    if (ast_check_struct(step, sizeof *step, "step", t->fault) != AST_OK)
        return AST_BAD_OPTION;
    for (size_t k = 0; k < c->live; k++)
        members += (uint64_t)c->members[k];
    if (members < c->live)
        return ast_fail(t->fault, AST_BAD_DATA, "there are %zu clusters, but only %llu usable point%s", c->live,
                        (unsigned long long)members, members == 1 ? "" : "s");
    size_t moved = ast_tally_empty(c->members, c->live);
    ast_tally_move *moves = ast_allocate(moved, sizeof *moves);
    if (!moves)
        return ast_fail_memory(t->fault);
    ast_free(t->moves);
    t->moves = moves;
    ast_tally_fill(&t->all, c, moves);
    ast_tally_means(&t->all, c, moves, moved);
    *step = (ast_tally_step){.size = sizeof *step,
                             .objective = ast_clusters_objective(c),
                             .fingerprint = t->all.label_hash,
                             .means = c->means,
                             .moves = moves,
                             .moved = moved};
    clear(t);
    return AST_OK;
}

ast_status ast_tally_update(ast_tally *t, ast_tally_step *step) {
    return ast_enter(t ? t->context : NULL) ? ast_leave(t->context, update(t, step)) : AST_BAD_OPTION;
}
