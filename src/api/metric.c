/* SPDX-License-Identifier: MIT
 *
 * Applies a map to rows. Products of floats are exact in double and are added in order of the components, so that every
 * kernel gives the same bits; a row is rounded to float once after each centring. */
#include "metric.h"

#include "memory.h"
#include "rowset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIX AST_PRODUCT_ROWS
#define WIDE AST_EXACT_PANEL

static size_t panels_of(size_t dimension) {
    return (dimension + WIDE - 1) / WIDE;
}

bool ast_mapper_open(ast_mapper *mapper, const ast_kernels *kernels, const ast_metric *metric) {
    size_t dimension = metric->dimension, panels = panels_of(dimension);
    *mapper = (ast_mapper){.kernels = kernels, .metric = metric};
    mapper->panels = ast_allocate_zero(panels * dimension * WIDE, sizeof *mapper->panels);
    for (size_t j = 0; mapper->panels && j < dimension; j++) /* A is symmetric: column j is row j */
        for (size_t d = 0; d < dimension; d++)
            mapper->panels[(j / WIDE * dimension + d) * WIDE + j % WIDE] = (double)metric->matrix[j * dimension + d];
    return mapper->panels != NULL;
}

void ast_mapper_close(ast_mapper *mapper) {
    ast_free(mapper->panels);
    *mapper = (ast_mapper){0};
}

size_t ast_mapper_scratch(const ast_mapper *mapper) {
    size_t dimension = mapper->metric->dimension;
    return AST_MAP_TILE * (dimension + panels_of(dimension) * WIDE);
}

/* Rows u of the tile as doubles, zero where there is none; `to` says which: its first component is NaN or infinite. */
static void centre_tile(const ast_mapper *m, const ast_points *view, size_t first, size_t n, double *u, float *to) {
    size_t dimension = m->metric->dimension;
    for (size_t r = 0; r < AST_MAP_TILE; r++) {
        float *row = to + r * dimension;
        if (r < n)
            ast_center_row(view, first + r, m->metric->center, row);
        bool used = r < n && isfinite(row[0]);
        for (size_t d = 0; d < dimension; d++)
            u[r * dimension + d] = used ? (double)row[d] : 0;
    }
}

/* v (AST_MAP_TILE, padded) = u A. A panel of A serves the whole tile. */
static void multiply_tile(const ast_mapper *m, const double *u, double *v) {
    size_t dimension = m->metric->dimension, panels = panels_of(dimension), pitch = panels * WIDE;
    const double *six[SIX];
    for (size_t p = 0; p < panels; p++)
        for (size_t g = 0; g < AST_MAP_TILE; g += SIX) {
            double out[SIX * WIDE] = {0};
            for (size_t r = 0; r < SIX; r++)
                six[r] = u + (g + r) * dimension;
            m->kernels->add_exact_products(six, m->panels + p * dimension * WIDE, dimension, out);
            for (size_t r = 0; r < SIX; r++)
                memcpy(v + (g + r) * pitch + p * WIDE, out + r * WIDE, WIDE * sizeof *v);
        }
}

static void finish_row(const ast_metric *metric, const double *v, float *row) {
    double squared = 0;
    for (size_t d = 0; d < metric->dimension; d++) {
        double rest = v[d] - (double)metric->mapped_center[d];
        squared += rest * rest;
    }
    double length = sqrt(squared);
    for (size_t d = 0; d < metric->dimension; d++)
        row[d] = length > AST_CENTER_NOTHING ? (float)((v[d] - (double)metric->mapped_center[d]) / length) : NAN;
}

