/* SPDX-License-Identifier: MIT
 *
 * Normals of the planes in an image. Averaged differences are only as accurate as their window is wide: at 4 m one step
 * of disparity of a structured-light sensor is 5 cm, and the normals of a wall at that distance vary by 30 degrees. A
 * wall is much wider than such a window. So cells of 8 x 8 pixels are joined while one plane fits them, and a pixel
 * gets the normal of the plane it lies on.
 *
 * Inverse depth s is linear over a plane. Ten sums over the pixels of a patch, which are added when patches join, are
 * sufficient for its least-squares plane. */
#pragma once

#include "depth.h"

#define AST_MIN_PATCH_SHARE (1.0 / 480) /* of the image: the smallest patch, ten cells of 640 x 480 pixels */
#define AST_PAIR_SLOTS 2048             /* of the table of pairs */

/* Origin of the pixel coordinates in the sums: the integer middle of the image. The sums stay small and exact. */
static inline double ast_middle(size_t side) {
    size_t half = side / 2;
    return (double)half;
}

/* Sums over the pixels of a patch that are not holes; x and y count from the middle of the image. */
typedef union ast_pixel_moments {
    struct {
        double n, x, y, xx, xy, yy, s, xs, ys, ss;
    };
    double sums[10];
} ast_pixel_moments;

/* s = level + slope_x x + slope_y y; `residual` is the residual sum of squares. */
typedef struct ast_plane_fit {
    double slope_x, slope_y, level, residual;
} ast_plane_fit;

/* Largest error, in radians, of an uncertain normal. Late pixels use it only to find the nearest cluster; with a larger
 * error the label would be random. */
#define AST_MAX_UNCERTAIN_ERROR 1.0

/* The least-squares plane of a patch that does not lie on a line. */
static inline ast_plane_fit ast_plane_fit_from(const ast_pixel_moments *p) {
    double inverse = 1 / p->n, mx = p->x * inverse, my = p->y * inverse, ms = p->s * inverse;
    double xx = p->xx - p->x * mx, xy = p->xy - p->x * my, yy = p->yy - p->y * my;
    double xs = p->xs - p->x * ms, ys = p->ys - p->y * ms, ss = p->ss - p->s * ms;
    double scale = 1 / (xx * yy - xy * xy);
    double slope_x = (xs * yy - ys * xy) * scale, slope_y = (ys * xx - xs * xy) * scale;
    double rest = ss - slope_x * xs - slope_y * ys;
    return (ast_plane_fit){slope_x, slope_y, ms - slope_x * mx - slope_y * my, rest > 0 ? rest : 0};
}

static inline double ast_plane_fit_slope2(const ast_plane_fit *plane) {
    return plane->slope_x * plane->slope_x + plane->slope_y * plane->slope_y;
}

/* Two patches that have neighbouring cells, and the cost of joining them. */
typedef struct ast_patch_pair {
    int32_t first, second; /* leaders, first < second */
    double cost;
} ast_patch_pair;

/* Largest slope of s, times focal length / s, of a cell used to estimate noise. Steeper cells (76 degrees) are more
 * likely edges. */
#define AST_STEEPEST 4.0

/* Largest residual, as a share of s, of a cell used to estimate noise. No sensor is noisier. */
#define AST_ROUGHEST 0.0625

static inline void ast_pixel_moments_add(ast_pixel_moments *p, const ast_pixel_moments *more) {
    for (int i = 0; i < 10; i++)
        p->sums[i] += more->sums[i];
}

/* Task `row`: the cells of image rows 8 row to 8 row + 7, computes their sums, plane fits and noise samples. The task
 * after the last row finds the steps of the values. */
typedef struct ast_cells_job {
    ast_depth *depth;
    const ast_depth_image *image;
    ast_patches *patches;
} ast_cells_job;
void ast_planes_sum_cells(void *data, size_t row); /* data: an ast_cells_job */

/* Finds the noise of the image. Afterwards leader[k] = k for the cells that may join others, and -1 for those that have
 * too few pixels or do not fit a plane within the noise. */
void ast_planes_judge_cells(ast_patches *patches, const ast_patch_work *work);

/* Joins patches; afterwards leader[k] is the cell that holds the sums of the patch of cell k. */
void ast_planes_grow(ast_patches *patches, const ast_patch_work *work, ast_pool *pool);

/* How far from a plane its pixels may be, in s. An uncertain plane gets the smaller limit of its noise, because a small
 * or distant plane may have a steep neighbour within the larger limit, such as the side of a box. */
float ast_plane_inlier_threshold(const ast_noise *noise, double s, const ast_plane_fit *plane, bool uncertain);

/* A plane as a candidate for the pixels of a cell, without its normal. */
ast_plane_candidate ast_plane_candidate_of(const ast_depth_frame *frame, const ast_plane_fit *fit, size_t column,
                                           size_t row, bool uncertain);

/* Copies the pixels of a cell and of the voters around it from an image (height, width); 0 outside the image. */
void ast_cell_gather(const float *image, size_t width, size_t height, size_t column, size_t row, float *block);

/* winner: for each pixel of the cell its plane in the list, -1 for none. Among the planes that the pixel is near enough
 * to, that is the one nearest to the 5 x 5 pixels around it, the first among equals: next to an edge between walls a
 * single pixel cannot decide. A plane after the first `patches` wins only if it is clearly nearer than those. */
void ast_cell_vote(const ast_image_kernels *kernels, const float *block, const ast_plane_candidate *list, size_t count,
                   size_t patches, int32_t *winner);
