/* SPDX-License-Identifier: MIT
 *
 * The planes of a mesh. Region growing over faces: the largest face without a plane is the seed, and faces join across
 * shared edges while their corners lie on the plane. The area is the sum of the faces and the outline consists of their
 * outer edges, so both are exact. */
#include "cloud_planes.h"

#include "memory.h"
#include "mesh_edges.h"
#include "surface_normals.h"

#include <math.h>
#include <stdlib.h>

#define DISTANCE 1e-4   /* of the diagonal of the box around the vertices */
#define LEAST_AREA 1e-3 /* of the mesh */
#define MIN_COSINE 0.98 /* cosine of the largest angle between the normals of a face and of its plane: 11 degrees */
#define FIT_AGAIN 1.25  /* growth of the area after which the plane is fitted again */
#define STRAIGHT 0.1    /* tolerance for dropping outline vertices, as a share of the inlier distance */

/* A plane that grows; sums are weighted by area. */
typedef struct face_region {
    double area, normal[3], middle[3];
    ast_plane_equation plane;
    int32_t label;
} face_region;

typedef struct side_of {
    int32_t from, to; /* vertices */
    bool used;
    size_t side;
} side_of;

typedef struct growth {
    const ast_mesh_planes_job *job;
    ast_mesh_edges edges;
    float *normals;        /* (faces, 3) */
    double *areas;         /* (faces) */
    ast_sort_entry *order; /* faces by decreasing area */
    size_t *queue;         /* faces of planes, one plane behind the other */
    size_t queued;
    double distance, least;
    side_of *sides; /* the outer sides of a plane */
    size_t side_room;
    ast_polygons outline;
} growth;

static bool open_growth(growth *g, const ast_mesh_planes_job *job);
static bool add_plane(growth *g, size_t first, const face_region *region, ast_plane_table *table);
static void grow(growth *g, size_t seed, int32_t number, face_region *region);

ast_status ast_planes_of_mesh(ast_fault *fault, const ast_mesh_planes_job *job, ast_plane_table *table) {
    growth g;
    bool good = open_growth(&g, job);
    ast_plane_table_clear(table);
    for (size_t i = 0; good && i < job->face_count && !ast_pool_poll(job->pool); i++) {
        size_t seed = g.order[i].index, first = g.queued;
        face_region region;
        if (job->plane_of[seed] != -1 || !(g.areas[seed] > 0) || job->labels[seed] < 0)
            continue;
        grow(&g, seed, (int32_t)table->count, &region);
        if (region.area >= g.least) {
            good = add_plane(&g, first, &region, table);
            continue;
        }
        for (size_t k = first; k < g.queued; k++)
            job->plane_of[g.queue[k]] = -2; /* on a plane that is too small */
    }
    ast_plane_table_finish(table);
    good = good && ast_plane_table_sort(table, job->plane_of, job->face_count);
    ast_mesh_edges_free(&g.edges);
    ast_polygons_free(&g.outline);
    ast_free_all(g.normals, g.areas, g.order, g.queue, g.sides);
    return good ? AST_OK : ast_fail_memory(fault);
}

/* ---- Before and after -------------------------------------------------------------------------------------------- */

static double diagonal_of(const float *vertices, size_t count) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, squares = 0;
    for (size_t i = 0; i < 3 * count; i++) {
        low[i % 3] = vertices[i] < low[i % 3] ? (double)vertices[i] : low[i % 3];
        high[i % 3] = vertices[i] > high[i % 3] ? (double)vertices[i] : high[i % 3];
    }
    for (int c = 0; c < 3; c++)
        squares += high[c] > low[c] ? (high[c] - low[c]) * (high[c] - low[c]) : 0;
    return sqrt(squares);
}

static bool open_growth(growth *g, const ast_mesh_planes_job *job) {
    size_t n = job->face_count;
    double sum = 0;
    *g = (growth){.job = job};
    if (!ast_replace_arrays(AST_REQUEST(g->normals, 3 * n), AST_REQUEST(g->areas, n), AST_REQUEST(g->order, n),
                            AST_REQUEST(g->queue, n)) ||
        !ast_mesh_edges_find(&g->edges, job->vertices, job->vertex_count, job->faces, n))
        return false;
    ast_normals_of_mesh(job->pool, job->vertices, job->faces, n, g->normals, g->areas);
    for (size_t i = 0; i < n; i++) {
        job->plane_of[i] = -1;
        sum += g->areas[i];
        g->order[i] = (ast_sort_entry){-g->areas[i], i};
    }
    g->distance = job->distance > 0 ? job->distance : DISTANCE * diagonal_of(job->vertices, job->vertex_count);
    g->least = job->area < 0 ? LEAST_AREA * sum : job->area;
    ast_rank(g->order, n);
    return true;
}

