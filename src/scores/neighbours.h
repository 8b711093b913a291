/* SPDX-License-Identifier: MIT
 *
 * The exact nearest neighbours of rows among themselves, by cosine. */
#pragma once

#include "fault.h"
#include "kernels.h"
#include "pool.h"

/* Rows in which neighbours are searched: unit vectors of floats, (count, D), without gaps. */
typedef struct ast_neighbour_search {
    const ast_kernels *kernels;
    ast_pool *pool;
    const float *rows;
    size_t count, dimension;
    size_t each; /* k, below `count` */
} ast_neighbour_search;

/* The k rows with the largest exact scores with each row, itself left out: nearest first, equal scores in order of
 * rows. neighbours and scores: (count, k). */
ast_status ast_nearest_rows(const ast_neighbour_search *search, uint32_t *neighbours, double *scores, ast_fault *fault);
