/* SPDX-License-Identifier: MIT
 *
 * From depth images to normals. Everything works on inverse depth, s = 1/z: a plane is linear in it over the image, the
 * noise of structured light and stereo does not depend on distance, and a hole is 0.
 *
 * Images are cut into bands of rows, one task each. Each band recomputes the rows that it needs from the bands above
 * and below. It works row by row, in ring buffers that stay in the cache. Every number is a sum in fixed order over the
 * pixels it depends on, so the result depends neither on bands nor on threads. */
#pragma once

#include "asterism_depth.h"
#include "fault.h"
#include "image_kernels.h"
#include "noise.h"
#include "pool.h"

#define AST_DEPTH_MOST_RADIUS 64 /* of both windows, in pixels */

/* Working memory of tv.c, kept between calls. Initially all zero; release with ast_free(memory). */
typedef struct ast_tv {
    float *memory;
    size_t capacity; /* floats */
} ast_tv;

/* The patches of an image: cells of 8 x 8 pixels that lie on one plane. One cell of a patch leads it. Arrays have one
 * entry per cell, row by row. */
typedef struct ast_patches {
    size_t across, down; /* cells of the image */
    size_t capacity;
    union ast_pixel_moments *moments; /* of the leaders, and of the cells in no patch */
    struct ast_plane_fit *fits;       /* of the leaders */
    int32_t *leader; /* parent in the union-find forest: the cell itself if it is the root, -1 if it is in no patch */
    float *normals;  /* (cells, 3) of the leaders */
    uint8_t *uncertain; /* per leader: 1 if its normal is unreliable; only late pixels get such a normal */
    ast_noise noise;    /* of the image */
} ast_patches;

/* Working memory of plane_normals.c, for images of up to `capacity` cells. Arrays have one entry per cell. */
typedef struct ast_patch_work {
    size_t capacity;
    ast_noise_counts *counts;
    struct ast_noise_sample *samples; /* noise samples of the single cells, before any join */
    struct ast_patch_pair *pairs;     /* (2 cells) neighbouring patches */
    uint64_t *pair_slots;             /* (AST_PAIR_SLOTS) hash table of the pairs of this round */
    double *allowed_increase;         /* per leader: largest increase of the residual if its patch joins a larger one */
    double *choice_cost;              /* of the leaders: the cost of joining their choice in this round */
    int32_t *leaders;                 /* the cells that lead, in order */
    int32_t *choice;                  /* -1 for none */
    uint32_t *changed_round;          /* the round in which the patch last grew */
    uint8_t *has_unassigned;          /* 1: some pixels of the cell have depth, but no normal of a plane */
} ast_patch_work;

/* Temporary mark in `late`: this pixel stays without a normal when the open pixels of its cell are filled. */
#define AST_LATE_NO_NORMAL 2

/* Columns first .. last - 1 of a row of pixels. */
typedef struct ast_column_span {
    uint32_t first, last;
} ast_column_span;

/* The parts of the image that the filter and the normals are computed for: the whole image, or the neighbourhood of the
 * pixels on no plane (nonplanar_normals.c). Runs begin at multiples of AST_CELL, and end there or with the row. */
typedef struct ast_column_spans {
    bool partial; /* not everything */
    ast_column_span whole_row;
    ast_column_span *spans[2]; /* (down, row_capacity) of what is computed, and of the s that is read for it */
    uint32_t *count[2];        /* (down) spans of the pixels in a row of cells */
    size_t *work;              /* (down) pixels of what is computed in a row of cells */
    size_t down, row_capacity;
    float *normals;          /* (threads, W, 3) */
    size_t width, cell_rows; /* columns, and rows of cells, that there is memory for */
} ast_column_spans;

/* Where the rays of a lens meet the image and the pinhole image, which begins at pixel (left, top) of the camera. A
 * converter and the frames that it filled share them. */
typedef struct ast_lens_maps {
    size_t users;
    size_t width, height; /* of the images */
    size_t pinhole_width, pinhole_height;
    double left, top;
    float *to_pinhole; /* (height, width, 2) where the ray of a pixel meets the pinhole image, in the camera's pixels */
    float *to_distorted; /* (pinhole_height, pinhole_width, 2) position of each pinhole pixel in the
                            distorted image; NaN if it has none */
} ast_lens_maps;

/* Working memory of distortion.c: the pinhole image. Initially all zero. */
typedef struct ast_lens {
    ast_lens_maps *maps;
    uint16_t *values; /* (pinhole_height, pinhole_width) */
    float *metres;    /* (pinhole_height, pinhole_width) */
    float *normals;   /* (pinhole_height, pinhole_width, 3) */
} ast_lens;

/* An image after its conversion: what its planes are found from, and its report. With distortion W and H are those of
 * the pinhole image. Initially all zero. */
