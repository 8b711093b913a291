/* SPDX-License-Identifier: MIT
 *
 * The sequential rule, in turn. Most blocks of most chunks are decided by their scores and pass with one look; here are
 * the points that are not: those that change, those that no float score decides, those that fit nothing, and those that
 * are alone in their cluster. */
#include "labelling.h"

#include "memory.h"
#include "sparse_labelling.h"
#include "table.h"
#include "windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Why the rest of a block must be looked at again. */
enum { SAME = 0, EVENT = 1, LONELY = 2 };

void ast_labelling_fail(ast_labelling *l) {
    atomic_store(&l->failed, true);
}

/* Events: the slot of a cluster that has a new mean, or ~slot of one whose old scores are void. */
bool ast_labelling_event(ast_labelling *l, int32_t event) {
    if (l->event_count == l->event_capacity) {
        size_t capacity = l->event_capacity ? 2 * l->event_capacity : 64;
        int32_t *events = ast_grow(l->events, l->event_count, capacity, sizeof *events);
        if (!events)
            return false;
        l->events = events;
        l->event_capacity = capacity;
    }
    l->events[l->event_count++] = event;
    return true;
}

static void push_event(ast_labelling *l, int32_t event) {
    if (!ast_labelling_event(l, event))
        ast_labelling_fail(l);
}

static bool reserve_exact(ast_worker *worker, size_t count) {
    if (count <= worker->exact_capacity)
        return true;
    double *exact = ast_allocate(2 * count, sizeof *exact);
    if (!exact)
        return false;
    free(worker->exact);
    worker->exact = exact;
    worker->exact_capacity = 2 * count;
    return true;
}

/* Births stand at the end of the order, and so of the table; for anything else it is filled anew. */
static bool sync_dense(ast_labelling *l, ast_worker *worker, size_t seen, bool mine) {
    bool append = mine || l->table.count == 0, ready = true;
    for (size_t e = seen; e < l->event_count; e++)
        append = append && l->events[e] >= 0;
    if (!mine || !append)
        ast_table_clear(&worker->table, l->cloud.dimension, l->axial);
    const float *means = l->clusters.means;
    size_t dimension = l->cloud.dimension, live = l->clusters.live;
    for (size_t e = seen; append && ready && e < l->event_count; e++)
        ready = ast_table_append(&worker->table, means + (size_t)l->events[e] * dimension, l->events[e]);
    for (size_t k = 0; !append && ready && k < live; k++)
        ready =
            ast_is_unseen(l, l->clusters.order[k]) ||
            ast_table_append(&worker->table, means + (size_t)l->clusters.order[k] * dimension, l->clusters.order[k]);
    return ready;
}

bool ast_sync_table(ast_labelling *l, ast_worker *worker) {
    bool mine = worker->pass == l->pass && worker->seen > 0;
    size_t seen = mine ? worker->seen : 0;
    if (seen == l->event_count)
        return true;
    bool ready = l->cloud.sparse ? ast_sparse_sync(l, worker, seen, mine) : sync_dense(l, worker, seen, mine);
    worker->pass = l->pass;
    worker->seen = l->event_count;
    if (l->tracks)
        l->safe_now = ast_tracks_safe(l->tracks, &l->clusters);
    worker->safe = l->safe_now;
    if (!ready)
        ast_labelling_fail(l);
    return ready;
}

/* The scores of a point by definition. Its own cluster is no candidate if it is alone there. */
typedef struct verdict {
    int32_t to; /* AST_NOBODY: no candidate */
    double score, second;
    int32_t revived; /* `to` where it had no points, -1 otherwise */
} verdict;

/* row: the upright one; NULL: the point is sparse. */
static verdict judge(ast_labelling *l, ast_worker *worker, size_t i, const float *row, int32_t barred) {
    verdict v = {AST_NOBODY, -INFINITY, -INFINITY, -1};
    const ast_table *table = ast_current_table(l, worker);
    if (!reserve_exact(worker, table->count + AST_PANEL)) {
        ast_labelling_fail(l);
        return v;
    }
    if (row)
        ast_exact_scores(row, table, worker->exact);
    else
        ast_cloud_exact_scores(&l->cloud, i, table, NULL, worker->exact);
    for (size_t k = 0; k < table->count; k++) {
        double score = worker->exact[k];
        if (table->ids[k] == barred || table->ids[k] == AST_NOBODY)
            continue;
        if (score > v.score) {
            v.second = v.score;
            v.score = score;
            v.to = table->ids[k];
        } else if (score > v.second) {
            v.second = score;
        }
    }
    return v;
}

