/* SPDX-License-Identifier: MIT
 *
 * Proposals for points of two to four dimensions. The sinking and rising of the bounds is kept per block of neighbours,
 * and of each group of a block the smallest gap: a block far from every boundary costs one comparison, and of the
 * others only the groups that may have changed are scored again. */
#include "small_large.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A block whose bounds have run this far is scored anew: sums of moves stay small, and their rounding too. */
#define TIRED 1.0f

static ast_small_block view(ast_scorer *s, const ast_chunk *c, size_t b) {
    assert(b >= c->base / AST_BLOCK && b < (c->base + s->rows->chunk) / AST_BLOCK);
    size_t base = b * AST_BLOCK, j = base - c->base;
    ast_small_block block = {.labels = s->labels + base,
                             .scores = {c->scores.best + j, c->scores.second + j, c->scores.id + j},
                             .signs = s->signs + base / AST_LANES,
                             .gaps = s->bounds.gaps + base / AST_LANES,
                             .lead = s->bounds.blocks[b].drift,
                             .fit = ast_deciding_score_for_labels(s, &c->unseen_bound, s->bounds.blocks[b].mask),
                             .margin = s->margin};
    for (size_t d = 0; d < s->rows->dimension; d++)
        block.x[d] = ast_rows_column(s->rows, &c->rows, d, base);
    return block;
}

static void take_result(ast_scorer *s, ast_chunk *c, size_t b, const ast_small_result *result) {
    s->bounds.blocks[b].gap = result->gap;
    if (result->scored_groups == AST_ALL_GROUPS)
        s->bounds.blocks[b].least = result->least + s->bounds.blocks[b].drift;
    if (result->mask)
        s->bounds.blocks[b].mask = result->mask;
    /* Axial: labels and signs that are not given at once are given by visits. */
    s->bounds.blocks[b].attention = result->attention || (s->rows->axial && c->unlabelled && !c->added_early);
    c->scored_groups[b - c->base / AST_BLOCK] = result->scored_groups;
    c->scored += (size_t)__builtin_popcount(result->scored_groups) * AST_LANES;
}

static void fetch(ast_scorer *s, ast_chunk *c, size_t b) {
    ast_rows_fetch(s->rows, &c->rows);
    ast_rowset_need_columns(s->rows, b * AST_BLOCK, (b + 1) * AST_BLOCK);
}

static void score_block(ast_scorer *s, ast_chunk *c, size_t b, float gap_limit) {
    fetch(s, c, b);
    ast_small_block block = view(s, c, b);
    s->bounds.blocks[b].fit = block.fit;
    ast_small_result result = s->kernels->label_block[s->rows->dimension](&block, c->table, gap_limit);
    take_result(s, c, b, &result);
}

/* The groups of a chunk that have an undecided point get scores after all. */
static void score_undecided(ast_scorer *s, ast_chunk *c) {
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    ast_chunk_save_labels(s, c);
    for (size_t b = first; b < last; b++) {
        if (s->bounds.blocks[b].attention)
            score_block(s, c, b, s->bounds.blocks[b].drift + s->margin + 0x1p-22f);
        else
            c->scored_groups[b - first] = 0;
    }
}

/* Labels a block from its rows, where they can be used as they are. */
static bool label_in_place(ast_scorer *s, const ast_chunk *c, size_t b, float fit, const float *half_angles,
                           ast_bins *bins, ast_small_result *result) {
    const float *rows = ast_rowset_packed(s->rows, b);
    if (!rows)
        return false;
    ast_small_block block = view(s, c, b);
    block.fit = fit;
    block.half_angles = half_angles;
    block.late = s->rows->late ? s->rows->late + b * AST_BLOCK : NULL;
    block.before = b * AST_BLOCK > c->base ? block.labels[-1] : AST_NOBODY;
    *result = s->kernels->label_rows(rows, &block, c->table, bins);
    return result->scored_groups != 0;
}

/* Gaps of a block are at most this. */
static void lower_gaps(ast_scorer *s, size_t b, float gap) {
    float *gaps = s->bounds.gaps + b * AST_GROUPS;
    s->bounds.blocks[b].gap = gap < s->bounds.blocks[b].gap ? gap : s->bounds.blocks[b].gap;
    for (size_t g = 0; g < AST_GROUPS; g++)
        gaps[g] = gap < gaps[g] ? gap : gaps[g];
}

