/* SPDX-License-Identifier: MIT
 *
 * A result as a table: for each row its id, its cluster and how similar it is to the cluster's mean. */
#ifndef ASTERISM_FORMATS_ROWS_FILE_H
#define ASTERISM_FORMATS_ROWS_FILE_H

#include "formats.h"

/* Some rows, in order. */
typedef struct ast_rows_part {
    size_t first, count;
    const char *const *ids; /* NULL: the number of the row, from 0 */
    const int32_t *labels;
    const float *similarity; /* NaN: it has none */
} ast_rows_part;

typedef struct ast_parquet_writer ast_parquet_writer;

/* `text`: whether the ids are strings; otherwise all are whole numbers of 8 bytes. The output is the caller's. */
ast_parquet_writer *ast_parquet_writer_open(ast_output *output, bool text, ast_format_error *error);
bool ast_parquet_write_rows(ast_parquet_writer *writer, const ast_rows_part *part, ast_format_error *error);
bool ast_parquet_writer_end(ast_parquet_writer *writer, ast_format_error *error); /* writes the footer */
void ast_parquet_writer_free(ast_parquet_writer *writer);                         /* NULL is fine */

#endif
