/* SPDX-License-Identifier: MIT
 *
 * Labels and clusters that a method sets by itself, between passes. */
#include "inside.h"

#include "memory.h"

#include <string.h>

int32_t *ast_labelling_labels(ast_labelling *l) {
    return l->labels;
}

/* ---- Sums from labels -------------------------------------------------------------------------------------------- */

/* The sums contain no sparse point. */
static void forget_summed(ast_labelling *l) {
    for (size_t i = 0; l->rows.sparse && i < l->rows.padded; i++)
        l->summed.slots[i] = AST_UNLABELLED;
}

ast_status ast_labelling_recount(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    for (size_t slot = 0; slot < c->slots; slot++) {
        memset(c->sums + slot * c->dimension, 0, c->dimension * sizeof *c->sums);
        c->weights[slot] = c->members[slot] = 0;
        c->keys[slot] = 0;
    }
    l->first = true; /* every point is added, none is moved */
    ast_add_all(l);
    if (!atomic_load(&l->failed))
        ast_merge_sums(l, l->workers, l->worker_count);
    forget_summed(l);
    if (l->rows.sparse)
        ast_sparse_sum(l);
    l->first = false;
    return ast_labelling_trouble(l, fault);
}

ast_status ast_labelling_rebuild(ast_labelling *l, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    ast_status status = ast_labelling_recount(l, fault);
    if (status != AST_OK)
        return status;
    for (size_t k = 0; k < c->live; k++)
        c->touched[c->order[k]] = 1;
    ast_clusters_drop_empty(c);
    return ast_labelling_last_update(l, fault);
}

ast_status ast_labelling_adopt(ast_labelling *l, const int32_t *labels, const uint8_t *signs, ast_fault *fault) {
    memcpy(l->labels, labels, l->rows.padded * sizeof *labels);
    if (signs)
        memcpy(l->signs, signs, l->rows.padded / AST_LANES);
    return ast_labelling_rebuild(l, fault);
}

static bool reserve_sums(ast_sums *sums, const ast_cluster_list *c) {
    if (sums->slots >= c->slots)
        return true;
    ast_sums_free(sums);
    sums->members = ast_allocate(c->slots, sizeof *sums->members);
    sums->sums = ast_allocate(c->slots * c->dimension, sizeof *sums->sums);
    sums->slots = sums->members && sums->sums ? c->slots : 0;
    return sums->slots > 0;
}

void ast_sums_free(ast_sums *sums) {
    ast_free_all(sums->sums, sums->members);
    *sums = (ast_sums){0};
}

/* Counts other labels without weights into the caller's arrays: the labelling has them in place of its own for the
 * time of a recount. */
ast_status ast_labelling_sums(ast_labelling *l, const int32_t *labels, const uint8_t *signs, ast_sums *sums,
                              ast_fault *fault) {
    ast_cluster_list *c = &l->clusters, saved = *c;
    const double *weights = l->rows.weights;
    int32_t *own = l->labels;
    uint8_t *own_signs = l->signs;
    int64_t *unused = ast_allocate(c->slots, sizeof *unused);
    uint64_t *keys = ast_allocate(c->slots, sizeof *keys);
    uint8_t *touched = ast_allocate_zero(c->slots, sizeof *touched);
    ast_summed summed = l->summed;
    bool ready = unused && keys && touched && reserve_sums(sums, c);
    if (l->rows.sparse)
        ready = (l->summed.slots = ast_allocate(l->capacity, sizeof *l->summed.slots)) && ready;
    ast_status status = ready ? AST_OK : ast_fail_memory(fault);
    if (ready) {
        c->sums = sums->sums;
        c->members = sums->members;
        c->weights = unused;
        c->keys = keys;
        c->touched = touched;
        c->unit = AST_SUMS_UNIT;
        c->weight_unit = 1;
        l->rows.weights = NULL;
        l->labels = l->scorer.labels = (int32_t *)labels; /* a recount reads them */
        l->signs = l->scorer.signs = (uint8_t *)signs;
        status = ast_labelling_recount(l, fault);
    }
    if (l->rows.sparse)
        ast_free_all(l->summed.slots);
    l->summed = summed;
    l->labels = l->scorer.labels = own;
    l->signs = l->scorer.signs = own_signs;
    l->rows.weights = weights;
    *c = saved;
    ast_free_all(unused, keys, touched);
    return status;
}

