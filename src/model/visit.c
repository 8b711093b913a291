/* SPDX-License-Identifier: MIT
 *
 * Visits one point: decides its cluster, then moves it there. The functions are in the order of calls: visit, decide,
 * carry out, move.
 *
 * Float scores decide the point if they can. Otherwise the method's rule decides, by exact scores. This file knows no
 * rule: it gives the rule the candidates, and carries the verdict out. */
#include "inside.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MAX_RECALLED 256 /* candidates of a close call, at most */

static bool scores_decide(ast_labelling *l, ast_worker *worker, size_t i);
static bool decide(ast_labelling *l, ast_worker *worker, size_t i, const float *row, bool singleton, ast_verdict *v);
static ast_visit_result carry_out(ast_labelling *l, ast_worker *worker, size_t i, const float *row, bool singleton,
                                  const ast_verdict *v);
static ast_visit_result move_point(ast_labelling *l, ast_worker *worker, size_t i, int32_t to);

/* Whether the chunk has scores or bounds of the point. */
static bool is_scored(const ast_labelling *l, const ast_chunk *c, size_t i) {
    size_t j = i - c->base;
    return !l->rows.small || c->full || (c->scored_groups[j / AST_BLOCK] >> j % AST_BLOCK / AST_LANES & 1);
}

ast_visit_result ast_visit(ast_labelling *l, ast_worker *worker, size_t i) {
    ast_chunk *c = &worker->chunk;
    bool singleton = ast_clusters_is_singleton(&l->clusters, l->labels[i]);
    assert(i >= c->base && i < c->base + l->rows.chunk && l->labels[i] != AST_MISSING);
    if (!singleton && !is_scored(l, c, i)) /* a singleton when it was listed, none now; by its bounds it stays */
        return AST_NO_EVENT;
    if (!singleton && scores_decide(l, worker, i))
        return move_point(l, worker, i, c->scores.id[i - c->base]);
    ast_verdict v;
    const float *row = l->rows.sparse ? NULL : ast_rows_canonical(&l->rows, &c->rows, i);
    return decide(l, worker, i, row, singleton, &v) ? carry_out(l, worker, i, row, singleton, &v) : AST_NO_EVENT;
}

/* ---- Decide ------------------------------------------------------------------------------------------------------ */

/* Whether the best float score fits, leads the second by more than the rounding error, and beats every uninstantiated
 * cluster. */
static bool scores_decide(ast_labelling *l, ast_worker *worker, size_t i) {
    const ast_scorer *s = &l->scorer;
    const ast_unseen_bound *bound = &l->events.unseen_bound;
    size_t j = i - worker->chunk.base;
    int32_t slot = worker->chunk.scores.id[j];
    float best = worker->chunk.scores.best[j];
    if (!(best >= s->fit && best - worker->chunk.scores.second[j] > s->margin))
        return false;
    return !l->rule.unseen_can_win || best >= bound->all || (bound->each && slot >= 0 && best >= bound->of[slot]) ||
           !l->rule.unseen_can_win(l->rule.data, ast_rows_at(&l->rows, &worker->chunk.rows, i),
                                   (double)best - (double)s->margin);
}

/* Whether float scores show that the point fits no candidate, and the rule then needs no exact scores. The scores of
 * the verdict are upper bounds. Scores of the whole chunk are needed, since the bound of a point's own cluster is a
 * lower one; a singleton's own cluster is no candidate, so bounds of the others are enough for it. */
static bool fits_nothing(const ast_labelling *l, const ast_chunk *c, size_t i, bool singleton, ast_verdict *v) {
    size_t j = i - c->base;
    float best = c->scores.best[j], others = c->scores.second[j];
    bool own = singleton && c->scores.id[j] == l->labels[i];
    if (l->rule.unfit != AST_UNFIT_START || best <= AST_NO_SCORE || !(c->full || (own && c->fast_bound)))
        return false;
    others = c->fast_bound ? fmaxf(others, c->fast_bound[j]) : others;
    double most = (double)(own ? others : fmaxf(best, others)) + (double)l->scorer.margin;
    *v = (ast_verdict){ast_unfit_action(singleton), AST_NOBODY, most, most};
    return most < l->scorer.fit_threshold;
}

/* The candidates of a close call: the best mean of the chunk's table, and the clusters born since. Returns their
 * number; 0 if the scorer made no such call, or if the list of clusters changed in another way since. */
