/* SPDX-License-Identifier: MIT */
#include "tracks.h"

#include "geodesic.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define STEP (PI / AST_ANGLE_STEPS)
#define LOOSE 1e-6 /* of every bound: float products and the rounding of angles */
#define ZERO_SUM 0x1p-20

bool ast_tracks_reserve(ast_tracks *t, size_t count, size_t dimension) {
    if (t->cosine[0] == 0)
        for (size_t j = 0; j <= AST_ANGLE_STEPS; j++)
            t->cosine[j] = (float)cos((double)j * STEP);
    t->dimension = dimension;
    if (count <= t->capacity)
        return true;
    size_t capacity = 2 * count, used = t->capacity ? t->count : 0;
    bool grown = ast_grow_array(&t->m, used, capacity, dimension * sizeof *t->m) &&
                 ast_grow_array(&t->w, used, capacity, sizeof *t->w) &&
                 ast_grow_array(&t->dt, used, capacity, sizeof *t->dt) &&
                 ast_grow_array(&t->unseen, used, capacity, sizeof *t->unseen) &&
                 ast_grow_array(&t->tabled, used, capacity, sizeof *t->tabled) &&
                 ast_grow_array(&t->bounds, used, capacity, (AST_ANGLE_STEPS + 1) * sizeof *t->bounds);
    if (grown)
        t->capacity = capacity;
    return grown;
}

void ast_tracks_free(ast_tracks *t) {
    void *memory[] = {t->m, t->w, t->dt, t->unseen, t->tabled, t->bounds};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        free(memory[i]);
    *t = (ast_tracks){0};
}

void ast_tracks_begin(ast_tracks *t) {
    if (t->count) {
        memset(t->unseen, 1, t->count);
        memset(t->tabled, 0, t->count);
    }
}

static double score_at(const ast_tracks *t, size_t k, double zeta) {
    ast_geodesic g;
    ast_geodesic_solve(zeta, t->w[k], t->beta, t->dt[k], 1, &g);
    return 1 + (double)t->dt[k] * t->q - g.losses;
}

double ast_tracks_score(const ast_tracks *t, size_t k, const float *x) {
    return score_at(t, k, ast_angle_between(x, t->m + k * t->dimension, t->dimension));
}

/* J falls with the angle: from the first step that does not fit, none does. */
static const float *bounds_of(ast_tracks *t, size_t k) {
    float *bounds = t->bounds + k * (AST_ANGLE_STEPS + 1);
    bool fits = true;
    for (size_t j = 0; !t->tabled[k] && j <= AST_ANGLE_STEPS; j++) {
        double score = fits ? score_at(t, k, (double)j * STEP) + LOOSE : -4;
        fits = fits && score >= t->limit;
        bounds[j] = fits ? (float)score + 0x1p-22f : -4;
    }
    t->tabled[k] = 1;
    return bounds;
}

static bool ghost(const ast_tracks *t, size_t k) {
    return t->candidates && t->unseen[k];
}

bool ast_tracks_threaten(ast_tracks *t, const float *x, double best) {
    for (size_t k = 0; k < t->count; k++) {
        if (!ghost(t, k))
            continue;
        const float *bounds = bounds_of(t, k);
        if (bounds[0] < best - LOOSE)
            continue;
        double cosine = ast_exact_score(x, t->m + k * t->dimension, t->dimension) + LOOSE;
        size_t step = (size_t)(acos(cosine < 1 ? (cosine > -1 ? cosine : -1) : 1) / STEP);
        if (bounds[step < AST_ANGLE_STEPS ? step : AST_ANGLE_STEPS] >= best - LOOSE)
            return true;
    }
    return false;
}

/* A point at angle theta from mean a is at least `apart` - theta from m_k: the largest theta, in steps, up to which the
 * bound on J_k stays below cos(theta). */
static float safe_from(const ast_tracks *t, const float *bounds, double apart) {
    size_t theta = 0;
    while (theta < AST_ANGLE_STEPS) {
        double away = apart - (double)(theta + 1) * STEP - LOOSE;
        size_t step = away > 0 ? (size_t)(away / STEP) : 0;
        if (bounds[step] >= t->cosine[theta + 1] - (float)LOOSE)
            break;
        theta++;
    }
    return theta == 0 ? 2 : t->cosine[theta] + (float)LOOSE;
}

float ast_tracks_safe(ast_tracks *t, const ast_cluster_list *clusters) {
    float safe = -4;
    for (size_t k = 0; k < t->count; k++) {
        if (!ghost(t, k))
            continue;
        const float *bounds = bounds_of(t, k), *m = t->m + k * t->dimension;
        float own = -4;
        for (size_t c = 0; c < clusters->live; c++) {
            size_t slot = (size_t)clusters->order[c];
            if (slot < t->count && t->unseen[slot])
                continue;
            double cosine = ast_exact_score(clusters->means + slot * t->dimension, m, t->dimension);
            float from = safe_from(t, bounds, acos(cosine < 1 ? (cosine > -1 ? cosine : -1) : 1));
            own = from > own ? from : own;
        }
        float most = bounds[0] + (float)LOOSE; /* whatever the angle */
        own = own < most ? own : most;
        safe = own > safe ? own : safe;
    }
    return safe;
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
