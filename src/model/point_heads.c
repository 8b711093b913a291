/* SPDX-License-Identifier: MIT */
#include "point_heads.h"

#include "inside.h"

#include "memory.h"

typedef struct projection {
    ast_point_heads *heads;
    const ast_labelling *l;
} projection;

bool ast_point_heads_pay(const ast_labelling *l, bool enough) {
    bool possible = l->scorer.heads.allowed && !l->rows.small && !l->rows.sparse && !l->rows.reader;
    return possible && (enough || l->scorer.heads.forced);
}

static void project_chunk(void *data, ast_chunk *c, size_t base, size_t last) {
    const projection *p = data;
    const ast_labelling *l = p->l;
    ast_point_heads *h = p->heads;
    const float *some = NULL;
    size_t n = 0;
    (void)last;
    ast_rows_load_chunk(&l->rows, &c->rows, l->labels, base);
    for (size_t j = 0; j < l->rows.chunk; j++)
        if (l->labels[base + j] != AST_MISSING)
            some = c->rows.loaded[j];
    for (; some && n < l->rows.chunk; n++) /* the heads of missing rows are not used */
        c->picked[n] = l->labels[base + n] == AST_MISSING ? some : c->rows.loaded[n];
    ast_heads_project(&h->axes, l->rows.kernels, c->picked, n, h->width, h->rows + base * h->width);
    for (size_t j = 0; j < n; j++)
        h->tails[base + j] = ast_tail_length(&h->axes, h->rows + (base + j) * h->width, h->width);
}

void ast_point_heads_open(ast_point_heads *h, ast_labelling *l, const float *const *rows, size_t n, size_t width) {
    if (!ast_basis_find(&h->axes, l->rows.kernels, rows, n, l->rows.dimension, width))
        return;
    h->width = width;
    h->slack = ast_head_slack(&h->axes, width);
    projection p = {h, l};
    ast_fault ignored; /* of a cancelled call: the caller finds out by itself */
    if (!ast_replace_arrays(AST_REQUEST(h->rows, l->rows.padded * width), AST_REQUEST(h->tails, l->rows.padded)) ||
        ast_labelling_each_chunk(l, project_chunk, &p, &ignored) != AST_OK)
        ast_point_heads_close(h);
}

void ast_point_heads_close(ast_point_heads *h) {
    ast_basis_free(&h->axes);
    ast_free_all(h->rows, h->tails);
    *h = (ast_point_heads){0};
}

float ast_point_heads_of(const ast_point_heads *h, const ast_kernels *kernels, const float *row, float *to) {
    ast_heads_project(&h->axes, kernels, &row, 1, h->width, to);
    return ast_tail_length(&h->axes, to, h->width);
}
