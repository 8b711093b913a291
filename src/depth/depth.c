/* SPDX-License-Identifier: MIT
 *
 * Working memory, and the two results that follow directly from inverse depth: metres and points. guided.c has the
 * filter, normals.c the normals. */
#include "depth.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BANDS 2       /* bands per thread: a thread that falls behind delays only half of its share */
#define LEAST_BAND 16 /* rows */
#define FILL_ROWS 16  /* rows per task */

static size_t round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

void ast_depth_release(ast_depth *depth) {
    ast_free_all(depth->inverse, depth->scratch);
    depth->inverse = depth->scratch = NULL;
    depth->width = depth->height = 0;
}

ast_status ast_depth_prepare(ast_depth *depth, size_t width, size_t height) {
    if (depth->width == width && depth->height == height)
        return AST_OK;
    ast_depth_release(depth);
    const ast_depth_options *o = &depth->options;
    size_t radius = (size_t)(o->filter_radius > o->window ? o->filter_radius : o->window);
    depth->pad = round_up(radius + 1, AST_ALIGNMENT / sizeof(float));
    depth->row = round_up(width, AST_ALIGNMENT / sizeof(float)) + 2 * depth->pad;
    size_t filter = ast_depth_filter_scratch_rows(depth), aim = ast_depth_normals_scratch_rows(depth);
    depth->scratch_rows = filter > aim ? filter : aim;
    depth->scratch_size = (depth->scratch_rows + 2 * AST_DOUBLE_ROWS) * depth->row;
    depth->inverse = ast_allocate(width * height + AST_LANES, sizeof *depth->inverse);
    depth->scratch =
        ast_allocate_zero((size_t)ast_pool_threads(depth->pool) * depth->scratch_size, sizeof *depth->scratch);
    if (!depth->inverse || !depth->scratch) {
        ast_depth_release(depth);
        return ast_fail(depth->fault, AST_NO_MEMORY, "there is not enough memory for an image of %zu x %zu pixels",
                        width, height);
    }
    depth->width = width;
    depth->height = height;
    depth->spans.whole_row = (ast_column_span){0, (uint32_t)width};
    return AST_OK;
}

size_t ast_depth_bands(const ast_depth *depth) {
    size_t wanted = (size_t)ast_pool_threads(depth->pool) * BANDS, most = (depth->height + LEAST_BAND - 1) / LEAST_BAND;
    return wanted < most ? wanted : most;
}

size_t ast_band_first(const ast_depth *depth, size_t band) {
    assert(band <= ast_depth_bands(depth));
    size_t bands = ast_depth_bands(depth), seen = 0, row = 0, all = 0;
    const ast_column_spans *r = &depth->spans;
    if (!r->partial || band == bands)
        return depth->height * band / bands;
    for (size_t k = 0; k < r->down; k++)
        all += r->work[k];
    while (row < r->down && seen * bands < all * band)
        seen += r->work[row++];
    return row * AST_CELL < depth->height ? row * AST_CELL : depth->height;
}

ast_scratch_rows ast_scratch_rows_of(const ast_depth *depth, int worker) {
    assert(worker >= 0 && worker < ast_pool_threads(depth->pool));
    return (ast_scratch_rows){depth, depth->scratch + (size_t)worker * depth->scratch_size};
}

float *ast_scratch_rows_take(ast_scratch_rows *rows, size_t count) {
    float *taken = rows->next + rows->depth->pad;
    rows->next += count * rows->depth->row;
    return taken;
}

double *ast_double_row(const ast_depth *depth, int worker, size_t index) {
    assert(worker >= 0 && worker < ast_pool_threads(depth->pool));
    float *first = depth->scratch + (size_t)worker * depth->scratch_size + depth->scratch_rows * depth->row;
    return (double *)(void *)first + index * depth->row + depth->pad;
}

void ast_row_clear_tail(float *row, size_t n) {
    memset(row + n, 0, (round_up(n, AST_LANES) - n) * sizeof *row);
}

/* ---- Metres and points ----------------------------------------------------------------------------------------- */

typedef struct filling {
    const ast_depth *depth;
    const ast_depth_image *image;
    float *metres, *points;
} filling;

/* Without a filter, metres = value / units directly; going through 1 / s would round twice. */
static float metres_at(const filling *f, size_t u, size_t v) {
    float s = f->depth->inverse[v * f->depth->width + u];
    if (!(s > 0))
        return NAN;
    if (!ast_depth_is_raw(&f->depth->options))
        return 1 / s;
    return (float)ast_depth_image_row(f->image, v)[u] / (float)f->depth->options.units_per_metre;
}

static void fill_row(void *data, size_t v) {
    const filling *f = data;
    const ast_camera *camera = &f->depth->camera;
    size_t width = f->depth->width, first = v * width;
    for (size_t u = 0; f->metres && u < width; u++)
        f->metres[first + u] = metres_at(f, u, v);
    for (size_t u = 0; f->points && u < width; u++) {
        double z = metres_at(f, u, v);
        float *p = f->points + 3 * (first + u);
        p[0] = (float)(z * (((double)u - camera->cx) / camera->fx));
        p[1] = (float)(z * (((double)v - camera->cy) / camera->fy));
        p[2] = (float)z;
    }
}

void ast_depth_fill(ast_depth *depth, const ast_depth_image *image, float *metres, float *points) {
    filling f = {depth, image, metres, points};
    ast_pool_each(depth->pool, depth->height, FILL_ROWS, fill_row, &f);
}
