/* SPDX-License-Identifier: MIT
 *
 * Commits a chunk, after all chunks before it. The scores decide most blocks of most chunks with one test per block.
 * The commit visits the other points: points that change cluster, that no float score decides, that fit no cluster, or
 * that are singleton in their cluster. The method's rule decides them, and this file carries the decision out. */
#include "inside.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define RECALLED 256 /* candidates of a close call, at most */

/* Why the rest of a block must be looked at again. */
enum { SAME = 0, EVENT = 1, SINGLETON = 2 };

ast_verdict ast_nearest_candidate(const ast_candidates *c) {
    ast_verdict v = {AST_JOIN, AST_NOBODY, -INFINITY, -INFINITY};
    int32_t barred = c->singleton ? c->own : AST_NOBODY;
    for (size_t k = 0; k < c->count; k++) {
        double score = c->scores[k];
        if (c->ids[k] == barred || c->ids[k] == AST_NOBODY)
            continue;
        if (score > v.score) {
            v.second = v.score;
            v.score = score;
            v.to = c->ids[k];
        } else if (score > v.second) {
            v.second = score;
        }
    }
    return v;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

bool ast_push_event(ast_labelling *l, int32_t event) {
    ast_events *e = &l->events;
    if (!ast_reserve(&e->list, &e->capacity, e->count, e->count + 1, sizeof *e->list))
        return false;
    e->list[e->count++] = event;
    return true;
}

static void push_event(ast_labelling *l, int32_t event) {
    if (!ast_push_event(l, event))
        ast_labelling_fail(l);
}

void ast_begin_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    bool mine = worker->pass == l->pass && worker->seen > 0;
    ast_chunk_begin(&l->scorer, &worker->chunk, chunk);
    worker->chunk.table = mine ? &worker->table : &l->scorer.table;
    worker->chunk.unseen_bound = mine ? worker->unseen_bound : l->scorer.unseen_bound;
    worker->chunk.unlabelled = l->first;
    worker->chunk.candidates.events_seen = mine ? worker->seen : 0;
}

void ast_propose_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    ast_propose(&l->scorer, &worker->chunk, &worker->bins);
    if (l->rows.loading.due && !ast_rowset_is_finite(&l->rows))
        ast_labelling_fail(l);
}

void ast_score_every_point(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    ast_score_chunk(&l->scorer, &worker->chunk);
}

/* ---- What becomes of a point ------------------------------------------------------------------------------------- */

static void remember(ast_labelling *l, ast_worker *worker, size_t i, int32_t to, double best, double second) {
    ast_scores *scores = &worker->chunk.scores;
    size_t j = i - worker->chunk.base;
    scores->id[j] = to;
    scores->best[j] = (float)(best > AST_NO_SCORE ? best : AST_NO_SCORE);
    scores->second[j] = (float)(second > AST_NO_SCORE ? second : AST_NO_SCORE);
    ast_forget_gaps(&l->scorer, i, i + 1);
}

/* Whether the product of a row and a mean is negative by definition. A fast one tells where it is not near zero. */
static bool is_opposite(const ast_labelling *l, const float *row, const float *mean) {
    size_t dimension = l->rows.dimension;
    float fast = l->rows.small ? 0 : l->rows.kernels->dot(row, mean, dimension);
    return fabsf(fast) > l->scorer.margin ? fast < 0 : ast_exact_score(row, mean, dimension) < 0;
}

/* Axial: gives the point the sign of its product with the mean. Returns the sign it had. */
static bool update_sign(ast_labelling *l, ast_worker *worker, size_t i, int32_t slot) {
    ast_row_buffer *rows = &worker->chunk.rows;
    const float *row = ast_rows_canonical(&l->rows, rows, i);
    const float *mean = l->clusters.means + (size_t)slot * l->rows.dimension;
    bool was = ast_is_flipped(l->signs, i), now = is_opposite(l, row, mean);
    now ^= row == rows->canonical; /* as the row is given */
    if (was != now)
        l->signs[i / AST_LANES] ^= (uint8_t)(1u << i % AST_LANES);
    return was;
}

