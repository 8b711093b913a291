/* SPDX-License-Identifier: MIT
 *
 * The mean of rows and rows without it. The mean is a sum of integers over a sum of integers, so that no bit of it
 * depends on threads, ranks, blocks or the order of the rows. Rows in memory are centred once, into a copy; those of a
 * source whenever they are read. */
#include "center.h"

#include "memory.h"
#include "plan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SUM_BITS 60 /* of a sum of weighted components at most, besides its sign */

typedef struct mean_job {
    const ast_points *points; /* rows in memory, or shape and weights of a source */
    const ast_source *source; /* or NULL */
    size_t rows;              /* of a task */
    int exponent;             /* weights are divided by 2^exponent: below 2 then */
    double unit;              /* sums are in units of 1 / unit */
    _Atomic uint64_t *sums;   /* (D + 1) components, and the weight */
    _Atomic size_t unread;    /* a row that could not be read; SIZE_MAX: none */
    atomic_bool no_memory;
} mean_job;

/* ---- The mean ---------------------------------------------------------------------------------------------------- */

/* Adds rows number `first` and on. Infinities are reported when the rows are read again. */
static void add_rows(mean_job *job, const ast_points *rows, size_t first) {
    const double *weights = job->points->weights;
    int64_t sums[AST_MAX_DIMENSION + 1] = {0};
    float row[AST_MAX_DIMENSION];
    size_t dimension = rows->dimension;
    for (size_t i = 0; i < rows->count; i++) {
        double weight = weights ? ldexp(weights[first + i], -job->exponent) : 1, factor = weight * job->unit;
        ast_row_kind kind = factor > 0 ? ast_read_row(rows, i, row) : AST_ROW_MISSING;
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
            continue;
        for (size_t d = 0; d < dimension; d++)
            sums[d] += llrint((double)row[d] * factor);
        sums[dimension] += llrint(factor);
    }
    for (size_t d = 0; d <= dimension; d++)
        atomic_fetch_add_explicit(&job->sums[d], (uint64_t)sums[d], memory_order_relaxed);
}

static void add_block(void *data, size_t block, int worker) {
    mean_job *job = data;
    size_t first = block * job->rows, left = job->points->count - first, count = left < job->rows ? left : job->rows;
    (void)worker;
    if (!job->source) {
        ast_points part = *job->points;
        part.data = (const char *)part.data + (ptrdiff_t)first * part.row_stride;
        part.count = count;
        add_rows(job, &part, first);
        return;
    }
    size_t element = ast_type_size(job->source->type), dimension = job->source->dimension;
    void *rows = ast_allocate(count * dimension, element);
    if (rows && job->source->read(first, count, rows, job->source->data) == 0) {
        ast_points part = ast_points_dense(rows, job->source->type, element, count, dimension);
        add_rows(job, &part, first);
    } else if (rows) {
        atomic_store(&job->unread, first);
    } else {
        atomic_store(&job->no_memory, true);
    }
    ast_free(rows);
}

/* The exponent of the largest weight of all ranks. */
static int weight_exponent(const ast_comm *comm, const ast_points *points) {
    double most = 0;
    for (size_t i = 0; points->weights && i < points->count; i++)
        most = points->weights[i] > most ? points->weights[i] : most;
    int who = ast_comm_rank_of_least(comm, -most);
    if (who >= 0)
        ast_comm_broadcast(comm, &most, sizeof most, who);
    return most > 0 ? ilogb(most) : 0;
}

static size_t block_rows(const ast_points *points) {
    size_t rows = AST_CENTER_BLOCK / (points->dimension * ast_type_size(points->type));
    return rows ? rows : 1;
}

static ast_status add_all(ast_context *context, mean_job *job, ast_fault *fault) {
    size_t blocks = (job->points->count + job->rows - 1) / job->rows;
    if (!ast_pool_run_cancellable(context->pool, blocks, add_block, job))
        return ast_check_cancelled(context);
    if (atomic_load(&job->no_memory))
        return ast_fail_memory(fault);
    size_t unread = atomic_load(&job->unread);
    return unread == SIZE_MAX ? AST_OK
                              : ast_fail(fault, AST_NO_INPUT,
                                         "the rows from row %zu (counting from 1) on could not be read", unread + 1);
}

ast_status ast_find_mean(ast_context *context, const ast_points *points, const ast_source *source, size_t total,
                         float *center) {
    ast_fault *fault = &context->fault;
    size_t width = points->dimension + 1;
    mean_job job = {.points = points, .source = source, .rows = block_rows(points), .unread = SIZE_MAX};
    uint64_t *sums = ast_allocate_zero(width, sizeof *sums);
    job.sums = ast_allocate_zero(width, sizeof *job.sums);
    job.exponent = weight_exponent(context->comm, points);
    job.unit = ldexp(1, SUM_BITS - (int)ceil(log2((double)total + 1)));
    ast_status status = sums && job.sums ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = add_all(context, &job, fault);
    status = ast_comm_agree(context->comm, status, fault);
    for (size_t d = 0; d < width && status == AST_OK; d++)
        sums[d] = atomic_load(&job.sums[d]);
    if (status == AST_OK)
        ast_comm_allreduce(context->comm, sums, width);
    double weight = status == AST_OK ? (double)(int64_t)sums[width - 1] : 0;
    for (size_t d = 0; d + 1 < width && status == AST_OK; d++)
        center[d] = weight > 0 ? (float)((double)(int64_t)sums[d] / weight) : 0;
    ast_free_all(sums, (void *)job.sums);
    return status;
}

