/* SPDX-License-Identifier: MIT
 *
 * Entries of a sparse table in any order, and how they become rows. */
#ifndef ASTERISM_FORMATS_SPARSE_H
#define ASTERISM_FORMATS_SPARSE_H

#include "bytes.h"

typedef struct ast_entry {
    int32_t row, column; /* 0-based */
    double value;
} ast_entry;

/* Zeroed at first. */
typedef struct ast_entries {
    const char *name; /* of the file, for sentences */
    size_t rows, columns;
    ast_entry *list;
    size_t count, capacity;
} ast_entries;

/* The size of the table, which must leave the indices 31 bits. */
bool ast_entries_size(ast_entries *entries, double rows, double columns, ast_format_error *error);

/* Grows as entries come, whatever the file promises. */
bool ast_entries_add(ast_entries *entries, ast_entry entry, ast_format_error *error);

/* Makes them the points of the input: rows in order, within a row columns in order, numbers of one place added up in
 * the order of the file; `transpose`: the columns are the points. Frees the entries, also on failure, and if they were
 * not `read`. */
bool ast_entries_open(ast_entries *entries, bool read, bool transpose, ast_input *input, ast_format_error *error);

#endif
