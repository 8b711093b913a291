/* SPDX-License-Identifier: MIT
 *
 * The mean of d d' over many vectors d of floats. Each of its elements is a sum in the order of the vectors, one
 * product, which is exact in double, after the other: the same bits with any kernels and any number of threads. */
#pragma once

#include "fault.h"
#include "kernels.h"
#include "pool.h"

typedef struct ast_vector_scatter {
    const ast_kernels *kernels;
    ast_pool *pool;
    size_t dimension, count;
    double fourth;  /* the sum of |d|^4 */
    double *blocks; /* (D / AST_PRODUCT_ROWS, D / AST_EXACT_PANEL, AST_PRODUCT_ROWS, AST_EXACT_PANEL), both rounded up:
                       of the blocks above the diagonal some are 0 */
} ast_vector_scatter;

/* Vector number n of some data, to (D). Called from several threads. */
typedef void ast_vector_of(const void *data, size_t n, float *to);

/* Adds `count` vectors to an empty scatter. On failure it is empty again. */
ast_status ast_vector_scatter_add(ast_vector_scatter *scatter, size_t dimension, size_t count, ast_vector_of *vector,
                                  const void *data, ast_fault *fault);
/* matrix (D, D) receives the mean; zeros if there was no vector. */
void ast_vector_scatter_mean(const ast_vector_scatter *scatter, double *matrix);
void ast_vector_scatter_free(ast_vector_scatter *scatter);
