/* SPDX-License-Identifier: MIT
 *
 * The file of --pairs: i, j and cosine as .csv, .jsonl, or .npy. */
#pragma once

#include <formats.h>
#include <json.h>

#include <stdbool.h>

typedef struct ast_cli_pairs {
    ast_output *output; /* the caller's */
    int style;
    const ast_names *ids, *other_ids; /* of the rows, and of those of --against, or NULL: numbers are written */
    double *numbers;                  /* .npy: (used) its header needs the number of pairs */
    size_t used, capacity;
    bool failed; /* error is set */
    ast_format_error error;
} ast_cli_pairs;

bool ast_cli_pairs_check(const char *path); /* whether its extension is known */
/* A field of .csv: in quotes where it must be. */
void ast_cli_put_field(ast_text *text, const char *field);
void ast_cli_pairs_open(ast_cli_pairs *pairs, const char *path, ast_output *output);
bool ast_cli_pairs_add(ast_cli_pairs *pairs, size_t i, size_t j, double cosine); /* false: it failed */
bool ast_cli_pairs_end(ast_cli_pairs *pairs);
void ast_cli_pairs_free(ast_cli_pairs *pairs);
