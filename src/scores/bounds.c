/* SPDX-License-Identifier: MIT
 *
 * Between two passes: the moves of the means, and how they change the bounds.
 *
 * Large points: the bound of all other scores increases by the largest move of all means, so one mean that moves far
 * would invalidate the bounds of all points. So the clusters are split. Every point has a separate bound for the *fast*
 * clusters; if this bound fails, the point is compared with the fast means only (fast_table). Clusters that were born
 * or had their mean reset are fast, since no bound covers them. Small points have no such split: scoring them again is
 * as cheap. */
#include "small_large.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SAMPLE 1024
#define MOST_FAST 256
#define ROW_COST 16    /* reading a row costs as much as scoring it against this many means (measured at D = 300) */
#define LOOKED_AT 0.25 /* least share of points that are compared with the fast clusters in a pass */
#define CLEAR_GAIN 0.8 /* the clusters are split up to this cost, relative to that without a split */
#define WORTH_IT 0.01  /* in full passes: for a smaller gain the clusters are not split again */

/* The clusters after the update, and the events of the pass before it. */
typedef struct update {
    ast_scorer *s;
    const ast_mean_list *c;
    const int32_t *events; /* (event_count) */
    size_t event_count;
    float unseen_bound; /* from this score on no uninstantiated cluster can win */
} update;

static void add_move(ast_largest_moves *gain, int32_t slot, float move) {
    if (move > gain->most[0]) {
        gain->most[1] = gain->most[0];
        gain->most[0] = move;
        gain->fastest = slot;
    } else if (move > gain->most[1]) {
        gain->most[1] = move;
    }
}

static void measure_moves(const update *u) {
    u->s->moves.all = u->s->moves.quick = u->s->moves.slow = (ast_largest_moves){.fastest = -1};
    for (size_t k = 0; k < u->c->live; k++) {
        int32_t slot = u->c->order[k];
        if (ast_is_uninstantiated(u->c, slot))
            continue;
        assert(slot >= 0 && (size_t)slot < u->c->slots && u->c->moves[slot] >= 0);
        add_move(&u->s->moves.all, slot, u->c->moves[slot]);
        if (!u->s->rows->small)
            add_move(u->s->moves.fast[slot] ? &u->s->moves.quick : &u->s->moves.slow, slot, u->c->moves[slot]);
    }
}

/* Sorts the clusters that moved by decreasing move. Returns how many; at most MOST_FAST of them. */
static size_t sort_movers(const update *u, int32_t *movers) {
    const ast_mean_list *c = u->c;
    size_t count = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        float move = c->moves[slot];
        if (move == 0 || ast_is_uninstantiated(u->c, slot) ||
            (count == MOST_FAST && move <= c->moves[movers[count - 1]]))
            continue;
        size_t at = count < MOST_FAST ? count++ : count - 1;
        for (; at > 0 && c->moves[movers[at - 1]] < move; at--)
            movers[at] = movers[at - 1];
        movers[at] = slot;
    }
    return count;
}

/* The slack of a sample of points: how far the slow clusters may move before the point must be scored. `anew`: after a
 * new split, which merges the two bounds. The move of the point's own mean does not count: a new score with it is
 * cheap. */
static size_t sample_slack(const update *u, bool anew, float slack[SAMPLE]) {
    size_t step = u->s->rows->count / SAMPLE + 1, count = 0;
    for (size_t i = step / 2; i < u->s->rows->count && count < SAMPLE; i += step) {
        float best = u->s->bounds.scores.best[i], other_best = u->s->bounds.scores.second[i];
        other_best = anew ? fmaxf(other_best, u->s->bounds.fast_bound[i]) : other_best;
        float per_move = sqrtf(fmaxf(1 - other_best * other_best, 0x1p-12f)); /* increase of the other score per move */
        if (u->s->labels[i] >= 0)
            slack[count++] = fminf((best - other_best - u->s->margin) / per_move,
                                   best - fmaxf(u->s->fit, u->unseen_bound) - u->s->margin);
    }
    return count;
}

