/* SPDX-License-Identifier: MIT
 *
 * Eigenvalues and eigenvectors of symmetric matrices: the same bits on every machine and any number of threads. */
#pragma once

#include "fault.h"
#include "pool.h"

/* matrix (n, n), symmetric, becomes the orthonormal eigenvectors, one per row; values (n): their eigenvalues, in no
 * order. pool NULL: on the caller's thread. AST_CANCELLED and AST_NO_MEMORY leave both undefined. */
ast_status ast_symmetric_eigen(ast_pool *pool, size_t n, double *matrix, double *values, ast_fault *fault);
