/* SPDX-License-Identifier: MIT
 *
 * Tables of text: .csv, .tsv, .txt. This file knows rows: which line is a header, a comment or a row, that all rows are
 * equally long, and that a column which numbers the rows is no coordinate. field.c knows what stands between two
 * separators, sniff.c what the separator is.
 *
 * The one idea: every line is read once, straight into the place where its row belongs. Whether the line was a row is
 * known at its end; if it was not, the place is used again. A first line of numbers that count up may be a header: the
 * next row tells. */
#include "text.h"

#include "platform.h"
#include "registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SURE_WIDTH 8 /* so many numbers that count up from 0 or 1 are a header, whatever follows */

typedef struct text_table {
    ast_fields text;
    const ast_columns *wanted;
    ast_columns found; /* what became of a list with names, once the header was read */
    size_t item;       /* bytes of a stored number: 4 or 8 */
    void *numbers;     /* (rows, width) */
    size_t capacity;   /* of numbers, in numbers */
    size_t rows;
    size_t width;         /* numbers stored for a row; 0 before the first */
    size_t columns;       /* fields in a row of the file; 0 before the first */
    uint64_t first_line;  /* of the first row */
    ast_header header;    /* whether there is one */
    bool header_possible; /* no row and no header so far */
    bool guessed;         /* row 0 may be a header of numbers: its numbers count up as the columns do */
    bool has_header;      /* there was one */
    bool unnamed;         /* and its first column has no name, or one of an index */
    bool id;              /* it has one */
    size_t header_names;  /* fields in it */
    bool all_columns;     /* there is no list of columns */
    bool counts;          /* so far the first column counts the rows: whole numbers that go up by one */
    double count;         /* the last of them */
    char *remark;         /* AST_REMARK bytes for what was decided about the header and the first column, or NULL */
    size_t name;          /* the column of names, 1-based; 0: none */
    ast_names names;      /* (rows) */
    char *word;           /* the name on the line that is being read, or NULL */
    bool (*check_header)(char *const names[2], const char *file, ast_format_error *error); /* or NULL */
    ast_format_error problem;
} text_table;

/* What has been seen of the line that is being read. */
typedef struct line_state {
    uint64_t line;
    size_t column;  /* fields so far */
    size_t numbers; /* wanted fields that hold a number, or nan */
    bool comment;   /* begins with '#' */
    bool bad;       /* a wanted field holds text, and the table's `problem` says so */
    bool unnamed;   /* its first field is no name, or that of an index */
    bool id;        /* it is that of an index */
    bool broken;    /* wanted fields that do not count up as the columns do */
    double shift;   /* of its numbers from the columns' (from 0), if they do */
    size_t whole;   /* numbers without a fraction */
    double first;   /* the number in the first column */
} line_state;

static bool read_table(text_table *table, ast_bytes *bytes, const ast_columns *columns, bool doubles,
                       ast_format_error *error);
static bool check_header(const text_table *table, ast_format_error *error);
static bool is_id(const char *word) {
    return strcasecmp(word, "id") == 0 || strcasecmp(word, "index") == 0;
}

static bool read_header_names(text_table *table, ast_format_error *error);
static size_t wanted_slot(const text_table *table, size_t column);
static bool may_be_longer(const text_table *table);
static bool read_line(text_table *table, ast_format_error *error);
static bool read_fields(text_table *table, line_state *state, ast_format_error *error);
static bool take_field(text_table *table, line_state *state, const ast_field *field, size_t slot,
                       ast_format_error *error);
static bool end_line(text_table *table, const line_state *state, ast_format_error *error);
static bool end_row(text_table *table, const line_state *state, ast_format_error *error);
static void leave_index_out(text_table *table);

bool ast_text_open(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    if (how->words)
        return ast_words_open(input, bytes, how, error);
    text_table table = {.text.separator = how->format->separator,
                        .header = how->header,
                        .remark = how->remark,
                        .check_header = how->check_header};
    if (!read_table(&table, bytes, &how->columns, false, error))
        return false;
    input->body.owned = table.numbers;
    input->names = table.names;
    input->points = ast_points_f4(table.numbers, table.rows, table.width);
    if (how->transpose)
        ast_points_transpose(&input->points);
    return true;
}

