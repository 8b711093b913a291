/* SPDX-License-Identifier: MIT
 *
 * Proposals for points of two to four dimensions. The sinking and rising of the bounds is kept per block of neighbours,
 * and of each group of a block the smallest gap: a block far from every boundary costs one comparison, and of the
 * others only the groups that may have changed are scored again. */
#include "propose.h"

#include <math.h>

/* A block whose bounds have run this far is scored anew: sums of moves stay small, and their rounding too. */
#define TIRED 1.0f

static ast_small_block view(ast_labelling *l, const ast_worker *worker, size_t b) {
    size_t base = b * AST_BLOCK, j = base - worker->base;
    ast_small_block block = {.labels = l->labels + base,
                             .scores = {worker->scores.best + j, worker->scores.second + j, worker->scores.id + j},
                             .signs = l->signs + base / AST_LANES,
                             .gaps = l->gaps + base / AST_LANES,
                             .lead = l->blocks[b].run,
                             .fit = ast_deciding_score(l, worker),
                             .margin = l->margin};
    for (size_t d = 0; d < l->cloud.dimension; d++)
        block.x[d] = ast_column(l, worker, d, base);
    return block;
}

static void take_result(ast_labelling *l, ast_worker *worker, size_t b, const ast_small_result *result) {
    l->blocks[b].gap = result->gap;
    /* Axial: labels and signs that are not given at once are given by visits. */
    l->blocks[b].attention = result->attention || (l->axial && l->first && !worker->added);
    worker->fresh[b - worker->base / AST_BLOCK] = result->fresh;
    worker->scored += (size_t)__builtin_popcount(result->fresh) * AST_LANES;
}

static void score_block(ast_labelling *l, ast_worker *worker, size_t b, float awake) {
    ast_fetch_chunk(l, worker);
    ast_small_block block = view(l, worker, b);
    ast_small_result result = l->kernels->label_block[l->cloud.dimension](&block, ast_current_table(l, worker), awake);
    take_result(l, worker, b, &result);
}

/* The groups of a chunk that have an undecided point get scores after all. */
static void score_undecided(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t blocks = l->chunk / AST_BLOCK;
    ast_note_hasty(l, worker);
    for (size_t b = chunk * blocks; b < (chunk + 1) * blocks; b++) {
        if (l->blocks[b].attention)
            score_block(l, worker, b, l->blocks[b].run + l->margin + 0x1p-22f);
        else
            worker->fresh[b - chunk * blocks] = 0;
    }
}

/* The points get their labels and are added to the sums at once, which is right for nearly all of them. */
void ast_small_first(ast_labelling *l, ast_worker *worker, size_t chunk) {
    const ast_table *table = ast_current_table(l, worker);
    size_t blocks = l->chunk / AST_BLOCK;
    bool attention = false;
    ast_fetch_chunk(l, worker);
    worker->added = true;
    for (size_t b = chunk * blocks; b < (chunk + 1) * blocks; b++) {
        ast_small_block block = view(l, worker, b);
        ast_small_result result = l->kernels->label_and_sum[l->cloud.dimension](&block, table, &worker->bins);
        take_result(l, worker, b, &result);
        attention |= result.attention;
    }
    if (attention)
        score_undecided(l, worker, chunk);
}

static void score_anew(ast_labelling *l, ast_worker *worker, size_t b) {
    l->blocks[b].run = 0;
    score_block(l, worker, b, INFINITY);
}

void ast_small_all(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t blocks = l->chunk / AST_BLOCK;
    for (size_t b = chunk * blocks; b < (chunk + 1) * blocks; b++)
        score_anew(l, worker, b);
}

void ast_small_others(ast_labelling *l, ast_worker *worker, const ast_table *table, size_t first, size_t n) {
    const float *x[AST_SMALL];
    ast_fetch_chunk(l, worker);
    for (size_t d = 0; d < l->cloud.dimension; d++)
        x[d] = ast_column(l, worker, d, first);
    l->kernels->score_columns[l->cloud.dimension](x, n, table, worker->other);
}

void ast_forget_gaps(ast_labelling *l, size_t first, size_t last) {
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < last; b++)
        l->blocks[b].gap = -INFINITY;
    for (size_t g = first / AST_LANES; l->cloud.small && g * AST_LANES < last; g++)
        l->gaps[g] = -INFINITY;
}

/* How much smaller the gaps of a block may have become since the last pass. */
static float step(ast_labelling *l, size_t b) {
    ast_block *block = &l->blocks[b];
    if (block->mask == 0)
        block->mask = l->kernels->label_mask(l->labels + b * AST_BLOCK, AST_BLOCK);
    float most = 0;
    for (uint32_t mask = block->mask; mask; mask &= mask - 1) {
        float own = l->bit_step[__builtin_ctz(mask)];
        most = own > most ? own : most;
    }
    return most + l->rise;
}

void ast_small_bounded(ast_labelling *l, ast_worker *worker, size_t chunk) {
    if (!ast_is_informed(l, chunk)) {
        ast_propose_all(l, worker, chunk);
        return;
    }
    size_t blocks = l->chunk / AST_BLOCK;
    for (size_t b = chunk * blocks; b < (chunk + 1) * blocks; b++) {
        ast_block *block = &l->blocks[b];
        block->attention = false;
        block->run += step(l, b);
        worker->fresh[b - chunk * blocks] = 0;
        float awake = l->margin + block->run + 0x1p-22f;
        if (block->run > TIRED)
            score_anew(l, worker, b);
        else if (block->gap <= awake)
            score_block(l, worker, b, awake);
    }
}
