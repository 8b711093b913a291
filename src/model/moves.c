/* SPDX-License-Identifier: MIT
 *
 * Between two passes: how far the means went, and what that means for the bounds.
 *
 * Large points. The bound on a point's rivals rises by the largest move of all means, so one mean that runs far would
 * void the bounds of everybody. So the clusters are split: the *fast* ones have a bound of their own for each point,
 * and one that gives way costs a comparison with the fast means alone (the carry). Clusters that were born or had their
 * mean reset are fast, since no bound knows them. Small points have no such split: scoring them anew is as cheap. */
#include "labelling.h"

#include "memory.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 1024
#define MOST_FAST 256
#define ROW_COST 16    /* reading a row costs as much as scoring it against so many means (measured at D = 300) */
#define LOOKED_AT 0.25 /* the share of points that are compared with the fast clusters in a pass, roughly */
#define WORTH_IT 0.01  /* of a full pass: for less the clusters are not split anew */

static bool counts(const ast_labelling *l, int32_t slot) {
    return l->clusters.alive[slot] && !ast_is_unseen(l, slot);
}

static bool reserve_fast(ast_labelling *l) {
    size_t slots = l->clusters.slots, used = l->fast_capacity;
    if (slots <= used)
        return true;
    if (!ast_grow_array(&l->fast, used, 2 * slots, sizeof *l->fast))
        return false;
    memset(l->fast + used, 0, 2 * slots - used);
    l->fast_capacity = 2 * slots;
    return true;
}

static void meet_move(ast_gain *gain, int32_t slot, float move) {
    if (move > gain->most[0]) {
        gain->most[1] = gain->most[0];
        gain->most[0] = move;
        gain->fastest = slot;
    } else if (move > gain->most[1]) {
        gain->most[1] = move;
    }
}

static ast_gain no_gain(void) {
    return (ast_gain){.fastest = -1};
}

static void measure_moves(ast_labelling *l) {
    l->everybody = l->quick = l->slow = no_gain();
    for (size_t k = 0; k < l->clusters.live; k++) {
        int32_t slot = l->clusters.order[k];
        if (ast_is_unseen(l, slot))
            continue;
        meet_move(&l->everybody, slot, l->clusters.moves[slot]);
        if (!l->cloud.small)
            meet_move(l->fast[slot] ? &l->quick : &l->slow, slot, l->clusters.moves[slot]);
    }
}

/* Clusters that moved, the farthest first. Returns how many; beyond MOST_FAST only the farthest matter. */
static size_t sort_movers(ast_labelling *l, int32_t *movers) {
    const ast_cluster_list *c = &l->clusters;
    size_t count = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        float move = c->moves[slot];
        if (move == 0 || ast_is_unseen(l, slot) || (count == MOST_FAST && move <= c->moves[movers[count - 1]]))
            continue;
        size_t at = count < MOST_FAST ? count++ : count - 1;
        for (; at > 0 && c->moves[movers[at - 1]] < move; at--)
            movers[at] = movers[at - 1];
        movers[at] = slot;
    }
    return count;
}

/* By how much the slow clusters may move before a point has to be looked at: as they are split now, or anew, when the
 * two bounds become one. A fresh score against the own mean, which is cheap, makes good for the move of that. */
static size_t sample_slack(const ast_labelling *l, bool anew, float slack[SAMPLE]) {
    size_t step = l->cloud.count / SAMPLE + 1, count = 0;
    for (size_t i = step / 2; i < l->cloud.count && count < SAMPLE; i += step) {
        float best = l->scores.best[i], rival = l->scores.second[i];
        rival = anew ? fmaxf(rival, l->third[i]) : rival;
        if (l->labels[i] >= 0)
            slack[count++] = fminf(best - rival, best - fmaxf(l->fit, l->safe_now)) - l->margin;
    }
    return count;
}

static double awake_share(const float *slack, size_t sampled, float gain) {
    size_t awake = 0;
    for (size_t j = 0; j < sampled; j++)
        awake += slack[j] <= gain;
    return (double)awake / (double)(sampled ? sampled : 1);
}

/* What a pass costs, in full passes, with m fast clusters and `gain` the largest move of the others. */
static double price(const ast_labelling *l, const float *slack, size_t sampled, size_t m, float gain) {
    double columns = m ? ceil((double)m / AST_PANEL) * AST_PANEL + ROW_COST : 0;
    return LOOKED_AT * columns / (double)l->clusters.live + awake_share(slack, sampled, gain);
}

