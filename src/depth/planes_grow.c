/* SPDX-License-Identifier: MIT
 *
 * Joins patches that lie on one plane. Joining two patches increases the residual sum of squares; the cost is this
 * increase per pixel of the smaller patch, so that a large patch does not hide a small one, relative to the most that
 * is allowed. In each round every patch chooses the neighbour with the lowest cost. Patches that chose each other join;
 * then patches whose choice is among them join too, if the cost is still low. So a wall collects all its cells in a few
 * rounds, and a cell across an edge, which fits neither side well, joins last or never.
 *
 * A round visits the pairs of neighbouring patches in the order in which their first cells stand, and patches join the
 * same one in that order, so the result depends on the image only. Several threads share costs and joins. */
#include "planes.h"

#include <stdatomic.h>
#include <string.h>

#define TASK 512   /* pairs whose costs one task computes, patches that it joins */
#define SHARES 4   /* tasks that join the other patches, if there are many */
#define BENT 0.7   /* tolerances: how far two patches may be from their common plane, noise or not */
#define NOISE 16.0 /* variances: how much three parameters that fit the noise may save, in all pixels together */

static int32_t leader_of(int32_t *leader, int32_t k) {
    while (leader[k] != k)
        k = leader[k] = leader[leader[k]];
    return k;
}

/* What the residual may grow by if the patch is the smaller one. */
static double allowance(const ast_planes *p, int32_t k) {
    const ast_noise *noise = &p->book->noise;
    double n = p->patches[k].n, s = p->patches[k].s / n, bent = BENT * ast_noise_tolerance(noise, s);
    return n * (bent * bent) + NOISE * ast_noise_variance(noise, s, ast_plane_slope2(&p->planes[k]));
}

static double cost(const ast_planes *p, int32_t a, int32_t b) {
    int32_t first = a < b ? a : b, second = a < b ? b : a;
    ast_patch both = p->patches[first];
    ast_patch_add(&both, &p->patches[second]);
    double more = ast_plane_of(&both).rest - p->planes[first].rest - p->planes[second].rest;
    int32_t smaller = p->patches[second].n < p->patches[first].n ? second : first;
    return more > 0 ? more / p->allowed[smaller] : 0;
}

static void join(ast_planes *p, int32_t to, int32_t from, uint32_t round) {
    ast_patch_add(&p->patches[to], &p->patches[from]);
    p->planes[to] = ast_plane_of(&p->patches[to]);
    p->allowed[to] = allowance(p, to);
    p->leader[from] = to;
    p->changed[to] = round;
}

#define UNKNOWN (-1.0)

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

static size_t list_pairs(const ast_planes *p) {
    size_t cells = p->across * p->down, count = 0;
    for (size_t k = 0; k < cells; k++) {
        if (p->leader[k] < 0)
            continue;
        if (p->across > 0 && (k + 1) % p->across != 0 && p->leader[k + 1] >= 0)
            p->pairs[count++] = (ast_pair){.first = (int32_t)k, .second = (int32_t)(k + 1), .cost = UNKNOWN};
        if (k + p->across < cells && p->leader[k + p->across] >= 0)
            p->pairs[count++] = (ast_pair){.first = (int32_t)k, .second = (int32_t)(k + p->across), .cost = UNKNOWN};
    }
    return count;
}

/* Whether the pair was not met in this round: patches have many neighbouring cells. Where another pair took its place
 * in the small table, it stays twice, which only takes time. */
static bool is_new(ast_planes *p, const ast_pair *pair, uint32_t round) {
    uint64_t key = (uint64_t)pair->first * (p->across * p->down) + (uint64_t)pair->second;
    uint64_t entry = (uint64_t)round << 44 | key, *place = &p->seen[(key * 0x9e3779b97f4a7c15u >> 32) % AST_PLACES];
    bool known = *place == entry;
    *place = entry;
    return !known;
}

/* A cost is known from the round before unless one of the two patches grew in it. Returns whether the pair stays. */
static bool renew(ast_planes *p, ast_pair *pair, uint32_t round) {
    int32_t a = leader_of(p->leader, pair->first), b = leader_of(p->leader, pair->second);
    if (a == b)
        return false;
    pair->first = a < b ? a : b;
    pair->second = a < b ? b : a;
    if (p->changed[a] + 1 != round && p->changed[b] + 1 != round)
        return true;
    pair->cost = UNKNOWN;
    return is_new(p, pair, round);
}

static size_t renew_pairs(ast_planes *p, size_t pairs, uint32_t round) {
    size_t kept = 0;
    for (size_t i = 0; i < pairs; i++) {
        ast_pair pair = p->pairs[i];
        if (renew(p, &pair, round))
            p->pairs[kept++] = pair;
    }
    return kept;
}

