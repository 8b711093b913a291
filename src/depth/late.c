/* SPDX-License-Identifier: MIT
 *
 * Pixels that lie on no plane: they take the guided normal, the one that AST_SMOOTH_GUIDED gives them, bit for bit. The
 * filter and the normals are computed only around the cells that have such pixels, as far as their windows reach. */
#include "depth.h"

#include "memory.h"

#include <string.h>

static size_t cells_along(size_t side) {
    return (side + AST_CELL - 1) / AST_CELL;
}

bool ast_late_prepare(ast_depth *depth) {
    ast_runs *r = &depth->runs;
    size_t pixels = depth->width * depth->height;
    r->across = cells_along(depth->width);
    r->down = cells_along(depth->height);
    r->most = (r->across + 1) / 2;
    if (pixels <= r->capacity && depth->width <= r->width && r->down <= r->rows)
        return true;
    ast_late_release(r);
    r->runs = ast_allocate(r->down * r->most, sizeof *r->runs);
    r->count = ast_allocate(r->down, sizeof *r->count);
    r->late = ast_allocate(pixels, sizeof *r->late);
    r->normals = ast_allocate((size_t)ast_pool_threads(depth->pool) * depth->width, 3 * sizeof *r->normals);
    if (!r->runs || !r->count || !r->late || !r->normals) {
        ast_late_release(r);
        return false;
    }
    r->capacity = pixels;
    r->width = depth->width;
    r->rows = r->down;
    return true;
}

void ast_late_release(ast_runs *r) {
    ast_free_all(r->runs, r->count, r->late, r->normals);
    r->runs = NULL;
    r->count = NULL;
    r->late = NULL;
    r->normals = NULL;
    r->capacity = r->width = r->rows = 0;
}

/* Whether a cell in this column has an open pixel, or the cells up to `reach` rows above or below it. */
static bool is_open(const ast_planes *p, size_t column, size_t row, size_t reach) {
    size_t last = row + reach < p->down ? row + reach : p->down - 1;
    for (size_t r = row > reach ? row - reach : 0; r <= last; r++)
        if (p->open[r * p->across + column])
            return true;
    return false;
}

/* The runs of a row of cells: every open column with `reach` cells on both sides. */
static void list_runs(const ast_depth *depth, size_t row, size_t reach) {
    const ast_planes *p = &depth->planes;
    ast_run *runs = depth->runs.runs + row * depth->runs.most;
    uint32_t count = 0;
    for (size_t column = 0; column < p->across; column++) {
        if (!is_open(p, column, row, reach))
            continue;
        size_t first = (column > reach ? column - reach : 0) * AST_CELL, last = (column + reach + 1) * AST_CELL;
        last = last < depth->width ? last : depth->width;
        if (count > 0 && first <= runs[count - 1].last)
            runs[count - 1].last = (uint32_t)last;
        else
            runs[count++] = (ast_run){(uint32_t)first, (uint32_t)last};
    }
    depth->runs.count[row] = count;
}

void ast_late_find_normals(ast_depth *depth, const ast_depth_image *image, float *normals) {
    const ast_depth_options *o = &depth->options;
    size_t pixels = 2 * (size_t)o->filter_radius + 2 * (size_t)o->window + 1, reach = cells_along(pixels);
    memset(depth->runs.late, 0, depth->width * depth->height);
    for (size_t row = 0; row < depth->runs.down; row++)
        list_runs(depth, row, reach);
    depth->runs.some = true;
    ast_depth_filter(depth, image);
    ast_depth_find_normals(depth, normals);
    depth->runs.some = false;
}
