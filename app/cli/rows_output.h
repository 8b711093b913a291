/* SPDX-License-Identifier: MIT
 *
 * --output: a table with a row for each row of the input: its id, its cluster, its similarity to the cluster's mean. */
#pragma once

#include <rows_file.h>

#include "options.h"

/* Whether the name says a table that can be written: .csv, .jsonl or .parquet. */
int ast_cli_check_rows_output(const ast_cli_common *common);

typedef struct ast_cli_rows_output {
    ast_output *output;
    const ast_names *ids; /* NULL: the numbers of the rows */
    int kind;
    bool text; /* the ids are not all whole numbers */
    ast_parquet_writer *parquet;
} ast_cli_rows_output;

/* Begins the table, if it was asked for: rows->output is NULL otherwise, and nothing is written. An id that two rows
 * have is said. `ids` may be NULL. */
int ast_cli_rows_begin(ast_cli_rows_output *rows, const ast_cli_common *common, const ast_names *ids);

/* Rows first..first+count-1, in order. */
bool ast_cli_rows_put(ast_cli_rows_output *rows, size_t first, size_t count, const int32_t *labels,
                      const float *similarity, ast_format_error *error);

/* Ends the table if `good`; frees what was made in any case. */
bool ast_cli_rows_end(ast_cli_rows_output *rows, bool good, ast_format_error *error);