bool ast_text_values(ast_values *values, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    text_table table = {.text.separator = how->format->separator, .header = how->header, .remark = how->remark};
    if (!read_table(&table, bytes, &how->columns, true, error))
        return false;
    if (table.rows == 0) {
        free(table.numbers);
        return ast_format_fail(error, "%s: has no row of numbers", bytes->name);
    }
    values->numbers = table.numbers;
    values->count = table.rows * table.width;
    values->vector = table.rows == 1 || table.width == 1;
    return true;
}

/* Skips the byte order mark that some editors write first. */
static bool skip_mark(ast_fields *text, ast_format_error *error) {
    if (!ast_fields_fill(text, error))
        return false;
    size_t size = (size_t)(text->end - text->cursor);
    if (size >= 2 && (memcmp(text->cursor, "\xFF\xFE", 2) == 0 || memcmp(text->cursor, "\xFE\xFF", 2) == 0))
        return ast_format_fail(error, "%s: is UTF-16 text; UTF-8 is needed", text->bytes->name);
    if (size >= 3 && memcmp(text->cursor, "\xEF\xBB\xBF", 3) == 0)
        text->cursor += 3;
    return true;
}

/* Skips the comments at the top, however long, and finds the separator from what follows them, unless it is known. */
bool ast_fields_begin_text(ast_fields *text, ast_format_error *error) {
    bool known = text->separator != 0;
    if (!skip_mark(text, error))
        return false;
    text->separator = known ? text->separator : ' ';
    for (;;) {
        if (!ast_fields_fill(text, error))
            return false;
        char *start = text->cursor;
        ast_fields_skip_blanks(text);
        bool nothing = ast_is_line_end(*text->cursor) || *text->cursor == '#';
        if (!nothing) {
            /* A tab here may be a separator, and an empty field before it. */
            text->cursor = start;
            break;
        }
        if (!ast_fields_skip_line(text, error))
            return false;
    }
    if (!known)
        text->separator = ast_fields_separator(text->cursor, text->end);
    return true;
}

static bool read_lines(text_table *table, ast_format_error *error) {
    ast_fields *text = &table->text;
    const char *names = table->wanted->names;
    bool numbered = names && strspn(names, "0123456789") == strlen(names);
    table->name = numbered ? strtoul(names, NULL, 10) : 0;
    bool by_name = table->wanted->named || (names && !numbered);
    if (by_name && table->header == AST_HEADER_NO)
        return ast_format_fail(error, "%s: --header no leaves no names of columns; give the columns by number",
                               text->bytes->name);
    if (!ast_fields_begin_text(text, error) || !check_header(table, error) ||
        (by_name && !read_header_names(table, error)))
        return false;
    if (table->name && table->wanted->count > 0 && wanted_slot(table, table->name - 1) > 0)
        return ast_format_fail(error, "%s: column %zu holds the names, so it cannot be a coordinate too",
                               text->bytes->name, table->name);
    for (;;) {
        if (!ast_fields_fill(text, error))
            return false;
        if (text->cursor == text->end)
            break;
        if (!read_line(table, error))
            return false;
    }
    if (table->rows == 0) /* whoever asked decides whether that is an error */
        return true;
    leave_index_out(table);
    /* Frees the memory that doubling left over. If shrinking fails, the larger block is kept. */
    void *shrunk = realloc(table->numbers, table->rows * table->width * table->item);
    table->numbers = shrunk ? shrunk : table->numbers;
    return true;
}

