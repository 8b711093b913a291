/* SPDX-License-Identifier: MIT
 *
 * Tables of text whose fields are words: measurements as they are written, which another room turns into numbers. All
 * words of the file are kept; then the wanted columns are handed over.
 *
 * A MagIC file holds several tables: a line "tab" and the name of the table, the names of its columns, its rows, and a
 * line of ">". The first table with the wanted columns is read. */
#include "text.h"

#include "registry.h"

#include <stdlib.h>
#include <string.h>

#define LINES 16 /* that the separator is guessed from */
#define WORD 256 /* bytes of a word that is looked at for that */

typedef struct table {
    ast_fields text;
    const ast_resolved *how;
    ast_columns found;   /* what became of a list with names */
    char **words;        /* (count) of all rows, and first of the header */
    size_t count, room;  /* words */
    size_t header;       /* words of the header; 0: there is none */
    size_t rows, width;  /* of the rows */
    uint64_t *lines;     /* (rows) */
    size_t line_room;    /* of lines */
    size_t name;         /* the column of names, 1-based; 0: none */
    bool several;        /* the file is one of several tables */
    bool over;           /* the table has ended before the file */
    ast_words words_out; /* what is handed over */
} table;

static void forget(table *t) {
    for (size_t i = 0; i < t->count; i++)
        free(t->words[i]);
    t->count = t->header = t->rows = t->width = 0;
    t->over = false;
}

/* ---- The separator ----------------------------------------------------------------------------------------------- */

/* Adds the words between the separators of a line: those that are values, and the others. */
static void count_line(const ast_cell_reader *reader, const char *begin, const char *end, char separator,
                       size_t counts[2]) {
    char word[WORD];
    while (begin < end) {
        const char *stop = begin;
        while (stop < end && *stop != separator && !(separator == ' ' && *stop == '\t'))
            stop++;
        while (begin < stop && strchr(" \t\"", *begin))
            begin++;
        const char *last = stop;
        while (last > begin && strchr(" \t\"", last[-1]))
            last--;
        size_t length = (size_t)(last - begin);
        if (length > 0 && length < WORD) {
            memcpy(word, begin, length);
            word[length] = '\0';
            counts[reader->is_value(word) ? 0 : 1]++;
        }
        begin = stop + 1;
    }
}

static void count_lines(const table *t, char separator, bool *occurs, size_t counts[2]) {
    int lines = 0;
    counts[0] = counts[1] = 0;
    *occurs = false;
    for (const char *at = t->text.cursor; at < t->text.end && lines < LINES;) {
        const char *end = at;
        while (end < t->text.end && !ast_is_line_end(*end))
            end++;
        *occurs |= memchr(at, separator, (size_t)(end - at)) != NULL;
        lines += end > at;
        if (*at != '#')
            count_line(t->how->words, at, end, separator, counts);
        at = end + 1;
    }
}

