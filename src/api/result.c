/* SPDX-License-Identifier: MIT
 *
 * The result of a run: labels in the caller's order and numbering, and one record per cluster. */
#include "call.h"

#include "mean_error.h"
#include "memory.h"
#include "metric.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PART ((size_t)1 << 16) /* labels that are written together */

typedef struct weightless {
    ast_labelling_view v;
    int32_t *labels; /* of the view */
    const ast_components *components;
    const double *limits; /* (slots) the smallest cosine that fits; NULL: every one does */
    _Atomic size_t outliers;
} weightless;

/* The score of a point with a cluster: the cosine, or the log density of the component. */
static double affinity(const weightless *w, ast_row_buffer *buffer, size_t k, size_t i) {
    const ast_cluster_list *list = w->v.clusters;
    const float *mean = list->means + (size_t)list->order[k] * list->dimension;
    double cosine = w->v.rows->sparse ? ast_rows_exact_score(w->v.rows, buffer, i, mean)
                                      : ast_exact_score(buffer->row, mean, list->dimension);
    if (w->components->count)
        return w->components->offsets[k] + w->components->kappas[k] * cosine;
    return w->v.rows->axial ? fabs(cosine) : cosine;
}

static void label_weightless(void *data, ast_chunk *memory, size_t first, size_t last) {
    weightless *w = data;
    const ast_rowset *rows = w->v.rows;
    const ast_components *c = w->components;
    for (size_t i = first; i < last; i++) {
        if (rows->weights[i] != 0 || ast_rows_kind(rows, &memory->rows, i) == AST_ROW_MISSING)
            continue;
        double best = -INFINITY;
        for (size_t k = 0; k < w->v.clusters->live; k++) {
            double score = affinity(w, &memory->rows, k, i);
            if (score > best) {
                best = score;
                w->labels[i] = w->v.clusters->order[k];
            }
        }
        if ((w->limits && w->labels[i] >= 0 && best < w->limits[w->labels[i]]) ||
            (c->background && c->offsets[c->count] > best)) {
            w->labels[i] = AST_MISSING;
            atomic_fetch_add(&w->outliers, 1);
        }
    }
}

ast_status ast_label_weightless(ast_labelling *l, const ast_components *components, const double *limits,
                                size_t *outliers, ast_fault *fault) {
    weightless w = {.v = ast_view_of(l), .labels = ast_labelling_labels(l), .components = components, .limits = limits};
    if (!w.v.rows->weights || w.v.clusters->live == 0)
        return AST_OK;
    ast_status status = ast_labelling_each_chunk(l, label_weightless, &w, fault);
    *outliers += w.outliers;
    return status;
}

/* Lowers the limits to the smallest score of a row of each cluster: of the open window. */
static void lower_limits(const ast_labelling_view *v, double *limits) {
    for (size_t i = 0; i < v->rows->count; i++) {
        int32_t slot = v->labels[i];
        if (slot < 0)
            continue;
        const float *mean = v->clusters->means + (size_t)slot * v->clusters->dimension;
        double score = ast_rows_in_order_score(v->rows, v->buffer, i, mean);
        score = v->rows->axial ? fabs(score) : score;
        limits[slot] = score < limits[slot] ? score : limits[slot];
    }
}

/* The smallest of all ranks. others: (slots) */
static void share_limits(const ast_labelling_view *v, double *limits, double *others) {
    size_t slots = v->clusters->slots;
    for (int rank = 0; rank < ast_comm_size(v->comm); rank++) {
        memcpy(others, limits, slots * sizeof *others);
        ast_comm_broadcast(v->comm, others, slots * sizeof *others, rank);
        for (size_t k = 0; k < slots; k++)
            limits[k] = others[k] < limits[k] ? others[k] : limits[k];
    }
}

/* From which score on a row of weight 0 gets the nearest cluster, in DP-vMF-means: within the angle and, where clusters
 * were merged, as far as the farthest row of the cluster that counts. (2, slots + 1), of which the first row is used;
 * NULL: any score. A collective call. */