/* Tracked clusters without points are candidates too; equal scores go to the lowest index, that is to the older id. */
static void judge_unseen(ast_labelling *l, const float *row, int32_t own, verdict *v) {
    ast_tracks *t = l->tracks;
    double least = v->score > l->limit ? v->score : l->limit;
    for (size_t k = 0; t->candidates && k < t->count; k++) {
        if (!t->unseen[k] && (int32_t)k != own)
            continue;
        if (!ast_tracks_may_win(t, k, row, least) || ((int32_t)k != own && !ast_tracks_within(t, k, row)))
            continue;
        double score = ast_tracks_score(t, k, row);
        if (score < least)
            continue;
        bool older = v->to == AST_NOBODY || !ast_is_tracked(l, v->to) || (int32_t)k < v->to;
        if (score > v->score || (score == v->score && older)) {
            v->second = v->revived >= 0 ? v->second : v->score; /* of those with points */
            v->score = score;
            v->to = v->revived = (int32_t)k;
            least = score > least ? score : least;
        }
    }
}

static void remember(ast_labelling *l, ast_worker *worker, size_t i, int32_t to, double best, double second) {
    size_t j = i - worker->base;
    worker->scores.id[j] = to;
    worker->scores.best[j] = (float)(best > AST_NO_SCORE ? best : AST_NO_SCORE);
    worker->scores.second[j] = (float)(second > AST_NO_SCORE ? second : AST_NO_SCORE);
    ast_forget_gaps(l, i, i + 1);
}

/* Whether the product of a row and a mean is negative by definition. A fast one tells where it is not near zero. */
static bool is_opposite(const ast_labelling *l, const float *row, const float *mean) {
    size_t dimension = l->cloud.dimension;
    float fast = l->cloud.small ? 0 : l->kernels->dot(row, mean, dimension);
    return fabsf(fast) > l->margin ? fast < 0 : ast_exact_score(row, mean, dimension) < 0;
}

/* Axial: gives the point the sign of its product with the mean. Returns the sign it had. */
static bool turn(ast_labelling *l, ast_worker *worker, size_t i, int32_t slot) {
    size_t dimension = l->cloud.dimension;
    const float *row = ast_upright_row(l, worker, i), *mean = l->clusters.means + (size_t)slot * dimension;
    bool was = ast_is_turned(l->signs, i), now = is_opposite(l, row, mean);
    now ^= row == worker->upright; /* as the row is given */
    if (was != now)
        l->signs[i / AST_LANES] ^= (uint8_t)(1u << i % AST_LANES);
    return was;
}

/* The point leaves cluster `from` for `to`, or stays and may change its sign. In the first pass nobody leaves anything,
 * and members are counted later. */
static int move_point(ast_labelling *l, ast_worker *worker, size_t i, int32_t from, int32_t to) {
    bool was_turned = l->axial && turn(l, worker, i, to), turned = l->axial && ast_is_turned(l->signs, i);
    if (from == to && was_turned == turned)
        return SAME;
    int result = SAME;
    int64_t *members = l->clusters.members;
    l->labels[i] = to;
    if (l->blocks[i / AST_BLOCK].mask)
        l->blocks[i / AST_BLOCK].mask |= ast_bit_of(to);
    if (l->first)
        return SAME;
    worker->changes[worker->change_count++] = (ast_change){(uint32_t)i, from, to, was_turned, turned};
    worker->changed++;
    if (from == to || l->trial) /* whose trial it is counts members by what it changed */
        return SAME;
    members[to]++;
    members[from]--;
    if (members[to] == 1)
        l->lone |= ast_bit_of(to);
    if (members[from] == 1) {
        l->lone |= ast_bit_of(from);
        result = LONELY;
    }
    if (members[from] == 0 && !l->fixed) {
        if (ast_is_tracked(l, from))
            l->tracks->unseen[from] = 1;
        else
            ast_clusters_kill(&l->clusters, from);
        push_event(l, ~from);
        result = EVENT;
    }
    return result;
}

