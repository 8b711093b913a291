/* SPDX-License-Identifier: MIT
 *
 * Groups: rows of one group, as the faces of one photo, never share a cluster. */
#pragma once

#include "labelling.h"

/* The rows of each group. Rows are numbered in order of visit; a row that belongs to no group has the number -1. */
typedef struct ast_groups {
    int32_t *of; /* (rows) the group of a row, 0..count-1 */
    size_t count, rows;
    size_t *start;    /* (count + 1) */
    uint32_t *member; /* (start[count]) the rows of each group, in order of visit */
} ast_groups;

/* given (rows): any integer per row of the caller, below 0: no group. order: as in ast_labelling_input. false: no
 * memory. Start with {0}; ast_groups_free frees the arrays. */
bool ast_groups_open(ast_groups *groups, const int32_t *given, const uint32_t *order, size_t rows);
void ast_groups_free(ast_groups *groups);

/* The groups of each cluster, in order of clusters, increasing: list k is of[start[k]] .. of[start[k + 1] - 1]. */
typedef struct ast_group_lists {
    size_t *start; /* (clusters + 1) */
    int32_t *of;
} ast_group_lists;
bool ast_group_lists_open(ast_group_lists *lists, const ast_groups *groups, const ast_labelling_view *view);
void ast_group_lists_free(ast_group_lists *lists);

struct ast_run;

/* What a pass does with a point that fits no cluster that is free for it, and with clusters that stay empty. */
typedef enum ast_grouped {
    AST_GROUPED_DP,      /* starts a cluster; a cluster that loses its last point is gone */
    AST_GROUPED_FIXED,   /* every point fits; an empty cluster takes the point that fits its own cluster worst */
    AST_GROUPED_MERGING, /* every point fits; empty clusters are dropped */
} ast_grouped;

/* Passes until nothing changes, as ast_iterate. A point joins the nearest cluster that no point of its group has joined
 * in this pass. penalty: of a cluster. */
ast_status ast_iterate_grouped(ast_labelling *labelling, struct ast_run *run, ast_grouped how, double penalty,
                               ast_fault *fault);

/* Gives the rows that are marked, one after the other, the nearest cluster, with at least its limit (slots; NULL: any
 * score), that no row of their group has; AST_MISSING if there is none. labels (rows) are slots. *outliers: how many
 * got none is added. */
ast_status ast_label_grouped(const ast_labelling *labelling, const ast_groups *groups, const uint8_t *marked,
                             const double *limits, int32_t *labels, size_t *outliers, ast_fault *fault);
