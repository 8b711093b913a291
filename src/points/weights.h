/* SPDX-License-Identifier: MIT
 *
 * Weights of points, and the unit of weighted sums, which makes them exact. Weights are relative to the smallest. */
#pragma once

#include "rowset.h"

/* The range and the sum of the weights of all points that are not missing. */
typedef struct ast_weight_range {
    double smallest, largest, total; /* smallest: of the positive weights; total: in units of `smallest` */
    bool zeros;
} ast_weight_range;

/* Each function adds the points of one rowset. ast_weights_total needs the smallest weight of all rowsets. Doubles are
 * added in the order of points. */
void ast_weights_range(const ast_rowset *rows, const int32_t *labels, const double *weights, ast_weight_range *range);
void ast_weights_total(const ast_rowset *rows, const int32_t *labels, const double *weights, ast_weight_range *range);

/* Chooses the unit of the sums; 0 if all weights are equal, which is the same as no weights. */
ast_status ast_weights_choose_unit(const ast_weight_range *range, double *unit, ast_fault *fault);

/* The largest power of two with which sums of weights with this total do not overflow. */
double ast_weight_unit_for_total(double total);
