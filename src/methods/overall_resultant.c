/* SPDX-License-Identifier: MIT
 *
 * The resultant of all points, for a test of uniformity: the length of their mean or, for axial points, the squared
 * norm of their second moments. Directed points need no pass over the rows: the sums of the clusters suffice. */
#include "methods.h"

#include <math.h>
#include <stdatomic.h>

#define WIDEST 16 /* dimensions of axial points: more would need too many second moments */
#define PRODUCTS (WIDEST * (WIDEST + 1) / 2)
#define COLUMNS 8 /* added up together */

typedef struct second_moments {
    const ast_rowset *rows;
    const int32_t *labels;
    double unit; /* products are in units of 1 / unit: exact in any order, and the same on any ranks */
    _Atomic uint64_t sums[PRODUCTS];
} second_moments;

static double total_weight(const ast_cluster_list *c) {
    double weight = 0;
    for (size_t k = 0; k < c->live; k++)
        weight += ast_clusters_weight(c, c->order[k]);
    return weight;
}

/* |sum of all points| / their weight */
static double resultant_length(const ast_cluster_list *c) {
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
    return fmin(1, sqrt(squared) / c->unit / total_weight(c));
}

static void add_chunk(void *data, ast_chunk *memory, size_t first, size_t last) {
    second_moments *m = data;
    const ast_rowset *rows = m->rows;
    int64_t sums[PRODUCTS] = {0};
    size_t count = 0;
    ast_rows_fetch(rows, &memory->rows);
    for (size_t i = first; i < last; i++) {
        if (m->labels[i] < 0)
            continue;
        const float *x = ast_rows_at(rows, &memory->rows, i);
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
static ast_status squared_moments(ast_labelling *l, double *squares, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    size_t dimension = v.rows->dimension, count = 0;
    double weight = total_weight(v.clusters);
    second_moments m = {.rows = v.rows, .labels = v.labels, .unit = ldexp(1, 61 - (int)ceil(log2(weight + 1)))};
    uint64_t sums[PRODUCTS];
    ast_status status = AST_OK;
    for (size_t n = 0; n < v.windows && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            status = ast_labelling_each_chunk(l, add_chunk, &m, fault);
    }
    for (size_t p = 0; p < PRODUCTS; p++)
        sums[p] = atomic_load(&m.sums[p]);
    ast_comm_allreduce(v.comm, sums, PRODUCTS);
    *squares = 0;
    for (size_t a = 0; a < dimension; a++)
        for (size_t b = 0; b <= a; b++) {
            double entry = (double)(int64_t)sums[count++] / m.unit / weight;
            *squares += (a == b ? 1 : 2) * entry * entry;
        }
    return status;
}

ast_status ast_overall_resultant(ast_labelling *l, double *resultant, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    *resultant = NAN;
    if (v.clusters->live > 0 && !v.rows->axial)
        *resultant = resultant_length(v.clusters);
    bool few = v.clusters->live > 0 && v.rows->axial && v.rows->dimension <= WIDEST;
    return few ? squared_moments(l, resultant, fault) : AST_OK;
}
