/* SPDX-License-Identifier: MIT
 *
 * The inner loops of silhouettes: how near points are to a mean of their own, and to the nearest other one.
 *
 * The one idea: a lane is a point, what happens in a lane is a fixed sequence of plain operations in double, and lanes
 * are added up by their number. So every table gives the same bits. */
#ifndef AST_SILHOUETTE_KERNELS_H
#define AST_SILHOUETTE_KERNELS_H

#include "kernels.h"

#include <string.h>

/* What the points meet. */
typedef struct ast_silhouette_means {
    const double *means; /* (count, features); they need not be unit vectors */
    size_t count, features;
    const double *without; /* (count) n / (n - 1) for the n points that the mean stands for; 0 for one point */
    double none;           /* dissimilarities up to here may be rounding */
} ast_silhouette_means;

/* A number as a whole number of units of 1 / scale, a power of two: nearest, ties to even; |x| scale below 2^51. */
static inline int64_t ast_to_fixed(double x, double scale) {
    const double magic = 0x1.8p52; /* behind it there is no room for fractions */
    double sum = x * scale + magic;
    int64_t bits, origin;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&origin, &magic, sizeof origin);
    return bits - origin;
}

/* n is a multiple of AST_LANES. Columns are floats, D = 2..4 of them, whose vectors have length 1 up to the rounding of
 * their components; the loops lengthen them to 1 within 3e-14: x (1.5 - 0.5 |x|^2). */
typedef struct ast_silhouette_kernels {
    /* Their components by ast_to_fixed: fixed (n / AST_LANES, D, AST_LANES). */
    void (*fix_columns)(const float *const *x, size_t n, size_t dimension, double scale, int64_t *fixed);

    /* Adds up silhouettes: totals[i mod AST_LANES] += (b - a) / max(a, b), where a = without[own] (1 - x . means[own])
     * and b = 1 - the largest x . means[k], k other than own; both at least 0. Nothing where own is below 0,
     * without[own] is 0, or neither is above `none`; such points may hold anything. D is the number of features. */
    void (*columns)(const float *const *x, size_t n, const ast_silhouette_means *met, const int32_t *own,
                    double *totals);

    /* The same for tiles of AST_LANES points in double, each (features, AST_LANES), taken as they are. */
    void (*tiles)(const double *tiles, size_t n, const ast_silhouette_means *met, const int32_t *own, double *totals);
} ast_silhouette_kernels;

#endif
