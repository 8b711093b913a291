/* SPDX-License-Identifier: MIT
 *
 * The cost of a pass with heads, estimated on a sample of points and means: the cheapest stages, and their cost. */
#pragma once

#include "small_large.h"

enum {
    AST_TRIAL_POINTS = 64, /* points in the sample */
    AST_TRIAL_MEANS = 256  /* means in the sample */
};

typedef struct ast_trial {
    ast_scorer *s;
    ast_chunk *c;
    const float **points; /* (n) */
    const float **means;  /* (m) */
    size_t n, m;
    const float **source; /* (sources) rows that axes are computed from: if possible not `means` */
    size_t sources;
    float *memory;                /* of all these rows */
    const float **rows;           /* pointers to all of them */
    size_t expected_means;        /* number of means of the coming pass */
    bool labelled;                /* points have labels, so one score of each is known */
    float best[AST_TRIAL_POINTS]; /* best scores of the points */
} ast_trial;

/* The cheapest stages, for raw rows or along the present axes. `second`: the width of the second stage; 0: any width.
 * Returns the time per point and mean, in products of one coordinate; INFINITY: no memory. */
double ast_cheapest_stages(const ast_trial *trial, bool raw, size_t second, ast_stages *stages);
