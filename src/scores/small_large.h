/* SPDX-License-Identifier: MIT
 *
 * What small.c and large.c implement, each for its dimensions, and the bounds that both use. */
#pragma once

#include "scorer.h"

#include <math.h>

/* From this score on a best mean decides the label: it fits, and no uninstantiated cluster can beat it. */
static inline float ast_deciding_score(const ast_scorer *s, const ast_chunk *c) {
    return c->unseen_bound.all > s->fit ? c->unseen_bound.all : s->fit;
}

/* The bounds of a chunk hold if its points were compared with every event of the last pass. */
static inline bool ast_bounds_valid(const ast_scorer *s, const ast_chunk *c) {
    return s->bounds.chunk_seen[c->base / s->rows->chunk] == s->bounds.last_events;
}

/* The mask of a block, which is computed if it is unknown. */
static inline uint32_t ast_block_mask(ast_scorer *s, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    if (block->mask == 0)
        block->mask = s->kernels->label_mask(s->labels + b * AST_BLOCK, AST_BLOCK);
    return block->mask;
}

/* Whether full scores against the fast clusters are cheaper than scoring against all means, by heads if they are on. */
static inline bool ast_fast_table_pays(const ast_scorer *s, size_t fast, size_t all) {
    return fast * (s->heads.on ? 16 : 2) <= all;
}

/* Upper bound of a score after its mean moved by `move`, where `bound` was an upper bound before. The angle between
 * point and mean changed by at most the angle a of the move, so the score is at most cos(theta - a), where cos(theta) =
 * bound. This is far less than bound + move for scores near 1. sin(a) <= move and cos(a) = 1 - move^2 / 2; 2^-20 covers
 * rounding and lengths that are not exactly 1. */
static inline float ast_upper_bound_after_move(float bound, float move) {
    float c = bound + 0x1p-20f, cosine = 1 - move * move / 2, sum = bound + move;
    if (move == 0 || !(c > -1 && c < cosine))
        return sum;
    float by_angle = c * cosine + sqrtf((1 - c) * (1 + c)) * move + 0x1p-20f;
    return by_angle < sum ? by_angle : sum;
}

/* The same for a lower bound. */
static inline float ast_lower_bound_after_move(float bound, float move) {
    float c = bound - 0x1p-20f, cosine = 1 - move * move / 2, difference = bound - move;
    if (move == 0 || !(c > 0 && c < 1 && cosine > 0))
        return difference;
    float by_angle = c * cosine - sqrtf((1 - c) * (1 + c)) * move - 0x1p-20f;
    return by_angle > difference ? by_angle : difference;
}

/* Score points of the current chunk. _first_pass: all, which are also labelled and added to `bins`; _all: all;
 * _bounded: those that bounds do not decide; _against: points first..first+n-1, against another table, into
 * chunk->other. */
void ast_small_score_first_pass(ast_scorer *scorer, ast_chunk *chunk, ast_bins *bins);
void ast_small_score_all(ast_scorer *scorer, ast_chunk *chunk);
void ast_small_score_bounded(ast_scorer *scorer, ast_chunk *chunk);
void ast_small_score_against(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table, size_t first, size_t n);

void ast_large_score_all(ast_scorer *scorer, ast_chunk *chunk);
void ast_large_score_bounded(ast_scorer *scorer, ast_chunk *chunk);
void ast_large_score_against(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table, size_t first, size_t n);

/* With fewer means, full products are as fast as heads. */
static inline size_t ast_least_means(const ast_heads *heads) {
    return heads->forced ? 2 : 128;
}

/* ast_heads_ready: whether points of the chunk can be scored against the table by heads. ast_heads_score scores the
 * first n listed points (chunk->picked) into chunk->compact. `bounded`: chunk->scores.best is the score with the
 * point's own mean, unless it is AST_NO_SCORE. Returns the number of points that were scored before the pool was
 * cancelled. */
bool ast_heads_ready(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table);
size_t ast_heads_score(ast_scorer *scorer, ast_chunk *chunk, size_t n, bool bounded);
