/* SPDX-License-Identifier: MIT */
#include "rowset.h"

#include "memory.h"
#include "sparse.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_BLOCK 4096 /* points a task; a multiple of every padding in use */

typedef struct load_job {
    ast_rowset *rows;
    int32_t *labels;
    _Atomic size_t missing, scaled, late;
    _Atomic size_t infinite; /* the smallest row with an infinity, or count */
} load_job;

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
    int8_t byte;
    uint8_t positive;
    if (type == AST_F4) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (type == AST_F8) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    if (type == AST_I1) {
        memcpy(&byte, at, sizeof byte);
        return byte;
    }
    if (type == AST_U1) {
        memcpy(&positive, at, sizeof positive);
        return positive;
    }
    memcpy(&half, at, sizeof half);
    return type == AST_B2 ? brain_to_float(half) : half_to_float(half);
}

/* Row r as doubles: exact, whatever the type and the strides. */
static void expand_row(const ast_points *view, size_t r, double *x) {
    const char *at = (const char *)view->data + (ptrdiff_t)r * view->row_stride;
    ptrdiff_t step = view->column_stride;
    if (view->type == AST_I1 && step == 1) { /* embeddings: thousands of numbers a row */
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
        return ast_read_long_row(view, r, row);
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

static bool tight_floats(const ast_points *view) {
    return !view->starts && view->type == AST_F4 && view->column_stride == sizeof(float) &&
           (uintptr_t)view->data % sizeof(float) == 0 && view->row_stride % (ptrdiff_t)sizeof(float) == 0;
}

static void note(load_job *job, size_t i, ast_row_kind kind) {
    size_t row = row_of(job->rows, i);
    if (kind == AST_ROW_MISSING) {
        job->labels[i] = AST_MISSING;
        atomic_fetch_add(&job->missing, 1);
    } else if (kind == AST_ROW_SCALED) {
        atomic_store_explicit(&job->scaled, 1, memory_order_relaxed);
    } else if (kind == AST_ROW_INFINITE) {
        size_t first = atomic_load(&job->infinite);
        while (row < first && !atomic_compare_exchange_weak(&job->infinite, &first, row))
            ;
    }
}

/* One point into its columns; a missing one becomes zero, which no score can tell from padding. */
static void load_point(load_job *job, size_t i) {
    ast_rowset *rows = job->rows;
    float row[AST_SMALL];
    ast_row_kind kind = ast_read_row(&rows->view, row_of(rows, i), row);
    note(job, i, kind);
    for (size_t d = 0; d < rows->dimension; d++)
        rows->columns[d * rows->pitch + i] = kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE ? 0 : row[d];
}

static bool all_nan(float *const *x, size_t dimension, size_t i) {
    bool nan = true;
    for (size_t d = 0; d < dimension; d++)
        nan &= isnan(x[d][i]);
    return nan;
}

static void load_columns(load_job *job, size_t first, size_t last) {
    ast_rowset *rows = job->rows;
    const ast_points *view = &rows->view;
    size_t dimension = rows->dimension, n = last - first;
    if (!tight_floats(view) || view->row_stride != (ptrdiff_t)(dimension * sizeof(float)) || rows->order) {
        for (size_t i = first; i < last; i++)
            load_point(job, i);
        return;
    }
    float *x[AST_SMALL];
    uint32_t list[LOAD_BLOCK];
    for (size_t d = 0; d < dimension; d++)
        x[d] = rows->columns + d * rows->pitch + first;
    size_t odd = rows->kernels->split_columns[dimension]((const float *)view->data + first * dimension, n, x, list);
    size_t holes = 0;
    for (size_t j = 0; j < odd; j++)
        if (all_nan(x, dimension, list[j])) { /* how an image says that there is nothing: too many to look at each */
            for (size_t d = 0; d < dimension; d++)
                x[d][list[j]] = 0;
            job->labels[first + list[j]] = AST_MISSING;
            holes++;
        } else {
            load_point(job, first + list[j]);
        }
    if (holes)
        atomic_fetch_add(&job->missing, holes);
}

static void normalise_rows(load_job *job, size_t first, size_t last) {
    ast_rowset *rows = job->rows;
    for (size_t i = first; i < last; i++)
        note(job, i, ast_sparse_rows_read(&rows->entries, &rows->view, row_of(rows, i)));
}

static void check_rows(load_job *job, size_t first, size_t last) {
    const ast_rowset *rows = job->rows;
    float row[AST_MAX_DIMENSION];
    bool direct = tight_floats(&rows->view);
    for (size_t i = first; i < last; i++) {
        size_t r = row_of(rows, i);
        if (direct) { /* nearly every row of nearly every input is decided here, without its additions in order */
            const float *x =
                (const float *)(const void *)((const char *)rows->view.data + (ptrdiff_t)r * rows->view.row_stride);
            double squared = rows->kernels->squared_length(x, rows->dimension);
            if (fabs(squared - 1) < AST_UNIT_TOLERANCE - 0x1p-36)
                continue;
        }
        note(job, i, ast_read_row(&rows->view, r, row));
    }
}

static void leave_out_late(load_job *job, size_t first, size_t last) {
    const ast_rowset *rows = job->rows;
    size_t late = 0;
    for (size_t i = first; i < last; i++) {
        bool leave = rows->late[row_of(rows, i)] != 0 && job->labels[i] != AST_MISSING;
        late += leave;
        job->labels[i] = leave ? AST_MISSING : job->labels[i];
    }
    atomic_fetch_add(&job->late, late);
}

static void load_task(void *data, size_t block, int worker) {
    load_job *job = data;
    (void)worker;
    ast_rowset *rows = job->rows;
    size_t first = block * LOAD_BLOCK, last = first + LOAD_BLOCK;
    last = last < rows->padded ? last : rows->padded;
    size_t end = last < rows->count ? last : rows->count;
    for (size_t i = first; i < end; i++)
        job->labels[i] = AST_UNLABELLED;
    for (size_t i = end > first ? end : first; i < last; i++)
        job->labels[i] = AST_MISSING;
    for (size_t i = end > first ? end : first; i < last && rows->small; i++) /* padding is missing, and finite */
        for (size_t d = 0; d < rows->dimension; d++)
            rows->columns[d * rows->pitch + i] = 0;
    if (end <= first)
        return;
    if (rows->small)
        load_columns(job, first, end);
    else if (rows->sparse)
        normalise_rows(job, first, end);
    else
        check_rows(job, first, end);
    if (rows->late)
        leave_out_late(job, first, end);
}

static bool reserve_columns(ast_rowset *rows) {
    size_t floats = rows->pitch * rows->dimension + 2 * AST_LANES; /* a vector that starts at any point may be read */
    if (floats > rows->capacity) {
        free(rows->columns);
        rows->columns = ast_allocate(floats, sizeof *rows->columns);
        rows->capacity = rows->columns ? floats : 0;
    }
    for (size_t d = 0; d < rows->dimension; d++)
        rows->column[d] = rows->columns + d * rows->pitch;
    return rows->columns != NULL;
}

size_t ast_type_size(ast_type type) {
    return type == AST_F8 ? 8 : type == AST_F4 ? 4 : type == AST_F2 || type == AST_B2 ? 2 : 1;
}

bool ast_rowset_open_part(ast_rowset *part, const ast_kernels *kernels, size_t dimension, size_t padded) {
    *part = (ast_rowset){
        .kernels = kernels, .padded = padded, .pitch = padded + AST_STAGGER, .dimension = dimension, .small = true};
    return reserve_columns(part);
}

size_t ast_rowset_load_part(ast_rowset *part, const ast_points *view, int32_t *labels) {
    assert(part->padded <= LOAD_BLOCK);
    part->view = *view;
    part->count = view->count;
    load_job job = {.rows = part, .labels = labels, .infinite = view->count};
    load_task(&job, 0, 0);
    return job.infinite;
}

/* What a load before this one left stays: memory, and what the caller has set (kernels, order, offset, late). */
static void prepare(ast_rowset *rows, const ast_points *points, size_t padded) {
    rows->count = points->count;
    rows->padded = padded;
    rows->pitch = padded + AST_STAGGER;
    rows->dimension = points->dimension;
    rows->chunk = ast_chunk_size(points->dimension);
    rows->chunks = (points->count + rows->chunk - 1) / rows->chunk;
    rows->view = *points;
    rows->weights = NULL;
    rows->axial = false;
    rows->small = points->dimension <= AST_SMALL;
    rows->sparse = points->starts && points->dimension > AST_SMALL;
    rows->reader = NULL;
}

ast_status ast_rowset_load(ast_rowset *rows, ast_pool *pool, const ast_points *points, size_t padded, int32_t *labels,
                           ast_fault *fault) {
    prepare(rows, points, padded);
    if (rows->small && !reserve_columns(rows))
        return ast_fail_memory(fault);
    if (points->starts) {
        ast_status status = ast_sparse_rows_open(&rows->entries, points, pool, fault);
        if (status != AST_OK)
            return status;
    }
    load_job job = {.rows = rows, .labels = labels, .infinite = points->count};
    if (!ast_pool_try(pool, (padded + LOAD_BLOCK - 1) / LOAD_BLOCK, load_task, &job))
        return ast_fail_cancelled(fault);
    rows->missing = job.missing;
    rows->late_count = job.late;
    rows->tight = tight_floats(points);
    rows->scaled = job.scaled != 0;
    rows->in_place = rows->tight && !rows->scaled;
    if (job.infinite < points->count)
        return ast_fail_infinite(fault, rows->offset + (size_t)job.infinite + 1);
    return AST_OK;
}

void ast_rowset_free(ast_rowset *rows) {
    free(rows->columns);
    ast_sparse_rows_free(&rows->entries);
    *rows = (ast_rowset){0};
}

size_t ast_chunk_size(size_t dimension) {
    size_t blocks = dimension <= AST_SMALL ? 16 : dimension <= 64 ? 8 : 2;
    return blocks * AST_BLOCK;
}

const float *ast_rowset_row(const ast_rowset *rows, size_t i, float *buffer) {
    if (rows->small) {
        for (size_t d = 0; d < rows->dimension; d++)
            buffer[d] = rows->column[d][i];
        return buffer;
    }
    size_t r = row_of(rows, i);
    if (rows->sparse) {
        ast_sparse_row entries = ast_sparse_rows_at(&rows->entries, r);
        memset(buffer, 0, rows->dimension * sizeof *buffer);
        for (size_t e = 0; e < entries.count; e++)
            buffer[entries.columns[e]] = entries.values[e];
        return buffer;
    }
    if (rows->in_place)
        return (const float *)(const void *)((const char *)rows->view.data + (ptrdiff_t)r * rows->view.row_stride);
    ast_read_row(&rows->view, r, buffer);
    return buffer;
}

void ast_rowset_copy(const ast_rowset *rows, size_t first, size_t count, float *to) {
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

bool ast_faces_down(const float *row, size_t dimension) {
    size_t d = 0;
    while (d + 1 < dimension && row[d] == 0)
        d++;
    return row[d] < 0;
}

void ast_negate(float *vector, size_t dimension) {
    for (size_t d = 0; d < dimension; d++)
        vector[d] = -vector[d];
}

void ast_choose_side(float *mean, size_t dimension) {
    size_t largest = 0;
    for (size_t d = 1; d < dimension; d++)
        if (fabsf(mean[d]) > fabsf(mean[largest]))
            largest = d;
    if (mean[largest] < 0)
        ast_negate(mean, dimension);
}
