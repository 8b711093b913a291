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
                           ast_centred *lifted);

/* The options with means to start from as features; *means is to be freed. Rounded angles are found in the points: then
 * rows of the family stand for cells. */
ast_status ast_lift_options(const ast_points *points, const ast_options *options, ast_family *family, ast_options *own,
                            float **means, ast_context *context);

/* The result of a run over features becomes that of the points: means, kappas, errors. `labels` are those of the
 * result. The test of uniformity of the call is computed, too. */
ast_status ast_unlift_result(ast_call *call, const ast_points *points, const int32_t *labels, ast_result *result);

/* Components over features of a model's numbers; with room for them. */
void ast_lift_components(const ast_model_info *model, ast_components *components);
