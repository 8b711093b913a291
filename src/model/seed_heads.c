/* SPDX-License-Identifier: MIT */
#include "seed_heads.h"

#include "inside.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_DIMENSION = 256, LEAST_STARTS = 256, SAMPLE = 1024 };

static bool pays(const ast_labelling *l, size_t starts) {
    const ast_rowset *rows = &l->rows;
    return ast_point_heads_pay(l, rows->dimension >= LEAST_DIMENSION && starts >= LEAST_STARTS &&
                                      rows->count > 4 * SAMPLE);
}

/* The axes are those of a sample of the points. */
void ast_seed_heads_open(ast_seed_heads *h, ast_labelling *l, size_t starts) {
    if (!pays(l, starts))
        return;
    size_t dimension = l->rows.dimension, step = l->rows.count / SAMPLE + 1, taken = 0;
    float *sample = ast_allocate(SAMPLE * dimension, sizeof *sample);
    const float **rows = ast_allocate(SAMPLE, sizeof *rows);
    ast_row_buffer *buffer = &l->workers[0].chunk.rows;
    for (size_t i = 0; sample && rows && i < l->rows.count && taken < SAMPLE; i += step) {
        if (l->labels[i] == AST_MISSING)
            continue;
        rows[taken] = sample + taken * dimension;
        memcpy(sample + taken++ * dimension, ast_rows_at(&l->rows, buffer, i), dimension * sizeof *sample);
    }
    if (taken > 0)
        ast_point_heads_open(&h->points, l, rows, taken, AST_SEED_AXES);
    ast_free_all(sample, rows);
}

void ast_seed_heads_start(ast_seed_heads *h, const ast_kernels *kernels, const float *start) {
    h->start_tail = ast_point_heads_of(&h->points, kernels, start, h->start);
}

float ast_seed_heads_upper_bound(const ast_seed_heads *h, const ast_labelling *l, size_t i) {
    const ast_point_heads *p = &h->points;
    float product = l->rows.kernels->dot(p->rows + i * AST_SEED_AXES, h->start, AST_SEED_AXES);
    return (l->rows.axial ? fabsf(product) : product) + p->tails[i] * h->start_tail + p->slack;
}
