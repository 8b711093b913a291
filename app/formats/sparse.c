/* SPDX-License-Identifier: MIT
 *
 * From entries to rows compressed by rows. Two passes place the entries by row, in the order of the file; then rows
 * that are out of order are sorted, and equal columns added up. */
#include "sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Empty rows and columns take memory too: a row counts as missing, and every mean has all columns. If nearly all rows
 * or columns are empty, the header is wrong. Hashed words have about 2^20 columns, even for few rows. */
#ifndef AST_EMPTY_ROWS
#define AST_EMPTY_ROWS ((size_t)1 << 20)
#endif
#define EMPTY_COLUMNS (4 * AST_EMPTY_ROWS)
#define EMPTY_SHARE 64

bool ast_entries_size(ast_entries *entries, double rows, double columns, ast_format_error *error) {
    bool whole = rows == floor(rows) && columns == floor(columns);
    if (!whole || !(rows >= 1 && columns >= 1 && rows <= INT32_MAX && columns <= INT32_MAX))
        return ast_format_fail(error, "%s: has %g rows and %g columns; both must be whole numbers from 1 to 2147483647",
                               entries->name, rows, columns);
    entries->rows = (size_t)rows;
    entries->columns = (size_t)columns;
    return true;
}

bool ast_entries_add(ast_entries *entries, ast_entry entry, ast_format_error *error) {
    if (!ast_array_grow(&entries->list, &entries->capacity, entries->count + 1, sizeof *entries->list))
        return ast_format_no_memory(error, entries->name);
    entries->list[entries->count++] = entry;
    return true;
}

static void free_entries(ast_entries *entries) {
    free(entries->list);
    entries->list = NULL;
    entries->count = entries->capacity = 0;
}

/* What is being made. */
typedef struct rows_state {
    size_t rows, entries;
    int64_t *starts;   /* (rows + 1) */
    int32_t *columns;  /* (entries) */
    double *values;    /* (entries) */
    ast_entry *sorted; /* (longest row) */
    bool overflow;     /* the numbers at this place add up to more than a double holds */
    size_t row;
    int32_t column;
} rows_state;

static void turn(ast_entries *entries) {
    size_t rows = entries->rows;
    entries->rows = entries->columns;
    entries->columns = rows;
    for (size_t e = 0; e < entries->count; e++) {
        int32_t row = entries->list[e].row;
        entries->list[e].row = entries->list[e].column;
        entries->list[e].column = row;
    }
}

/* The entries by row; equal rows in the order of the file. */
static void place(rows_state *state, const ast_entries *entries) {
    for (size_t e = 0; e < entries->count; e++)
        state->starts[entries->list[e].row + 1]++;
    for (size_t r = 0; r < state->rows; r++)
        state->starts[r + 1] += state->starts[r];
    for (size_t e = 0; e < entries->count; e++) {
        int64_t at = state->starts[entries->list[e].row]++;
        state->columns[at] = entries->list[e].column;
        state->values[at] = entries->list[e].value;
    }
    for (size_t r = state->rows; r > 0; r--) /* each start has moved to the end of its row */
        state->starts[r] = state->starts[r - 1];
    state->starts[0] = 0;
}

static int by_column(const void *a, const void *b) {
    const ast_entry *left = a, *right = b;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    return left->row < right->row ? -1 : 1; /* `row` holds the place in the file */
}

/* Sorts a row, adds equal columns up and writes it from entry `to` on. Returns where it ends. */
static int64_t settle_row(rows_state *state, size_t row, int64_t from, int64_t to) {
    int64_t end = state->starts[row + 1];
    size_t count = (size_t)(end - from);
    bool ordered = true;
    for (size_t j = 0; j < count; j++) {
        state->sorted[j] = (ast_entry){(int32_t)j, state->columns[from + (int64_t)j], state->values[from + (int64_t)j]};
        ordered = ordered && (j == 0 || state->sorted[j - 1].column < state->sorted[j].column);
    }
    if (!ordered)
        qsort(state->sorted, count, sizeof *state->sorted, by_column);
    for (size_t j = 0; j < count; j++) {
        if (j > 0 && state->sorted[j].column == state->sorted[j - 1].column) {
            state->values[to - 1] += state->sorted[j].value;
            if (isinf(state->values[to - 1]) && !state->overflow) {
                state->overflow = true;
                state->row = row;
                state->column = state->sorted[j].column;
            }
            continue;
        }
        state->columns[to] = state->sorted[j].column;
        state->values[to++] = state->sorted[j].value;
    }
    return to;
}