static double rescored_share(const float *slack, size_t sampled, float gain) {
    size_t rescored = 0;
    for (size_t j = 0; j < sampled; j++)
        rescored += slack[j] <= gain;
    return (double)rescored / (double)(sampled ? sampled : 1);
}

/* The cost of a pass, in full passes, with m fast clusters; `gain`: the largest move of the other clusters. */
static double pass_cost(const update *u, const float *slack, size_t sampled, size_t m, float gain) {
    if (!ast_fast_table_pays(u->s, m, u->c->live))
        return 1;
    double columns = m ? ceil((double)m / AST_PANEL) * AST_PANEL + ROW_COST : 0;
    double looked_at = fmax(LOOKED_AT, rescored_share(slack, sampled, u->s->moves.all.most[0]));
    return looked_at * columns / (double)u->c->live + rescored_share(slack, sampled, gain);
}

/* The best number of fast clusters among the movers. A fast cluster costs a column of the fast table; a slow one costs
 * the points that its move makes undecided. */
static size_t choose_count(const update *u, const float *slack, size_t sampled, const int32_t *movers, size_t count,
                           double *least) {
    size_t best = 0;
    double plain = pass_cost(u, slack, sampled, 0, count ? u->c->moves[movers[0]] : 0);
    *least = INFINITY;
    for (size_t m = 0, next; m <= count && m <= u->c->live / 2; m = m < count && next > count ? count : next) {
        next = m + 1 + m / 4; /* the last step is `count` */
        float gain = m < count ? u->c->moves[movers[m]] : 0;
        double cost = pass_cost(u, slack, sampled, m, gain);
        if (cost < *least) {
            *least = cost;
            best = m;
        }
    }
    if (best > 0 && *least > CLEAR_GAIN * plain) { /* the sample may be too optimistic */
        best = 0;
        *least = plain;
    }
    return best;
}

static bool knows_events(const update *u) {
    for (size_t e = 0; e < u->event_count; e++)
        if (u->events[e] >= 0 && !u->s->moves.fast[u->events[e]])
            return false;
    return true;
}

/* Splits the clusters again, unless the old split is good enough. */
static void choose_fast(const update *u) {
    int32_t movers[MOST_FAST] = {0};
    float slack[SAMPLE];
    double least;
    size_t count = sort_movers(u, movers), sampled = sample_slack(u, false, slack);
    double now = pass_cost(u, slack, sampled, u->s->moves.fast_table.count, u->s->moves.slow.most[0]);
    sampled = sample_slack(u, true, slack);
    size_t chosen = choose_count(u, slack, sampled, movers, count, &least);
    bool futile = u->s->moves.all.most[0] > u->s->moves.fast_failed_move / 4 && u->s->moves.fast_failed_move > 0;
    chosen = futile ? 0 : chosen;
    u->s->moves.regrouped = !knows_events(u) || (futile ? u->s->moves.fast_table.count > 0 : now > least + WORTH_IT);
    if (!u->s->moves.regrouped)
        return;
    memset(u->s->moves.fast, 0, u->s->moves.fast_capacity);
    for (size_t m = 0; m < chosen; m++)
        u->s->moves.fast[movers[m]] = 1;
    for (size_t e = 0; e < u->event_count; e++)
        if (u->events[e] >= 0)
            u->s->moves.fast[u->events[e]] = 1;
    measure_moves(u);
}

static bool fill_fast_table(const update *u) {
    bool ready = true;
    ast_mean_table_clear(&u->s->moves.fast_table, u->s->rows->dimension, u->s->rows->axial);
    for (size_t k = 0; k < u->c->live && ready; k++) {
        int32_t slot = u->c->order[k];
        if (u->s->moves.fast[slot] && u->c->alive[slot] && !ast_is_uninstantiated(u->c, slot))
            ready = ast_mean_table_append(&u->s->moves.fast_table, u->c->means + (size_t)slot * u->s->rows->dimension,
                                          slot);
    }
    assert(u->s->moves.fast_table.count <= u->c->live);
    return ready;
}

