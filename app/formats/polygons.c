/* SPDX-License-Identifier: MIT
 *
 * Faces of any number of corners become triangles: a fan around the first corner, which is right for convex polygons.
 * Where a triangle of the fan looks the other way than the polygon, the polygon is concave, and is cut again by its
 * ears (Meisters 1975): a corner is an ear if no other corner lies in its triangle. A polygon of n corners has n - 2
 * triangles either way, so that the new ones take the place of the old. */
#include "solid_readers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Larger polygons stay fans, and so do those that need more tests than this for each corner: no file may make the
 * reader slow. */
#define CORNERS_MOST 1024
#define TESTS_MOST 1024

typedef struct ast_polygon {
    size_t first;   /* triangle */
    size_t corners; /* 4 or more */
} ast_polygon;

typedef struct flat {
    size_t count;
    size_t tests; /* that may still be made */
    int32_t corners[CORNERS_MOST];
    double x[CORNERS_MOST], y[CORNERS_MOST];
} flat;

static bool fan_is_right(const int32_t *triangles, size_t count, const float *points, double sum[3]);
static void flatten(flat *polygon, const int32_t *triangles, size_t corners, const float *points, const double *sum);
static bool cut_ears(flat *polygon, int32_t *triangles);

bool ast_faces_room(ast_faces *faces, size_t count, const ast_solid_file *file) {
    return ast_array_grow(&faces->corners, &faces->corner_capacity, count, sizeof *faces->corners) ||
           ast_format_no_memory(file->error, file->name);
}

static bool add_large(ast_faces *faces, size_t count) {
    if (!ast_array_grow(&faces->large, &faces->large_capacity, faces->large_count + 1, sizeof *faces->large))
        return false;
    faces->large[faces->large_count++] = (ast_polygon){faces->count, count};
    return true;
}

bool ast_faces_add(ast_faces *faces, size_t count, const ast_solid_file *file) {
    if (faces->count + count - 2 > AST_SOLID_MOST)
        return ast_solid_fail(file, NULL, "has more than 2^31 - 1 triangles");
    if (!ast_array_grow(&faces->triangles, &faces->capacity, faces->count + count - 2, 3 * sizeof *faces->triangles) ||
        (count > 3 && !add_large(faces, count)))
        return ast_format_no_memory(file->error, file->name);
    int32_t *place = faces->triangles + 3 * faces->count;
    for (size_t i = 2; i < count; i++) {
        *place++ = faces->corners[0];
        *place++ = faces->corners[i - 1];
        *place++ = faces->corners[i];
    }
    faces->count += count - 2;
    return true;
}

void ast_faces_finish(ast_faces *faces, ast_solid *solid) {
    flat polygon;
    double sum[3];
    for (size_t i = 0; i < faces->large_count; i++) {
        const ast_polygon *large = &faces->large[i];
        int32_t *triangles = faces->triangles + 3 * large->first;
        if (large->corners > CORNERS_MOST || fan_is_right(triangles, large->corners - 2, solid->points, sum))
            continue;
        flatten(&polygon, triangles, large->corners, solid->points, sum);
        int32_t cut[3 * CORNERS_MOST];
        if (cut_ears(&polygon, cut))
            memcpy(triangles, cut, 3 * (large->corners - 2) * sizeof *cut);
    }
    solid->faces = faces->triangles;
    solid->face_count = faces->count;
    faces->triangles = NULL;
}

void ast_faces_free(ast_faces *faces) {
    free(faces->triangles);
    free(faces->corners);
    free(faces->large);
    *faces = (ast_faces){0};
}

/* ---- In space ---------------------------------------------------------------------------------------------------- */

/* Twice the triangle's area, as a vector. */
static void area_vector(const int32_t *triangle, const float *points, double area[3]) {
    const float *a = points + 3 * (size_t)triangle[0], *b = points + 3 * (size_t)triangle[1],
                *c = points + 3 * (size_t)triangle[2];
    double u[3], v[3];
    for (int d = 0; d < 3; d++) {
        u[d] = (double)b[d] - (double)a[d];
        v[d] = (double)c[d] - (double)a[d];
    }
    for (int d = 0; d < 3; d++)
        area[d] = u[(d + 1) % 3] * v[(d + 2) % 3] - u[(d + 2) % 3] * v[(d + 1) % 3];
}

