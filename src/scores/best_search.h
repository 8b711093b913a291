/* SPDX-License-Identifier: MIT
 *
 * The search for the best mean of one point: the best score so far, and an upper bound of all other scores. Means whose
 * scores are within the margin of the best are ties: only exact scores tell which of them wins. */
#pragma once

#include "kernels.h"

#define AST_MAX_TIES 8 /* ties that are stored */

typedef struct ast_best_search {
    float best, second; /* as in ast_scores */
    float limit; /* a mean with a lower upper bound is no candidate; at least the best score minus `keep_within` */
    float rest;  /* upper bound of the scores of all means that are not ties */
    float margin, keep_within; /* error of a difference of two scores; as in ast_stages */
    int32_t mean;              /* index of the best mean; negative: none yet */
    size_t tie_count;          /* if more than AST_MAX_TIES, only some are stored */
    ast_mean_candidate ties[AST_MAX_TIES];
    bool singleton; /* the point's own cluster is left out: the point seems to be its only member */
} ast_best_search;

static inline float ast_larger(float a, float b) {
    return a > b ? a : b;
}

/* ast_best_search_add adds a mean with its score; ast_best_search_discard adds a mean that cannot be a tie. */
void ast_best_search_add(ast_best_search *x, float score, size_t mean);

static inline void ast_best_search_discard(ast_best_search *search, float upper_bound) {
    search->second = ast_larger(search->second, upper_bound);
    search->rest = ast_larger(search->rest, upper_bound);
}
