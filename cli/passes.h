/* SPDX-License-Identifier: MIT
 *
 * The options that say how the passes over the points are run: cluster and stream have them alike. */
#ifndef AST_CLI_PASSES_H
#define AST_CLI_PASSES_H

#include "options.h"

typedef struct ast_cli_passes {
    int max_iterations;
    int parallel; /* an ast_parallel */
    int bounds;
} ast_cli_passes;

extern const ast_cli_group ast_cli_passes_group;

#endif
