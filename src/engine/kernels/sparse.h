/* SPDX-License-Identifier: MIT
 *
 * Sparse rows and dense means. A product with an omitted component is zero, and adding zero does not change a sum: so
 * every function here that adds in order returns the bits of its dense counterpart. */
#pragma once

#include "kernels.h"

/* The score by definition, for one mean (D). */
double ast_sparse_exact_score(const ast_sparse_row *row, const float *mean);

/* The same for every mean of a large table: scores (count rounded up to AST_PANEL). */
void ast_sparse_exact_scores(const ast_sparse_row *row, const ast_mean_table *table, double *scores);

/* As the kernels' reproducible_dot: eight partial sums, then their sum in order. */
double ast_sparse_reproducible_dot(const ast_sparse_row *row, const float *mean);

/* In float, with the error ast_score_error(row->count). */
float ast_sparse_dot(const ast_sparse_row *row, const float *mean);
