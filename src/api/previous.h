/* SPDX-License-Identifier: MIT
 *
 * ast_cluster with options.previous: clusters keep the ids of an earlier run. */
#pragma once

#include "context.h"

/* The sentence about options.previous, or NULL. */
const char *ast_previous_problem(const ast_options *options);

/* With options and struct of the report checked. */
ast_status ast_cluster_keeping_ids(ast_context *context, const ast_points *points, const ast_options *options,
                                   int32_t *labels, ast_report *report);
