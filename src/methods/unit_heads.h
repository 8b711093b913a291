/* SPDX-License-Identifier: MIT
 *
 * Upper bounds of the cosines between unit vectors in numbered places, from their heads and tails along common axes
 * (scores/heads.h). The vector of a place can change. */
#pragma once

#include "heads.h"

typedef struct ast_unit_heads {
    const ast_kernels *kernels;
    ast_basis axes;
    float *rows;           /* (places, width) heads; NULL: closed */
    float *panels, *tails; /* (panels, width, AST_PANEL), (panels, AST_PANEL) */
    float slack;
} ast_unit_heads;

/* Axes of the vectors units (count, D), whose heads are set. Stays closed if heads do not pay, or without memory. */
void ast_unit_heads_open(ast_unit_heads *heads, const ast_kernels *kernels, const float *units, size_t count,
                         size_t dimension);
void ast_unit_heads_close(ast_unit_heads *heads);

/* Place p has this vector (D) now. */
void ast_unit_heads_set(ast_unit_heads *heads, size_t p, const float *unit);

/* out (n, AST_PANEL): upper bounds of the cosines of places p .. p + n - 1, n <= AST_PRODUCT_ROWS, with those of a
 * panel; axial: of their magnitudes. */
void ast_unit_heads_bounds(const ast_unit_heads *heads, size_t p, size_t n, size_t panel, bool axial, float *out);