/* On success the numbers are the caller's. The table is zero but for a separator that is known. */
static bool read_table(text_table *table, ast_bytes *bytes, const ast_columns *columns, bool doubles,
                       ast_format_error *error) {
    table->wanted = columns;
    table->item = doubles ? sizeof(double) : sizeof(float);
    table->header_possible = table->header != AST_HEADER_NO;
    table->all_columns = table->counts = columns->count == 0 && !columns->named;
    table->text.doubles = doubles;
    bool good = ast_fields_begin(&table->text, bytes, error) && read_lines(table, error);
    ast_fields_end(&table->text);
    ast_columns_free(&table->found);
    table->wanted = NULL;
    free(table->word);
    if (!good) {
        free(table->numbers);
        ast_names_free(&table->names);
    }
    return good;
}

/* ---- What a header says -------------------------------------------------------------------------------------------
 */

enum { PEEKED = 64 }; /* columns that are looked at */

/* The fields of the first line, which stays where it is; `line` holds them. */
static size_t peek(const ast_fields *text, char line[AST_EXCERPT * PEEKED], char *fields[PEEKED]) {
    size_t count = 0;
    for (const char *at = text->cursor; count < PEEKED;) {
        char *to = fields[count] = line + AST_EXCERPT * count;
        const char *end = at;
        while (end < text->end && !ast_is_line_end(*end) && *end != text->separator &&
               !(text->separator == ' ' && *end == '\t'))
            end++;
        while (at < end && strchr(" \t\"", *at))
            at++;
        const char *last = end;
        while (last > at && strchr(" \t\"", last[-1]))
            last--;
        ast_excerpt(to, at, (size_t)(last - at));
        count += text->separator != ' ' || *to;
        if (end == text->end || ast_is_line_end(*end))
            break;
        at = end + 1;
    }
    return count;
}

/* Asks whoever checks headers, if two columns are wanted. */
static bool check_header(const text_table *table, ast_format_error *error) {
    char line[AST_EXCERPT * PEEKED], *fields[PEEKED];
    const char *file = table->text.bytes->name;
    ast_columns found = {0};
    ast_format_error unused;
    if (!table->check_header || table->header == AST_HEADER_NO)
        return true;
    size_t count = peek(&table->text, line, fields), first = 0, second = 1;
    const ast_columns *wanted = table->wanted;
    if (wanted->named && ast_columns_find(&found, wanted, fields, count, file, &unused))
        wanted = &found;
    bool two = wanted->count > 0 && !wanted->named ? wanted->count == 2 : table->all_columns && count == 2;
    if (two && wanted->count == 2) {
        first = wanted->order[0];
        second = wanted->order[1];
    }
    ast_columns_free(&found);
    char *const names[2] = {first < count ? fields[first] : NULL, second < count ? fields[second] : NULL};
    return !two || !names[0] || !names[1] || table->check_header(names, file, error);
}

/* Reads the fields of the header line, for a list of columns with names. A line of numbers is not a header. */
static bool read_header(text_table *table, char ***names, size_t *count, ast_format_error *error) {
    const char *file = table->text.bytes->name;
    size_t capacity = 0;
    bool numbers = true;
    ast_field field = {0};
    ast_fields_skip_blanks(&table->text);
    while (!field.last) {
        if (!ast_array_grow(names, &capacity, *count + 1, sizeof **names))
            return ast_format_no_memory(error, file);
        (*names)[*count] = NULL;
        bool good = ast_field_word(&table->text, *count + 1, &field, &(*names)[*count], error);
        ++*count;
        if (!good)
            return false;
        numbers &= field.kind != AST_FIELD_TEXT;
    }
    return !numbers || table->header == AST_HEADER_YES ||
           ast_format_fail(error, "%s: has no header with names of columns; give the columns by number", file);
}

/* The column of names by its name. */
static bool find_name_column(text_table *table, char *const *header, size_t count, ast_format_error *error) {
    const char *name = table->wanted->names;
    for (size_t i = 0; name && !table->name && i < count; i++)
        table->name = strcasecmp(header[i], name) == 0 ? i + 1 : 0;
    return !name || table->name ||
           ast_format_fail(error, "%s: its header has no column '%s' of names", table->text.bytes->name, name);
}