typedef struct growing {
    ast_planes *planes;
    size_t pairs, leaders;
    uint32_t round;
    size_t shares; /* of join_others */
    atomic_bool joined;
} growing;

static size_t tasks_of(size_t count) {
    return (count + TASK - 1) / TASK;
}

static size_t end_of(size_t task, size_t count) {
    return (task + 1) * TASK < count ? (task + 1) * TASK : count;
}

static void find_costs(void *data, size_t task, int worker) {
    const growing *g = data;
    (void)worker;
    for (size_t i = task * TASK; i < end_of(task, g->pairs); i++) {
        ast_pair *pair = &g->planes->pairs[i];
        if (pair->cost == UNKNOWN)
            pair->cost = cost(g->planes, pair->first, pair->second);
    }
}

static void find_allowances(void *data, size_t task, int worker) {
    const growing *g = data;
    ast_planes *p = g->planes;
    (void)worker;
    for (size_t i = task * TASK; i < end_of(task, g->leaders); i++)
        p->allowed[p->leaders[i]] = allowance(p, p->leaders[i]);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

static size_t list_leaders(const ast_planes *p, const int32_t *from, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t k = from ? from[i] : (int32_t)i;
        if (p->leader[k] == k)
            p->leaders[kept++] = k;
    }
    return kept;
}

static void offer(ast_planes *p, int32_t to, int32_t other, double at) {
    if (at < p->least[to]) {
        p->least[to] = at;
        p->choice[to] = other;
    }
}

static void choose(ast_planes *p, size_t pairs, size_t leaders) {
    for (size_t i = 0; i < leaders; i++) {
        p->least[p->leaders[i]] = 1;
        p->choice[p->leaders[i]] = -1;
    }
    for (size_t i = 0; i < pairs; i++) {
        const ast_pair *pair = &p->pairs[i];
        offer(p, pair->first, pair->second, pair->cost);
        offer(p, pair->second, pair->first, pair->cost);
    }
}

static bool paired(const ast_planes *p, int32_t k) {
    return p->choice[k] >= 0 && p->choice[p->choice[k]] == k;
}

static void join_pairs(void *data, size_t task, int worker) {
    growing *g = data;
    ast_planes *p = g->planes;
    bool joined = false;
    (void)worker;
    for (size_t i = task * TASK; i < end_of(task, g->leaders); i++) {
        int32_t k = p->leaders[i];
        if (!paired(p, k) || p->choice[k] < k)
            continue;
        join(p, k, p->choice[k], g->round);
        joined = true;
    }
    if (joined)
        atomic_store_explicit(&g->joined, true, memory_order_relaxed);
}

/* Patches whose choice is of a pair. Those of one pair belong to one task, which takes them in order. */
static void join_others(void *data, size_t task, int worker) {
    const growing *g = data;
    ast_planes *p = g->planes;
    (void)worker;
    for (size_t i = 0; i < g->leaders; i++) {
        int32_t k = p->leaders[i], choice = p->choice[k];
        if (choice < 0 || paired(p, k) || !paired(p, choice))
            continue;
        int32_t to = p->leader[choice];
        if ((size_t)to % g->shares == task && cost(p, to, k) < 1)
            join(p, to, k, g->round);
    }
}

static bool grow_once(growing *g, ast_pool *pool) {
    ast_planes *p = g->planes;
    if (g->round > 1)
        g->pairs = renew_pairs(p, g->pairs, g->round);
    ast_pool_run(pool, tasks_of(g->pairs), find_costs, g);
    choose(p, g->pairs, g->leaders);
    ast_pool_run(pool, tasks_of(g->leaders), join_pairs, g);
    g->shares = g->leaders > TASK ? SHARES : 1;
    ast_pool_run(pool, g->shares, join_others, g);
    g->leaders = list_leaders(p, p->leaders, g->leaders);
    return atomic_exchange(&g->joined, false);
}

void ast_planes_grow(ast_planes *p, ast_pool *pool) {
    size_t cells = p->across * p->down;
    growing g = {.planes = p, .pairs = list_pairs(p), .leaders = list_leaders(p, NULL, cells), .round = 1};
    memset(p->seen, 0, AST_PLACES * sizeof *p->seen);
    memset(p->changed, 0, cells * sizeof *p->changed);
    ast_pool_run(pool, tasks_of(g.leaders), find_allowances, &g);
    while (grow_once(&g, pool))
        g.round++;
    for (size_t k = 0; k < cells; k++)
        if (p->leader[k] >= 0)
            p->leader[k] = leader_of(p->leader, (int32_t)k);
}