/* The point leaves cluster `from` for `to`, or stays and may change its sign. In the first pass it leaves nothing, and
 * members are counted later. */
static int move_point(ast_labelling *l, ast_worker *worker, size_t i, int32_t from, int32_t to) {
    bool axial = l->rows.axial;
    bool was_flipped = axial && update_sign(l, worker, i, to), flipped = axial && ast_is_flipped(l->signs, i);
    ast_block *block = &l->scorer.bounds.blocks[i / AST_BLOCK];
    if (from == to && was_flipped == flipped)
        return SAME;
    l->labels[i] = to;
    if (block->mask)
        block->mask |= ast_bit_of(to);
    if (l->first)
        return SAME;
    worker->changes[worker->change_count++] = (ast_change){(uint32_t)i, from, to, was_flipped, flipped};
    worker->changed++;
    if (from == to || l->ranks.speculative) /* a speculative counts members by what it changed */
        return SAME;
    int64_t left = ast_clusters_move_member(&l->clusters, from, to);
    if (left > 0 || l->clusters.fixed)
        return left == 1 && !l->clusters.fixed ? SINGLETON : SAME;
    push_event(l, ~from);
    return EVENT;
}

/* Ends the speculative of a rank: the other ranks would have to know of this change. */
static int give_up(ast_labelling *l) {
    atomic_store(&l->ranks.conflict, true);
    return SAME;
}

static int stay_singleton(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const ast_verdict *v) {
    int32_t own = l->labels[i];
    float *mean = l->clusters.means + (size_t)own * l->rows.dimension;
    size_t bytes = l->rows.dimension * sizeof *mean;
    bool same = memcmp(mean, row, bytes) == 0;
    if (l->ranks.speculative && !same)
        return give_up(l);
    remember(l, worker, i, own, 1, v->score);
    memcpy(mean, row, bytes);
    move_point(l, worker, i, own, own); /* axial: on the mean's side now */
    if (same)
        return SAME;
    l->clusters.touched[own] = 1;
    l->clusters.singleton_point[own] = (uint32_t)(l->rows.offset + i);
    push_event(l, ~own);
    push_event(l, own);
    return EVENT;
}

static int start_cluster(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const ast_verdict *v) {
    if (l->ranks.speculative)
        return give_up(l);
    bool full = ast_windows_is_full(l);
    int32_t born = full ? -1 : ast_clusters_add(&l->clusters, row, (uint32_t)(l->rows.offset + i));
    if (born < 0) {
        ast_labelling_fail(l);
        return SAME;
    }
    push_event(l, born);
    remember(l, worker, i, born, 1, v->score);
    move_point(l, worker, i, l->labels[i], born);
    return EVENT;
}

static int revive(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const ast_verdict *v) {
    ast_cluster_list *c = &l->clusters;
    float mu[AST_MAX_DIMENSION], *mean = c->means + (size_t)v->to * c->dimension;
    size_t bytes = c->dimension * sizeof *mean;
    int32_t own = l->labels[i];
    l->rule.revive(l->rule.data, v->to, row, mu);
    double score = ast_exact_score(row, mu, c->dimension);
    remember(l, worker, i, v->to, l->rows.axial ? fabs(score) : score, v->second);
    bool same = own == v->to && memcmp(mean, mu, bytes) == 0; /* it was its only point before, and is again */
    memcpy(mean, mu, bytes);
    if (!same)
        c->uninstantiated[v->to] = 0;
    move_point(l, worker, i, own, v->to);
    if (same)
        return SAME;
    c->touched[v->to] = 1;
    push_event(l, ~v->to);
    push_event(l, v->to);
    return EVENT;
}

