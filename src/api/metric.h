/* SPDX-License-Identifier: MIT
 *
 * The metric: a linear map of rows that makes clusters round (docs/metric.md). Rows x become
 *     u = normalise(x - c1), v = A u, z = normalise(v - c2), A = (W + s trace(W) / D)^(-1/2),
 * where c1 is the mean of the normalised rows, c2 that of v, and W the scatter within clusters: first between nearest
 * neighbours, which mostly share a cluster; later within the clusters that were found. A is scaled to norm 1. */
#ifndef AST_METRIC_H
#define AST_METRIC_H

#include "context.h"

/* A map that was learned. Zeroed at first; to be freed in any case. */
typedef struct ast_fitted_metric {
    ast_metric map;       /* its arrays are the next three */
    float *center;        /* (D) */
    float *matrix;        /* (D, D) */
    float *mapped_center; /* (D) */
    float *mean;          /* (D) of u */
    double shrinkage;     /* s */
    double roundness;     /* of W: trace^2 / (D |W|^2), 1 if it is the same in all directions */
} ast_fitted_metric;
void ast_fitted_metric_free(ast_fitted_metric *fitted);

/* W from the nearest neighbours. `shrinkage`: s; NaN: chosen from the number of rows and the dimension. The result does
 * not depend on the order of the rows. Refuses sparse rows and ranks. */
ast_status ast_metric_fit_local(ast_context *context, const ast_points *points, double shrinkage,
                                ast_fitted_metric *fitted);

/* W within the clusters of `labels` (N), -1: none; replaces the map that ast_metric_fit_local found for these points.
 */
ast_status ast_metric_fit_within(ast_context *context, const ast_points *points, const int32_t *labels,
                                 double shrinkage, ast_fitted_metric *fitted);

/* ast_metric_apply within a call that is under way. */
ast_status ast_metric_map(ast_context *context, const ast_points *points, const ast_metric *metric, float *rows);

/* AST_OK unless a map of the caller cannot be used for rows of this dimension. */
ast_status ast_check_metric(const ast_metric *metric, size_t dimension, ast_fault *fault);

/* A map that is ready for use: AST_MAP_TILE rows at a time. */
#define AST_MAP_TILE 24
typedef struct ast_mapper {
    const ast_kernels *kernels;
    const ast_metric *metric;
    double *panels; /* of A: (D rounded up / AST_EXACT_PANEL, D, AST_EXACT_PANEL) */
} ast_mapper;
bool ast_mapper_open(ast_mapper *mapper, const ast_kernels *kernels, const ast_metric *metric); /* false: no memory */
void ast_mapper_close(ast_mapper *mapper);
size_t ast_mapper_scratch(const ast_mapper *mapper); /* doubles that ast_mapper_rows needs */

/* Maps rows first..first+n-1 of a view, to (n, D), n at most AST_MAP_TILE. Infinities stay, to be reported. */
void ast_mapper_rows(const ast_mapper *mapper, const ast_points *view, size_t first, size_t n, double *scratch,
                     float *to);

#endif
