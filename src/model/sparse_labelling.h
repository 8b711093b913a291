/* SPDX-License-Identifier: MIT
 *
 * What sparse points do in their own way in a pass; the rest is as for large dense ones. */
#ifndef AST_SPARSE_LABELLING_H
#define AST_SPARSE_LABELLING_H

#include "labelling.h"

/* The scores of n listed points (worker->list, indices into the chunk) against the table, into worker->compact. */
void ast_sparse_score_list(ast_labelling *labelling, ast_worker *worker, const ast_table *table, size_t base, size_t n);

/* The float score of point i with a mean (D). */
float ast_sparse_score(const ast_labelling *labelling, size_t i, const float *mean);

/* Brings the worker's table from event number `seen` up to date; `mine`: it is one of this pass already. false: no
 * memory. */
bool ast_sparse_sync(ast_labelling *labelling, ast_worker *worker, size_t seen, bool mine);

/* Brings the clusters' sums in line with the labels: every point whose label is another one than that which it was last
 * added under; or one point. */
void ast_sparse_sum(ast_labelling *labelling);
void ast_sparse_sum_point(ast_labelling *labelling, size_t i);

#endif
