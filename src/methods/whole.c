/* SPDX-License-Identifier: MIT
 *
 * One number of all points together, for a test of uniformity: how far their sum or, for axial points, their second
 * moments are from those of uniform points. Directed points need no pass: the sums of the clusters add up to it. */
#include "methods.h"

#include <math.h>
#include <stdatomic.h>

#define WIDEST 16 /* dimensions of axial points: beyond them second moments are too many numbers to be cheap */
#define PRODUCTS (WIDEST * (WIDEST + 1) / 2)
#define COLUMNS 8 /* added up together */

typedef struct moments {
    ast_labelling *l;
    double unit; /* products are in units of 1 / unit: exact in any order, and the same on any ranks */
    _Atomic uint64_t sums[PRODUCTS];
} moments;

static double whole_weight(const ast_cluster_list *c) {
    double weight = 0;
    for (size_t k = 0; k < c->live; k++)
        weight += ast_clusters_weight(c, c->order[k]);
    return weight;
}

/* |sum of all points| / their weight */
static double whole_resultant(const ast_cluster_list *c) {
    double squared = 0;
    for (size_t first = 0; first < c->dimension; first += COLUMNS) {
        double sums[COLUMNS] = {0};
        size_t columns = c->dimension - first < COLUMNS ? c->dimension - first : COLUMNS;
        for (size_t k = 0; k < c->live; k++)
            for (size_t d = 0; d < columns; d++)
                sums[d] += (double)c->sums[(size_t)c->order[k] * c->dimension + first + d];
        for (size_t d = 0; d < columns; d++)
            squared += sums[d] * sums[d];
    }
    return fmin(1, sqrt(squared) / c->unit / whole_weight(c));
}

static void add_chunk(void *data, size_t chunk, int worker) {
    moments *m = data;
    ast_labelling *l = m->l;
    const ast_rowset *rows = &l->rows;
    ast_row_buffer *buffer = &l->workers[worker].chunk.rows;
    int64_t sums[PRODUCTS] = {0};
    size_t first = chunk * rows->chunk, count = 0;
    ast_rows_begin(rows, buffer, first);
    ast_rows_fetch(rows, buffer);
    for (size_t i = first; i < first + rows->chunk && i < rows->count; i++) {
        if (l->labels[i] < 0)
            continue;
        const float *x = ast_rows_at(rows, buffer, i);
        double scale = m->unit * (rows->weights ? rows->weights[i] : 1);
        count = 0;
        for (size_t a = 0; a < rows->dimension; a++)
            for (size_t b = 0; b <= a; b++)
                sums[count++] += llrint(scale * (double)x[a] * (double)x[b]);
    }
    for (size_t p = 0; p < count; p++)
        atomic_fetch_add(&m->sums[p], (uint64_t)sums[p]);
}

/* The sum of the squared entries of the mean of x x'. */
static ast_status whole_moments(ast_labelling *l, double *squares, ast_fault *fault) {
    size_t dimension = l->rows.dimension, count = 0;
    double weight = whole_weight(&l->clusters);
    moments m = {.l = l, .unit = ldexp(1, 61 - (int)ceil(log2(weight + 1)))};
    uint64_t sums[PRODUCTS];
    ast_status status = AST_OK;
    for (size_t n = 0; n < l->windows.count && status == AST_OK; n++) {
        status = ast_windows_open(l, n, fault);
        if (status == AST_OK)
            ast_pool_run(l->pool, l->rows.chunks, add_chunk, &m);
        status = status == AST_OK ? ast_labelling_trouble(l, fault) : status;
    }
    for (size_t p = 0; p < PRODUCTS; p++)
        sums[p] = atomic_load(&m.sums[p]);
    ast_comm_sum(l->ranks.comm, sums, PRODUCTS);
    *squares = 0;
    for (size_t a = 0; a < dimension; a++)
        for (size_t b = 0; b <= a; b++) {
            double entry = (double)(int64_t)sums[count++] / m.unit / weight;
            *squares += (a == b ? 1 : 2) * entry * entry;
        }
    return status;
}

ast_status ast_labelling_whole(ast_labelling *l, double *whole, ast_fault *fault) {
    *whole = NAN;
    if (l->clusters.live > 0 && !l->rows.axial)
        *whole = whole_resultant(&l->clusters);
    bool few = l->clusters.live > 0 && l->rows.axial && l->rows.dimension <= WIDEST;
    return few ? whole_moments(l, whole, fault) : AST_OK;
}
