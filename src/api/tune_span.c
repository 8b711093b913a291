/* SPDX-License-Identifier: MIT
 *
 * Reduces the dimension of sparse rows to that of the space that they span. Trees of joins, levels and silhouettes
 * depend only on dot products. The n rows of the Cholesky factor of the matrix of dot products have n components and
 * the same dot products. A few hundred documents have thousands of columns, so this saves most of the time. The sparse
 * rows are kept for the runs of the sweep, which depend on the dimension. */
#include "tune_call.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PIVOT 1e-10 /* a row whose rest is shorter (squared) is a combination of those before it */
#define TOGETHER 8        /* rows of one task */

typedef struct spanning {
    const float *rows;   /* (n, D) */
    const float *across; /* (D, n) */
    size_t count, dimension;
    double *products; /* (n, n): dot products, then the factor, below the diagonal and on it */
} spanning;

/* Dot products of rows first..last-1 with those up to them. Each is a sum in order of the components. */
static void multiply(void *data, size_t first, size_t last) {
    const spanning *s = data;
    size_t n = s->count;
    memset(s->products + first * n, 0, (last - first) * n * sizeof *s->products);
    for (size_t d = 0; d < s->dimension; d++) {
        const float *column = s->across + d * n;
        for (size_t i = first; i < last; i++) {
            double own = (double)column[i], *to = s->products + i * n;
            for (size_t j = 0; own != 0 && j <= i; j++)
                to[j] += own * (double)column[j];
        }
    }
}

static void factorise(spanning *s) {
    size_t n = s->count;
    for (size_t i = 0; i < n; i++) {
        double *row = s->products + i * n;
        for (size_t j = 0; j <= i; j++) {
            const double *other = s->products + j * n;
            double rest = row[j];
            for (size_t d = 0; d < j; d++)
                rest -= row[d] * other[d];
            row[j] = i == j ? sqrt(fmax(rest, 0)) : other[j] > 0 ? rest / other[j] : 0;
        }
        row[i] = row[i] * row[i] > LEAST_PIVOT ? row[i] : 0;
    }
}

/* Rows of the factor; copies of a row are copies again. out: (n, n) */
static void write_rows(const spanning *s, float *out) {
    size_t n = s->count;
    for (size_t i = 0; i < n; i++) {
        const float *row = s->rows + i * s->dimension;
        bool copy = i > 0 && memcmp(row, row - s->dimension, s->dimension * sizeof *row) == 0;
        for (size_t j = 0; j < n; j++)
            out[i * n + j] = copy ? out[(i - 1) * n + j] : j <= i ? (float)s->products[i * n + j] : 0;
    }
}

static void transpose(const spanning *s, float *across) {
    for (size_t i = 0; i < s->count; i++)
        for (size_t d = 0; d < s->dimension; d++)
            across[d * s->count + i] = s->rows[i * s->dimension + d];
}

ast_status ast_tune_reduce_dimension(ast_tuning *t, ast_tune_set *set) {
    size_t n = set->points.count, dimension = set->points.dimension;
    if (!t->points->starts || dimension <= n)
        return AST_OK;
    float *across = ast_allocate(n * dimension, sizeof *across), *rows = ast_allocate(n * n, sizeof *rows);
    spanning s = {set->rows, across, n, dimension, ast_allocate(n * n, sizeof *s.products)};
    bool ready = across && rows && s.products;
    if (ready) {
        transpose(&s, across);
        ast_pool_ranges(t->context->pool, n, TOGETHER, multiply, &s);
        factorise(&s);
        write_rows(&s, rows);
        ast_free(set->rows);
        set->rows = rows;
        set->points = ast_points_f4(rows, n, n);
        set->points.weights = set->weights;
        rows = NULL;
    }
    ast_free_all(across, rows, s.products);
    if (!ready)
        return ast_fail_memory(t->fault);
    return ast_pool_poll(t->context->pool) ? ast_fail_cancelled(t->fault) : AST_OK;
}

/* ---- The entries of the sample ----------------------------------------------------------------------------------- */

ast_status ast_tune_keep_sparse_rows(ast_tuning *t) {
    const ast_tune_set *set = &t->sample;
    size_t n = set->points.count, dimension = set->points.dimension, numbers = n * dimension, count = 0;
    ast_tune_sparse_rows *e = &t->entries;
    if (!t->points->starts || dimension <= n)
        return AST_OK;
    for (size_t i = 0; i < numbers; i++)
        count += set->rows[i] != 0;
    if (!ast_replace_arrays(AST_REQUEST(e->values, count), AST_REQUEST(e->starts, n + 1),
                            AST_REQUEST(e->columns, count)))
        return ast_fail_memory(t->fault);
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        e->starts[i] = (int32_t)next;
        for (size_t d = 0; d < dimension; d++) {
            float value = set->rows[i * dimension + d];
            if (value == 0)
                continue;
            e->values[next] = value;
            e->columns[next++] = (int32_t)d;
        }
    }
    e->starts[n] = (int32_t)next;
    e->points = ast_points_csr(e->values, AST_F4, e->starts, e->columns, AST_I4, n, dimension);
    e->points.weights = set->weights;
    return AST_OK;
}

void ast_tune_sparse_rows_free(ast_tune_sparse_rows *e) {
    ast_free_all(e->values, e->starts, e->columns);
    *e = (ast_tune_sparse_rows){0};
}

const ast_points *ast_tune_original_points(const ast_tuning *t) {
    return t->entries.points.count ? &t->entries.points : &t->sample.points;
}