/* ---- Growing ----------------------------------------------------------------------------------------------------- */

static const float *corner(const growth *g, size_t face, int k) {
    return g->job->vertices + 3 * (size_t)g->job->faces[3 * face + (size_t)k];
}

/* The cosine of the angle between the normal of a face and a direction of length 1. */
static double cosine_to(const growth *g, size_t face, const double *towards) {
    const float *n = g->normals + 3 * face;
    return n[0] * towards[0] + n[1] * towards[1] + n[2] * towards[2];
}

static void add_face(growth *g, size_t face, int32_t number, face_region *region) {
    double signed_area =
        g->job->undirected && cosine_to(g, face, region->normal) < 0 ? -g->areas[face] : g->areas[face];
    g->job->plane_of[face] = number;
    g->queue[g->queued++] = face;
    region->area += g->areas[face];
    for (int c = 0; c < 3; c++) {
        double third = ((double)corner(g, face, 0)[c] + corner(g, face, 1)[c] + corner(g, face, 2)[c]) / 3;
        region->normal[c] += signed_area * (double)g->normals[3 * face + (size_t)c];
        region->middle[c] += g->areas[face] * third;
    }
}

static void fit(face_region *region) {
    double length = sqrt(ast_dot3(region->normal, region->normal));
    for (int c = 0; c < 3; c++)
        region->plane.normal[c] = region->normal[c] / length + 0.0;
    region->plane.offset = ast_dot3(region->plane.normal, region->middle) / region->area;
}

static double corner_distance(const growth *g, size_t face, int k, const ast_plane_equation *plane) {
    const float *at = corner(g, face, k);
    return ast_plane_distance(plane, (double[]){at[0], at[1], at[2]});
}

static bool fits(const growth *g, const face_region *region, size_t face) {
    if (g->job->plane_of[face] != -1 || g->job->labels[face] != region->label || !(g->areas[face] > 0))
        return false;
    double cosine = cosine_to(g, face, region->plane.normal);
    if (!((g->job->undirected ? fabs(cosine) : cosine) >= MIN_COSINE))
        return false;
    for (int k = 0; k < 3; k++)
        if (!(fabs(corner_distance(g, face, k, &region->plane)) <= g->distance))
            return false;
    return true;
}

static void grow(growth *g, size_t seed, int32_t number, face_region *region) {
    size_t next = g->queued;
    *region = (face_region){.label = g->job->labels[seed]};
    add_face(g, seed, number, region);
    fit(region);
    double fitted = region->area;
    for (; next < g->queued; next++) {
        for (size_t side = 3 * g->queue[next]; side < 3 * g->queue[next] + 3; side++)
            for (size_t other = (size_t)g->edges.next[side]; other != side; other = (size_t)g->edges.next[other])
                if (fits(g, region, other / 3))
                    add_face(g, other / 3, number, region);
        if (region->area >= FIT_AGAIN * fitted) {
            fit(region);
            fitted = region->area;
        }
    }
    fit(region);
}

/* ---- Outlines ---------------------------------------------------------------------------------------------------- */

static bool is_outer(const growth *g, size_t side, int32_t number) {
    for (size_t other = (size_t)g->edges.next[side]; other != side; other = (size_t)g->edges.next[other])
        if (g->job->plane_of[other / 3] == number)
            return false;
    return true;
}

static int compare_sides(const void *a, const void *b) {
    const side_of *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from) : (x->side > y->side) - (x->side < y->side);
}

/* The outer sides of the faces from queue[first] on, sorted by the vertex at which they start. Sides of a face with the
 * opposite normal are reversed. */
static bool find_sides(growth *g, size_t first, int32_t number, const ast_plane_equation *plane, size_t *count) {
    *count = 0;
    for (size_t k = first; k < g->queued; k++) {
        bool back = cosine_to(g, g->queue[k], plane->normal) < 0;
        for (size_t side = 3 * g->queue[k]; side < 3 * g->queue[k] + 3; side++) {
            int32_t start = g->edges.corners[side], end = ast_side_end(&g->edges, side);
            if (!is_outer(g, side, number))
                continue;
            if (!ast_reserve(&g->sides, &g->side_room, *count, *count + 1, sizeof *g->sides))
                return false;
            g->sides[(*count)++] = (side_of){.from = back ? end : start, .to = back ? start : end, .side = side};
        }
    }
    qsort(g->sides, *count, sizeof *g->sides, compare_sides);
    return true;
}