static ast_status weightless_limits(const ast_call *c, double **limits) {
    const ast_options *o = c->options;
    const ast_labelling_view v = ast_view_of(c->l);
    size_t slots = v.clusters->slots;
    bool merged = o->merge.any_angle || o->merge.by != AST_MERGE_NONE;
    *limits = NULL;
    if (o->method != AST_DP || !v.rows->weights || v.clusters->live == 0)
        return AST_OK;
    *limits = ast_allocate(2 * (slots + 1), sizeof **limits);
    ast_status status = ast_comm_agree(v.comm, *limits ? AST_OK : ast_fail_memory(c->fault), c->fault);
    for (size_t k = 0; k < slots && status == AST_OK; k++)
        (*limits)[k] = o->merge.any_angle ? INFINITY : ast_least_score(o->angle);
    for (size_t n = 0; n < v.windows && merged && status == AST_OK; n++) {
        status = ast_labelling_open_window(c->l, n, c->fault);
        if (status == AST_OK)
            lower_limits(&v, *limits);
    }
    if (status == AST_OK && merged)
        share_limits(&v, *limits, *limits + slots + 1);
    return status;
}

/* The same for rows in groups, one after the other. */
static ast_status label_weightless_grouped(const ast_call *c, const double *limits, size_t *outliers) {
    const ast_labelling_view v = ast_view_of(c->l);
    uint8_t *marked = ast_allocate(v.rows->count + 1, 1);
    if (!marked)
        return ast_fail_memory(c->fault);
    for (size_t i = 0; i < v.rows->count; i++)
        marked[i] = v.rows->weights[i] == 0 && ast_rows_kind(v.rows, v.buffer, i) != AST_ROW_MISSING;
    ast_status status =
        ast_label_grouped(c->l, &c->groups, marked, limits, ast_labelling_labels(c->l), outliers, c->fault);
    ast_free(marked);
    return status;
}

static ast_status label_weightless_rows(const ast_call *c, const double *limits, ast_result *r) {
    const ast_labelling_view v = ast_view_of(c->l);
    if (!v.rows->weights || v.clusters->live == 0)
        return AST_OK;
    return c->options->groups ? label_weightless_grouped(c, limits, &r->report.outliers)
                              : ast_label_weightless(c->l, &r->components, limits, &r->report.outliers, c->fault);
}

/* Writes the labels in the order of the caller's points; a label becomes the place of its slot in the order of
 * clusters. */
static void rename_labels(const ast_call *c, const int32_t *rank, int32_t *labels) {
    const ast_labelling_view *v = &c->v;
    bool same = !c->order; /* slots are places in the order: no slot was used twice */
    for (size_t k = 0; k < v->clusters->live; k++)
        same = same && v->clusters->order[k] == (int32_t)k;
    if (same && labels != v->labels && v->rows->count) /* no label is below -1 after a method */
        memcpy(labels, v->labels, v->rows->count * sizeof *labels);
    for (size_t i = 0; !same && i < v->rows->count; i++)
        labels[c->order ? c->order[i] : i] = v->labels[i] < 0 ? -1 : rank[v->labels[i]];
}

/* The power of two at or below it; 0 of 0. */
static double unit_of(double weight) {
    return weight > 0 ? scalbn(1, ilogb(weight)) : 0;
}

/* Until `describe` `effective` is the sum of the squares in units of `share`, a power of two near the largest weight:
 * exact, and squares of 1e-300 are numbers, too. */
static void add_member(ast_cluster_info *info, double weight) {
    info->count++;
    info->weight += weight;
    if (weight >= 2 * info->share && weight > 0) {
        double unit = unit_of(weight), ratio = info->share / unit;
        info->effective *= ratio * ratio;
        info->share = unit;
    }
    double part = info->share > 0 ? weight / info->share : 0;
    info->effective += part * part;
}

/* Weighted points: sizes and weights in the caller's units, points of weight 0 included. Each rank adds to the sums of
 * the rank before, so that the order of additions does not depend on the ranks. */
