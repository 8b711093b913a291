/* SPDX-License-Identifier: MIT
 *
 * What small.c and large.c supply, each for its dimensions. */
#ifndef AST_SMALL_LARGE_H
#define AST_SMALL_LARGE_H

#include "scorer.h"

#include <math.h>

/* A score that decides: it fits, and no candidate beside the means can beat it. */
static inline float ast_deciding_score(const ast_scorer *s, const ast_chunk *c) {
    return c->unseen_bound.all > s->fit ? c->unseen_bound.all : s->fit;
}

/* Points that were compared with every event of the last pass know all clusters, so that their bounds hold. */
static inline bool ast_bounds_valid(const ast_scorer *s, const ast_chunk *c) {
    return s->bounds.chunk_seen[c->base / s->rows->chunk] == s->bounds.last_events;
}

/* Whether full scores with so many fast clusters are cheaper than looking at all means, if need be by heads. */
static inline bool ast_fast_table_pays(const ast_scorer *s, size_t fast, size_t all) {
    return fast * (s->heads.on ? 16 : 2) <= all;
}

/* At most so much is a score, of which `bound` was an upper bound, after its mean moved by `move`: the angle between
 * point and mean changed by at most the angle a of the move. So it is cos(theta - a) for cos(theta) = bound, which is
 * far less than bound + move where scores are near 1. sin(a) <= move and cos(a) = 1 - move^2 / 2; 2^-20 is for lengths
 * that are not quite 1, and for rounding. */
static inline float ast_upper_bound_after_move(float bound, float move) {
    float c = bound + 0x1p-20f, cosine = 1 - move * move / 2, sum = bound + move;
    if (move == 0 || !(c > -1 && c < cosine))
        return sum;
    float by_angle = c * cosine + sqrtf((1 - c) * (1 + c)) * move + 0x1p-20f;
    return by_angle < sum ? by_angle : sum;
}

/* The same from below, for a lower bound. */
static inline float ast_lower_bound_after_move(float bound, float move) {
    float c = bound - 0x1p-20f, cosine = 1 - move * move / 2, difference = bound - move;
    if (move == 0 || !(c > 0 && c < 1 && cosine > 0))
        return difference;
    float by_angle = c * cosine - sqrtf((1 - c) * (1 + c)) * move - 0x1p-20f;
    return by_angle > difference ? by_angle : difference;
}

void ast_small_first(ast_scorer *scorer, ast_chunk *chunk, ast_bins *bins);
void ast_small_all(ast_scorer *scorer, ast_chunk *chunk);
void ast_small_bounded(ast_scorer *scorer, ast_chunk *chunk);
void ast_small_against(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table, size_t first, size_t n);

void ast_large_all(ast_scorer *scorer, ast_chunk *chunk);
void ast_large_bounded(ast_scorer *scorer, ast_chunk *chunk);
void ast_large_against(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table, size_t first, size_t n);

/* Below so many means products over all coordinates are as fast. */
static inline size_t ast_least_means(const ast_heads *heads) {
    return heads->forced ? 2 : 128;
}

/* Whether points of the chunk can be scored against the table by heads; and the first n listed points (chunk->picked),
 * into chunk->compact. `bounded`: chunk->scores.best is the score with the own mean, if it is one. Returns how many
 * were done before somebody cancelled. */
bool ast_heads_ready(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table);
size_t ast_heads_score(ast_scorer *scorer, ast_chunk *chunk, size_t n, bool bounded);

#endif
