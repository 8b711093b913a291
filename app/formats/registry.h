/* SPDX-License-Identifier: MIT
 *
 * The table of formats, and what a format has to supply. A new format is a small file with the functions that it needs
 * and a line in registry.c. A binary table in a regular file is read through `table` (input.c: ast_table_read), the
 * same table from a pipe or a compressed file, and every other format, through `open`. */
#ifndef ASTERISM_FORMATS_REGISTRY_H
#define ASTERISM_FORMATS_REGISTRY_H

#include "columns.h"
#include "solid_readers.h"
#include "table.h"

/* All numbers of a file as doubles, flattened row by row: labels and weights. */
typedef struct ast_values {
    double *numbers; /* (count) to free() */
    size_t count;
    bool vector; /* one dimension, or all but one of them are 1 */
} ast_values;

/* Fills in input->points and what it owns; on failure it leaves in `input` what ast_input_close can free. */
typedef bool ast_open_function(ast_input *input, ast_bytes *bytes, const struct ast_resolved *how,
                               ast_format_error *error);

/* Fills in the values; on failure there are none. */
typedef bool ast_values_function(ast_values *values, ast_bytes *bytes, const struct ast_resolved *how,
                                 ast_format_error *error);

typedef struct ast_format {
    const char *name;              /* the extension, without its dot */
    unsigned holds;                /* AST_HOLDS_ bits */
    ast_open_function *open;       /* reads the whole input; NULL: it holds no rows of points */
    ast_values_function *values;   /* NULL: the format is no list of numbers */
    ast_solid_function *solid;     /* of AST_HOLDS_SOLID */
    ast_table_function *table;     /* finds where the rows of a regular file are: a binary table; NULL otherwise */
    ast_promise_function *promise; /* the same for a pipe: how many bytes there are; NULL where `table` is */
    ast_type type;                 /* of the numbers, where the name says it: .fbin, .fvecs and their like */
    bool counted;                  /* their rows begin with their dimension */
    char separator;                /* of text, where the name says it; 0: the content does */
} ast_format;

/* What a path and options say before anything is opened. */
typedef struct ast_resolved {
    const ast_format *format;
    bool compressed;
    bool transpose;
    bool empty;
    ast_header header;
    char *remark;                 /* for a sentence, or NULL */
    const ast_cell_reader *words; /* who reads the words of a text, or NULL */
    bool (*check_header)(char *const names[2], const char *file, ast_format_error *error); /* or NULL */
    const char *member;  /* the tensor or dataset that is asked for, or NULL; the caller's */
    ast_columns columns; /* to be freed, unless it failed */
} ast_resolved;

bool ast_resolve(ast_resolved *how, const char *path, const ast_input_options *options, ast_format_error *error);

/* Reads the input from its open bytes, which are closed in any case. */
bool ast_input_read_bytes(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error);

/* npy.c, text.c, words.c; mtx.c, npz.c: sparse rows; table.c: all formats that are nothing but tables */
ast_open_function ast_npy_open, ast_text_open, ast_words_open, ast_mtx_open, ast_npz_open, ast_table_open;
ast_table_function ast_npy_table;
ast_values_function ast_npy_values, ast_text_values;

/* Rows become columns: a change of strides. */
void ast_points_transpose(ast_points *points);

/* npy.c. A view of dense numbers. */
ast_points ast_points_view(const void *data, ast_type type, size_t count, size_t dimension, ptrdiff_t row_stride,
                           ptrdiff_t column_stride);

/* npy.c. The view becomes one of the wanted columns, if there is a list of them: in other strides where the columns are
 * evenly spaced, otherwise as a copy in `gathered`, tight and in C order. */
bool ast_points_pick(ast_points *points, const ast_columns *columns, ast_buffer *gathered, const char *name,
                     ast_format_error *error);

/* npy.c. A type of numbers: its name in sentences, and kind and item as in ast_npy_header ('B': bfloat16). */
typedef struct ast_number_type {
    const char *name;
    char kind;
    size_t item;
} ast_number_type;
const ast_number_type *ast_number_type_of(ast_type type);

/* The values of a file, through the registry. */
bool ast_values_read(ast_values *values, const char *path, const ast_input_options *options, ast_format_error *error);

#endif