/* The separator that leaves most values, and of equal ones fewest other words: "12,5;40,2" has decimal commas. */
static char find_separator(const table *t) {
    static const char candidates[] = ",\t;";
    bool occurs;
    char best = ' ';
    size_t most[2], counts[2];
    count_lines(t, ' ', &occurs, most);
    for (const char *candidate = candidates; *candidate; candidate++) {
        count_lines(t, *candidate, &occurs, counts);
        if (!occurs || counts[0] < most[0] || (counts[0] == most[0] && counts[1] > most[1]))
            continue;
        memcpy(most, counts, sizeof most);
        best = *candidate;
    }
    return best;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* The words of a line, behind those that are there. */
static bool read_line(table *t, size_t *width, ast_format_error *error) {
    ast_field field = {0};
    *width = 0;
    while (!field.last) {
        if (!ast_array_grow(&t->words, &t->room, t->count + 1, sizeof *t->words))
            return ast_format_no_memory(error, t->text.bytes->name);
        t->words[t->count] = NULL;
        bool good = ast_field_word(&t->text, *width + 1, &field, &t->words[t->count], error);
        t->count += t->words[t->count] != NULL;
        if (!good)
            return false;
        ++*width;
    }
    return true;
}

static bool is_header(const table *t, size_t width) {
    const ast_cell_reader *reader = t->how->words;
    size_t values = 0, names = 0;
    if (t->how->header != AST_HEADER_AUTO || t->several)
        return t->several || t->how->header == AST_HEADER_YES;
    for (size_t i = 0; i < width; i++) {
        names += reader->is_name(t->words[i]);
        values += *t->words[i] && reader->is_value(t->words[i]);
    }
    return names > 0 || values == 0;
}

/* The words that were read last are a row. */
static bool end_row(table *t, size_t width, uint64_t line, ast_format_error *error) {
    const char *file = t->text.bytes->name;
    if (t->rows == 0)
        t->width = width;
    if (width != t->width)
        return ast_format_fail(error, "%s: line %llu has %zu column%s, but line %llu, the first row, has %zu", file,
                               (unsigned long long)line, width, width == 1 ? "" : "s", (unsigned long long)t->lines[0],
                               t->width);
    if (!ast_array_grow(&t->lines, &t->line_room, t->rows + 1, sizeof *t->lines))
        return ast_format_no_memory(error, file);
    t->lines[t->rows++] = line;
    return true;
}

/* "tab" and the name of a table, or the line between two tables. */
static bool starts_table(const char *at) {
    return strncmp(at, "tab", 3) == 0 && (at[3] == ' ' || at[3] == '\t');
}

static bool ends_table(const char *at) {
    return strncmp(at, ">>>>", 4) == 0;
}

/* One line, or nothing at the end of the file. */
static bool take_line(table *t, ast_format_error *error) {
    ast_fields *text = &t->text;
    size_t width;
    uint64_t line = text->line;
    if (!ast_fields_fill(text, error))
        return false;
    const char *at = text->cursor;
    if (at == text->end)
        return true;
    if (ast_is_line_end(*at) || *at == '#')
        return ast_fields_skip_line(text, error);
    if (t->several && ends_table(at)) {
        t->over = true;
        return ast_fields_skip_line(text, error);
    }
    if (text->separator != '\t')
        ast_fields_skip_blanks(text);
    if (text->cursor == text->end || ast_is_line_end(*text->cursor))
        return ast_fields_skip_line(text, error);
    if (!read_line(t, &width, error))
        return false;
    if (t->rows == 0 && t->header == 0 && is_header(t, width)) {
        t->header = width;
        return true;
    }
    return end_row(t, width, line, error);
}

static bool read_table(table *t, ast_format_error *error) {
    while (!t->over) {
        if (!take_line(t, error))
            return false;
        if (t->text.cursor == t->text.end && t->text.ended)
            break;
    }
    return true;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static char **row_of(const table *t, size_t row) {
    return t->words + t->header + row * t->width;
}

/* Names of the rows, or their numbers from 0 or 1 on. */
static bool first_column_names_rows(const table *t) {
    const char *start = *row_of(t, 0);
    bool counts = strcmp(start, "0") == 0 || strcmp(start, "1") == 0;
    for (size_t r = 0; r < t->rows; r++) {
        const char *word = *row_of(t, r);
        if (*word && !t->how->words->is_value(word))
            return true;
        counts = counts && strtod(word, NULL) == strtod(start, NULL) + (double)r;
    }
    return counts;
}

/* 40,5,61,0 under two names: decimal commas look like columns. */
static bool check_header(const table *t, ast_format_error *error) {
    bool names_rows = t->width == t->header + 1 && t->rows > 0 && first_column_names_rows(t);
    if (t->header == 0 || t->rows == 0 || t->width <= t->header || names_rows)
        return true;
    return ast_format_fail(
        error, "%s: its header has %zu name%s, but line %llu has %zu columns%s", t->text.bytes->name, t->header,
        t->header == 1 ? "" : "s", (unsigned long long)t->lines[0], t->width,
        t->text.separator == ',' ? "; decimal commas need another separator between columns, such as ;" : "");
}

/* A header one name short leaves out that of its first column, as R writes it. */
static const char *header_word(const table *t, size_t column) {
    size_t missing = t->width > t->header ? t->width - t->header : 0;
    return column >= missing && column - missing < t->header ? t->words[column - missing] : "";
}

static bool find_name_column(table *t, ast_format_error *error) {
    const char *name = t->how->columns.names;
    if (!name)
        return true;
    if (strspn(name, "0123456789") == strlen(name))
        t->name = strtoul(name, NULL, 10);
    for (size_t c = 0; !t->name && t->header && c < t->width; c++)
        t->name = strcasecmp(header_word(t, c), name) == 0 ? c + 1 : 0;
    if (!t->name)
        return ast_format_fail(error, "%s: its header has no column '%s' of names", t->text.bytes->name, name);
    return t->name <= t->width || ast_format_fail(error, "%s: has %zu columns, and column %zu is to hold the names",
                                                  t->text.bytes->name, t->width, t->name);
}

/* The list of columns as numbers. */
static bool find_columns(table *t, const ast_columns **columns, ast_format_error *error) {
    const char *file = t->text.bytes->name;
    *columns = &t->how->columns;
    if (t->how->columns.named && !t->header)
        return ast_format_fail(error, "%s: has no header with names of columns; give the columns by number", file);
    if (t->how->columns.named) {
        ast_columns_free(&t->found);
        if (!ast_columns_find(&t->found, &t->how->columns, t->words, t->header, file, error))
            return false;
        *columns = &t->found;
    }
    return ast_columns_fit(*columns, t->width, file, error);
}

static bool take_names(table *t, ast_names *names) {
    for (size_t r = 0; t->name && r < t->rows; r++) {
        char *word = strdup(row_of(t, r)[t->name - 1]);
        if (!word || !ast_names_add(names, word)) {
            free(word);
            return false;
        }
    }
    return true;
}

/* The wanted columns: pointers to the words of the table. */
static bool choose(table *t, const ast_columns *columns) {
    ast_words *w = &t->words_out;
    w->file = t->text.bytes->name;
    w->rows = t->rows;
    w->lines = t->lines;
    w->chosen = columns->count > 0;
    w->columns = w->chosen ? columns->count : t->width - (t->name > 0);
    w->numbers = malloc((w->columns + 1) * sizeof *w->numbers);
    w->list = malloc((w->columns * w->rows + 1) * sizeof *w->list);
    w->header = t->header ? malloc((w->columns + 1) * sizeof *w->header) : NULL;
    if (!w->numbers || !w->list || (t->header && !w->header))
        return false;
    size_t c = 0;
    for (size_t i = 0; c < w->columns; i++) {
        size_t column = w->chosen ? columns->order[i] : i;
        if (!w->chosen && column + 1 == t->name)
            continue;
        w->numbers[c] = column + 1;
        if (w->header)
            w->header[c] = (char *)header_word(t, column);
        for (size_t r = 0; r < w->rows; r++)
            w->list[r * w->columns + c] = row_of(t, r)[column];
        c++;
    }
    return true;
}

static bool hand_over(table *t, ast_input *input, ast_format_error *error) {
    const ast_columns *columns;
    float *numbers = NULL;
    size_t width = 0;
    if (t->rows == 0) /* whoever asked decides whether that is an error */
        return true;
    if (!find_name_column(t, error) || !find_columns(t, &columns, error))
        return false;
    if (!choose(t, columns) || !take_names(t, &input->names))
        return ast_format_no_memory(error, t->text.bytes->name);
    const ast_cell_reader *reader = t->how->words;
    if (!reader->convert(&t->words_out, reader->data, &numbers, &width, t->how->remark, error)) {
        free(numbers);
        return false;
    }
    input->body.owned = numbers;
    input->points = ast_points_f4(numbers, t->rows, width);
    return true;
}

/* ---- Several tables ---------------------------------------------------------------------------------------------- */

/* Whether the table has the columns of the list, or, without one, two that the reader knows. */
static bool is_wanted(table *t) {
    ast_format_error unused;
    const ast_columns *columns;
    size_t known = 0;
    if (t->rows == 0)
        return false;
    if (t->how->columns.named || t->how->columns.count > 0)
        return find_columns(t, &columns, &unused);
    for (size_t c = 0; c < t->header; c++)
        known += t->how->words->is_name(t->words[c]);
    return known >= 2;
}

static bool read_tables(table *t, ast_format_error *error) {
    t->text.separator = '\t';
    while (t->text.cursor < t->text.end) {
        forget(t);
        if (starts_table(t->text.cursor) && !ast_fields_skip_line(&t->text, error))
            return false;
        if (!read_table(t, error))
            return false;
        if (is_wanted(t))
            return true;
        if (!ast_fields_fill(&t->text, error))
            return false;
    }
    return ast_format_fail(error, "%s: none of its MagIC tables has the two columns of angles; --columns names them",
                           t->text.bytes->name);
}

bool ast_words_open(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    table t = {.text.separator = how->format->separator, .how = how};
    bool good = ast_fields_begin(&t.text, bytes, error);
    bool known = t.text.separator != 0;
    if (good)
        good = ast_fields_begin_text(&t.text, error);
    if (good)
        t.several = starts_table(t.text.cursor);
    if (good && !t.several && !known)
        t.text.separator = find_separator(&t);
    if (good)
        good =
            (t.several ? read_tables : read_table)(&t, error) && check_header(&t, error) && hand_over(&t, input, error);
    forget(&t);
    ast_fields_end(&t.text);
    ast_columns_free(&t.found);
    free(t.words);
    free(t.lines);
    free(t.words_out.numbers);
    free(t.words_out.list);
    free(t.words_out.header);
    return good;
}
