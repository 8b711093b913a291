/* SPDX-License-Identifier: MIT
 *
 * The area and the outline of points on a plane. The plane is cut into cells of about eight points. Gaps between
 * occupied cells of up to two cells are closed, because scanners measure in lines. A closed cell with eight closed
 * neighbours counts as fully covered. The covered share of a cell at the edge is its number of points divided by the
 * mean number in the fully covered cells nearby. So neither the size of the cells nor the density of the points, which
 * falls with the distance from the scanner, changes the area. */
#include "cloud_planes.h"

#include "memory.h"

#include <math.h>

#define PER_CELL 8.0     /* points */
#define MOST_CELLS 2     /* largest number of cells, as a multiple of the number of points */
#define DENSITY_RADIUS 2 /* cells on each side in which the density is measured */
/* Largest share of an edge cell in the area sum: its point count varies as randomly as any other. */
#define MOST_SHARE 2.0
#define OUTLINE_MIN_AREA 2.0  /* cells: smaller holes and pieces have no outline */
#define OUTLINE_TOLERANCE 0.3 /* cells: how far an outline may move */

/* The grid has a border of empty cells, one cell wide. */
typedef struct cells {
    size_t across, down;
    float *counts, *shares;
    uint8_t *closed, *dilated;
    double low[2], side, mean_count; /* mean_count: points of a covered cell, overall */
} cells;

static void choose_cells(cells *c, double (*at)[2], size_t n, double area_per_point);
static bool open_cells(cells *c);
static void count_points(cells *c, double (*at)[2], size_t n);
static void close_gaps(cells *c);
static double find_shares(cells *c);

bool ast_cloud_extent(double (*at)[2], size_t n, double area_per_point, ast_polygons *outline, ast_plane_grid *grid,
                      double *area) {
    cells c;
    choose_cells(&c, at, n, area_per_point);
    bool good = open_cells(&c);
    if (good) {
        count_points(&c, at, n);
        close_gaps(&c);
        *area = find_shares(&c) * c.side * c.side;
        good = ast_polygons_trace(outline, c.shares, c.across, c.down, OUTLINE_MIN_AREA, OUTLINE_TOLERANCE);
        grid->cell = c.side;
        for (int d = 0; d < 3; d++)
            grid->origin[d] += (c.low[0] - c.side / 2) * grid->axes[0][d] + (c.low[1] - c.side / 2) * grid->axes[1][d];
    }
    ast_free_all(c.counts, c.shares, c.closed, c.dilated);
    return good;
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static void choose_cells(cells *c, double (*at)[2], size_t n, double area_per_point) {
    double high[2] = {-INFINITY, -INFINITY}, most = MOST_CELLS * (double)n + 64;
    *c = (cells){.low = {INFINITY, INFINITY}, .side = sqrt(PER_CELL * area_per_point)};
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 2; d++) {
            c->low[d] = at[i][d] < c->low[d] ? at[i][d] : c->low[d];
            high[d] = at[i][d] > high[d] ? at[i][d] : high[d];
        }
    double width = high[0] - c->low[0], height = high[1] - c->low[1];
    double least =
        (width + height) / 1e6 > sqrt(width * height / most) ? (width + height) / 1e6 : sqrt(width * height / most);
    double thin = (width > height ? width : height) / most; /* points on a line */
    c->side = c->side > least ? c->side : least;
    c->side = c->side > thin ? c->side : thin;
    c->side = c->side > 0 ? c->side : 1;
    c->across = (size_t)(width / c->side) + 3;
    c->down = (size_t)(height / c->side) + 3;
    c->mean_count = c->side * c->side / (area_per_point > 0 ? area_per_point : c->side * c->side);
}

static bool open_cells(cells *c) {
    size_t all = c->across * c->down;
    c->counts = ast_allocate_zero(all, sizeof *c->counts);
    c->shares = ast_allocate_zero(all, sizeof *c->shares);
    c->closed = ast_allocate_zero(all, 1);
    c->dilated = ast_allocate_zero(all, 1);
    return c->counts && c->shares && c->closed && c->dilated;
}

static void count_points(cells *c, double (*at)[2], size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t column = (size_t)((at[i][0] - c->low[0]) / c->side), row = (size_t)((at[i][1] - c->low[1]) / c->side);
        c->counts[(row + 1) * c->across + column + 1]++;
    }
}

/* Whether all (or, with `any`, some) of the nine cells around and at (column, row) are set; cells outside are not. */
static bool look_around(const cells *c, const uint8_t *set, size_t column, size_t row, bool any) {
    int found = 0;
    for (size_t r = row - 1; r != row + 2; r++)
        for (size_t k = column - 1; k != column + 2; k++) /* -1 wraps to a large number */
            found += r < c->down && k < c->across && set[r * c->across + k];
    return any ? found > 0 : found == 9;
}

/* A cell is closed if all nine cells around it have an occupied cell beside them. */
static void close_gaps(cells *c) {
    for (size_t k = 0; k < c->across * c->down; k++)
        c->closed[k] = c->counts[k] > 0;
    for (size_t row = 0; row < c->down; row++)
        for (size_t column = 0; column < c->across; column++)
            c->dilated[row * c->across + column] = look_around(c, c->closed, column, row, true);
    for (size_t row = 0; row < c->down; row++)
        for (size_t column = 0; column < c->across; column++)
            if (look_around(c, c->dilated, column, row, false))
                c->closed[row * c->across + column] = 1;
}

/* ---- Shares ------------------------------------------------------------------------------------------------------ */

/* Expected number of points in a fully covered cell: the mean over the covered cells nearby, or over all covered cells
 * if there are none nearby. */
static double density_at(const cells *c, size_t column, size_t row) {
    double sum = 0, found = 0;
    for (size_t r = row < DENSITY_RADIUS ? 0 : row - DENSITY_RADIUS; r <= row + DENSITY_RADIUS && r < c->down; r++)
        for (size_t k = column < DENSITY_RADIUS ? 0 : column - DENSITY_RADIUS;
             k <= column + DENSITY_RADIUS && k < c->across; k++)
            if (c->dilated[r * c->across + k]) {
                sum += (double)c->counts[r * c->across + k];
                found++;
            }
    return sum > 0 ? sum / found : c->mean_count;
}

/* Returns the sum of the shares, in cells. */
static double find_shares(cells *c) {
    double sum = 0, points = 0, covered = 0;
    for (size_t row = 0; row < c->down; row++)
        for (size_t column = 0; column < c->across; column++) { /* `dilated` now marks covered cells */
            size_t k = row * c->across + column;
            c->dilated[k] = look_around(c, c->closed, column, row, false);
            points += c->dilated[k] ? (double)c->counts[k] : 0;
            covered += c->dilated[k];
        }
    c->mean_count = points > 0 ? points / covered : c->mean_count;
    for (size_t row = 0; row < c->down; row++)
        for (size_t column = 0; column < c->across; column++) {
            size_t k = row * c->across + column;
            double share = c->dilated[k] ? 1 : (double)c->counts[k];
            if (!c->dilated[k] && c->counts[k] > 0)
                share /= density_at(c, column, row);
            sum += share < MOST_SHARE ? share : MOST_SHARE;
            c->shares[k] = (float)(share < 1 ? share : 1);
        }
    return sum;
}
