/* SPDX-License-Identifier: MIT
 *
 * Labels of a level of a tree of joins. */
#pragma once

#include "asterism.h"

/* Numbers labels 0.. in order of appearance and returns how many there are. number: (numbers) scratch, above every
 * label; -1 stays. */
size_t ast_number_labels(int32_t *labels, size_t count, int32_t *number, size_t numbers);

/* Cuts the tree so that `clusters` are left of `leaves`. leaf, labels: (count); group: (2 leaves) scratch. Returns how
 * many of them have rows. */
size_t ast_cut_joins(const ast_tree_join *joins, size_t leaves, size_t clusters, const int32_t *leaf, size_t count,
                     int32_t *group, int32_t *labels);
