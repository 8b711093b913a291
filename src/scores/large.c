/* SPDX-License-Identifier: MIT
 *
 * Scores of points of five dimensions and more. Bounds change point by point: one for the few clusters that move fast,
 * one for the others. Before a point is scored against all means, a score against its own mean and scores against the
 * fast ones may decide it. */
#include "small_large.h"

#include "sparse.h"

#include <math.h>

#define NO_BOUND 2.0f                    /* above every score */
#define SCORES_AT_ONCE ((size_t)1 << 28) /* products between two checks for cancellation: about 30 ms */

static float sparse_score(const ast_scorer *s, size_t i, const float *mean) {
    ast_sparse_row row = ast_rowset_entries(s->rows, i);
    return ast_sparse_dot(&row, mean);
}

/* Scores listed points first..first+n-1 against the table. */
static void score_some(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t first, size_t n) {
    ast_scores to = ast_scores_at(c->compact, first);
    if (s->rows->sparse)
        s->kernels->score_sparse(c->rows.entries + first, n, table, to, c->scratch);
    else
        s->kernels->score_rows(c->picked + first, n, table, to, c->scratch);
}

static void pick_rows(const ast_scorer *s, ast_chunk *c, size_t base, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t at = c->list[j];
        if (s->rows->sparse)
            c->rows.entries[j] = ast_rowset_entries(s->rows, base + at);
        else
            c->picked[j] = c->rows.is_loaded ? c->rows.loaded[at] : ast_rows_keep(s->rows, &c->rows, base + at, at);
    }
}

/* Scores against every mean, a few points at a time if there are very many means. Returns how many points were
 * scored. */
static size_t score_brute(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t n) {
    size_t width = s->rows->sparse ? s->rows->entries.longest : s->rows->dimension;
    size_t some = SCORES_AT_ONCE / (table->count * width + 1) + 1, first = 0;
    for (; first < n && (first == 0 || !ast_pool_stopped(s->pool, c->worker)); first += some)
        score_some(s, c, table, first, n - first < some ? n - first : some);
    c->candidates.products += (uint64_t)(first < n ? first : n) * table->count;
    return first;
}

/* Scores n listed points (indices into the chunk) against the table, into chunk->compact. Points that are not scored
 * because the pool is cancelled stay undecided. `bounded` as in ast_heads_score. */
static void score_list(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t base, size_t n, bool bounded) {
    bool heads = ast_heads_ready(s, c, table);
    pick_rows(s, c, base, n);
    for (size_t done = heads ? ast_heads_score(s, c, n, bounded) : score_brute(s, c, table, n); done < n; done++) {
        c->compact.best[done] = c->compact.second[done] = AST_NO_SCORE;
        c->compact.id[done] = 0;
    }
}

static size_t list_present(const ast_scorer *s, ast_chunk *c, size_t base, size_t first, size_t n) {
    size_t count = 0;
    for (size_t j = first; j < first + n; j++)
        if (s->labels[base + j] != AST_MISSING)
            c->list[count++] = (uint32_t)j;
    return count;
}

static void copy_score(ast_scores to, size_t at, ast_scores from, size_t j) {
    to.best[at] = from.best[j];
    to.second[at] = from.second[j];
    to.id[at] = from.id[j];
}

void ast_large_score_against(ast_scorer *s, ast_chunk *c, const ast_mean_table *table, size_t first, size_t n) {
    size_t base = first / s->rows->chunk * s->rows->chunk;
    ast_rows_load_chunk(s->rows, &c->rows, s->labels, base);
    size_t count = list_present(s, c, base, first - base, n);
    score_list(s, c, table, base, count, false);
    for (size_t j = 0; j < count; j++) {
        size_t at = c->list[j] - (first - base);
        copy_score(c->other, at, c->compact, j);
    }
}

/* Copies the compact scores of listed points to their places in the chunk. */
static void scatter(ast_chunk *c, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t at = c->list[j];
        copy_score(c->scores, at, c->compact, j);
        if (c->fast_bound)
            c->fast_bound[at] = c->compact.second[j];
    }
    c->scored += n;
}

/* Axial: makes listed points undecided that are now on the other side of their mean. */
static void undecide_flipped(ast_scorer *s, ast_chunk *c, size_t base, size_t n) {
    size_t dimension = s->rows->dimension;
    for (size_t j = 0; j < n && s->rows->axial; j++) {
        size_t at = c->list[j], i = base + at;
        if (s->labels[i] < 0 || c->scores.id[at] != s->labels[i])
            continue;
        const float *mean = s->moves.start_means + (size_t)s->labels[i] * dimension;
        if ((s->kernels->dot(c->picked[j], mean, dimension) < 0) != ast_is_flipped(s->signs, i))
            c->scores.second[at] = c->compact.second[j] = c->scores.best[at];
    }
}

void ast_large_score_all(ast_scorer *s, ast_chunk *c) {
    size_t base = c->base;
    ast_rows_load_chunk(s->rows, &c->rows, s->labels, base);
    size_t count = list_present(s, c, base, 0, s->rows->chunk);
    score_list(s, c, c->table, base, count, false);
    scatter(c, count);
    undecide_flipped(s, c, base, count);
    for (size_t i = base; i < base + s->rows->chunk; i += AST_BLOCK) {
        ast_scores scores = ast_scores_at(c->scores, i - base);
        uint64_t bits[AST_BLOCK / 64];
        s->bounds.blocks[i / AST_BLOCK].attention =
            s->kernels->mark_undecided(scores, s->labels + i, AST_ALL_GROUPS, ast_deciding_score(s, c), s->margin,
                                       !c->unlabelled || s->rows->axial, bits);
    }
}

