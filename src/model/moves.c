/* SPDX-License-Identifier: MIT
 *
 * Between two passes: how far the means went, and what that means for the bounds.
 *
 * The bound on every point's second-best score rises by the largest move of all means, so one mean that runs far would
 * void the bounds of everybody. Instead the next pass compares every point with that mean alone: the *carry*. Clusters
 * that were born or had their mean reset are always in it (no bound knows them); how many of the fastest others is
 * decided on a sample of the points, by what it would cost. Small points have no carry: scoring them anew is as cheap.
 */
#include "labelling.h"

#include "memory.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 1024
#define MOST_CARRIED 256
#define ROW_COST 16 /* reading a row costs as much as scoring it against so many means (measured at D = 300) */

static bool carried(const ast_labelling *l, int32_t slot) {
    for (size_t k = 0; k < l->carry.count; k++)
        if (l->carry.ids[k] == slot)
            return true;
    return false;
}

static bool carry(ast_labelling *l, int32_t slot) {
    return !l->clusters.alive[slot] || ast_is_unseen(l, slot) || carried(l, slot) ||
           ast_table_append(&l->carry, l->clusters.means + (size_t)slot * l->cloud.dimension, slot);
}

static bool reserve_movers(ast_labelling *l) {
    if (l->clusters.live <= l->mover_capacity)
        return true;
    free(l->movers);
    l->mover_capacity = 2 * l->clusters.live;
    l->movers = ast_allocate(l->mover_capacity, sizeof *l->movers);
    if (!l->movers)
        l->mover_capacity = 0;
    return l->movers != NULL;
}

/* Clusters that are not in the carry yet and moved, the farthest first. Returns how many. */
static size_t sort_movers(ast_labelling *l) {
    const ast_cluster_list *c = &l->clusters;
    size_t count = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        float move = c->moves[slot];
        if (move == 0 || ast_is_unseen(l, slot) || carried(l, slot))
            continue;
        size_t at = count < MOST_CARRIED ? count++ : count; /* beyond that, only the farthest matter */
        if (at == count && move <= c->moves[l->movers[count - 1]])
            continue;
        at = at == count ? count - 1 : at;
        for (; at > 0 && c->moves[l->movers[at - 1]] < move; at--)
            l->movers[at] = l->movers[at - 1];
        l->movers[at] = slot;
    }
    return count;
}

/* By how much the others may move before a point has to be looked at. */
static size_t sample_slack(const ast_labelling *l, float slack[SAMPLE]) {
    size_t step = l->cloud.count / SAMPLE + 1, count = 0;
    for (size_t i = step / 2; i < l->cloud.count && count < SAMPLE; i += step) {
        if (l->labels[i] < 0)
            continue;
        /* A fresh score against the own mean, which is cheap, makes good for the move of that. */
        float best = l->scores.best[i], gap = best - l->scores.second[i];
        slack[count++] = fminf(gap, best - fmaxf(l->fit, l->safe_now)) - l->margin;
    }
    return count;
}

static double awake_share(const float *slack, size_t sampled, float gain) {
    size_t awake = 0;
    for (size_t j = 0; j < sampled; j++)
        awake += slack[j] <= gain;
    return (double)awake / (double)(sampled ? sampled : 1);
}

/* The cost of the next pass, in full passes, if the m fastest are carried. */
static double cost(const ast_labelling *l, const float *slack, size_t sampled, size_t m, float gain) {
    double clusters = (double)l->clusters.live, columns = (double)(l->carry.count + m);
    if (columns > 0) /* panels are scored whole, and every row is read */
        columns = (columns <= 4 ? 2 * columns : ceil(columns / AST_PANEL) * AST_PANEL) + ROW_COST;
    return columns / clusters + awake_share(slack, sampled, gain);
}

static size_t choose(const ast_labelling *l, const float *slack, size_t sampled, size_t movers) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t m = 0; m <= movers && m <= l->clusters.live / 2; m += 1 + m / 4) {
        float gain = m < movers ? l->clusters.moves[l->movers[m]] : 0;
        double price = cost(l, slack, sampled, m, gain);
        if (price < least) {
            least = price;
            best = m;
        }
    }
    return best;
}

static ast_gain fastest_from(const ast_labelling *l, size_t first, size_t movers) {
    const float *moves = l->clusters.moves;
    return (ast_gain){
        .most = {first < movers ? moves[l->movers[first]] : 0, first + 1 < movers ? moves[l->movers[first + 1]] : 0},
        .fastest = first < movers ? l->movers[first] : -1};
}

/* The same with those that are in the carry because of an event. */
static ast_gain with_events(const ast_labelling *l, ast_gain gain, size_t events) {
    for (size_t k = 0; k < events; k++) {
        float move = l->clusters.moves[l->carry.ids[k]];
        if (move > gain.most[0]) {
            gain.most[1] = gain.most[0];
            gain.most[0] = move;
            gain.fastest = l->carry.ids[k];
        } else if (move > gain.most[1]) {
            gain.most[1] = move;
        }
    }
    return gain;
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
    bool ready = reserve_movers(l);
    ast_table_clear(&l->carry, l->cloud.dimension, l->axial);
    for (size_t e = 0; e < l->event_count && ready; e++)
        ready = l->events[e] < 0 || carry(l, l->events[e]);
    l->last_events = l->event_count;
    if (!ready || !l->bounds)
        return ready;
    float slack[SAMPLE];
    size_t events = l->carry.count, movers = sort_movers(l), chosen = 0;
    if (!l->cloud.small)
        chosen = choose(l, slack, sample_slack(l, slack), movers);
    for (size_t m = 0; m < chosen && ready; m++)
        ready = carry(l, l->movers[m]);
    l->chosen = chosen > 0;
    l->others = fastest_from(l, chosen, movers);
    l->everybody = with_events(l, fastest_from(l, 0, movers), events);
    if (l->cloud.small)
        measure_steps(l);
    return ready;
}
