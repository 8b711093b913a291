/* SPDX-License-Identifier: MIT
 *
 * The cells from which planes grow: sums over 8 x 8 pixels, and the plane of each. Sums run down the columns, eight
 * side by side, and then over the eight, in the same order on every processor. */
#include "planes.h"

#include <string.h>

#define CELL_LEAST 48 /* pixels: three of four, so that a cell with a hole through it does not count */

/* Sums down each column of a cell, over its valid pixels and their s. */
typedef struct columns {
    double n[AST_CELL], y[AST_CELL], yy[AST_CELL], s[AST_CELL], ys[AST_CELL], ss[AST_CELL];
} columns;

/* n columns, from row `first` to row `last`; s points to the first pixel. */
static void add_pixels(columns *to, const float *s, const ast_depth *depth, size_t first, size_t last, size_t n) {
    for (size_t v = first; v < last; v++, s += depth->width) {
        double y = (double)v - ast_middle(depth->height);
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
}

/* A cell without holes; false if it has holes, and then the sums are invalid. The sums over positions are the same for
 * all columns. */
static bool add_whole(columns *to, const float *s, const ast_depth *depth, size_t first) {
    float least[AST_CELL];
    double at = 0, squares = 0;
    memcpy(least, s, sizeof least);
    for (size_t v = first; v < first + AST_CELL; v++, s += depth->width) {
        double y = (double)v - ast_middle(depth->height);
        for (size_t i = 0; i < AST_CELL; i++) {
            double value = (double)s[i];
            least[i] = s[i] < least[i] ? s[i] : least[i];
            to->s[i] += value;
            to->ys[i] += value * y;
            to->ss[i] += value * value;
        }
        at += y;
        squares += y * y;
    }
    bool whole = true;
    for (size_t i = 0; i < AST_CELL; i++) {
        whole &= least[i] > 0;
        to->n[i] = AST_CELL;
        to->y[i] = at;
        to->yy[i] = squares;
    }
    return whole;
}

/* x: the first column, counted from the middle of the image. */
static ast_patch add_columns(const columns *c, double x) {
    ast_patch p = {0};
    for (size_t i = 0; i < AST_CELL; i++) {
        ast_patch_add(&p, &(ast_patch){{c->n[i], c->n[i] * x, c->y[i], c->n[i] * (x * x), c->y[i] * x, c->yy[i],
                                        c->s[i], c->s[i] * x, c->ys[i], c->ss[i]}});
        x += 1;
    }
    return p;
}

void ast_planes_sum_cells(void *data, size_t row, int worker) {
    ast_depth *depth = data;
    ast_planes *p = &depth->planes;
    (void)worker;
    double epsilon2 = depth->options.filter_epsilon * depth->options.filter_epsilon;
    size_t first = row * AST_CELL, last = first + AST_CELL < depth->height ? first + AST_CELL : depth->height;
    for (size_t column = 0; column < p->across; column++) {
        size_t u = column * AST_CELL, left = depth->width - u, k = row * p->across + column;
        const float *s = depth->inverse + first * depth->width + u;
        columns sums = {0};
        if (left < AST_CELL || last < first + AST_CELL || !add_whole(&sums, s, depth, first)) {
            sums = (columns){0};
            add_pixels(&sums, s, depth, first, last, left < AST_CELL ? left : AST_CELL);
        }
        p->patches[k] = add_columns(&sums, (double)u - ast_middle(depth->width));
        p->leader[k] = -1;
        if (p->patches[k].n < CELL_LEAST)
            continue;
        p->planes[k] = ast_plane_of(&p->patches[k]);
        if (p->planes[k].rest <= epsilon2 * p->patches[k].n)
            p->leader[k] = (int32_t)k;
    }
}