static int carry_out(ast_labelling *l, ast_worker *worker, size_t i, const float *row, bool singleton,
                     const ast_verdict *v) {
    if (v->action == AST_JOIN) {
        if (l->ranks.speculative && singleton) /* its cluster would die, and its scores leave that out */
            return give_up(l);
        remember(l, worker, i, v->to, v->score, v->second);
        return move_point(l, worker, i, l->labels[i], v->to);
    }
    if (l->rows.sparse) /* its own mean, and means are dense */
        row = ast_rows_at(&l->rows, &worker->chunk.rows, i);
    if (v->action == AST_REVIVE)
        return revive(l, worker, i, row, v);
    return v->action == AST_STAY_SINGLETON ? stay_singleton(l, worker, i, row, v) : start_cluster(l, worker, i, row, v);
}

/* ---- A visit ----------------------------------------------------------------------------------------------------- */

/* No float score decides where a cluster without points might win. */
static bool is_decided(ast_labelling *l, ast_worker *worker, size_t i, int32_t slot, float best, float second) {
    const ast_scorer *s = &l->scorer;
    const ast_unseen_bound *safe = &l->events.unseen_bound;
    if (!(best >= s->fit && best - second > s->margin))
        return false;
    return !l->rule.unseen_can_win || best >= safe->all || (safe->each && slot >= 0 && best >= safe->of[slot]) ||
           !l->rule.unseen_can_win(l->rule.data, ast_rows_at(&l->rows, &worker->chunk.rows, i),
                                   (double)best - (double)s->margin);
}

/* Whether the chunk at hand has scores or bounds of the point. */
static bool is_scored(const ast_labelling *l, const ast_chunk *c, size_t i) {
    size_t j = i - c->base;
    return !l->rows.small || c->full || (c->scored_groups[j / AST_BLOCK] >> j % AST_BLOCK / AST_LANES & 1);
}

/* A point so far from every candidate that float scores show it, if the rule has no candidates beside the means. The
 * verdict's scores are upper bounds. A point that is singleton is no candidate for itself; for others, bounds are not
 * enough: that of the own cluster is a lower one. */
static bool is_far(const ast_labelling *l, const ast_chunk *c, size_t i, bool singleton, ast_verdict *v) {
    size_t j = i - c->base;
    float best = c->scores.best[j], other_score = c->scores.second[j], margin = l->scorer.margin;
    bool own = singleton && c->scores.id[j] == l->labels[i];
    if (l->rule.unfit != AST_UNFIT_START || best <= AST_NO_SCORE || !(c->full || (own && c->fast_bound)))
        return false;
    other_score = c->fast_bound ? fmaxf(other_score, c->fast_bound[j]) : other_score;
    double most = (double)(own ? other_score : fmaxf(best, other_score)) + (double)margin;
    *v = (ast_verdict){ast_unfit_action(singleton), AST_NOBODY, most, most};
    return most < l->scorer.fit_threshold;
}

/* The candidates of a close call: the best mean of its table, and the clusters that were born since. false: more than
 * that happened to the list of clusters, or no such call was made. */
static bool recall(ast_labelling *l, ast_worker *worker, size_t i, const float *row, bool singleton, ast_verdict *v) {
    const ast_cluster_list *clusters = &l->clusters;
    const ast_candidate_buffer *known = &worker->chunk.candidates;
    const ast_close_call *call = ast_close_call_of(&worker->chunk, i - worker->chunk.base);
    size_t count = 1, born = l->events.count - known->events_seen;
    if (!call || call->singleton != singleton || l->rule.unseen_bound || !row || born >= RECALLED)
        return false;
    int32_t ids[RECALLED] = {call->slot};
    worker->exact[0] = call->score;
    for (size_t e = known->events_seen; e < l->events.count; e++) {
        int32_t slot = l->events.list[e];
        if (slot < 0 || count == RECALLED)
            return false;
        if (!clusters->alive[slot] || ast_clusters_is_uninstantiated(clusters, slot))
            continue;
        double score = ast_exact_score(row, clusters->means + (size_t)slot * clusters->dimension, clusters->dimension);
        worker->exact[count] = l->rows.axial ? fabs(score) : score;
        ids[count++] = slot;
    }
    ast_candidates candidates = {worker->exact, ids, count, l->labels[i], singleton, l->scorer.fit_threshold, row};
    *v = l->rule.decide(l->rule.data, &candidates);
    v->second = fmax(v->second, call->second);
    if (v->action != AST_JOIN)
        v->score = fmax(v->score, call->second);
    return true;
}