/* Adjusts the bounds of a block by the moves of the means since the last pass. Points that were not compared with every
 * event of that pass have no bound for the fast clusters. */
static void move_bounds(const ast_scorer *s, ast_chunk *c, size_t b, bool bounds_valid) {
    float *best = c->scores.best, *second = c->scores.second, *fast_bound = c->fast_bound;
    for (size_t i = b * AST_BLOCK; i < (b + 1) * AST_BLOCK; i++) {
        int32_t label = s->labels[i];
        size_t j = i - c->base;
        if (label < 0)
            continue;
        if (s->moves.regrouped)
            second[j] = fast_bound[j] = second[j] > fast_bound[j] ? second[j] : fast_bound[j];
        best[j] = ast_lower_bound_after_move(best[j], s->moves.of_slot[label]);
        second[j] = ast_upper_bound_after_move(second[j], s->moves.slow.most[label == s->moves.slow.fastest]);
        fast_bound[j] = bounds_valid ? ast_upper_bound_after_move(fast_bound[j],
                                                                  s->moves.quick.most[label == s->moves.quick.fastest])
                                     : NO_BOUND;
    }
}

static bool bounds_decide(const ast_scorer *s, const ast_chunk *c, size_t at) {
    float best = c->scores.best[at], second = c->scores.second[at], fast_bound = c->fast_bound[at];
    return best >= ast_deciding_score(s, c) && best - (second > fast_bound ? second : fast_bound) > s->margin;
}

/* Appends the points of block b that may have changed to the list. */
static size_t list_block(ast_scorer *s, ast_chunk *c, size_t b, size_t count) {
    size_t first = b * AST_BLOCK - c->base;
    float *other_best = c->other.second;
    for (size_t j = 0; j < AST_BLOCK; j++)
        other_best[j] = fmaxf(c->scores.second[first + j], c->fast_bound[first + j]);
    uint32_t *list = c->list + count;
    size_t listed = s->kernels->list_undecided(c->scores.best + first, other_best, s->labels + c->base + first,
                                               AST_BLOCK, ast_deciding_score(s, c), s->margin + 0x1p-22f, list);
    for (size_t j = 0; j < listed; j++)
        list[j] += (uint32_t)first;
    return count + listed;
}

/* Computes a new score of each listed point with its own mean, which may decide it. Returns how many points stay
 * listed. */
static size_t rescore_own(ast_scorer *s, ast_chunk *c, size_t n) {
    size_t left = 0, dimension = s->rows->dimension;
    for (size_t j = 0; j < n; j++) {
        size_t at = c->list[j], i = c->base + at;
        float *best = &c->scores.best[at];
        if (*best > AST_NO_SCORE) {
            const float *mean = s->moves.start_means + (size_t)s->labels[i] * dimension;
            *best = s->rows->sparse ? sparse_score(s, i, mean)
                                    : s->kernels->dot(ast_rows_keep(s->rows, &c->rows, i, at), mean, dimension);
            *best = s->rows->axial && ast_is_flipped(s->signs, i) ? -*best : *best;
        }
        if (!bounds_decide(s, c, at))
            c->list[left++] = c->list[j];
    }
    return left;
}

/* Then scores the listed points against the fast clusters, if this is cheaper than scoring against all means. Returns
 * how many points stay listed. */
static size_t compare_fast(ast_scorer *s, ast_chunk *c, size_t n) {
    size_t fast = s->moves.fast_table.count;
    if (fast == 0 || !ast_fast_table_pays(s, fast, c->table->count))
        return n;
    size_t left = 0;
    score_list(s, c, &s->moves.fast_table, c->base, n, false);
    for (size_t j = 0; j < n; j++) {
        size_t at = c->list[j];
        bool own = c->compact.id[j] == s->labels[c->base + at]; /* its own mean is no other mean */
        c->fast_bound[at] = own ? c->compact.second[j] : c->compact.best[j];
        if (!bounds_decide(s, c, at))
            c->list[left++] = c->list[j];
    }
    c->candidates.compared_fast += n;
    c->candidates.undecided_fast += left;
    return left;
}

static void flag_undecided(ast_scorer *s, const ast_chunk *c, size_t base, size_t n) {
    for (size_t j = 0; j < n; j++) {
        size_t i = base + c->list[j];
        float best = c->scores.best[c->list[j]], second = c->compact.second[j];
        if (c->compact.id[j] != s->labels[i] || !(best >= ast_deciding_score(s, c) && best - second > s->margin))
            s->bounds.blocks[i / AST_BLOCK].attention = true;
    }
}

void ast_large_score_bounded(ast_scorer *s, ast_chunk *c) {
    size_t base = c->base, count = 0;
    bool bounds_valid = ast_bounds_valid(s, c);
    if (!bounds_valid && 2 * s->moves.fast_table.count > c->table->count) {
        ast_chunk_score_all(s, c);
        return;
    }
    for (size_t b = base / AST_BLOCK; b < (base + s->rows->chunk) / AST_BLOCK; b++) {
        s->bounds.blocks[b].attention = false;
        move_bounds(s, c, b, bounds_valid);
        count = list_block(s, c, b, count);
    }
    ast_rows_fetch_listed(s->rows, &c->rows, c->list, count);
    count = compare_fast(s, c, rescore_own(s, c, count));
    if (count == 0)
        return;
    score_list(s, c, c->table, base, count, true);
    scatter(c, count);
    undecide_flipped(s, c, base, count);
    flag_undecided(s, c, base, count);
}
