/* SPDX-License-Identifier: MIT
 *
 * The inner loops over the rows of a depth image, in one table of functions for each instruction set. Kernels know rows
 * of numbers; they know no images, bands or threads. Every table gives the same bits: sums are taken in the order in
 * which they are written here, and nothing is fused.
 *
 * s is inverse depth, 1 / metres, and 0 for a hole. Rows are working memory, padded: kernels may read and write up to
 * the next multiple of AST_LANES beyond n, and read as far to either side of a row as their window reaches. `values`
 * and `rows` of three belong to the caller: nothing beyond n is touched. */
#ifndef AST_IMAGE_KERNELS_H
#define AST_IMAGE_KERNELS_H

#include "kernels.h"

/* Depth values that count, and how many of their units make a metre. */
typedef struct ast_depth_range {
    uint16_t lowest, highest; /* 1 <= lowest; none counts if highest < lowest */
    float units;
} ast_depth_range;

/* What the guided filter knows of the windows of a row, see guided.c. */
typedef struct ast_fits {
    float *weight, *shrink, *level;
} ast_fits;

/* Differences of a row, or sums of them over a window, see normals.c. */
typedef struct ast_slopes {
    float *x, *y, *weight;
} ast_slopes;

/* Where a row of normals stands in the image of a camera. */
typedef struct ast_view {
    float fx, fy, cx;
    float row;    /* v - cy */
    size_t first; /* column of the first pixel */
} ast_view;

/* A row of the planes of tv.c; the arrays go on to both sides by one pixel at least. */
typedef struct ast_tv_row {
    const float *given[3]; /* u0 */
    float *u[3], *t[3], *px[3], *py[3];
    const float *below[3], *above[3]; /* u of the next row, py of the row before */
    const float *right, *down;        /* 1 where the pixel and its neighbour are both there, or 0 */
} ast_tv_row;

typedef struct ast_image_kernels {
    const char *name;

    /* s = units / value. */
    void (*invert)(const uint16_t *values, size_t n, ast_depth_range range, float *s);

    /* Over `rows` rows of s, for each column: how many are no holes, their sum and the sum of their squares. */
    void (*moments)(const float *const *s, size_t rows, size_t n, float *count, double *sum, double *square);

    /* Fits of the windows of 2 radius + 1 columns around each of n columns of moments. */
    void (*fit)(const float *count, const double *sum, const double *square, size_t radius, float epsilon2, size_t n,
                ast_fits fits);

    /* The filtered s from columns of fits. */
    void (*guide)(ast_fits fits, size_t radius, const float *s, size_t n, float *out);

    /* out[i] = rows[0][i] + rows[1][i] + ..; and in[i - radius] + .. + in[i + radius]. */
    void (*sum_rows)(const float *const *rows, size_t count, size_t n, float *out);
    void (*sum_columns)(const float *in, size_t radius, size_t n, float *out);

    /* Slopes of the row `here`, with its neighbours above and below. */
    void (*differ)(const float *above, const float *here, const float *below, float jump, size_t n, ast_slopes out);

    /* Normals from sums of slopes in the rows `reach` above, here and `reach` below; `own` is the pixel's own weight.
     * xyz: n rows of three. */
    void (*aim)(const ast_slopes sums[3], const float *own, const float *s, size_t reach, float enough, ast_view view,
                size_t n, float *xyz);

    /* One step of the dual variable, and one of the vectors and their multiplier, of a row: see tv.c. */
    void (*tv_dual)(const ast_tv_row *row, float step, size_t n);
    void (*tv_primal)(const ast_tv_row *row, float rho, float theta, size_t n);
} ast_image_kernels;

/* The table of the same name as the engine's. */
const ast_image_kernels *ast_image_kernels_choose(const char *name);

extern const ast_image_kernels ast_image_kernels_base;
#if defined(__x86_64__)
extern const ast_image_kernels ast_image_kernels_avx2;
#endif

#endif
