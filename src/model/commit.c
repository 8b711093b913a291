/* SPDX-License-Identifier: MIT
 *
 * Commits a chunk, after all chunks before it: brings its scores up to date with the events since they were computed,
 * then visits the points that the scores leave open (visit.c).
 *
 * The scores decide most blocks of most chunks with one test per block. The commit visits the other points: points that
 * change cluster, that no float score decides, that fit no cluster, or that are the only member of their cluster. */
#include "inside.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool ast_push_event(ast_labelling *l, int32_t event) {
    ast_events *e = &l->events;
    assert((size_t)(event < 0 ? ~event : event) < l->clusters.slots);
    if (!ast_reserve(&e->list, &e->capacity, e->count, e->count + 1, sizeof *e->list))
        return false;
    e->list[e->count++] = event;
    return true;
}

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

void ast_begin_chunk(ast_labelling *l, ast_worker *worker, size_t chunk) {
    size_t seen = ast_events_seen(l, worker);
    assert(chunk < l->rows.chunks);
    ast_chunk_begin(&l->scorer, &worker->chunk, chunk);
    worker->chunk.table = seen ? &worker->table : &l->scorer.table;
    worker->chunk.unseen_bound = seen ? worker->unseen_bound : l->scorer.unseen_bound;
    worker->chunk.unlabelled = l->first;
    worker->chunk.candidates.events_seen = seen;
}

void ast_score_needed_points(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    ast_chunk_score_needed(&l->scorer, &worker->chunk, &worker->bins);
    if (l->rows.loading.due && !ast_rowset_is_finite(&l->rows))
        ast_labelling_fail(l);
}

void ast_score_every_point(ast_labelling *l, ast_worker *worker, size_t chunk) {
    ast_begin_chunk(l, worker, chunk);
    ast_chunk_score_all(&l->scorer, &worker->chunk);
}

/* ---- Catching up with events ------------------------------------------------------------------------------------- */

/* Marks the scores of the points whose best cluster was `slot` as invalid: it died or has another mean. */
static void invalidate_scores(ast_chunk *c, int32_t slot, size_t first, size_t last) {
    for (size_t j = first - c->base; j < last - c->base; j++)
        if (c->scores.id[j] == slot)
            c->scores.best[j] = AST_NO_SCORE;
}

/* Merges the scores of points first..last: those against the changed clusters, in c->other, with those that the points
 * have. */
