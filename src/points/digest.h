/* SPDX-License-Identifier: MIT
 *
 * One number that stands for points as the caller stores them. */
#ifndef AST_DIGEST_H
#define AST_DIGEST_H

#include "asterism.h"
#include "pool.h"

/* Rows `offset` and on of all, with their weights. The digests of parts add up to that of the whole, so that it does
 * not matter who has which rows; nor does it matter how they lie in memory. Sparse rows must have been checked. */
uint64_t ast_digest(const ast_points *points, size_t offset, ast_pool *pool);

#endif
