/* SPDX-License-Identifier: MIT
 *
 * Checks and normalises sparse rows. The arithmetic is that of dense rows with the zeros left out: a zero changes
 * neither the sum of squares nor the largest component, so the entries have the bits that they would have densely. No
 * row is ever held in double: a row may be as long as memory. */
#include "sparse_rows.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define CHECK_BLOCK 4096 /* rows per task */

/* ---- One row ---- */

/* Adjacent numbers in the caller's memory. */
typedef struct numbers {
    const char *first;
    size_t count, size;
    ast_type type;
} numbers;

static double number(const numbers *n, size_t e) {
    return ast_number_at(n->first + e * n->size, n->type);
}

static numbers entries_of(const ast_points *view, size_t r) {
    size_t begin = (size_t)ast_index_at(view->starts, view->index, r), size = ast_type_size(view->type);
    size_t end = (size_t)ast_index_at(view->starts, view->index, r + 1);
    const char *data = view->data;
    return (numbers){end > begin ? data + begin * size : NULL, end - begin, size, view->type};
}

static double squares(const numbers *n, double largest) {
    double sum = 0;
    for (size_t e = 0; e < n->count; e++) {
        double x = number(n, e) / largest;
        sum += x * x;
    }
    return sum;
}

static ast_row_kind find_largest(const numbers *n, double *largest) {
    *largest = 0;
    for (size_t e = 0; e < n->count; e++) {
        double c = fabs(number(n, e));
        if (isnan(c))
            return AST_ROW_MISSING;
        *largest = c > *largest ? c : *largest;
    }
    return ast_kind_of(*largest);
}

static ast_row_kind scale_of(const numbers *n, ast_row_scale *scale) {
    double largest, squared = squares(n, 1);
    *scale = (ast_row_scale){1, 1};
    if (fabs(squared - 1) <= AST_UNIT_TOLERANCE)
        return AST_ROW_UNIT;
    ast_row_kind kind = find_largest(n, &largest);
    if (kind != AST_ROW_SCALED)
        return kind;
    if (n->type == AST_F8) { /* squares of doubles may overflow, those of floats cannot */
        scale->largest = largest;
        squared = squares(n, largest);
    }
    scale->length = sqrt(squared);
    return kind;
}

static float scaled(const numbers *n, size_t e, const ast_row_scale *scale) {
    return (float)(number(n, e) / scale->largest / scale->length);
}

ast_row_kind ast_sparse_row_scale(const ast_points *view, size_t r, ast_row_scale *scale) {
    numbers n = entries_of(view, r);
    return scale_of(&n, scale);
}

ast_row_kind ast_read_sparse_or_long_row(const ast_points *view, size_t r, float *row) {
    numbers n = {(const char *)view->data + (ptrdiff_t)r * view->row_stride, view->dimension, ast_type_size(view->type),
                 view->type};
    ast_row_scale scale;
    if (view->starts) {
        n = entries_of(view, r);
        memset(row, 0, view->dimension * sizeof *row);
    }
    ast_row_kind kind = scale_of(&n, &scale);
    size_t begin = view->starts ? (size_t)ast_index_at(view->starts, view->index, r) : 0;
    for (size_t e = 0; (kind == AST_ROW_UNIT || kind == AST_ROW_SCALED) && e < n.count; e++)
        row[view->starts ? (size_t)ast_index_at(view->columns, view->index, begin + e) : e] = scaled(&n, e, &scale);
    return kind;
}

ast_row_kind ast_sparse_rows_read(ast_sparse_rows *rows, const ast_points *view, size_t r) {
    numbers n = entries_of(view, r);
    ast_row_scale scale;
    ast_row_kind kind = scale_of(&n, &scale);
    float *values = rows->values + rows->starts[r];
    for (size_t e = 0; e < n.count; e++)
        values[e] = kind == AST_ROW_UNIT || kind == AST_ROW_SCALED ? scaled(&n, e, &scale) : 0;
    return kind;
}

ast_sparse_row ast_sparse_rows_at(const ast_sparse_rows *rows, size_t r) {
    size_t begin = rows->starts[r];
    return (ast_sparse_row){rows->values + begin, rows->columns + begin, rows->starts[r + 1] - begin};
}

/* ---- All of them ---- */

typedef struct check_job {
    ast_sparse_rows *rows;
    const ast_points *view;
    _Atomic uint64_t bad; /* the first row whose columns are wrong, or N */
} check_job;