/* The first unused side that starts at this vertex; `count` if there is none. */
static size_t side_from(const growth *g, size_t count, int32_t vertex) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->sides[middle].from < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < count && g->sides[low].from == vertex && g->sides[low].used)
        low++;
    return low < count && g->sides[low].from == vertex ? low : count;
}

static bool add_vertex(growth *g, int32_t vertex, const ast_plane_grid *grid) {
    const float *at = g->job->vertices + 3 * (size_t)vertex;
    double d[3] = {at[0] - grid->origin[0], at[1] - grid->origin[1], at[2] - grid->origin[2]};
    return ast_polygons_add_vertex(&g->outline, ast_dot3(d, grid->axes[0]), ast_dot3(d, grid->axes[1]));
}

/* Follows the sides from one to the next until there is none. */
static bool add_polygon(growth *g, size_t start, size_t count, const ast_plane_grid *grid) {
    ast_polygons *out = &g->outline;
    size_t first = out->vertex_count;
    for (size_t at = start; at < count; at = side_from(g, count, g->sides[at].to)) {
        g->sides[at].used = true;
        if (!add_vertex(g, g->sides[at].from, grid))
            return false;
    }
    if (out->vertex_count - first >= 3)
        return ast_polygons_close(out, first, STRAIGHT * g->distance);
    out->vertex_count = first; /* faces that overlap */
    return true;
}

static bool trace_sides(growth *g, size_t first, int32_t number, const ast_plane_equation *plane,
                        const ast_plane_grid *grid) {
    size_t count;
    g->outline.vertex_count = g->outline.count = 0;
    if (!find_sides(g, first, number, plane, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!g->sides[i].used && !add_polygon(g, i, count, grid))
            return false;
    /* A closed flat body has no outer sides: use the outline of its first face. */
    for (int k = 0; g->outline.count == 0 && k < 3; k++)
        if (!add_vertex(g, g->edges.corners[3 * g->queue[first] + (size_t)k], grid))
            return false;
    if (g->outline.count == 0 && !ast_polygons_close(&g->outline, 0, 0))
        return false;
    ast_polygons_largest_first(&g->outline);
    return true;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static ast_plane_grid grid_of(const ast_plane_equation *plane, const double *origin) {
    const double *n = plane->normal;
    double right[3];
    int least = 0;
    for (int c = 1; c < 3; c++)
        least = fabs(n[c]) < fabs(n[least]) ? c : least;
    double length = sqrt(1 - n[least] * n[least]);
    for (int c = 0; c < 3; c++)
        right[c] = ((c == least) - n[least] * n[c]) / length;
    return ast_plane_grid_of(origin, right, n);
}

/* The integral of the square of a function that is linear over a triangle is (a^2 + b^2 + c^2 + ab + bc + ca) / 6 of
 * its values at the corners, times the area. */
static double square_of(const growth *g, size_t face, const ast_plane_equation *plane) {
    double away[3];
    for (int k = 0; k < 3; k++)
        away[k] = corner_distance(g, face, k, plane);
    return g->areas[face] / 6 *
           (away[0] * (away[0] + away[1]) + away[1] * (away[1] + away[2]) + away[2] * (away[2] + away[0]));
}

static bool add_plane(growth *g, size_t first, const face_region *region, ast_plane_table *table) {
    ast_plane_info info = {.id = (int32_t)table->count,
                           .direction = region->label,
                           .offset = region->plane.offset,
                           .area = region->area,
                           .count = g->queued - first};
    double squares = 0;
    for (size_t k = first; k < g->queued; k++)
        squares += square_of(g, g->queue[k], &region->plane);
    info.rms = sqrt(squares > 0 ? squares / region->area : 0);
    for (int c = 0; c < 3; c++) {
        info.normal[c] = region->plane.normal[c];
        info.centroid[c] = region->middle[c] / region->area;
    }
    ast_plane_grid grid = grid_of(&region->plane, info.centroid);
    return trace_sides(g, first, info.id, &region->plane, &grid) &&
           ast_plane_table_add_outline(table, &info, &g->outline, &grid);
}
