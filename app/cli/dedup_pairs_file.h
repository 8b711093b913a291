/* SPDX-License-Identifier: MIT
 *
 * The file of --pairs: i, j and cosine as .csv, .jsonl, or .npy. */
#pragma once

#include <formats.h>

#include <stdbool.h>

typedef struct ast_cli_pairs {
    ast_output *output; /* the caller's */
    int style;
    double *numbers; /* .npy: (used) its header needs the number of pairs */
    size_t used, capacity;
    bool failed; /* error is set */
    ast_format_error error;
} ast_cli_pairs;

bool ast_cli_pairs_check(const char *path); /* whether its extension is known */
void ast_cli_pairs_open(ast_cli_pairs *pairs, const char *path, ast_output *output);
bool ast_cli_pairs_add(ast_cli_pairs *pairs, size_t i, size_t j, double cosine); /* false: it failed */
bool ast_cli_pairs_end(ast_cli_pairs *pairs);
void ast_cli_pairs_free(ast_cli_pairs *pairs);
