/* SPDX-License-Identifier: MIT
 *
 * The points as the passes see them: unit vectors in float, in the order of visit. Dimensions 2..4 are copied into
 * columns; larger rows are read where the caller has them, and normalised on every reading unless they are unit
 * vectors already, so that the memory needed does not grow with the dimension. Sparse rows are normalised once, entry
 * by entry (sparse_rows.h); in dimensions 2..4 they become columns like any other. */
#ifndef AST_CLOUD_H
#define AST_CLOUD_H

#include "asterism.h"
#include "fault.h"
#include "kernels.h"
#include "pool.h"
#include "sparse_rows.h"

#define AST_MAX_DIMENSION 4096 /* of dense rows */

#define AST_MISSING (-1)    /* label of a row without a direction, or that takes no part */
#define AST_UNLABELLED (-2) /* label of a point before the first pass */

/* Arrays over points that are read side by side start this many floats past a multiple of each other's size, so that
 * the same point of each does not fall into the same set of the cache. */
#define AST_STAGGER 192

typedef struct ast_cloud {
    const ast_kernels *kernels;
    size_t count, padded, dimension; /* padded: a multiple of the block */
    size_t pitch;                    /* small: from one column to the next */
    ast_points view;
    size_t offset;         /* rows before the first one, for messages: those of other ranks */
    const uint32_t *order; /* (count) the row that is visited i-th; NULL: as given */
    bool small;            /* held as columns */
    bool tight;            /* rows are adjacent floats in the caller's memory */
    bool scaled;           /* some row is no unit vector there */
    bool in_place;         /* large: rows can be used where they are */
    bool sparse;           /* large: rows are entries in `rows`; none of the three above */
    ast_sparse_rows rows;
    float *columns;  /* small: (D, pitch) */
    size_t capacity; /* floats that there is memory for */
    const float *column[AST_SMALL];
} ast_cloud;

/* Loads the points and checks every row; the cloud is zeroed memory, or one used before whose memory is taken over.
 * labels (padded): AST_UNLABELLED, or AST_MISSING for missing rows and for the padding. `*missing` counts the missing
 * rows. */
ast_status ast_cloud_load(ast_cloud *cloud, const ast_kernels *kernels, ast_pool *pool, const ast_points *points,
                          const uint32_t *order, size_t padded, int32_t *labels, size_t *missing, ast_fault *fault);
void ast_cloud_free(ast_cloud *cloud);

/* A block of small points that is loaded again and again, with memory for `padded` of them (false: there is none): view
 * after view becomes its columns. labels (padded) as above. Returns the first row with an infinity, or view->count. */
bool ast_cloud_open_part(ast_cloud *part, const ast_kernels *kernels, size_t dimension, size_t padded);
size_t ast_cloud_load_part(ast_cloud *part, const ast_points *view, int32_t *labels);

/* Bytes of a number. */
size_t ast_type_size(ast_type type);

/* The i-th point as a row: in place, or in the buffer (D floats). The point must not be missing. */
const float *ast_cloud_row(const ast_cloud *cloud, size_t i, float *buffer);

/* Sparse: the entries of the i-th point. */
ast_sparse_row ast_cloud_entries(const ast_cloud *cloud, size_t i);

/* The score of the i-th point with a mean (D) by definition, and with all means of a table; and its product in eight
 * partial sums (the kernels' steady_dot). buffer: (D), for dense rows that are not in place. */
double ast_cloud_exact_score(const ast_cloud *cloud, size_t i, const float *mean, float *buffer);
void ast_cloud_exact_scores(const ast_cloud *cloud, size_t i, const ast_table *table, float *buffer, double *scores);
double ast_cloud_steady_dot(const ast_cloud *cloud, size_t i, const float *mean, float *buffer);

/* What the row of the i-th point is, whatever its label says. */
ast_row_kind ast_cloud_kind(const ast_cloud *cloud, size_t i, float *buffer);

/* Normalises row r of the view, dense or sparse, into `row` (D floats). */
ast_row_kind ast_read_row(const ast_points *view, size_t r, float *row);

#endif
