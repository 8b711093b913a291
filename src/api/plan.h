/* SPDX-License-Identifier: MIT
 *
 * How much memory a run over a source takes, and what is kept where. */
#ifndef AST_PLAN_H
#define AST_PLAN_H

#include "asterism.h"

#include <stdbool.h>

/* false: `memory` is less than plan->least. */
bool ast_plan_make(const ast_source *source, const ast_options *options, int threads, size_t memory, ast_plan *plan);

/* Chunks between two calls of progress: some 64 MiB of rows. */
size_t ast_plan_segment(const ast_source *source);

#endif