static int visit(ast_labelling *l, ast_worker *worker, size_t i) {
    ast_chunk *c = &worker->chunk;
    int32_t own = l->labels[i];
    bool singleton = ast_clusters_is_singleton(&l->clusters, own);
    size_t j = i - c->base;
    if (!singleton && !is_scored(l, c, i)) /* it was singleton when it was listed; its bounds say that it stays */
        return SAME;
    if (!singleton && is_decided(l, worker, i, c->scores.id[j], c->scores.best[j], c->scores.second[j]))
        return move_point(l, worker, i, own, c->scores.id[j]);
    ast_verdict v;
    const float *row = l->rows.sparse ? NULL : ast_rows_canonical(&l->rows, &c->rows, i);
    if (is_far(l, c, i, singleton, &v))
        return carry_out(l, worker, i, row, singleton, &v);
    if (!ast_reserve(&worker->exact, &worker->exact_capacity, 0, c->table->count + RECALLED, sizeof *worker->exact)) {
        ast_labelling_fail(l);
        return SAME;
    }
    if (recall(l, worker, i, row, singleton, &v))
        return carry_out(l, worker, i, row, singleton, &v);
    if (row)
        ast_exact_scores(row, c->table, worker->exact);
    else
        ast_rows_exact_scores(&l->rows, &c->rows, i, c->table, worker->exact);
    ast_candidates candidates = {
        worker->exact, c->table->ids, c->table->count, own, singleton, l->scorer.fit_threshold, row};
    v = l->rule.decide(l->rule.data, &candidates);
    return carry_out(l, worker, i, row, singleton, &v);
}

bool ast_visit(ast_labelling *l, ast_worker *worker, size_t i) {
    worker->chunk.scores.best[i - worker->chunk.base] = AST_NO_SCORE; /* no float score: by the rule */
    worker->chunk.full = true;
    return visit(l, worker, i) == EVENT;
}

/* ---- Catching up with events ------------------------------------------------------------------------------------- */

/* Points whose proposal is a cluster that died or moved have no score any more. */
static void void_proposals(ast_chunk *c, int32_t slot, size_t first, size_t last) {
    for (size_t j = first - c->base; j < last - c->base; j++)
        if (c->scores.id[j] == slot)
            c->scores.best[j] = AST_NO_SCORE;
}

/* Joins the scores of points first..last against the dirty clusters with those they have. */
static void join_scores(ast_labelling *l, ast_chunk *c, size_t first, size_t last) {
    ast_scores mine = c->scores, other = c->other;
    size_t begin = first - c->base, n = last - first;
    size_t odd = (AST_LANES - begin % AST_LANES) % AST_LANES; /* vectors must not touch the points before */
    for (size_t j = 0; j < odd && j < n; j++) {
        float a = mine.best[begin + j], b = other.best[j];
        float rest = fmaxf(mine.second[begin + j], other.second[j]);
        mine.second[begin + j] = fmaxf(rest, fminf(a, b));
        if (b > a) {
            mine.best[begin + j] = b;
            mine.id[begin + j] = other.id[j];
        }
    }
    if (odd >= n)
        return;
    begin += odd;
    mine = (ast_scores){mine.best + begin, mine.second + begin, mine.id + begin};
    other = (ast_scores){other.best + odd, other.second + odd, other.id + odd};
    l->rows.kernels->merge(mine, other, n - odd);
}