/* What a trial cannot do: the others would have to know. */
static int give_up(ast_labelling *l) {
    atomic_store(&l->trouble, true);
    return SAME;
}

/* A point that fits nothing stays alone, and its mean becomes the point itself ... */
static int stay_alone(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const verdict *v) {
    int32_t own = l->labels[i];
    float *mean = l->clusters.means + (size_t)own * l->cloud.dimension;
    size_t bytes = l->cloud.dimension * sizeof *mean;
    bool same = memcmp(mean, row, bytes) == 0;
    if (l->trial && !same)
        return give_up(l);
    remember(l, worker, i, own, 1, v->score);
    memcpy(mean, row, bytes);
    move_point(l, worker, i, own, own); /* axial: on the mean's side now */
    if (same)
        return SAME;
    l->clusters.touched[own] = 1;
    l->clusters.founder[own] = (uint32_t)(l->offset + i);
    push_event(l, ~own);
    push_event(l, own);
    return EVENT;
}

/* ... or founds a cluster. */
static int found_cluster(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const verdict *v) {
    if (l->trial)
        return give_up(l);
    int32_t born = ast_windows_full(l) ? -1 : ast_clusters_add(&l->clusters, row, (uint32_t)(l->offset + i));
    if (born < 0) {
        ast_labelling_fail(l);
        return SAME;
    }
    push_event(l, born);
    remember(l, worker, i, born, 1, v->score);
    move_point(l, worker, i, l->labels[i], born);
    return EVENT;
}

/* A point brings a tracked cluster back: its mean lies between the point and where it was. */
static int revive(ast_labelling *l, ast_worker *worker, size_t i, const float *row, const verdict *v) {
    float mu[AST_MAX_DIMENSION], *mean = l->clusters.means + (size_t)v->to * l->cloud.dimension;
    size_t bytes = l->cloud.dimension * sizeof *mean;
    int32_t own = l->labels[i];
    ast_tracks_revive(l->tracks, (size_t)v->to, row, mu);
    double score = ast_exact_score(row, mu, l->cloud.dimension);
    remember(l, worker, i, v->to, l->axial ? fabs(score) : score, v->second);
    bool same = own == v->to && memcmp(mean, mu, bytes) == 0; /* it was its only point before, and is again */
    memcpy(mean, mu, bytes);
    if (!same)
        l->tracks->unseen[v->to] = 0;
    move_point(l, worker, i, own, v->to);
    if (same)
        return SAME;
    l->clusters.touched[v->to] = 1;
    push_event(l, ~v->to);
    push_event(l, v->to);
    return EVENT;
}

/* No float score decides where a tracked cluster without points might win. */
static bool decided(ast_labelling *l, ast_worker *worker, size_t i, float best, float second) {
    if (!(best >= l->fit && best - second > l->margin))
        return false;
    return !l->tracks || best >= l->safe_now ||
           !ast_tracks_threaten(l->tracks, ast_cloud_row(&l->cloud, i, worker->row), (double)best - (double)l->margin);
}

/* Whether the chunk at hand has scores or bounds of the point. */
static bool is_scored(const ast_labelling *l, const ast_worker *worker, size_t i) {
    size_t j = i - worker->base;
    return !l->cloud.small || worker->full || (worker->fresh[j / AST_BLOCK] >> j % AST_BLOCK / AST_LANES & 1);
}

/* The rule of the paper for one point (equation for z_i, and the removal of a cluster before its last point is seen).
 */
