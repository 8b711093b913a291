/* SPDX-License-Identifier: MIT
 *
 * The result of a run: labels in the caller's order and numbering, and one record per cluster. */
#include "call.h"

#include "mean_error.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PART ((size_t)1 << 16) /* labels that are written together */

/* What a point and a cluster are compared by: the cosine, or the log density of the component. */
static double affinity(const ast_components *components, ast_labelling *l, size_t k, size_t i) {
    const ast_cluster_list *list = &l->clusters;
    ast_row_buffer *rows = &l->workers[0].chunk.rows;
    const float *mean = list->means + (size_t)list->order[k] * list->dimension;
    double cosine = l->rows.sparse ? ast_rows_exact_score(&l->rows, rows, i, mean)
                                   : ast_exact_score(rows->row, mean, list->dimension);
    if (components->count)
        return components->offsets[k] + components->kappas[k] * cosine;
    return l->rows.axial ? fabs(cosine) : cosine;
}

/* Points of weight 0 took no part; now they get the label of the cluster that suits them best, or none if that is the
 * background. Returns how many get none. */
size_t ast_label_weightless(ast_labelling *l, const ast_components *components) {
    const ast_cluster_list *list = &l->clusters;
    size_t outliers = 0;
    for (size_t i = 0; l->rows.weights && list->live > 0 && i < l->rows.count; i++) {
        if (l->rows.weights[i] != 0 || ast_rows_kind(&l->rows, &l->workers[0].chunk.rows, i) == AST_ROW_MISSING)
            continue;
        double best = -INFINITY;
        for (size_t k = 0; k < list->live; k++) {
            double score = affinity(components, l, k, i);
            if (score > best) {
                best = score;
                l->labels[i] = list->order[k];
            }
        }
        if (components->background && components->offsets[components->count] > best) {
            l->labels[i] = AST_MISSING;
            outliers++;
        }
    }
    return outliers;
}

/* Slots become ranks in the order of clusters, and points stand in the caller's order. */
static void rename_labels(const ast_call *c, const ast_labelling *l, const int32_t *rank, int32_t *labels) {
    bool same = !c->order; /* labels are what the caller will see: no slot was used twice */
    for (size_t k = 0; k < l->clusters.live; k++)
        same = same && l->clusters.order[k] == (int32_t)k;
    if (same && labels != l->labels && l->rows.count)
        memcpy(labels, l->labels, l->rows.count * sizeof *labels);
    for (size_t i = 0; !same && i < l->rows.count; i++)
        labels[c->order ? c->order[i] : i] = l->labels[i] < 0 ? -1 : rank[l->labels[i]];
}

/* Weighted points: sizes and weights as the caller counts them, points of weight 0 included. Each rank goes on where
 * the one before stopped. */
static void count_members(const ast_call *c, const ast_labelling *l, const ast_result *r, const int32_t *labels) {
    const ast_comm *comm = l->ranks.comm;
    const double *weights = c->points->weights ? c->points->weights + l->windows.first : NULL;
    for (int turn = 0; weights && turn < ast_comm_size(comm); turn++) {
        for (size_t i = 0; turn == ast_comm_rank(comm) && i < l->rows.count; i++)
            if (labels[i] >= 0) {
                r->clusters[labels[i]].count++;
                r->clusters[labels[i]].weight += weights[i];
                r->clusters[labels[i]].effective += weights[i] * weights[i]; /* until `describe` */
            }
        ast_comm_broadcast(comm, r->clusters, l->clusters.live * sizeof *r->clusters, turn);
    }
}

static ast_status write_labels(const ast_call *c, const ast_labelling *l, ast_fault *fault) {
    for (size_t first = 0; c->store && first < l->rows.count; first += PART) {
        size_t n = l->rows.count - first < PART ? l->rows.count - first : PART, row = l->rows.offset + first;
        if (c->store->write(row, n, l->labels + first, c->store->data) != 0)
            return ast_fail(fault, AST_NO_INPUT, "the labels from row %zu (counting from 1) on could not be written",
                            row + 1);
    }
    return AST_OK;
}

/* The labels, window by window. */
static ast_status hand_over(const ast_call *c, ast_labelling *l, const int32_t *rank, ast_result *r,
                            ast_nearest *nearest, ast_fault *fault) {
    int32_t *labels = c->store ? l->labels : r->labels;
    ast_status status = AST_OK;
    for (size_t n = 0; n < l->windows.count && status == AST_OK; n++) {
        status = ast_windows_open(l, n, fault);
        if (status != AST_OK)
            break;
        r->report.outliers += ast_label_weightless(l, &r->components);
        status = ast_labelling_trouble(l, fault);
        rename_labels(c, l, rank, labels);
        count_members(c, l, r, labels);
        ast_nearest_add(nearest, c, l, labels);
        if (status == AST_OK)
            status = ast_labelling_trouble(l, fault);
        if (status == AST_OK)
            status = write_labels(c, l, fault);
    }
    return status;
}

void ast_cluster_errors(ast_cluster_info *info, size_t dimension, double resultant) {
    ast_mean_error error = ast_mean_error_of(dimension, info->effective, resultant, info->kappa);
    info->length = info->effective * resultant;
    info->precision = error.precision;
    info->standard_error = error.standard_error;
    info->alpha95 = error.alpha95;
    info->kappa_interval[0] = error.kappa_interval[0];
    info->kappa_interval[1] = error.kappa_interval[1];
}