/* ---- Rows without the mean
 * -------------------------------------------------------------------------------------------------- */

void ast_center_row(const ast_points *view, size_t i, const float *center, float *row) {
    size_t dimension = view->dimension;
    ast_row_kind kind = ast_read_row(view, i, row);
    double squared = 0;
    for (size_t d = 0; d < dimension && kind != AST_ROW_MISSING && kind != AST_ROW_INFINITE; d++) {
        double rest = (double)row[d] - (double)center[d];
        squared += rest * rest;
    }
    double length = sqrt(squared);
    for (size_t d = 0; d < dimension; d++)
        row[d] = kind == AST_ROW_INFINITE      ? INFINITY
                 : length > AST_CENTER_NOTHING ? (float)(((double)row[d] - (double)center[d]) / length)
                                               : NAN;
}

typedef struct subtraction {
    const ast_points *points;
    const float *center;
    float *rows; /* (N, D) */
} subtraction;

static void subtract_row(void *data, size_t i) {
    const subtraction *s = data;
    ast_center_row(s->points, i, s->center, s->rows + i * s->points->dimension);
}

static ast_status keep_center(const float *center, size_t dimension, ast_transformed_rows *centred, ast_fault *fault) {
    centred->center = ast_allocate(dimension, sizeof *centred->center);
    if (!centred->center)
        return ast_fail_memory(fault);
    if (center)
        memcpy(centred->center, center, dimension * sizeof *center);
    return AST_OK;
}

/* Subtracts the centre from rows in memory, into a copy. */
static ast_status subtract(ast_context *context, const ast_points *points, ast_transformed_rows *centred) {
    size_t dimension = points->dimension;
    centred->rows = ast_allocate(points->count * dimension, sizeof *centred->rows);
    if (!centred->rows)
        return ast_fail_memory(&context->fault);
    subtraction s = {points, centred->center, centred->rows};
    ast_pool_each(context->pool, points->count, block_rows(points), subtract_row, &s);
    centred->points = ast_points_f4(centred->rows, points->count, dimension);
    centred->points.weights = points->weights;
    return ast_check_cancelled(context);
}

/* Several threads call it at once. Rows of floats are centred in place. */
static int read_centred(size_t first, size_t count, void *rows, void *data) {
    const ast_transformed_rows *centred = data;
    const ast_source *base = &centred->base;
    size_t element = ast_type_size(base->type), dimension = base->dimension;
    void *raw = base->type == AST_F4 ? rows : ast_allocate(count * dimension, element);
    int failed = !raw || base->read(first, count, raw, base->data) != 0;
    ast_points view = ast_points_dense(raw, base->type, element, count, dimension);
    for (size_t i = 0; i < count && !failed; i++)
        ast_center_row(&view, i, centred->center, (float *)rows + i * dimension);
    if (raw != rows)
        ast_free(raw);
    return failed;
}

static void expect_centred(size_t first, size_t count, void *data) {
    const ast_source *base = &((const ast_transformed_rows *)data)->base;
    base->expect(first, count, base->data);
}

void ast_wrap_source(const ast_source *source, int (*read)(size_t, size_t, void *, void *),
                     ast_transformed_rows *centred) {
    centred->base = centred->source = *source;
    centred->source.type = AST_F4;
    centred->source.read = read;
    centred->source.expect = source->expect ? expect_centred : NULL;
    centred->source.data = centred;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

ast_status ast_center_points(ast_context *context, const ast_points *points, size_t total,
                             ast_transformed_rows *centred) {
    ast_fault *fault = &context->fault;
    ast_status status = ast_comm_agree(context->comm, keep_center(NULL, points->dimension, centred, fault), fault);
    if (status == AST_OK)
        status = ast_find_mean(context, points, NULL, total, centred->center);
    return status == AST_OK ? ast_comm_agree(context->comm, subtract(context, points, centred), fault) : status;
}

ast_status ast_center_source(ast_context *context, const ast_source *source, ast_transformed_rows *centred) {
    ast_points shape = ast_source_shape(source);
    ast_status status = keep_center(NULL, source->dimension, centred, &context->fault);
    if (status == AST_OK)
        status = ast_find_mean(context, &shape, source, source->count, centred->center);
    ast_wrap_source(source, read_centred, centred);
    return status;
}

ast_status ast_subtract_points(ast_context *context, const ast_points *points, const float *center,
                               ast_transformed_rows *centred) {
    ast_status status = keep_center(center, points->dimension, centred, &context->fault);
    return status == AST_OK ? subtract(context, points, centred) : status;
}

ast_status ast_subtract_source(ast_context *context, const ast_source *source, const float *center,
                               ast_transformed_rows *centred) {
    ast_wrap_source(source, read_centred, centred);
    return keep_center(center, source->dimension, centred, &context->fault);
}

void ast_transformed_rows_free(ast_transformed_rows *centred) {
    ast_free_all(centred->center, centred->rows, centred->mapper.panels);
    *centred = (ast_transformed_rows){0};
}