struct ast_depth_frame {
    ast_context *context;
    bool has_normals; /* false: there is no image, and nothing below is valid */
    bool has_planes;  /* patches, leader and metres are valid */
    size_t width, height;
    ast_camera camera;
    double epsilon;          /* filter_epsilon of the options */
    ast_depth_report report; /* `late` is one of the two arrays below, or NULL */
    ast_patches patches;
    int32_t *leader;       /* (H, W) of patches.leader: the patch of each pixel, -1 for none */
    float *metres;         /* (H, W) depth, not smoothed; 0 for a hole and out of range */
    uint8_t *late;         /* (H, W) as in ast_depth_report */
    uint8_t *lens_late;    /* the same for the pixels of the image, with distortion */
    size_t pixel_capacity; /* of leader and metres */
    size_t late_capacity, lens_late_capacity;
    ast_lens_maps *maps; /* NULL without distortion */
};

struct ast_depth {
    ast_context *context;
    ast_fault *fault;
    ast_pool *pool;
    const ast_image_kernels *kernels;
    ast_depth_options options;
    ast_camera camera; /* that of the options; with distortion, that of the pinhole image */

    size_t width, height;              /* size of the images that the memory below is for */
    float *inverse;                    /* (H, W) filtered s, AST_LANES floats longer */
    float *scratch;                    /* (threads, scratch_size): rows of a band, zero where no kernel writes */
    size_t scratch_size, scratch_rows; /* rows of floats, used by both stages, come before the rows of doubles */
    size_t pad, row; /* in floats: padding on either side of a scratch row, and the row including both */
    ast_tv tv;
    ast_patch_work patch_work;
    float *plane_normals; /* (H, W, 3) of planes, where the caller's are others */
    size_t plane_normals_capacity;
    ast_column_spans spans;
    ast_lens lens;
    ast_depth_frame own;    /* filled where the caller gives no frame */
    uint16_t largest_value; /* of the current image: the largest value that is no hole */
};

/* Allocates memory for images of this size, unless it is allocated already. */
ast_status ast_depth_prepare(ast_depth *depth, size_t width, size_t height);
void ast_depth_release(ast_depth *depth);

/* Whether depth is not smoothed: AST_SMOOTH_NONE and planes. */
static inline bool ast_depth_is_raw(const ast_depth_options *options) {
    return options->smooth != AST_SMOOTH_GUIDED && options->smooth != AST_SMOOTH_TV;
}
static inline bool ast_depth_has_planes(const ast_depth_options *options) {
    return options->smooth == AST_SMOOTH_PLANES || options->smooth == AST_SMOOTH_PLANES_ONLY;
}

static inline const uint16_t *ast_depth_image_row(const ast_depth_image *image, size_t v) {
    return (const uint16_t *)((const char *)image->values + (ptrdiff_t)v * image->row_stride);
}

/* Cells along a side of an image. */
static inline size_t ast_cells_along(size_t side) {
    return (side + AST_CELL - 1) / AST_CELL;
}

/* The values of the current image that are neither holes nor out of range. */
ast_depth_range ast_depth_range_of(const ast_depth *depth);

/* image -> depth->inverse: as it is, or smoothed by the guided filter. */
void ast_depth_invert(ast_depth *depth, const ast_depth_image *image);
void ast_depth_filter(ast_depth *depth, const ast_depth_image *image);

/* depth->inverse -> the results. With spans.partial only pixels that have depth and no normal yet get one, and become
 * late in `late` (H, W), which is NULL otherwise. */
void ast_depth_find_normals(ast_depth *depth, uint8_t *late, float *normals);
void ast_depth_fill(ast_depth *depth, const ast_depth_image *image, float *metres, float *points); /* may be NULL */

/* Number of float rows that a band of each stage needs. */
size_t ast_depth_filter_scratch_rows(const ast_depth *depth);
size_t ast_depth_normals_scratch_rows(const ast_depth *depth);

/* Hands out the scratch rows of a worker, one after the other. */
typedef struct ast_scratch_rows {
    const ast_depth *depth;
    float *next;
} ast_scratch_rows;

/* ast_scratch_rows_take hands out `count` rows: it returns column 0 of the first, and the others follow at distances of
 * depth->row. */
ast_scratch_rows ast_scratch_rows_of(const ast_depth *depth, int worker);
float *ast_scratch_rows_take(ast_scratch_rows *rows, size_t count);
double *ast_double_row(const ast_depth *depth, int worker, size_t index); /* 0..AST_DOUBLE_ROWS-1 */
#define AST_DOUBLE_ROWS 2

/* Zeroes the columns from n up to the next multiple of AST_LANES, which kernels may have written. */
void ast_row_clear_tail(float *row, size_t n);

/* Row y of an image in a ring of n rows; y may be negative. */
static inline size_t ast_ring_index(ptrdiff_t y, size_t n) {
    ptrdiff_t m = (ptrdiff_t)n;
    return (size_t)((y % m + m) % m);
}

static inline bool ast_depth_has_row(const ast_depth *depth, ptrdiff_t y) {
    return y >= 0 && (size_t)y < depth->height;
}

