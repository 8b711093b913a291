/* SPDX-License-Identifier: MIT
 *
 * How much memory a run over a source takes, and what is kept where. */
#pragma once

#include "context.h"

/* The rows of a source as a view that must not be read: shape and weights. */
ast_points ast_source_shape(const ast_source *source);

/* Checks the arguments of a call over a source, and makes its plan. */
ast_status ast_check_source(const ast_source *source, ast_fault *fault);
ast_status ast_plan_call(ast_context *context, const ast_source *source, const ast_options *options, size_t memory,
                         ast_plan *plan);

/* Chunks between two calls of progress: some 64 MiB of rows. */
size_t ast_plan_segment_chunks(const ast_source *source);
