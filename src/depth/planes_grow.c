/* SPDX-License-Identifier: MIT
 *
 * Joins patches that lie on one plane. Joining two patches increases the residual sum of squares; the cost is this
 * increase divided by the largest increase allowed for the smaller patch; normalising by the smaller one keeps a large
 * patch from absorbing a small misfit. In each round every patch chooses the neighbour with the lowest cost. Patches
 * that chose each other join; then patches that chose a member of such a pair join it too, if the cost is still below
 * 1. So a wall collects all its cells in a few rounds, and a cell across an edge, which fits neither side well, joins
 * last or never.
 *
 * A round visits pairs in the order of their first cells, and several patches join the same one in that order, so the
 * result does not depend on threads. Costs and joins run in parallel. */
#include "planes.h"

#include <stdatomic.h>
#include <string.h>

#define TASK 512 /* pairs whose costs one task computes, patches that it joins */
#define SHARES 4 /* tasks of join_others if there are many patches */
#define BENT 0.7 /* tolerances: how far two patches may be from their common plane, noise or not */
/* Noise variances: how much one fit of three parameters may reduce the residual by fitting noise. */
#define NOISE 16.0

typedef struct growing {
    ast_patches *patches;
    const ast_patch_work *work;
    size_t pairs, leaders;
    uint32_t round;
    size_t shares; /* of join_others */
    atomic_bool joined;
} growing;

static int32_t leader_of(int32_t *leader, int32_t k) {
    while (leader[k] != k)
        k = leader[k] = leader[leader[k]];
    return k;
}

/* Largest increase of the residual when this patch joins a larger one. */
static double allowance(const ast_patches *p, int32_t k) {
    const ast_noise *noise = &p->noise;
    double n = p->moments[k].n, s = p->moments[k].s / n, bent = BENT * ast_noise_tolerance(noise, s);
    return n * (bent * bent) + NOISE * ast_noise_variance(noise, s, ast_plane_fit_slope2(&p->fits[k]));
}

static double cost(const growing *g, int32_t a, int32_t b) {
    const ast_patches *p = g->patches;
    int32_t first = a < b ? a : b, second = a < b ? b : a;
    ast_pixel_moments both = p->moments[first];
    ast_pixel_moments_add(&both, &p->moments[second]);
    double more = ast_plane_fit_from(&both).residual - p->fits[first].residual - p->fits[second].residual;
    int32_t smaller = p->moments[second].n < p->moments[first].n ? second : first;
    return more > 0 ? more / g->work->allowed_increase[smaller] : 0;
}

static void join(const growing *g, int32_t to, int32_t from) {
    ast_patches *p = g->patches;
    ast_pixel_moments_add(&p->moments[to], &p->moments[from]);
    p->fits[to] = ast_plane_fit_from(&p->moments[to]);
    g->work->allowed_increase[to] = allowance(p, to);
    p->leader[from] = to;
    g->work->changed_round[to] = g->round;
}

#define UNKNOWN (-1.0)

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

static size_t list_pairs(const ast_patches *p, ast_patch_pair *pairs) {
    size_t cells = p->across * p->down, count = 0;
    for (size_t k = 0; k < cells; k++) {
        if (p->leader[k] < 0)
            continue;
        if (p->across > 0 && (k + 1) % p->across != 0 && p->leader[k + 1] >= 0)
            pairs[count++] = (ast_patch_pair){.first = (int32_t)k, .second = (int32_t)(k + 1), .cost = UNKNOWN};
        if (k + p->across < cells && p->leader[k + p->across] >= 0)
            pairs[count++] = (ast_patch_pair){.first = (int32_t)k, .second = (int32_t)(k + p->across), .cost = UNKNOWN};
    }
    return count;
}

/* Whether the pair is new in this round; two patches can touch in many cells. If another pair has overwritten its slot,
 * the pair is kept twice, which costs only time. */
static bool is_new(const growing *g, const ast_patch_pair *pair) {
    uint64_t cells = g->patches->across * g->patches->down;
    uint64_t key = (uint64_t)pair->first * cells + (uint64_t)pair->second;
    uint64_t entry = (uint64_t)g->round << 44 | key,
             *place = &g->work->pair_slots[(key * 0x9e3779b97f4a7c15u >> 32) % AST_PAIR_SLOTS];
    bool known = *place == entry;
    *place = entry;
    return !known;
}

/* The cost of the last round is still valid unless one of the two patches grew in that round. Returns whether the pair
 * stays. */
static bool renew(const growing *g, ast_patch_pair *pair) {
    const uint32_t *changed = g->work->changed_round;
    int32_t a = leader_of(g->patches->leader, pair->first), b = leader_of(g->patches->leader, pair->second);
    if (a == b)
        return false;
    pair->first = a < b ? a : b;
    pair->second = a < b ? b : a;
    if (changed[a] + 1 != g->round && changed[b] + 1 != g->round)
        return true;
    pair->cost = UNKNOWN;
    return is_new(g, pair);
}