/* How many of the movers are to be fast: each costs a column where the fast ones are looked at, and those that are slow
 * wake points up. */
static size_t choose_count(const ast_labelling *l, const float *slack, size_t sampled, const int32_t *movers,
                           size_t count, double *least) {
    size_t best = 0;
    *least = INFINITY;
    for (size_t m = 0; m <= count && m <= l->clusters.live / 2; m += 1 + m / 4) {
        float gain = m < count ? l->clusters.moves[movers[m]] : 0;
        double cost = price(l, slack, sampled, m, gain);
        if (cost < *least) {
            *least = cost;
            best = m;
        }
    }
    return best;
}

static bool knows_events(const ast_labelling *l) {
    for (size_t e = 0; e < l->event_count; e++)
        if (l->events[e] >= 0 && !l->fast[l->events[e]])
            return false;
    return true;
}

/* Splits the clusters anew, unless the old split will do. */
static void choose_fast(ast_labelling *l) {
    int32_t movers[MOST_FAST];
    float slack[SAMPLE];
    double least;
    size_t count = sort_movers(l, movers), sampled = sample_slack(l, false, slack);
    double now = price(l, slack, sampled, l->carry.count, l->slow.most[0]);
    sampled = sample_slack(l, true, slack);
    size_t chosen = choose_count(l, slack, sampled, movers, count, &least);
    l->regrouped = !knows_events(l) || now > least + WORTH_IT;
    if (!l->regrouped)
        return;
    memset(l->fast, 0, l->fast_capacity);
    for (size_t m = 0; m < chosen; m++)
        l->fast[movers[m]] = 1;
    for (size_t e = 0; e < l->event_count; e++)
        if (l->events[e] >= 0)
            l->fast[l->events[e]] = 1;
    measure_moves(l);
}

static bool fill_carry(ast_labelling *l) {
    bool ready = true;
    ast_table_clear(&l->carry, l->cloud.dimension, l->axial);
    for (size_t k = 0; k < l->clusters.live && ready; k++) {
        int32_t slot = l->clusters.order[k];
        if (l->fast[slot] && counts(l, slot))
            ready = ast_table_append(&l->carry, l->clusters.means + (size_t)slot * l->cloud.dimension, slot);
    }
    return ready;
}

/* How much closer a point of cluster a may have come to leaving it for b; axial: for either side of b. */
static float approach(const ast_cluster_list *c, int32_t a, int32_t b, bool axial) {
    double apart = 0, together = 0;
    for (size_t d = 0; d < c->dimension; d++) {
        double own = (double)c->shifts[(size_t)a * c->dimension + d];
        double rival = (double)c->shifts[(size_t)b * c->dimension + d];
        apart += (own - rival) * (own - rival);
        together += (own + rival) * (own + rival);
    }
    return ast_round_up(sqrt(axial ? fmax(apart, together) : apart));
}

/* How much smaller the gap of a point of the cluster may have become: what it may have come closer to leaving it, or to
 * fitting nothing. Many clusters: the sum of two moves is no smaller. */
static float largest_approach(const ast_labelling *l, int32_t slot) {
    const ast_cluster_list *c = &l->clusters;
    if (!l->few)
        return c->moves[slot] + l->everybody.most[slot == l->everybody.fastest];
    float most = c->moves[slot];
    for (size_t k = 0; k < c->live; k++)
        if (c->order[k] != slot && !ast_is_unseen(l, c->order[k]))
            most = fmaxf(most, approach(c, slot, c->order[k], l->axial));
    return most;
}

static void measure_steps(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    memset(l->bit_step, 0, sizeof l->bit_step);
    l->few = c->live <= AST_MASK_BITS;
    for (size_t k = 0; k < c->live; k++) {
        float *bit = &l->bit_step[c->order[k] & (AST_MASK_BITS - 1)];
        *bit = fmaxf(*bit, largest_approach(l, c->order[k]));
    }
}

bool ast_note_moves(ast_labelling *l) {
    bool ready = reserve_fast(l);
    l->last_events = l->event_count;
    if (!ready || !l->bounds)
        return ready;
    measure_moves(l);
    if (l->cloud.small) {
        measure_steps(l);
        return true;
    }
    choose_fast(l);
    return fill_carry(l);
}
