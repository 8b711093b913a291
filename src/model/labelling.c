/* SPDX-License-Identifier: MIT
 *
 * The memory of a labelling, and what it starts from. */
#include "labelling.h"

#include "cells.h"
#include "degree.h"
#include "memory.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT_TOLERANCE 0x1p-20 /* without it duplicates split at 0 degrees, and pure rounding makes runs cycle */

double ast_cosine(double degrees) {
    static const double known[][2] = {{0, 1}, {60, 0.5}, {90, 0}, {120, -0.5}, {180, -1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (degrees == known[i][0])
            return known[i][1];
    return cos(degrees * AST_DEGREE);
}

void ast_labelling_set_angle(ast_labelling *l, double angle) {
    float error = ast_score_error(l->cloud.sparse ? l->cloud.rows.longest : l->cloud.dimension);
    l->fixed = isnan(angle);
    l->limit = l->fixed ? -INFINITY : ast_cosine(angle) - FIT_TOLERANCE;
    l->fit = l->fixed ? -3 : (float)(l->limit + (double)error) + 0x1p-23f;
    l->margin = 2 * error;
    if (l->axial && l->fit < l->margin) /* below that, the sign of a product is not certain */
        l->fit = l->margin;
}

void ast_labelling_set_axial(ast_labelling *l, bool axial) {
    l->axial = l->clusters.axial = axial;
}

size_t ast_chunk_size(size_t dimension) {
    size_t blocks = dimension <= AST_SMALL ? 16 : dimension <= 64 ? 8 : 2;
    return blocks * AST_BLOCK;
}

static bool allocate_scores(ast_scores *scores, size_t n) {
    scores->best = ast_allocate(n, sizeof *scores->best);
    scores->second = ast_allocate(n, sizeof *scores->second);
    scores->id = ast_allocate(n, sizeof *scores->id);
    return scores->best && scores->second && scores->id;
}

static bool open_worker(ast_labelling *l, ast_worker *worker) {
    size_t n = l->chunk + AST_BLOCK, dimension = l->cloud.dimension;
    bool small = l->cloud.small, sparse = l->cloud.sparse, copies = !small && !sparse && !l->cloud.in_place;
    worker->list = ast_allocate(2 * n, sizeof *worker->list);
    worker->changes = ast_allocate(l->chunk, sizeof *worker->changes);
    worker->row = ast_allocate(dimension, sizeof *worker->row);
    worker->upright = ast_allocate(dimension, sizeof *worker->upright);
    worker->hasty = ast_allocate(n, sizeof *worker->hasty);
    worker->hasty_signs = ast_allocate(n / AST_LANES, sizeof *worker->hasty_signs);
    worker->fresh = ast_allocate(n / AST_BLOCK, sizeof *worker->fresh);
    worker->rows = small ? NULL : ast_allocate(n, sizeof *worker->rows);
    worker->picked = small ? NULL : ast_allocate(n, sizeof *worker->picked);
    worker->row_scratch = small ? NULL : ast_allocate(AST_ROW_SCRATCH, sizeof *worker->row_scratch);
    worker->row_memory = copies ? ast_allocate(l->chunk * dimension, sizeof *worker->row_memory) : NULL;
    worker->entries = sparse ? ast_allocate(n, sizeof *worker->entries) : NULL;
    bool ready =
        allocate_scores(&worker->other, n) && allocate_scores(&worker->compact, n) && allocate_scores(&worker->own, n);
    return ready && worker->list && worker->changes && worker->row && worker->upright && worker->hasty &&
           worker->hasty_signs && worker->fresh && (small || (worker->rows && worker->picked && worker->row_scratch)) &&
           (!copies || worker->row_memory) && (!sparse || worker->entries);
}

static void free_worker(ast_worker *worker) {
    void *memory[] = {worker->list,
                      worker->changes,
                      worker->row,
                      worker->hasty,
                      worker->rows,
                      worker->picked,
                      worker->row_scratch,
                      worker->row_memory,
                      worker->other.best,
                      worker->other.second,
                      worker->other.id,
                      worker->compact.best,
                      worker->compact.second,
                      worker->compact.id,
                      worker->exact,
                      worker->bin_memory,
                      worker->key_memory,
                      worker->joined,
                      worker->used,
                      worker->own.best,
                      worker->own.second,
                      worker->own.id,
                      worker->fresh,
                      worker->hasty_signs,
                      worker->upright,
                      worker->entries,
                      worker->log,
                      worker->hold.have,
                      worker->hold.raw,
                      worker->hold.kinds,
                      worker->hold.part.columns};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    ast_table_free(&worker->table);
    ast_table_free(&worker->dirty);
}

static void free_workers(ast_labelling *l) {
    for (int w = 0; l->workers && w < l->worker_count; w++)
        free_worker(&l->workers[w]);
    free(l->workers);
    l->workers = NULL;
}

static bool open_workers(ast_labelling *l) {
    l->worker_count = ast_pool_threads(l->pool);
    l->workers = ast_allocate_zero((size_t)l->worker_count, sizeof *l->workers);
    if (!l->workers)
        return false;
    bool ready = true;
    for (int w = 0; w < l->worker_count && ready; w++)
        ready = open_worker(l, &l->workers[w]);
    if (!ready)
        free_workers(l);
    return ready;
}

void ast_weights_range(const ast_labelling *l, const double *weights, ast_weight_range *range) {
    for (size_t i = 0; i < l->cloud.count; i++) {
        if (l->labels[i] == AST_MISSING)
            continue;
        range->zeros |= weights[i] == 0;
        range->largest = weights[i] > range->largest ? weights[i] : range->largest;
        range->smallest = weights[i] > 0 && weights[i] < range->smallest ? weights[i] : range->smallest;
    }
}

void ast_weights_total(const ast_labelling *l, const double *weights, ast_weight_range *range) {
    for (size_t i = 0; i < l->cloud.count; i++)
        range->total += l->labels[i] == AST_MISSING ? 0 : weights[i] / range->smallest;
}

/* Each rank goes on where the one before stopped: a sum of doubles depends on its order. */
static ast_weight_range survey(const ast_labelling *l, const double *weights) {
    ast_weight_range range = {.smallest = INFINITY};
    for (int step = 0; step < 2; step++)
        for (int turn = 0; turn < ast_comm_size(l->comm); turn++) {
            if (turn == ast_comm_rank(l->comm))
                (step == 0 ? ast_weights_range : ast_weights_total)(l, weights, &range);
            ast_comm_broadcast(l->comm, &range, sizeof range, turn);
        }
    return range;
}

/* Weights matter relative to the smallest; where all are equal it is as if there were none. The scale of the sums is
 * the largest power of two that cannot overflow. */
ast_status ast_weights_unit(const ast_weight_range *range, double *unit, ast_fault *fault) {
    *unit = 0;
    if (range->largest == 0 && range->zeros)
        return ast_fail(fault, AST_BAD_DATA, "every weight is 0: at least one point must count");
    if (range->largest == 0 || (range->largest == range->smallest && !range->zeros))
        return AST_OK;
    if (isinf(range->total))
        return ast_fail(fault, AST_BAD_DATA, "the weights run from %g to %g: too far apart to be added up",
                        range->smallest, range->largest);
    *unit = ast_weight_unit(range->total);
    return AST_OK;
}

double ast_weight_unit(double total) {
    double unit = ldexp(1, (int)floor(62 - log2(total)));
    while (total * unit > 0x1p62)
        unit /= 2;
    while (total * (2 * unit) <= 0x1p62)
        unit *= 2;
    return unit;
}

void ast_labelling_weigh(ast_labelling *l, const double *weights, double unit) {
    for (size_t i = 0; i < l->cloud.count; i++)
        if (weights[i] == 0 && l->labels[i] != AST_MISSING) {
            l->labels[i] = AST_MISSING;
            l->present--;
        }
    l->weights = weights;
    l->clusters.unit = l->clusters.weight_unit = unit;
}

void ast_weights_apply(ast_labelling *l, double *weights, const ast_weight_range *range, double unit) {
    for (size_t i = 0; i < l->cloud.count; i++)
        weights[i] /= range->smallest;
    ast_labelling_weigh(l, weights, unit);
}

static ast_status apply_weights(ast_labelling *l, double *weights, ast_fault *fault) {
    if (!weights)
        return AST_OK;
    double unit;
    ast_weight_range range = survey(l, weights);
    ast_status status = ast_weights_unit(&range, &unit, fault);
    if (status == AST_OK && unit > 0)
        ast_weights_apply(l, weights, &range, unit);
    return status;
}

static bool reserve_points(ast_labelling *l, size_t padded) {
    if (padded <= l->capacity && l->capacity > 0)
        return true;
    l->capacity = 0;
    free(l->labels);
    free(l->signs);
    free(l->gaps);
    free(l->blocks);
    free(l->chunk_seen);
    free(l->summed);
    free(l->summed_signs);
    l->summed = NULL;
    l->summed_signs = NULL;
    l->labels = ast_allocate(padded, sizeof *l->labels);
    l->signs = ast_allocate_zero(padded / AST_LANES, sizeof *l->signs);
    l->gaps = ast_allocate(padded / AST_LANES, sizeof *l->gaps);
    l->blocks = ast_allocate(padded / AST_BLOCK, sizeof *l->blocks);
    l->chunk_seen = ast_allocate(padded / AST_BLOCK, sizeof *l->chunk_seen);
    bool ready = l->labels && l->signs && l->gaps && l->blocks && l->chunk_seen;
    l->capacity = ready ? padded : 0;
    return ready;
}

/* Sparse points are in no sum yet. */
static bool reserve_summed(ast_labelling *l) {
    if (!l->cloud.sparse)
        return true;
    if (!l->summed)
        l->summed = ast_allocate(l->capacity, sizeof *l->summed);
    for (size_t i = 0; l->summed && i < l->cloud.padded; i++)
        l->summed[i] = AST_UNLABELLED;
    return l->summed != NULL;
}

static void free_scores(ast_scores *scores) {
    free(scores->best);
    free(scores->second);
    free(scores->id);
    *scores = (ast_scores){0};
}

bool ast_labelling_keep_scores(ast_labelling *l) {
    if (l->cloud.padded <= l->score_capacity)
        return true;
    free_scores(&l->scores);
    free(l->third);
    l->third = l->cloud.small ? NULL : ast_allocate(l->cloud.padded, sizeof *l->third);
    bool ready = allocate_scores(&l->scores, l->cloud.padded) && (l->cloud.small || l->third);
    l->score_capacity = ready ? l->cloud.padded : 0;
    return ready;
}

/* Workers are made for one dimension. Only large rows that are not in place need memory of their own. */
static bool reserve_workers(ast_labelling *l) {
    if (l->workers && (l->cloud.small || l->cloud.in_place || l->cloud.sparse || l->workers[0].row_memory))
        return true;
    free_workers(l);
    return open_workers(l);
}

static ast_status load(ast_labelling *l, const ast_kernels *kernels, ast_pool *pool, const ast_points *points,
                       const uint32_t *order, double *weights, size_t *missing, ast_fault *fault);

ast_status ast_labelling_load(ast_labelling *l, const ast_kernels *kernels, ast_pool *pool, const ast_points *points,
                              const uint32_t *order, double *weights, size_t *missing, ast_fault *fault) {
    bool sparse = points->starts && points->dimension > AST_SMALL;
    if (l->cloud.dimension != points->dimension || l->cloud.sparse != sparse)
        ast_labelling_free(l);
    l->comm = NULL;
    l->windows = NULL;
    l->offset = 0;
    return load(l, kernels, pool, points, order, weights, missing, fault);
}

ast_status ast_labelling_load_rank(ast_labelling *l, const ast_kernels *kernels, ast_pool *pool, const ast_comm *comm,
                                   size_t offset, const ast_points *points, double *weights, size_t *missing,
                                   ast_fault *fault) {
    if (l->cloud.dimension != points->dimension || l->cloud.sparse)
        ast_labelling_free(l);
    l->comm = comm;
    l->windows = NULL;
    l->offset = offset;
    return load(l, kernels, pool, points, NULL, weights, missing, fault);
}

static ast_status load(ast_labelling *l, const ast_kernels *kernels, ast_pool *pool, const ast_points *points,
                       const uint32_t *order, double *weights, size_t *missing, ast_fault *fault) {
    l->kernels = kernels;
    l->pool = pool;
    l->bounds = true;
    l->crowd = AST_CROWD;
    if (l->cells)
        l->cells->loaded = false;
    l->chunk = ast_chunk_size(points->dimension);
    l->chunks = (points->count + l->chunk - 1) / l->chunk;
    size_t padded = l->chunks * l->chunk;
    l->cloud.offset = l->offset;
    ast_status status = reserve_points(l, padded) ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = ast_cloud_load(&l->cloud, kernels, pool, points, order, padded, l->labels, missing, fault);
    status = ast_comm_agree(l->comm, status, fault);
    if (status != AST_OK)
        return status;
    ast_clusters_clear(&l->clusters, points->dimension);
    ast_labelling_set_axial(l, false);
    l->weights = NULL;
    l->present = points->count - *missing;
    status = apply_weights(l, weights, fault);
    if (status != AST_OK)
        return status;
    uint64_t counts[2] = {l->present, *missing};
    ast_comm_sum(l->comm, counts, 2);
    l->everyone = counts[0];
    *missing = counts[1];
    status = ast_comm_agree(l->comm, reserve_workers(l) && reserve_summed(l) ? AST_OK : ast_fail_memory(fault), fault);
    if (status != AST_OK)
        return status;
    ast_labelling_reset(l);
    return AST_OK;
}

void ast_labelling_reset(ast_labelling *l) {
    ast_labelling_forget(l);
    memset(l->signs, 0, l->cloud.padded / AST_LANES); /* those of an axial call before this one */
    l->tracks = NULL;
    l->safe = l->safe_now = AST_NO_SCORE;
    l->event_count = 0;
    l->first = true;
    l->first_done = l->keys_due = l->trial = l->blind = false;
    l->pending = AST_OK;
    atomic_store(&l->failed, false);
    atomic_store(&l->trouble, false);
}

void ast_labelling_forget(ast_labelling *l) {
    for (size_t b = 0; b < l->cloud.padded / AST_BLOCK; b++)
        l->blocks[b] = (ast_block){0};
    ast_forget_gaps(l, 0, l->cloud.padded);
}

bool ast_labelling_reserve(ast_labelling *l, size_t padded) {
    return reserve_points(l, padded) && reserve_workers(l);
}

void ast_labelling_free(ast_labelling *l) {
    free_workers(l);
    free_scores(&l->scores);
    void *memory[] = {l->labels, l->signs,       l->gaps,   l->blocks,      l->start_means, l->move_of,
                      l->events, l->third,       l->fast,   l->chunk_seen,  l->first_order, l->chunk_full,
                      l->packet, l->block_fresh, l->summed, l->summed_signs};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    ast_table_free(&l->table);
    ast_table_free(&l->carry);
    ast_clusters_free(&l->clusters);
    ast_cells_free(l->cells);
    ast_cloud_free(&l->cloud);
    memset(l, 0, sizeof *l);
}