static void count_members(const ast_call *c, const ast_result *r, const int32_t *labels) {
    const ast_labelling_view *v = &c->v;
    const double *weights = c->points->weights ? c->points->weights + ast_view_of(c->l).window_first : NULL;
    for (int rank = 0; weights && rank < ast_comm_size(v->comm); rank++) {
        for (size_t i = 0; rank == ast_comm_rank(v->comm) && i < v->rows->count; i++)
            if (labels[i] >= 0)
                add_member(&r->clusters[labels[i]], weights[i]);
        ast_comm_broadcast(v->comm, r->clusters, v->clusters->live * sizeof *r->clusters, rank);
    }
}

static ast_status write_labels(const ast_call *c) {
    const ast_labelling_view *v = &c->v;
    for (size_t first = 0; c->store && first < v->rows->count; first += PART) {
        size_t n = v->rows->count - first < PART ? v->rows->count - first : PART, row = v->rows->offset + first;
        if (c->store->write(row, n, v->labels + first, c->store->data) != 0)
            return ast_fail(c->fault, AST_NO_INPUT, "the labels from row %zu (counting from 1) on could not be written",
                            row + 1);
    }
    return AST_OK;
}

/* Makes the caller's labels of the slots, and counts the members of the clusters, window by window. */
static ast_status finish_labels(const ast_call *c, const int32_t *rank, ast_result *r, ast_representatives *nearest) {
    int32_t *labels = c->store ? ast_labelling_labels(c->l) : r->labels;
    double *limits;
    ast_status status = weightless_limits(c, &limits);
    size_t before = r->report.outliers;
    for (size_t n = 0; n < c->v.windows && status == AST_OK; n++) {
        status = ast_labelling_open_window(c->l, n, c->fault);
        if (status != AST_OK)
            break;
        status = label_weightless_rows(c, limits, r);
        rename_labels(c, rank, labels);
        count_members(c, r, labels);
        if (status == AST_OK)
            status = ast_representatives_add(nearest, c, labels);
        if (status == AST_OK)
            status = write_labels(c);
    }
    ast_free(limits);
    uint64_t added = r->report.outliers - before; /* by this rank */
    ast_comm_allreduce(c->v.comm, &added, 1);
    r->report.outliers = before + added;
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

static void describe(const ast_call *c, const ast_result *r, size_t k) {
    const ast_cluster_list *list = c->v.clusters;
    int32_t slot = list->order[k];
    ast_cluster_info *info = &r->clusters[k];
    float *mean = r->means + k * list->dimension;
    double weight = ast_clusters_weight(list, slot);
    double resultant = weight > 0 ? ast_clusters_length(list, slot) / weight : 0;
    bool equal = list->members[slot] < 2 || resultant >= 1 - 0x1p-23; /* as short as unit vectors of floats */
    if (!c->points->weights)
        info->effective = info->weight = (double)(info->count = (size_t)list->members[slot]);
    else
        info->effective = info->weight / info->share * (info->weight / info->share / info->effective);
    info->resultant = resultant < 1 ? resultant : 1;
    info->kappa = equal ? NAN : ast_vmf_kappa(list->dimension, resultant);
    info->share = info->stability = info->beta = info->ellipse95[0] = info->ellipse95[1] = NAN;
    if (r->components.count) { /* the numbers of a component are part of the result */
        info->share = r->components.weights[k];
        info->kappa = r->components.kappas[k];
    }
    info->mean = memcpy(mean, list->means + (size_t)slot * list->dimension, list->dimension * sizeof *mean);
    if (c->v.rows->axial)
        ast_mean_make_largest_positive(mean, list->dimension);
}

/* The errors of the means. A point of a mixture belongs to several components: a component counts its share of all
 * points, with the resultant of its kappa. */
static void describe_errors(const ast_call *c, ast_result *r, size_t clusters) {
    size_t dimension = c->points->dimension;
    double rest = r->components.background && !c->points->weights ? (double)r->report.outliers : 0;
    double unit = unit_of(rest);
    for (size_t k = 0; k < clusters; k++)
        unit = fmax(unit, unit_of(r->clusters[k].weight));
    double weight = rest / unit, squares = rest / unit / unit; /* points of the background count, too */
    for (size_t k = 0; k < clusters; k++) {
        const ast_cluster_info *info = &r->clusters[k];
        double part = info->weight / unit; /* exact: a power of two */
        weight += part;
        squares += info->effective > 0 ? part * (part / info->effective) : 0;
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

ast_status ast_call_result(const ast_call *c, ast_result *r) {
    const ast_labelling_view *v = &c->v;
    size_t clusters = v->clusters->live, slots = v->clusters->slots + 1;
    size_t scratch = r->tree.leaves && v->rows->count > slots ? v->rows->count : slots;
    ast_representatives nearest = {0};
    ast_pieces *pieces;
    int32_t *rank = ast_allocate(scratch, sizeof *rank);
    bool ready =
        ast_pieces_open(c, clusters, &pieces) &&
        ast_replace_arrays(AST_REQUEST(r->clusters, clusters), AST_REQUEST(r->means, clusters * v->rows->dimension));
    ast_status status = ast_comm_agree(v->comm, ready && rank ? AST_OK : ast_fail_memory(c->fault), c->fault);
    for (size_t k = 0; k < clusters && status == AST_OK; k++) {
        r->clusters[k] = (ast_cluster_info){0};
        rank[v->clusters->order[k]] = (int32_t)k;
    }
    if (status == AST_OK)
        status = ast_representatives_open(&nearest, c, r);
    if (status == AST_OK)
        status = finish_labels(c, rank, r, &nearest);
    if (status == AST_OK)
        status = ast_representatives_hand_over(&nearest, c, r);
    for (size_t k = 0; k < clusters && status == AST_OK; k++)
        describe(c, r, k);
    if (status == AST_OK) {
        describe_errors(c, r, clusters);
        order_leaves(c, r, v->rows->count, rank);
        ast_pieces_enlarge_errors(pieces, r->clusters);
    }
    ast_representatives_free(&nearest);
    ast_pieces_close(pieces);
    ast_free(rank);
    return status;
}

void ast_result_free(ast_result *r) {
    ast_free_all(r->labels, r->clusters, r->means, r->posterior, r->center, r->representatives, r->thresholds, r->fits,
                 r->axes);
    ast_lineage_free(&r->lineage);
    ast_free_all(r->model.counts, r->model.kappas, r->model.shares, r->model.lengths, r->model.betas);
    ast_fitted_metric_free(&r->metric);
    ast_components_free(&r->components);
    ast_tree_free(&r->tree);
    *r = (ast_result){0};
}

void ast_keep_result(ast_context *context, ast_result *result) {
    ast_result_free(&context->last);
    ast_free(result->labels);
    ast_free(result->tree.leaves);
    context->last = *result;
    context->last.labels = context->last.tree.leaves = NULL;
    *result = (ast_result){0};
}

const ast_cluster_info *ast_cluster_records(const ast_context *context, size_t record, size_t *count) {
    const ast_result *last = context ? &context->last : &(const ast_result){0};
    return ast_records_of_size(last->clusters, last->report.clusters, sizeof *last->clusters, record, count);
}

const ast_lineage *ast_lineage_records(const ast_context *context, size_t record, size_t *count) {
    const ast_result *last = context ? &context->last : &(const ast_result){0};
    return ast_records_of_size(last->lineage.records, last->lineage.count, sizeof *last->lineage.records, record,
                               count);
}

const ast_tree_join *ast_tree_records(const ast_context *context, size_t record, size_t *count) {
    const ast_result *last = context ? &context->last : &(const ast_result){0};
    size_t joins = last->tree.joins ? last->tree.clusters - 1 : 0;
    return ast_records_of_size(last->tree.joins, joins, sizeof *last->tree.joins, record, count);
}