/* The points of a block have labels, so that it is known from which score on a candidate beside the means cannot win
 * them. Where one may be below, the block needs attention. */
static void raise_fit(ast_scorer *s, const ast_chunk *c, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    if (block->mask == 0)
        block->mask = s->kernels->label_mask(s->labels + b * AST_BLOCK, AST_BLOCK);
    block->fit = ast_deciding_score_for_labels(s, &c->unseen_bound, block->mask);
    if (block->fit <= s->fit)
        return;
    float gap = block->least - block->fit; /* both plus `run` */
    bool below = !(gap > block->drift + 0x1p-10f);
    lower_gaps(s, b, below ? -INFINITY : gap - 0x1p-20f);
    block->attention |= below;
}

/* The points get their labels and are added to the sums at once, which is right for nearly all of them. */
void ast_small_first(ast_scorer *s, ast_chunk *c, ast_bins *bins) {
    const ast_mean_table *table = c->table;
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK, holes = 0, late = 0;
    bool attention = false, few = table->count <= AST_HALF_ANGLE_MEANS;
    float half_angles[AST_HALF_ANGLE_MEANS];
    uint32_t in_place = 0;
    if (few)
        ast_half_angle_cosines(table, half_angles);
    float fit = c->unseen_bound.each ? s->fit : ast_deciding_score(s, c);
    c->added_early = true;
    for (size_t b = first; b < last; b++) {
        ast_small_result result;
        if (label_in_place(s, c, b, fit, few ? half_angles : NULL, bins, &result)) {
            in_place |= (uint32_t)1 << (b - first);
        } else {
            fetch(s, c, b);
            ast_small_block block = view(s, c, b);
            block.fit = fit;
            result = s->kernels->label_and_sum[s->rows->dimension](&block, table, bins);
        }
        s->bounds.blocks[b].fit = fit;
        take_result(s, c, b, &result);
        if (c->unseen_bound.each)
            raise_fit(s, c, b);
        attention |= s->bounds.blocks[b].attention;
        holes += result.holes;
        late += result.late;
    }
    ast_rowset_labelled(s->rows, first, in_place, holes, late);
    if (attention)
        score_undecided(s, c);
}

static void score_anew(ast_scorer *s, ast_chunk *c, size_t b) {
    s->bounds.blocks[b].drift = 0;
    score_block(s, c, b, INFINITY);
}

void ast_small_all(ast_scorer *s, ast_chunk *c) {
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    for (size_t b = first; b < last; b++)
        score_anew(s, c, b);
}

/* The kernel reads whole groups. Up to the end of a group these begin before the first row, not behind the last one:
 * the rows behind may be another thread's, which is loading them. */
void ast_small_against(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t first, size_t n) {
    const float *x[AST_SMALL];
    size_t before = (first + n) % AST_LANES ? 0 : first % AST_LANES;
    ast_rows_fetch(s->rows, &c->rows);
    ast_rowset_need_columns(s->rows, first - before, first + n);
    for (size_t d = 0; d < s->rows->dimension; d++)
        x[d] = ast_rows_column(s->rows, &c->rows, d, first - before);
    s->kernels->score_columns[s->rows->dimension](x, before + n, table, c->other);
    if (before == 0)
        return;
    memmove(c->other.best, c->other.best + before, n * sizeof *c->other.best);
    memmove(c->other.second, c->other.second + before, n * sizeof *c->other.second);
    memmove(c->other.id, c->other.id + before, n * sizeof *c->other.id);
}

/* How much smaller the gaps of a block may have become since the last pass, by the moves of the means. */
static float step(ast_scorer *s, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    if (block->mask == 0)
        block->mask = s->kernels->label_mask(s->labels + b * AST_BLOCK, AST_BLOCK);
    float most = 0;
    for (uint32_t mask = block->mask; mask; mask &= mask - 1) {
        float own = s->moves.bit_step[__builtin_ctz(mask)];
        most = own > most ? own : most;
    }
    return most;
}

/* The same by a higher score that decides. Gaps that are measured from now on are measured from that. */
static float fit_increase(ast_scorer *s, const ast_chunk *c, ast_block *block) {
    float now = ast_deciding_score_for_labels(s, &c->unseen_bound, block->mask),
          by = now > block->fit ? now - block->fit : 0;
    block->fit = now;
    return by;
}

/* ---- Newcomers --------------------------------------------------------------------------------------------------- */

