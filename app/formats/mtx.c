/* SPDX-License-Identifier: MIT
 *
 * MatrixMarket: one line that says what it is, comments, a line of sizes, then an entry a line, counted from 1. Read:
 * coordinate files of real numbers, integers or patterns (where every entry is 1), general symmetry. Entries may stand
 * in any order; those of one place are added up. The sizes are believed only as far as the entries bear them out. */
#include "registry.h"
#include "platform.h"
#include "sparse.h"
#include "text.h"

#include <math.h>
#include <string.h>

typedef struct mtx_reader {
    ast_fields text;
    ast_entries entries;
    bool pattern;    /* entries have no value */
    double promised; /* entries */
} mtx_reader;

static bool read_banner(mtx_reader *reader, ast_format_error *error);
static bool read_sizes(mtx_reader *reader, ast_format_error *error);
static bool read_entries(mtx_reader *reader, ast_format_error *error);

bool ast_mtx_open(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    if (how->columns.count > 0)
        return ast_format_fail(error, "%s: columns cannot be picked from sparse rows", bytes->name);
    mtx_reader reader = {.text = {.doubles = true, .separator = ' '}, .entries = {.name = bytes->name}};
    bool good = ast_fields_begin(&reader.text, bytes, error) && read_banner(&reader, error) &&
                read_sizes(&reader, error) && read_entries(&reader, error);
    ast_fields_end(&reader.text);
    return ast_entries_open(&reader.entries, good, how->transpose, input, error);
}

static bool no_banner(const mtx_reader *reader, ast_format_error *error) {
    return ast_format_fail(
        error,
        "%s: line 1 is not that of a MatrixMarket file that can be read; it must be '%%%%MatrixMarket "
        "matrix coordinate', then real, integer or pattern, then general",
        reader->text.bytes->name);
}

static bool read_banner(mtx_reader *reader, ast_format_error *error) {
    static const char *const words[] = {"%%MatrixMarket", "matrix", "coordinate", NULL, "general"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        ast_field field;
        if (!ast_fields_fill(&reader->text, error) || !ast_field_next(&reader->text, true, w + 1, &field, error))
            return false;
        bool text = field.kind == AST_FIELD_TEXT;
        if (!text || field.last != (w == 4) || (words[w] && strcasecmp(field.excerpt, words[w]) != 0))
            return no_banner(reader, error);
        reader->pattern |= w == 3 && strcasecmp(field.excerpt, "pattern") == 0;
        if (w == 3 && !reader->pattern && strcasecmp(field.excerpt, "real") != 0 &&
            strcasecmp(field.excerpt, "integer") != 0)
            return no_banner(reader, error);
    }
    return true;
}

/* Goes to the next line that is neither blank nor a comment. False at the end of the file, and after a read error,
 * which sets *failed. */
static bool next_line(ast_fields *text, bool *failed, ast_format_error *error) {
    for (;;) {
        *failed = !ast_fields_fill(text, error);
        if (*failed)
            return false;
        ast_fields_skip_blanks(text);
        if (text->cursor == text->end && text->ended)
            return false;
        if (text->cursor < text->end && !ast_is_line_end(*text->cursor) && *text->cursor != '%')
            return true;
        if (text->cursor < text->end) {
            *failed = !ast_fields_skip_line(text, error);
            if (*failed)
                return false;
        }
    }
}

/* A line of `count` numbers and nothing else. */
static bool read_numbers(ast_fields *text, size_t count, double *numbers, const char *what, ast_format_error *error) {
    unsigned long long line = text->line;
    for (size_t j = 0; j < count; j++) {
        ast_field field;
        if (!ast_field_next(text, true, j + 1, &field, error))
            return false;
        if (field.kind == AST_FIELD_INFINITE || field.kind == AST_FIELD_LARGE)
            return ast_format_fail(error, "%s: line %llu: '%s' is infinite or too large; numbers must be finite",
                                   text->bytes->name, line, field.excerpt);
        if (field.kind >= AST_FIELD_EMPTY || field.last != (j + 1 == count))
            return ast_format_fail(error, "%s: line %llu does not hold %s", text->bytes->name, line, what);
        numbers[j] = field.value;
    }
    return true;
}

static bool read_sizes(mtx_reader *reader, ast_format_error *error) {
    bool failed;
    double sizes[3];
    if (!next_line(&reader->text, &failed, error))
        return !failed && ast_format_fail(error, "%s: ends before the line with its sizes", reader->text.bytes->name);
    if (!read_numbers(&reader->text, 3, sizes, "the numbers of rows, columns and entries", error))
        return false;
    reader->promised = sizes[2];
    if (!(sizes[2] >= 0) || sizes[2] != floor(sizes[2]))
        return ast_format_fail(error, "%s: promises %g entries; a whole number is needed", reader->text.bytes->name,
                               sizes[2]);
    return ast_entries_size(&reader->entries, sizes[0], sizes[1], error);
}

static bool is_index(double number, size_t count) {
    return number >= 1 && number <= (double)count && number == floor(number);
}

static bool read_entry(mtx_reader *reader, ast_format_error *error) {
    ast_fields *text = &reader->text;
    ast_entries *entries = &reader->entries;
    unsigned long long line = text->line;
    double numbers[3] = {0, 0, 1};
    if (!read_numbers(text, reader->pattern ? 2 : 3, numbers,
                      reader->pattern ? "a row and a column" : "a row, a column and a number", error))
        return false;
    if (!is_index(numbers[0], entries->rows) || !is_index(numbers[1], entries->columns))
        return ast_format_fail(error, "%s: line %llu: entry (%g, %g) is outside of the table of %zu x %zu",
                               entries->name, line, numbers[0], numbers[1], entries->rows, entries->columns);
    return ast_entries_add(entries, (ast_entry){(int32_t)numbers[0] - 1, (int32_t)numbers[1] - 1, numbers[2]}, error);
}

static bool read_entries(mtx_reader *reader, ast_format_error *error) {
    bool failed;
    while (next_line(&reader->text, &failed, error)) {
        if ((double)reader->entries.count >= reader->promised)
            return ast_format_fail(error, "%s: line %llu is one entry more than the %.0f that the file promises",
                                   reader->entries.name, (unsigned long long)reader->text.line, reader->promised);
        if (!read_entry(reader, error))
            return false;
    }
    if (!failed && (double)reader->entries.count < reader->promised)
        return ast_format_fail(error, "%s: promises %.0f entries and has %zu; it was cut short, or its header lies",
                               reader->entries.name, reader->promised, reader->entries.count);
    return !failed;
}
