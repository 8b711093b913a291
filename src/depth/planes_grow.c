/* SPDX-License-Identifier: MIT
 *
 * Joins patches that lie on one plane. Joining two patches increases the residual sum of squares; the cost is this
 * increase per pixel of the smaller patch, so that a large patch does not hide a small one, relative to the most that
 * is allowed. In each round every patch chooses the neighbour with the lowest cost. Patches that chose each other join;
 * then patches whose choice is among them join too, if the cost is still low. So a wall collects all its cells in a few
 * rounds, and a cell across an edge, which fits neither side well, joins last or never.
 *
 * A round visits the pairs of neighbouring patches in the order in which their first cells stand, so the result depends
 * on the image only. A pair is looked at once, however many of its cells are neighbours. */
#include "planes.h"

#include <string.h>

#define TASK 2048  /* pairs whose costs one task computes */
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

/* Whether the pair is met for the first time in this round. The table has more places than there are pairs. */
static bool is_new(ast_planes *p, const ast_pair *pair, uint32_t round) {
    size_t cells = p->across * p->down, places = AST_PLACES * cells;
    uint64_t key = (uint64_t)pair->first * cells + (uint64_t)pair->second, entry = (uint64_t)round << 44 | key;
    size_t at = (size_t)(((key * 0x9e3779b97f4a7c15u) >> 32) * places >> 32);
    while (p->seen[at] >> 44 == round && p->seen[at] != entry)
        at = at + 1 < places ? at + 1 : 0;
    bool known = p->seen[at] == entry;
    p->seen[at] = entry;
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

typedef struct costing {
    ast_planes *planes;
    size_t pairs;
} costing;

static void find_costs(void *data, size_t task, int worker) {
    const costing *c = data;
    size_t last = (task + 1) * TASK < c->pairs ? (task + 1) * TASK : c->pairs;
    (void)worker;
    for (size_t i = task * TASK; i < last; i++) {
        ast_pair *pair = &c->planes->pairs[i];
        if (pair->cost == UNKNOWN)
            pair->cost = cost(c->planes, pair->first, pair->second);
    }
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

static bool join_pairs(ast_planes *p, size_t leaders, uint32_t round) {
    bool joined = false;
    for (size_t i = 0; i < leaders; i++) {
        int32_t k = p->leaders[i];
        if (!paired(p, k) || p->choice[k] < k)
            continue;
        join(p, k, p->choice[k], round);
        joined = true;
    }
    return joined;
}

static void join_others(ast_planes *p, size_t leaders, uint32_t round) {
    for (size_t i = 0; i < leaders; i++) {
        int32_t k = p->leaders[i];
        if (p->choice[k] < 0 || paired(p, k) || !paired(p, p->choice[k]))
            continue;
        int32_t to = leader_of(p->leader, p->choice[k]);
        if (cost(p, to, k) < 1)
            join(p, to, k, round);
    }
}

void ast_planes_grow(ast_planes *p, ast_pool *pool) {
    size_t cells = p->across * p->down, leaders = list_leaders(p, NULL, cells);
    costing c = {p, list_pairs(p)};
    memset(p->seen, 0, AST_PLACES * cells * sizeof *p->seen);
    memset(p->changed, 0, cells * sizeof *p->changed);
    for (size_t i = 0; i < leaders; i++)
        p->allowed[p->leaders[i]] = allowance(p, p->leaders[i]);
    for (uint32_t round = 1;; round++) {
        if (round > 1)
            c.pairs = renew_pairs(p, c.pairs, round);
        ast_pool_run(pool, (c.pairs + TASK - 1) / TASK, find_costs, &c);
        choose(p, c.pairs, leaders);
        if (!join_pairs(p, leaders, round))
            break;
        join_others(p, leaders, round);
        leaders = list_leaders(p, p->leaders, leaders);
    }
    for (size_t k = 0; k < cells; k++)
        if (p->leader[k] >= 0)
            p->leader[k] = leader_of(p->leader, (int32_t)k);
}