/* The most by which the gap of a point of cluster a to cluster b can have decreased; axial: to either side of b. */
static float approach(const ast_mean_list *c, int32_t a, int32_t b, bool axial) {
    double apart = 0, together = 0;
    for (size_t d = 0; d < c->dimension; d++) {
        double own = (double)c->displacements[(size_t)a * c->dimension + d];
        double other = (double)c->displacements[(size_t)b * c->dimension + d];
        apart += (own - other) * (own - other);
        together += (own + other) * (own + other);
    }
    return ast_round_up(sqrt(axial ? fmax(apart, together) : apart));
}

/* The most by which the gap of a point of the cluster can have decreased: the gap to another cluster, or to the
 * threshold. With many clusters, the sum of two moves is used as an upper bound. */
static float largest_approach(const update *u, int32_t slot) {
    const ast_mean_list *c = u->c;
    if (!u->s->moves.compare_pairs)
        return c->moves[slot] + u->s->moves.all.most[slot == u->s->moves.all.fastest];
    float most = c->moves[slot];
    for (size_t k = 0; k < c->live; k++)
        if (c->order[k] != slot && !ast_is_uninstantiated(u->c, c->order[k]))
            most = fmaxf(most, approach(c, slot, c->order[k], u->s->rows->axial));
    return most;
}

static void measure_steps(const update *u) {
    const ast_mean_list *c = u->c;
    memset(u->s->moves.bit_step, 0, sizeof u->s->moves.bit_step);
    u->s->moves.compare_pairs = c->live <= AST_MASK_BITS;
    for (size_t k = 0; k < c->live; k++) {
        float *bit = &u->s->moves.bit_step[c->order[k] & (AST_MASK_BITS - 1)];
        *bit = fmaxf(*bit, largest_approach(u, c->order[k]));
    }
}

/* Notes the last event of each cluster, for points that were not compared with all events. */
static void find_newcomers(const update *u) {
    ast_moves *m = &u->s->moves;
    memset(m->born, 0, sizeof m->born);
    m->distinct = u->c->slots <= AST_MASK_BITS;
    for (size_t e = 0; e < u->event_count; e++)
        if (u->events[e] >= 0)
            m->born[u->events[e] & (AST_MASK_BITS - 1)] = e + 1;
}

bool ast_bounds_after_update(ast_scorer *s, const ast_mean_list *means, const int32_t *events, size_t count,
                             float unseen_bound) {
    assert(means->live <= means->slots && means->tracked_slots <= means->slots);
    const update u = {s, means, events, count, unseen_bound};
    bool ready = ast_reserve(&s->moves.fast, &s->moves.fast_capacity, s->moves.fast_capacity, means->slots, 1);
    s->bounds.last_events = count;
    if (!ready || !s->bounds.on)
        return ready;
    measure_moves(&u);
    if (s->rows->small) {
        measure_steps(&u);
        find_newcomers(&u);
        return true;
    }
    choose_fast(&u);
    return fill_fast_table(&u);
}

void ast_bounds_note_fast_means(ast_scorer *s, uint64_t compared_fast, uint64_t undecided_fast) {
    if (compared_fast > 0)
        s->moves.fast_failed_move = 10 * undecided_fast > 9 * compared_fast ? s->moves.all.most[0] : 0;
}

bool ast_bounds_save_means(ast_scorer *s, const ast_mean_list *means) {
    size_t slots = means->slots, dimension = means->dimension;
    ast_moves *m = &s->moves;
    if (s->rows->small || (!s->bounds.on && !s->rows->axial) || slots == 0)
        return true;
    if (slots > m->capacity &&
        !ast_ensure_arrays(&m->capacity, 2 * slots, AST_REQUEST(m->start_means, 2 * slots * dimension),
                           AST_REQUEST(m->of_slot, 2 * slots)))
        return false;
    memcpy(m->start_means, means->means, slots * dimension * sizeof *m->start_means);
    memcpy(m->of_slot, means->moves, slots * sizeof *m->of_slot);
    return true;
}
