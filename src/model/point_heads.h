/* SPDX-License-Identifier: MIT
 *
 * Heads of all points of a labelling (scores/heads.h): their first coordinates along principal axes. For the starts of
 * k-means++ and for the passes after a merge. */
#pragma once

#include "labelling.h"

typedef struct ast_point_heads {
    ast_basis axes;
    size_t width; /* coordinates of a head, a multiple of AST_PANEL */
    float *rows;  /* (padded, width) heads of the points; NULL: closed */
    float *tails; /* (padded) */
    float slack;  /* of an upper bound of a score */
} ast_point_heads;

/* Whether heads are possible (large dense rows in memory) and pay; `enough`: the caller has enough work for them. */
bool ast_point_heads_pay(const ast_labelling *labelling, bool enough);

/* Computes heads along the principal axes of n rows (D each). Stays closed if there is no memory. */
void ast_point_heads_open(ast_point_heads *heads, ast_labelling *labelling, const float *const *rows, size_t n,
                          size_t width);
void ast_point_heads_close(ast_point_heads *heads);

/* Writes the head of any row to `to` (width); returns the length of its tail. */
float ast_point_heads_of(const ast_point_heads *heads, const ast_kernels *kernels, const float *row, float *to);
