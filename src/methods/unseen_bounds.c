/* SPDX-License-Identifier: MIT
 *
 * Upper bounds of J_k, the score of a tracked cluster without points: J_k is at most C - W (1 - x . m_k) (tracks.h). No
 * label depends on them; a bound that is too high only costs time.
 *
 * A point close to a mean that is far from m_k is itself far from m_k. So the cluster with points nearest to m_k gives
 * a score from which on unseen cluster k wins no point. That nearest cluster is updated like a nearest neighbour: a new
 * mean is compared with the nearest so far; all means are compared only if the nearest one moved or lost its points. */
#include "tracks.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define LOOSE 1e-6   /* of every bound: float products and the rounding of angles */
#define LANES 8      /* sums side by side */
#define NOWHERE (-4) /* below every score */

/* The product of two unit vectors, additions in any order: bounds do not need the definition's, which is slower. */
static double product(const float *x, const float *y, size_t dimension) {
    double sum[LANES] = {0}, total = 0;
    size_t d = 0;
    for (; d + LANES <= dimension; d += LANES)
        for (size_t j = 0; j < LANES; j++)
            sum[j] += (double)x[d + j] * (double)y[d + j];
    for (; d < dimension; d++)
        total += (double)x[d] * (double)y[d];
    for (size_t j = 0; j < LANES; j++)
        total += sum[j];
    return total;
}

static double closeness(const ast_tracks *t, const float *x, size_t k) {
    double cosine = product(x, t->m + k * t->dimension, t->dimension);
    return t->axial ? fabs(cosine) : cosine;
}

/* Whether cluster k has no points and may win some. */
static bool is_candidate(const ast_tracks *t, size_t k) {
    return t->unseen_may_win && t->unseen[k];
}

/* C, the most that cluster k can score at any angle; and W, by which the bound falls with 1 - cos(angle). */
static double ceiling_of(const ast_tracks *t, size_t k) {
    return 1 + (double)t->dt[k] * t->q + LOOSE;
}

static double stiffness_of(const ast_tracks *t, size_t k) {
    if (t->nearest)
        return 1;
    if (t->w[k] <= 0 || t->beta[k] <= 0)
        return 0; /* the mean moves at no cost */
    return 1 / (1 / t->w[k] + (double)t->dt[k] / t->beta[k] + 1);
}

static double highest_ceiling(const ast_tracks *t) {
    double highest = NOWHERE;
    for (size_t k = 0; k < t->count; k++)
        if (is_candidate(t, k) && ceiling_of(t, k) > highest)
            highest = ceiling_of(t, k);
    return highest;
}

/* ---- The nearest cluster with points --------------------------------------------------------------------------- */

static bool reserve_previous(ast_tracks *t, size_t slots) {
    if (slots <= t->previous_capacity)
        return true;
    size_t capacity = 2 * slots, used = t->previous_capacity;
    if (!ast_grow_array(&t->had_points, used, capacity, sizeof *t->had_points) ||
        !ast_grow_array(&t->previous_means, used, capacity, t->dimension * sizeof *t->previous_means) ||
        !ast_grow_array(&t->changed, 0, capacity, sizeof *t->changed))
        return false;
    memset(t->had_points + used, 0, capacity - used);
    t->previous_capacity = capacity;
    return true;
}

/* Lists the clusters with points whose mean changed, or that had no points, at the last call. */
static bool find_changed(ast_tracks *t, const ast_cluster_list *c, size_t *count) {
    size_t bytes = t->dimension * sizeof *t->previous_means;
    *count = 0;
    if (!reserve_previous(t, c->slots))
        return false;
    for (size_t slot = 0; slot < c->slots; slot++) {
        const float *mean = c->means + slot * t->dimension;
        float *known = t->previous_means + slot * t->dimension;
        bool here = c->alive[slot] && !(slot < t->count && t->unseen[slot]); /* has points */
        if (here && !(t->had_points[slot] && memcmp(known, mean, bytes) == 0)) {
            t->changed[(*count)++] = (int32_t)slot;
            memcpy(known, mean, bytes);
        }
        t->had_points[slot] = here;
    }
    return true;
}

static void compare(ast_tracks *t, const ast_cluster_list *c, size_t k, int32_t slot) {
    const float *mean = c->means + (size_t)slot * t->dimension;
    double cosine = closeness(t, mean, k);
    if (cosine > t->near[k].cosine) {
        t->near[k].cosine = cosine;
        t->near[k].slot = slot;
    }
}

/* Updates the nearest cluster of cluster k; true if it is another one, or its mean changed. */
static bool update_nearest(ast_tracks *t, const ast_cluster_list *c, size_t k, size_t changed) {
    ast_neighbour *near = &t->near[k], before = *near;
    bool lost = before.slot < 0 || !t->had_points[before.slot];
    for (size_t e = 0; e < changed && !lost; e++)
        lost = t->changed[e] == before.slot;
    if (!lost) {
        for (size_t e = 0; e < changed; e++)
            compare(t, c, k, t->changed[e]);
        return near->slot != before.slot;
    }
    *near = (ast_neighbour){-1, NOWHERE, NOWHERE};
    for (size_t slot = 0; slot < c->slots; slot++)
        if (t->had_points[slot])
            compare(t, c, k, (int32_t)slot);
    return true;
}

