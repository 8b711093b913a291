/* SPDX-License-Identifier: MIT
 *
 * Joins patches that lie on one plane. The cost of joining two patches is the increase of the residual sum of squares,
 * divided by the pixels of the smaller patch, so that a large patch does not hide a small one. In each round every
 * patch chooses the neighbour with the lowest cost. Patches that chose each other join; then patches whose choice is
 * among them join too, if the cost is still low. So a wall collects all its cells in a few rounds, and a cell across an
 * edge, which fits neither side well, joins last or never.
 *
 * Every round visits all pairs of neighbouring cells in the same order, so the result depends on the image only. */
#include "planes.h"

#define MOST_COST 0.7 /* epsilons, squared: the highest cost of joining */

static int32_t leader_of(int32_t *leader, int32_t k) {
    while (leader[k] != k)
        k = leader[k] = leader[leader[k]];
    return k;
}

static double cost(const ast_planes *p, int32_t a, int32_t b) {
    ast_patch both = p->patches[a];
    ast_patch_add(&both, &p->patches[b]);
    double more = ast_plane_of(&both).rest - p->planes[a].rest - p->planes[b].rest;
    double n = p->patches[a].n < p->patches[b].n ? p->patches[a].n : p->patches[b].n;
    return more > 0 ? more / n : 0;
}

static void join(ast_planes *p, int32_t to, int32_t from, uint32_t round) {
    ast_patch_add(&p->patches[to], &p->patches[from]);
    p->planes[to] = ast_plane_of(&p->patches[to]);
    p->leader[from] = to;
    p->changed[to] = round;
}

/* A pair of neighbouring cells; its cost is known from the last round unless one of the two patches grew in it. */
static void look(ast_planes *p, int32_t cell, int32_t other, double *known, uint32_t round) {
    if (p->leader[other] < 0)
        return;
    int32_t a = leader_of(p->leader, cell), b = leader_of(p->leader, other);
    if (a == b)
        return;
    if (p->changed[a] + 1 == round || p->changed[b] + 1 == round)
        *known = cost(p, a, b);
    if (*known < p->least[a]) {
        p->least[a] = *known;
        p->choice[a] = b;
    }
    if (*known < p->least[b]) {
        p->least[b] = *known;
        p->choice[b] = a;
    }
}

static void choose(ast_planes *p, double limit, uint32_t round) {
    size_t cells = p->across * p->down;
    for (size_t k = 0; k < cells; k++) {
        p->least[k] = limit;
        p->choice[k] = -1;
    }
    for (size_t k = 0; k < cells && p->across > 0; k++) {
        if (p->leader[k] < 0)
            continue;
        if ((k + 1) % p->across != 0)
            look(p, (int32_t)k, (int32_t)(k + 1), &p->costs[2 * k], round);
        if (k + p->across < cells)
            look(p, (int32_t)k, (int32_t)(k + p->across), &p->costs[2 * k + 1], round);
    }
}

static bool paired(const ast_planes *p, int32_t k) {
    return p->choice[k] >= 0 && p->choice[p->choice[k]] == k;
}

/* Only cells that led a patch when the choices were made have a choice. */
static bool join_pairs(ast_planes *p, uint32_t round) {
    bool joined = false;
    int32_t cells = (int32_t)(p->across * p->down);
    for (int32_t k = 0; k < cells; k++) {
        if (!paired(p, k) || p->choice[k] < k)
            continue;
        join(p, k, p->choice[k], round);
        joined = true;
    }
    return joined;
}

static void join_others(ast_planes *p, double limit, uint32_t round) {
    int32_t cells = (int32_t)(p->across * p->down);
    for (int32_t k = 0; k < cells; k++) {
        if (p->choice[k] < 0 || paired(p, k) || !paired(p, p->choice[k]))
            continue;
        int32_t to = leader_of(p->leader, p->choice[k]);
        if (cost(p, to, k) < limit)
            join(p, to, k, round);
    }
}

void ast_planes_grow(ast_planes *p, double epsilon) {
    size_t cells = p->across * p->down;
    double limit = MOST_COST * epsilon * (MOST_COST * epsilon);
    for (size_t k = 0; k < cells; k++)
        p->changed[k] = 0;
    for (uint32_t round = 1;; round++) {
        choose(p, limit, round);
        if (!join_pairs(p, round))
            break;
        join_others(p, limit, round);
    }
    for (size_t k = 0; k < cells; k++)
        if (p->leader[k] >= 0)
            p->leader[k] = leader_of(p->leader, (int32_t)k);
}