void ast_mapper_rows(const ast_mapper *mapper, const ast_points *view, size_t first, size_t n, double *scratch,
                     float *to) {
    size_t dimension = mapper->metric->dimension, pitch = panels_of(dimension) * WIDE;
    double *u = scratch, *v = scratch + AST_MAP_TILE * dimension;
    centre_tile(mapper, view, first, n, u, to);
    multiply_tile(mapper, u, v);
    for (size_t r = 0; r < n; r++)
        if (isfinite(to[r * dimension]))
            finish_row(mapper->metric, v + r * pitch, to + r * dimension);
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

typedef struct mapping {
    const ast_mapper *mapper;
    const ast_points *points;
    double *scratch; /* (threads, ...) */
    float *rows;
} mapping;

static void map_tile(void *data, size_t tile, int worker) {
    const mapping *m = data;
    size_t first = tile * AST_MAP_TILE, left = m->points->count - first;
    ast_mapper_rows(m->mapper, m->points, first, left < AST_MAP_TILE ? left : AST_MAP_TILE,
                    m->scratch + (size_t)worker * ast_mapper_scratch(m->mapper),
                    m->rows + first * m->points->dimension);
}

ast_status ast_metric_map(ast_context *context, const ast_points *points, const ast_metric *metric, float *rows) {
    ast_mapper mapper;
    bool ready = ast_mapper_open(&mapper, context->kernels, metric);
    mapping m = {.mapper = &mapper, .points = points, .rows = rows};
    m.scratch =
        ready ? ast_allocate((size_t)ast_pool_threads(context->pool) * ast_mapper_scratch(&mapper), sizeof *m.scratch)
              : NULL;
    ast_status status = m.scratch ? AST_OK : ast_fail_memory(&context->fault);
    if (status == AST_OK)
        ast_pool_run_cancellable(context->pool, (points->count + AST_MAP_TILE - 1) / AST_MAP_TILE, map_tile, &m);
    ast_free(m.scratch);
    ast_mapper_close(&mapper);
    return status == AST_OK ? ast_check_cancelled(context) : status;
}

ast_status ast_map_points(ast_context *context, const ast_points *points, const ast_metric *metric,
                          ast_transformed_rows *centred) {
    centred->rows = ast_allocate(points->count * points->dimension, sizeof *centred->rows);
    if (!centred->rows)
        return ast_fail_memory(&context->fault);
    centred->points = ast_points_f4(centred->rows, points->count, points->dimension);
    centred->points.weights = points->weights;
    return ast_metric_map(context, points, metric, centred->rows);
}

/* Several threads call it at once. Rows of floats are mapped in place, tile by tile. */
static int read_mapped(size_t first, size_t count, void *rows, void *data) {
    const ast_transformed_rows *centred = data;
    const ast_source *base = &centred->base;
    size_t element = ast_type_size(base->type), dimension = base->dimension;
    void *raw = base->type == AST_F4 ? rows : ast_allocate(count * dimension, element);
    double *scratch = ast_allocate(ast_mapper_scratch(&centred->mapper), sizeof *scratch);
    int failed = !raw || !scratch || base->read(first, count, raw, base->data) != 0;
    ast_points view = ast_points_dense(raw, base->type, element, count, dimension);
    for (size_t i = 0; i < count && !failed; i += AST_MAP_TILE) {
        size_t n = count - i < AST_MAP_TILE ? count - i : AST_MAP_TILE;
        ast_mapper_rows(&centred->mapper, &view, i, n, scratch, (float *)rows + i * dimension);
    }
    if (raw != rows)
        ast_free(raw);
    ast_free(scratch);
    return failed;
}

ast_status ast_map_source(ast_context *context, const ast_source *source, const ast_metric *metric,
                          ast_transformed_rows *centred) {
    ast_wrap_source(source, read_mapped, centred);
    return ast_mapper_open(&centred->mapper, context->kernels, metric) ? AST_OK : ast_fail_memory(&context->fault);
}

ast_status ast_check_metric(const ast_metric *metric, size_t dimension, ast_fault *fault) {
    ast_status status = ast_check_struct(metric, sizeof *metric, "metric", fault);
    if (status == AST_OK && (!metric->center || !metric->matrix || !metric->mapped_center))
        status = ast_fail(fault, AST_BAD_OPTION, "the metric lacks an array: a centre, the matrix or its centre");
    if (status == AST_OK && metric->dimension != dimension)
        status = ast_fail(fault, AST_BAD_DATA, "the metric is for %zu dimensions, and the rows have %zu",
                          metric->dimension, dimension);
    return status;
}

/* Rows with an infinity are an error, as everywhere. */
static ast_status find_infinite(const float *rows, size_t count, size_t dimension, ast_fault *fault) {
    for (size_t i = 0; i < count; i++)
        if (isinf(rows[i * dimension]))
            return ast_fail_infinite(fault, i + 1);
    return AST_OK;
}

static ast_status apply(ast_context *context, const ast_points *points, const ast_metric *metric, float *rows) {
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "a metric", fault);
    if (status == AST_OK)
        status = ast_check_metric(metric, points->dimension, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(rows, "rows", fault);
    if (status == AST_OK)
        status = ast_metric_map(context, points, metric, rows);
    return status == AST_OK ? find_infinite(rows, points->count, points->dimension, fault) : status;
}

ast_status ast_metric_apply(ast_context *context, const ast_points *points, const ast_metric *metric, float *rows) {
    return ast_enter(context) ? ast_leave(context, apply(context, points, metric, rows)) : AST_BAD_OPTION;
}