/* The same where some points have bounds instead of scores: a point that may lose is decided by the rule. */
static void join_bounds(ast_labelling *l, ast_chunk *c, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
        float other = c->other.best[i - first], *best = &c->scores.best[i - c->base];
        float *second = &c->scores.second[i - c->base];
        if (l->labels[i] == AST_MISSING)
            continue;
        if (other > *best - l->scorer.margin)
            *best = AST_NO_SCORE;
        else if (other > *second)
            *second = other;
    }
}

/* Compares points first..last with what the events from number `seen` on brought. */
static void rescore_after_events(ast_labelling *l, ast_worker *worker, size_t seen, size_t first, size_t last) {
    const ast_cluster_list *clusters = &l->clusters;
    ast_chunk *c = &worker->chunk;
    ast_mean_table_clear(&worker->dirty, clusters->dimension, l->rows.axial);
    for (size_t e = seen; e < l->events.count; e++) {
        int32_t event = l->events.list[e], slot = event < 0 ? ~event : event;
        if (event < 0)
            void_proposals(c, slot, first, last);
        else if (clusters->alive[slot] && !ast_clusters_is_uninstantiated(clusters, slot) &&
                 !ast_mean_table_append(&worker->dirty, clusters->means + (size_t)slot * clusters->dimension, slot))
            ast_labelling_fail(l);
    }
    ast_forget_gaps(&l->scorer, first, last);
    if (worker->dirty.count == 0 || first >= last)
        return;
    ast_score_against(&l->scorer, c, &worker->dirty, first, last - first);
    if (c->full)
        join_scores(l, c, first, last);
    else
        join_bounds(l, c, first, last);
}

/* Brings points first..last of the chunk, scored before event number `seen`, up to date. Small points that have no
 * scores in this pass get them now. */
static void catch_up(ast_labelling *l, ast_worker *worker, size_t seen, size_t first, size_t last) {
    bool ready = ast_sync_table(l, worker);
    if (l->first && worker->chunk.added_early && !worker->chunk.full && ready && l->schedule->catches_up &&
        ast_small_catch_up(&l->scorer, &worker->chunk, l->events.list + seen, l->events.count - seen, first))
        return;
    if (l->rows.small && !worker->chunk.full && ready)
        ast_score_chunk(&l->scorer, &worker->chunk);
    else
        rescore_after_events(l, worker, seen, first, last);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < last; b++)
        l->scorer.bounds.blocks[b].attention = true;
}

/* ---- A block ----------------------------------------------------------------------------------------------------- */

/* The points of a block that its scores do not decide: one bit each. */
static void find_undecided(ast_labelling *l, const ast_chunk *c, size_t b, uint64_t bits[AST_BLOCK / 64]) {
    size_t first = b * AST_BLOCK - c->base;
    ast_scores scores = {c->scores.best + first, c->scores.second + first, c->scores.id + first};
    uint32_t groups = l->rows.small && !c->full ? c->scored_groups[first / AST_BLOCK] : AST_ALL_GROUPS;
    bool labelled =
        !c->unlabelled || c->added_early || l->rows.axial; /* axial: a point gets its sign when it is visited */
    uint32_t mask = c->unlabelled && !c->added_early ? 0 : l->scorer.bounds.blocks[b].mask;
    float fit = ast_deciding_score_for_labels(&l->scorer, &l->events.unseen_bound, mask);
    l->rows.kernels->mark_undecided(scores, l->labels + b * AST_BLOCK, groups, fit, l->scorer.margin, labelled, bits);
}

static void find_singleton_members(const ast_labelling *l, size_t b, uint64_t bits[AST_BLOCK / 64]) {
    for (size_t j = 0; j < AST_BLOCK; j++) {
        int32_t label = l->labels[b * AST_BLOCK + j];
        if (label >= 0 && l->clusters.members[label] == 1)
            bits[j / 64] |= (uint64_t)1 << (j & 63);
    }
}

