/* SPDX-License-Identifier: MIT
 *
 * What is kept of an image for its planes: the patch of each pixel, which planes.c writes, and the depth as it was
 * measured. */
#include "frame_planes.h"

#include "memory.h"

#define ROWS 16 /* that a task reads */

bool ast_frame_cut_prepare(ast_cut *cut, size_t width, size_t height, bool normals) {
    size_t pixels = width * height;
    bool held = pixels <= cut->capacity && (cut->normals || !normals);
    if (held)
        return true;
    ast_frame_cut_release(cut);
    cut->leader = ast_allocate(pixels, sizeof *cut->leader);
    cut->metres = ast_allocate(pixels, sizeof *cut->metres);
    cut->normals = normals ? ast_allocate(3 * pixels, sizeof *cut->normals) : NULL;
    if (!cut->leader || !cut->metres || (normals && !cut->normals)) {
        ast_frame_cut_release(cut);
        return false;
    }
    cut->capacity = pixels;
    return true;
}

void ast_frame_cut_release(ast_cut *cut) {
    ast_free_all(cut->leader, cut->metres, cut->normals);
    *cut = (ast_cut){0};
}

typedef struct reading {
    ast_depth *depth;
    const ast_depth_image *image;
    ast_depth_range range;
} reading;

static void read_row(void *data, size_t v, int worker) {
    const reading *r = data;
    const uint16_t *values = (const uint16_t *)((const char *)r->image->values + (ptrdiff_t)v * r->image->row_stride);
    float scale = (float)(1 / r->depth->options.units_per_metre), *metres = r->depth->cut.metres + v * r->depth->width;
    (void)worker;
    for (size_t i = 0; i < r->depth->width; i++) {
        bool valid = values[i] >= r->range.lowest && values[i] <= r->range.highest;
        metres[i] = valid ? (float)values[i] * scale : 0;
    }
}

void ast_frame_cut(ast_depth *depth, const ast_depth_image *image) {
    reading r = {depth, image, ast_depth_range_of(depth)};
    ast_pool_run_rows(depth->pool, depth->height, ROWS, read_row, &r);
    depth->cut.width = depth->width;
    depth->cut.height = depth->height;
}
