/* SPDX-License-Identifier: MIT
 *
 * Pruning of the passes after a merge, in many dimensions: the first coordinates along the principal axes of the means
 * (scores/heads.h) show that most clusters score less than the point's own cluster. The labels are the same. */
#pragma once

#include "point_heads.h"

#define AST_REFINE_AXES 64

/* Scores of a pass: scale_k x . mu_k + bias_k, axial: with the magnitude of the product. Two that are closer than
 * `margin` in float are not decided. */
typedef struct ast_scales {
    size_t count;
    float *scale, *bias; /* (count) scale: at most 1 */
    float margin;
    float max_score; /* upper bound of the magnitude of a score */
} ast_scales;

typedef struct ast_refine_heads {
    ast_point_heads points; /* closed: points are compared over all components */
    float *panels;          /* (panels, AST_REFINE_AXES, AST_PANEL) heads of the scaled means */
    float *tails, *bias;    /* (panels, AST_PANEL) */
    int32_t *place;         /* (slots) of a cluster in the order */
    float slack;
    const ast_scales *scales;
} ast_refine_heads;

/* Computes the heads of all points, if they pay for so many clusters. Stays closed if they do not, or without memory.
 */
void ast_refine_heads_open(ast_refine_heads *heads, ast_labelling *labelling);
void ast_refine_heads_close(ast_refine_heads *heads);

/* Before a pass: heads of the means. */
void ast_refine_heads_begin(ast_refine_heads *heads, const ast_labelling_view *view, const ast_scales *scales);

/* Writes the slot of the best cluster of each listed point of a chunk, whose rows are loaded, to `labels`. Point j of
 * the chunk is point base + j. Points that floats do not decide stay in the list; returns their number. */
size_t ast_refine_heads_score(const ast_refine_heads *heads, const ast_labelling_view *view, ast_chunk *chunk,
                              size_t base, size_t list_count, int32_t *labels);
