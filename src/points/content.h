/* SPDX-License-Identifier: MIT
 *
 * A seeded 64-bit hash of a row, and the order of rows by this hash. Both depend on the rows only, not on their
 * positions: if the rows of a table are permuted, their order by content is the same sequence of rows.
 *
 * The hash is that of the normalised row in float: mix(sum over d of bits(x_d) factor_d) with one random 64-bit factor
 * per component. Components that are zero add nothing, so sparse and dense rows of the same point have the same hash;
 * -0 counts as +0. Axial rows are hashed with their first non-zero component positive. */
#pragma once

#include "rowset.h"

#include <stdbool.h>

typedef struct ast_content {
    uint64_t seed;
    uint64_t *factors; /* (D) dense rows; NULL: computed when needed */
    size_t dimension;
    bool axial;
} ast_content;

/* `dense`: ast_content_row will be called. false: no memory. */
bool ast_content_open(ast_content *content, size_t dimension, bool dense, bool axial, uint64_t seed);
void ast_content_close(ast_content *content);

/* The hash of a normalised row. */
uint64_t ast_content_row(const ast_content *content, const float *row);
uint64_t ast_content_entries(const ast_content *content, ast_sparse_row entries);

/* order (N): the rows by hash, equal hashes by their bytes, equal rows by weight and then by number. Rows that are
 * missing or have weight 0 come last, in their own order. `weights` (N) or NULL. */
ast_status ast_order_by_content(const ast_points *points, const double *weights, bool axial, uint64_t seed,
                                ast_pool *pool, uint32_t *order, ast_fault *fault);

/* copies (N): 1 for a row that equals an earlier row in this order, otherwise 0. Rows that are missing or have weight 0
 * are not copies. */
ast_status ast_find_copies(const ast_points *points, const double *weights, bool axial, ast_pool *pool, uint8_t *copies,
                           ast_fault *fault);
