/* SPDX-License-Identifier: MIT
 *
 * Dissolves all small clusters at once: each of their points joins the nearest remaining mean, for DP-vMF-means only
 * within the angle, unless any_angle is set. A point that joins none is an outlier, without a label. Then the means are
 * computed once. */
#include "merge.h"

#include "memory.h"
#include "methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct dissolving {
    ast_mean_table remaining; /* the means of the other clusters */
    uint8_t *small;           /* (slots) */
    uint8_t *rows;            /* (padded) whether a point of the open window belongs to a small cluster */
    int32_t *labels;          /* (padded) of the open window */
    uint8_t *signs;           /* (padded / AST_LANES) */
    uint64_t outliers;        /* of this rank */
} dissolving;

/* Finds the small clusters, and fills the table of the others. The size of a cluster is its weight in the caller's
 * units: `unit` is the smallest weight of a point. Returns the number of small clusters. */
static size_t divide(dissolving *d, const ast_labelling_view *v, double least, double unit, bool *ready) {
    const ast_cluster_list *c = v->clusters;
    size_t small = 0;
    ast_mean_table_clear(&d->remaining, c->dimension, v->rows->axial);
    for (size_t k = 0; k < c->live && *ready; k++) {
        int32_t slot = c->order[k];
        d->small[slot] = ast_clusters_weight(c, slot) * unit < least;
        small += d->small[slot];
        if (!d->small[slot])
            *ready = ast_mean_table_append(&d->remaining, c->means + (size_t)slot * c->dimension, slot);
    }
    return small;
}

/* With groups: the nearest remaining cluster that no row of the group has, one row after the other. */
static ast_status dissolve_grouped(dissolving *d, ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_options *o = run->options;
    double least = o->method == AST_DP && !o->merge.any_angle ? ast_least_score(o->angle) : -INFINITY;
    for (size_t i = 0; i < run->groups->rows; i++)
        d->labels[i] = d->rows[i] ? AST_MISSING : d->labels[i];
    ast_status status = ast_labelling_rebuild_from(l, d->labels, NULL, fault);
    size_t slots = ast_view_of(l).clusters->slots;
    double *limits = ast_allocate(slots + 1, sizeof *limits);
    for (size_t k = 0; limits && k < slots; k++)
        limits[k] = least;
    if (status == AST_OK)
        status = limits ? ast_label_grouped(l, run->groups, d->rows, limits, d->labels, &run->outliers, fault)
                        : ast_fail_memory(fault);
    ast_free(limits);
    if (status == AST_OK)
        status = ast_labelling_rebuild_from(l, d->labels, NULL, fault);
    run->objective = ast_objective(l, o->method == AST_DP ? ast_cosine(o->angle) - 1 : 0);
    return status;
}

/* Copies the labels of the open window, and marks the points of small clusters. */
static void mark_points(dissolving *d, const ast_labelling_view *v) {
    memcpy(d->labels, v->labels, v->rows->padded * sizeof *d->labels);
    memcpy(d->signs, v->signs, v->rows->padded / AST_LANES);
    for (size_t i = 0; i < v->rows->count; i++)
        d->rows[i] = v->labels[i] >= 0 && d->small[v->labels[i]];
}

static ast_status dissolve_window(dissolving *d, ast_labelling *l, size_t number, ast_fault *fault) {
    ast_status status = ast_labelling_open_window(l, number, fault);
    const ast_labelling_view v = ast_view_of(l);
    const ast_nearest_query query = {
        .labels = d->labels, .rows = d->rows, .means = &d->remaining, .signs = v.rows->axial ? d->signs : NULL};
    if (status != AST_OK)
        return status;
    mark_points(d, &v);
    status = ast_labelling_nearest(l, &query, fault);
    for (size_t i = 0; i < v.rows->count; i++)
        if (d->labels[i] == AST_NOBODY) {
            d->labels[i] = AST_MISSING;
            d->outliers++;
        }
    return status == AST_OK ? ast_labelling_take(l, d->labels, d->signs, fault) : status;
}

static ast_status dissolve(dissolving *d, ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_status status = AST_OK;
    if (run->groups) {
        mark_points(d, &v);
        return dissolve_grouped(d, l, run, fault);
    }
    for (size_t n = 0; n < v.windows && status == AST_OK; n++)
        status = dissolve_window(d, l, n, fault);
    status = ast_labelling_rebuild(l, status, fault);
    if (status == AST_OK)
        ast_comm_allreduce(v.comm, &d->outliers, 1);
    run->outliers += (size_t)d->outliers;
    run->objective = ast_objective(l, run->options->method == AST_DP ? ast_cosine(run->options->angle) - 1 : 0);
    return status;
}

ast_status ast_run_dissolve(ast_labelling *l, ast_run *run, ast_fault *fault) {
    const ast_options *o = run->options;
    if (!(o->merge.min_size > 0))
        return AST_OK;
    ast_labelling_set_rule(l, &ast_nearest_rule, o->method == AST_DP && !o->merge.any_angle ? o->angle : NAN);
    const ast_labelling_view v = ast_view_of(l);
    dissolving d = {0};
    bool ready =
        ast_replace_arrays(AST_REQUEST(d.small, v.clusters->slots), AST_REQUEST(d.rows, v.window_rows),
                           AST_REQUEST(d.labels, v.window_rows), AST_REQUEST(d.signs, v.window_rows / AST_LANES));
    size_t small = ready ? divide(&d, &v, o->merge.min_size, run->weight_unit, &ready) : 0;
    ast_status status = ast_comm_agree(v.comm, ready ? AST_OK : ast_fail_memory(fault), fault);
    if (small > 0 && status == AST_OK)
        status = dissolve(&d, l, run, fault);
    ast_free_all(d.small, d.rows, d.labels, d.signs);
    ast_mean_table_free(&d.remaining);
    return status;
}
