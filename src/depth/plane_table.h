/* SPDX-License-Identifier: MIT
 *
 * What planes have in common, wherever they come from: sums over points in space, the plane of least squares, and the
 * table of results. */
#pragma once

#include "asterism_depth.h"
#include "cloud_kernels.h"
#include "outline.h"

#include <math.h>

/* A plane: the points p with normal . p = offset. */
typedef struct ast_plane_equation {
    double normal[3], offset;
} ast_plane_equation;

static inline double ast_dot3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double ast_plane_distance(const ast_plane_equation *plane, const double *p) {
    return ast_dot3(plane->normal, p) - plane->offset;
}

/* The cosine of the angle between two unit vectors; undirected: their signs have no meaning. */
static inline double ast_cosine_between(const double *a, const double *b, bool undirected) {
    double dot = ast_dot3(a, b);
    return undirected ? fabs(dot) : dot;
}

/* Appends a number to a list unless the list has it. */
static inline void ast_add_once(int32_t *list, size_t *count, int32_t number) {
    for (size_t i = 0; i < *count; i++)
        if (list[i] == number)
            return;
    list[(*count)++] = number;
}

/* A number and the index of what has it, for sorting. */
typedef struct ast_sort_entry {
    double key;
    size_t index;
} ast_sort_entry;

/* Sorts by increasing key; equal keys by index. */
void ast_rank(ast_sort_entry *list, size_t count);

/* Weight, mean and scatter matrix of a set of points. The matrix is taken about the mean, so a cloud far from the
 * origin loses no precision. */
typedef struct ast_scatter {
    double n, mean[3];
    double products[6]; /* sums about the mean: xx xy xz yy yz zz */
} ast_scatter;

void ast_scatter_add(ast_scatter *scatter, const ast_scatter *more);

/* The mean square of the distances of the points from a plane. */
double ast_scatter_mean_square(const ast_scatter *scatter, const ast_plane_equation *plane);

/* The axes of the points, from the narrowest to the widest, and the sums of squares along them. The first axis is the
 * normal of their plane of least squares; its sign is that of `towards`. */
typedef struct ast_principal_axes {
    double vectors[3][3], square_sums[3];
} ast_principal_axes;
ast_principal_axes ast_scatter_principal_axes(const ast_cloud_kernels *kernels, const ast_scatter *scatter,
                                              const double *towards);

/* A grid on a plane. Seen from the back of the plane, axis 0 points right and axis 1 up. */
typedef struct ast_plane_grid {
    double origin[3]; /* the centre of cell (0, 0) */
    double axes[2][3];
    double cell; /* side */
} ast_plane_grid;

/* The grid with the first axis `right`, a unit vector on the plane; the axes and the normal are a left-handed frame. */
ast_plane_grid ast_plane_grid_of(const double *origin, const double *right, const double *normal);

/* Results. Initially all zero. */
typedef struct ast_plane_table {
    ast_plane_info *planes;
    size_t count, room;
    double (*vertices)[3];
    size_t used, vertices_room;
    size_t *ends;
    size_t ends_used, ends_room;
} ast_plane_table;

void ast_plane_table_clear(ast_plane_table *table);
void ast_plane_table_free(ast_plane_table *table);

/* Appends a plane and reserves its outline: ends[polygons - 1] vertices, which start at table->vertices[*first]. Copies
 * ends. False if memory runs out. */
bool ast_plane_table_add(ast_plane_table *table, const ast_plane_info *plane, const size_t *ends, size_t polygons,
                         size_t *first);

/* The same with an outline on a grid. */
bool ast_plane_table_add_outline(ast_plane_table *table, const ast_plane_info *plane, const ast_polygons *outline,
                                 const ast_plane_grid *grid);

/* Call after the last plane: sets the pointers of all planes to their outlines. */
void ast_plane_table_finish(ast_plane_table *table);

/* After ast_plane_table_finish: sorts the planes by decreasing area, so that ids are 0, 1, ..., and gives plane_of
 * (count), the numbers of planes in the table, their ids; negative numbers become -1. False if memory runs out. */
bool ast_plane_table_sort(ast_plane_table *table, int32_t *plane_of, size_t count);
