/* SPDX-License-Identifier: MIT
 *
 * Passes after a merge in many dimensions: most clusters explain a point worse than its own one does, and the first
 * coordinates along the principal axes of the means show it (scores/heads.h). The labels are the same. */
#ifndef AST_REFINE_HEADS_H
#define AST_REFINE_HEADS_H

#include "point_heads.h"

#define AST_REFINE_AXES 64

/* Scores of a pass: scale_k x . mu_k + bias_k, axial: with the magnitude of the product. Two that are closer than
 * `margin` in float are not decided. */
typedef struct ast_scales {
    size_t count;
    float *scale, *bias; /* (count) scale: at most 1 */
    float margin;
    float most; /* at least the magnitude of a score */
} ast_scales;

typedef struct ast_refine_heads {
    ast_point_heads points; /* closed: points are compared in full */
    float *panels;          /* (panels, AST_REFINE_AXES, AST_PANEL) heads of the scaled means */
    float *tails, *bias;    /* (panels, AST_PANEL) */
    int32_t *place;         /* (slots) of a cluster in the order */
    float slack;
    const ast_scales *scales;
} ast_refine_heads;

/* Whether that pays for the clusters there are; memory, and the heads of all points. Stays closed without memory. */
void ast_refine_heads_open(ast_refine_heads *heads, ast_labelling *labelling);
void ast_refine_heads_close(ast_refine_heads *heads);

/* Before a pass: heads of the means. */
void ast_refine_heads_begin(ast_refine_heads *heads, const ast_labelling_view *view, const ast_scales *scales);

/* The listed points of a chunk, whose rows are loaded: the slot of the best cluster of each goes to labels, counted
 * from `base`. Those that floats do not decide are left in the list; returns how many. */
size_t ast_refine_heads_score(const ast_refine_heads *heads, const ast_labelling_view *view, ast_chunk *chunk,
                              size_t base, size_t listed, int32_t *labels);

#endif
