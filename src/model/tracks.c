/* SPDX-License-Identifier: MIT */
#include "tracks.h"

#include "geodesic.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOSE 1e-6 /* of every bound: float products and the rounding of angles */
#define ZERO_SUM 0x1p-20

bool ast_tracks_reserve(ast_tracks *t, size_t count, size_t dimension) {
    t->dimension = dimension;
    if (count <= t->capacity)
        return true;
    size_t capacity = 2 * count, used = t->capacity ? t->count : 0;
    bool grown = ast_grow_array(&t->m, used, capacity, dimension * sizeof *t->m) &&
                 ast_grow_array(&t->w, used, capacity, sizeof *t->w) &&
                 ast_grow_array(&t->dt, used, capacity, sizeof *t->dt) &&
                 ast_grow_array(&t->unseen, used, capacity, sizeof *t->unseen);
    if (grown)
        t->capacity = capacity;
    return grown;
}

void ast_tracks_free(ast_tracks *t) {
    void *memory[] = {t->m, t->w, t->dt, t->unseen};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    *t = (ast_tracks){0};
}

void ast_tracks_begin(ast_tracks *t) {
    if (t->count)
        memset(t->unseen, 1, t->count);
}

double ast_tracks_score(const ast_tracks *t, size_t k, const float *x) {
    ast_geodesic g;
    ast_geodesic_solve(ast_angle_between(x, t->m + k * t->dimension, t->dimension), t->w[k], t->beta, t->dt[k], 1, &g);
    return 1 + (double)t->dt[k] * t->q - g.losses;
}

/* The most that cluster k can score, whatever the angle; and W, by which that falls with 1 - cos(angle). */
static double ceiling_of(const ast_tracks *t, size_t k) {
    return 1 + (double)t->dt[k] * t->q + LOOSE;
}

static double stiffness_of(const ast_tracks *t, size_t k) {
    if (t->w[k] <= 0 || t->beta <= 0)
        return 0; /* the mean may go anywhere for nothing */
    return 1 / (1 / t->w[k] + (double)t->dt[k] / t->beta + 1);
}

static bool ghost(const ast_tracks *t, size_t k) {
    return t->candidates && t->unseen[k];
}

bool ast_tracks_threaten(const ast_tracks *t, const float *x, double best) {
    for (size_t k = 0; k < t->count; k++) {
        if (!ghost(t, k) || ceiling_of(t, k) < best)
            continue;
        double cosine = ast_exact_score(x, t->m + k * t->dimension, t->dimension);
        double most = ceiling_of(t, k) - stiffness_of(t, k) * (1 - cosine) + LOOSE;
        if (most >= best && most >= t->limit)
            return true;
    }
    return false;
}

/* A point at angle theta from a mean that is `apart` from m_k is at least apart - theta from m_k. The largest theta up
 * to which cos(theta) stays above the bound on J_k, C - W (1 - cos(apart - theta)): where the two meet, (1 - W cos
 * apart) cos(theta) - W sin(apart) sin(theta) = C - W, a cosine of theta plus something. */
static double safe_angle(double ceiling, double stiffness, double apart) {
    double a = 1 - stiffness * cos(apart), b = stiffness * sin(apart), length = sqrt(a * a + b * b);
    double ratio = length > 0 ? (ceiling - stiffness) / length : 2;
    double theta = ratio >= 1 ? 0 : acos(ratio > -1 ? ratio : -1) - atan2(b, a);
    if (theta <= apart)
        return theta > 0 ? theta : 0;
    return ceiling < 1 ? acos(ceiling > -1 ? ceiling : -1) : 0; /* beyond m_k itself the bound is the ceiling */
}

float ast_tracks_safe(const ast_tracks *t, const ast_cluster_list *clusters) {
    double safe = -4;
    for (size_t k = 0; k < t->count; k++) {
        if (!ghost(t, k) || ceiling_of(t, k) < t->limit)
            continue;
        double ceiling = ceiling_of(t, k), stiffness = stiffness_of(t, k), own = -4;
        for (size_t c = 0; c < clusters->live; c++) {
            size_t slot = (size_t)clusters->order[c];
            if (slot < t->count && t->unseen[slot])
                continue;
            const float *mean = clusters->means + slot * t->dimension;
            double apart = ast_angle_between(mean, t->m + k * t->dimension, t->dimension) - LOOSE;
            double from = cos(safe_angle(ceiling, stiffness, apart > 0 ? apart : 0)) + LOOSE;
            own = from > own ? from : own;
        }
        own = own < ceiling ? own : ceiling;
        safe = own > safe ? own : safe;
    }
    return (float)safe + 0x1p-22f;
}

void ast_tracks_revive(const ast_tracks *t, size_t k, const float *x, float *mu) {
    const float *m = t->m + k * t->dimension;
    double u[4096], squared = 0, zeta = ast_angle_between(x, m, t->dimension);
    for (size_t d = 0; d < t->dimension; d++)
        squared += (double)x[d] * (double)x[d];
    for (size_t d = 0; d < t->dimension; d++)
        u[d] = (double)x[d] / sqrt(squared);
    ast_geodesic g;
    ast_geodesic_solve(zeta, t->w[k], t->beta, t->dt[k], 1, &g);
    ast_geodesic_mean(t->dimension, u, m, g.eta, zeta, mu);
}

/* The direction of the cluster's sum; false: it is zero. */
static bool direction(const ast_cluster_list *c, size_t k, double *u, double *length) {
    const int64_t *sum = c->sums + k * c->dimension;
    double squared = 0;
    for (size_t d = 0; d < c->dimension; d++)
        squared += (double)sum[d] * (double)sum[d];
    *length = sqrt(squared) / c->unit;
    if (*length <= ast_clusters_weight(c, (int32_t)k) * ZERO_SUM)
        return false;
    for (size_t d = 0; d < c->dimension; d++)
        u[d] = (double)sum[d] / sqrt(squared);
    return true;
}

bool ast_tracks_mean(const ast_tracks *t, const ast_cluster_list *c, size_t k, float *mu) {
    double u[4096], length;
    if (!direction(c, k, u, &length))
        return false;
    const float *m = t->m + k * t->dimension;
    double zeta = ast_angle_from(u, m, t->dimension);
    ast_geodesic g;
    ast_geodesic_solve(zeta, t->w[k], t->beta, t->dt[k], length, &g);
    ast_geodesic_mean(t->dimension, u, m, g.eta, zeta, mu);
    return true;
}

double ast_tracks_losses(const ast_tracks *t, const ast_cluster_list *c, size_t k, double *length) {
    double u[4096];
    if (!direction(c, k, u, length))
        return 0;
    ast_geodesic g;
    ast_geodesic_solve(ast_angle_from(u, t->m + k * t->dimension, t->dimension), t->w[k], t->beta, t->dt[k], *length,
                       &g);
    return g.losses;
}
