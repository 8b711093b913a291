/* SPDX-License-Identifier: MIT
 *
 * The inner loops of silhouettes: how near points are to a mean of their own, and to the nearest other one.
 *
 * The one idea: a lane is a point, what happens in a lane is a fixed sequence of plain operations in double, and lanes
 * are added up by their number. So every table gives the same bits. */
#ifndef AST_APART_H
#define AST_APART_H

#include "kernels.h"

#include <string.h>

/* What the points meet. */
typedef struct ast_apart_means {
    const double *means; /* (count, features); they need not be unit vectors */
    size_t count, features;
    const double *without; /* (count) n / (n - 1) for the n points that the mean stands for; 0 for one point */
    double none;           /* dissimilarities up to here may be rounding */
} ast_apart_means;

/* A number as a whole number of units of 1 / scale, a power of two: nearest, ties to even; |x| scale below 2^51. */
static inline int64_t ast_apart_fixed(double x, double scale) {
    const double magic = 0x1.8p52; /* behind it there is no room for fractions */
    double sum = x * scale + magic;
    int64_t bits, origin;
    memcpy(&bits, &sum, sizeof bits);
    memcpy(&origin, &magic, sizeof origin);
    return bits - origin;
}

/* n is a multiple of AST_LANES. Columns are floats, D = 2..4 of them, whose vectors have length 1 up to the rounding of
 * their components; the loops lengthen them to 1 within 3e-14: x (1.5 - 0.5 |x|^2). */
typedef struct ast_apart {
    /* Their components by ast_apart_fixed: fixed (n / AST_LANES, D, AST_LANES). */
    void (*fix_columns)(const float *const *x, size_t n, size_t dimension, double scale, int64_t *fixed);

    /* Adds up silhouettes: totals[i mod AST_LANES] += (b - a) / max(a, b), where a = without[own] (1 - x . means[own])
     * and b = 1 - the largest x . means[k], k other than own; both at least 0. Nothing where own is below 0,
     * without[own] is 0, or neither is above `none`; such points may hold anything. D is the number of features. */
    void (*columns)(const float *const *x, size_t n, const ast_apart_means *met, const int32_t *own, double *totals);

    /* The same for tiles of AST_LANES points in double, each (features, AST_LANES), taken as they are. */
    void (*tiles)(const double *tiles, size_t n, const ast_apart_means *met, const int32_t *own, double *totals);
} ast_apart;

/* The loops for the instruction set of a table of kernels. */
const ast_apart *ast_apart_of(const ast_kernels *kernels);

#endif
