/* SPDX-License-Identifier: MIT
 *
 * Which clusters of a run are those of an earlier one: which ids they keep, and what became of the others. Clusters are
 * numbers here: old ones 0..olds-1 in order of their ids, new ones 0..news-1 in order of creation. */
#pragma once

#include "asterism.h"
#include "fault.h"

#include <stdbool.h>

/* What a result keeps. Zeroed at first. */
typedef struct ast_lineage_of_run {
    int32_t *ids; /* (K) increasing, of the clusters in their final order; NULL: no earlier run was given */
    int32_t next_id;
    ast_lineage *records;
    size_t count;
    int32_t *from; /* of all records */
} ast_lineage_of_run;
void ast_lineage_free(ast_lineage_of_run *lineage);

/* Rows of two labellings of the same rows. */
typedef struct ast_row_overlap {
    int32_t old, new; /* -1: the rows without a label there */
    uint64_t count;
} ast_row_overlap;

typedef struct ast_row_overlaps {
    ast_row_overlap *list; /* (count) by old cluster, then by new one */
    size_t count;
    int32_t *ids; /* (olds) increasing */
    size_t olds;
    uint64_t *old_size, *new_size; /* (olds), (news) rows */
    size_t news;
} ast_row_overlaps;
void ast_row_overlaps_free(ast_row_overlaps *overlaps);

/* old: any ids, negative for none; new: 0..news-1, negative for none. */
ast_status ast_row_overlaps_find(const int32_t *old, const int32_t *labels, size_t count, size_t news,
                                 ast_row_overlaps *found, ast_fault *fault);

/* same (news): the old cluster of each new one, or -1: one to one, with the largest sum of overlaps, among pairs that
 * have more than half of the rows of either (so have all pairs with a Jaccard index of 1/2 or more). */
ast_status ast_row_overlaps_match(const ast_row_overlaps *overlaps, int32_t *same, ast_fault *fault);

/* The order of the new clusters by id (order[place] = new cluster), their ids and the records. overlaps: without list,
 * nothing merges or splits. */
ast_status ast_lineage_make(const ast_row_overlaps *overlaps, const int32_t *same, int32_t next_id, size_t *order,
                            ast_lineage_of_run *lineage, ast_fault *fault);
