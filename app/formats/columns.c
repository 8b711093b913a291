/* SPDX-License-Identifier: MIT
 *
 * Reads column lists. No column may appear twice, so that a selection is never larger than the file it comes from. A
 * list with names is kept until there is a header; then the numbers of the columns take the place of their names. */
#include "columns.h"

#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No column beyond this: more than any file has, and the tables of the largest list still fit in memory. */
#define COLUMN_LIMIT ((size_t)1 << 24)

typedef struct range {
    uint64_t first, last; /* 1-based, inclusive */
} range;

typedef struct entry {
    const char *begin;
    size_t length;
    bool name;
} entry;

static bool next_range(const char **cursor, range *found);
static bool read_ranges(ast_columns *columns, const char *text, ast_format_error *error);
static bool fill_slots(ast_columns *columns, const char *text, ast_format_error *error);

static bool no_memory(const char *text, ast_format_error *error) {
    return ast_format_fail(error, "there is not enough memory for the columns '%.60s'", text);
}

/* The entry of the list at the cursor, without the blanks around it. It is a name unless it begins as a number or a
 * range does: digits, and then its end or a dash. */
static entry next_entry(const char **cursor) {
    const char *begin = *cursor + strspn(*cursor, " ");
    *cursor += strcspn(*cursor, ",");
    entry one = {begin, begin < *cursor ? (size_t)(*cursor - begin) : 0, false};
    while (one.length > 0 && begin[one.length - 1] == ' ')
        one.length--;
    size_t digits = strspn(begin, "0123456789");
    one.name = digits < one.length && begin[digits] != '-';
    return one;
}

/* Whether there is a name in the list, and no entry is empty. */
static bool has_names(const char *text, size_t *entries) {
    bool names = false;
    const char *cursor = text;
    *entries = 0;
    do {
        entry one = next_entry(&cursor);
        if (one.length == 0) {
            *entries = 0;
            return false;
        }
        names |= one.name;
        ++*entries;
    } while (*cursor++ == ',');
    *entries = names ? *entries : 0;
    return names;
}

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
    if (has_names(text, &columns->count)) {
        columns->named = strdup(text);
        return columns->named || ast_format_no_memory(error, text);
    }
    bool good = read_ranges(columns, text, error) && fill_slots(columns, text, error);
    if (!good)
        ast_columns_free(columns);
    return good;
}

void ast_columns_free(ast_columns *columns) {
    free(columns->named);
    free(columns->order);
    free(columns->slots);
    *columns = (ast_columns){0};
}

/* The number of the column, from 1; 0: there is none, SIZE_MAX: there are several. The case of letters counts only
 * where it makes a difference. */
static size_t column_called(const entry *one, char *const *header, size_t total, bool exactly) {
    size_t found = 0;
    for (size_t i = 0; i < total; i++)
        if (strlen(header[i]) == one->length &&
            (exactly ? strncmp : strncasecmp)(header[i], one->begin, one->length) == 0)
            found = found ? SIZE_MAX : i + 1;
    return found || !exactly ? found : column_called(one, header, total, false);
}

static bool no_such_column(const entry *one, char *const *header, size_t total, const char *file,
                           ast_format_error *error) {
    char list[300], word[AST_EXCERPT];
    size_t used = 0;
    for (size_t i = 0; i < total && used < sizeof list - 1; i++) {
        ast_excerpt(word, header[i], strlen(header[i]));
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", word);
    }
    ast_excerpt(word, one->begin, one->length);
    return ast_format_fail(error, "%s: has no column '%s'; its columns are %s%s", file, word, list,
                           used < sizeof list - 1 ? "" : " ...");
}

