/* SPDX-License-Identifier: MIT
 *
 * Saves the labels of a run as records, and restores a run from them. To restore: load the points, add the clusters in
 * order, restore each label, then the sums. */
#pragma once

#include "labelling.h"

#define AST_RECORD_MISSING UINT32_MAX /* the record of a point that takes no part */

/* Writes the records of points first..first+count, `stride` apart; place (slots): the place of a slot in the order. */
void ast_save_label_records(const ast_labelling *labelling, const int32_t *place, size_t first, size_t count,
                            uint32_t *records, size_t stride);

/* false: the record is not possible for this point. */
bool ast_restore_label(ast_labelling *labelling, size_t point, uint32_t record);

/* A collective call. label_hash: that of the last pass, 0 after the first; *filled becomes whether every cluster has
 * points, which is true for every valid state. */
ast_status ast_restore_sums(ast_labelling *labelling, uint64_t label_hash, bool *filled, ast_fault *fault);
