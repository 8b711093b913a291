/* SPDX-License-Identifier: MIT */
#include "seed_heads.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_DIMENSION = 256, LEAST_STARTS = 256, SAMPLE = 1024 };

static bool pays(const ast_labelling *l, size_t starts) {
    const ast_rowset *rows = &l->rows;
    if (!l->scorer.heads.allowed || rows->small || rows->sparse || rows->reader)
        return false;
    return l->scorer.heads.forced ||
           (rows->dimension >= LEAST_DIMENSION && starts >= LEAST_STARTS && rows->count > 4 * SAMPLE);
}

/* Axes of a sample of the points. */
static bool find_axes(ast_seed_heads *h, ast_labelling *l) {
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
    bool ready = taken > 0 && ast_basis_find(&h->axes, l->rows.kernels, rows, taken, dimension, AST_SEED_AXES);
    ast_free_all(sample, rows);
    return ready;
}

typedef struct projection {
    ast_seed_heads *heads;
    ast_labelling *l;
} projection;

static void project_chunk(void *data, size_t chunk, int index) {
    const projection *p = data;
    ast_labelling *l = p->l;
    ast_seed_heads *h = p->heads;
    const float *some = NULL;
    ast_chunk *c = &l->workers[index].chunk;
    size_t base = chunk * l->rows.chunk, n = 0;
    ast_rows_begin(&l->rows, &c->rows, base);
    ast_rows_load(&l->rows, &c->rows, l->labels, base);
    for (size_t j = 0; j < l->rows.chunk; j++)
        if (l->labels[base + j] != AST_MISSING)
            some = c->rows.loaded[j];
    for (; some && n < l->rows.chunk; n++) /* nobody asks for missing rows */
        c->picked[n] = l->labels[base + n] == AST_MISSING ? some : c->rows.loaded[n];
    ast_heads_project(&h->axes, l->rows.kernels, c->picked, n, AST_SEED_AXES, h->rows + base * AST_SEED_AXES);
    for (size_t j = 0; j < n; j++)
        h->tails[base + j] = ast_tail_length(&h->axes, h->rows + (base + j) * AST_SEED_AXES, AST_SEED_AXES);
}

void ast_seed_heads_open(ast_seed_heads *h, ast_labelling *l, size_t starts) {
    if (!pays(l, starts) || !find_axes(h, l))
        return;
    h->rows = ast_allocate(l->rows.padded * AST_SEED_AXES, sizeof *h->rows);
    h->tails = ast_allocate(l->rows.padded, sizeof *h->tails);
    if (!h->rows || !h->tails) {
        ast_seed_heads_close(h);
        return;
    }
    projection p = {h, l};
    h->slack = ast_head_slack(&h->axes, AST_SEED_AXES);
    ast_pool_run(l->pool, l->rows.chunks, project_chunk, &p);
}

void ast_seed_heads_close(ast_seed_heads *h) {
    ast_basis_free(&h->axes);
    ast_free_all(h->rows, h->tails);
    *h = (ast_seed_heads){0};
}

void ast_seed_heads_start(ast_seed_heads *h, const ast_kernels *kernels, const float *start) {
    ast_heads_project(&h->axes, kernels, &start, 1, AST_SEED_AXES, h->start);
    h->start_tail = ast_tail_length(&h->axes, h->start, AST_SEED_AXES);
}

float ast_seed_heads_reach(const ast_seed_heads *h, const ast_labelling *l, size_t i) {
    float product = l->rows.kernels->dot(h->rows + i * AST_SEED_AXES, h->start, AST_SEED_AXES);
    return (l->rows.axial ? fabsf(product) : product) + h->tails[i] * h->start_tail + h->slack;
}
