/* SPDX-License-Identifier: MIT
 *
 * Small clusters are dissolved, all at once: each of their points joins the nearest mean that remains, DP-vMF-means: if
 * it is within the angle. A point that fits nowhere is an outlier and has no label. Then the means are computed once.
 */
#include "merge.h"

#include "memory.h"
#include "methods.h"

#include <math.h>
#include <stdlib.h>

typedef struct dissolving {
    ast_labelling *l;
    ast_table table; /* the means that remain */
    uint8_t *small;  /* (slots) */
    double limit;    /* a score fits from here on */
    double *scores;  /* (threads, capacity of the table) */
    _Atomic size_t outliers;
} dissolving;

/* The nearest mean, the first of equal ones, or none. */
static void place_point(dissolving *d, ast_row_buffer *rows, size_t i, double *scores) {
    ast_labelling *l = d->l;
    size_t best = 0;
    bool axial = l->rows.axial;
    if (d->table.count)
        ast_rows_exact_scores(&l->rows, rows, i, &d->table, scores);
    for (size_t k = 1; k < d->table.count; k++)
        if (scores[k] > scores[best])
            best = k;
    if (d->table.count == 0 || scores[best] < d->limit) {
        l->labels[i] = AST_MISSING;
        atomic_fetch_add(&d->outliers, 1);
        return;
    }
    l->labels[i] = d->table.ids[best];
    const float *mean = l->clusters.means + (size_t)d->table.ids[best] * l->rows.dimension;
    if (axial)
        ast_set_turned(l->signs, i, ast_rows_exact_score(&l->rows, rows, i, mean) < 0);
}

static void place_chunk(void *data, size_t chunk, int worker) {
    dissolving *d = data;
    ast_labelling *l = d->l;
    ast_row_buffer *rows = &l->workers[worker].chunk.rows;
    ast_rows_begin(&l->rows, rows, chunk * l->rows.chunk);
    for (size_t i = chunk * l->rows.chunk; i < (chunk + 1) * l->rows.chunk && i < l->rows.count; i++)
        if (l->labels[i] >= 0 && d->small[l->labels[i]])
            place_point(d, rows, i, d->scores + (size_t)worker * d->table.capacity);
}

/* Which clusters are small, and a table of the others. Returns how many are. Their size is their weight as the caller
 * gave it, in which the smallest weight is `unit`. */
static size_t divide(dissolving *d, double least, double unit, bool *ready) {
    const ast_cluster_list *c = &d->l->clusters;
    size_t small = 0;
    d->small = ast_allocate_zero(c->slots + 1, sizeof *d->small);
    *ready = d->small != NULL;
    ast_table_clear(&d->table, c->dimension, d->l->rows.axial);
    for (size_t k = 0; k < c->live && *ready; k++) {
        int32_t slot = c->order[k];
        d->small[slot] = ast_clusters_weight(c, slot) * unit < least;
        small += d->small[slot];
        if (!d->small[slot])
            *ready = ast_table_append(&d->table, c->means + (size_t)slot * c->dimension, slot);
    }
    d->scores = *ready ? ast_allocate((size_t)d->l->worker_count * d->table.capacity + 1, sizeof *d->scores) : NULL;
    *ready = *ready && d->scores;
    return small;
}

static ast_status dissolve(dissolving *d, ast_run *run, ast_fault *fault) {
    ast_labelling *l = d->l;
    ast_cluster_list *c = &l->clusters;
    if (!ast_pool_try(l->pool, l->rows.chunks, place_chunk, d))
        return ast_fail_cancelled(fault);
    for (size_t k = 0; k < c->live; k++)
        if (d->small[c->order[k]])
            ast_clusters_bury(c, c->order[k]);
    ast_clusters_sweep(c);
    ast_status status = ast_labelling_recount(l, fault);
    for (size_t k = 0; k < c->live; k++)
        c->touched[c->order[k]] = 1;
    if (status == AST_OK)
        status = ast_labelling_last_update(l, fault);
    double lambda = run->options->method == AST_DP ? ast_cosine(run->options->angle) - 1 : 0;
    run->outliers = d->outliers;
    run->objective = ast_clusters_objective(c) + lambda * (double)c->live;
    return status;
}

ast_status ast_run_dissolve(ast_labelling *l, ast_run *run, ast_fault *fault) {
    dissolving d = {.l = l};
    const ast_options *o = run->options;
    bool ready;
    if (!(o->merge.min_size > 0))
        return AST_OK;
    ast_scorer_set_angle(&l->scorer, o->method == AST_DP ? o->angle : NAN);
    d.limit = l->scorer.limit;
    size_t small = divide(&d, o->merge.min_size, run->weight_unit, &ready);
    ast_status status = ready ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK && small > 0)
        status = dissolve(&d, run, fault);
    ast_table_free(&d.table);
    free(d.small);
    free(d.scores);
    return status;
}
