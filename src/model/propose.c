/* SPDX-License-Identifier: MIT
 *
 * Scores for a chunk of points, out of turn: nothing here looks at what other threads change.
 *
 * Which points need scores? In the first pass all of them. Later, a mean that moved by m changes a score by at most m
 * (x is a unit vector). So for each point we keep its best score and an upper bound of all others, and let the first
 * sink by the move of the point's own cluster and the second rise by the largest move of the others. As long as they do
 * not meet, and the first stays above the fit, the point stays where it is, without a look at its coordinates.
 *
 * Small dimensions: the sinking and rising is kept per block of neighbours, so that a block far from every boundary
 * costs one comparison. Large dimensions: per point, and before a point is scored against all means, its own mean alone
 * may settle it. */
#include "labelling.h"

#include <math.h>
#include <string.h>

/* A block whose bounds have run this far is scored anew: sums of moves stay small, and their rounding too. */
#define TIRED 1.0f

const ast_table *ast_current_table(const ast_labelling *l, const ast_worker *worker) {
    return worker->pass == l->pass && worker->seen > 0 ? &worker->table : &l->table;
}

/* A score that decides: it fits, and no tracked cluster without points can beat it. */
static float deciding_score(const ast_labelling *l, const ast_worker *worker) {
    float safe = worker->pass == l->pass && worker->seen > 0 ? worker->safe : l->safe;
    return safe > l->fit ? safe : l->fit;
}

static const float *load_row(ast_labelling *l, ast_worker *worker, size_t i, size_t j) {
    float *buffer = l->cloud.in_place ? NULL : worker->row_memory + j * l->cloud.dimension;
    return ast_cloud_row(&l->cloud, i, buffer);
}

static void load_rows(ast_labelling *l, ast_worker *worker, size_t base) {
    if (worker->rows_loaded)
        return;
    for (size_t j = 0; j < l->chunk; j++)
        if (l->labels[base + j] != AST_MISSING)
            worker->rows[j] = load_row(l, worker, base + j, j);
    worker->rows_loaded = true;
}

/* The scores of n listed points (indices into the chunk) against the table, compact. */
static void score_list(ast_labelling *l, ast_worker *worker, const ast_table *table, size_t base, size_t n,
                       ast_scores out) {
    size_t dimension = l->cloud.dimension;
    if (l->cloud.small) {
        const float *x[AST_SMALL];
        for (size_t d = 0; d < dimension; d++) {
            float *column = worker->columns + d * (l->chunk + AST_BLOCK);
            for (size_t j = 0; j < n; j++)
                column[j] = l->cloud.column[d][base + worker->list[j]];
            x[d] = column;
        }
        l->kernels->score_columns[dimension](x, n, table, out);
        return;
    }
    for (size_t j = 0; j < n; j++) {
        size_t at = worker->list[j];
        worker->picked[j] = worker->rows_loaded ? worker->rows[at] : load_row(l, worker, base + at, at);
    }
    l->kernels->score_rows(worker->picked, n, table, out, worker->row_scratch);
}

void ast_score_others(ast_labelling *l, ast_worker *worker, const ast_table *table, size_t first, size_t n) {
    size_t base = first / l->chunk * l->chunk;
    if (l->cloud.small) {
        const float *x[AST_SMALL];
        for (size_t d = 0; d < l->cloud.dimension; d++)
            x[d] = l->cloud.column[d] + first;
        l->kernels->score_columns[l->cloud.dimension](x, n, table, worker->other);
        return;
    }
    load_rows(l, worker, base);
    size_t count = 0;
    for (size_t j = first - base; j < first - base + n; j++)
        if (l->labels[base + j] != AST_MISSING)
            worker->list[count++] = (uint32_t)j;
    score_list(l, worker, table, base, count, worker->compact);
    for (size_t j = 0; j < count; j++) {
        size_t at = worker->list[j] - (first - base);
        worker->other.best[at] = worker->compact.best[j];
        worker->other.second[at] = worker->compact.second[j];
        worker->other.id[at] = worker->compact.id[j];
    }
}

