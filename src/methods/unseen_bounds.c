/* SPDX-License-Identifier: MIT
 *
 * Which points a tracked cluster without points cannot win, told without solving for its score J_k: J_k is at most
 * C - W (1 - x . m_k) (tracks.h). Nothing here decides a label; a bound that is too high costs time alone.
 *
 * The one idea: a point close to a mean is far from m_k if the mean is. So the nearest cluster with points gives a
 * score from which on the unseen one is out of the question for every point, and that cluster is kept up to date the
 * way nearest neighbours are: a mean that is new is compared with the nearest so far, and only those whose nearest one
 * moved or is gone look at all of them again. */
#include "tracks.h"

#include "memory.h"

#include <math.h>
#include <string.h>

#define LOOSE 1e-6   /* of every bound: float products and the rounding of angles */
#define LANES 8      /* sums side by side */
#define NOWHERE (-4) /* below every score */

static double ceiling_of(const ast_tracks *t, size_t k);
static double stiffness_of(const ast_tracks *t, size_t k);
static bool find_changed(ast_tracks *t, const ast_cluster_list *c, size_t *count);
static double highest_ceiling(const ast_tracks *t);
static bool update_nearest(ast_tracks *t, const ast_cluster_list *c, size_t k, size_t changed);
static double unseen_bound_from(const ast_tracks *t, size_t k, double cosine);

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

static bool ghost(const ast_tracks *t, size_t k) {
    return t->candidates && t->unseen[k];
}

bool ast_tracks_may_win(const ast_tracks *t, size_t k, const float *x, double best) {
    double ceiling = ceiling_of(t, k), least = best > t->limit ? best : t->limit;
    if (ceiling < least)
        return false;
    double cosine = closeness(t, x, k);
    return ceiling - stiffness_of(t, k) * (1 - cosine) + LOOSE >= least;
}

bool ast_tracks_unseen_can_win(void *tracks, const float *x, double best) {
    const ast_tracks *t = tracks;
    for (size_t k = 0; k < t->count; k++)
        if (ghost(t, k) && ast_tracks_may_win(t, k, x, best))
            return true;
    return false;
}

float ast_tracks_unseen_bound(void *tracks, const ast_cluster_list *c) {
    ast_tracks *t = tracks;
    double safe = NOWHERE;
    size_t changed;
    t->changed_count = 0;
    if (t->count == 0 || !t->candidates)
        return NOWHERE;
    if (!find_changed(t, c, &changed)) { /* no memory to be exact */
        t->changed_count = SIZE_MAX;
        return (float)highest_ceiling(t) + 0x1p-22f;
    }
    t->changed_count = changed;
    for (size_t k = 0; k < t->count; k++) {
        ast_neighbour *near = &t->near[k];
        if (!ghost(t, k) || ceiling_of(t, k) < t->limit) {
            near->slot = -1;
            continue;
        }
        if (update_nearest(t, c, k, changed))
            near->unseen_bound = unseen_bound_from(t, k, near->cosine);
        safe = near->unseen_bound > safe ? near->unseen_bound : safe;
    }
    return (float)safe + 0x1p-22f;
}

/* Pairs are brought up to date for all tracked clusters, unseen or not: who is unseen changes more often than a mean.
 */
void ast_tracks_unseen_bound_of(void *tracks, const ast_cluster_list *c, float of[AST_MASK_BITS]) {
    ast_tracks *t = tracks;
    bool known = t->count > 0 && t->candidates && t->changed_count < SIZE_MAX;
    for (size_t slot = 0; slot < AST_MASK_BITS; slot++)
        of[slot] = t->changed_count < SIZE_MAX ? NOWHERE : (float)highest_ceiling(t) + 0x1p-22f;
    for (size_t e = 0; known && e < t->changed_count; e++)
        for (size_t k = 0, slot = (size_t)t->changed[e]; k < t->count; k++)
            t->pairs[k * AST_MASK_BITS + slot] =
                (float)unseen_bound_from(t, k, closeness(t, c->means + slot * t->dimension, k)) + 0x1p-22f;
    for (size_t k = 0; known && k < t->count; k++)
        for (size_t slot = 0; slot < c->slots && ghost(t, k) && ceiling_of(t, k) >= t->limit; slot++)
            if (t->met[slot] && t->pairs[k * AST_MASK_BITS + slot] > of[slot])
                of[slot] = t->pairs[k * AST_MASK_BITS + slot];
}

