/* SPDX-License-Identifier: MIT
 *
 * Centring: rows as unit vectors minus their mean, normalised again. Embeddings share a common direction that says
 * nothing about their content; without it cosines use their whole range. */
#pragma once

#include "context.h"

#define AST_CENTER_BLOCK ((size_t)1 << 20) /* bytes of rows that a thread reads at a time to find the mean */
#define AST_CENTER_NOTHING 0x1p-20         /* a row closer than this to the mean is missing */

/* Row i of the view, centred; NaN if it is missing or closer than AST_CENTER_NOTHING to the centre. Infinities stay, to
 * be reported. */
void ast_center_row(const ast_points *view, size_t i, const float *center, float *row);

/* A map that is ready for use: AST_MAP_TILE rows at a time (metric.h). */
#define AST_MAP_TILE 24
typedef struct ast_mapper {
    const ast_kernels *kernels;
    const ast_metric *metric;
    double *panels; /* of A: (D rounded up / AST_EXACT_PANEL, D, AST_EXACT_PANEL) */
} ast_mapper;

/* The rows of a call after centring, mapping or lifting (lifted.h), in memory or behind a source. Start with {0}; free
 * it in any case. */
typedef struct ast_transformed_rows {
    float *center; /* (D), or NULL: nothing is subtracted */
    float *rows;   /* (N, D) transformed rows in memory */
    ast_points points;
    ast_source source, base; /* of a source: it reads `base` and centres or maps what it has read */
    ast_mapper mapper;       /* of a source; without panels: it is centred */
} ast_transformed_rows;
void ast_transformed_rows_free(ast_transformed_rows *centred);

/* Finds the weighted mean (D) of the rows of all ranks: of rows in memory, or of `source`; then `points` has its shape
 * and weights. total: rows of all ranks. A collective call. */
ast_status ast_find_mean(ast_context *context, const ast_points *points, const ast_source *source, size_t total,
                         float *center);

/* Finds the weighted mean of the rows of all ranks (exact sums, rounded once to float), and subtracts it. `total`: rows
 * of all ranks. */
ast_status ast_center_points(ast_context *context, const ast_points *points, size_t total,
                             ast_transformed_rows *centred);
ast_status ast_center_source(ast_context *context, const ast_source *source, ast_transformed_rows *centred);

/* Sets `source` and `base` of *centred: the new source has rows of floats, which `read` makes of the rows of `base`. */
void ast_wrap_source(const ast_source *source, int (*read)(size_t first, size_t count, void *rows, void *data),
                     ast_transformed_rows *centred);

/* Subtract a given centre (D): `points` becomes a view of a copy in memory; `source` reads centred rows of floats. */
ast_status ast_subtract_points(ast_context *context, const ast_points *points, const float *center,
                               ast_transformed_rows *centred);
ast_status ast_subtract_source(ast_context *context, const ast_source *source, const float *center,
                               ast_transformed_rows *centred);
