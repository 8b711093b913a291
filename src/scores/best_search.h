/* SPDX-License-Identifier: MIT
 *
 * A point and the means that meet for it: the best score so far and a bound of all others. Those within the margin of
 * the best are *near*: only exact scores tell which of them wins. */
#ifndef AST_BEST_SEARCH_H
#define AST_BEST_SEARCH_H

#include "kernels.h"

#define AST_MAX_TIES 8 /* means near the best that are noted */

typedef struct ast_best_search {
    float best, second;        /* as in ast_scores */
    float limit;               /* what counts as a candidate now: the best less `keep_within`, at least */
    float rest;                /* at least the score of every mean that is not near */
    float margin, keep_within; /* the error of a difference of two scores; as in ast_stages */
    int32_t mean;              /* the number of the best; negative: none yet */
    size_t tie_count;          /* more than AST_MAX_TIES: not all of them are noted */
    ast_mean_candidate ties[AST_MAX_TIES];
    bool singleton; /* the own cluster takes no part: the point seems to be its only member */
} ast_best_search;

static inline float ast_larger(float a, float b) {
    return a > b ? a : b;
}

/* A mean and its score; and a mean that cannot be near. */
void ast_best_search_add(ast_best_search *x, float score, size_t mean);

static inline void ast_best_search_discard(ast_best_search *search, float upper_bound) {
    search->second = ast_larger(search->second, upper_bound);
    search->rest = ast_larger(search->rest, upper_bound);
}

#endif
