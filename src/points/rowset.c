/* SPDX-License-Identifier: MIT
 *
 * Loads rows in memory: every type and stride becomes unit vectors in float, missing and infinite rows are noted. Small
 * rows are copied into columns, at once or block by block within the first pass; larger rows are only checked, and read
 * again whenever they are needed (reader.c). */
#include "rowset.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#define LOAD_BLOCK 4096 /* points per task; a multiple of every padding in use */

static float half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 0) { /* zero or subnormal: fraction 2^-24, exact in float */
        float tiny = (float)fraction * 0x1p-24f;
        return sign ? -tiny : tiny;
    }
    uint32_t bits = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* bfloat16 has the sign, the exponent and the first seven bits of the fraction of a float. */
static float brain_to_float(uint16_t half) {
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double ast_number_at(const void *at, ast_type type) {
    double wide;
    float value;
    uint16_t half;
    if (type == AST_F4)
        return *(float *)memcpy(&value, at, sizeof value);
    if (type == AST_F8)
        return *(double *)memcpy(&wide, at, sizeof wide);
    if (type == AST_I1)
        return *(const int8_t *)at;
    if (type == AST_U1)
        return *(const uint8_t *)at;
    memcpy(&half, at, sizeof half);
    return type == AST_B2 ? brain_to_float(half) : half_to_float(half);
}

/* Row r as doubles: exact, whatever the type and the strides. */
static void expand_row(const ast_points *view, size_t r, double *x) {
    const char *at = (const char *)view->data + (ptrdiff_t)r * view->row_stride;
    ptrdiff_t step = view->column_stride;
    if (view->type == AST_I1 && step == 1) { /* embeddings: thousands of numbers per row */
        for (size_t d = 0; d < view->dimension; d++)
            x[d] = ((const int8_t *)at)[d];
        return;
    }
    if (view->type == AST_U1 && step == 1) {
        for (size_t d = 0; d < view->dimension; d++)
            x[d] = ((const uint8_t *)at)[d];
        return;
    }
    for (size_t d = 0; d < view->dimension; d++, at += step)
        x[d] = ast_number_at(at, view->type);
}

static double length_squared(const double *x, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += x[d] * x[d];
    return sum;
}

ast_row_kind ast_kind_of(double largest) {
    return isinf(largest) ? AST_ROW_INFINITE : largest > 0 ? AST_ROW_SCALED : AST_ROW_MISSING;
}

static ast_row_kind largest_component(const double *x, size_t dimension, double *largest) {
    *largest = 0;
    for (size_t d = 0; d < dimension; d++) {
        double c = fabs(x[d]);
        if (isnan(c))
            return AST_ROW_MISSING;
        *largest = c > *largest ? c : *largest;
    }
    return ast_kind_of(*largest);
}

ast_row_kind ast_read_row(const ast_points *view, size_t r, float *row) {
    if (view->starts || view->dimension > AST_MAX_DIMENSION)
        return ast_read_sparse_or_long_row(view, r, row);
    double x[AST_MAX_DIMENSION], largest, length = 1;
    size_t dimension = view->dimension;
    expand_row(view, r, x);
    double squared = length_squared(x, dimension);
    ast_row_kind kind = AST_ROW_UNIT;
    if (!(fabs(squared - 1) <= AST_UNIT_TOLERANCE)) {
        kind = largest_component(x, dimension, &largest);
        if (kind != AST_ROW_SCALED)
            return kind;
        if (view->type == AST_F8) { /* squares of doubles may overflow, those of floats cannot */
            for (size_t d = 0; d < dimension; d++)
                x[d] /= largest;
            squared = length_squared(x, dimension);
        }
        length = sqrt(squared);
    }
    for (size_t d = 0; d < dimension; d++)
        row[d] = (float)(x[d] / length);
    return kind;
}

static size_t row_of(const ast_rowset *rows, size_t i) {
    return rows->order ? rows->order[i] : i;
}

bool ast_has_tight_floats(const ast_points *view) {
    return !view->starts && view->type == AST_F4 && view->column_stride == sizeof(float) &&
           (uintptr_t)view->data % sizeof(float) == 0 && view->row_stride % (ptrdiff_t)sizeof(float) == 0;
}

static void note_row(ast_rowset *rows, size_t i, ast_row_kind kind) {
    ast_loading *loading = &rows->loading;
    size_t row = row_of(rows, i);
    if (kind == AST_ROW_MISSING) {
        loading->labels[i] = AST_MISSING;
        atomic_fetch_add(&loading->missing, 1);
    } else if (kind == AST_ROW_SCALED && !(loading->partial && rows->late && rows->late[row])) {
        atomic_store_explicit(&loading->scaled, 1, memory_order_relaxed);
    } else if (kind == AST_ROW_INFINITE) {
        ast_keep_least(&loading->infinite, row);
    }
}

/* Loads one point into its columns; a missing point becomes zero, like padding. */
static void load_point(ast_rowset *rows, size_t i) {
    float row[AST_SMALL];
    ast_row_kind kind = ast_read_row(&rows->view, row_of(rows, i), row);
    note_row(rows, i, kind);
    for (size_t d = 0; d < rows->dimension; d++)
        rows->columns[d * rows->pitch + i] = kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE ? 0 : row[d];
}

static void unlabel(ast_rowset *rows, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        rows->loading.labels[i] = AST_UNLABELLED;
}

/* Floats without gaps, in the order of visit. */
static bool is_packed(const ast_rowset *rows) {
    return ast_has_tight_floats(&rows->view) && rows->view.row_stride == (ptrdiff_t)(rows->dimension * sizeof(float)) &&
           !rows->order;
}

/* Splits n packed rows into columns; returns what the kernel found. */
static ast_odd_rows split(ast_rowset *rows, size_t first, size_t n, int32_t *labels, uint32_t *list) {
    float *x[AST_SMALL];
    ast_odd_rows odd = {.list = list};
    for (size_t d = 0; d < rows->dimension; d++)
        x[d] = rows->columns + d * rows->pitch + first;
    rows->kernels->split_columns[rows->dimension]((const float *)rows->view.data + first * rows->dimension, n, x,
                                                  labels, &odd);
    return odd;
}

/* Images have many holes, so the kernel handles them. */
static void load_columns(ast_rowset *rows, size_t first, size_t last) {
    uint32_t list[LOAD_BLOCK];
    if (!is_packed(rows)) {
        unlabel(rows, first, last);
        for (size_t i = first; i < last; i++)
            load_point(rows, i);
        return;
    }
    ast_odd_rows odd = split(rows, first, last - first, rows->loading.labels + first, list);
    for (size_t j = 0; j < odd.count; j++)
        load_point(rows, first + list[j]);
    if (odd.holes)
        atomic_fetch_add(&rows->loading.missing, odd.holes);
}

static void normalise_rows(ast_rowset *rows, size_t first, size_t last) {
    unlabel(rows, first, last);
    for (size_t i = first; i < last; i++)
        note_row(rows, i, ast_sparse_rows_read(&rows->entries, &rows->view, row_of(rows, i)));
}

/* Row r in the caller's memory, if that has tight floats. */
static const float *floats_of(const ast_rowset *rows, size_t r) {
    return (const float *)(const void *)((const char *)rows->view.data + (ptrdiff_t)r * rows->view.row_stride);
}

static void check_rows(ast_rowset *rows, size_t first, size_t last) {
    float row[AST_MAX_DIMENSION];
    bool direct = ast_has_tight_floats(&rows->view);
    unlabel(rows, first, last);
    for (size_t i = first; i < last; i++) {
        size_t r = row_of(rows, i);
        if (direct) { /* fast path for unit vectors: additions in any order */
            if (fabs(rows->kernels->squared_length(floats_of(rows, r), rows->dimension) - 1) <
                AST_UNIT_TOLERANCE - 0x1p-36)
                continue;
        }
        note_row(rows, i, ast_read_row(&rows->view, r, row));
    }
}

static void leave_out_late(ast_rowset *rows, size_t first, size_t last) {
    int32_t *labels = rows->loading.labels;
    size_t late = 0;
    for (size_t i = first; i < last; i++) {
        bool leave = rows->late[row_of(rows, i)] != 0 && labels[i] != AST_MISSING;
        late += leave;
        labels[i] = leave ? AST_MISSING : labels[i];
    }
    if (late)
        atomic_fetch_add(&rows->loading.late, late);
}

/* Loads points first..last-1, of which some may be padding. */
static void load_range(ast_rowset *rows, size_t first, size_t last) {
    size_t end = last < rows->count ? last : rows->count;
    for (size_t i = end > first ? end : first; i < last; i++)
        rows->loading.labels[i] = AST_MISSING;
    for (size_t i = end > first ? end : first; i < last && rows->small; i++) /* padding is zero */
        for (size_t d = 0; d < rows->dimension; d++)
            rows->columns[d * rows->pitch + i] = 0;
    if (end <= first)
        return;
    if (rows->small)
        load_columns(rows, first, end);
    else if (rows->sparse)
        normalise_rows(rows, first, end);
    else
        check_rows(rows, first, end);
    if (rows->late)
        leave_out_late(rows, first, end);
}

static void load_task(void *data, size_t block, int worker) {
    ast_rowset *rows = data;
    (void)worker;
    size_t first = (rows->loading.first_task + block) * LOAD_BLOCK, last = first + LOAD_BLOCK;
    last = last < rows->padded ? last : rows->padded;
    if (rows->loading.partial)
        ast_rowset_need_columns(rows, first, last);
    else
        load_range(rows, first, last);
}

static bool reserve_columns(ast_rowset *rows) {
    size_t floats = rows->pitch * rows->dimension + 2 * AST_LANES; /* kernels may read a vector from any point on */
    bool ready = ast_ensure_arrays(&rows->capacity, floats, AST_REQUEST(rows->columns, floats));
    for (size_t d = 0; d < rows->dimension && ready; d++)
        rows->column[d] = rows->columns + d * rows->pitch;
    return ready;
}

size_t ast_type_size(ast_type type) {
    return type == AST_F8 ? 8 : type == AST_F4 ? 4 : type == AST_F2 || type == AST_B2 ? 2 : 1;
}

bool ast_rowset_open_part(ast_rowset *part, const ast_kernels *kernels, size_t dimension, size_t padded) {
    assert(dimension <= AST_SMALL && padded <= LOAD_BLOCK && padded % AST_BLOCK == 0);
    *part = (ast_rowset){
        .kernels = kernels, .padded = padded, .pitch = padded + AST_STAGGER, .dimension = dimension, .small = true};
    return reserve_columns(part);
}

static void begin_loading(ast_rowset *rows, int32_t *labels) {
    rows->loading.labels = labels;
    rows->loading.first_task = 0;
    rows->loading.due = rows->loading.partial = false;
    atomic_store(&rows->loading.missing, 0);
    atomic_store(&rows->loading.late, 0);
    atomic_store(&rows->loading.scaled, 0);
    atomic_store(&rows->loading.infinite, rows->count);
}

size_t ast_rowset_load_part(ast_rowset *part, const ast_points *view, int32_t *labels) {
    assert(part->padded <= LOAD_BLOCK);
    assert(view->count <= part->padded && view->dimension == part->dimension);
    part->view = *view;
    part->count = view->count;
    begin_loading(part, labels);
    load_task(part, 0, 0);
    return part->loading.infinite;
}

/* Keeps the memory of an earlier load and what the caller has set (kernels, order, offset, late). */
static void prepare(ast_rowset *rows, const ast_points *points, size_t padded) {
    rows->count = points->count;
    rows->padded = padded;
    rows->pitch = padded + AST_STAGGER;
    rows->dimension = points->dimension;
    rows->chunk = ast_chunk_size(points->dimension);
    rows->chunks = (points->count + rows->chunk - 1) / rows->chunk;
    assert(padded >= points->count);
    rows->view = *points;
    rows->weights = NULL;
    rows->axial = false;
    rows->small = points->dimension <= AST_SMALL;
    rows->sparse = points->starts && points->dimension > AST_SMALL;
    rows->reader = NULL;
}

static bool reserve_blocks(ast_rowset *rows) {
    ast_loading *loading = &rows->loading;
    size_t blocks = rows->padded / AST_BLOCK;
    if (!ast_reserve(&loading->blocks, &loading->capacity, 0, blocks + 1, sizeof *loading->blocks))
        return false;
    memset(loading->blocks, AST_BLOCK_UNREAD, blocks);
    return true;
}

ast_status ast_rowset_begin(ast_rowset *rows, const ast_points *points, size_t padded, int32_t *labels,
                            ast_fault *fault) {
    assert(points->dimension <= AST_SMALL && !points->starts);
    prepare(rows, points, padded);
    begin_loading(rows, labels);
    rows->loading.due = rows->loading.partial = true;
    return reserve_columns(rows) && reserve_blocks(rows) ? AST_OK : ast_fail_memory(fault);
}

static ast_status load_from(ast_rowset *rows, ast_pool *pool, size_t point, ast_fault *fault) {
    size_t tasks = (rows->padded + LOAD_BLOCK - 1) / LOAD_BLOCK, first = point / LOAD_BLOCK;
    rows->loading.first_task = first;
    if (first < tasks && !ast_pool_run_cancellable(pool, tasks - first, load_task, rows))
        return ast_fail_cancelled(fault);
    rows->loading.first_task = 0;
    rows->loading.due = false;
    rows->missing = rows->loading.missing;
    assert(rows->missing + rows->loading.late <= rows->count);
    rows->tight = ast_has_tight_floats(&rows->view);
    rows->scaled = rows->loading.scaled != 0;
    rows->in_place = rows->tight && !rows->scaled;
    if (!ast_rowset_is_finite(rows))
        return ast_fail_infinite(fault, rows->offset + (size_t)rows->loading.infinite + 1);
    return AST_OK;
}

ast_status ast_rowset_end(ast_rowset *rows, ast_pool *pool, size_t first, ast_fault *fault) {
    assert(rows->loading.partial);
    return load_from(rows, pool, first * AST_BLOCK, fault);
}

bool ast_rowset_is_finite(const ast_rowset *rows) {
    return atomic_load_explicit(&rows->loading.infinite, memory_order_relaxed) == rows->count;
}

/* Fills the columns of a block that was labelled in place; its labels stay. */
static void copy_columns(ast_rowset *rows, size_t first) {
    int32_t labels[AST_BLOCK];
    uint32_t list[AST_BLOCK];
    ast_odd_rows odd = split(rows, first, AST_BLOCK, labels, list);
    for (size_t j = 0; j < odd.count; j++)
        assert(rows->late && rows->late[first + list[j]]);
}

void ast_rowset_need_columns(ast_rowset *rows, size_t first, size_t last) {
    if (!rows->loading.partial)
        return;
    assert(last <= rows->padded);
    for (size_t b = first / AST_BLOCK; b * AST_BLOCK < last; b++) {
        if (rows->loading.blocks[b] == AST_BLOCK_UNREAD)
            load_range(rows, b * AST_BLOCK, (b + 1) * AST_BLOCK);
        else if (rows->loading.blocks[b] == AST_BLOCK_IN_PLACE)
            copy_columns(rows, b * AST_BLOCK);
        rows->loading.blocks[b] = AST_BLOCK_COLUMNS;
    }
}

void ast_rowset_fill(ast_rowset *rows, ast_pool *pool) {
    if (rows->loading.partial)
        ast_pool_run_in_order(pool, 0, (rows->padded + LOAD_BLOCK - 1) / LOAD_BLOCK, load_task, rows);
}

/* If one row has to be normalised, probably many have: then all further blocks become columns. */
const float *ast_rowset_packed(const ast_rowset *rows, size_t block) {
    const ast_loading *loading = &rows->loading;
    bool complete = (block + 1) * AST_BLOCK < rows->count;
    if (!loading->due || rows->dimension != 3 || !complete || !is_packed(rows) ||
        loading->blocks[block] != AST_BLOCK_UNREAD || atomic_load_explicit(&loading->scaled, memory_order_relaxed))
        return NULL;
    return (const float *)rows->view.data + block * AST_BLOCK * 3;
}

void ast_rowset_note_labelled(ast_rowset *rows, size_t first, uint32_t blocks, size_t holes, size_t late) {
    assert(!blocks || rows->loading.partial);
    for (; blocks; blocks &= blocks - 1)
        rows->loading.blocks[first + (size_t)__builtin_ctz(blocks)] = AST_BLOCK_IN_PLACE;
    if (holes)
        atomic_fetch_add(&rows->loading.missing, holes);
    if (late)
        atomic_fetch_add(&rows->loading.late, late);
}

ast_status ast_rowset_load(ast_rowset *rows, ast_pool *pool, const ast_points *points, size_t padded, int32_t *labels,
                           ast_fault *fault) {
    prepare(rows, points, padded);
    begin_loading(rows, labels);
    if (rows->small && !reserve_columns(rows))
        return ast_fail_memory(fault);
    ast_status status = points->starts ? ast_sparse_rows_open(&rows->entries, points, pool, fault) : AST_OK;
    return status == AST_OK ? load_from(rows, pool, 0, fault) : status;
}

void ast_rowset_free(ast_rowset *rows) {
    ast_free_all(rows->columns, rows->loading.blocks);
    ast_sparse_rows_free(&rows->entries);
    *rows = (ast_rowset){0};
}

size_t ast_chunk_size(size_t dimension) {
    size_t blocks = dimension <= AST_SMALL ? 16 : dimension <= 64 ? 8 : 2;
    return blocks * AST_BLOCK;
}

const float *ast_rowset_row(const ast_rowset *rows, size_t i, float *buffer) {
    size_t r = row_of(rows, i);
    if (rows->small && rows->loading.partial && rows->loading.blocks[i / AST_BLOCK] == AST_BLOCK_IN_PLACE)
        return memcpy(buffer, (const float *)rows->view.data + r * rows->dimension, rows->dimension * sizeof *buffer);
    if (rows->small) {
        for (size_t d = 0; d < rows->dimension; d++)
            buffer[d] = rows->column[d][i];
        return buffer;
    }
    if (rows->sparse) {
        ast_sparse_row entries = ast_sparse_rows_at(&rows->entries, r);
        memset(buffer, 0, rows->dimension * sizeof *buffer);
        for (size_t e = 0; e < entries.count; e++)
            buffer[entries.columns[e]] = entries.values[e];
        return buffer;
    }
    if (rows->in_place)
        return floats_of(rows, r);
    ast_read_row(&rows->view, r, buffer);
    return buffer;
}

void ast_rowset_copy(const ast_rowset *rows, size_t first, size_t count, float *to) {
    assert(first + count <= rows->count);
    size_t width = rows->dimension * sizeof *to;
    if (rows->in_place && !rows->order && rows->view.row_stride == (ptrdiff_t)width) {
        memcpy(to, (const char *)rows->view.data + first * width, count * width);
        return;
    }
    for (size_t i = 0; i < count; i++, to += rows->dimension) {
        const float *row = ast_rowset_row(rows, first + i, to);
        if (row != to)
            memcpy(to, row, width);
    }
}

ast_sparse_row ast_rowset_entries(const ast_rowset *rows, size_t i) {
    return ast_sparse_rows_at(&rows->entries, row_of(rows, i));
}

bool ast_is_noncanonical(const float *row, size_t dimension) {
    size_t d = 0;
    while (d + 1 < dimension && row[d] == 0)
        d++;
    return row[d] < 0;
}

void ast_negate(float *vector, size_t dimension) {
    for (size_t d = 0; d < dimension; d++)
        vector[d] = -vector[d];
}

void ast_mean_make_largest_positive(float *mean, size_t dimension) {
    size_t largest = 0;
    for (size_t d = 1; d < dimension; d++)
        if (fabsf(mean[d]) > fabsf(mean[largest]))
            largest = d;
    if (mean[largest] < 0)
        ast_negate(mean, dimension);
}
