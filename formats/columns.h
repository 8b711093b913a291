/* SPDX-License-Identifier: MIT
 *
 * A column list such as "1,3,5-7", understood. */
#ifndef ASTERISM_FORMATS_COLUMNS_H
#define ASTERISM_FORMATS_COLUMNS_H

#include "formats.h"

typedef struct ast_columns {
    size_t count;    /* columns that are wanted; 0: there is no list, and all are */
    size_t highest;  /* the highest of them, 1-based */
    uint32_t *order; /* (count) the wanted columns, 0-based, in the order they are wanted */
    uint32_t *slots; /* (highest) for each column of the file its place in that order plus 1, or 0 */
} ast_columns;

/* `text` NULL: no list. On failure there is nothing to free. */
bool ast_columns_parse(ast_columns *columns, const char *text, ast_format_error *error);
void ast_columns_free(ast_columns *columns);

/* If the wanted columns are evenly spaced, in either direction, they are a stride and nothing needs copying: true, and
 * *step is their distance. */
bool ast_columns_even(const ast_columns *columns, ptrdiff_t *step);

#endif
