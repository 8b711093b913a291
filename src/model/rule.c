/* SPDX-License-Identifier: MIT */
#include "rule.h"

#include <math.h>

ast_verdict ast_nearest_candidate(const ast_candidates *c) {
    ast_verdict v = {AST_JOIN, AST_NOBODY, -INFINITY, -INFINITY};
    int32_t excluded = c->singleton ? c->own : AST_NOBODY;
    for (size_t k = 0; k < c->count; k++) {
        double score = c->scores[k];
        if (c->ids[k] == excluded || c->ids[k] == AST_NOBODY)
            continue;
        if (score > v.score) {
            v.second = v.score;
            v.score = score;
            v.to = c->ids[k];
        } else if (score > v.second) {
            v.second = score;
        }
    }
    return v;
}