static size_t renew_pairs(const growing *g) {
    size_t kept = 0;
    for (size_t i = 0; i < g->pairs; i++) {
        ast_patch_pair pair = g->work->pairs[i];
        if (renew(g, &pair))
            g->work->pairs[kept++] = pair;
    }
    return kept;
}

static void find_costs(void *data, size_t first, size_t last) {
    const growing *g = data;
    for (size_t i = first; i < last; i++) {
        ast_patch_pair *pair = &g->work->pairs[i];
        if (pair->cost == UNKNOWN)
            pair->cost = cost(g, pair->first, pair->second);
    }
}

static void find_allowances(void *data, size_t first, size_t last) {
    const growing *g = data;
    const int32_t *leaders = g->work->leaders;
    for (size_t i = first; i < last; i++)
        g->work->allowed_increase[leaders[i]] = allowance(g->patches, leaders[i]);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Of the cells `from`, or of all if it is NULL. */
static size_t list_leaders(const ast_patches *p, const int32_t *from, size_t count, int32_t *leaders) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t k = from ? from[i] : (int32_t)i;
        if (p->leader[k] == k)
            leaders[kept++] = k;
    }
    return kept;
}

static void offer(const ast_patch_work *w, int32_t to, int32_t other, double at) {
    if (at < w->choice_cost[to]) {
        w->choice_cost[to] = at;
        w->choice[to] = other;
    }
}

static void choose(const growing *g) {
    const ast_patch_work *w = g->work;
    for (size_t i = 0; i < g->leaders; i++) {
        w->choice_cost[w->leaders[i]] = 1;
        w->choice[w->leaders[i]] = -1;
    }
    for (size_t i = 0; i < g->pairs; i++) {
        const ast_patch_pair *pair = &w->pairs[i];
        offer(w, pair->first, pair->second, pair->cost);
        offer(w, pair->second, pair->first, pair->cost);
    }
}

static bool is_paired(const ast_patch_work *w, int32_t k) {
    return w->choice[k] >= 0 && w->choice[w->choice[k]] == k;
}

static void join_pairs(void *data, size_t first, size_t last) {
    growing *g = data;
    const ast_patch_work *w = g->work;
    bool joined = false;
    for (size_t i = first; i < last; i++) {
        int32_t k = w->leaders[i];
        if (!is_paired(w, k) || w->choice[k] < k)
            continue;
        join(g, k, w->choice[k]);
        joined = true;
    }
    if (joined)
        atomic_store_explicit(&g->joined, true, memory_order_relaxed);
}

/* Joins patches that chose a member of a pair. All patches that join one pair are handled by one task, in order. */
static void join_others(void *data, size_t task) {
    const growing *g = data;
    const ast_patch_work *w = g->work;
    for (size_t i = 0; i < g->leaders; i++) {
        int32_t k = w->leaders[i], choice = w->choice[k];
        if (choice < 0 || is_paired(w, k) || !is_paired(w, choice))
            continue;
        int32_t to = g->patches->leader[choice];
        if ((size_t)to % g->shares == task && cost(g, to, k) < 1)
            join(g, to, k);
    }
}

static bool grow_once(growing *g, ast_pool *pool) {
    if (g->round > 1)
        g->pairs = renew_pairs(g);
    ast_pool_ranges(pool, g->pairs, TASK, find_costs, g);
    choose(g);
    ast_pool_ranges(pool, g->leaders, TASK, join_pairs, g);
    g->shares = g->leaders > TASK ? SHARES : 1;
    ast_pool_each(pool, g->shares, 1, join_others, g);
    g->leaders = list_leaders(g->patches, g->work->leaders, g->leaders, g->work->leaders);
    return atomic_exchange(&g->joined, false);
}

void ast_planes_grow(ast_patches *p, const ast_patch_work *w, ast_pool *pool) {
    size_t cells = p->across * p->down;
    growing g = {.patches = p,
                 .work = w,
                 .pairs = list_pairs(p, w->pairs),
                 .leaders = list_leaders(p, NULL, cells, w->leaders),
                 .round = 1};
    memset(w->pair_slots, 0, AST_PAIR_SLOTS * sizeof *w->pair_slots);
    memset(w->changed_round, 0, cells * sizeof *w->changed_round);
    ast_pool_ranges(pool, g.leaders, TASK, find_allowances, &g);
    while (grow_once(&g, pool))
        g.round++;
    for (size_t k = 0; k < cells; k++)
        if (p->leader[k] >= 0)
            p->leader[k] = leader_of(p->leader, (int32_t)k);
}
