/* SPDX-License-Identifier: MIT
 *
 * Proposals for points of two to four dimensions. The sinking and rising of the bounds is kept per block of neighbours,
 * and of each group of a block the smallest gap: a block far from every boundary costs one comparison, and of the
 * others only the groups that may have changed are scored again. */
#include "kinds.h"

#include <math.h>

/* A block whose bounds have run this far is scored anew: sums of moves stay small, and their rounding too. */
#define TIRED 1.0f

static ast_small_block view(ast_scorer *s, const ast_chunk *c, size_t b) {
    size_t base = b * AST_BLOCK, j = base - c->base;
    ast_small_block block = {.labels = s->labels + base,
                             .scores = {c->scores.best + j, c->scores.second + j, c->scores.id + j},
                             .signs = s->signs + base / AST_LANES,
                             .gaps = s->bounds.gaps + base / AST_LANES,
                             .lead = s->bounds.blocks[b].run,
                             .fit = ast_deciding_score(s, c),
                             .margin = s->margin};
    for (size_t d = 0; d < s->rows->dimension; d++)
        block.x[d] = ast_rows_column(s->rows, &c->rows, d, base);
    return block;
}

static void take_result(ast_scorer *s, ast_chunk *c, size_t b, const ast_small_result *result) {
    s->bounds.blocks[b].gap = result->gap;
    /* Axial: labels and signs that are not given at once are given by visits. */
    s->bounds.blocks[b].attention = result->attention || (s->rows->axial && c->unlabelled && !c->added);
    c->fresh[b - c->base / AST_BLOCK] = result->fresh;
    c->scored += (size_t)__builtin_popcount(result->fresh) * AST_LANES;
}

static void score_block(ast_scorer *s, ast_chunk *c, size_t b, float awake) {
    ast_rows_fetch(s->rows, &c->rows);
    ast_small_block block = view(s, c, b);
    ast_small_result result = s->kernels->label_block[s->rows->dimension](&block, c->table, awake);
    take_result(s, c, b, &result);
}

/* The groups of a chunk that have an undecided point get scores after all. */
static void score_undecided(ast_scorer *s, ast_chunk *c) {
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    ast_chunk_note(s, c);
    for (size_t b = first; b < last; b++) {
        if (s->bounds.blocks[b].attention)
            score_block(s, c, b, s->bounds.blocks[b].run + s->margin + 0x1p-22f);
        else
            c->fresh[b - first] = 0;
    }
}

/* The points get their labels and are added to the sums at once, which is right for nearly all of them. */
void ast_small_first(ast_scorer *s, ast_chunk *c, ast_bins *bins) {
    const ast_table *table = c->table;
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    bool attention = false;
    ast_rows_fetch(s->rows, &c->rows);
    c->added = true;
    for (size_t b = first; b < last; b++) {
        ast_small_block block = view(s, c, b);
        ast_small_result result = s->kernels->label_and_sum[s->rows->dimension](&block, table, bins);
        take_result(s, c, b, &result);
        attention |= result.attention;
    }
    if (attention)
        score_undecided(s, c);
}

static void score_anew(ast_scorer *s, ast_chunk *c, size_t b) {
    s->bounds.blocks[b].run = 0;
    score_block(s, c, b, INFINITY);
}

void ast_small_all(ast_scorer *s, ast_chunk *c) {
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    for (size_t b = first; b < last; b++)
        score_anew(s, c, b);
}

void ast_small_others(ast_scorer *s, ast_chunk *c, const ast_table *table, size_t first, size_t n) {
    const float *x[AST_SMALL];
    ast_rows_fetch(s->rows, &c->rows);
    for (size_t d = 0; d < s->rows->dimension; d++)
        x[d] = ast_rows_column(s->rows, &c->rows, d, first);
    s->kernels->score_columns[s->rows->dimension](x, n, table, c->other);
}

/* How much smaller the gaps of a block may have become since the last pass. */
static float step(ast_scorer *s, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    if (block->mask == 0)
        block->mask = s->kernels->label_mask(s->labels + b * AST_BLOCK, AST_BLOCK);
    float most = 0;
    for (uint32_t mask = block->mask; mask; mask &= mask - 1) {
        float own = s->moves.bit_step[__builtin_ctz(mask)];
        most = own > most ? own : most;
    }
    return most + s->bounds.rise;
}

void ast_small_bounded(ast_scorer *s, ast_chunk *c) {
    if (!ast_is_informed(s, c)) {
        ast_score_chunk(s, c);
        return;
    }
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    for (size_t b = first; b < last; b++) {
        ast_block *block = &s->bounds.blocks[b];
        block->attention = false;
        block->run += step(s, b);
        c->fresh[b - first] = 0;
        float awake = s->margin + block->run + 0x1p-22f;
        if (block->run > TIRED)
            score_anew(s, c, b);
        else if (block->gap <= awake)
            score_block(s, c, b, awake);
    }
}
