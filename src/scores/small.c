/* SPDX-License-Identifier: MIT
 *
 * Scores of points of two to four dimensions. Bounds are kept per block of neighbours, and the smallest gap per group
 * of a block. A block far from every boundary costs one comparison; of the other blocks, only the groups that may have
 * changed are scored again. */
#include "small_large.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A block with a larger drift is scored completely, so that sums of moves and their rounding errors stay small. */
#define MAX_DRIFT 1.0f

static ast_small_block block_view(ast_scorer *s, const ast_chunk *c, size_t b) {
    assert(b >= c->base / AST_BLOCK && b < (c->base + s->rows->chunk) / AST_BLOCK);
    size_t base = b * AST_BLOCK, j = base - c->base;
    ast_small_block block = {.labels = s->labels + base,
                             .scores = ast_scores_at(c->scores, j),
                             .signs = s->signs + base / AST_LANES,
                             .gaps = s->bounds.gaps + base / AST_LANES,
                             .drift = s->bounds.blocks[b].drift,
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
    /* Axial: labels and signs that the kernel does not set are set by the commit. */
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
    ast_small_block block = block_view(s, c, b);
    s->bounds.blocks[b].gap_origin = block.fit;
    ast_small_result result = s->kernels->label_block[s->rows->dimension](&block, c->table, gap_limit);
    take_result(s, c, b, &result);
}

/* Scores the groups of the chunk that have an undecided point. */
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

/* Labels a block from its rows in the caller's memory, if the pass loads them (streams). false: it does not, or the
 * rows cannot be used directly. */
static bool label_in_place(ast_scorer *s, const ast_chunk *c, size_t b, float fit, const float *half_angles,
                           ast_bins *bins, ast_small_result *result) {
    const float *rows = ast_rowset_packed(s->rows, b);
    if (!rows)
        return false;
    ast_small_block block = block_view(s, c, b);
    block.fit = fit;
    block.half_angles = half_angles;
    block.late = s->rows->late ? s->rows->late + b * AST_BLOCK : NULL;
    block.label_before = b * AST_BLOCK > c->base ? block.labels[-1] : AST_NOBODY;
    *result = s->kernels->label_rows(rows, &block, c->table, bins);
    return result->scored_groups != 0;
}

/* Limits the gaps of a block to at most `gap`. */
static void lower_gaps(ast_scorer *s, size_t b, float gap) {
    float *gaps = s->bounds.gaps + b * AST_GROUPS;
    s->bounds.blocks[b].gap = gap < s->bounds.blocks[b].gap ? gap : s->bounds.blocks[b].gap;
    for (size_t g = 0; g < AST_GROUPS; g++)
        gaps[g] = gap < gaps[g] ? gap : gaps[g];
}

/* The points of a block have labels now, so the score is known from which on no uninstantiated cluster can win them. If
 * a point may be below it, the block needs attention. */
static void raise_fit(ast_scorer *s, const ast_chunk *c, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    block->gap_origin = ast_deciding_score_for_labels(s, &c->unseen_bound, ast_block_mask(s, b));
    if (block->gap_origin <= s->fit)
        return;
    float gap = block->least - block->gap_origin; /* both include `drift` */
    bool below = !(gap > block->drift + 0x1p-10f);
    lower_gaps(s, b, below ? -INFINITY : gap - 0x1p-20f);
    block->attention |= below;
}

/* Asks for the cache line at `at` to be writable here. Without its own instruction set, GCC would ask to read it only.
 */
static inline void prefetch_to_write(const char *at) {
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*at));
#else
    __builtin_prefetch(at, 1);
#endif
}

/* Begins to fetch what is written about a block. Another core may have written it last, and then each line takes up to
 * a third of a microsecond. With one thread, where that cannot be, it would cost 3% of a first pass. */
static void prefetch_block(const ast_scorer *s, size_t b) {
    const char *labels = (const char *)(s->labels + b * AST_BLOCK);
    const char *gaps = (const char *)(s->bounds.gaps + b * AST_GROUPS);
    for (size_t at = 0; at < AST_BLOCK * sizeof *s->labels; at += AST_CACHE_LINE)
        prefetch_to_write(labels + at);
    for (size_t at = 0; at < AST_GROUPS * sizeof *s->bounds.gaps; at += AST_CACHE_LINE)
        prefetch_to_write(gaps + at);
}

/* Labels the points and adds them to the sums at once; for nearly all of them this is final. */
void ast_small_score_first_pass(ast_scorer *s, ast_chunk *c, ast_bins *bins) {
    const ast_mean_table *table = c->table;
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK, holes = 0, late = 0;
    bool attention = false, shared = ast_pool_threads(s->pool) > 1;
    bool runs = table->count <= AST_HALF_ANGLE_MEANS && ast_rowset_packed(s->rows, first);
    float half_angles[AST_HALF_ANGLE_MEANS];
    uint32_t in_place = 0;
    if (runs)
        ast_half_angle_cosines(table, UINT32_MAX, half_angles);
    float fit = c->unseen_bound.each ? s->fit : ast_deciding_score(s, c);
    c->added_early = true;
    for (size_t b = first; b < last; b++) {
        ast_small_result result;
        if (shared && b + 1 < last)
            prefetch_block(s, b + 1);
        if (label_in_place(s, c, b, fit, runs ? half_angles : NULL, bins, &result)) {
            in_place |= (uint32_t)1 << (b - first);
        } else {
            fetch(s, c, b);
            ast_small_block block = block_view(s, c, b);
            block.fit = fit;
            result = s->kernels->label_and_sum[s->rows->dimension](&block, table, bins);
        }
        s->bounds.blocks[b].gap_origin = fit;
        take_result(s, c, b, &result);
        if (c->unseen_bound.each)
            raise_fit(s, c, b);
        attention |= s->bounds.blocks[b].attention;
        holes += result.holes;
        late += result.late;
    }
    ast_rowset_note_labelled(s->rows, first, in_place, holes, late);
    if (attention)
        score_undecided(s, c);
}