/* The most that cluster k can score, whatever the angle; and W, by which that falls with 1 - cos(angle). */
static double ceiling_of(const ast_tracks *t, size_t k) {
    return 1 + (double)t->dt[k] * t->q + LOOSE;
}

static double stiffness_of(const ast_tracks *t, size_t k) {
    if (t->w[k] <= 0 || t->beta[k] <= 0)
        return 0; /* the mean may go anywhere for nothing */
    return 1 / (1 / t->w[k] + (double)t->dt[k] / t->beta[k] + 1);
}

static double highest_ceiling(const ast_tracks *t) {
    double highest = NOWHERE;
    for (size_t k = 0; k < t->count; k++)
        if (ghost(t, k) && ceiling_of(t, k) > highest)
            highest = ceiling_of(t, k);
    return highest;
}

/* ---- The nearest cluster with points --------------------------------------------------------------------------- */

static bool reserve_previous(ast_tracks *t, size_t slots) {
    if (slots <= t->previous_capacity)
        return true;
    size_t capacity = 2 * slots, used = t->previous_capacity;
    if (!ast_grow_array(&t->met, used, capacity, sizeof *t->met) ||
        !ast_grow_array(&t->previous_means, used, capacity, t->dimension * sizeof *t->previous_means) ||
        !ast_grow_array(&t->changed, 0, capacity, sizeof *t->changed))
        return false;
    memset(t->met + used, 0, capacity - used);
    t->previous_capacity = capacity;
    return true;
}

static bool has_points(const ast_tracks *t, const ast_cluster_list *c, size_t slot) {
    return c->alive[slot] && !(slot < t->count && t->unseen[slot]);
}

/* Lists the clusters with points that are not as they were at the last call, and makes a note of those that were there
 * then and are gone. */
static bool find_changed(ast_tracks *t, const ast_cluster_list *c, size_t *count) {
    size_t bytes = t->dimension * sizeof *t->previous_means;
    *count = 0;
    if (!reserve_previous(t, c->slots))
        return false;
    for (size_t slot = 0; slot < c->slots; slot++) {
        const float *mean = c->means + slot * t->dimension;
        float *known = t->previous_means + slot * t->dimension;
        bool here = has_points(t, c, slot);
        if (here && !(t->met[slot] && memcmp(known, mean, bytes) == 0)) {
            t->changed[(*count)++] = (int32_t)slot;
            memcpy(known, mean, bytes);
        }
        t->met[slot] = here;
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

/* Brings the nearest of cluster k up to date; true if it is another, or elsewhere. */
static bool update_nearest(ast_tracks *t, const ast_cluster_list *c, size_t k, size_t changed) {
    ast_neighbour *near = &t->near[k], before = *near;
    bool lost = before.slot < 0 || !t->met[before.slot];
    for (size_t e = 0; e < changed && !lost; e++)
        lost = t->changed[e] == before.slot;
    if (!lost) {
        for (size_t e = 0; e < changed; e++)
            compare(t, c, k, t->changed[e]);
        return near->slot != before.slot;
    }
    *near = (ast_neighbour){-1, NOWHERE, NOWHERE};
    for (size_t slot = 0; slot < c->slots; slot++)
        if (t->met[slot])
            compare(t, c, k, (int32_t)slot);
    return true;
}

/* ---- From there to a score ------------------------------------------------------------------------------------- */

/* A point at angle theta from a mean that is `apart` from m_k is at least apart - theta from m_k. The largest theta up
 * to which cos(theta) stays above the bound on J_k, C - W (1 - cos(apart - theta)): where the two update_nearest, (1 -
 * W cos apart) cos(theta) - W sin(apart) sin(theta) = C - W, a cosine of theta plus something. It grows with `apart`,
 * so that the nearest mean speaks for all of them. */
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
        return NOWHERE; /* nobody has points, so no score can be good enough */
    cosine += LOOSE;
    double apart = acos(cosine < -1 ? -1 : cosine > 1 ? 1 : cosine) - LOOSE;
    double safe = cos(unseen_bound_angle(ceiling, stiffness_of(t, k), apart > 0 ? apart : 0)) + LOOSE;
    return safe < ceiling ? safe : ceiling;
}
