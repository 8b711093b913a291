/* SPDX-License-Identifier: MIT
 *
 * The inner loops over a sample of weighted directions in three dimensions: which centre is nearest, the sums of a cap,
 * the weight of a ring.
 *
 * The main idea: row i is added in lane i mod AST_LANES, each lane is a fixed sequence of plain operations in float,
 * and lanes are added in order, in double. So every table gives the same bits. */
#pragma once

#include "kernels.h"

/* Unit vectors in columns, without padding; a weight of 0 leaves a row out of the sums. */
typedef struct ast_weighted_directions {
    float *x[3];   /* (count) each */
    float *weight; /* (count) */
    size_t count;
} ast_weighted_directions;

typedef struct ast_direction_kernels {
    /* nearest (rows): of `count` centres the one with the largest cosine, the first among equals; `count` if no cosine
     * exceeds `least`. */
    void (*find_nearest)(const ast_weighted_directions *rows, const float (*centres)[3], size_t count, float least,
                         int32_t *nearest);

    /* sums (4): over the rows whose cosine to the centre exceeds `least`, weight (cosine - least)^2 x, and weight. */
    void (*sum_cap)(const ast_weighted_directions *rows, const float *centre, float least, double *sums);

    /* The weight of the rows with from <= cosine < below. */
    double (*weigh_ring)(const ast_weighted_directions *rows, const float *centre, float from, float below);
} ast_direction_kernels;
