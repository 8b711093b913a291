/* SPDX-License-Identifier: MIT
 *
 * The cells that planes grow from: sums over 8 x 8 pixels, and the plane of each. Sums run down the columns, eight side
 * by side, and then over the eight, in the same order on every processor. */
#include "planes.h"

#define CELL_LEAST 48 /* pixels: three of four, so that a cell with a hole through it does not count */

ast_plane ast_plane_of(const ast_patch *p) {
    double inverse = 1 / p->n, mx = p->x * inverse, my = p->y * inverse, ms = p->s * inverse;
    double xx = p->xx - p->x * mx, xy = p->xy - p->x * my, yy = p->yy - p->y * my;
    double xs = p->xs - p->x * ms, ys = p->ys - p->y * ms, ss = p->ss - p->s * ms;
    double scale = 1 / (xx * yy - xy * xy);
    double slope_x = (xs * yy - ys * xy) * scale, slope_y = (ys * xx - xs * xy) * scale;
    double rest = ss - slope_x * xs - slope_y * ys;
    return (ast_plane){slope_x, slope_y, ms - slope_x * mx - slope_y * my, rest > 0 ? rest : 0};
}

void ast_patch_add(ast_patch *p, const ast_patch *more) {
    p->n += more->n;
    p->x += more->x;
    p->y += more->y;
    p->xx += more->xx;
    p->xy += more->xy;
    p->yy += more->yy;
    p->s += more->s;
    p->xs += more->xs;
    p->ys += more->ys;
    p->ss += more->ss;
}

/* Sums down each column of a cell: of the pixels there, and of s. */
typedef struct columns {
    double n[AST_CELL], y[AST_CELL], yy[AST_CELL], s[AST_CELL], ys[AST_CELL], ss[AST_CELL];
} columns;

static void add_pixels(columns *to, const float *s, double y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double value = (double)s[i], there = s[i] > 0 ? 1 : 0;
        to->n[i] += there;
        to->y[i] += there * y;
        to->yy[i] += there * (y * y);
        to->s[i] += value;
        to->ys[i] += value * y;
        to->ss[i] += value * value;
    }
}

/* x: the first column, from the middle of the image. */
static ast_patch add_columns(const columns *c, double x) {
    ast_patch p = {0};
    for (size_t i = 0; i < AST_CELL; i++, x++)
        ast_patch_add(&p, &(ast_patch){c->n[i], c->n[i] * x, c->y[i], c->n[i] * (x * x), c->y[i] * x, c->yy[i], c->s[i],
                                       c->s[i] * x, c->ys[i], c->ss[i]});
    return p;
}

void ast_planes_sum_cells(ast_depth *depth, size_t row) {
    ast_planes *p = &depth->planes;
    double epsilon2 = depth->options.filter_epsilon * depth->options.filter_epsilon;
    size_t first = row * AST_CELL, last = first + AST_CELL < depth->height ? first + AST_CELL : depth->height;
    for (size_t column = 0; column < p->across; column++) {
        size_t u = column * AST_CELL, n = depth->width - u, k = row * p->across + column;
        columns sums = {0};
        for (size_t v = first; v < last; v++) {
            const float *s = depth->inverse + v * depth->width + u;
            double y = (double)v - (double)(depth->height / 2);
            if (n >= AST_CELL)
                add_pixels(&sums, s, y, AST_CELL);
            else
                add_pixels(&sums, s, y, n);
        }
        p->patches[k] = add_columns(&sums, (double)u - (double)(depth->width / 2));
        p->leader[k] = -1;
        if (p->patches[k].n < CELL_LEAST)
            continue;
        p->planes[k] = ast_plane_of(&p->patches[k]);
        if (p->planes[k].rest <= epsilon2 * p->patches[k].n)
            p->leader[k] = (int32_t)k;
    }
}