static void describe(const ast_call *c, const ast_labelling *l, const ast_result *r, size_t k) {
    const ast_cluster_list *list = &l->clusters;
    int32_t slot = list->order[k];
    ast_cluster_info *info = &r->clusters[k];
    float *mean = r->means + k * list->dimension;
    double weight = ast_clusters_weight(list, slot);
    double resultant = weight > 0 ? ast_clusters_length(list, slot) / weight : 0;
    bool equal = list->members[slot] < 2 || resultant >= 1 - 0x1p-23; /* unit vectors of floats are that short */
    if (!c->points->weights)
        info->effective = info->weight = (double)(info->count = (size_t)list->members[slot]);
    else
        info->effective = info->weight * (info->weight / info->effective);
    info->resultant = resultant < 1 ? resultant : 1;
    info->kappa = equal ? NAN : ast_vmf_kappa(list->dimension, resultant);
    info->share = info->stability = NAN;
    if (r->components.count) { /* where the method has components their numbers are part of the result */
        info->share = r->components.weights[k];
        info->kappa = r->components.kappas[k];
    }
    info->mean = memcpy(mean, list->means + (size_t)slot * list->dimension, list->dimension * sizeof *mean);
    if (l->rows.axial)
        ast_choose_side(mean, list->dimension);
}

/* The errors of the means. The points of a mixture belong to several components: a component has its share of them, and
 * the resultant that its kappa stands for. */
static void describe_errors(const ast_call *c, ast_result *r, size_t clusters) {
    size_t dimension = c->points->dimension;
    double rest = r->components.background && !c->points->weights ? (double)r->report.outliers : 0;
    double weight = rest, squares = rest; /* points of the background count, too */
    for (size_t k = 0; k < clusters; k++) {
        const ast_cluster_info *info = &r->clusters[k];
        weight += info->weight;
        squares += info->effective > 0 ? info->weight * (info->weight / info->effective) : 0;
    }
    r->effective = weight * (weight / squares);
    for (size_t k = 0; k < clusters; k++) {
        ast_cluster_info *info = &r->clusters[k];
        bool component = c->options->method == AST_MOVMF;
        if (component)
            info->effective = info->share * r->effective;
        ast_cluster_errors(info, dimension, component ? ast_vmf_resultant(dimension, info->kappa) : info->resultant);
    }
}

/* The leaf of every row, in the caller's order. */
static void order_leaves(const ast_call *c, ast_result *r, size_t count, int32_t *scratch) {
    if (!r->tree.leaves || !c->order)
        return;
    memcpy(scratch, r->tree.leaves, count * sizeof *scratch);
    for (size_t i = 0; i < count; i++)
        r->tree.leaves[c->order[i]] = scratch[i];
}

ast_status ast_call_result(const ast_call *c, ast_labelling *l, ast_result *r, ast_fault *fault) {
    size_t clusters = l->clusters.live, slots = l->clusters.slots + 1;
    size_t scratch = r->tree.leaves && l->rows.count > slots ? l->rows.count : slots;
    ast_nearest nearest = {0};
    int32_t *rank = ast_allocate(scratch, sizeof *rank);
    r->clusters = ast_allocate_zero(clusters, sizeof *r->clusters);
    r->means = ast_allocate(clusters * l->rows.dimension, sizeof *r->means);
    bool ready = rank && r->clusters && r->means;
    ast_status status = ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        rank[l->clusters.order[k]] = (int32_t)k;
    if (status == AST_OK)
        status = ast_nearest_open(&nearest, c, l, r, fault);
    if (status == AST_OK)
        status = hand_over(c, l, rank, r, &nearest, fault);
    if (status == AST_OK)
        status = ast_nearest_hand_over(&nearest, l->ranks.comm, r, fault);
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        describe(c, l, r, k);
    if (status == AST_OK)
        describe_errors(c, r, clusters);
    if (status == AST_OK)
        order_leaves(c, r, l->rows.count, rank);
    ast_nearest_free(&nearest);
    free(rank);
    return status;
}

void ast_result_free(ast_result *r) {
    ast_free_all(r->labels, r->clusters, r->means, r->posterior, r->center, r->representatives);
    ast_components_free(&r->components);
    ast_tree_free(&r->tree);
    *r = (ast_result){0};
}

void ast_keep_result(ast_context *context, ast_result *result) {
    ast_result_free(&context->last);
    free(result->labels);
    free(result->tree.leaves);
    context->last = *result;
    context->last.labels = context->last.tree.leaves = NULL;
    *result = (ast_result){0};
}

const ast_cluster_info *ast_cluster_records(const ast_context *context, size_t record, size_t *count) {
    const ast_result *last = context ? &context->last : &(const ast_result){0};
    return ast_records(last->clusters, last->report.clusters, sizeof *last->clusters, record, count);
}

const ast_tree_join *ast_tree_records(const ast_context *context, size_t record, size_t *count) {
    const ast_result *last = context ? &context->last : &(const ast_result){0};
    size_t joins = last->tree.joins ? last->tree.clusters - 1 : 0;
    return ast_records(last->tree.joins, joins, sizeof *last->tree.joins, record, count);
}
