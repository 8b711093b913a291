/* SPDX-License-Identifier: MIT
 *
 * Which points of a chunk need scores; memory of a scorer and of a chunk. Reads nothing that other threads change. */
#include "small_large.h"

#include "degree.h"
#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define FIT_TOLERANCE 0x1p-20 /* without it duplicates split at 0 degrees, and rounding alone makes runs cycle */

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

bool ast_scores_open(ast_scores *scores, size_t n) {
    return ast_replace_arrays(AST_REQUEST(scores->best, n), AST_REQUEST(scores->second, n), AST_REQUEST(scores->id, n));
}

void ast_scores_free(ast_scores *scores) {
    ast_free_all(scores->best, scores->second, scores->id);
    *scores = (ast_scores){0};
}

bool ast_chunk_open(ast_chunk *c, const ast_rowset *rows) {
    size_t n = rows->chunk + AST_BLOCK, large = rows->small ? 0 : n;
    return ast_replace_arrays(AST_REQUEST(c->early_labels, n), AST_REQUEST(c->early_signs, n / AST_LANES),
                              AST_REQUEST(c->list, 2 * n), AST_REQUEST(c->scored_groups, n / AST_BLOCK),
                              AST_REQUEST(c->picked, large), AST_REQUEST(c->scratch, large ? AST_ROW_SCRATCH : 0)) &&
           ast_scores_open(&c->own, n) && ast_scores_open(&c->other, n) && ast_scores_open(&c->compact, n) &&
           ast_row_buffer_open(&c->rows, rows);
}

void ast_chunk_free(ast_chunk *c) {
    ast_free_all(c->early_labels, c->early_signs, c->list, c->scored_groups, c->picked, c->scratch, c->candidates.list,
                 c->candidates.upper_bounds, c->candidates.heads, c->candidates.calls);
    ast_scores_free(&c->own);
    ast_scores_free(&c->other);
    ast_scores_free(&c->compact);
    ast_row_buffer_free(&c->rows);
    *c = (ast_chunk){0};
}

bool ast_scorer_reserve(ast_scorer *s, size_t padded) {
    assert(padded % AST_BLOCK == 0);
    ast_bounds *b = &s->bounds;
    return ast_replace_arrays(AST_REQUEST(b->gaps, padded / AST_LANES), AST_REQUEST(b->blocks, padded / AST_BLOCK),
                              AST_REQUEST(b->chunk_seen, padded / AST_BLOCK));
}

bool ast_scorer_reserve_scores(ast_scorer *s) {
    ast_bounds *b = &s->bounds;
    size_t n = s->rows->padded;
    return ast_ensure_arrays(&b->capacity, n, AST_REQUEST(b->scores.best, n), AST_REQUEST(b->scores.second, n),
                             AST_REQUEST(b->scores.id, n), AST_REQUEST(b->fast_bound, s->rows->small ? 0 : n));
}

void ast_scorer_free(ast_scorer *s) {
    ast_free_all(s->bounds.gaps, s->bounds.fast_bound, s->bounds.blocks, s->bounds.chunk_seen, s->moves.of_slot,
                 s->moves.start_means, s->moves.fast);
    ast_scores_free(&s->bounds.scores);
    ast_mean_table_free(&s->moves.fast_table);
    ast_mean_table_free(&s->table);
    ast_heads_free(&s->heads);
    *s = (ast_scorer){0};
}

/* ---- The threshold ----------------------------------------------------------------------------------------------- */

double ast_cosine(double degrees) {
    static const double known[][2] = {{0, 1}, {60, 0.5}, {90, 0}, {120, -0.5}, {180, -1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (degrees == known[i][0])
            return known[i][1];
    return cos(degrees * AST_DEGREE);
}

double ast_least_score(double angle) {
    return isnan(angle) ? -INFINITY : ast_cosine(angle) - FIT_TOLERANCE;
}

void ast_scorer_set_angle(ast_scorer *s, double angle) {
    float error = ast_score_error(s->rows->sparse ? s->rows->entries.longest : s->rows->dimension);
    bool any = isnan(angle);
    s->fit_threshold = ast_least_score(angle);
    s->fit = any ? -3 : (float)(s->fit_threshold + (double)error) + 0x1p-23f;
    s->margin = 2 * error;
    if (s->rows->axial && s->fit < s->margin) /* below the margin the sign of a product is uncertain */
        s->fit = s->margin;
}

/* ---- A chunk ----------------------------------------------------------------------------------------------------- */

void ast_chunk_begin(const ast_scorer *s, ast_chunk *c, size_t number) {
    const ast_bounds *b = &s->bounds;
    size_t base = number * s->rows->chunk;
    assert(number < s->rows->chunks && (!s->keeps_scores || s->bounds.capacity >= base + s->rows->chunk));
    c->base = base;
    c->scores = c->own;
    if (s->keeps_scores)
        c->scores = ast_scores_at(b->scores, base);
    c->fast_bound = s->keeps_scores && !s->rows->small ? b->fast_bound + base : NULL;
    c->full = c->added_early = c->labels_saved = false;
    c->candidates.call_count = 0;
    ast_rows_begin(s->rows, &c->rows, base);
}

void ast_chunk_save_labels(const ast_scorer *s, ast_chunk *c) {
    c->labels_saved = true;
    memcpy(c->early_labels, s->labels + c->base, s->rows->chunk * sizeof *c->early_labels);
    memcpy(c->early_signs, s->signs + c->base / AST_LANES, s->rows->chunk / AST_LANES);
}

void ast_chunk_score_against(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t first, size_t n) {
    assert(first >= c->base && first + n <= c->base + s->rows->chunk);
    if (s->rows->small)
        ast_small_score_against(s, c, table, first, n);
    else
        ast_large_score_against(s, c, table, first, n);
}

void ast_chunk_score_all(ast_scorer *s, ast_chunk *c) {
    c->full = true;
    if (s->rows->small)
        ast_small_score_all(s, c);
    else
        ast_large_score_all(s, c);
}

/* Scores every point. Also finds which clusters have points in each block, here because it can run before the chunk's
 * turn. */
static void score_all(ast_scorer *s, ast_chunk *c) {
    size_t first = c->base / AST_BLOCK, last = (c->base + s->rows->chunk) / AST_BLOCK;
    ast_chunk_score_all(s, c);
    for (size_t b = first; !c->unlabelled && b < last; b++)
        ast_block_mask(s, b);
}

void ast_chunk_score_needed(ast_scorer *s, ast_chunk *c, ast_bins *bins) {
    assert(c->table->dimension == s->rows->dimension);
    if (c->unlabelled && bins && s->rows->small && !s->rows->weights && c->table->count > 0)
        ast_small_score_first_pass(s, c, bins);
    else if (c->unlabelled || s->bounds.invalid || !s->bounds.on)
        score_all(s, c);
    else if (s->rows->small)
        ast_small_score_bounded(s, c);
    else
        ast_large_score_bounded(s, c);
}

void ast_forget_gaps(ast_scorer *s, size_t first, size_t last) {
    assert(first <= last && last <= s->rows->padded);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < last; b++)
        s->bounds.blocks[b].gap = -INFINITY;
    for (size_t g = first / AST_LANES; s->rows->small && g * AST_LANES < last; g++)
        s->bounds.gaps[g] = -INFINITY;
}

void ast_forget_bounds(ast_scorer *s) {
    for (size_t b = 0; b < s->rows->padded / AST_BLOCK; b++)
        s->bounds.blocks[b] = (ast_block){.least = -INFINITY, .gap_origin = AST_NO_SCORE};
    ast_forget_gaps(s, 0, s->rows->padded);
}
