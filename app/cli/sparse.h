/* SPDX-License-Identifier: MIT
 *
 * Options for sparse rows: documents as counts of terms. */
#pragma once

#include <formats.h>

#include "options.h"

typedef struct ast_cli_sparse {
    int tf_idf;
} ast_cli_sparse;

extern const ast_cli_group ast_cli_sparse_group;

/* Weighs the numbers that were read as the options say. */
int ast_cli_sparse_apply(const ast_cli_sparse *sparse, const char *path, ast_input *input);
