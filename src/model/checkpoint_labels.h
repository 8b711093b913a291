/* SPDX-License-Identifier: MIT
 *
 * The labels of a run as records, and a labelling that goes on from them. In this order: the labelling is loaded and
 * has no clusters; clusters, labels, sums. */
#ifndef AST_CHECKPOINT_LABELS_H
#define AST_CHECKPOINT_LABELS_H

#include "labelling.h"

#define AST_RECORD_MISSING UINT32_MAX /* of a point that takes no part */

/* The records of points first..first+count, `stride` apart; place (slots): which cluster, in order, a slot is. */
void ast_restore_records(const ast_labelling *labelling, const int32_t *place, size_t first, size_t count,
                         uint32_t *records, size_t stride);

/* false: no such record can be. */
bool ast_restore_label(ast_labelling *labelling, size_t point, uint32_t record);

/* A collective call. `label_hash` is what ast_label_hash said, 0 after the first pass; `*filled` becomes whether every
 * cluster has a point, which every state must. */
ast_status ast_restore_sums(ast_labelling *labelling, uint64_t label_hash, bool *filled, ast_fault *fault);

#endif
