/* SPDX-License-Identifier: MIT
 *
 * Vectors are added in chunks that fit into the cache. For each chunk, the threads share the blocks of rows of the
 * matrix.
 */
#include "scatter.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIX AST_PRODUCT_ROWS
#define WIDE AST_EXACT_PANEL
#define CHUNK 256          /* vectors */
#define ROWS (4 * SIX)     /* rows of the matrix per task; a multiple of WIDE */
#define BLOCK (SIX * WIDE) /* numbers of a block */

typedef struct adding {
    ast_vector_scatter *scatter;
    ast_vector_of *vector;
    const void *data;
    size_t first, n; /* the vectors of this chunk */
    size_t rows;     /* D rounded up to ROWS */
    float *vectors;  /* (CHUNK, D) */
    double *columns; /* (rows, CHUNK) component by component; zero behind D */
    double *panels;  /* (rows / WIDE, CHUNK, WIDE) */
    double *squared; /* (CHUNK) lengths */
} adding;

static size_t panels_of(const ast_vector_scatter *s) {
    return (s->dimension + WIDE - 1) / WIDE;
}

static void fetch_vector(void *data, size_t i) {
    const adding *a = data;
    size_t dimension = a->scatter->dimension;
    float *to = a->vectors + i * dimension;
    double sum = 0;
    a->vector(a->data, a->first + i, to);
    for (size_t d = 0; d < dimension; d++)
        sum += (double)to[d] * (double)to[d];
    a->squared[i] = sum;
}

static void arrange_columns(void *data, size_t task, int worker) {
    const adding *a = data;
    size_t dimension = a->scatter->dimension;
    (void)worker;
    for (size_t d = task * ROWS; d < (task + 1) * ROWS; d++)
        for (size_t i = 0; i < a->n; i++) {
            double x = d < dimension ? (double)a->vectors[i * dimension + d] : 0;
            a->columns[d * CHUNK + i] = x;
            a->panels[(d / WIDE * CHUNK + i) * WIDE + d % WIDE] = x;
        }
}

/* The rows of a task up to the diagonal; the longest ones first. */
static void add_rows(void *data, size_t task, int worker) {
    const adding *a = data;
    const ast_vector_scatter *s = a->scatter;
    size_t first = a->rows - (task + 1) * ROWS, panels = panels_of(s), last = (first + ROWS) / WIDE;
    const double *six[SIX];
    (void)worker;
    for (size_t p = 0; p < last && p < panels; p++)
        for (size_t row = first; row < first + ROWS && row < s->dimension; row += SIX) {
            for (size_t r = 0; r < SIX; r++)
                six[r] = a->columns + (row + r) * CHUNK;
            s->kernels->add_exact_products(six, a->panels + p * CHUNK * WIDE, a->n,
                                           s->blocks + (row / SIX * panels + p) * BLOCK);
        }
}

static void add_chunk(adding *a) {
    ast_pool *pool = a->scatter->pool;
    size_t tasks = a->rows / ROWS;
    ast_pool_each(pool, a->n, 16, fetch_vector, a);
    ast_pool_run(pool, tasks, arrange_columns, a);
    ast_pool_run(pool, tasks, add_rows, a);
    for (size_t i = 0; i < a->n; i++)
        a->scatter->fourth += a->squared[i] * a->squared[i];
}

ast_status ast_vector_scatter_add(ast_vector_scatter *scatter, size_t dimension, size_t count, ast_vector_of *vector,
                                  const void *data, ast_fault *fault) {
    adding a = {.scatter = scatter, .vector = vector, .data = data, .rows = (dimension + ROWS - 1) / ROWS * ROWS};
    scatter->dimension = dimension;
    scatter->count = count;
    scatter->blocks = ast_allocate_zero(a.rows / SIX * panels_of(scatter) * BLOCK, sizeof *scatter->blocks);
    bool ready = scatter->blocks &&
                 ast_replace_arrays(AST_REQUEST(a.vectors, CHUNK * dimension), AST_REQUEST(a.columns, a.rows * CHUNK),
                                    AST_REQUEST(a.panels, a.rows * CHUNK), AST_REQUEST(a.squared, CHUNK));
    for (; ready && a.first < count && !ast_pool_poll(scatter->pool); a.first += CHUNK) {
        a.n = count - a.first < CHUNK ? count - a.first : CHUNK;
        add_chunk(&a);
    }
    ast_free_all(a.vectors, a.columns, a.panels, a.squared);
    bool cancelled = ast_pool_cancelled(scatter->pool);
    if (ready && !cancelled)
        return AST_OK;
    ast_vector_scatter_free(scatter);
    return ready ? ast_fail_cancelled(fault) : ast_fail_memory(fault);
}

void ast_vector_scatter_mean(const ast_vector_scatter *scatter, double *matrix) {
    size_t n = scatter->dimension, panels = panels_of(scatter);
    double count = scatter->count ? (double)scatter->count : 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = scatter->blocks[(i / SIX * panels + j / WIDE) * BLOCK + i % SIX * WIDE + j % WIDE];
            matrix[i * n + j] = matrix[j * n + i] = sum / count;
        }
}

void ast_vector_scatter_free(ast_vector_scatter *scatter) {
    ast_free(scatter->blocks);
    scatter->blocks = NULL;
    scatter->count = 0;
}