bool ast_columns_find(ast_columns *found, const ast_columns *named, char *const *header, size_t total, const char *file,
                      ast_format_error *error) {
    size_t room = strlen(named->named) + 24 * named->count + 1, used = 0, entries = 0;
    char *numbers = malloc(room);
    const char *cursor = named->named;
    bool good = numbers || ast_format_no_memory(error, file);
    for (bool more = good; more; more = good && *cursor++ == ',') {
        entry one = next_entry(&cursor);
        entries++;
        size_t column = one.name ? column_called(&one, header, total, true) : 0;
        if (one.name && column == SIZE_MAX)
            good =
                ast_format_fail(error, "%s: more than one column has the name of entry %zu of '%.60s'; give its number",
                                file, entries, named->named);
        else if (one.name && column == 0)
            good = no_such_column(&one, header, total, file, error);
        else if (one.name)
            used += (size_t)snprintf(numbers + used, room - used, "%s%zu", used ? "," : "", column);
        else
            used +=
                (size_t)snprintf(numbers + used, room - used, "%s%.*s", used ? "," : "", (int)one.length, one.begin);
    }
    ast_format_error wrong;
    if (good && !ast_columns_parse(found, numbers, &wrong))
        good = ast_format_fail(error, "%s: %s", file, wrong.text);
    free(numbers);
    return good;
}

bool ast_columns_fit(const ast_columns *columns, size_t total, const char *file, ast_format_error *error) {
    if (columns->named)
        return ast_format_fail(error, "%s: has no header with names of columns; give the columns by number", file);
    return columns->highest <= total ||
           ast_format_fail(error, "%s: has %zu columns, and column %zu is asked for", file, total, columns->highest);
}

bool ast_columns_even(const ast_columns *columns, ptrdiff_t *step) {
    *step = columns->count > 1 ? (ptrdiff_t)columns->order[1] - (ptrdiff_t)columns->order[0] : 1;
    for (size_t i = 2; i < columns->count; i++)
        if ((ptrdiff_t)columns->order[i] - (ptrdiff_t)columns->order[i - 1] != *step)
            return false;
    return true;
}

/* Appends the columns of a range. */
static bool add_range(ast_columns *columns, range found, const char *text, ast_format_error *error) {
    size_t count = columns->count + found.last - found.first + 1;
    if (count > COLUMN_LIMIT)
        return ast_format_fail(error, "the list of columns '%.60s' names a column twice", text);
    if (!ast_array_grow(&columns->order, &columns->capacity, count, sizeof *columns->order))
        return no_memory(text, error);
    for (size_t column = found.first; column <= found.last; column++)
        columns->order[columns->count++] = (uint32_t)column - 1;
    columns->highest = columns->highest < found.last ? found.last : columns->highest;
    return true;
}

static bool read_ranges(ast_columns *columns, const char *text, ast_format_error *error) {
    const char *cursor = text;
    range found;
    do {
        if (!next_range(&cursor, &found))
            return ast_format_fail(error,
                                   "'%.60s' is no list of columns; right would be 2-101, 1,3,5-7 (counted from 1, up "
                                   "to %zu) or names, such as dec,inc",
                                   text, COLUMN_LIMIT);
        if (found.last < found.first)
            return ast_format_fail(error,
                                   "in the list of columns '%.60s' the range %" PRIu64 "-%" PRIu64
                                   " runs backwards; %" PRIu64 "-%" PRIu64 " would be right",
                                   text, found.first, found.last, found.last, found.first);
        if (!add_range(columns, found, text, error))
            return false;
    } while (*cursor++ == ',');
    return true;
}

static bool fill_slots(ast_columns *columns, const char *text, ast_format_error *error) {
    columns->slots = calloc(columns->highest, sizeof *columns->slots);
    if (!columns->slots)
        return no_memory(text, error);
    for (size_t i = 0; i < columns->count; i++) {
        uint32_t column = columns->order[i];
        if (columns->slots[column])
            return ast_format_fail(error, "the list of columns '%.60s' names column %u twice", text, column + 1);
        columns->slots[column] = (uint32_t)i + 1;
    }
    return true;
}

/* "7" or "5-7", followed by a comma or the end; the cursor stops there. */
static bool next_range(const char **cursor, range *found) {
    const char *at = ast_whole_parse(*cursor, NULL, &found->first);
    found->last = found->first;
    if (at && *at == '-')
        at = ast_whole_parse(at + 1, NULL, &found->last);
    if (!at || (*at != ',' && *at != '\0'))
        return false;
    *cursor = at;
    return found->first >= 1 && found->first <= COLUMN_LIMIT && found->last >= 1 && found->last <= COLUMN_LIMIT;
}
