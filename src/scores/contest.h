/* SPDX-License-Identifier: MIT
 *
 * A point and the means that meet for it: the best score so far and a bound of all others. Those within the margin of
 * the best are *near*: only exact scores tell which of them wins. */
#ifndef AST_CONTEST_H
#define AST_CONTEST_H

#include "kernels.h"

#define AST_NEAR 8 /* means near the best that are noted */

typedef struct ast_contest {
    float best, second;  /* as in ast_scores */
    float limit;         /* what counts as a rival now: the best less `spare`, at least */
    float rest;          /* at least the score of every mean that is not near */
    float margin, spare; /* the error of a difference of two scores; as in ast_stages */
    int32_t mean;        /* the number of the best; negative: none yet */
    size_t near_count;   /* more than AST_NEAR: not all of them are noted */
    ast_rival near[AST_NEAR];
    bool alone; /* the own cluster takes no part: the point seems to be its only member */
} ast_contest;

static inline float ast_larger(float a, float b) {
    return a > b ? a : b;
}

/* A mean and its score; and a mean that cannot be near. */
void ast_contest_meet(ast_contest *x, float score, size_t mean);

static inline void ast_contest_dismiss(ast_contest *contest, float reach) {
    contest->second = ast_larger(contest->second, reach);
    contest->rest = ast_larger(contest->rest, reach);
}

#endif