/* How an index column is called: not at all (where blanks separate, quotes are part of the field), or as pandas calls
 * it when it reads such a file and writes it again. */
static bool no_name(const char *word) {
    return *word == '\0' || strcmp(word, "\"\"") == 0 || strcmp(word, "Unnamed: 0") == 0;
}

static bool read_header_names(text_table *table, ast_format_error *error) {
    char **names = NULL;
    size_t count = 0;
    bool good = read_header(table, &names, &count, error) && find_name_column(table, names, count, error);
    if (good && table->wanted->named) {
        good = ast_columns_find(&table->found, table->wanted, names, count, table->text.bytes->name, error);
        table->wanted = &table->found;
    }
    table->has_header = true;
    table->header_names = count;
    table->id = good && is_id(names[0]);
    table->unnamed = good && (no_name(names[0]) || table->id);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
    table->header_possible = false;
    return good;
}

/* Whether the row behind a guessed header may have one field more: between blanks there is no field for the name of the
 * index, which is empty. */
static bool may_be_longer(const text_table *table) {
    bool blanks = table->text.separator == ' ';
    return blanks && table->guessed && table->rows == 1 && table->all_columns && !table->name;
}

/* Row 0, whose numbers count up, was a header if it is long, or if the next row looks different or is longer by one. */
static void judge_guess(text_table *table, const line_state *next) {
    size_t row = table->width * table->item;
    bool other = table->width > 2 ? next->whole < next->numbers : next->whole == 0,
         index = next->first == 0 || next->first == 1,
         longer = index && may_be_longer(table) && next->column == table->columns + 1;
    if (!longer && (next->column != table->columns || (!other && table->width < SURE_WIDTH)))
        return;
    table->rows = 0;
    memmove(table->numbers, (char *)table->numbers + row, row + (longer ? table->item : 0));
    table->has_header = true;
    table->header_names = table->columns;
    if (table->names.count > 0)
        free(table->names.list[--table->names.count]);
    if (table->remark && !longer) /* of the index there will be one */
        snprintf(
            table->remark, AST_REMARK,
            "%s: line %llu holds the numbers of the columns and is taken as a header; --header no reads it as a row",
            table->text.bytes->name, (unsigned long long)table->first_line);
}

/* A blank line, a comment, the header or a row. */
static bool read_line(text_table *table, ast_format_error *error) {
    ast_fields *text = &table->text;
    ast_fields_skip_blanks(text);
    if (text->cursor == text->end)
        return true;
    if (ast_is_line_end(*text->cursor))
        return ast_fields_skip_line(text, error);
    line_state state = {.line = text->line, .comment = *text->cursor == '#'};
    /* A '#' where no number is wanted may be data: the word "#" has a vector like any other. */
    bool word = table->rows > 0 && wanted_slot(table, 0) == 0;
    if (state.comment && !word)
        return ast_fields_skip_line(text, error);
    if (!read_fields(table, &state, error))
        return false;
    if (state.comment && (state.bad || state.column != table->columns))
        return true;
    return end_line(table, &state, error);
}

/* Whether the first line is a header without doubt: text and no number, or the numbers of the columns behind a field
 * that is no number. */
static bool is_header(const text_table *table, const line_state *state) {
    if (!table->header_possible || table->header == AST_HEADER_YES)
        return table->header_possible;
    bool counted = state->numbers > 0 && !state->broken && state->shift <= 0;
    return (state->bad && (state->numbers == 0 || counted)) || (state->unnamed && counted && !table->name);
}

/* The header or a row. */
static bool end_line(text_table *table, const line_state *state, ast_format_error *error) {
    bool first = table->header_possible, header = is_header(table, state);
    table->header_possible = false;
    if (header) {
        table->has_header = true;
        table->header_names = state->column;
        table->unnamed = state->unnamed;
        table->id = state->id;
        return true;
    }
    if (state->bad) {
        *error = table->problem;
        return false;
    }
    if (table->guessed && table->rows == 1)
        judge_guess(table, state);
    /* Labels and weights may count up; rows of points do not, as a rule. */
    table->guessed = first && !table->text.doubles && state->numbers > 1 && !state->broken;
    return end_row(table, state, error);
}