/* The sum does not depend on how the polygon is cut. NaN: the polygon is left as it is. */
static bool fan_is_right(const int32_t *triangles, size_t count, const float *points, double sum[3]) {
    double area[3];
    sum[0] = sum[1] = sum[2] = 0;
    for (size_t i = 0; i < count; i++) {
        area_vector(triangles + 3 * i, points, area);
        for (int d = 0; d < 3; d++)
            sum[d] += area[d];
    }
    for (size_t i = 0; i < count; i++) {
        area_vector(triangles + 3 * i, points, area);
        if (area[0] * sum[0] + area[1] * sum[1] + area[2] * sum[2] < 0)
            return false;
    }
    return true;
}

/* Drops the coordinate along which the polygon is seen largest; it turns left then. */
static void flatten(flat *polygon, const int32_t *triangles, size_t corners, const float *points, const double *sum) {
    int axis = fabs(sum[0]) > fabs(sum[1]) ? 0 : 1;
    if (fabs(sum[2]) > fabs(sum[axis]))
        axis = 2;
    int across = (axis + 1) % 3, up = (axis + 2) % 3;
    double sense = sum[axis] < 0 ? -1 : 1;
    polygon->count = corners;
    polygon->tests = TESTS_MOST * corners;
    for (size_t i = 0; i < corners; i++) {
        /* The fan has corner 0 first in every triangle, then neighbours. */
        int32_t corner = i < 2 ? triangles[i] : triangles[3 * (i - 2) + 2];
        polygon->corners[i] = corner;
        polygon->x[i] = sense * (double)points[3 * (size_t)corner + (size_t)across];
        polygon->y[i] = (double)points[3 * (size_t)corner + (size_t)up];
    }
}

/* ---- In the plane ------------------------------------------------------------------------------------------------ */

/* Twice the area of corners a, b, c; positive where they turn left. */
static double turn(const flat *p, size_t a, size_t b, size_t c) {
    return (p->x[b] - p->x[a]) * (p->y[c] - p->y[a]) - (p->y[b] - p->y[a]) * (p->x[c] - p->x[a]);
}

static bool same_place(const flat *p, size_t a, size_t b) {
    return p->x[a] == p->x[b] && p->y[a] == p->y[b];
}

/* A corner that appears twice, where a bridge leads to a hole, does not block an ear. */
static bool is_ear(flat *p, size_t a, size_t b, size_t c) {
    double area = turn(p, a, b, c);
    if (area <= 0)
        return area == 0;
    for (size_t i = 0; i < p->count && p->tests > 0; i++, p->tests--) {
        if (i == a || i == b || i == c || same_place(p, i, a) || same_place(p, i, b) || same_place(p, i, c))
            continue;
        if (turn(p, a, b, i) >= 0 && turn(p, b, c, i) >= 0 && turn(p, c, a, i) >= 0)
            return false;
    }
    return p->tests > 0;
}

static void remove_corner(flat *p, size_t index) {
    size_t behind = p->count - index - 1;
    memmove(p->corners + index, p->corners + index + 1, behind * sizeof *p->corners);
    memmove(p->x + index, p->x + index + 1, behind * sizeof *p->x);
    memmove(p->y + index, p->y + index + 1, behind * sizeof *p->y);
    p->count--;
}

/* False where the polygon crosses itself, or takes too long. */
static bool cut_ears(flat *p, int32_t *triangles) {
    size_t tried = 0, b = 0;
    while (p->count > 3) {
        size_t a = (b + p->count - 1) % p->count, c = (b + 1) % p->count;
        if (tried > p->count || p->tests == 0)
            return false;
        if (is_ear(p, a, b, c)) {
            *triangles++ = p->corners[a];
            *triangles++ = p->corners[b];
            *triangles++ = p->corners[c];
            remove_corner(p, b);
            tried = 0;
        } else {
            b++;
            tried++;
        }
        b %= p->count;
    }
    memcpy(triangles, p->corners, 3 * sizeof *triangles);
    return true;
}
