/* SPDX-License-Identifier: MIT
 *
 * The guided filter of He, Sun and Tang (2010) on inverse depth, guided by itself. In the window around pixel k, over
 * the n pixels that are no holes, with mean m and variance var, the output is a linear function of the input:
 *
 *     a s + (1 - a) m,   a = var / (var + epsilon^2):
 *
 * the mean where depth varies less than epsilon, the input itself where there is an edge. A pixel averages the
 * functions of all windows that hold it. Ours is a weighted average, with the weight n (1 - a): near an edge the
 * windows that do not reach over it decide, so that noise is removed up to the edge and not only away from it.
 *
 * With f = 1 - a = epsilon^2 / (var + epsilon^2), three sums over the windows that hold a pixel are all it takes:
 *     weight = sum n f,   shrink = sum n f f,   level = sum f f (n m),
 *     s' = (s (weight - shrink) + level) / weight. */
#include "depth.h"

#include <math.h>
#include <string.h>

/* The working memory of a band. Rings hold 2 r + 1 rows, row y at y mod (2 r + 1). */
typedef struct band {
    const ast_depth *depth;
    const ast_depth_image *image;
    ast_depth_range range;
    size_t radius, rows; /* r, 2 r + 1 */
    float *s;            /* ring */
    ast_fits fits;       /* rings */
    ast_fits sums;       /* columns of fits */
    float *count;        /* columns of s */
    double *sum, *square;
    float *out; /* a row, where the kernels would write into the next row of the image */
} band;

typedef struct filtering {
    ast_depth *depth;
    const ast_depth_image *image;
    ast_depth_range range;
} filtering;

static ast_depth_range range_of(const ast_depth_options *o);
static void invert_block(void *data, size_t block, int worker);
static void filter_block(void *data, size_t block, int worker);

void ast_depth_filter(ast_depth *depth, const ast_depth_image *image) {
    filtering f = {depth, image, range_of(&depth->options)};
    ast_task *task = depth->options.smooth == AST_SMOOTH_NONE ? invert_block : filter_block;
    ast_pool_run(depth->pool, ast_depth_bands(depth), task, &f);
}

/* The values that are neither holes nor out of range. */
static ast_depth_range range_of(const ast_depth_options *o) {
    double lowest = ceil(o->nearest * o->units_per_metre), highest = floor(o->farthest * o->units_per_metre);
    if (lowest > UINT16_MAX || highest < 1)
        return (ast_depth_range){1, 0, 1};
    return (ast_depth_range){lowest < 1 ? 1 : (uint16_t)lowest, highest > UINT16_MAX ? UINT16_MAX : (uint16_t)highest,
                             (float)o->units_per_metre};
}

static const uint16_t *image_row(const ast_depth_image *image, size_t v) {
    return (const uint16_t *)((const char *)image->values + (ptrdiff_t)v * image->row_stride);
}

static void invert_block(void *data, size_t block, int worker) {
    const filtering *f = data;
    const ast_depth *depth = f->depth;
    (void)worker;
    for (size_t v = ast_band_first(depth, block); v < ast_band_first(depth, block + 1); v++)
        depth->kernels->invert(image_row(f->image, v), depth->width, f->range, depth->inverse + v * depth->width);
}

static size_t ring_rows(const ast_depth *depth) {
    return 2 * (size_t)depth->options.filter_radius + 1;
}

size_t ast_depth_filter_scratch(const ast_depth *depth) {
    return (4 * ring_rows(depth) + 3 + 1 + 4 + 1) * depth->row;
}