/* Clusters that the points of a chunk were not compared with in the pass before, since they were born after it. A point
 * near its own mean is far from theirs (ast_half_angle_cosines), so that a block whose points all are need not look at
 * them. */
typedef struct newcomers {
    uint32_t bits;
    float halfway[AST_MASK_BITS]; /* from the cluster's mean to the newcomer's that is nearest to it
                                     (ast_half_angle_cosine) */
} newcomers;

static double cosine(const ast_mean_table *t, size_t k, size_t j) {
    double sum = 0;
    for (size_t d = 0; d < t->dimension; d++)
        sum += (double)t->means[d * t->capacity + k] * (double)t->means[d * t->capacity + j];
    return t->axial ? fabs(sum) : sum;
}

/* Those of a table. */
static newcomers place_newcomers(const ast_mean_table *t, uint32_t bits) {
    newcomers n = {.bits = bits};
    assert(t->count <= AST_MASK_BITS);
    for (size_t k = 0; k < t->count; k++) {
        double nearest = -1;
        for (size_t j = 0; j < t->count; j++)
            if (bits & ast_bit_of(t->ids[j]))
                nearest = fmax(nearest, cosine(t, k, j));
        n.halfway[t->ids[k]] = (float)ast_half_angle_cosine(nearest) + 0x1p-23f;
    }
    return n;
}

/* Those of the pass before, of which the chunk does not know. */
static newcomers find_newcomers(const ast_scorer *s, const ast_chunk *c) {
    size_t seen = s->bounds.chunk_seen[c->base / s->rows->chunk];
    uint32_t bits = 0;
    for (size_t k = 0; k < s->table.count; k++)
        if (s->moves.born[s->table.ids[k]] > seen)
            bits |= ast_bit_of(s->table.ids[k]);
    return place_newcomers(&s->table, bits);
}

/* The gaps of a block, with newcomers taken into account. */
static void lower_gaps_to_newcomers(ast_scorer *s, const newcomers *n, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    float least = block->least - block->drift, from = -1;
    for (uint32_t mask = block->mask; mask; mask &= mask - 1) {
        float halfway = n->halfway[__builtin_ctz(mask)];
        from = halfway > from ? halfway : from;
    }
    float gap = least > from && !(block->mask & n->bits) ? 2 * (least - from) + block->drift - 0x1p-20f : -INFINITY;
    lower_gaps(s, b, gap);
}

bool ast_small_catch_up(ast_scorer *s, ast_chunk *c, const int32_t *events, size_t count, size_t first) {
    uint32_t bits = 0;
    for (size_t k = 0; k < c->table->count; k++)
        if (c->table->ids[k] >= AST_MASK_BITS)
            return false;
    for (size_t e = 0; e < count; e++)
        bits |= events[e] >= 0 ? ast_bit_of(events[e]) : 0;
    newcomers n = place_newcomers(c->table, bits);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < c->base + s->rows->chunk; b++) {
        ast_block *block = &s->bounds.blocks[b];
        if (block->mask == 0)
            block->mask = s->kernels->label_mask(s->labels + b * AST_BLOCK, AST_BLOCK);
        lower_gaps_to_newcomers(s, &n, b);
        bool fit_raised = ast_deciding_score_for_labels(s, &c->unseen_bound, block->mask) > block->fit;
        if (block->attention || fit_raised || block->gap <= s->margin + block->drift + 0x1p-22f) {
            score_anew(s, c, b);
            block->attention = true;
        }
    }
    return true;
}

void ast_small_bounded(ast_scorer *s, ast_chunk *c) {
    bool bounds_valid = ast_bounds_valid(s, c);
    if (!bounds_valid && !s->moves.distinct) {
        ast_score_chunk(s, c);
        return;
    }
    newcomers n = {0};
    if (!bounds_valid)
        n = find_newcomers(s, c);
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    for (size_t b = first; b < last; b++) {
        ast_block *block = &s->bounds.blocks[b];
        block->attention = false;
        block->drift += step(s, b);
        block->drift += fit_increase(s, c, block);
        c->scored_groups[b - first] = 0;
        if (!bounds_valid)
            lower_gaps_to_newcomers(s, &n, b);
        float gap_limit = s->margin + block->drift + 0x1p-22f;
        if (block->drift > TIRED)
            score_anew(s, c, b);
        else if (block->gap <= gap_limit)
            score_block(s, c, b, gap_limit);
    }
}
