/* SPDX-License-Identifier: MIT
 *
 * Rows that are labelled after the last pass (`late` of ast_points), by the means that the other rows found. */
#ifndef AST_LATE_H
#define AST_LATE_H

#include "asterism.h"
#include "kernels.h"
#include "pool.h"

#include <stdatomic.h>
#include <stdbool.h>

#define AST_LATE_MEANS 64

/* Rows of few dimensions and few means that are nearly unit vectors are scored in float, a batch at a time. What that
 * cannot decide is decided by exact scores. */
typedef struct ast_late_floats {
    bool known;
    size_t count; /* means that rows can get */
    int32_t ids[AST_LATE_MEANS];
    int32_t names[AST_LATE_MEANS + 1];       /* the label of mean k at k + 1; at 0 that of none */
    float means[AST_SMALL * AST_LATE_MEANS]; /* (D, AST_LATE_MEANS) */
} ast_late_floats;

typedef struct ast_late {
    const ast_kernels *kernels;
    const ast_points *points;
    const float *means;   /* (count, D) */
    const int32_t *names; /* (count) labels; below 0: no row gets it. NULL: 0, 1, .. */
    size_t count;
    bool axial;
    double limit;              /* the lowest score that fits */
    int32_t *labels;           /* (N) written for late rows that have a direction */
    _Atomic size_t *counts;    /* (count) 0 at first: receives how many rows each mean got */
    _Atomic size_t unassigned; /* 0 at first: late rows that no mean fits; their label is -1 */
    ast_late_floats floats;    /* of ast_late_begin */
} ast_late;

/* A late row gets the label of the mean with the largest score, the first among equals, if it fits. Rows are dense. */
void ast_label_late(ast_late *late, ast_pool *pool);

/* The same in parts: first the one, then the other for rows first..last-1, by several threads. */
void ast_late_begin(ast_late *late);
void ast_late_label(ast_late *late, size_t first, size_t last);

#endif
