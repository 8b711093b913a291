/* SPDX-License-Identifier: MIT
 *
 * Principal axes by orthogonal iteration: V <- orthonormal basis of A'A V, columns in order, for rows A. A few rounds
 * are enough: the bounds hold for any orthonormal axes, and axes of similar rows are nearly right after one round. */
#include "heads.h"

#include "memory.h"

#include <math.h>
#include <string.h>

enum { COLD_ROUNDS = 4, WARM_ROUNDS = 2 };
#define INDEPENDENT 1e-6 /* a row becomes an axis if at least this part of it is orthogonal to the earlier axes */

/* One iteration's memory: A is (n, D), V (count, D) the rows of ast_basis, Y = A V'. */
typedef struct iteration {
    ast_basis *axes;
    const ast_kernels *kernels;
    const float *const *rows;
    size_t n;
    float *transposed;     /* (D, n) A' */
    const float **columns; /* (D) rows of A' */
    float *panels;         /* (count / AST_PANEL, n, AST_PANEL) Y */
} iteration;

void ast_basis_free(ast_basis *axes) {
    ast_free_all(axes->rows, axes->panels);
    *axes = (ast_basis){0};
}

static void fill_panels(ast_basis *axes) {
    size_t dimension = axes->dimension;
    for (size_t j = 0; j < axes->count; j++)
        for (size_t d = 0; d < dimension; d++)
            axes->panels[(j / AST_PANEL * dimension + d) * AST_PANEL + j % AST_PANEL] = axes->rows[j * dimension + d];
}

/* Where the product of row i with column j of panel p is stored: to[p panel + i row + j column]. */
typedef struct target {
    float *to;
    size_t panel, row, column; /* strides */
} target;

/* Products of n rows of length `width` with panels (count / AST_PANEL, width, AST_PANEL). */
static void multiply(const iteration *it, const float *const *rows, size_t n, const float *panels, size_t width,
                     target t) {
    float out[AST_PRODUCT_ROWS * AST_PANEL];
    for (size_t p = 0; p < it->axes->count / AST_PANEL; p++)
        for (size_t i = 0; i < n; i += AST_PRODUCT_ROWS) {
            const float *six[AST_PRODUCT_ROWS];
            size_t some = n - i < AST_PRODUCT_ROWS ? n - i : AST_PRODUCT_ROWS;
            for (size_t r = 0; r < AST_PRODUCT_ROWS; r++)
                six[r] = rows[i + (r < some ? r : some - 1)];
            it->kernels->panel_products(six, some, panels + p * width * AST_PANEL, width, out);
            for (size_t r = 0; r < some; r++)
                for (size_t j = 0; j < AST_PANEL; j++)
                    t.to[p * t.panel + (i + r) * t.row + j * t.column] = out[r * AST_PANEL + j];
        }
}

static void subtract(float *row, const float *axis, float part, size_t dimension) {
    for (size_t d = 0; d < dimension; d++)
        row[d] -= part * axis[d];
}

/* Makes row j orthogonal to the rows before it and of length 1; or zero if it depends on them. */
static void orthonormalise_row(const ast_basis *axes, const ast_kernels *kernels, size_t j) {
    size_t dimension = axes->dimension;
    float *row = axes->rows + j * dimension;
    double before = kernels->squared_length(row, dimension), after = 0;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < j; i++) {
            const float *axis = axes->rows + i * dimension;
            subtract(row, axis, kernels->dot(row, axis, dimension), dimension);
        }
        after = kernels->squared_length(row, dimension);
    }
    float scale = after > INDEPENDENT * INDEPENDENT * before && isfinite(after) ? (float)(1 / sqrt(after)) : 0;
    for (size_t d = 0; d < dimension; d++)
        row[d] *= scale;
}

static void orthonormalise(const ast_basis *axes, const ast_kernels *kernels) {
    for (size_t j = 0; j < axes->count; j++)
        orthonormalise_row(axes, kernels, j);
}

/* An upper bound of |V'V - 1| over the axes that are not zero. */
static double measure_skew(const ast_basis *axes, const ast_kernels *kernels) {
    size_t dimension = axes->dimension;
    double sum = 0;
    for (size_t j = 0; j < axes->count; j++)
        for (size_t i = 0; i <= j; i++) {
            double product =
                kernels->reproducible_dot(axes->rows + j * dimension, axes->rows + i * dimension, dimension);
            double error = i < j ? product : product > 0 ? product - 1 : 0;
            sum += (i < j ? 2 : 1) * error * error;
        }
    return sqrt(sum) * (1 + 0x1p-20) + 0x1p-40;
}

static void iterate(const iteration *it) {
    ast_basis *axes = it->axes;
    size_t dimension = axes->dimension;
    fill_panels(axes);
    multiply(it, it->rows, it->n, axes->panels, dimension, (target){it->panels, it->n * AST_PANEL, AST_PANEL, 1});
    multiply(it, it->columns, dimension, it->panels, it->n, (target){axes->rows, AST_PANEL * dimension, 1, dimension});
    orthonormalise(axes, it->kernels);
}

/* Allocates axes for another number or dimension. They start as rows. */
static bool begin(ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n, size_t dimension,
                  size_t count) {
    ast_basis_free(axes);
    *axes = (ast_basis){.dimension = dimension, .count = count};
    if (!ast_replace_arrays(AST_REQUEST(axes->rows, count * dimension), AST_REQUEST(axes->panels, count * dimension)))
        return false;
    for (size_t j = 0; j < count; j++)
        memcpy(axes->rows + j * dimension, rows[j * n / count], dimension * sizeof *axes->rows);
    orthonormalise(axes, kernels);
    return true;
}

static bool transpose_rows(iteration *it) {
    size_t dimension = it->axes->dimension;
    if (!ast_replace_arrays(AST_REQUEST(it->transposed, dimension * it->n), AST_REQUEST(it->columns, dimension),
                            AST_REQUEST(it->panels, it->axes->count * it->n)))
        return false;
    for (size_t d = 0; d < dimension; d++) {
        it->columns[d] = it->transposed + d * it->n;
        for (size_t i = 0; i < it->n; i++)
            it->transposed[d * it->n + i] = it->rows[i][d];
    }
    return true;
}

bool ast_basis_find(ast_basis *axes, const ast_kernels *kernels, const float *const *rows, size_t n, size_t dimension,
                    size_t count) {
    bool warm = axes->dimension == dimension && axes->count == count;
    iteration it = {.axes = axes, .kernels = kernels, .rows = rows, .n = n};
    bool ready = (warm || begin(axes, kernels, rows, n, dimension, count)) && transpose_rows(&it);
    for (int round = 0; ready && round < (warm ? WARM_ROUNDS : COLD_ROUNDS); round++)
        iterate(&it);
    ast_free_all(it.transposed, it.columns, it.panels);
    if (!ready) {
        ast_basis_free(axes);
        return false;
    }
    fill_panels(axes);
    axes->skew = measure_skew(axes, kernels);
    return true;
}
