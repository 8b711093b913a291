/* SPDX-License-Identifier: MIT
 *
 * Weights of points, and the unit in which weighted sums stay exact. Weights matter relative to the smallest. */
#ifndef AST_WEIGHTS_H
#define AST_WEIGHTS_H

#include "rowset.h"

/* What the weights of the points that are not missing come to. */
typedef struct ast_weight_range {
    double smallest, largest, total; /* smallest: of the positive ones; total: in units of it */
    bool zeros;
} ast_weight_range;

/* Each adds the points of one rowset; the total needs the smallest of all. Doubles are added in the order of points. */
void ast_weights_range(const ast_rowset *rows, const int32_t *labels, const double *weights, ast_weight_range *range);
void ast_weights_total(const ast_rowset *rows, const int32_t *labels, const double *weights, ast_weight_range *range);

/* The unit of the sums; 0 where all weights are equal, which is as if there were none. */
ast_status ast_weights_choose_unit(const ast_weight_range *range, double *unit, ast_fault *fault);

/* The largest power of two in which weights of that total cannot overflow. */
double ast_weight_unit_for_total(double total);

#endif