static int visit(ast_labelling *l, ast_worker *worker, size_t i) {
    int32_t own = l->labels[i];
    bool alone = !l->fixed && own >= 0 && l->clusters.members[own] == 1;
    size_t j = i - worker->base;
    if (!alone && !is_scored(l, worker, i)) /* it was alone when it was listed; its bounds say that it stays */
        return SAME;
    if (!alone && decided(l, worker, i, worker->scores.best[j], worker->scores.second[j]))
        return move_point(l, worker, i, own, worker->scores.id[j]);
    const float *row = l->cloud.sparse ? NULL : ast_upright_row(l, worker, i);
    verdict v = judge(l, worker, i, row, alone ? own : AST_NOBODY);
    if (atomic_load(&l->failed))
        return SAME;
    bool tracked = ast_is_tracked(l, own);
    if (l->tracks)
        judge_unseen(l, row, alone && tracked ? own : AST_NOBODY, &v);
    if (v.revived >= 0)
        return revive(l, worker, i, row, &v);
    if (v.to != AST_NOBODY && v.score >= l->limit) {
        if (l->trial && alone) /* its cluster would die, and its scores leave that out */
            return give_up(l);
        remember(l, worker, i, v.to, v.score, v.second);
        return move_point(l, worker, i, own, v.to);
    }
    if (l->cloud.sparse) /* its own mean, and means are dense */
        row = ast_cloud_row(&l->cloud, i, worker->row);
    return alone && !tracked ? stay_alone(l, worker, i, row, &v) : found_cluster(l, worker, i, row, &v);
}

bool ast_visit(ast_labelling *l, ast_worker *worker, size_t i) {
    worker->scores.best[i - worker->base] = AST_NO_SCORE; /* no float score: by the definition */
    worker->full = true;
    return visit(l, worker, i) == EVENT;
}

/* Points whose proposal is a cluster that died or moved have no score any more. */
static void void_proposals(ast_worker *worker, int32_t slot, size_t first, size_t last) {
    for (size_t j = first - worker->base; j < last - worker->base; j++)
        if (worker->scores.id[j] == slot)
            worker->scores.best[j] = AST_NO_SCORE;
}

/* Joins the scores of points first..last against the dirty clusters with those they have. */
static void join_scores(ast_labelling *l, ast_worker *worker, size_t first, size_t last) {
    ast_scores mine = worker->scores, other = worker->other;
    size_t begin = first - worker->base, n = last - first;
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
    l->kernels->merge(mine, other, n - odd);
}

/* The same where some points have bounds instead of scores: who may lose is looked at by definition. */
static void join_bounds(ast_labelling *l, const ast_worker *worker, size_t first, size_t last) {
    for (size_t i = first; i < last; i++) {
        float other = worker->other.best[i - first], *best = &worker->scores.best[i - worker->base];
        float *second = &worker->scores.second[i - worker->base];
        if (l->labels[i] == AST_MISSING)
            continue;
        if (other > *best - l->margin)
            *best = AST_NO_SCORE;
        else if (other > *second)
            *second = other;
    }
}

/* Compares points first..last with what the events from number `seen` on brought. */
static void meet_events(ast_labelling *l, ast_worker *worker, size_t seen, size_t first, size_t last) {
    ast_table_clear(&worker->dirty, l->cloud.dimension, l->axial);
    for (size_t e = seen; e < l->event_count; e++) {
        int32_t slot = l->events[e] < 0 ? ~l->events[e] : l->events[e];
        if (l->events[e] < 0)
            void_proposals(worker, slot, first, last);
        else if (l->clusters.alive[slot] && !ast_is_unseen(l, slot) &&
                 !ast_table_append(&worker->dirty, l->clusters.means + (size_t)slot * l->cloud.dimension, slot))
            ast_labelling_fail(l);
    }
    ast_forget_gaps(l, first, last);
    if (worker->dirty.count == 0 || first >= last)
        return;
    ast_score_others(l, worker, &worker->dirty, first, last - first);
    if (worker->full)
        join_scores(l, worker, first, last);
    else
        join_bounds(l, worker, first, last);
}

/* Brings points first..last of the chunk, scored before event number `seen`, up to date. Small points that have no
 * scores in this pass get them now. */