/* The place of the field in its row plus 1, or 0 if it is not wanted. */
static size_t wanted_slot(const text_table *table, size_t column) {
    const ast_columns *wanted = table->wanted;
    if (wanted->count > 0)
        return column < wanted->highest ? wanted->slots[column] : 0;
    if (table->name && column + 1 >= table->name)
        return column + 1 == table->name || (table->rows > 0 && column >= table->columns) ? 0 : column;
    /* Beyond the length of the first row fields are only counted. */
    return table->rows == 0 || column < table->columns + may_be_longer(table) ? column + 1 : 0;
}

static bool read_name(text_table *table, ast_field *field, ast_format_error *error) {
    free(table->word);
    table->word = NULL;
    return ast_field_word(&table->text, table->name, field, &table->word, error);
}

/* What the line is, if it may be a header or the one behind it, or if its first field counts the rows. */
static void look_at(const text_table *table, line_state *state, const ast_field *field) {
    bool first = state->column == 1, number = field->kind == AST_FIELD_NUMBER;
    if (first)
        state->first = number ? field->value : (double)NAN;
    if (table->rows > 1)
        return;
    if (first) {
        state->id = field->kind == AST_FIELD_TEXT && is_id(field->excerpt);
        state->unnamed =
            state->id || field->kind == AST_FIELD_EMPTY || (field->kind == AST_FIELD_TEXT && no_name(field->excerpt));
    }
    double shift = field->value - (double)(state->column - 1);
    if (number && state->numbers == 0) {
        state->shift = shift;
        state->broken |= fabs(shift) > 1;
    }
    state->broken |= number ? shift != state->shift : !first; /* exact for any number of columns */
    state->whole += number && field->value == floor(field->value);
}

static bool read_fields(text_table *table, line_state *state, ast_format_error *error) {
    ast_field field;
    do {
        size_t slot = wanted_slot(table, state->column++);
        if (!(state->column == table->name ? read_name(table, &field, error)
                                           : ast_field_next(&table->text, slot > 0, state->column, &field, error)))
            return false;
        if (slot > 0)
            look_at(table, state, &field);
        if (slot > 0 && !take_field(table, state, &field, slot - 1, error))
            return false;
        if (state->comment && state->bad && !field.last)
            return ast_fields_skip_line(&table->text, error);
    } while (!field.last);
    return true;
}

static bool has_decimal_comma(const char *field) {
    size_t whole = strspn(field, "+-0123456789");
    size_t decimals = field[whole] == ',' ? strspn(field + whole + 1, "0123456789") : 0;
    return whole > 0 && decimals > 0 && field[whole + 1 + decimals] == '\0';
}

/* Remembers the first bad field of a line; only a row is ended by it at once. */
static bool bad_field(text_table *table, line_state *state, const ast_field *field, ast_format_error *error) {
    static const char *const why[] = {[AST_FIELD_TEXT] = "is not a number",
                                      [AST_FIELD_INFINITE] = "is infinite; numbers must be finite",
                                      [AST_FIELD_LARGE] = "is out of range; numbers must fit a float (up to 3.4e38)"};
    if (state->bad)
        return true;
    const char *reason = why[field->kind];
    if (field->kind == AST_FIELD_LARGE && table->text.doubles)
        reason = "is out of range; numbers must fit a double (up to 1.8e308)";
    if (field->kind == AST_FIELD_TEXT && !table->text.doubles && table->rows == 0 && table->wanted->count == 0)
        reason = "is not a number; if some columns hold text, choose the others, such as --columns 2-101";
    if (field->kind == AST_FIELD_TEXT && has_decimal_comma(field->excerpt))
        reason = "is not a number; decimals have a point, not a comma";
    state->bad = true;
    ast_format_fail(&table->problem, "%s: line %llu, column %zu: '%s' %s", table->text.bytes->name,
                    (unsigned long long)state->line, state->column, field->excerpt, reason);
    bool maybe_header = table->header_possible &&
                        ((state->numbers == 0 && field->kind == AST_FIELD_TEXT) || table->header == AST_HEADER_YES);
    if (!state->comment && !maybe_header)
        *error = table->problem;
    return state->comment || maybe_header;
}

