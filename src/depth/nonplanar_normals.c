/* SPDX-License-Identifier: MIT
 *
 * Pixels without the normal of a plane: they get the same normal as with AST_SMOOTH_GUIDED, bit for bit. The filter and
 * the normals are computed only around the cells that have such pixels, as far as their windows reach. */
#include "depth.h"

#include "memory.h"

bool ast_nonplanar_prepare(ast_depth *depth) {
    ast_column_spans *r = &depth->spans;
    r->down = ast_cells_along(depth->height);
    r->row_capacity = (ast_cells_along(depth->width) + 1) / 2;
    if (depth->width <= r->width && r->down <= r->cell_rows)
        return true;
    r->width = r->cell_rows = 0;
    if (!ast_replace_arrays(AST_REQUEST(r->spans[0], r->down * r->row_capacity),
                            AST_REQUEST(r->spans[1], r->down * r->row_capacity), AST_REQUEST(r->count[0], r->down),
                            AST_REQUEST(r->count[1], r->down), AST_REQUEST(r->work, r->down),
                            AST_REQUEST(r->normals, 3 * (size_t)ast_pool_threads(depth->pool) * depth->width)))
        return false;
    r->width = depth->width;
    r->cell_rows = r->down;
    return true;
}

void ast_nonplanar_release(ast_column_spans *spans) {
    ast_free_all(spans->spans[0], spans->spans[1], spans->count[0], spans->count[1], spans->work, spans->normals);
}

/* Whether a cell has a pixel without a plane, or one of the cells up to `reach` rows above or below it. */
static bool has_unassigned_near(const ast_depth *depth, size_t column, size_t row, size_t reach) {
    size_t across = ast_cells_along(depth->width), down = ast_cells_along(depth->height);
    size_t last = row + reach < down ? row + reach : down - 1;
    for (size_t r = row > reach ? row - reach : 0; r <= last; r++)
        if (depth->patch_work.has_unassigned[r * across + column])
            return true;
    return false;
}

/* The spans of a row of cells: every column that has such pixels, with `reach` cells on both sides. Returns their
 * number. */
static uint32_t list_spans(const ast_depth *depth, size_t row, size_t reach, ast_column_span *spans) {
    uint32_t count = 0;
    for (size_t column = 0; column < ast_cells_along(depth->width); column++) {
        if (!has_unassigned_near(depth, column, row, reach))
            continue;
        size_t first = (column > reach ? column - reach : 0) * AST_CELL, last = (column + reach + 1) * AST_CELL;
        last = last < depth->width ? last : depth->width;
        if (count > 0 && first <= spans[count - 1].last)
            spans[count - 1].last = (uint32_t)last;
        else
            spans[count++] = (ast_column_span){(uint32_t)first, (uint32_t)last};
    }
    return count;
}

/* A normal needs smoothed s up to 2 w + 1 pixels away; smoothed s needs fits up to r pixels farther; fits need s up to
 * another r pixels farther. Suffix sums of a block of rows use the spans of the row in the middle of the block, up to 3
 * w away.
 * */
void ast_nonplanar_find_normals(ast_depth *depth, const ast_depth_image *image, uint8_t *late, float *normals) {
    ast_column_spans *r = &depth->spans;
    size_t radius = (size_t)depth->options.filter_radius, window = (size_t)depth->options.window;
    size_t fits = 2 * window + 1 + radius, read = fits + radius > 3 * window ? fits + radius : 3 * window;
    size_t reach[2] = {ast_cells_along(fits), ast_cells_along(read)};
    for (size_t row = 0; row < r->down; row++) {
        const ast_column_span *spans = r->spans[AST_SPANS_COMPUTED] + row * r->row_capacity;
        for (int k = 0; k < 2; k++)
            r->count[k][row] = list_spans(depth, row, reach[k], r->spans[k] + row * r->row_capacity);
        r->work[row] = 0;
        for (size_t k = 0; k < r->count[AST_SPANS_COMPUTED][row]; k++)
            r->work[row] += spans[k].last - spans[k].first;
    }
    r->partial = true;
    ast_depth_filter(depth, image);
    ast_depth_find_normals(depth, late, normals);
    r->partial = false;
}
