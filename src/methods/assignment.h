/* SPDX-License-Identifier: MIT
 *
 * The best assignment of rows to columns: each column to at most one row, each row to at most one column, so that the
 * sum of the gains is as large as possible. Gains are integers, so that sums are exact and equal ones are equal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ast_gain {
    int32_t row, column;
    int64_t gain; /* over a row without column, which gains 0; magnitude below 2^45 */
} ast_gain;

/* pairs (count): sorted by row, then by column, without repetitions; other pairs are not allowed. partner (rows)
 * receives the column of each row, or -1. Of assignments with equal sums the one that gives row 0 the lowest column, of
 * these the one that gives row 1 the lowest, and so on; -1 counts as the highest. false: no memory. */
bool ast_best_assignment(const ast_gain *pairs, size_t count, size_t rows, size_t columns, int32_t *partner);
