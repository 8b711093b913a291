/* SPDX-License-Identifier: MIT */
#include "tracks.h"

#include "geodesic.h"
#include "memory.h"

#include <math.h>
#include <string.h>

bool ast_tracks_reserve(ast_tracks *t, size_t count, size_t dimension) {
    t->dimension = dimension;
    if (count <= t->capacity)
        return true;
    size_t capacity = 2 * count, used = t->capacity ? t->count : 0;
    bool grown = ast_grow_array(&t->m, used, capacity, dimension * sizeof *t->m) &&
                 ast_grow_array(&t->w, used, capacity, sizeof *t->w) &&
                 ast_grow_array(&t->beta, used, capacity, sizeof *t->beta) &&
                 ast_grow_array(&t->dt, used, capacity, sizeof *t->dt) &&
                 ast_grow_array(&t->unseen, used, capacity, sizeof *t->unseen) &&
                 ast_grow_array(&t->near, used, capacity, sizeof *t->near) &&
                 ast_grow_array(&t->pair_bounds, 0, capacity, AST_MASK_BITS * sizeof *t->pair_bounds);
    if (grown)
        t->capacity = capacity;
    return grown;
}

void ast_tracks_free(ast_tracks *t) {
    ast_free_all(t->m, t->w, t->beta, t->dt, t->unseen, t->near, t->had_points, t->previous_means, t->changed,
                 t->pair_bounds);
    *t = (ast_tracks){0};
}

void ast_tracks_begin(ast_tracks *t) {
    if (t->count)
        memset(t->unseen, 1, t->count);
    for (size_t k = 0; k < t->count; k++)
        t->near[k].slot = -1;
    if (t->previous_capacity)
        memset(t->had_points, 0, t->previous_capacity);
}

/* Axial: x or -x, whichever is on the side of m_k; -x goes to the copy (D). */
static const float *facing(const ast_tracks *t, size_t k, const float *x, float *copy) {
    if (!t->axial || ast_exact_score(x, t->m + k * t->dimension, t->dimension) >= 0)
        return x;
    for (size_t d = 0; d < t->dimension; d++)
        copy[d] = -x[d];
    return copy;
}

double ast_tracks_score(const ast_tracks *t, size_t k, const float *x) {
    ast_geodesic g;
    float copy[4096];
    x = facing(t, k, x, copy);
    ast_geodesic_solve(ast_angle_between(x, t->m + k * t->dimension, t->dimension), t->w[k], t->beta[k], t->dt[k], 1,
                       &g);
    return 1 + (double)t->dt[k] * t->q - g.loss;
}

bool ast_tracks_within(const ast_tracks *t, size_t k, const float *x) {
    double score = ast_exact_score(x, t->m + k * t->dimension, t->dimension);
    return !t->revive_needs_fit || (t->axial ? fabs(score) : score) >= t->limit;
}

void ast_tracks_revive(void *tracks, int32_t slot, const float *x, float *mu) {
    const ast_tracks *t = tracks;
    size_t k = (size_t)slot;
    const float *m = t->m + k * t->dimension;
    float copy[4096];
    x = facing(t, k, x, copy);
    double u[4096], squared = 0, zeta = ast_angle_between(x, m, t->dimension);
    for (size_t d = 0; d < t->dimension; d++)
        squared += (double)x[d] * (double)x[d];
    for (size_t d = 0; d < t->dimension; d++)
        u[d] = (double)x[d] / sqrt(squared);
    ast_geodesic g;
    ast_geodesic_solve(zeta, t->w[k], t->beta[k], t->dt[k], 1, &g);
    ast_geodesic_mean(t->dimension, u, m, g.eta, zeta, mu);
}

/* The direction of the cluster's sum, axial on the side of m_k; false: it is zero. */
static bool direction(const ast_tracks *t, const ast_cluster_list *c, size_t k, double *u, double *length) {
    const int64_t *sum = c->sums + k * c->dimension;
    const float *m = t->m + k * t->dimension;
    double raw = ast_sum_length(sum, c->dimension), along = 0;
    *length = raw / c->unit;
    if (*length <= ast_clusters_weight(c, (int32_t)k) * AST_ZERO_SUM)
        return false;
    for (size_t d = 0; d < c->dimension; d++) {
        u[d] = (double)sum[d] / raw;
        along += (double)sum[d] * (double)m[d];
    }
    for (size_t d = 0; d < c->dimension && t->axial && along < 0; d++)
        u[d] = -u[d];
    return true;
}

bool ast_tracks_mean(const ast_tracks *t, const ast_cluster_list *c, size_t k, float *mu) {
    double u[4096], length;
    if (!direction(t, c, k, u, &length))
        return false;
    const float *m = t->m + k * t->dimension;
    double zeta = ast_angle_from(u, m, t->dimension);
    ast_geodesic g;
    ast_geodesic_solve(zeta, t->w[k], t->beta[k], t->dt[k], length, &g);
    ast_geodesic_mean(t->dimension, u, m, g.eta, zeta, mu);
    return true;
}

double ast_tracks_geodesic_losses(const ast_tracks *t, const ast_cluster_list *c, size_t k, double *length) {
    double u[4096];
    if (!direction(t, c, k, u, length))
        return 0;
    ast_geodesic g;
    ast_geodesic_solve(ast_angle_from(u, t->m + k * t->dimension, t->dimension), t->w[k], t->beta[k], t->dt[k], *length,
                       &g);
    return g.loss;
}
