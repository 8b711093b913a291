/* SPDX-License-Identifier: MIT
 *
 * After a run has converged: clusters become one (merge.c), and small clusters are dissolved (dissolve.c). */
#ifndef AST_MERGE_H
#define AST_MERGE_H

#include "labelling.h"

/* The tree of joins of the clusters that a run found. */
typedef struct ast_tree_of_run {
    ast_tree_join *joins; /* (clusters - 1); NULL: no tree is kept */
    size_t clusters;
    int32_t *leaves; /* (N) in order of visit, -1: none */
} ast_tree_of_run;

void ast_tree_free(ast_tree_of_run *tree);

struct ast_run;

/* Merges as the options say, and keeps the tree if they ask for it. The run's clusters, labels and objective become
 * those after the merge. Points in memory only. */
ast_status ast_run_merge(ast_labelling *labelling, struct ast_run *run, ast_fault *fault);

/* Dissolves the clusters below options->min_size. */
ast_status ast_run_dissolve(ast_labelling *labelling, struct ast_run *run, ast_fault *fault);

#endif