static void catch_up(ast_labelling *l, ast_worker *worker, size_t seen, size_t first, size_t last) {
    bool ready = ast_sync_table(l, worker);
    if (l->cloud.small && !worker->full && ready)
        ast_score_chunk(l, worker);
    else
        meet_events(l, worker, seen, first, last);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < last; b++)
        l->blocks[b].attention = true;
}

/* The points of a block that its scores do not decide: one bit each. */
static void find_undecided(ast_labelling *l, ast_worker *worker, size_t b, uint64_t bits[AST_BLOCK / 64]) {
    size_t first = b * AST_BLOCK - worker->base;
    ast_scores scores = {worker->scores.best + first, worker->scores.second + first, worker->scores.id + first};
    float fit = l->safe_now > l->fit ? l->safe_now : l->fit;
    uint32_t groups = l->cloud.small && !worker->full ? worker->fresh[first / AST_BLOCK] : AST_ALL_GROUPS;
    bool labelled = !l->first || worker->added || l->axial; /* axial: a point gets its sign when it is visited */
    l->kernels->screen(scores, l->labels + b * AST_BLOCK, groups, fit, l->margin, labelled, bits);
}

static void find_lonely(const ast_labelling *l, size_t b, uint64_t bits[AST_BLOCK / 64]) {
    for (size_t j = 0; j < AST_BLOCK; j++) {
        int32_t label = l->labels[b * AST_BLOCK + j];
        if (label >= 0 && l->clusters.members[label] == 1)
            bits[j / 64] |= (uint64_t)1 << (j & 63);
    }
}

static bool may_be_lonely(const ast_labelling *l, size_t b) {
    uint32_t mask = l->blocks[b].mask;
    return !l->fixed && !l->first && l->lone && (mask == 0 || (mask & l->lone));
}

/* The points of a block, from `first` on, that need a visit: one bit each. */
static void find_points(ast_labelling *l, ast_worker *worker, size_t b, size_t first, uint64_t bits[AST_BLOCK / 64]) {
    size_t base = b * AST_BLOCK;
    if (l->blocks[b].attention)
        find_undecided(l, worker, b, bits);
    else
        memset(bits, 0, AST_BLOCK / 8);
    if (may_be_lonely(l, b))
        find_lonely(l, b, bits);
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
    find_points(l, worker, b, first, bits);
    while ((j = next_point(bits)) < AST_BLOCK && !atomic_load(&l->failed) && !atomic_load(&l->trouble)) {
        size_t i = base + j, seen = l->event_count;
        int result = visit(l, worker, i);
        if (result == SAME)
            continue;
        if (result == EVENT && stop)
            return i + 1;
        if (result == EVENT)
            catch_up(l, worker, seen, i + 1, end);
        find_points(l, worker, b, i + 1, bits);
    }
    return base + AST_BLOCK;
}

void ast_meet(ast_labelling *l, ast_worker *worker, size_t chunk, size_t seen) {
    size_t base = chunk * l->chunk;
    if (seen < l->event_count) {
        if (worker->added && !worker->noted)
            ast_note_hasty(l, worker);
        catch_up(l, worker, seen, base, base + l->chunk);
    }
    l->chunk_seen[chunk] = l->event_count; /* those of its own meet only the points behind them */
}

size_t ast_commit_met(ast_labelling *l, ast_worker *worker, size_t chunk, size_t first, bool stop, size_t seen) {
    size_t end = (chunk + 1) * l->chunk;
    for (size_t b = first / AST_BLOCK; b < end / AST_BLOCK; b++) {
        if (!l->blocks[b].attention && !may_be_lonely(l, b))
            continue;
        size_t next = commit_block(l, worker, b, first, end, stop);
        if (next < (b + 1) * AST_BLOCK || (stop && l->event_count > seen))
            return next;
    }
    return end;
}

size_t ast_commit(ast_labelling *l, ast_worker *worker, size_t chunk, size_t first, bool stop) {
    /* Points that were not scored in this pass know of none of its events. */
    bool scored = worker->full || worker->added;
    size_t seen = scored && worker->pass == l->pass ? worker->seen : 0;
    ast_meet(l, worker, chunk, seen);
    return ast_commit_met(l, worker, chunk, first, stop, seen);
}
