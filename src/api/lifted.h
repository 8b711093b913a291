/* SPDX-License-Identifier: MIT
 *
 * Mixtures of Watson and Kent distributions run over rows of features (methods/family.h). This file turns the
 * caller's rows into such rows, and the result of the run into one of the caller's rows. */
#pragma once

#include "call.h"
#include "center.h"

/* What the options ask for; von Mises-Fisher unless the method is a mixture. */
ast_family ast_family_of(const ast_options *options, size_t dimension);

/* AST_OK unless the family cannot have these points and options. */
ast_status ast_family_check(const ast_options *options, const ast_points *points, ast_fault *fault);

/* `lifted->points`: rows of features in memory; NaN for missing rows. */
ast_status ast_lift_points(ast_context *context, const ast_points *points, const ast_family *family,
                           ast_transformed_rows *lifted);

/* Makes *own: the options with the means to start from as features, which the caller frees (*means). If the angles of
 * the points were rounded, sets family->spread, so that rows stand for cells. */
ast_status ast_lift_options(const ast_points *points, const ast_options *options, ast_family *family, ast_options *own,
                            float **means, ast_context *context);

/* Turns the result of a run over features into the result of the points: means, kappas, errors. Also computes the test
 * of uniformity of the call. labels: of the result. */
ast_status ast_unlift_result(ast_call *call, const ast_points *points, const int32_t *labels, ast_result *result);

/* Computes the components over features from the numbers of a model. There is room for them. */
void ast_lift_components(const ast_model_info *model, ast_components *components);
