/* SPDX-License-Identifier: MIT
 *
 * .xyz: a cloud as text, a point on each line, x y z and whatever else. Columns are separated by blanks, commas or
 * semicolons. --columns says which of them are x, y and z, and with six of them the normal. Lines that begin with # or
 * // are comments, the first of which may name the columns; so may a first line without a number. A first line of one
 * number is how many points there are (.pts), and is passed over. */
#include "solid_readers.h"

#include "platform.h"
#include "columns.h"
#include "number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 4096 }; /* of a line that are looked at */

typedef struct reader {
    const ast_solid_file *file;
    ast_solid *solid;
    ast_columns columns;
    size_t width;                        /* columns wanted: 3 or 6 */
    size_t highest;                      /* columns that a line must have */
    size_t slots[AST_SOLID_SLOTS];       /* the column of each slot, from 0 */
    const char *names_begin, *names_end; /* the line that names the columns; NULL: none */
    size_t point_room, normal_room;
} reader;

static bool choose_columns(reader *r);
static const char *pass_head(reader *r, const char *at);
static bool read_line(reader *r, const char *at, const char *end);

bool ast_xyz_solid(ast_solid *solid, const ast_solid_file *file) {
    reader r = {.file = file, .solid = solid};
    if (!ast_columns_parse(&r.columns, file->columns, file->error))
        return false;
    const char *at = pass_head(&r, ast_solid_next_line(file->text, file->end));
    bool good = choose_columns(&r);
    ast_columns_free(&r.columns);
    while (good && at < file->end) {
        const char *end = ast_solid_line(at, file->end);
        bool comment = *at == '#' || (*at == '/' && at[1] == '/');
        good = comment || read_line(&r, at, end);
        at = ast_solid_next_line(end, file->end);
    }
    return good;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static bool separates(char byte) {
    return ast_solid_blank(byte) || byte == ',' || byte == ';';
}

/* The next column of a line: blanks in a row are one separator, a comma or a semicolon is one of its own. False at the
 * end of the line. */
static bool next_column(const char **at, const char *end, ast_word *column) {
    const char *from = ast_solid_pass_blanks(*at);
    if (from >= end)
        return false;
    const char *to = from;
    while (to < end && !separates(*to))
        to++;
    *column = (ast_word){from, (size_t)(to - from)};
    to = ast_solid_pass_blanks(to);
    *at = to < end && (*to == ',' || *to == ';') ? to + 1 : to;
    return true;
}

/* NaN is a number too. */
static bool number_of(ast_word column, double *value) {
    const char *end = ast_number_parse(column.text, false, value);
    if (end)
        return end == column.text + column.length;
    size_t sign = column.length > 0 && (*column.text == '-' || *column.text == '+');
    *value = (double)NAN;
    return column.length - sign == 3 && strncasecmp(column.text + sign, "nan", 3) == 0;
}

static size_t count_columns(const char *at, const char *end, size_t *numbers) {
    ast_word column;
    size_t count = 0;
    double value;
    *numbers = 0;
    while (next_column(&at, end, &column)) {
        *numbers += number_of(column, &value);
        count++;
    }
    return count;
}

/* Passes over comments, the line that names the columns, and the number of points. Returns the first line of points. */
static const char *pass_head(reader *r, const char *at) {
    while (at < r->file->end && (*at == '#' || (*at == '/' && at[1] == '/'))) {
        const char *end = ast_solid_line(at, r->file->end);
        if (!r->names_begin) {
            r->names_begin = at + (*at == '#' ? 1 : 2);
            r->names_end = end;
        }
        at = ast_solid_next_line(end, r->file->end);
    }
    const char *end = ast_solid_line(at, r->file->end);
    size_t numbers, count = count_columns(at, end, &numbers);
    if (at < r->file->end && numbers == 0) {
        r->names_begin = at;
        r->names_end = end;
    }
    return at < r->file->end && (numbers == 0 || (numbers == 1 && count == 1)) ? ast_solid_next_line(end, r->file->end)
                                                                               : at;
}

/* The names of the columns as strings, to free. */
static size_t take_names(const reader *r, char **names) {
    ast_word column;
    size_t count = 0;
    const char *at = r->names_begin;
    while (at && count < COLUMNS_MOST && next_column(&at, r->names_end, &column)) {
        names[count] = strndup(column.text, column.length);
        if (!names[count])
            break;
        count++;
    }
    return count;
}

static bool find_names(reader *r) {
    char **names = calloc(COLUMNS_MOST, sizeof *names);
    ast_columns found;
    if (!names)
        return ast_format_no_memory(r->file->error, r->file->name);
    size_t count = take_names(r, names);
    bool good =
        count > 0 || ast_solid_fail(r->file, NULL,
                                    "has no line that names its columns; --columns takes their numbers, such as "
                                    "1-3");
    good = good && ast_columns_find(&found, &r->columns, names, count, r->file->name, r->file->error);
    if (good) {
        ast_columns_free(&r->columns);
        r->columns = found;
    }
    while (count > 0)
        free(names[--count]);
    free(names);
    return good;
}

static bool choose_columns(reader *r) {
    if (r->columns.named && !find_names(r))
        return false;
    r->width = r->columns.count > 0 ? r->columns.count : 3;
    if (r->width != 3 && r->width != AST_SOLID_SLOTS)
        return ast_solid_fail(r->file, NULL,
                              "--columns has %zu columns; a cloud has three, x y z, or six with the normal", r->width);
    for (size_t i = 0; i < r->width; i++) {
        r->slots[i] = r->columns.count > 0 ? r->columns.order[i] : i;
        r->highest = r->slots[i] + 1 > r->highest ? r->slots[i] + 1 : r->highest;
    }
    return true;
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

static bool make_room(reader *r) {
    ast_solid *s = r->solid;
    if (s->count >= AST_SOLID_MOST)
        return ast_solid_fail(r->file, NULL, "has more than 2^31 - 1 points");
    return (ast_array_grow(&s->points, &r->point_room, s->count + 1, 3 * sizeof *s->points) &&
            (r->width == 3 || ast_array_grow(&s->normals, &r->normal_room, s->count + 1, 3 * sizeof *s->normals))) ||
           ast_format_no_memory(r->file->error, r->file->name);
}

static bool read_line(reader *r, const char *at, const char *end) {
    const char *begin = at;
    ast_word column = {0};
    size_t count = 0;
    if (!make_room(r))
        return false;
    for (; count < r->highest && next_column(&at, end, &column); count++)
        for (size_t i = 0; i < r->width; i++) {
            double value;
            if (r->slots[i] != count)
                continue;
            if (!number_of(column, &value))
                return ast_solid_no_number(r->file, column.text);
            ast_solid_store(r->solid, (int)i, r->solid->count, value);
        }
    if (count < r->highest)
        return ast_solid_fail(r->file, begin, "has %zu columns, and column %zu is needed", count, r->highest);
    r->solid->count++;
    return true;
}
