/* SPDX-License-Identifier: MIT */
#include "contest.h"

/* The best has risen: who is not near any more? */
static void leave_behind(ast_contest *x) {
    size_t left = 0, known = x->near_count < AST_NEAR ? x->near_count : AST_NEAR;
    for (size_t i = 0; i < known; i++)
        if (x->near[i].reach >= x->best - x->margin)
            x->near[left++] = x->near[i];
        else
            x->rest = ast_larger(x->rest, x->near[i].reach);
    x->near_count = x->near_count > AST_NEAR ? x->near_count : left;
}

void ast_contest_meet(ast_contest *x, float score, size_t mean) {
    bool wins = score > x->best;
    x->second = ast_larger(x->second, wins ? x->best : score);
    if (score < x->best - x->margin) {
        x->rest = ast_larger(x->rest, score);
        return;
    }
    if (wins) {
        x->near_count = x->best < score - x->margin ? 0 : x->near_count; /* nobody is near any more */
        x->rest = ast_larger(x->rest, x->near_count ? AST_NO_SCORE : x->best);
        x->best = score;
        x->mean = (int32_t)mean;
        x->limit = ast_larger(x->limit, score - x->spare);
        leave_behind(x);
    }
    if (x->near_count < AST_NEAR)
        x->near[x->near_count] = (ast_rival){(uint32_t)mean, score};
    x->near_count++;
}