/* Whether the columns of a row are in range and increase. Copies 64-bit columns. */
static bool check_columns(ast_sparse_rows *rows, const ast_points *view, size_t r) {
    int64_t last = -1, most = (int64_t)view->dimension;
    size_t begin = rows->starts[r], offset = (size_t)ast_index_at(view->starts, view->index, 0);
    for (size_t e = begin; e < rows->starts[r + 1]; e++) {
        int64_t column = ast_index_at(view->columns, view->index, offset + e);
        if (column <= last || column >= most)
            return false;
        last = column;
        if (view->index == AST_I8)
            rows->copied[e] = (int32_t)column;
    }
    return true;
}

static void check_block(void *data, size_t block, int worker) {
    check_job *job = data;
    size_t first = block * CHECK_BLOCK, last = first + CHECK_BLOCK;
    (void)worker;
    for (size_t r = first; r < last && r < job->view->count; r++) {
        if (!check_columns(job->rows, job->view, r))
            ast_keep_least(&job->bad, r);
    }
}

static ast_status describe_bad(const ast_points *view, size_t r, ast_fault *fault) {
    long long column, last = -1, most = (long long)view->dimension;
    for (size_t e = (size_t)ast_index_at(view->starts, view->index, r);; e++, last = column) {
        column = ast_index_at(view->columns, view->index, e);
        if (column < 0 || column >= most)
            return ast_fail_row(fault, AST_BAD_DATA, r + 1, "has an entry in column %lld; columns are 0 to %lld",
                                column, most - 1);
        if (column == last)
            return ast_fail_row(fault, AST_BAD_DATA, r + 1, "has column %lld twice; add its numbers up first", column);
        if (column < last)
            return ast_fail_row(fault, AST_BAD_DATA, r + 1, "has column %lld behind column %lld; sort every row first",
                                column, last);
    }
}

/* Copies the starts, relative to the first row's. */
static ast_status take_starts(ast_sparse_rows *rows, const ast_points *view, ast_fault *fault) {
    if (!ast_ensure_arrays(&rows->rows_capacity, view->count + 1, AST_REQUEST(rows->starts, view->count + 1)))
        return ast_fail_memory(fault);
    int64_t origin = ast_index_at(view->starts, view->index, 0), last = origin;
    if (origin < 0)
        return ast_fail(fault, AST_BAD_DATA, "row 1 starts at entry %lld; starts are not negative", (long long)origin);
    rows->longest = 0;
    for (size_t r = 0; r <= view->count; r++) {
        int64_t start = ast_index_at(view->starts, view->index, r);
        if (start < last)
            return ast_fail_row(fault, AST_BAD_DATA, r, "ends at entry %lld, before its start at %lld",
                                (long long)start, (long long)last);
        size_t length = (size_t)(start - last);
        rows->longest = length > rows->longest ? length : rows->longest;
        rows->starts[r] = (size_t)(start - origin);
        last = start;
    }
    return AST_OK;
}

ast_status ast_sparse_rows_open(ast_sparse_rows *rows, const ast_points *view, ast_pool *pool, ast_fault *fault) {
    ast_status status = take_starts(rows, view, fault);
    if (status != AST_OK)
        return status;
    size_t entries = rows->starts[view->count], offset = (size_t)ast_index_at(view->starts, view->index, 0);
    if (entries > 0 && (!view->data || !view->columns))
        return ast_fail(fault, AST_BAD_OPTION, "there are no entries: the data or the columns are NULL");
    bool wide = view->index == AST_I8;
    if (!ast_ensure_arrays(&rows->values_capacity, entries + 1, AST_REQUEST(rows->values, entries + 1)) ||
        (wide && !ast_ensure_arrays(&rows->copied_capacity, entries, AST_REQUEST(rows->copied, entries))))
        return ast_fail_memory(fault);
    rows->columns = wide || entries == 0 ? rows->copied : (const int32_t *)view->columns + offset;
    assert(rows->starts[0] == 0 && rows->longest <= entries);
    check_job job = {.rows = rows, .view = view, .bad = view->count};
    if (!ast_pool_run_cancellable(pool, (view->count + CHECK_BLOCK - 1) / CHECK_BLOCK, check_block, &job))
        return ast_fail_cancelled(fault);
    return job.bad == view->count ? AST_OK : describe_bad(view, job.bad, fault);
}

void ast_sparse_rows_free(ast_sparse_rows *rows) {
    ast_free_all(rows->starts, rows->copied, rows->values);
    *rows = (ast_sparse_rows){0};
}
