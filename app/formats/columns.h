/* SPDX-License-Identifier: MIT
 *
 * A column list such as "1,3,5-7" or "dec,inc", understood. Names are columns once the header of the file is known. */
#ifndef ASTERISM_FORMATS_COLUMNS_H
#define ASTERISM_FORMATS_COLUMNS_H

#include "formats.h"

typedef struct ast_columns {
    char *named;       /* the list, if it has names: then there is no order yet; NULL otherwise */
    size_t count;      /* columns that are wanted; 0: there is no list, and all are */
    size_t capacity;   /* of the order */
    size_t highest;    /* the highest of them, 1-based */
    uint32_t *order;   /* (count) the wanted columns, 0-based, in the order they are wanted */
    uint32_t *slots;   /* (highest) for each column of the file its place in that order plus 1, or 0 */
    const char *names; /* the column of the rows' names, by number or by its name in the header; NULL: none */
} ast_columns;

/* `text` NULL: no list. On failure there is nothing to free. */
bool ast_columns_parse(ast_columns *columns, const char *text, ast_format_error *error);
void ast_columns_free(ast_columns *columns);

/* Finds the columns of a list with names in the header (total) of a file. On failure there is nothing to free. */
bool ast_columns_find(ast_columns *found, const ast_columns *named, char *const *header, size_t total, const char *file,
                      ast_format_error *error);

/* Whether a file with so many columns, and no header, has the wanted ones. */
bool ast_columns_fit(const ast_columns *columns, size_t total, const char *file, ast_format_error *error);

/* If the wanted columns are evenly spaced, in either direction, they are a stride and nothing needs copying: true, and
 * *step is their distance. */
bool ast_columns_even(const ast_columns *columns, ptrdiff_t *step);

#endif
