/* SPDX-License-Identifier: MIT
 *
 * The metric: a linear map of rows that makes clusters round (docs/metric.md). Rows x become
 *     u = normalise(x - c1), v = A u, z = normalise(v - c2), A = (W + s trace(W) / D)^(-1/2),
 * where c1 is the mean of the normalised rows, c2 that of v, and W the scatter within clusters: first between nearest
 * neighbours, which mostly share a cluster; later within the clusters that were found. A is scaled to norm 1. */
#pragma once

#include "metric_sample.h"

/* Start with {0}; free it in any case. */
void ast_fitted_metric_free(ast_fitted_metric *fitted);

/* Arrays for a map of this dimension, whose contents are not set. */
ast_status ast_fitted_metric_open(ast_fitted_metric *fitted, size_t dimension, ast_fault *fault);

/* The centre of the rows, the sample, and W from its nearest neighbours. `shrinkage`: s; NaN: chosen from the number of
 * rows and the dimension. The result depends neither on the order of the rows nor on ranks. A collective call. */
ast_status ast_metric_learn(const ast_map_input *input, double shrinkage, ast_row_sample *sample,
                            ast_fitted_metric *fitted);

/* W within the clusters of `labels` (sample), -1: none; replaces the map. A collective call. */
ast_status ast_metric_learn_within(ast_context *context, const ast_row_sample *sample, const int32_t *labels,
                                   double shrinkage, ast_fitted_metric *fitted);

/* The same for rows in memory, on one rank; labels (N). Each draws its own sample, and refuses sparse rows. */
ast_status ast_metric_fit_local(ast_context *context, const ast_points *points, double shrinkage,
                                ast_fitted_metric *fitted);
ast_status ast_metric_fit_within(ast_context *context, const ast_points *points, const int32_t *labels,
                                 double shrinkage, ast_fitted_metric *fitted);

/* ast_cluster and ast_cluster_source with mapped rows, after the options and the struct of the report were checked. The
 * former is a collective call. */
ast_status ast_cluster_mapped(const ast_map_input *input, const ast_options *options, int32_t *labels,
                              ast_report *report);
ast_status ast_cluster_mapped_source(ast_context *context, const ast_source *source, const ast_options *options,
                                     const ast_plan *plan, const ast_label_store *store, ast_report *report);

/* Memory in bytes that mapped rows of a source take during a run, besides the run; *learning: while the map is learned.
 */
double ast_mapped_bytes(const ast_source *source, const ast_options *options, int threads, double *learning);

/* ast_metric_apply within a call that is under way. */
ast_status ast_metric_map(ast_context *context, const ast_points *points, const ast_metric *metric, float *rows);

/* Like ast_subtract_points and ast_subtract_source, but the rows are mapped. */
ast_status ast_map_points(ast_context *context, const ast_points *points, const ast_metric *metric,
                          ast_transformed_rows *centred);
ast_status ast_map_source(ast_context *context, const ast_source *source, const ast_metric *metric,
                          ast_transformed_rows *centred);

/* AST_OK unless a map of the caller cannot be used for rows of this dimension. */
ast_status ast_check_metric(const ast_metric *metric, size_t dimension, ast_fault *fault);

bool ast_mapper_open(ast_mapper *mapper, const ast_kernels *kernels, const ast_metric *metric); /* false: no memory */
void ast_mapper_close(ast_mapper *mapper);
size_t ast_mapper_scratch(const ast_mapper *mapper); /* doubles that ast_mapper_rows needs */

/* Maps rows first..first+n-1 of a view, to (n, D), n at most AST_MAP_TILE. Infinities stay, to be reported. */
void ast_mapper_rows(const ast_mapper *mapper, const ast_points *view, size_t first, size_t n, double *scratch,
                     float *to);
