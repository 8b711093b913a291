/* SPDX-License-Identifier: MIT
 *
 * Pixels without the normal of a plane: they take the guided normal, that of AST_SMOOTH_GUIDED, bit for bit. The
 * filter and the normals are computed only around the cells that have such pixels, as far as their windows reach. */
#include "depth.h"

#include "memory.h"

static size_t cells_along(size_t side) {
    return (side + AST_CELL - 1) / AST_CELL;
}

bool ast_late_prepare(ast_depth *depth) {
    ast_runs *r = &depth->runs;
    size_t pixels = depth->width * depth->height;
    r->down = cells_along(depth->height);
    r->most = (cells_along(depth->width) + 1) / 2;
    if (pixels <= r->capacity && depth->width <= r->width && r->down <= r->rows)
        return true;
    ast_late_release(r);
    for (int k = 0; k < 2; k++) {
        r->runs[k] = ast_allocate(r->down * r->most, sizeof *r->runs[k]);
        r->count[k] = ast_allocate(r->down, sizeof *r->count[k]);
    }
    r->work = ast_allocate(r->down, sizeof *r->work);
    r->late = ast_allocate(pixels, sizeof *r->late);
    r->normals = ast_allocate((size_t)ast_pool_threads(depth->pool) * depth->width, 3 * sizeof *r->normals);
    if (!r->runs[0] || !r->runs[1] || !r->count[0] || !r->count[1] || !r->work || !r->late || !r->normals) {
        ast_late_release(r);
        return false;
    }
    r->capacity = pixels;
    r->width = depth->width;
    r->rows = r->down;
    return true;
}

void ast_late_release(ast_runs *r) {
    ast_free_all(r->runs[0], r->runs[1], r->count[0], r->count[1], r->work, r->late, r->normals);
    *r = (ast_runs){.down = r->down, .most = r->most};
}

/* Whether a cell in this column has an open pixel, or the cells up to `reach` rows above or below it. */
static bool is_open(const ast_planes *p, size_t column, size_t row, size_t reach) {
    size_t last = row + reach < p->down ? row + reach : p->down - 1;
    for (size_t r = row > reach ? row - reach : 0; r <= last; r++)
        if (p->open[r * p->across + column])
            return true;
    return false;
}

/* The runs of a row of cells: every open column with `reach` cells on both sides. Returns their number. */
static uint32_t list_runs(const ast_depth *depth, size_t row, size_t reach, ast_run *runs) {
    const ast_planes *p = &depth->planes;
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
    return count;
}

/* The normal of a pixel depends on smoothed s up to 2 w + 1 pixels away, that on fits r pixels farther, and those on s
 * another r pixels farther. Sums to the end of a block of rows are looked for in the row in its middle, up to 3 w away.
 */
void ast_late_find_normals(ast_depth *depth, const ast_depth_image *image, float *normals) {
    ast_runs *r = &depth->runs;
    size_t radius = (size_t)depth->options.filter_radius, window = (size_t)depth->options.window;
    size_t fits = 2 * window + 1 + radius, read = fits + radius > 3 * window ? fits + radius : 3 * window;
    size_t reach[2] = {cells_along(fits), cells_along(read)};
    for (size_t row = 0; row < r->down; row++) {
        const ast_run *runs = r->runs[AST_COMPUTED] + row * r->most;
        for (int k = 0; k < 2; k++)
            r->count[k][row] = list_runs(depth, row, reach[k], r->runs[k] + row * r->most);
        r->work[row] = 0;
        for (size_t k = 0; k < r->count[AST_COMPUTED][row]; k++)
            r->work[row] += runs[k].last - runs[k].first;
    }
    r->some = true;
    ast_depth_filter(depth, image);
    ast_depth_find_normals(depth, normals);
    r->some = false;
}
