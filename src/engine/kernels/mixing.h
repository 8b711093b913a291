/* SPDX-License-Identifier: MIT
 *
 * The inner loops of mixtures and samplers, which need all K scores of a point, not only the best. They work on tiles:
 * n points (a multiple of AST_LANES) as columns, x[d * pitch + i], for any dimension, against K means.
 *
 * The main idea: a lane is a point, and each lane is a fixed sequence of plain multiplications and additions, or exact.
 * So every table gives the same bits, and no error margin is needed. */
#pragma once

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

    /* Every column of the logits (K, n) becomes exp(logit - most) / total, where `most` (n) is its largest logit and
     * `total` (n) the sum of the exponentials. At least one logit per column is finite. */
    void (*normalise)(double *logits, size_t count, size_t n, double *most, double *total);

    /* Draws from exp(logit) for every column, given numbers in [0, 1): the first k whose share of the running sum
     * exceeds the number. Exponentials are floats; scratch (K, AST_LANES). */
    void (*draw)(const double *logits, size_t count, size_t n, const float *uniform, float *scratch, int32_t *labels);

    /* Adds the points to K sums: sums[k * (D + 1) + d] += v x_d, and v to the element after them, where v = part[k * n
     * + i] weight[i]. Each term is first rounded to a multiple of `grain`, a power of two, so that the sums are exact
     * and independent of order while they stay below 2^53 grain. */
    void (*gather)(const ast_tile *tile, const double *part, const double *weight, size_t count, double grain,
                   double *sums);
} ast_mixing;