static bool settle(rows_state *state) {
    int64_t longest = 1, to = 0;
    for (size_t r = 0; r < state->rows; r++)
        longest = state->starts[r + 1] - state->starts[r] > longest ? state->starts[r + 1] - state->starts[r] : longest;
    state->sorted = malloc((size_t)longest * sizeof *state->sorted);
    if (!state->sorted || longest > INT32_MAX)
        return false;
    for (size_t r = 0; r < state->rows; r++) {
        int64_t from = state->starts[r];
        state->starts[r] = to;
        to = settle_row(state, r, from, to);
    }
    state->starts[state->rows] = to;
    state->entries = (size_t)to;
    return true;
}

/* One block for all three arrays, since an input owns one: values, starts, columns, the latter two of one type. */
static bool hand_over(const rows_state *state, size_t dimension, ast_input *input) {
    bool wide = state->entries > INT32_MAX;
    size_t item = wide ? sizeof(int64_t) : sizeof(int32_t), values = state->entries * sizeof(double);
    char *block = malloc(values + (state->rows + 1 + state->entries) * item);
    if (!block)
        return false;
    if (values)
        memcpy(block, state->values, values);
    void *starts = block + values, *columns = block + values + (state->rows + 1) * item;
    for (size_t r = 0; r <= state->rows; r++)
        if (wide)
            ((int64_t *)starts)[r] = state->starts[r];
        else
            ((int32_t *)starts)[r] = (int32_t)state->starts[r];
    for (size_t e = 0; e < state->entries; e++)
        if (wide)
            ((int64_t *)columns)[e] = state->columns[e];
        else
            ((int32_t *)columns)[e] = state->columns[e];
    input->body.owned = block;
    input->points = (ast_points){.size = sizeof(ast_points),
                                 .data = block,
                                 .type = AST_F8,
                                 .count = state->rows,
                                 .dimension = dimension,
                                 .starts = starts,
                                 .columns = columns,
                                 .index = wide ? AST_I8 : AST_I4};
    return true;
}

/* Checks the sizes against the number of entries, because memory is allocated by the sizes. */
static bool plausible(const ast_entries *entries, ast_format_error *error) {
    size_t rows = entries->rows, columns = entries->columns, count = entries->count;
    if (rows > AST_EMPTY_ROWS && rows / EMPTY_SHARE > count)
        return ast_format_fail(error, "%s: promises %zu rows and has %zu entries; nearly every row would be empty",
                               entries->name, rows, count);
    if (columns > EMPTY_COLUMNS && columns / EMPTY_SHARE > count)
        return ast_format_fail(error,
                               "%s: promises %zu columns and has %zu entries; nearly every column would be empty, and "
                               "every mean takes %.1f GB; leave empty columns out",
                               entries->name, columns, count, (double)columns * sizeof(float) / 1e9);
    return true;
}

bool ast_entries_open(ast_entries *entries, bool read, bool transpose, ast_input *input, ast_format_error *error) {
    if (transpose)
        turn(entries);
    size_t rows = entries->rows, count = entries->count;
    if (!read || !plausible(entries, error)) {
        free_entries(entries);
        return false;
    }
    rows_state state = {.rows = rows,
                        .starts = calloc(rows + 2, sizeof *state.starts),
                        .columns = malloc((count + 1) * sizeof *state.columns),
                        .values = malloc((count + 1) * sizeof *state.values)};
    bool good = state.starts && state.columns && state.values;
    if (good)
        place(&state, entries);
    free_entries(entries);
    good = good && settle(&state) && (state.overflow || hand_over(&state, entries->columns, input));
    free(state.starts);
    free(state.columns);
    free(state.values);
    free(state.sorted);
    if (good && state.overflow)
        return ast_format_fail(
            error,
            "%s: the numbers in row %zu and column %d (counting from 1) add up to infinity; sums must "
            "be finite",
            entries->name, state.row + 1, (int)state.column + 1);
    return good || ast_format_no_memory(error, entries->name);
}
