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
    ast_cell_peaks *peaks;
    const float *mean; /* (3) */
    ast_lower_distance *lower;
    void *data;
} visit;

static float *peak_of(const ast_cell_peaks *peaks, const ast_cell *cell) {
    size_t before = 6 * (((size_t)1 << 2 * cell->level) - 1) / 3; /* cells of the lower levels */
    return &peaks->peak[before + cell->prefix];
}

static bool is_far(const visit *v, const ast_cell *cell, float peak) {
    float centre[3], radius;
    ast_cell_bound(cell, centre, &radius);
    float a = centre[0] - v->mean[0], b = centre[1] - v->mean[1], c = centre[2] - v->mean[2];
    float away = sqrtf(a * a + b * b + c * c) - radius;
    return away > 0 && away * away / 2 - SLACK >= peak;
}

static float lower_points(const visit *v, const ast_cell *cell) {
    const ast_cells *cells = v->peaks->cells;
    float most = 0;
    for (size_t place = cell->first; place < cell->last; place++)
        most = fmaxf(most, v->lower(v->data, cells->point[place]));
    return most;
}

/* Returns the largest distance of the cell. */
static float lower_cell(const visit *v, const ast_cell *cell) {
    float *peak = peak_of(v->peaks, cell), most = 0;
    if (cell->first == cell->last || is_far(v, cell, *peak))
        return *peak;
    if (cell->last - cell->first <= FEW || cell->level == v->peaks->cells->depth)
        return *peak = lower_points(v, cell);
    for (uint32_t part = 0; part < 4; part++) {
        ast_cell child = ast_cell_part(v->peaks->cells, cell, part);
        most = fmaxf(most, lower_cell(v, &child));
    }
    return *peak = most;
}

void ast_cell_peaks_lower(ast_cell_peaks *peaks, const float mean[3], ast_lower_distance *lower, void *data) {
    visit v = {peaks, mean, lower, data};
    for (uint32_t face = 0; face < 6; face++) {
        ast_cell cell = ast_cell_face(peaks->cells, face);
        lower_cell(&v, &cell);
    }
}

bool ast_cell_peaks_open(ast_cell_peaks *peaks, const ast_cells *cells) {
    *peaks = (ast_cell_peaks){.cells = cells};
    size_t count = 6 * (((size_t)1 << 2 * (cells->depth + 1)) - 1) / 3;
    peaks->peak = ast_allocate(count, sizeof *peaks->peak);
    for (size_t i = 0; peaks->peak && i < count; i++)
        peaks->peak[i] = INFINITY; /* unknown: the first mean is compared with every point */
    return peaks->peak != NULL;
}

void ast_cell_peaks_close(ast_cell_peaks *peaks) {
    ast_free(peaks->peak);
    peaks->peak = NULL;
}
