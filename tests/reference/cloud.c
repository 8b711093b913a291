/* SPDX-License-Identifier: MIT */
#include "reference/cloud.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- Clouds ------------------------------------------------------------------------------------------------------ */

static void room_point(ast_random *r, double *p) {
    static const double size[3] = {4, 3, 2.5};
    int wall = (int)ast_random_below(r, 3);
    for (int c = 0; c < 3; c++)
        p[c] = size[c] * ast_random_uniform(r);
    double from = ast_random_below(r, 2) ? size[wall] : 0;
    p[wall] = from + 0.005 * ast_random_normal(r);
}

static double any_magnitude(ast_random *r) {
    double sign = ast_random_below(r, 2) ? 1 : -1;
    double part = ast_random_uniform(r);
    return sign * ldexp(part, (int)ast_random_below(r, 250) - 140);
}

/* What the points of one cloud share. */
typedef struct mould {
    double along[3], from[3], places[5][3];
} mould;

static void point_of(ref_cloud_kind kind, const mould *m, ast_random *r, double *p) {
    double t = ast_random_normal(r);
    size_t place = (size_t)ast_random_below(r, 5);
    if (kind == REF_CLOUD_ROOM || kind == REF_CLOUD_FAR)
        room_point(r, p);
    for (int c = 0; c < 3; c++) {
        double u = ast_random_uniform(r);
        switch (kind) {
        case REF_CLOUD_GRID:
            p[c] = floor(7 * u);
            break;
        case REF_CLOUD_EQUAL:
            p[c] = m->from[c];
            break;
        case REF_CLOUD_PLACES:
            p[c] = m->places[place][c];
            break;
        case REF_CLOUD_LINE:
            p[c] = m->from[c] + t * m->along[c];
            break;
        case REF_CLOUD_PLANE:
            p[c] = c == 2 ? m->from[2] : u;
            break;
        case REF_CLOUD_FAR:
            p[c] += c == 1 ? -1e6 : 1e6;
            break;
        case REF_CLOUD_LARGE:
            p[c] = (2 * u - 1) * 3e38;
            break;
        case REF_CLOUD_TINY:
            p[c] = floor(50 * u) * 0x1p-149;
            break;
        case REF_CLOUD_WILD:
            p[c] = any_magnitude(r);
            break;
        case REF_CLOUD_UNIFORM:
            p[c] = u;
            break;
        default:
            break;
        }
    }
}

void ref_cloud_fill(float *points, size_t count, ref_cloud_kind kind, uint64_t missing, ast_random *random) {
    mould m;
    for (int c = 0; c < 3; c++) {
        m.along[c] = ast_random_normal(random);
        m.from[c] = 3 * ast_random_normal(random);
        for (int i = 0; i < 5; i++)
            m.places[i][c] = ast_random_normal(random);
    }
    for (size_t i = 0; i < count; i++) {
        double p[3];
        point_of(kind, &m, random, p);
        for (int c = 0; c < 3; c++)
            points[3 * i + (size_t)c] = (float)p[c];
        if (missing && ast_random_below(random, missing) == 0)
            points[3 * i + (size_t)ast_random_below(random, 3)] = NAN;
    }
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

typedef struct candidate {
    double squared;
    int32_t index;
} candidate;

static int by_distance(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->squared != y->squared)
        return x->squared < y->squared ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

size_t ref_nearest(const float *points, size_t count, const float *place, size_t wanted, double *squared,
                   int32_t *index) {
    candidate *all = malloc((count + 1) * sizeof *all);
    size_t there = 0;
    for (size_t i = 0; all && i < count; i++) {
        const float *p = points + 3 * i;
        double x = (double)p[0] - place[0], y = (double)p[1] - place[1], z = (double)p[2] - place[2];
        if (!isnan(x + y + z))
            all[there++] = (candidate){x * x + y * y + z * z, (int32_t)i};
    }
    qsort(all, there, sizeof *all, by_distance);
    size_t found = there < wanted ? there : wanted;
    for (size_t i = 0; i < found; i++) {
        squared[i] = all[i].squared;
        index[i] = all[i].index;
    }
    free(all);
    return found;
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

void ref_covariance(const float *points, const int32_t *index, size_t n, long double out[6]) {
    long double mean[3] = {0};
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            mean[c] += (long double)points[3 * (size_t)index[i] + (size_t)c] / (long double)n;
    for (int e = 0; e < 6; e++)
        out[e] = 0;
    for (size_t i = 0; i < n; i++) {
        const float *p = points + 3 * (size_t)index[i];
        for (int a = 0, e = 0; a < 3; a++)
            for (int b = a; b < 3; b++, e++)
                out[e] += (p[a] - mean[a]) * (p[b] - mean[b]);
    }
}

static void turn(long double a[3][3], long double v[3][3], int p, int q) {
    if (a[p][q] == 0)
        return;
    long double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
    long double t = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1));
    long double c = 1 / sqrtl(t * t + 1), s = t * c;
    for (int i = 0; i < 3; i++) {
        long double x = a[i][p], y = a[i][q];
        a[i][p] = c * x - s * y;
        a[i][q] = s * x + c * y;
        x = v[p][i];
        y = v[q][i];
        v[p][i] = c * x - s * y;
        v[q][i] = s * x + c * y;
    }
    for (int i = 0; i < 3; i++) {
        long double x = a[p][i], y = a[q][i];
        a[p][i] = c * x - s * y;
        a[q][i] = s * x + c * y;
    }
    a[p][q] = a[q][p] = 0;
}

void ref_eigen(const long double m[6], long double values[3], long double vectors[3][3]) {
    long double a[3][3] = {{m[0], m[1], m[2]}, {m[1], m[3], m[4]}, {m[2], m[4], m[5]}};
    long double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int order[3] = {0, 1, 2};
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++)
                turn(a, v, p, q);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (a[order[i]][order[i]] > a[order[i + 1]][order[i + 1]]) {
                int held = order[i];
                order[i] = order[i + 1];
                order[i + 1] = held;
            }
    for (int i = 0; i < 3; i++) {
        values[i] = a[order[i]][order[i]];
        for (int c = 0; c < 3; c++)
            vectors[i][c] = v[order[i]][c];
    }
}
