/* SPDX-License-Identifier: MIT
 *
 * Rows of a source, read by the thread that needs them: a chunk as a whole, or rows of it that were picked. They are
 * checked and normalised as those in memory are, by the same code; what was missing when it was first read stays so. */
#include "windows.h"

#include <math.h>
#include <string.h>

#define NEAR 4 /* rows between two that are wanted are cheaper read than left out */
#define MANY 4 /* one of so many is wanted: better all */

static ast_points view_of(const ast_labelling *l, const void *rows, size_t count) {
    const ast_source *source = l->windows->source;
    ptrdiff_t item = (ptrdiff_t)ast_type_size(source->type);
    return (ast_points){.data = rows,
                        .type = source->type,
                        .count = count,
                        .dimension = source->dimension,
                        .row_stride = item * (ptrdiff_t)source->dimension,
                        .column_stride = item};
}

/* Rows of all points. What cannot be read is zero, and the pass fails. */
static void read_rows(ast_labelling *l, size_t first, size_t count, void *rows) {
    const ast_source *source = l->windows->source;
    atomic_fetch_add_explicit(&l->windows->read, count, memory_order_relaxed);
    if (!atomic_load(&l->failed) && source->read(first, count, rows, source->data) == 0)
        return;
    memset(rows, 0, count * source->dimension * ast_type_size(source->type));
    if (!atomic_load(&l->failed))
        ast_windows_note(l, first, AST_UNREAD);
}

/* Point i of the window turned out to be this. */
static void judge_row(ast_labelling *l, size_t i, ast_row_kind kind) {
    if (kind == AST_ROW_INFINITE)
        ast_windows_note(l, l->offset + i, AST_INFINITE_ROW);
    if (kind != AST_ROW_MISSING || l->labels[i] == AST_MISSING)
        return;
    if (l->labels[i] != AST_UNLABELLED && !atomic_load(&l->failed))
        ast_windows_note(l, l->offset + i, AST_CHANGED_ROW);
    l->labels[i] = AST_MISSING;
    atomic_fetch_add_explicit(&l->windows->missing, 1, memory_order_relaxed);
}

static size_t rows_here(const ast_labelling *l, const ast_worker *worker) {
    size_t left = l->cloud.count - worker->base;
    return left < l->chunk ? left : l->chunk;
}

void ast_fetch_begin(ast_labelling *l, ast_worker *worker) {
    worker->hold.first = l->offset + worker->base;
    worker->hold.whole = false;
    if (worker->hold.have)
        memset(worker->hold.have, 0, l->chunk);
}

/* Large: rows j..j+n of the chunk at hand. Floats of length 1, which most are, are used as they come. */
static void fetch_rows(ast_labelling *l, ast_worker *worker, size_t j, size_t n) {
    ast_hold *hold = &worker->hold;
    size_t dimension = l->cloud.dimension;
    float *rows = worker->row_memory + j * dimension;
    void *raw = hold->raw ? hold->raw : rows;
    read_rows(l, hold->first + j, n, raw);
    ast_points view = view_of(l, raw, n);
    for (size_t r = 0; r < n; r++) {
        float *row = rows + r * dimension;
        hold->have[j + r] = 1;
        if (!hold->raw && fabs(l->kernels->squared_length(row, dimension) - 1) < AST_UNIT_TOLERANCE - 0x1p-36)
            continue;
        judge_row(l, worker->base + j + r, ast_read_row(&view, r, row));
    }
}

/* Small: the whole chunk, as columns. */
static void fetch_columns(ast_labelling *l, ast_worker *worker) {
    ast_hold *hold = &worker->hold;
    size_t n = rows_here(l, worker);
    read_rows(l, hold->first, n, hold->raw);
    ast_points view = view_of(l, hold->raw, n);
    size_t infinite = ast_cloud_load_part(&hold->part, &view, hold->kinds);
    if (infinite < n)
        judge_row(l, worker->base + infinite, AST_ROW_INFINITE);
    for (size_t j = 0; j < n; j++)
        if (hold->kinds[j] == AST_MISSING)
            judge_row(l, worker->base + j, AST_ROW_MISSING);
}

/* The rows that are not here yet, one run after the other. */
void ast_fetch_chunk(ast_labelling *l, ast_worker *worker) {
    if (!l->windows || worker->hold.whole)
        return;
    worker->hold.whole = true;
    if (l->cloud.small) {
        fetch_columns(l, worker);
        return;
    }
    const uint8_t *have = worker->hold.have;
    for (size_t j = 0, end, n = rows_here(l, worker); j < n; j = end) {
        for (end = j; end < n && have[end] == have[j]; end++)
            ;
        if (!have[j])
            fetch_rows(l, worker, j, end - j);
    }
}

void ast_fetch_listed(ast_labelling *l, ast_worker *worker, size_t n) {
    if (!l->windows || l->cloud.small || worker->hold.whole)
        return;
    if (n > l->chunk / MANY) {
        ast_fetch_chunk(l, worker);
        return;
    }
    const uint32_t *list = worker->list;
    for (size_t a = 0, b; a < n; a = b) {
        for (b = a + 1; b < n && list[b] - list[b - 1] <= NEAR; b++)
            ;
        fetch_rows(l, worker, list[a], list[b - 1] - list[a] + 1);
    }
}

/* A point of another chunk. */
ast_row_kind ast_fetch_kind(ast_labelling *l, ast_worker *worker, size_t i) {
    void *raw = worker->hold.raw ? worker->hold.raw : worker->row;
    read_rows(l, l->offset + i, 1, raw);
    ast_points view = view_of(l, raw, 1);
    return ast_read_row(&view, 0, worker->row);
}

const float *ast_point_row(ast_labelling *l, ast_worker *worker, size_t i) {
    if (!l->windows)
        return ast_cloud_row(&l->cloud, i, worker->row);
    ast_hold *hold = &worker->hold;
    size_t row = l->offset + i;
    if (hold->first == SIZE_MAX || row < hold->first || row - hold->first >= l->chunk) { /* of another chunk */
        judge_row(l, i, ast_fetch_kind(l, worker, i));
        return worker->row;
    }
    size_t j = row - hold->first;
    if (l->cloud.small) {
        ast_fetch_chunk(l, worker);
        return ast_cloud_row(&hold->part, j, worker->row);
    }
    if (!hold->have[j])
        fetch_rows(l, worker, j, 1);
    return worker->row_memory + j * l->cloud.dimension;
}

/* Those that look at point after point have its chunk read as a whole. */
static const float *walk(ast_labelling *l, ast_worker *worker, size_t i) {
    if (worker->hold.first != l->offset + i / l->chunk * l->chunk)
        ast_begin_chunk(l, worker, i / l->chunk);
    ast_fetch_chunk(l, worker);
    return ast_point_row(l, worker, i);
}

double ast_point_steady_dot(ast_labelling *l, ast_worker *worker, size_t i, const float *mean) {
    if (!l->windows)
        return ast_cloud_steady_dot(&l->cloud, i, mean, worker->row);
    return l->kernels->steady_dot(walk(l, worker, i), mean, l->cloud.dimension);
}

double ast_point_exact_score(ast_labelling *l, ast_worker *worker, size_t i, const float *mean) {
    if (!l->windows)
        return ast_cloud_exact_score(&l->cloud, i, mean, worker->row);
    return ast_exact_score(walk(l, worker, i), mean, l->cloud.dimension);
}
