/* SPDX-License-Identifier: MIT
 *
 * Labels of a level of a tree of joins. */
#pragma once

#include "asterism.h"

/* Numbers labels 0.. in order of appearance and returns how many there are. number: (numbers) scratch, above every
 * label; -1 stays. */
size_t ast_number_labels(int32_t *labels, size_t count, int32_t *number, size_t numbers);

/* Makes the first joins of the tree, until `clusters` of the `leaves` are left; labels (count) become the clusters of
 * the rows with these leaves (count). group: (2 leaves) scratch. Returns the number of clusters that have rows. */
size_t ast_cut_joins(const ast_tree_join *joins, size_t leaves, size_t clusters, const int32_t *leaf, size_t count,
                     int32_t *group, int32_t *labels);