/* Takes the compact scores of listed points over. */
static void scatter(ast_labelling *l, ast_worker *worker, size_t base, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t i = base + worker->list[j];
        const ast_block *block = &l->blocks[i / AST_BLOCK];
        l->best[i] = worker->compact.best[j] + block->loss;
        l->second[i] = worker->compact.second[j] - block->gain;
        l->proposals[i] = worker->compact.id[j];
    }
    worker->scored += n;
}

void ast_propose_all(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t base = chunk * l->chunk, dimension = l->cloud.dimension;
    const ast_table *table = ast_current_table(l, worker);
    worker->full = true;
    worker->rows_loaded = false;
    for (size_t b = base / AST_BLOCK; b < (base + l->chunk) / AST_BLOCK; b++) {
        ast_block *block = &l->blocks[b];
        block->loss = block->gain = 0;
        block->gap = -INFINITY;
    }
    if (l->cloud.small) {
        const float *x[AST_SMALL];
        for (size_t d = 0; d < dimension; d++)
            x[d] = l->cloud.column[d] + base;
        ast_scores out = {l->best + base, l->second + base, l->proposals + base};
        l->kernels->score_columns[dimension](x, l->chunk, table, out);
        worker->scored += l->chunk;
    } else {
        size_t count = 0;
        load_rows(l, worker, base);
        for (size_t j = 0; j < l->chunk; j++)
            if (l->labels[base + j] != AST_MISSING)
                worker->list[count++] = (uint32_t)j;
        score_list(l, worker, table, base, count, worker->compact);
        scatter(l, worker, base, count);
    }
    for (size_t i = base; i < base + l->chunk; i += AST_BLOCK) {
        ast_scores scores = {l->best + i, l->second + i, l->proposals + i};
        l->blocks[i / AST_BLOCK].attention =
            l->kernels->screen(scores, l->labels + i, AST_BLOCK, deciding_score(l, worker), l->margin, !l->first,
                               worker->list) > 0;
    }
}

/* Lets the bounds of a block sink and rise by what the means have moved since the last pass. */
static void advance_block(ast_labelling *l, const ast_worker *worker, size_t b) {
    ast_block *block = &l->blocks[b];
    if (block->mask == 0)
        block->mask = l->kernels->label_mask(l->labels + b * AST_BLOCK, AST_BLOCK);
    float loss = 0;
    for (uint64_t mask = block->mask; mask; mask &= mask - 1) {
        float move = l->bit_move[__builtin_ctzll(mask)];
        loss = move > loss ? move : loss;
    }
    int32_t fastest = worker->gain->fastest;
    bool own = l->few && fastest >= 0 && block->mask == (uint64_t)1 << fastest;
    block->loss += loss;
    block->gain += worker->gain->most[own];
}

static void advance_points(ast_labelling *l, const ast_worker *worker, size_t b) {
    for (size_t i = b * AST_BLOCK; i < (b + 1) * AST_BLOCK; i++) {
        int32_t label = l->labels[i];
        if (label < 0)
            continue;
        l->best[i] -= l->move_of[label];
        l->second[i] += worker->gain->most[label == worker->gain->fastest];
    }
    l->blocks[b].gap = -INFINITY;
}

/* Compares a block with the clusters that the bounds say nothing about. */
static void challenge_block(ast_labelling *l, ast_worker *worker, size_t b) {
    ast_block *block = &l->blocks[b];
    size_t base = b * AST_BLOCK;
    ast_score_others(l, worker, &l->carry, base, AST_BLOCK);
    for (size_t j = 0; j < AST_BLOCK; j++) {
        float other = worker->other.best[j], *best = &l->best[base + j], *second = &l->second[base + j];
        if (l->labels[base + j] < 0)
            continue;
        if (worker->other.id[j] == l->labels[base + j]) /* its own cluster: the score is known, its rivals are not */
            other = worker->other.second[j];
        if (other > *best - block->loss - l->margin)
            *best = AST_NO_SCORE;
        else if (other - block->gain > *second)
            *second = other - block->gain;
    }
    block->gap = -INFINITY;
}