static bool take_field(text_table *table, line_state *state, const ast_field *field, size_t slot,
                       ast_format_error *error) {
    if (field->kind >= AST_FIELD_TEXT)
        return bad_field(table, state, field, error);
    state->numbers += field->kind != AST_FIELD_EMPTY;
    if (state->bad)
        return true;
    size_t place = table->rows * table->width + slot;
    if (place >= table->capacity && !ast_array_grow(&table->numbers, &table->capacity, place + 1, table->item))
        return ast_format_no_memory(error, table->text.bytes->name);
    if (table->text.doubles)
        ((double *)table->numbers)[place] = field->value;
    else
        ((float *)table->numbers)[place] = (float)field->value;
    return true;
}

/* The line was a row, if it is as long as the first one. */
static bool end_row(text_table *table, const line_state *state, ast_format_error *error) {
    const char *name = table->text.bytes->name;
    unsigned long long line = state->line;
    if (table->rows == 0) {
        if (table->wanted->highest > state->column)
            return ast_format_fail(error, "%s: line %llu has %zu columns, and column %zu is asked for", name, line,
                                   state->column, table->wanted->highest);
        if (table->name > state->column)
            return ast_format_fail(error, "%s: line %llu has %zu columns, and column %zu is to hold the names", name,
                                   line, state->column, table->name);
        if (table->name && state->column == 1)
            return ast_format_fail(error, "%s: line %llu has a name and no number", name, line);
        table->columns = state->column;
        table->width = table->wanted->count > 0 ? table->wanted->count : state->column - (table->name > 0);
        table->first_line = state->line;
    }
    if (state->column != table->columns)
        return ast_format_fail(error, "%s: line %llu has %zu column%s, but line %llu, the first row, has %zu", name,
                               line, state->column, state->column == 1 ? "" : "s",
                               (unsigned long long)table->first_line, table->columns);
    table->counts &= state->first == floor(state->first) && (table->rows == 0 || state->first == table->count + 1);
    table->count = state->first;
    table->rows++;
    char *word = table->word;
    table->word = NULL;
    return table->name == 0 || ast_names_add(&table->names, word) || ast_format_no_memory(error, name);
}

/* A first column that counts the rows is an index and no coordinate: where the header calls it so or leaves out its
 * name (R leaves out the field), or where there is no header, if there are rows enough to tell. A user who lists
 * columns has decided. */
static void leave_index_out(text_table *table) {
    const char *name = table->text.bytes->name;
    bool unnamed = table->unnamed || (table->has_header && table->header_names + 1 == table->columns);
    size_t least = unnamed ? 2 : 3; /* columns, and rows without a header */
    bool possible = table->all_columns && table->name != 1 && table->width >= least;
    bool index =
        possible && table->counts && (unnamed || (!table->has_header && table->rows >= 3 && !table->text.doubles));
    if (table->remark && index)
        snprintf(table->remark, AST_REMARK,
                 "%s: column 1 counts the rows and %s: it is left out as an index; --columns 1-%zu keeps it", name,
                 table->id ? "is called an id" : "has no name", table->columns);
    else if (table->remark && possible && unnamed && !table->id && !table->text.doubles)
        snprintf(table->remark, AST_REMARK,
                 "%s: column 1 has no name and is read as a coordinate; --columns 2-%zu leaves it out", name,
                 table->columns);
    if (!index)
        return;
    char *to = table->numbers;
    size_t row = table->width * table->item;
    for (size_t i = 0; i < table->rows; i++, to += row - table->item)
        memmove(to, (char *)table->numbers + i * row + table->item, row - table->item);
    table->width--;
}