/* ---- From an angle to a score -------------------------------------------------------------------------------------
 */

/* A point at angle theta from a mean that is `apart` from m_k is at least apart - theta from m_k. The largest theta up
 * to which cos(theta) stays above the bound on J_k, C - W (1 - cos(apart - theta)): where the two are equal,
 * (1 - W cos apart) cos(theta) - W sin(apart) sin(theta) = C - W, a cosine of theta plus a phase. It grows with
 * `apart`, so that the bound of the nearest mean holds for all means. */
static double unseen_bound_angle(double ceiling, double stiffness, double apart) {
    double a = 1 - stiffness * cos(apart), b = stiffness * sin(apart), length = sqrt(a * a + b * b);
    double ratio = length > 0 ? (ceiling - stiffness) / length : 2;
    double theta = ratio >= 1 ? 0 : acos(ratio > -1 ? ratio : -1) - atan2(b, a);
    if (theta <= apart)
        return theta > 0 ? theta : 0;
    return ceiling < 1 ? acos(ceiling > -1 ? ceiling : -1) : 0; /* beyond m_k itself the bound is the ceiling */
}

static double unseen_bound_from(const ast_tracks *t, size_t k, double cosine) {
    double ceiling = ceiling_of(t, k);
    if (cosine <= NOWHERE)
        return NOWHERE; /* no cluster has points, so that no score exists */
    cosine += LOOSE;
    double apart = acos(cosine < -1 ? -1 : cosine > 1 ? 1 : cosine) - LOOSE;
    double bound = cos(unseen_bound_angle(ceiling, stiffness_of(t, k), apart > 0 ? apart : 0)) + LOOSE;
    return bound < ceiling ? bound : ceiling;
}

/* ---- The bounds ----------------------------------------------------------------------------------------------------
 */

bool ast_tracks_may_win(const ast_tracks *t, size_t k, const float *x, double best) {
    double ceiling = ceiling_of(t, k), least = t->nearest || best > t->limit ? best : t->limit;
    if (ceiling < least)
        return false;
    double cosine = closeness(t, x, k);
    return ceiling - stiffness_of(t, k) * (1 - cosine) + LOOSE >= least;
}

bool ast_tracks_unseen_can_win(void *tracks, const float *x, double best) {
    const ast_tracks *t = tracks;
    for (size_t k = 0; k < t->count; k++)
        if (is_candidate(t, k) && ast_tracks_may_win(t, k, x, best))
            return true;
    return false;
}

float ast_tracks_unseen_bound(void *tracks, const ast_cluster_list *c) {
    ast_tracks *t = tracks;
    double bound = NOWHERE;
    size_t changed;
    t->changed_count = 0;
    if (t->count == 0 || !t->unseen_may_win)
        return NOWHERE;
    if (!find_changed(t, c, &changed)) { /* no memory: a coarser bound */
        t->changed_count = SIZE_MAX;
        return (float)highest_ceiling(t) + 0x1p-22f;
    }
    t->changed_count = changed;
    for (size_t k = 0; k < t->count; k++) {
        ast_neighbour *near = &t->near[k];
        if (!is_candidate(t, k) || ceiling_of(t, k) < t->limit) {
            near->slot = -1;
            continue;
        }
        if (update_nearest(t, c, k, changed))
            near->unseen_bound = unseen_bound_from(t, k, near->cosine);
        bound = near->unseen_bound > bound ? near->unseen_bound : bound;
    }
    return (float)bound + 0x1p-22f;
}

/* The bounds of pairs are updated for all tracked clusters, unseen or not: clusters become unseen more often than means
 * change. */
void ast_tracks_unseen_bound_of(void *tracks, const ast_cluster_list *c, float of[AST_MASK_BITS]) {
    ast_tracks *t = tracks;
    bool known = t->count > 0 && t->unseen_may_win && t->changed_count < SIZE_MAX;
    for (size_t slot = 0; slot < AST_MASK_BITS; slot++)
        of[slot] = t->changed_count < SIZE_MAX ? NOWHERE : (float)highest_ceiling(t) + 0x1p-22f;
    for (size_t e = 0; known && e < t->changed_count; e++)
        for (size_t k = 0, slot = (size_t)t->changed[e]; k < t->count; k++)
            t->pair_bounds[k * AST_MASK_BITS + slot] =
                (float)unseen_bound_from(t, k, closeness(t, c->means + slot * t->dimension, k)) + 0x1p-22f;
    for (size_t k = 0; known && k < t->count; k++)
        for (size_t slot = 0; slot < c->slots && is_candidate(t, k) && ceiling_of(t, k) >= t->limit; slot++)
            if (t->had_points[slot] && t->pair_bounds[k * AST_MASK_BITS + slot] > of[slot])
                of[slot] = t->pair_bounds[k * AST_MASK_BITS + slot];
}