/* ---- Labels and clusters ------------------------------------------------------------------------------------------
 */

/* Axial: the side of every point, seen from the mean of its cluster. */
static void choose_signs(ast_labelling *l) {
    ast_row_buffer *rows = &l->workers[0].chunk.rows;
    for (size_t i = 0; i < l->rows.count; i++) {
        if (l->labels[i] < 0)
            continue;
        const float *mean = l->clusters.means + (size_t)l->labels[i] * l->rows.dimension;
        ast_set_flipped(l->signs, i, ast_rows_exact_score(&l->rows, rows, i, mean) < 0);
    }
}

ast_status ast_labelling_relabel(ast_labelling *l, const int32_t *into, const float *means, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    for (size_t i = 0; i < l->rows.count; i++)
        l->labels[i] = l->labels[i] < 0 ? l->labels[i] : into[l->labels[i]];
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (into[slot] != slot)
            ast_clusters_mark_dead(c, slot);
        else
            ast_clusters_set_mean(c, slot, means + (size_t)slot * c->dimension);
    }
    ast_clusters_remove_dead(c);
    if (l->rows.axial)
        choose_signs(l);
    return ast_labelling_recount(l, fault);
}

static void clear_clusters(ast_labelling *l) {
    double unit = l->clusters.unit, weight_unit = l->clusters.weight_unit;
    ast_clusters_clear(&l->clusters, l->rows.dimension);
    l->clusters.unit = unit;
    l->clusters.weight_unit = weight_unit;
}

void ast_labelling_restart(ast_labelling *l) {
    bool bounds = l->scorer.bounds.on;
    for (size_t i = 0; i < l->rows.count; i++)
        l->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : AST_UNLABELLED;
    forget_summed(l);
    clear_clusters(l);
    ast_labelling_reset(l);
    l->scorer.bounds.on = bounds;
}

ast_status ast_labelling_add_means(ast_labelling *l, const float *means, size_t count, ast_fault *fault) {
    return ast_clusters_add_means(&l->clusters, means, count) ? AST_OK : ast_fail_memory(fault);
}

ast_status ast_labelling_set_means(ast_labelling *l, const float *means, size_t count, ast_fault *fault) {
    clear_clusters(l);
    return ast_labelling_add_means(l, means, count, fault);
}

void ast_labelling_set_mean(ast_labelling *l, int32_t slot, const float *mean) {
    ast_clusters_set_mean(&l->clusters, slot, mean);
}

void ast_labelling_set_tracked(ast_labelling *l, size_t count, uint8_t *uninstantiated) {
    l->clusters.tracked_slots = count;
    l->clusters.uninstantiated = uninstantiated;
}

void ast_labelling_absorb(ast_labelling *l, int32_t from, int32_t into) {
    ast_cluster_list *c = &l->clusters;
    int64_t *sum = c->sums + (size_t)into * c->dimension, *other = c->sums + (size_t)from * c->dimension;
    double along = 0;
    for (size_t d = 0; d < c->dimension; d++)
        along += (double)sum[d] * (double)other[d];
    int64_t side = c->axial && along < 0 ? -1 : 1;
    for (size_t d = 0; d < c->dimension; d++)
        sum[d] += side * other[d];
    memset(other, 0, c->dimension * sizeof *other);
    c->members[into] += c->members[from];
    c->weights[into] += c->weights[from];
    c->members[from] = c->weights[from] = 0;
    ast_clusters_update_mean(c, into);
}
