/* SPDX-License-Identifier: MIT
 *
 * Labels and clusters that a method sets by itself, between passes. */
#include "inside.h"

#include <string.h>

int32_t *ast_labelling_labels(ast_labelling *l) {
    return l->labels;
}

/* ---- Sums from labels -------------------------------------------------------------------------------------------- */

ast_status ast_labelling_recount(ast_labelling *l, ast_fault *fault) {
    for (size_t i = 0; l->rows.sparse && i < l->rows.padded; i++)
        l->summed[i] = l->labels[i];
    return ast_recount(l, fault);
}

ast_status ast_labelling_take(ast_labelling *l, const int32_t *labels, const uint8_t *signs, ast_fault *fault) {
    memcpy(l->labels, labels, l->rows.padded * sizeof *labels);
    if (signs)
        memcpy(l->signs, signs, l->rows.padded / AST_LANES);
    return ast_windows_save(l, fault);
}

ast_status ast_labelling_rebuild(ast_labelling *l, ast_status status, ast_fault *fault) {
    status = ast_comm_agree(l->ranks.comm, status, fault);
    if (status == AST_OK)
        status = ast_labelling_recount(l, fault);
    if (status != AST_OK)
        return status;
    for (size_t k = 0; k < l->clusters.live; k++)
        l->clusters.touched[l->clusters.order[k]] = 1;
    ast_clusters_drop_empty(&l->clusters);
    return ast_labelling_last_update(l, fault);
}

ast_status ast_labelling_rebuild_from(ast_labelling *l, const int32_t *labels, const uint8_t *signs, ast_fault *fault) {
    return ast_labelling_rebuild(l, ast_labelling_take(l, labels, signs, fault), fault);
}

/* ---- Labels and clusters ----------------------------------------------------------------------------------------- */

typedef struct moving {
    ast_labelling *l;
    const int32_t *into;
} moving;

/* Axial: a point gets the sign of its product with the mean of its cluster. */
static void move_chunk(void *data, ast_chunk *memory, size_t first, size_t last) {
    const moving *m = data;
    ast_labelling *l = m->l;
    for (size_t i = first; i < last; i++) {
        if (l->labels[i] < 0)
            continue;
        l->labels[i] = m->into[l->labels[i]];
        if (!l->rows.axial)
            continue;
        ast_rows_fetch(&l->rows, &memory->rows);
        const float *mean = ast_clusters_mean(&l->clusters, l->labels[i]);
        ast_set_flipped(l->signs, i, ast_rows_exact_score(&l->rows, &memory->rows, i, mean) < 0);
    }
}

ast_status ast_labelling_relabel(ast_labelling *l, const int32_t *into, const float *means, ast_fault *fault) {
    ast_cluster_list *c = &l->clusters;
    moving m = {l, into};
    ast_status status = AST_OK;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (into[slot] != slot)
            ast_clusters_mark_dead(c, slot);
        else
            ast_clusters_set_mean(c, slot, means + (size_t)slot * c->dimension);
    }
    ast_clusters_remove_dead(c);
    for (size_t n = 0; n < l->windows.count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            status = ast_labelling_each_chunk(l, move_chunk, &m, fault);
        if (status == AST_OK)
            status = ast_windows_save(l, fault);
    }
    status = ast_comm_agree(l->ranks.comm, status, fault);
    return status == AST_OK ? ast_labelling_recount(l, fault) : status;
}

static void clear_clusters(ast_labelling *l) {
    double unit = l->clusters.unit, weight_unit = l->clusters.weight_unit;
    ast_clusters_clear(&l->clusters, l->rows.dimension);
    l->clusters.unit = unit;
    l->clusters.weight_unit = weight_unit;
}

ast_status ast_labelling_restart(ast_labelling *l, ast_fault *fault) {
    bool bounds = l->scorer.bounds.on;
    ast_status status = AST_OK;
    for (size_t n = 0; n < l->windows.count && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        for (size_t i = 0; i < l->rows.count; i++)
            l->labels[i] = l->labels[i] == AST_MISSING ? AST_MISSING : AST_UNLABELLED;
        if (status == AST_OK)
            status = ast_windows_save(l, fault);
    }
    for (size_t i = 0; l->rows.sparse && i < l->rows.padded; i++)
        l->summed[i] = AST_UNLABELLED;
    clear_clusters(l);
    ast_labelling_reset_pass_state(l);
    l->scorer.bounds.on = bounds;
    return ast_comm_agree(l->ranks.comm, status, fault);
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

void ast_labelling_move_sums(ast_labelling *l, int32_t from, int32_t into) {
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
