/* SPDX-License-Identifier: MIT
 *
 * After a run has converged: merging of clusters (merge.c, refine.c), and dissolving of small ones (dissolve.c). */
#pragma once

#include "evidence.h"
#include "labelling.h"

/* The tree of joins of the clusters that a run found. */
typedef struct ast_tree_of_run {
    ast_tree_join *joins; /* (clusters - 1); NULL: no tree is kept */
    size_t clusters;
    int32_t *leaves; /* (N) of this rank, in order of visit, -1: none */
} ast_tree_of_run;

void ast_tree_free(ast_tree_of_run *tree);

struct ast_run;

/* Merges as the options say, and keeps the tree if they ask for it. The run's clusters, labels and objective become
 * those after the merge. A collective call. */
ast_status ast_run_merge(ast_labelling *labelling, struct ast_run *run, ast_fault *fault);

/* Dissolves the clusters below options->merge.min_size. A collective call. */
ast_status ast_run_dissolve(ast_labelling *labelling, struct ast_run *run, ast_fault *fault);

/* ---- distinct.c ---- */

/* Rows that count for the evidence: each distinct row of positive weight once. */
typedef struct ast_distinct {
    uint8_t *copies; /* (N) of this rank, in order of visit: this row does not count */
    ast_sums of;     /* of the rows that count */
    double scale;    /* a row x counts as so much of x: below 1 if angles were rounded, and then copies count */
} ast_distinct;

/* Finds the copies among the rows of all ranks; start with {0}, and free it in any case. rounding: as in ast_options.
 * A collective call. Reads a source once. */
ast_status ast_distinct_open(ast_distinct *distinct, ast_labelling *labelling, double rounding, ast_fault *fault);
void ast_distinct_free(ast_distinct *distinct);

/* Counts and sums of the distinct rows of all ranks, by the labels that points have. ast_distinct_add: adds those of
 * the open window by other labels and signs, between ast_labelling_sums_begin and ast_labelling_sums_end. */
ast_status ast_distinct_sum(ast_distinct *distinct, ast_labelling *labelling, ast_fault *fault);
ast_status ast_distinct_add(ast_distinct *distinct, ast_labelling *labelling, const int32_t *labels,
                            const uint8_t *signs, ast_fault *fault);

/* ---- refine.c ---- */

/* Points move to the cluster that explains them best, as long as the evidence rises. `fixed`: no cluster may lose its
 * last point. lambda: what a cluster adds to the objective. */
ast_status ast_run_refine_labels(ast_labelling *labelling, struct ast_run *run, ast_distinct *distinct, bool fixed,
                                 double lambda, ast_fault *fault);
