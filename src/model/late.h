/* SPDX-License-Identifier: MIT
 *
 * Rows that are labelled after the last pass (`late` of ast_points), by the means that the other rows found. */
#ifndef AST_LATE_H
#define AST_LATE_H

#include "asterism.h"
#include "pool.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef struct ast_late {
    const ast_points *points;
    const float *means;   /* (count, D) */
    const int32_t *names; /* (count) labels; below 0: no row gets it. NULL: 0, 1, .. */
    size_t count;
    bool axial;
    double limit;           /* the lowest score that fits */
    int32_t *labels;        /* (N) written for late rows that have a direction */
    _Atomic size_t *counts; /* (count) 0 at first: receives how many rows each mean got */
    _Atomic size_t unlike;  /* 0 at first: late rows that no mean fits; their label is -1 */
} ast_late;

/* A late row gets the label of the mean with the largest score, the first among equals, if it fits. Rows are dense. */
void ast_label_late(ast_late *late, ast_pool *pool);

#endif
