/* SPDX-License-Identifier: MIT */
#include "tracks.h"

#include "geodesic.h"
#include "memory.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

bool ast_tracks_reserve(ast_tracks *t, size_t count, size_t dimension) {
    size_t most = 2 * count;
    t->dimension = dimension;
    return count <= t->capacity ||
           ast_ensure_arrays(&t->capacity, most, AST_REQUEST(t->m, most * dimension), AST_REQUEST(t->w, most),
                             AST_REQUEST(t->limits, most), AST_REQUEST(t->beta, most), AST_REQUEST(t->dt, most),
                             AST_REQUEST(t->unseen, most), AST_REQUEST(t->locked, most), AST_REQUEST(t->near, most),
                             AST_REQUEST(t->pair_bounds, most * AST_MASK_BITS));
}

void ast_tracks_free(ast_tracks *t) {
    ast_free_all(t->m, t->w, t->limits, t->beta, t->dt, t->unseen, t->locked, t->near, t->had_points, t->previous_means,
                 t->changed, t->pair_bounds);
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

/* The best great circle from m_k to points at the angle zeta whose sum has that length. */
static ast_geodesic solve(const ast_tracks *t, size_t k, double zeta, double length) {
    ast_geodesic g;
    ast_geodesic_solve(zeta, t->w[k], t->beta[k], t->dt[k], length, &g);
    return g;
}

double ast_tracks_score(const ast_tracks *t, size_t k, const float *x) {
    if (t->nearest) {
        double score = ast_exact_score(x, t->m + k * t->dimension, t->dimension);
        return (t->axial ? fabs(score) : score) + (double)t->dt[k] * t->q;
    }
    float copy[AST_MAX_DIMENSION];
    double zeta = ast_angle_between(facing(t, k, x, copy), t->m + k * t->dimension, t->dimension);
    return 1 + (double)t->dt[k] * t->q - solve(t, k, zeta, 1).loss;
}

bool ast_tracks_may_revive(const ast_tracks *t, size_t k, const float *x) {
    double score = ast_exact_score(x, t->m + k * t->dimension, t->dimension);
    return !t->revive_needs_fit || (t->axial ? fabs(score) : score) >= t->limit;
}

void ast_tracks_revive(void *tracks, int32_t slot, const float *x, float *mu) {
    const ast_tracks *t = tracks;
    size_t k = (size_t)slot;
    const float *m = t->m + k * t->dimension;
    float copy[AST_MAX_DIMENSION];
    if (t->locked[k]) {
        memcpy(mu, m, t->dimension * sizeof *mu);
        return;
    }
    x = facing(t, k, x, copy);
    double u[AST_MAX_DIMENSION], zeta = ast_angle_between(x, m, t->dimension);
    for (size_t d = 0; d < t->dimension; d++)
        u[d] = (double)x[d];
    ast_normalise(u, t->dimension);
    ast_geodesic_mean(t->dimension, u, m, solve(t, k, zeta, 1).eta, zeta, mu);
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
    double u[AST_MAX_DIMENSION], length;
    const float *m = t->m + k * t->dimension;
    if (t->locked[k]) {
        memcpy(mu, m, t->dimension * sizeof *mu);
        return true;
    }
    if (!direction(t, c, k, u, &length))
        return false;
    double zeta = ast_angle_from(u, m, t->dimension);
    ast_geodesic_mean(t->dimension, u, m, solve(t, k, zeta, length).eta, zeta, mu);
    return true;
}

double ast_tracks_geodesic_losses(const ast_tracks *t, const ast_cluster_list *c, size_t k, double *length) {
    double u[AST_MAX_DIMENSION];
    if (!direction(t, c, k, u, length))
        return 0;
    return solve(t, k, ast_angle_from(u, t->m + k * t->dimension, t->dimension), *length).loss;
}
