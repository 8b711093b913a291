/* SPDX-License-Identifier: MIT
 *
 * k-means++ in many dimensions: most points are too far from a new start for it to be their nearest one, and the first
 * coordinates along the principal axes of the points show it. The draws are the same. */
#ifndef AST_SEED_HEADS_H
#define AST_SEED_HEADS_H

#include "point_heads.h"

#define AST_SEED_AXES 128 /* 512 bytes of a point instead of 4 D */

typedef struct ast_seed_heads {
    ast_point_heads points; /* closed: points are compared in full */
    float start[AST_SEED_AXES], start_tail;
} ast_seed_heads;

/* Whether that pays for so many starts; memory, and the heads of all points. Stays closed without memory. */
void ast_seed_heads_open(ast_seed_heads *heads, ast_labelling *labelling, size_t starts);

/* The next start (D). */
void ast_seed_heads_start(ast_seed_heads *heads, const ast_kernels *kernels, const float *start);

/* At least the cosine of point i and the start; axial: its magnitude. */
float ast_seed_heads_upper_bound(const ast_seed_heads *heads, const ast_labelling *labelling, size_t i);

#endif