/* Before a point is compared with every mean, a fresh score against its own may do. Returns how many stay listed. */
static size_t tighten(ast_labelling *l, ast_worker *worker, size_t base, size_t n) {
    size_t left = 0, dimension = l->cloud.dimension;
    for (size_t j = 0; j < n; j++) {
        size_t at = worker->list[j], i = base + at;
        if (l->best[i] > AST_NO_SCORE) {
            const float *row = worker->rows_loaded ? worker->rows[at] : load_row(l, worker, i, at);
            l->best[i] = l->kernels->dot(row, l->start_means + (size_t)l->labels[i] * dimension, dimension);
        }
        if (!(l->best[i] >= deciding_score(l, worker) && l->best[i] - l->second[i] > l->margin))
            worker->list[left++] = worker->list[j];
    }
    return left;
}

/* Appends the points of block b that may have changed to the worker's list. */
static size_t list_block(ast_labelling *l, ast_worker *worker, size_t b, size_t base, size_t count) {
    ast_block *block = &l->blocks[b];
    block->attention = false;
    if (l->cloud.small)
        advance_block(l, worker, b);
    else
        advance_points(l, worker, b);
    if (worker->gain == &l->others && l->carry.count) {
        uint32_t *list = worker->list; /* scoring rows uses the front of the list */
        worker->list = list + count;
        challenge_block(l, worker, b);
        worker->list = list;
    }
    float allowance = l->margin + block->loss + block->gain + 0x1p-22f;
    if (block->gap > allowance)
        return count;
    uint32_t *list = worker->list + count;
    size_t first = b * AST_BLOCK, listed;
    if (block->loss + block->gain > TIRED) { /* every gap is too small now */
        allowance = INFINITY;
        block->loss = block->gain = 0;
    }
    listed = l->kernels->narrow(l->best + first, l->second + first, l->labels + first, AST_BLOCK,
                                deciding_score(l, worker), allowance, list, &block->gap);
    if (listed)
        block->gap = -INFINITY;
    for (size_t j = 0; j < listed; j++)
        list[j] += (uint32_t)(first - base);
    return count + listed;
}

static void flag_undecided(ast_labelling *l, const ast_worker *worker, size_t base, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t i = base + worker->list[j];
        float best = worker->compact.best[j], second = worker->compact.second[j];
        if (l->proposals[i] != l->labels[i] || !(best >= deciding_score(l, worker) && best - second > l->margin))
            l->blocks[i / AST_BLOCK].attention = true;
    }
}

void ast_propose(ast_labelling *l, ast_worker *worker, size_t chunk) {
    const ast_table *table = ast_current_table(l, worker);
    /* Points that met every event of the last pass know all clusters: bounds say everything. The others have to be
     * compared with the carry. */
    bool informed = !l->first && !l->chosen && l->chunk_seen[chunk] == l->last_events;
    worker->gain = informed ? &l->everybody : &l->others;
    if (l->first || !l->bounds || (informed ? l->hopeless && l->cloud.small : 2 * l->carry.count > table->count)) {
        ast_propose_all(l, worker, chunk);
        return;
    }
    size_t base = chunk * l->chunk, count = 0;
    worker->full = false;
    worker->rows_loaded = false;
    for (size_t b = base / AST_BLOCK; b < (base + l->chunk) / AST_BLOCK; b++)
        count = list_block(l, worker, b, base, count);
    if (!l->cloud.small)
        count = tighten(l, worker, base, count);
    if (count == 0)
        return;
    if (count > l->chunk * 3 / 4 && l->cloud.small) {
        ast_propose_all(l, worker, chunk);
        return;
    }
    score_list(l, worker, table, base, count, worker->compact);
    scatter(l, worker, base, count);
    flag_undecided(l, worker, base, count);
}