/* Selects the spans to compute, or the spans of s that are their input. */
typedef enum ast_span_kind { AST_SPANS_COMPUTED = 0, AST_SPANS_READ = 1 } ast_span_kind;

/* The spans of row y. Without spans.partial the whole row is one span. With it, rows outside the image have none. */
typedef struct ast_span_list {
    const ast_column_span *first, *end;
} ast_span_list;
static inline ast_span_list ast_spans_of_row(const ast_depth *depth, ast_span_kind kind, ptrdiff_t y) {
    const ast_column_spans *s = &depth->spans;
    size_t row = (size_t)y / AST_CELL;
    if (!s->partial)
        return (ast_span_list){&s->whole_row, &s->whole_row + 1};
    if (!ast_depth_has_row(depth, y))
        return (ast_span_list){NULL, NULL};
    const ast_column_span *first = s->spans[kind] + row * s->row_capacity;
    return (ast_span_list){first, first + s->count[kind][row]};
}

/* Bands are as high as the number of threads allows, because every band recomputes rows of its neighbours. All bands
 * have the same number of rows or, with spans.partial, the same number of pixels in spans. */
size_t ast_depth_bands(const ast_depth *depth);
size_t ast_band_first(const ast_depth *depth, size_t band); /* its first row; the height for the band after the last */

/* ---- Distortion ------------------------------------------------------------------------------------------------ */

bool ast_depth_is_distorted(const ast_depth_options *options);

/* Finds the rays of images of this size and the camera of the pinhole image, unless they are known already. */
ast_status ast_lens_prepare(ast_depth *depth, size_t width, size_t height);
void ast_lens_release(ast_lens *lens);
void ast_lens_maps_release(ast_lens_maps *maps); /* by one user; NULL is allowed */

/* Resamples the image to that of a pinhole camera. Valid until the next image. */
ast_depth_image ast_lens_undistort(ast_depth *depth, const ast_depth_image *image);

/* Maps the results of the pinhole image (lens.metres, lens.normals, frame->late) to the pixels of the distorted image,
 * the last into frame->lens_late. metres, points and normals may be NULL. */
void ast_lens_redistort(ast_depth *depth, const ast_depth_image *image, ast_depth_frame *frame, float *metres,
                        float *points, float *normals);

/* ---- Frames (depth_frame.c) ------------------------------------------------------------------------------------- */

/* Allocates what normals of an image of this size, as the options of the converter say, write into the frame, unless it
 * is allocated already. With distortion depth->lens is prepared. False if there is not enough memory. */
bool ast_depth_frame_prepare(ast_depth_frame *frame, const ast_depth *depth, size_t width, size_t height);
void ast_depth_frame_release(ast_depth_frame *frame);

/* Keeps the depth of the image, of which plane_normals.c has just found the patches. */
void ast_depth_frame_keep_metres(ast_depth_frame *frame, const ast_depth *depth, const ast_depth_image *image);

/* Once all normals are found: the report and what else is known of the image. */
void ast_depth_frame_finish(ast_depth_frame *frame, const ast_depth *depth);

/* ---- Planes ---------------------------------------------------------------------------------------------------- */

/* Allocates memory for images of this size, unless it is allocated already. False if there is not enough. */
bool ast_patches_prepare(ast_patches *patches, size_t width, size_t height);
void ast_patches_release(ast_patches *patches);
bool ast_patch_work_prepare(ast_patch_work *work, size_t width, size_t height);
void ast_patch_work_release(ast_patch_work *work);

/* The counts of the report. */
void ast_planes_count(const ast_depth_frame *frame, ast_depth_report *report);

/* depth->inverse, which is that of the image, not smoothed -> frame->patches, and normals of the planes, NaN elsewhere.
 * With frame->has_planes also frame->leader; with AST_SMOOTH_PLANES also frame->late, and normals of uncertain planes.
 * The memory must be prepared. */
void ast_planes_find_normals(ast_depth *depth, const ast_depth_image *image, ast_depth_frame *frame, float *normals);

/* ---- Pixels on no plane ---------------------------------------------------------------------------------------- */

/* Allocates memory for images of this size, unless it is allocated already. False if there is not enough. */
bool ast_nonplanar_prepare(ast_depth *depth);
void ast_nonplanar_release(ast_column_spans *spans);

/* Pixels with depth but no plane get the normal of AST_SMOOTH_GUIDED and are marked in `late`. Smooths depth->inverse
 * around them. */
void ast_nonplanar_find_normals(ast_depth *depth, const ast_depth_image *image, uint8_t *late, float *normals);

/* ---- Total variation ------------------------------------------------------------------------------------------- */

/* Allocates memory for images of this size, unless it is allocated already. False if there is not enough. */
bool ast_tv_prepare(ast_tv *tv, size_t width, size_t height);

/* Smooths (H, W, 3) unit vectors in place. The memory must be prepared. If the pool is cancelled nothing changes. */
void ast_tv_smooth(const ast_tv *tv, ast_pool *pool, const ast_image_kernels *kernels, float *normals, size_t width,
                   size_t height, double weight, int iterations);