static void join_scores(ast_labelling *l, ast_chunk *c, size_t first, size_t last) {
    ast_scores mine = c->scores, other = c->other;
    size_t begin = first - c->base, n = last - first;
    size_t odd = (AST_LANES - begin % AST_LANES) % AST_LANES; /* vectors must not touch the points before `first` */
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

/* The same if points have bounds instead of scores. A point that a changed cluster may win gets no score, so that it is
 * visited. */
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

/* Compares points first..last with the clusters that the events from number `seen` on changed. */
static void rescore_after_events(ast_labelling *l, ast_worker *worker, size_t seen, size_t first, size_t last) {
    const ast_cluster_list *clusters = &l->clusters;
    ast_chunk *c = &worker->chunk;
    ast_mean_table_clear(&worker->changed_means, clusters->dimension, l->rows.axial);
    for (size_t e = seen; e < l->events.count; e++) {
        int32_t event = l->events.list[e];
        if (event < 0)
            invalidate_scores(c, ~event, first, last);
        else if (clusters->alive[event] && !ast_clusters_is_uninstantiated(clusters, event) &&
                 !ast_mean_table_append(&worker->changed_means, ast_clusters_mean(clusters, event), event))
            ast_labelling_fail(l);
    }
    ast_forget_gaps(&l->scorer, first, last);
    if (worker->changed_means.count == 0 || first >= last)
        return;
    ast_chunk_score_against(&l->scorer, c, &worker->changed_means, first, last - first);
    (c->full ? join_scores : join_bounds)(l, c, first, last);
}

/* Brings points first..last of the chunk up to date with the events from number `seen` on. Small points that were
 * labelled early: the blocks that the events may concern are scored again. Other small points without scores in this
 * pass: all are scored. Otherwise the points are compared with the changed clusters alone. */
static void catch_up(ast_labelling *l, ast_worker *worker, size_t seen, size_t first, size_t last) {
    bool ready = ast_sync_table(l, worker);
    if (l->first && worker->chunk.added_early && !worker->chunk.full && ready && ast_is_resident(l) &&
        ast_small_rescore_changed(&l->scorer, &worker->chunk, l->events.list + seen, l->events.count - seen, first))
        return;
    if (l->rows.small && !worker->chunk.full && ready)
        ast_chunk_score_all(&l->scorer, &worker->chunk);
    else
        rescore_after_events(l, worker, seen, first, last);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < last; b++)
        l->scorer.bounds.blocks[b].attention = true;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The points of block b that its scores do not decide: one bit each. */
static void find_undecided(ast_labelling *l, const ast_chunk *c, size_t b, uint64_t bits[AST_BLOCK / 64]) {
    size_t first = b * AST_BLOCK - c->base;
    ast_scores scores = {c->scores.best + first, c->scores.second + first, c->scores.id + first};
    uint32_t groups = l->rows.small && !c->full ? c->scored_groups[first / AST_BLOCK] : AST_ALL_GROUPS;
    bool have_labels = !c->unlabelled || c->added_early;
    uint32_t mask = have_labels ? l->scorer.bounds.blocks[b].mask : 0;
    float fit = ast_deciding_score_for_labels(&l->scorer, &l->events.unseen_bound, mask);
    l->rows.kernels->mark_undecided(scores, l->labels + b * AST_BLOCK, groups, fit, l->scorer.margin,
                                    have_labels || l->rows.axial,
                                    bits); /* axial: a point gets its sign when it is visited */
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

/* The points of block b, from `first` on, that need a visit: one bit each. */
static void find_points(ast_labelling *l, const ast_chunk *c, size_t b, size_t first, uint64_t bits[AST_BLOCK / 64]) {
    size_t base = b * AST_BLOCK;
    if (l->scorer.bounds.blocks[b].attention)
        find_undecided(l, c, b, bits);
    else
        memset(bits, 0, AST_BLOCK / 8);
    if (may_have_singletons(l, b))
        find_singleton_members(l, b, bits);
    for (size_t w = 0; w < AST_BLOCK / 64 && base + w * 64 < first; w++)
        bits[w] &= first - base >= (w + 1) * 64 ? 0 : ~(uint64_t)0 << (first - base - w * 64);
}

/* Removes the lowest bit that is set and returns its number; AST_BLOCK if there is none. */
static size_t next_point(uint64_t bits[AST_BLOCK / 64]) {
    for (size_t w = 0; w < AST_BLOCK / 64; w++)
        if (bits[w]) {
            size_t j = w * 64 + (size_t)__builtin_ctzll(bits[w]);
            bits[w] &= bits[w] - 1;
            return j;
        }
    return AST_BLOCK;
}

/* Visits the points of block b. After an event the rest of the chunk, up to point `end`, is brought up to date.
 * Returns the end of the block; with `stop` the point after the first event, if there is one. */
static size_t commit_block(ast_labelling *l, ast_worker *worker, size_t b, size_t first, size_t end, bool stop) {
    uint64_t bits[AST_BLOCK / 64];
    size_t base = b * AST_BLOCK, j;
    find_points(l, &worker->chunk, b, first, bits);
    while ((j = next_point(bits)) < AST_BLOCK && !ast_labelling_stopped(l, worker->chunk.worker) &&
           !atomic_load(&l->ranks.conflict)) {
        size_t i = base + j, seen = l->events.count;
        ast_visit_result result = ast_visit(l, worker, i);
        if (result == AST_NO_EVENT)
            continue;
        if (result == AST_EVENT && stop)
            return i + 1;
        if (result == AST_EVENT)
            catch_up(l, worker, seen, i + 1, end);
        find_points(l, &worker->chunk, b, i + 1, bits);
    }
    return base + AST_BLOCK;
}

/* ---- A chunk ----------------------------------------------------------------------------------------------------- */

void ast_rescore_changed(ast_labelling *l, ast_worker *worker, size_t chunk, size_t seen) {
    size_t base = chunk * l->rows.chunk;
    assert(seen <= l->events.count);
    if (seen < l->events.count) {
        if (worker->chunk.added_early && !worker->chunk.labels_saved)
            ast_chunk_save_labels(&l->scorer, &worker->chunk);
        catch_up(l, worker, seen, base, base + l->rows.chunk);
    }
    l->scorer.bounds.chunk_seen[chunk] = l->events.count; /* later events of this chunk concern only later points */
}

size_t ast_visit_undecided(ast_labelling *l, ast_worker *worker, size_t chunk, size_t first, bool stop) {
    size_t end = (chunk + 1) * l->rows.chunk, events = l->events.count;
    assert(first >= chunk * l->rows.chunk && first <= end && worker->chunk.base == chunk * l->rows.chunk);
    for (size_t b = first / AST_BLOCK; b < end / AST_BLOCK; b++) {
        if (!l->scorer.bounds.blocks[b].attention && !may_have_singletons(l, b))
            continue;
        size_t next = commit_block(l, worker, b, first, end, stop);
        if (stop && l->events.count > events)
            return next;
    }
    return end;
}

size_t ast_commit(ast_labelling *l, ast_worker *worker, size_t chunk, size_t first, bool stop) {
    bool scored = worker->chunk.full || worker->chunk.added_early; /* otherwise bounds are older than every event */
    ast_rescore_changed(l, worker, chunk, scored ? ast_events_seen(l, worker) : 0);
    return ast_visit_undecided(l, worker, chunk, first, stop);
}
