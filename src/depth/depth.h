/* SPDX-License-Identifier: MIT
 *
 * From depth images to normals. Everything works on inverse depth, s = 1/z: a plane is linear in it over the image, the
 * noise of structured light and stereo does not depend on distance, and a hole is 0.
 *
 * Images are cut into bands of rows, one task each. A band computes the rows that it needs of its neighbours again, row
 * by row in rings of rows that stay in the cache. Every number is a sum in fixed order over the pixels it depends on,
 * so the result depends neither on bands nor on threads. */
#ifndef AST_DEPTH_ROOM_H
#define AST_DEPTH_ROOM_H

#include "asterism_depth.h"
#include "fault.h"
#include "image_kernels.h"
#include "pool.h"

#define AST_DEPTH_MOST_RADIUS 64 /* of both windows, in pixels */

/* Working memory of tv.c, kept between calls. Initially all zero; release with free(memory). */
typedef struct ast_tv {
    float *memory;
    size_t capacity; /* floats */
} ast_tv;

/* Working memory of planes.c, for images of up to `capacity` cells; arrays have one entry per cell, row by row. */
typedef struct ast_planes {
    size_t across, down; /* cells of the current image */
    size_t capacity;
    union ast_patch *patches; /* of the leaders */
    struct ast_plane *planes;
    double *costs;     /* (cells, 2) cost of joining the cell to the right and the cell below */
    double *least;     /* of the leaders: the cost of joining their choice in this round */
    int32_t *leader;   /* a cell of the same patch, the cell itself if it leads; -1 if it is in no patch */
    int32_t *choice;   /* -1 for none */
    uint32_t *changed; /* the round in which the patch last grew */
    float *normals;    /* (cells, 3) of the leaders */
} ast_planes;

/* Working memory of distortion.c. Initially all zero. The pinhole image begins at pixel (left, top) of the camera. */
typedef struct ast_lens {
    ast_camera camera;    /* as given; the options of the ast_depth have that of the pinhole image */
    size_t width, height; /* of the images */
    size_t across, down;  /* of the pinhole image */
    double left, top;
    double fold;      /* rays (x, y, 1) with x^2 + y^2 beyond it are in no image */
    float *to;        /* (height, width, 2) where the ray of a pixel meets the pinhole image, in the camera's pixels */
    float *from;      /* (down, across, 2) where it is in the image; NaN nowhere */
    uint16_t *values; /* (down, across) */
    float *metres;    /* (down, across) */
    float *normals;   /* (down, across, 3) */
} ast_lens;

struct ast_depth {
    ast_context *context;
    ast_fault *fault;
    ast_pool *pool;
    const ast_image_kernels *kernels;
    ast_depth_options options;

    size_t width, height;              /* size of the images that the memory below is for */
    float *inverse;                    /* (H, W) filtered s, AST_LANES floats longer */
    float *scratch;                    /* (threads, scratch_size): rows of a band, zero where no kernel writes */
    size_t scratch_size, scratch_rows; /* rows of floats, used by both stages, come before the rows of doubles */
    size_t pad, row; /* in floats: padding on either side of a scratch row, and the row including both */
    ast_tv tv;
    ast_planes planes;
    ast_lens lens;
};

/* Allocates memory for images of this size, unless it is allocated already. */
ast_status ast_depth_prepare(ast_depth *depth, size_t width, size_t height);
void ast_depth_release(ast_depth *depth);

/* image -> depth->inverse, smoothed or not. */
void ast_depth_filter(ast_depth *depth, const ast_depth_image *image);

/* depth->inverse -> the results. */
void ast_depth_find_normals(ast_depth *depth, float *normals);
void ast_depth_fill_metres(ast_depth *depth, const ast_depth_image *image, float *metres);
void ast_depth_fill_points(ast_depth *depth, const ast_depth_image *image, float *points);

/* Number of float rows that a band of each stage needs. */
size_t ast_depth_filter_rows(const ast_depth *depth);
size_t ast_depth_normals_rows(const ast_depth *depth);

/* Hands out the scratch rows of a worker, one after the other. */
typedef struct ast_scratch {
    const ast_depth *depth;
    float *next;
} ast_scratch;

ast_scratch ast_scratch_of(const ast_depth *depth, int worker);
float *ast_scratch_take(ast_scratch *rows,
                        size_t count); /* column 0 of the first row; the others follow at distances of depth->row */
double *ast_double_row(const ast_depth *depth, int worker, size_t index); /* 0..AST_DOUBLE_ROWS-1 */
#define AST_DOUBLE_ROWS 2

/* Clears what the kernels wrote after the n columns of a row. */
void ast_row_end(float *row, size_t n);

/* Row y of an image in a ring of n rows; y may be negative. */
static inline size_t ast_ring_index(ptrdiff_t y, size_t n) {
    ptrdiff_t m = (ptrdiff_t)n;
    return (size_t)((y % m + m) % m);
}

static inline bool ast_depth_has_row(const ast_depth *depth, ptrdiff_t y) {
    return y >= 0 && (size_t)y < depth->height;
}

/* Bands are as high as the number of threads allows, because each computes the rows around it again. */
size_t ast_depth_bands(const ast_depth *depth);
static inline size_t ast_band_first(const ast_depth *depth, size_t band) {
    return depth->height * band / ast_depth_bands(depth);
}

/* ---- Distortion ------------------------------------------------------------------------------------------------ */

bool ast_depth_is_distorted(const ast_depth_options *options);

/* Finds the rays of images of this size and makes the camera of the options that of the pinhole image, unless that was
 * done already. */
ast_status ast_lens_prepare(ast_depth *depth, size_t width, size_t height);
void ast_lens_release(ast_lens *lens);
void ast_lens_forget(ast_depth *depth); /* the rays, which a cancelled call may not have found, and their camera */

/* What a pinhole camera would have seen, valid until the next image. */
ast_depth_image ast_lens_straighten(ast_depth *depth, const ast_depth_image *image);

/* lens.metres and lens.normals -> the results for the pixels of the image; each may be NULL. */
void ast_lens_look_up(ast_depth *depth, const ast_depth_image *image, float *metres, float *points, float *normals);

/* ---- Planes ---------------------------------------------------------------------------------------------------- */

/* Allocates memory for images of this size, unless it is allocated already. False if there is not enough. */
bool ast_planes_prepare(ast_planes *planes, size_t width, size_t height);
void ast_planes_release(ast_planes *planes);

/* depth->inverse -> normals of its planes. The memory must be prepared. */
void ast_planes_find_normals(ast_depth *depth, float *normals);

/* ---- Total variation ------------------------------------------------------------------------------------------- */

/* Allocates memory for images of this size, unless it is allocated already. False if there is not enough. */
bool ast_tv_prepare(ast_tv *tv, size_t width, size_t height);

/* Smooths (H, W, 3) unit vectors in place. The memory must be prepared. If the pool is cancelled nothing changes. */
void ast_tv_smooth(const ast_tv *tv, ast_pool *pool, const ast_image_kernels *kernels, float *normals, size_t width,
                   size_t height, double weight, int iterations);

#endif
