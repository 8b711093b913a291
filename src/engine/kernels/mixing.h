/* SPDX-License-Identifier: MIT
 *
 * The inner loops of mixtures and samplers, which want all K scores of a point rather than the best one. They work on
 * tiles: n points (a multiple of AST_LANES) as columns, x[d * pitch + i], whatever the dimension, against K means.
 *
 * The one idea: a lane is a point, and what happens in a lane is a fixed sequence of plain multiplications and
 * additions, or is exact. So every table gives the same bits, and no margin has to be watched. */
#ifndef AST_MIXING_H
#define AST_MIXING_H

#include "kernels.h"

typedef struct ast_tile {
    const float *x; /* (D, pitch) */
    size_t pitch, n, dimension;
} ast_tile;

typedef struct ast_mixing {
    /* logits[k * n + i] = offset[k] + scale[k] (x_i . means_k), means (K, D): products and sums in double, components
     * in order. */
    void (*logits)(const ast_tile *tile, const double *means, const double *offset, const double *scale, size_t count,
                   double *logits);

    /* Every column of the logits (K, n) becomes exp(logit - most) / total, where `most` is its largest and `total` the
     * sum of the exponentials: both (n). At least one logit of a column is finite. */
    void (*normalise)(double *logits, size_t count, size_t n, double *most, double *total);

    /* A draw from exp(logit) of every column, given numbers of [0, 1): the first k whose share of the running sum
     * exceeds the number. The exponentials are floats; scratch (K, AST_LANES). */
    void (*draw)(const double *logits, size_t count, size_t n, const float *uniform, float *scratch, int32_t *labels);

    /* Adds the points to K sums: sums[k * (D + 1) + d] += v x_d and, behind them, += v, where v = part[k * n + i]
     * weight[i]. Each term is first rounded to a multiple of `grain`, a power of two, so that the sums are exact, and
     * the same in any order, as long as they stay below 2^53 grain. */
    void (*gather)(const ast_tile *tile, const double *part, const double *weight, size_t count, double grain,
                   double *sums);
} ast_mixing;

#endif
