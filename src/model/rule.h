/* SPDX-License-Identifier: MIT
 *
 * The rule of a method: what becomes of a point that the float scores leave undecided. A pass calls the rule for these
 * points one by one, in the order of visit, with the clusters as they are at that moment. src/methods has the rules.
 *
 * A rule gives every point a cluster. A method that leaves points out has no rule of its own: it finds labels with
 * ast_labelling_nearest and hands them over with ast_labelling_rebuild_from (methods/dissolve.c). */
#pragma once

#include "clusters.h"

/* A point and the means that it may join, in order of creation. */
typedef struct ast_candidates {
    const double *scores; /* (count) exact products in double */
    const int32_t *ids;   /* (count) slots; AST_NOBODY: a vacant place */
    size_t count;
    int32_t own;      /* the cluster of the point; below 0: none */
    bool singleton;   /* the point is the only member of its own cluster, which is then no candidate */
    double limit;     /* the smallest score that fits: cos(angle) - 2^-20 */
    const float *row; /* (D) axial: canonical; NULL for sparse points */
} ast_candidates;

typedef enum ast_action {
    AST_JOIN,           /* the point joins cluster `to` */
    AST_STAY_SINGLETON, /* the point stays the only member of its cluster and becomes the mean */
    AST_START,          /* the point starts a new cluster */
    AST_REVIVE          /* the point joins cluster `to`, which had no points and gets a new mean */
} ast_action;

typedef struct ast_verdict {
    ast_action action;
    int32_t to;           /* AST_NOBODY: there is no candidate */
    double score, second; /* of the best candidate and of the second best, or upper bounds of them */
} ast_verdict;

/* Joins the candidate with the largest score, the first of equal ones. */
ast_verdict ast_nearest_candidate(const ast_candidates *candidates);

/* What becomes of a point whose score with every mean is below the limit. */
typedef enum ast_unfit {
    AST_UNFIT_ASK,  /* whatever `decide` says */
    AST_UNFIT_START /* always ast_unfit_action, so that `decide` need not be called */
} ast_unfit;

/* The point starts a cluster; the only member of a cluster stays there. */
static inline ast_action ast_unfit_action(bool singleton) {
    return singleton ? AST_STAY_SINGLETON : AST_START;
}

/* What becomes of a cluster without points at the end of a pass, if the number of clusters is fixed. Otherwise it died
 * within the pass. */
typedef enum ast_emptied {
    AST_EMPTIED_STAYS,  /* it keeps its mean */
    AST_EMPTIED_FILLED, /* it takes the point that fits its own cluster worst */
    AST_EMPTIED_DROPPED
} ast_emptied;

/* Only `decide` is required. The other functions are for rules with uninstantiated clusters: tracked clusters that have
 * no points, and are candidates beside the means. */
typedef struct ast_rule {
    ast_verdict (*decide)(void *data, const ast_candidates *candidates);
    /* An upper bound: an uninstantiated cluster cannot win a point whose best score with a mean is at least this. */
    float (*unseen_bound)(void *data, const ast_cluster_list *clusters);
    /* Whether an uninstantiated cluster may win this point (D), whose best score with a mean is at least `best`. */
    bool (*unseen_can_win)(void *data, const float *row, double best);
    /* The mean (D) of uninstantiated cluster `slot` after this point (D) revives it. */
    void (*revive)(void *data, int32_t slot, const float *row, float *mean);
    /* The mean (D) of a tracked cluster, from its sum. */
    void (*mean)(void *data, const ast_cluster_list *clusters, int32_t slot, float *mean);
    void *data;
    ast_unfit unfit;     /* a point that fits no mean */
    ast_emptied emptied; /* a cluster that lost its last point */
    /* Like `unseen_bound`, per slot: the bound that holds if the best mean is that of the slot. Called just after
     * `unseen_bound`. NULL: not known. */
    void (*unseen_bound_of)(void *data, const ast_cluster_list *clusters, float of[AST_MASK_BITS]);
} ast_rule;