static bool may_have_singletons(const ast_labelling *l, size_t b) {
    uint32_t mask = l->scorer.bounds.blocks[b].mask;
    return l->clusters.singleton_bits && !l->first && (mask == 0 || (mask & l->clusters.singleton_bits));
}

/* The points of a block, from `first` on, that need a visit: one bit each. */
static void find_points(ast_labelling *l, const ast_chunk *c, size_t b, size_t first, uint64_t bits[AST_BLOCK / 64]) {
    size_t base = b * AST_BLOCK;
    if (l->scorer.bounds.blocks[b].attention)
        find_undecided(l, c, b, bits);
    else
        memset(bits, 0, AST_BLOCK / 8);
    if (may_have_singletons(l, b))
        find_singleton_members(l, b, bits);
    for (size_t w = 0; w < AST_BLOCK / 64 && base + w * 64 < first; w++) /* those before are done */
        bits[w] &= first - base >= (w + 1) * 64 ? 0 : ~(uint64_t)0 << (first - base - w * 64);
}

static size_t next_point(uint64_t bits[AST_BLOCK / 64]) {
    for (size_t w = 0; w < AST_BLOCK / 64; w++)
        if (bits[w]) {
            size_t j = w * 64 + (size_t)__builtin_ctzll(bits[w]);
            bits[w] &= bits[w] - 1;
            return j;
        }
    return AST_BLOCK;
}

/* Returns the point after the first event if `stop`, otherwise the end of the block. */
static size_t commit_block(ast_labelling *l, ast_worker *worker, size_t b, size_t first, size_t end, bool stop) {
    uint64_t bits[AST_BLOCK / 64];
    size_t base = b * AST_BLOCK, j;
    find_points(l, &worker->chunk, b, first, bits);
    while ((j = next_point(bits)) < AST_BLOCK && !ast_labelling_stopped(l, worker->chunk.worker) &&
           !atomic_load(&l->ranks.conflict)) {
        size_t i = base + j, seen = l->events.count;
        int result = visit(l, worker, i);
        if (result == SAME)
            continue;
        if (result == EVENT && stop)
            return i + 1;
        if (result == EVENT)
            catch_up(l, worker, seen, i + 1, end);
        find_points(l, &worker->chunk, b, i + 1, bits);
    }
    return base + AST_BLOCK;
}

void ast_rescore_changed(ast_labelling *l, ast_worker *worker, size_t chunk, size_t seen) {
    size_t base = chunk * l->rows.chunk;
    if (seen < l->events.count) {
        if (worker->chunk.added_early && !worker->chunk.labels_saved)
            ast_chunk_save_labels(&l->scorer, &worker->chunk);
        catch_up(l, worker, seen, base, base + l->rows.chunk);
    }
    l->scorer.bounds.chunk_seen[chunk] = l->events.count; /* those of its own meet only the points behind them */
}

size_t ast_commit_rescored(ast_labelling *l, ast_worker *worker, size_t chunk, size_t first, bool stop, size_t seen) {
    size_t end = (chunk + 1) * l->rows.chunk;
    for (size_t b = first / AST_BLOCK; b < end / AST_BLOCK; b++) {
        if (!l->scorer.bounds.blocks[b].attention && !may_have_singletons(l, b))
            continue;
        size_t next = commit_block(l, worker, b, first, end, stop);
        if (next < (b + 1) * AST_BLOCK || (stop && l->events.count > seen))
            return next;
    }
    return end;
}

size_t ast_commit(ast_labelling *l, ast_worker *worker, size_t chunk, size_t first, bool stop) {
    /* Points that were not scored in this pass know of none of its events. */
    bool scored = worker->chunk.full || worker->chunk.added_early;
    size_t seen = scored && worker->pass == l->pass ? worker->seen : 0;
    ast_rescore_changed(l, worker, chunk, seen);
    return ast_commit_rescored(l, worker, chunk, first, stop, seen);
}
