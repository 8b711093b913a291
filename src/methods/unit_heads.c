/* SPDX-License-Identifier: MIT */
#include "unit_heads.h"

#include "memory.h"

#include <math.h>

#define WIDTH 32            /* coordinates of a head */
#define SAMPLE 2048         /* vectors that the axes are found from */
#define LEAST_DIMENSION 128 /* heads are at most a quarter of a vector */
#define LEAST_COUNT 1024    /* finding the axes costs as much as some hundred vectors against all */
#define ROWS AST_PRODUCT_ROWS

static bool find_axes(ast_unit_heads *h, const float *units, size_t count, size_t dimension) {
    const float *rows[SAMPLE];
    for (size_t i = 0; i < SAMPLE; i++)
        rows[i] = units + (count < SAMPLE ? i % count : i * count / SAMPLE) * dimension;
    return ast_basis_find(&h->axes, h->kernels, rows, SAMPLE, dimension, WIDTH);
}

void ast_unit_heads_open(ast_unit_heads *h, const ast_kernels *kernels, const float *units, size_t count,
                         size_t dimension) {
    size_t padded = (count + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    *h = (ast_unit_heads){.kernels = kernels};
    if (dimension < LEAST_DIMENSION || count < LEAST_COUNT)
        return;
    if (!find_axes(h, units, count, dimension) ||
        !ast_replace_arrays(AST_REQUEST(h->rows, padded * WIDTH), AST_REQUEST(h->panels, padded * WIDTH),
                            AST_REQUEST(h->tails, padded))) {
        ast_unit_heads_close(h);
        return;
    }
    h->slack = ast_head_slack(&h->axes, WIDTH);
    for (size_t p = 0; p < padded; p++) /* the last repeats */
        ast_unit_heads_set(h, p, units + (p < count ? p : count - 1) * dimension);
}

void ast_unit_heads_close(ast_unit_heads *h) {
    ast_basis_free(&h->axes);
    ast_free_all(h->rows, h->panels, h->tails);
    *h = (ast_unit_heads){0};
}

void ast_unit_heads_set(ast_unit_heads *h, size_t p, const float *unit) {
    float *head = h->rows + p * WIDTH, *column = h->panels + p / AST_PANEL * AST_PANEL * WIDTH + p % AST_PANEL;
    ast_heads_project(&h->axes, h->kernels, &unit, 1, WIDTH, head);
    for (size_t d = 0; d < WIDTH; d++)
        column[d * AST_PANEL] = head[d];
    h->tails[p] = ast_tail_length(&h->axes, head, WIDTH);
}

void ast_unit_heads_bounds(const ast_unit_heads *h, size_t p, size_t n, size_t panel, bool axial, float *out) {
    const float *heads[ROWS], *tails = h->tails + panel * AST_PANEL;
    float products[ROWS * AST_PANEL];
    for (size_t r = 0; r < ROWS; r++) /* the last rows repeat */
        heads[r] = h->rows + (p + (r < n ? r : n - 1)) * WIDTH;
    h->kernels->panel_products(heads, n, h->panels + panel * AST_PANEL * WIDTH, WIDTH, products);
    for (size_t r = 0; r < n; r++)
        for (size_t j = 0; j < AST_PANEL; j++) {
            float product = products[r * AST_PANEL + j];
            out[r * AST_PANEL + j] = (axial ? fabsf(product) : product) + h->tails[p + r] * tails[j] + h->slack;
        }
}
