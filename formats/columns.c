/* SPDX-License-Identifier: MIT
 *
 * Reads column lists. The list is walked twice with the same function: once to check and count, once to fill in. No
 * column may appear twice, so that a selection is never larger than the file it comes from. */
#include "columns.h"

#include <stdlib.h>
#include <string.h>

/* No column beyond this: more than any file has, and the tables of the largest list still fit in memory. */
#define COLUMN_LIMIT ((size_t)1 << 24)

typedef struct range {
    size_t first, last; /* 1-based, inclusive */
} range;

static bool next_range(const char **cursor, range *found);
static bool count_columns(ast_columns *columns, const char *text, ast_format_error *error);
static bool fill_columns(ast_columns *columns, const char *text, ast_format_error *error);

bool ast_columns_check(const char *columns, ast_format_error *error) {
    ast_columns parsed;
    bool good = ast_columns_parse(&parsed, columns, error);
    ast_columns_free(&parsed);
    return good;
}

bool ast_columns_parse(ast_columns *columns, const char *text, ast_format_error *error) {
    *columns = (ast_columns){0};
    if (!text)
        return true;
    bool good = count_columns(columns, text, error) && fill_columns(columns, text, error);
    if (!good)
        ast_columns_free(columns);
    return good;
}

void ast_columns_free(ast_columns *columns) {
    free(columns->order);
    free(columns->slots);
    *columns = (ast_columns){0};
}

bool ast_columns_even(const ast_columns *columns, ptrdiff_t *step) {
    *step = columns->count > 1 ? (ptrdiff_t)columns->order[1] - (ptrdiff_t)columns->order[0] : 1;
    for (size_t i = 2; i < columns->count; i++)
        if ((ptrdiff_t)columns->order[i] - (ptrdiff_t)columns->order[i - 1] != *step)
            return false;
    return true;
}

static bool count_columns(ast_columns *columns, const char *text, ast_format_error *error) {
    const char *cursor = text;
    range found;
    do {
        if (!next_range(&cursor, &found))
            return ast_format_fail(error,
                            "'%.60s' is no list of columns; right would be 2-101 or 1,3,5-7, counted from 1 up to %zu",
                            text, COLUMN_LIMIT);
        if (found.last < found.first)
            return ast_format_fail(error,
                            "in the list of columns '%.60s' the range %zu-%zu runs backwards; %zu-%zu would be right",
                            text, found.first, found.last, found.last, found.first);
        columns->count += found.last - found.first + 1;
        if (columns->count > COLUMN_LIMIT)
            return ast_format_fail(error, "the list of columns '%.60s' names a column twice", text);
        if (columns->highest < found.last)
            columns->highest = found.last;
    } while (*cursor++ == ',');
    return true;
}

static bool fill_columns(ast_columns *columns, const char *text, ast_format_error *error) {
    columns->order = malloc(columns->count * sizeof *columns->order);
    columns->slots = calloc(columns->highest, sizeof *columns->slots);
    if (!columns->order || !columns->slots)
        return ast_format_fail(error, "there is not enough memory for the columns '%.60s'", text);
    const char *cursor = text;
    uint32_t place = 0;
    range found;
    do {
        next_range(&cursor, &found);
        for (size_t column = found.first - 1; column < found.last; column++) {
            if (columns->slots[column])
                return ast_format_fail(error, "the list of columns '%.60s' names column %zu twice", text, column + 1);
            columns->order[place++] = (uint32_t)column;
            columns->slots[column] = place;
        }
    } while (*cursor++ == ',');
    return true;
}

static bool next_number(const char **cursor, size_t *number) {
    const char *start = *cursor;
    *number = 0;
    for (; **cursor >= '0' && **cursor <= '9' && *number <= COLUMN_LIMIT; (*cursor)++)
        *number = *number * 10 + (size_t)(**cursor - '0');
    return *cursor > start && *number >= 1 && *number <= COLUMN_LIMIT;
}

/* "7" or "5-7", followed by a comma or the end; the cursor stops there. */
static bool next_range(const char **cursor, range *found) {
    if (!next_number(cursor, &found->first))
        return false;
    found->last = found->first;
    if (**cursor == '-') {
        (*cursor)++;
        if (!next_number(cursor, &found->last))
            return false;
    }
    return **cursor == ',' || **cursor == '\0';
}
