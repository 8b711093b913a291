/* SPDX-License-Identifier: MIT
 *
 * Rows that are labelled after the last pass (`late` of ast_points), by the means of the other rows. */
#pragma once

#include "asterism.h"
#include "kernels.h"
#include "pool.h"

#include <stdatomic.h>
#include <stdbool.h>

#define AST_LATE_MEANS 64

/* The means for float scores, used if dimensions and means are few and the means are nearly unit vectors. Exact scores
 * decide the rows that float scores leave open. */
typedef struct ast_late_floats {
    bool known;   /* float scores are used */
    size_t count; /* means that rows can get */
    int32_t ids[AST_LATE_MEANS];
    int32_t names[AST_LATE_MEANS + 1]; /* the label of mean k is at k + 1; at 0 is the label of rows without a mean */
    float means[AST_SMALL * AST_LATE_MEANS]; /* (D, AST_LATE_MEANS) */
} ast_late_floats;

typedef struct ast_late {
    const ast_kernels *kernels;
    const ast_points *points;
    const float *means;   /* (count, D) */
    const int32_t *names; /* (count) the labels of the means; below 0: no row gets this mean. NULL: 0, 1, .. */
    size_t count;
    bool axial;
    double limit;              /* the smallest score that fits */
    int32_t *labels;           /* (N) receives the labels of late rows that have a direction */
    _Atomic size_t *counts;    /* (count) the number of rows of each mean is added to this */
    _Atomic size_t unassigned; /* the number of late rows that fit no mean is added to this; their label is -1 */
    ast_late_floats floats;    /* set by ast_late_begin */
} ast_late;

/* Gives every late row the label of the mean with the largest score, the first among equals, if it fits. Rows are
 * dense. */
void ast_label_late(ast_late *late, ast_pool *pool);

/* The same in parts: begin once, then label rows first..last-1, on any thread. */
void ast_late_begin(ast_late *late);
void ast_late_label_rows(void *data, size_t first, size_t last); /* data: an ast_late */
