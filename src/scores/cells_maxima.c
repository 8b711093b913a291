/* SPDX-License-Identifier: MIT
 *
 * The distance of every point from the nearest mean so far, and the largest distance of each cell. A new mean is
 * compared only with points of cells in which it may be nearer than an earlier mean. */
#include "cells.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

#define FEW 64         /* up to this number of points, a cell is not divided */
#define SLACK 0x1p-18f /* 1 - x . mu is |x - mu|^2 / 2 within 2^-22, and distances in float are wrong by 2^-20 */

typedef struct visit {
    ast_cell_maxima *maxima;
    const float *mean; /* (3) */
    ast_lower_distance *lower;
    void *data;
} visit;

static float *maximum_of(const ast_cell_maxima *maxima, const ast_cell *cell) {
    size_t before = 6 * (((size_t)1 << 2 * cell->level) - 1) / 3; /* cells of the lower levels */
    return &maxima->largest[before + cell->prefix];
}

static bool is_far(const visit *v, const ast_cell *cell, float maximum) {
    float centre[3], radius;
    ast_cell_bound(cell, centre, &radius);
    float a = centre[0] - v->mean[0], b = centre[1] - v->mean[1], c = centre[2] - v->mean[2];
    float away = sqrtf(a * a + b * b + c * c) - radius;
    return away > 0 && away * away / 2 - SLACK >= maximum;
}

static float lower_points(const visit *v, const ast_cell *cell) {
    const ast_cells *cells = v->maxima->cells;
    float most = 0;
    for (size_t place = cell->first; place < cell->last; place++)
        most = fmaxf(most, v->lower(v->data, cells->point[place]));
    return most;
}

/* Returns the largest distance of the cell. */
static float lower_cell(const visit *v, const ast_cell *cell) {
    float *maximum = maximum_of(v->maxima, cell), most = 0;
    if (cell->first == cell->last || is_far(v, cell, *maximum))
        return *maximum;
    if (cell->last - cell->first <= FEW || cell->level == v->maxima->cells->depth)
        return *maximum = lower_points(v, cell);
    for (uint32_t part = 0; part < 4; part++) {
        ast_cell child = ast_cell_part(v->maxima->cells, cell, part);
        most = fmaxf(most, lower_cell(v, &child));
    }
    return *maximum = most;
}

void ast_cell_maxima_lower(ast_cell_maxima *maxima, const float mean[3], ast_lower_distance *lower, void *data) {
    visit v = {maxima, mean, lower, data};
    for (uint32_t face = 0; face < 6; face++) {
        ast_cell cell = ast_cell_face(maxima->cells, face);
        lower_cell(&v, &cell);
    }
}

bool ast_cell_maxima_open(ast_cell_maxima *maxima, const ast_cells *cells) {
    *maxima = (ast_cell_maxima){.cells = cells};
    size_t count = 6 * (((size_t)1 << 2 * (cells->depth + 1)) - 1) / 3;
    maxima->largest = ast_allocate(count, sizeof *maxima->largest);
    for (size_t i = 0; maxima->largest && i < count; i++)
        maxima->largest[i] = INFINITY; /* unknown: the first mean is compared with every point */
    return maxima->largest != NULL;
}

void ast_cell_maxima_close(ast_cell_maxima *maxima) {
    ast_free(maxima->largest);
    maxima->largest = NULL;
}
