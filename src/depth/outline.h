/* SPDX-License-Identifier: MIT
 *
 * Outlines of regions on a grid of cells. A region is given by the share of each cell that it covers, 0 to 1. Its
 * outline is the contour at one half between the centres of the cells (marching squares), so an edge is known to a
 * fraction of a cell. It does not know planes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Polygons, one behind the other: polygon p is rows ends[p - 1] (0 for the first) to ends[p] - 1. Initially zero. */
typedef struct ast_polygons {
    double (*vertices)[2]; /* column and row; the centre of cell (column, row) is at whole numbers */
    size_t vertex_count, vertex_room;
    size_t *ends;
    size_t count, ends_room;
    uint8_t *visited; /* working memory */
    size_t visited_room;
    size_t *stack;
    size_t stack_room;
} ast_polygons;

/* Finds the contour of shares (down, across), row by row. Keeps polygons with an area of at least `min_area` cells, and
 * always the largest, which comes first. Outer polygons are clockwise (first axis right, second axis up), holes
 * counterclockwise. Vertices that are nearer than `tolerance` cells to the line without them are left out. If no
 * cell is half covered, shares are divided by the largest first. False if memory runs out. */
bool ast_polygons_trace(ast_polygons *out, float *shares, size_t across, size_t down, double min_area,
                        double tolerance);
void ast_polygons_free(ast_polygons *polygons);

/* Moves the largest polygon to the front. */
void ast_polygons_largest_first(ast_polygons *out);

/* The area of a polygon, negative if it is clockwise (first axis right, second up). */
double ast_polygon_area(double (*at)[2], size_t count);

/* A polygon vertex by vertex: ast_polygons_close makes one of the vertices from `first` on, and drops vertices as
 * ast_polygons_trace does; at least three stay. False if memory runs out. */
bool ast_polygons_add_vertex(ast_polygons *out, double x, double y);
bool ast_polygons_close(ast_polygons *out, size_t first, double tolerance);
