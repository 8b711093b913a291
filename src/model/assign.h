/* SPDX-License-Identifier: MIT
 *
 * Labels for points from means that are known: nothing is learned. */
#ifndef AST_ASSIGN_H
#define AST_ASSIGN_H

#include "labelling.h"

/* For every point of the labelling that is not missing the cluster of the largest score, equal ones to the first in
 * order; AST_NOBODY if that does not fit. labels (padded) receives slots, AST_MISSING for missing points; similarity
 * (count, or NULL) the exact score. Both are in order of visit. */
ast_status ast_assign_points(ast_labelling *labelling, int32_t *labels, float *similarity, ast_fault *fault);

#endif
