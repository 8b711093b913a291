/* SPDX-License-Identifier: MIT
 *
 * The inner loops over the rows of a depth image, in one table of functions per instruction set. Kernels know rows of
 * numbers, not images, bands or threads. Every table gives the same bits: sums are added in the order written here, and
 * nothing is fused.
 *
 * s is inverse depth, 1 / metres, and 0 for a hole. Rows are padded working memory: kernels may read and write up to
 * the next multiple of AST_LANES after n, and read as far to either side of a row as their window reaches. `values` and
 * `xyz` belong to the caller: nothing after n is accessed. */
#pragma once

#include "kernels.h"

#include <stdbool.h>

/* The valid depth values, and how many of their units make a metre. */
typedef struct ast_depth_range {
    uint16_t lowest, highest; /* 1 <= lowest; no value is valid if highest < lowest */
    float units;
} ast_depth_range;

/* Column sums over a window of rows, over the pixels that are not holes: count: number of pixels; tilt: sum of s times
 * row (from the middle); sum: sum of s; square: sum of s^2. */
typedef struct ast_column_moments {
    float *count, *row_moment;
    double *sum, *square;
} ast_column_moments;

/* The fits of the windows around a row of pixels, see guided.c. */
typedef union ast_fits {
    struct {
        float *weight, *fit_weight, *level, *x, *y;
    };
    float *rows[5];
} ast_fits;

/* Weight of an incomplete window (with holes, or cut by the border) relative to a complete one. */
#define AST_INCOMPLETE_WINDOW_WEIGHT 0x1p-10f
#define AST_TINY_WEIGHT 0x1p-100f /* below every relevant sum of fit_weight; avoids a division by zero */

/* Differences of a row, or sums of them over a window, see normals.c. */
typedef union ast_slopes {
    struct {
        float *x, *y, *weight;
    };
    float *rows[3];
} ast_slopes;

/* The camera, and the position of a row in its image. */
typedef struct ast_row_camera {
    float fx, fy, cx;
    float row; /* v - cy */
} ast_row_camera;

/* The input for the normals of a row: s and sums of slopes `radius` rows above, at the row, and `radius` rows below. */
typedef struct ast_normals_input {
    const float *s[3];
    ast_slopes sums[3];
    const float *has_slopes;
    size_t radius;
    float enough_weight, jump; /* the weight at which a window is good enough; see `slopes` */
} ast_normals_input;

#define AST_CELL 8        /* of plane_normals.c, pixels along each side */
#define AST_VOTE_MARGIN 2 /* width in pixels of the border around a cell whose pixels vote too */
#define AST_BLOCK_HIGH 12 /* a cell with its border; rows are padded to 16 */
#define AST_BLOCK_WIDE 16

/* Sums down the columns of a cell: of s, of s times the row, and of its square. */
typedef struct ast_cell_columns {
    double sum[AST_CELL], row_moment[AST_CELL], square[AST_CELL];
} ast_cell_columns;

/* A plane that pixels of a cell may lie on: s at the first pixel of the cell, the slopes, and the inlier threshold. */
typedef struct ast_plane_candidate {
    float level, slope_x, slope_y, limit;
    const float *normal;
} ast_plane_candidate;

/* A row of the planes of tv.c; the arrays extend at least one pixel to both sides. */
typedef struct ast_tv_row {
    const float *input[3]; /* u0 */
    float *u[3], *extrapolated[3], *px[3], *py[3];
    const float *below[3], *above[3]; /* `extrapolated` of the next row, py of the previous row */
    const float *right, *down;        /* 1 if neither the pixel nor its neighbour is a hole, else 0 */
} ast_tv_row;

typedef struct ast_image_kernels {
    const char *name;

    /* s = units / value; 0 for invalid values. */
    void (*invert)(const uint16_t *values, size_t n, ast_depth_range range, float *s);

    /* Moments of 2 radius + 1 rows of s. */
    void (*moments)(const float *const *s, size_t radius, size_t n, ast_column_moments out);

    /* Fits of the windows of 2 radius + 1 columns of moments around each of n. */
    void (*fit)(ast_column_moments of, size_t radius, float epsilon2, size_t n, ast_fits fits);

    /* Over 2 radius + 1 rows: the sum, and the sum of each row times its number counted from the middle. */
    void (*row_moments)(const float *const *rows, size_t radius, size_t n, float *sum, float *row_moment);

    /* The filtered s from column sums of fits and of fit_weight times row. */
    void (*guide)(ast_fits fits, const float *row_moment, size_t radius, const float *s, size_t n, float *out);

    /* out[i] = rows[0][i] + rows[1][i] + ..; and in[i - radius] + .. + in[i + radius]. */
    void (*sum_rows)(const float *const *rows, size_t count, size_t n, float *out);
    void (*sum_columns)(const float *in, size_t radius, size_t n, float *out);

    /* prefix = before + row, out = suffix + prefix. */
    void (*sliding_sum)(const float *before, const float *row, const float *suffix, size_t n, float *prefix,
                        float *out);

    /* rows[k][i] = rows[k][i] + rows[k + 1][i] + .., from the last to the first. */
    void (*suffix_sums)(float *const *rows, size_t count, size_t n);

    /* Slopes of the row `here`, with its neighbours above and below; `has_slopes` becomes 1 if the pixel has
     * differences along both axes, else 0. `jump`: see normals.c. */
    void (*slopes)(const float *above, const float *here, const float *below, float jump, size_t n, ast_slopes out,
                   float *has_slopes);

    /* Normals of columns first .. last - 1; first is a multiple of AST_LANES. xyz: (last, 3). */
    void (*normals)(const ast_normals_input *from, ast_row_camera view, size_t first, size_t last, float *xyz);

    /* The sums of a cell, whose rows are `stride` apart and begin at row y; false if the cell has holes. */
    bool (*cell_columns)(const float *s, size_t stride, double y, ast_cell_columns *out);

    /* Assigns pixels of a cell to plane `number` where it beats the `winner` so far. Conditions: the pixel is nearer
     * than plane->limit, and the sum of the distances of the 5 x 5 pixels around it, each capped at `most`, is below
     * `least`, which is then lowered. block: (AST_BLOCK_HIGH, AST_BLOCK_WIDE) s; least, winner: (AST_CELL, AST_CELL).
     */
    void (*plane_vote)(const float *block, const ast_plane_candidate *plane, float most, int32_t number, float *least,
                       int32_t *winner);

    /* Normals of the pixels of a cell on one plane: plane->normal, or NaN for holes and outliers (not nearer than
     * plane->limit). Returns the number of outliers. s and normals (.., 3): rows are `stride` pixels apart. */
    size_t (*plane_fill_count_outliers)(const float *s, size_t stride, size_t rows, const ast_plane_candidate *plane,
                                        float *normals);

    /* Raises *most to the largest value below 65535; returns whether there is a 65535. */
    bool (*largest_value)(const uint16_t *values, size_t n, uint16_t *most);

    /* The dual step (total variation) and the primal step (data term and sphere) for one row: see tv.c. */
    void (*tv_dual)(const ast_tv_row *row, float sigma, float weight, size_t n);
    void (*tv_primal)(const ast_tv_row *row, float tau, size_t n);
} ast_image_kernels;

/* The table with the name of the engine's table. */
const ast_image_kernels *ast_image_kernels_choose(const char *name);

extern const ast_image_kernels ast_image_kernels_base, ast_image_kernels_avx2, ast_image_kernels_neon;
