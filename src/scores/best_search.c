/* SPDX-License-Identifier: MIT */
#include "best_search.h"

/* The best score has increased: drops the ties that are no longer within the margin. */
static void drop_lower_ties(ast_best_search *x) {
    size_t left = 0, known = x->tie_count < AST_MAX_TIES ? x->tie_count : AST_MAX_TIES;
    for (size_t i = 0; i < known; i++)
        if (x->ties[i].upper_bound >= x->best - x->margin)
            x->ties[left++] = x->ties[i];
        else
            x->rest = ast_larger(x->rest, x->ties[i].upper_bound);
    x->tie_count = x->tie_count > AST_MAX_TIES ? x->tie_count : left;
}

void ast_best_search_add(ast_best_search *x, float score, size_t mean) {
    bool wins = score > x->best;
    x->second = ast_larger(x->second, wins ? x->best : score);
    if (score < x->best - x->margin) {
        x->rest = ast_larger(x->rest, score);
        return;
    }
    if (wins) {
        x->tie_count = x->best < score - x->margin ? 0 : x->tie_count; /* no tie is left */
        x->rest = ast_larger(x->rest, x->tie_count ? AST_NO_SCORE : x->best);
        x->best = score;
        x->mean = (int32_t)mean;
        x->limit = ast_larger(x->limit, score - x->keep_within);
        drop_lower_ties(x);
    }
    if (x->tie_count < AST_MAX_TIES)
        x->ties[x->tie_count] = (ast_mean_candidate){(uint32_t)mean, score};
    x->tie_count++;
}