static band band_open(const filtering *f, int worker) {
    ast_rows rows = ast_rows_of(f->depth, worker);
    band b = {.depth = f->depth,
              .image = f->image,
              .range = f->range,
              .radius = (size_t)f->depth->options.filter_radius,
              .rows = ring_rows(f->depth)};
    b.s = ast_rows_take(&rows, b.rows);
    b.fits = (ast_fits){ast_rows_take(&rows, b.rows), ast_rows_take(&rows, b.rows), ast_rows_take(&rows, b.rows)};
    b.sums = (ast_fits){ast_rows_take(&rows, 1), ast_rows_take(&rows, 1), ast_rows_take(&rows, 1)};
    b.count = ast_rows_take(&rows, 1);
    b.sum = (double *)(void *)(ast_rows_take(&rows, 2) + f->depth->pad); /* doubles have doubly wide padding */
    b.square = (double *)(void *)(ast_rows_take(&rows, 2) + f->depth->pad);
    b.out = ast_rows_take(&rows, 1);
    return b;
}

static float *ring(const band *b, float *rows, ptrdiff_t y) {
    ptrdiff_t n = (ptrdiff_t)b->rows;
    return rows + (size_t)((y % n + n) % n) * b->depth->row;
}

static bool inside(const band *b, ptrdiff_t y) {
    return y >= 0 && (size_t)y < b->depth->height;
}

static void read_row(const band *b, ptrdiff_t y) {
    float *s = ring(b, b->s, y);
    if (inside(b, y))
        b->depth->kernels->invert(image_row(b->image, (size_t)y), b->depth->width, b->range, s);
    else
        memset(s, 0, b->depth->width * sizeof *s);
}

/* The fits of the windows around row y; s is there from y - r to y + r. */
static void fit_row(const band *b, ptrdiff_t y) {
    const ast_image_kernels *kernels = b->depth->kernels;
    size_t n = b->depth->width;
    ast_fits fits = {ring(b, b->fits.weight, y), ring(b, b->fits.shrink, y), ring(b, b->fits.level, y)};
    float *all[] = {fits.weight, fits.shrink, fits.level};
    const float *rows[2 * AST_DEPTH_MOST_RADIUS + 1];
    if (!inside(b, y)) {
        for (int i = 0; i < 3; i++)
            memset(all[i], 0, n * sizeof *all[i]);
        return;
    }
    for (size_t k = 0; k < b->rows; k++)
        rows[k] = ring(b, b->s, y - (ptrdiff_t)b->radius + (ptrdiff_t)k);
    double epsilon2 = b->depth->options.filter_epsilon * b->depth->options.filter_epsilon;
    kernels->moments(rows, b->rows, n, b->count, b->sum, b->square);
    kernels->fit(b->count, b->sum, b->square, b->radius, (float)epsilon2, n, fits);
    for (int i = 0; i < 3; i++)
        ast_row_end(all[i], n);
}

/* Row y of the result; the fits are there from y - r to y + r. */
static void write_row(const band *b, ptrdiff_t y) {
    const ast_image_kernels *kernels = b->depth->kernels;
    size_t n = b->depth->width;
    float *from[] = {b->fits.weight, b->fits.shrink, b->fits.level};
    float *to[] = {b->sums.weight, b->sums.shrink, b->sums.level};
    const float *rows[2 * AST_DEPTH_MOST_RADIUS + 1];
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < b->rows; k++)
            rows[k] = ring(b, from[i], y - (ptrdiff_t)b->radius + (ptrdiff_t)k);
        kernels->sum_rows(rows, b->rows, n, to[i]);
    }
    float *row = b->depth->inverse + (size_t)y * n, *out = n % AST_LANES == 0 ? row : b->out;
    kernels->guide(b->sums, b->radius, ring(b, b->s, y), n, out);
    if (out != row)
        memcpy(row, out, n * sizeof *row);
}

static void filter_block(void *data, size_t block, int worker) {
    const filtering *f = data;
    band b = band_open(f, worker);
    ptrdiff_t r = (ptrdiff_t)b.radius, first = (ptrdiff_t)ast_band_first(f->depth, block);
    ptrdiff_t last = (ptrdiff_t)ast_band_first(f->depth, block + 1);
    for (ptrdiff_t y = first - 2 * r; y < last + 2 * r; y++) {
        read_row(&b, y);
        if (y >= first)
            fit_row(&b, y - r);
        if (y >= first + 2 * r)
            write_row(&b, y - 2 * r);
    }
}
