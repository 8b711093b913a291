/* SPDX-License-Identifier: MIT
 *
 * Checks the caller's sparse rows, and stores their entries as those of unit vectors in float. */
#pragma once

#include "asterism.h"
#include "fault.h"
#include "kernels.h"
#include "pool.h"

/* What one of the caller's rows is. */
typedef enum ast_row_kind { AST_ROW_UNIT, AST_ROW_SCALED, AST_ROW_MISSING, AST_ROW_INFINITE } ast_row_kind;

/* A row becomes a unit vector by (float)((x / largest) / length). */
typedef struct ast_row_scale {
    double largest, length;
} ast_row_scale;

typedef struct ast_sparse_rows {
    size_t *starts;         /* (N + 1) */
    const int32_t *columns; /* (entries) the caller's, or `copied` */
    int32_t *copied;
    float *values;  /* (entries) normalised */
    size_t longest; /* the largest number of entries of a row */
    size_t rows_capacity, copied_capacity, values_capacity;
} ast_sparse_rows;

/* Checks the structure of the view: starts do not decrease, columns are in range and increase within a row.
 * ast_sparse_rows_read reads the values, one row at a time. Reuses the memory of an earlier call. After a failure the
 * rows can be freed. */
ast_status ast_sparse_rows_open(ast_sparse_rows *rows, const ast_points *view, ast_pool *pool, ast_fault *fault);
void ast_sparse_rows_free(ast_sparse_rows *rows);

/* Normalises row r of the view into its entries; zeros if it has no direction. */
ast_row_kind ast_sparse_rows_read(ast_sparse_rows *rows, const ast_points *view, size_t r);
ast_sparse_row ast_sparse_rows_at(const ast_sparse_rows *rows, size_t r);

/* The kind of row r of a sparse view, and its scale. */
ast_row_kind ast_sparse_row_scale(const ast_points *view, size_t r, ast_row_scale *scale);

/* ast_read_row for sparse rows and for tight rows that are longer than AST_MAX_DIMENSION. */
ast_row_kind ast_read_sparse_or_long_row(const ast_points *view, size_t r, float *row);

/* rowset.c: the size in bytes and the value of one of the caller's numbers; the kind of a row that is no unit vector
 * and has no NaN, by its largest magnitude. */
size_t ast_type_size(ast_type type);
double ast_number_at(const void *at, ast_type type);
ast_row_kind ast_kind_of(double largest);

/* A start or a column of sparse rows. */
static inline int64_t ast_index_at(const void *array, ast_index type, size_t i) {
    return type == AST_I8 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}