static size_t recall_candidates(ast_labelling *l, ast_worker *worker, const ast_close_call *call, const float *row,
                                bool singleton, int32_t ids[MAX_RECALLED]) {
    const ast_cluster_list *clusters = &l->clusters;
    size_t count = 1, known = worker->chunk.candidates.events_seen;
    if (!call || call->singleton != singleton || l->rule.unseen_bound || !row ||
        l->events.count - known >= MAX_RECALLED)
        return 0;
    ids[0] = call->slot;
    worker->exact[0] = call->score;
    for (size_t e = known; e < l->events.count; e++) {
        int32_t slot = l->events.list[e];
        if (slot < 0)
            return 0;
        if (!clusters->alive[slot] || ast_clusters_is_uninstantiated(clusters, slot))
            continue;
        double score = ast_exact_score(row, ast_clusters_mean(clusters, slot), clusters->dimension);
        worker->exact[count] = l->rows.axial ? fabs(score) : score;
        ids[count++] = slot;
    }
    return count;
}

/* Asks the rule; row: NULL if points are sparse. false: no memory. */
static bool decide(ast_labelling *l, ast_worker *worker, size_t i, const float *row, bool singleton, ast_verdict *v) {
    ast_chunk *c = &worker->chunk;
    if (fits_nothing(l, c, i, singleton, v))
        return true;
    if (!ast_reserve(&worker->exact, &worker->exact_capacity, 0, c->table->count + MAX_RECALLED,
                     sizeof *worker->exact)) {
        ast_labelling_fail(l);
        return false;
    }
    int32_t ids[MAX_RECALLED];
    const ast_close_call *call = ast_close_call_of(c, i - c->base);
    size_t recalled = recall_candidates(l, worker, call, row, singleton, ids);
    ast_candidates candidates = {worker->exact, ids, recalled, l->labels[i], singleton, l->scorer.fit_threshold, row};
    if (recalled == 0) {
        candidates.ids = c->table->ids;
        candidates.count = c->table->count;
        if (row)
            ast_exact_scores(row, c->table, worker->exact);
        else
            ast_rows_exact_scores(&l->rows, &c->rows, i, c->table, worker->exact);
    }
    *v = l->rule.decide(l->rule.data, &candidates);
    if (recalled > 0)
        v->second = fmax(v->second, call->second);
    if (recalled > 0 && v->action != AST_JOIN)
        v->score = fmax(v->score, call->second);
    return true;
}

/* ---- Carry out --------------------------------------------------------------------------------------------------- */

/* Stores the scores of the verdict: the bounds of the next pass start from them. */
static void store_scores(ast_labelling *l, ast_worker *worker, size_t i, int32_t to, double best, double second) {
    ast_scores *scores = &worker->chunk.scores;
    size_t j = i - worker->chunk.base;
    scores->id[j] = to;
    scores->best[j] = (float)(best > AST_NO_SCORE ? best : AST_NO_SCORE);
    scores->second[j] = (float)(second > AST_NO_SCORE ? second : AST_NO_SCORE);
    ast_forget_gaps(&l->scorer, i, i + 1);
}

static void push_event(ast_labelling *l, int32_t event) {
    if (!ast_push_event(l, event))
        ast_labelling_fail(l);
}

/* The cluster has another mean: its old scores are invalid, and points are compared with the new mean. */
static ast_visit_result mean_changed(ast_labelling *l, int32_t slot, uint32_t singleton_point) {
    l->clusters.touched[slot] = 1;
    l->clusters.singleton_point[slot] = singleton_point;
    push_event(l, ~slot);
    push_event(l, slot);
    return AST_EVENT;
}

/* Several ranks: a speculative pass cannot carry this change out, since the other ranks do not know of it. */
static ast_visit_result report_conflict(ast_labelling *l) {
    atomic_store(&l->ranks.conflict, true);
    return AST_NO_EVENT;
}

static ast_visit_result stay_singleton(ast_labelling *l, ast_worker *worker, size_t i, const float *row,
                                       const ast_verdict *v) {
    int32_t own = l->labels[i];
    float *mean = ast_clusters_mean(&l->clusters, own);
    size_t bytes = l->rows.dimension * sizeof *mean;
    bool same = memcmp(mean, row, bytes) == 0;
    if (l->ranks.speculative && !same)
        return report_conflict(l);
    store_scores(l, worker, i, own, 1, v->score);
    memcpy(mean, row, bytes);
    move_point(l, worker, i, own); /* axial: the point gets the sign of the new mean */
    if (same)
        return AST_NO_EVENT;
    return mean_changed(l, own, (uint32_t)(l->rows.offset + i));
}

static ast_visit_result start_cluster(ast_labelling *l, ast_worker *worker, size_t i, const float *row,
                                      const ast_verdict *v) {
    if (l->ranks.speculative)
        return report_conflict(l);
    bool full = ast_windows_refuse_cluster(l);
    int32_t born = full ? -1 : ast_clusters_add(&l->clusters, row, (uint32_t)(l->rows.offset + i));
    if (born < 0) {
        ast_labelling_fail(l);
        return AST_NO_EVENT;
    }
    push_event(l, born);
    store_scores(l, worker, i, born, 1, v->score);
    move_point(l, worker, i, born);
    return AST_EVENT;
}