static void score_anew(ast_scorer *s, ast_chunk *c, size_t b) {
    s->bounds.blocks[b].drift = 0;
    score_block(s, c, b, INFINITY);
}

void ast_small_score_all(ast_scorer *s, ast_chunk *c) {
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    for (size_t b = first; b < last; b++)
        score_anew(s, c, b);
}

/* The kernel reads whole groups. If the last row ends a group, the extra rows of an incomplete group come before the
 * first row, not after the last one: another thread may be loading the rows after it. */
void ast_small_score_against(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t first, size_t n) {
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

/* An increase of the deciding score of a block, which becomes the new origin of its gaps. */
static float fit_increase(ast_scorer *s, const ast_chunk *c, ast_block *block) {
    float now = ast_deciding_score_for_labels(s, &c->unseen_bound, block->mask),
          by = now > block->gap_origin ? now - block->gap_origin : 0;
    block->gap_origin = now;
    return by;
}

/* ---- Newcomers --------------------------------------------------------------------------------------------------- */

/* Clusters that the points of a chunk were not compared with in the last pass, because they were born after it. A point
 * close to its own mean is far from all others (ast_half_angle_cosines), so a block of such points need not be compared
 * with newcomers. */
typedef struct newcomers {
    uint32_t bits;
    float half_angle[AST_MASK_BITS]; /* by slot: ast_half_angle_cosines of its mean and the newcomers */
} newcomers;

/* The newcomers `bits` among the means of a table. */
static newcomers place_newcomers(const ast_mean_table *t, uint32_t bits) {
    newcomers n = {.bits = bits};
    float cosines[AST_HALF_ANGLE_MEANS];
    assert(t->count <= AST_MASK_BITS);
    ast_half_angle_cosines(t, bits, cosines);
    for (size_t k = 0; k < t->count; k++)
        n.half_angle[t->ids[k]] = cosines[k];
    return n;
}

/* The clusters of the last pass that the chunk was not compared with. */
static newcomers find_newcomers(const ast_scorer *s, const ast_chunk *c) {
    size_t seen = s->bounds.chunk_seen[c->base / s->rows->chunk];
    uint32_t bits = 0;
    for (size_t k = 0; k < s->table.count; k++)
        if (s->moves.born[s->table.ids[k]] > seen)
            bits |= ast_bit_of(s->table.ids[k]);
    return place_newcomers(&s->table, bits);
}

/* Limits the gaps of a block by the gaps to the newcomers. */
static void lower_gaps_to_newcomers(ast_scorer *s, const newcomers *n, size_t b) {
    ast_block *block = &s->bounds.blocks[b];
    float least = block->least - block->drift, from = ast_largest_in(ast_block_mask(s, b), n->half_angle, -1);
    float gap = least > from && !(block->mask & n->bits) ? 2 * (least - from) + block->drift - 0x1p-20f : -INFINITY;
    lower_gaps(s, b, gap);
}

bool ast_small_rescore_changed(ast_scorer *s, ast_chunk *c, const int32_t *events, size_t count, size_t first) {
    uint32_t bits = 0;
    for (size_t k = 0; k < c->table->count; k++)
        if (c->table->ids[k] >= AST_MASK_BITS)
            return false;
    for (size_t e = 0; e < count; e++)
        bits |= events[e] >= 0 ? ast_bit_of(events[e]) : 0;
    newcomers n = place_newcomers(c->table, bits);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < c->base + s->rows->chunk; b++) {
        ast_block *block = &s->bounds.blocks[b];
        lower_gaps_to_newcomers(s, &n, b);
        bool fit_raised = ast_deciding_score_for_labels(s, &c->unseen_bound, block->mask) > block->gap_origin;
        if (block->attention || fit_raised || block->gap <= s->margin + block->drift + 0x1p-22f) {
            score_anew(s, c, b);
            block->attention = true;
        }
    }
    return true;
}

void ast_small_score_bounded(ast_scorer *s, ast_chunk *c) {
    bool bounds_valid = ast_bounds_valid(s, c);
    if (!bounds_valid && !s->moves.distinct) {
        ast_chunk_score_all(s, c);
        return;
    }
    newcomers n = {0};
    if (!bounds_valid)
        n = find_newcomers(s, c);
    size_t first = c->base / AST_BLOCK, last = first + s->rows->chunk / AST_BLOCK;
    for (size_t b = first; b < last; b++) {
        ast_block *block = &s->bounds.blocks[b];
        block->attention = false;
        block->drift += ast_largest_in(ast_block_mask(s, b), s->moves.bit_step, 0); /* by the moves of the means */
        block->drift += fit_increase(s, c, block);
        c->scored_groups[b - first] = 0;
        if (!bounds_valid)
            lower_gaps_to_newcomers(s, &n, b);
        float gap_limit = s->margin + block->drift + 0x1p-22f;
        if (block->drift > MAX_DRIFT)
            score_anew(s, c, b);
        else if (block->gap <= gap_limit)
            score_block(s, c, b, gap_limit);
    }
}
