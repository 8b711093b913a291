/* SPDX-License-Identifier: MIT
 *
 * Heads of all points of a labelling (scores/heads.h), for the starts of k-means++ and for the passes after a merge. */
#ifndef AST_POINT_HEADS_H
#define AST_POINT_HEADS_H

#include "labelling.h"

typedef struct ast_point_heads {
    ast_basis axes;
    size_t width; /* coordinates of a head, a multiple of AST_PANEL */
    float *rows;  /* (padded, width) heads of the points; NULL: closed */
    float *tails; /* (padded) */
    float slack;  /* of a reach */
} ast_point_heads;

/* Whether heads of the points pay: their rows are dense, in memory and not small, and the caller has enough work. */
bool ast_point_heads_pay(const ast_labelling *labelling, bool enough);

/* Heads along the principal axes of n rows (D each). Stays closed without memory. */
void ast_point_heads_open(ast_point_heads *heads, ast_labelling *labelling, const float *const *rows, size_t n,
                          size_t width);
void ast_point_heads_close(ast_point_heads *heads);

/* The head of another row, to (width); returns the length of its tail. */
float ast_point_heads_of(const ast_point_heads *heads, const ast_kernels *kernels, const float *row, float *to);

#endif
