/* SPDX-License-Identifier: MIT
 *
 * The rule of a method: what becomes of a point that the fast scores leave undecided. A pass calls it for those points
 * singleton, in the order of visit, with the clusters as they are at that moment; src/methods has the rules. */
#ifndef AST_RULE_H
#define AST_RULE_H

#include "clusters.h"

/* One point and the means that it may join, in order of creation. */
typedef struct ast_candidates {
    const double *scores; /* (count) by definition: exact products in double */
    const int32_t *ids;   /* (count) slots; AST_NOBODY: no mean */
    size_t count;
    int32_t own;      /* the point's cluster; below 0: it has none */
    bool singleton;   /* the point is the only member of its own cluster, which is then no candidate */
    double limit;     /* a score fits from here: cos(angle) - 2^-20 */
    const float *row; /* (D) axial: upright; NULL for sparse points */
} ast_candidates;

typedef enum ast_action {
    AST_JOIN,           /* the point joins cluster `to` */
    AST_STAY_SINGLETON, /* it stays singleton in its cluster, whose mean becomes the point */
    AST_START,          /* it starts a new cluster */
    AST_REVIVE          /* it joins cluster `to`, which had no points and now gets a new mean */
} ast_action;

typedef struct ast_verdict {
    ast_action action;
    int32_t to; /* AST_NOBODY: there is no candidate */
    double score, second;
} ast_verdict;

/* The candidate with the largest score, the first of equal ones; and the second largest score. */
ast_verdict ast_nearest_candidate(const ast_candidates *candidates);

/* What becomes of a point whose score with every mean is below the limit. */
typedef enum ast_unfit {
    AST_UNFIT_ASK,  /* `decide` says */
    AST_UNFIT_START /* ast_unfit_action: nothing else can win it, so that `decide` need not be called */
} ast_unfit;

/* It starts a cluster; the only member of a cluster keeps that one. */
static inline ast_action ast_unfit_action(bool singleton) {
    return singleton ? AST_STAY_SINGLETON : AST_START;
}

/* What becomes, at the end of a pass, of a cluster without points. Without a fixed number of clusters it died. */
typedef enum ast_emptied {
    AST_EMPTIED_STAYS,  /* it keeps its mean */
    AST_EMPTIED_FILLED, /* it takes the point that fits its own cluster worst */
    AST_EMPTIED_DROPPED
} ast_emptied;

/* Only `decide` is required. The others are for rules with candidates beside the means: clusters that have no points.
 */
typedef struct ast_rule {
    ast_verdict (*decide)(void *data, const ast_candidates *candidates);
    /* From this score on with a mean, no cluster without points can win. */
    float (*unseen_bound)(void *data, const ast_cluster_list *clusters);
    /* Whether such a cluster may win a point (D) whose best score with a mean is at least `best`. */
    bool (*unseen_can_win)(void *data, const float *row, double best);
    /* The mean (D) of cluster `slot` once the point revives it. */
    void (*revive)(void *data, int32_t slot, const float *row, float *mean);
    /* The mean (D) of a cluster that outlives its points, from its sum. */
    void (*mean)(void *data, const ast_cluster_list *clusters, int32_t slot, float *mean);
    void *data;
    ast_unfit unfit;     /* a point that fits no mean */
    ast_emptied emptied; /* a cluster that lost its last point */
    /* As `unseen_bound`, which was called just before, but for each slot: where its mean is the best. NULL: not known.
     */
    void (*unseen_bound_of)(void *data, const ast_cluster_list *clusters, float of[AST_MASK_BITS]);
} ast_rule;

#endif
