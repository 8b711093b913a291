/* SPDX-License-Identifier: MIT */
#include "reference/sparse.h"

#include "reference/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(ast_type type) {
    return type == AST_F8 ? 8 : type == AST_F4 ? 4 : 2;
}

static char *place(const ast_points *view, size_t i, size_t d) {
    return (char *)view->data + (ptrdiff_t)i * view->row_stride + (ptrdiff_t)d * view->column_stride;
}

void ref_thin_out(const ast_points *view, double keep, ast_random *random) {
    for (size_t i = 0; i < view->count; i++)
        for (size_t d = 0; d < view->dimension; d++)
            if (ast_random_uniform(random) >= keep)
                memset(place(view, i, d), 0, size_of(view->type));
}

static int is_plain_zero(const char *number, size_t size) {
    static const char zero[8];
    return memcmp(number, zero, size) == 0;
}

static void set_index(const ref_sparse *sparse, void *array, size_t at, size_t value) {
    if (sparse->view.index == AST_I8)
        ((int64_t *)array)[at] = (int64_t)value;
    else
        ((int32_t *)array)[at] = (int32_t)value;
}

void ref_compress(ref_sparse *sparse, const ast_points *view, ast_random *random) {
    size_t size = size_of(view->type), most = view->count * view->dimension + 8;
    size_t entry = ast_random_below(random, 3) ? 0 : 1 + ast_random_below(random, 5);
    int explicit_zeros = ast_random_below(random, 4) == 0;
    sparse->values = ref_take(most, size);
    sparse->columns = ref_take(most, sizeof(int64_t));
    sparse->starts = ref_take(view->count + 1, sizeof(int64_t));
    ast_index index = ast_random_below(random, 2) ? AST_I8 : AST_I4;
    sparse->view = ast_points_csr(sparse->values, view->type, sparse->starts, sparse->columns, index, view->count,
                                  view->dimension);
    sparse->view.weights = view->weights;
    set_index(sparse, sparse->starts, 0, entry);
    for (size_t i = 0; i < view->count; i++) {
        for (size_t d = 0; d < view->dimension; d++) {
            const char *number = place(view, i, d);
            if (is_plain_zero(number, size) && !(explicit_zeros && ast_random_below(random, 8) == 0))
                continue;
            memcpy((char *)sparse->values + entry * size, number, size);
            set_index(sparse, sparse->columns, entry++, d);
        }
        set_index(sparse, sparse->starts, i + 1, entry);
    }
}

void ref_sparse_free(ref_sparse *sparse) {
    free(sparse->values);
    free(sparse->starts);
    free(sparse->columns);
    memset(sparse, 0, sizeof *sparse);
}
