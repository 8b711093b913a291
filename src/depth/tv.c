/* SPDX-License-Identifier: MIT
 *
 * Total-variation smoothing of unit vectors by an augmented Lagrangian, after Rosman et al. (2012). It solves
 *
 *     min over u of   weight TV(u) + 1/2 |u - u0|^2   with every u on the sphere.
 *
 * With the differences z = grad u as separate variables, and p as the multiplier of that constraint, the terms
 * separate, and an iteration updates them in turn:
 *
 *     total variation   p = p + sigma grad(extrapolated), limited to |p| <= weight (z is eliminated);
 *     data and sphere   u = u + tau (div p + u0), projected to the sphere;
 *     extrapolation     extrapolated = 2 u - the previous u.
 *
 * The quadratic term that ties z to grad u is linearised, so that the second step has this closed form (Chambolle and
 * Pock 2011); 8 sigma tau < 1 keeps it stable. Splitting u itself into a smooth and a spherical copy, as the paper
 * does, needs an inner loop for the smooth copy; with a short inner loop the copies drifted apart.
 *
 * A difference counts only if neither pixel is a hole: nothing crosses a hole. */
#include "depth.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAU 0.1f
#define SIGMA 1.2f
#define ROWS 16 /* per task */

enum { INPUT = 0, U = 3, EXTRAPOLATED = 6, PX = 9, PY = 12, RIGHT = 15, DOWN = 16, PLANES = 17 };

typedef struct smoothing {
    const ast_image_kernels *kernels;
    size_t width, height, row; /* row: floats from one row to the next */
    float *plane[PLANES];
    float *normals;
    float weight;
} smoothing;

static void load_row(void *data, size_t v);
static void join_row(void *data, size_t v);
static void dual_row(void *data, size_t v);
static void primal_row(void *data, size_t v);
static void store_row(void *data, size_t v);

/* One padding pixel at least: it serves as the left neighbour of the next row. */
static size_t row_size(size_t width) {
    const size_t unit = AST_ALIGNMENT / sizeof(float);
    return (width + unit) / unit * unit;
}

/* A plane has a row of zeros before and after the image: every pixel has neighbours. */
static size_t plane_size(size_t width, size_t height) {
    return (height + 2) * row_size(width);
}

bool ast_tv_prepare(ast_tv *tv, size_t width, size_t height) {
    size_t floats = PLANES * plane_size(width, height);
    if (tv->capacity >= floats)
        return true;
    float *memory = ast_allocate(floats, sizeof *memory);
    if (!memory)
        return false;
    ast_free(tv->memory);
    *tv = (ast_tv){memory, floats};
    return true;
}

void ast_tv_smooth(const ast_tv *tv, ast_pool *pool, const ast_image_kernels *kernels, float *normals, size_t width,
                   size_t height, double weight, int iterations) {
    smoothing s = {.kernels = kernels,
                   .width = width,
                   .height = height,
                   .row = row_size(width),
                   .normals = normals,
                   .weight = (float)weight};
    for (size_t p = 0; p < PLANES; p++)
        s.plane[p] = tv->memory + p * plane_size(width, height) + s.row;
    ast_pool_each(pool, height, ROWS, load_row, &s);
    ast_pool_each(pool, height, ROWS, join_row, &s);
    for (int i = 0; i < iterations && !ast_pool_cancelled(pool); i++) {
        ast_pool_each(pool, height, ROWS, dual_row, &s);
        ast_pool_each(pool, height, ROWS, primal_row, &s);
    }
    if (!ast_pool_cancelled(pool))
        ast_pool_each(pool, height, ROWS, store_row, &s);
}

static void clear_row(const smoothing *s, ptrdiff_t row) {
    for (int p = 0; p < PLANES; p++)
        memset(s->plane[p] + row * (ptrdiff_t)s->row, 0, s->row * sizeof(float));
}

/* u = extrapolated = u0, everything else 0. */
static void load_row(void *data, size_t v) {
    const smoothing *s = data;
    if (v == 0)
        clear_row(s, -1);
    if (v + 1 == s->height)
        clear_row(s, (ptrdiff_t)s->height);
    clear_row(s, (ptrdiff_t)v);
    for (size_t u = 0; u < s->width; u++) {
        const float *n = s->normals + 3 * (v * s->width + u);
        if (!isfinite(n[0]) || !isfinite(n[1]) || !isfinite(n[2]))
            continue;
        for (int c = 0; c < 3; c++)
            s->plane[INPUT + c][v * s->row + u] = s->plane[U + c][v * s->row + u] =
                s->plane[EXTRAPOLATED + c][v * s->row + u] = n[c];
    }
}

static bool is_there(const smoothing *s, size_t at) {
    return s->plane[INPUT][at] != 0 || s->plane[INPUT + 1][at] != 0 || s->plane[INPUT + 2][at] != 0;
}

static void join_row(void *data, size_t v) {
    const smoothing *s = data;
    for (size_t at = v * s->row; at < v * s->row + s->width; at++) {
        bool here = is_there(s, at);
        s->plane[RIGHT][at] = here && is_there(s, at + 1);
        s->plane[DOWN][at] = here && is_there(s, at + s->row);
    }
}

static ast_tv_row row_of(const smoothing *s, size_t v) {
    ast_tv_row row;
    size_t at = v * s->row;
    for (int c = 0; c < 3; c++) {
        row.input[c] = s->plane[INPUT + c] + at;
        row.u[c] = s->plane[U + c] + at;
        row.extrapolated[c] = s->plane[EXTRAPOLATED + c] + at;
        row.px[c] = s->plane[PX + c] + at;
        row.py[c] = s->plane[PY + c] + at;
        row.below[c] = row.extrapolated[c] + s->row;
        row.above[c] = row.py[c] - s->row;
    }
    row.right = s->plane[RIGHT] + at;
    row.down = s->plane[DOWN] + at;
    return row;
}

static void dual_row(void *data, size_t v) {
    const smoothing *s = data;
    ast_tv_row row = row_of(s, v);
    s->kernels->tv_dual(&row, SIGMA, s->weight, s->width);
}

static void primal_row(void *data, size_t v) {
    const smoothing *s = data;
    ast_tv_row row = row_of(s, v);
    s->kernels->tv_primal(&row, TAU, s->width);
}

/* A vector of length 0 keeps its given value. */
static void store_row(void *data, size_t v) {
    const smoothing *s = data;
    for (size_t u = 0; u < s->width; u++) {
        float *n = s->normals + 3 * (v * s->width + u);
        double squared = 0;
        for (int c = 0; c < 3; c++)
            squared += (double)s->plane[U + c][v * s->row + u] * (double)s->plane[U + c][v * s->row + u];
        for (int c = 0; c < 3 && squared > 0; c++)
            n[c] = (float)((double)s->plane[U + c][v * s->row + u] / sqrt(squared));
    }
}
