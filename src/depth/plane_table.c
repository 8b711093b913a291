/* SPDX-License-Identifier: MIT
 *
 * Sums over points in space, and the table of planes. While the table grows its arrays move, so the planes get the
 * addresses of their outlines at the end. */
#include "plane_table.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b) {
    const ast_sort_entry *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->index > y->index) - (x->index < y->index);
}

void ast_rank(ast_sort_entry *list, size_t count) {
    if (count > 0)
        qsort(list, count, sizeof *list, compare_keys);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

void ast_scatter_add(ast_scatter *s, const ast_scatter *more) {
    if (more->n == 0)
        return;
    double n = s->n + more->n, part = more->n / n, both = s->n * part, d[3];
    for (int c = 0; c < 3; c++) {
        d[c] = more->mean[c] - s->mean[c];
        s->mean[c] += part * d[c];
    }
    for (int i = 0, e = 0; i < 3; i++)
        for (int j = i; j < 3; j++, e++)
            s->products[e] += more->products[e] + both * d[i] * d[j];
    s->n = n;
}

double ast_scatter_mean_square(const ast_scatter *s, const ast_plane_equation *plane) {
    const double *n = plane->normal, away = ast_plane_distance(plane, s->mean);
    double sum = s->products[0] * n[0] * n[0] + s->products[3] * n[1] * n[1] + s->products[5] * n[2] * n[2] +
                 2 * (s->products[1] * n[0] * n[1] + s->products[2] * n[0] * n[2] + s->products[4] * n[1] * n[2]);
    return away * away + (sum > 0 ? sum / s->n : 0);
}

ast_principal_axes ast_scatter_principal_axes(const ast_cloud_kernels *kernels, const ast_scatter *s,
                                              const double *towards) {
    ast_moments3 moments = {0};
    ast_eigen3 eigen;
    ast_principal_axes axes;
    for (int e = 0; e < 6; e++)
        moments.elements[e][0] = s->products[e];
    kernels->eigen(&moments, &eigen);
    for (int i = 0; i < 3; i++) {
        double length = 0;
        for (int c = 0; c < 3; c++)
            length += eigen.vectors[i][c][0] * eigen.vectors[i][c][0];
        for (int c = 0; c < 3; c++)
            axes.vectors[i][c] = eigen.vectors[i][c][0] / sqrt(length);
        axes.square_sums[i] = eigen.values[i][0] > 0 ? eigen.values[i][0] : 0;
    }
    if (ast_dot3(axes.vectors[0], towards) < 0)
        for (int c = 0; c < 3; c++)
            axes.vectors[0][c] = -axes.vectors[0][c];
    return axes;
}

ast_plane_grid ast_plane_grid_of(const double *origin, const double *right, const double *normal) {
    ast_plane_grid grid = {.cell = 1};
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        grid.origin[c] = origin[c];
        grid.axes[0][c] = right[c];
        grid.axes[1][c] = right[d] * normal[e] - right[e] * normal[d];
    }
    return grid;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

void ast_plane_table_clear(ast_plane_table *table) {
    table->count = table->used = table->ends_used = 0;
}

void ast_plane_table_free(ast_plane_table *table) {
    ast_free_all(table->planes, table->vertices, table->ends);
    *table = (ast_plane_table){0};
}

bool ast_plane_table_add(ast_plane_table *t, const ast_plane_info *plane, const size_t *ends, size_t polygons,
                         size_t *first) {
    assert(polygons > 0 && ends[polygons - 1] >= 3);
    size_t rows = ends[polygons - 1];
    if (!ast_reserve(&t->planes, &t->room, t->count, t->count + 1, sizeof *t->planes) ||
        !ast_reserve(&t->vertices, &t->vertices_room, t->used, t->used + rows, sizeof *t->vertices) ||
        !ast_reserve(&t->ends, &t->ends_room, t->ends_used, t->ends_used + polygons, sizeof *t->ends))
        return false;
    t->planes[t->count] = *plane;
    t->planes[t->count].polygons = polygons;
    for (size_t p = 0; p < polygons; p++)
        t->ends[t->ends_used + p] = ends[p];
    *first = t->used;
    t->used += rows;
    t->ends_used += polygons;
    t->count++;
    return true;
}

bool ast_plane_table_add_outline(ast_plane_table *table, const ast_plane_info *plane, const ast_polygons *outline,
                                 const ast_plane_grid *grid) {
    size_t first;
    if (!ast_plane_table_add(table, plane, outline->ends, outline->count, &first))
        return false;
    for (size_t i = 0; i < outline->vertex_count; i++)
        for (int c = 0; c < 3; c++)
            table->vertices[first + i][c] = grid->origin[c] + grid->cell * (outline->vertices[i][0] * grid->axes[0][c] +
                                                                            outline->vertices[i][1] * grid->axes[1][c]);
    return true;
}

void ast_plane_table_finish(ast_plane_table *t) {
    size_t vertex = 0, end = 0;
    for (size_t i = 0; i < t->count; i++) {
        ast_plane_info *plane = &t->planes[i];
        plane->vertices = t->vertices[vertex];
        plane->ends = t->ends + end;
        vertex += plane->ends[plane->polygons - 1];
        end += plane->polygons;
    }
    assert(vertex == t->used && end == t->ends_used);
}

bool ast_plane_table_sort(ast_plane_table *t, int32_t *plane_of, size_t count) {
    ast_sort_entry *order = NULL;
    int32_t *ids = NULL;
    ast_plane_info *sorted = NULL;
    if (!ast_replace_arrays(AST_REQUEST(order, t->count), AST_REQUEST(ids, t->count), AST_REQUEST(sorted, t->count)))
        return false;
    for (size_t i = 0; i < t->count; i++)
        order[i] = (ast_sort_entry){-t->planes[i].area, i};
    ast_rank(order, t->count);
    for (size_t i = 0; i < t->count; i++) {
        ids[order[i].index] = (int32_t)i;
        sorted[i] = t->planes[order[i].index];
        sorted[i].id = (int32_t)i;
    }
    for (size_t i = 0; i < t->count; i++)
        t->planes[i] = sorted[i];
    for (size_t i = 0; i < count; i++)
        plane_of[i] = plane_of[i] < 0 ? -1 : ids[plane_of[i]];
    ast_free_all(order, ids, sorted);
    return true;
}
