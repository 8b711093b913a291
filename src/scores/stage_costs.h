/* SPDX-License-Identifier: MIT
 *
 * What a pass would cost with heads, by a sample of points and means: the cheapest stages, and their price. */
#ifndef AST_PRICES_H
#define AST_PRICES_H

#include "small_large.h"

enum {
    AST_TRIAL_POINTS = 64, /* in the sample, */
    AST_TRIAL_MEANS = 256  /* tried with each of them */
};

typedef struct ast_trial {
    ast_scorer *s;
    ast_chunk *c;
    const float **points; /* (n) */
    const float **means;  /* (m) */
    size_t n, m;
    size_t expected_means;        /* means that the pass will have */
    bool labelled;                /* points have labels, so that one score of theirs is at hand */
    float best[AST_TRIAL_POINTS]; /* their best scores */
} ast_trial;

/* The stages that cost least, with the rows as they are (raw) or along the axes that there are; `second`: with that
 * width of the second stage, or 0: any. Returns the time per point and mean, in products of one coordinate; INFINITY:
 * no memory. */
double ast_price_stages(const ast_trial *trial, bool raw, size_t second, ast_stages *stages);

#endif