static ast_visit_result revive(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const ast_verdict *v) {
    ast_cluster_list *c = &l->clusters;
    float mu[AST_MAX_DIMENSION], *mean = ast_clusters_mean(c, v->to);
    size_t bytes = c->dimension * sizeof *mean;
    assert(ast_clusters_is_tracked(c, v->to));
    l->rule.revive(l->rule.data, v->to, row, mu);
    double score = ast_exact_score(row, mu, c->dimension);
    store_scores(l, worker, i, v->to, l->rows.axial ? fabs(score) : score, v->second);
    bool same = l->labels[i] == v->to && memcmp(mean, mu, bytes) == 0; /* it was its only point, and stays so */
    memcpy(mean, mu, bytes);
    if (!same)
        c->uninstantiated[v->to] = 0;
    move_point(l, worker, i, v->to);
    return same ? AST_NO_EVENT : mean_changed(l, v->to, UINT32_MAX);
}

static ast_visit_result carry_out(ast_labelling *l, ast_worker *worker, size_t i, const float *row, bool singleton,
                                  const ast_verdict *v) {
    bool joins = v->action == AST_JOIN || v->action == AST_REVIVE;
    assert(!joins || (v->to >= 0 && (size_t)v->to < l->clusters.slots && l->clusters.alive[v->to]));
    if (v->action == AST_JOIN) {
        if (l->ranks.speculative && singleton) /* its cluster would die, and its scores leave that cluster out */
            return report_conflict(l);
        store_scores(l, worker, i, v->to, v->score, v->second);
        return move_point(l, worker, i, v->to);
    }
    if (l->rows.sparse) /* the point becomes a mean, and means are dense */
        row = ast_rows_at(&l->rows, &worker->chunk.rows, i);
    if (joins)
        return revive(l, worker, i, row, v);
    return v->action == AST_STAY_SINGLETON ? stay_singleton(l, worker, i, row, v) : start_cluster(l, worker, i, row, v);
}

/* ---- Move -------------------------------------------------------------------------------------------------------- */

/* Whether the exact product of a row and a mean is negative. The float product tells, unless it is near zero. */
static bool is_opposite(const ast_labelling *l, const float *row, const float *mean) {
    size_t dimension = l->rows.dimension;
    float fast = l->rows.small ? 0 : l->rows.kernels->dot(row, mean, dimension);
    return fabsf(fast) > l->scorer.margin ? fast < 0 : ast_exact_score(row, mean, dimension) < 0;
}

/* Axial: gives the point the sign of its product with the mean. */
static void update_sign(ast_labelling *l, ast_worker *worker, size_t i, int32_t slot) {
    ast_row_buffer *rows = &worker->chunk.rows;
    const float *row = ast_rows_canonical(&l->rows, rows, i);
    bool opposite = is_opposite(l, row, ast_clusters_mean(&l->clusters, slot));
    ast_set_flipped(l->signs, i, opposite != (row == rows->canonical)); /* the sign is that of the row as given */
}

/* Gives the point its label and, if points are axial, its sign. The first pass counts members at its end, and a
 * speculative pass by the changes that it lists. */
static ast_visit_result move_point(ast_labelling *l, ast_worker *worker, size_t i, int32_t to) {
    int32_t from = l->labels[i];
    bool was_flipped = l->rows.axial && ast_is_flipped(l->signs, i);
    ast_block *block = &l->scorer.bounds.blocks[i / AST_BLOCK];
    assert(to >= 0 && (size_t)to < l->clusters.slots && l->clusters.alive[to]);
    if (l->rows.axial)
        update_sign(l, worker, i, to);
    bool flipped = l->rows.axial && ast_is_flipped(l->signs, i);
    if (from == to && was_flipped == flipped)
        return AST_NO_EVENT;
    l->labels[i] = to;
    if (block->mask)
        block->mask |= ast_bit_of(to);
    if (l->first)
        return AST_NO_EVENT;
    worker->changes[worker->change_count++] = (ast_change){(uint32_t)i, from, to, was_flipped, flipped};
    worker->changed++;
    if (from == to || l->ranks.speculative)
        return AST_NO_EVENT;
    int64_t left = ast_clusters_move_member(&l->clusters, from, to);
    if (left > 0 || l->clusters.fixed)
        return left == 1 && !l->clusters.fixed ? AST_LEFT_ONE_MEMBER : AST_NO_EVENT;
    push_event(l, ~from);
    return AST_EVENT;
}
