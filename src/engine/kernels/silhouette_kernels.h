/* SPDX-License-Identifier: MIT
 *
 * The inner loops of silhouettes: the cosine of points to their own mean, and to the nearest other mean.
 *
 * The main idea: a lane is a point, each lane is a fixed sequence of plain operations in double, and lanes are added in
 * order. So every table gives the same bits. */
#pragma once

#include "kernels.h"

#include <string.h>

/* The means that points are compared with. */
typedef struct ast_silhouette_means {
    const double *means; /* (count, features); they need not be unit vectors */
    size_t count, features;
    const double *leave_one_out; /* (count) n / (n - 1), where n is the number of points of the mean; 0 for one point */
    double rounding_limit;       /* dissimilarities up to this may be rounding */
} ast_silhouette_means;

/* x in units of 1 / scale, a power of two, rounded to the nearest integer, ties to even; |x| scale is below 2^51. */
static inline int64_t ast_to_fixed(double x, double scale) {
    const double magic = 0x1.8p52; /* too large for fractional bits */
    double sum = x * scale + magic;
    int64_t bits, origin;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&origin, &magic, sizeof origin);
    return bits - origin;
}

/* n is a multiple of AST_LANES. Columns are floats, D = 2..4 of them; their vectors have length 1 up to the rounding of
 * their components, and the loops correct the length to 1 within 3e-14: x (1.5 - 0.5 |x|^2). */
typedef struct ast_silhouette_kernels {
    /* The components as integers by ast_to_fixed: fixed (n / AST_LANES, D, AST_LANES). */
    void (*to_fixed_columns)(const float *const *x, size_t n, size_t dimension, double scale, int64_t *fixed);

    /* Adds silhouettes: totals[i mod AST_LANES] += (b - a) / max(a, b), where a = leave_one_out[own] (1 - x .
     * means[own]) and b = 1 - the largest x . means[k], k other than own; both at least 0. Adds nothing if own < 0, if
     * leave_one_out[own] is 0, or if neither a nor b exceeds `rounding_limit`; such points may have any value. D is the
     * number of features. */
    void (*add_columns)(const float *const *x, size_t n, const ast_silhouette_means *to, const int32_t *own,
                        double *totals);

    /* The same for tiles of AST_LANES points in double, each (features, AST_LANES), used as they are. */
    void (*add_tiles)(const double *tiles, size_t n, const ast_silhouette_means *to, const int32_t *own,
                      double *totals);
} ast_silhouette_kernels;
