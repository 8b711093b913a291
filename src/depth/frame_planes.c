/* SPDX-License-Identifier: MIT
 *
 * The planes of a frame: patches get their tracks, patches of one track become one plane, and the planes are measured:
 * pixels, area, rms, outline. The area of the plane that a pixel covers is z^3 / (fx fy d), where d is the distance of
 * the plane from the camera. The share of each cell of 8 x 8 pixels that a plane covers gives its outline. */
#include "frame_planes.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUTLINE_TOLERANCE 0.25 /* cells: how far an outline may move */
#define OUTLINE_MIN_AREA 1.5   /* cells: smaller pieces and holes have no outline */
#define LARGE_SHARE 0.02       /* of the image: a plane that is that large is reported at once */
#define LEAST_S 0.05           /* lower bound of s for area and outline, as a share of the mean s of the plane */

enum { PIXELS, SQUARES, AREA, X, Y, Z, SUMS }; /* over the pixels of a plane */

static bool make_planes(ast_frame_work *work);
static void measure_planes(ast_frame_work *work);
static bool fill_table(ast_frame_work *work, ast_plane_table *table);
static void write_pixels(ast_frame_work *work, int32_t *plane_of);

bool ast_planes_of_frame(ast_frame_work *work, ast_plane_tracks *tracks, const ast_depth_frame *frame,
                         const int32_t *labels, const ast_pose *pose, ast_plane_table *table, int32_t *plane_of) {
    work->frame = frame;
    work->tracks = tracks;
    work->pose = pose;
    if (!ast_frame_find_patches(work))
        return false;
    ast_frame_place_patches(work, labels);
    for (int r = 0; r < 3; r++)
        tracks->camera[r] = pose->matrix[4 * r + 3];
    tracks->large = LARGE_SHARE * (double)(frame->patches.across * frame->patches.down);
    if (!ast_plane_tracks_step(tracks, work->patches, work->patch_count))
        return false;
    for (size_t i = 0; i < work->patch_count; i++) { /* a plane that is not confirmed is not reported */
        int32_t *track = &work->patches[i].track;
        *track = *track >= 0 && tracks->list[*track].confirmed ? *track : -1;
    }
    if (!ast_frame_redetect_planes(work) || !make_planes(work))
        return false;
    measure_planes(work);
    if (!fill_table(work, table))
        return false;
    if (plane_of)
        write_pixels(work, plane_of);
    return true;
}

void ast_frame_work_free(ast_frame_work *work) {
    ast_free_all(work->patches, work->planes, work->plane_of, work->patch_of, work->shares, work->partial);
    ast_redetection_free(&work->redetection);
    ast_polygons_free(&work->outline);
    *work = (ast_frame_work){.pool = work->pool, .kernels = work->kernels};
}

/* ---- Planes ------------------------------------------------------------------------------------------------------ */

static ast_frame_plane *plane_with(ast_frame_work *work, int32_t track) {
    for (size_t i = 0; i < work->plane_count; i++)
        if (work->planes[i].track == track)
            return &work->planes[i];
    return NULL;
}

static int compare_planes(const void *a, const void *b) {
    const ast_frame_plane *x = a, *y = b;
    return (x->track > y->track) - (x->track < y->track);
}

static ast_frame_plane *new_plane(ast_frame_work *work, int32_t track) {
    if (!ast_reserve(&work->planes, &work->plane_room, work->plane_count, work->plane_count + 1, sizeof *work->planes))
        return NULL;
    ast_frame_plane *plane = &work->planes[work->plane_count++];
    *plane = (ast_frame_plane){.track = track, .first = {SIZE_MAX, SIZE_MAX}};
    return plane;
}

static bool add_patches(ast_frame_work *work) {
    for (size_t i = 0; i < work->patch_count; i++) {
        const ast_frame_patch *patch = &work->patches[i];
        if (patch->track < 0)
            continue;
        ast_frame_plane *plane = plane_with(work, patch->track);
        if (!plane && !(plane = new_plane(work, patch->track)))
            return false;
        ast_pixel_moments_add(&plane->moments, &work->frame->patches.moments[patch->leader]);
        plane->fit = ast_plane_fit_from(&plane->moments);
    }
    return true;
}

/* Adds the re-detected planes that have no patch. */
static bool add_recalled(ast_frame_work *work) {
    for (size_t i = 0; i < work->redetection.plane_count; i++) {
        const ast_projected_plane *view = &work->redetection.planes[i];
        if (!view->found || plane_with(work, view->track))
            continue;
        ast_frame_plane *plane = new_plane(work, view->track);
        if (!plane)
            return false;
        plane->moments.n = view->pixels.count;
        plane->moments.s = view->pixels.s;
        plane->least_s = view->pixels.least_s;
        plane->fit = view->fit;
        plane->by_pixels = true;
    }
    return true;
}

/* Sorts by track, which is also the order of ids. */
static void sort_planes(ast_frame_work *work) {
    const ast_depth_frame *frame = work->frame;
    size_t cells = frame->patches.across * frame->patches.down;
    if (work->plane_count > 0)
        qsort(work->planes, work->plane_count, sizeof *work->planes, compare_planes);
    for (size_t i = 0; i < work->plane_count; i++) {
        ast_frame_plane *plane = &work->planes[i];
        double normal[3];
        assert(i == 0 || plane->track > plane[-1].track);
        plane->inverse_distance = ast_frame_normal(frame, &plane->fit, normal);
        plane->least_s = fmax(plane->least_s, LEAST_S * plane->moments.s / plane->moments.n);
        work->plane_of[cells + (size_t)plane->track] = (int32_t)i;
    }
    for (size_t i = 0; i < work->patch_count; i++)
        if (work->patches[i].track >= 0)
            work->plane_of[work->patches[i].leader] = work->plane_of[cells + (size_t)work->patches[i].track];
}

/* Extends the box of a plane by a cell and its eight neighbours, which may contain pixels of the plane too. */
static void widen_box(ast_frame_plane *plane, const ast_patches *p, size_t cell) {
    size_t place[2] = {cell % p->across, cell / p->across}, most[2] = {p->across, p->down};
    for (int d = 0; d < 2; d++) {
        size_t first = place[d] > 0 ? place[d] - 1 : 0, last = place[d] + 2 < most[d] ? place[d] + 2 : most[d];
        plane->first[d] = first < plane->first[d] ? first : plane->first[d];
        plane->last[d] = last > plane->last[d] ? last : plane->last[d];
    }
}

static void find_boxes(ast_frame_work *work) {
    const ast_patches *p = &work->frame->patches;
    size_t cells = p->across * p->down;
    for (size_t k = 0; k < cells; k++) {
        int32_t leaders[AST_CELL * AST_CELL];
        int32_t at = p->leader[k] < 0 ? -1 : work->plane_of[p->leader[k]];
        if (at >= 0)
            widen_box(&work->planes[at], p, k);
        for (size_t i = ast_redetected_leaders(work, k, leaders); i-- > 0;)
            widen_box(&work->planes[work->plane_of[leaders[i]]], p, k);
    }
}

static bool make_planes(ast_frame_work *work) {
    size_t rows = work->frame->patches.down, cells = work->frame->patches.across * rows, shares = 0;
    size_t tracks = work->tracks->count;
    work->plane_count = 0;
    if (!ast_reserve(&work->plane_of, &work->plane_of_room, 0, cells + tracks, sizeof *work->plane_of) ||
        !add_patches(work) || !add_recalled(work))
        return false;
    for (size_t k = 0; k < cells; k++)
        work->plane_of[k] = -1;
    for (size_t k = 0; k < work->tracks->nearby.count; k++)
        work->plane_of[cells + (size_t)work->tracks->nearby.list[k]] = -1;
    sort_planes(work);
    find_boxes(work);
    for (size_t i = 0; i < work->plane_count; i++) {
        ast_frame_plane *plane = &work->planes[i];
        plane->first_share = shares;
        assert(plane->track >= 0 && (size_t)plane->track < tracks);
        assert(plane->first[0] < plane->last[0] && plane->last[0] <= work->frame->patches.across);
        assert(plane->first[1] < plane->last[1] && plane->last[1] <= rows);
        shares += (plane->last[0] - plane->first[0]) * (plane->last[1] - plane->first[1]);
    }
    if (!ast_reserve(&work->shares, &work->share_room, 0, shares, sizeof *work->shares) ||
        !ast_reserve(&work->partial, &work->partial_room, 0, rows * work->plane_count * SUMS, sizeof *work->partial))
        return false;
    for (size_t k = 0; k < shares; k++)
        work->shares[k] = 0;
    for (size_t k = 0; k < rows * work->plane_count * SUMS; k++)
        work->partial[k] = 0;
    return true;
}

/* ---- Pixels of planes -------------------------------------------------------------------------------------------- */

typedef float quad __attribute__((vector_size(16))); /* every 64-bit processor has registers of this size */
typedef int32_t quad_int __attribute__((vector_size(16)));

enum { QUADS = AST_CELL / 4 };
_Static_assert(AST_CELL == 8, "the steps below are those of eight columns");

/* For the pixels of one row of a cell that belong to a patch, adds their number and their squared relative residuals,
 * (1 - s z)^2: distance from the plane divided by the distance of the camera from the plane. Eight columns side by
 * side. */
static inline void sum_squares_row(const float *z, const int32_t *of, int32_t leader, float level, float slope,
                                   quad *squares, quad *found) {
    static const quad steps[QUADS] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    for (size_t q = 0; q < QUADS; q++) {
        quad here;
        quad_int its;
        memcpy(&here, z + 4 * q, sizeof here);
        memcpy(&its, of + 4 * q, sizeof its);
        quad off = 1 - (level + steps[q] * slope) * here, there = __builtin_convertvector(-(its == leader), quad);
        squares[q] += there * (off * off);
        found[q] += there;
    }
}

static double sum_squares_cell(const ast_frame_work *work, const ast_plane_fit *fit, int32_t leader, size_t u, size_t v,
                               size_t wide, size_t high, double *n) {
    const ast_depth_frame *frame = work->frame;
    quad squares[QUADS] = {{0}}, found[QUADS] = {{0}};
    float z[AST_CELL] = {0}; /* of a cell at the right edge */
    int32_t of[AST_CELL];
    double sum = 0;
    memset(of, -1, sizeof of);
    for (size_t j = v; j < v + high; j++) {
        const float *metres = frame->metres + j * frame->width + u;
        const int32_t *leaders = work->leader + j * frame->width + u;
        float level = (float)ast_frame_s(frame, fit, (double)u, (double)j), slope = (float)fit->slope_x;
        if (wide < AST_CELL) {
            memcpy(z, metres, wide * sizeof *z);
            memcpy(of, leaders, wide * sizeof *of);
            metres = z;
            leaders = of;
        }
        sum_squares_row(metres, leaders, leader, level, slope, squares, found);
    }
    *n = 0;
    for (size_t i = 0; i < AST_CELL; i++) {
        sum += (double)squares[i / 4][i % 4];
        *n += (double)found[i / 4][i % 4];
    }
    return sum;
}

/* Adds the area of n pixels around (u, v), and area times position. */
static void add_area(const ast_depth_frame *frame, const ast_frame_plane *plane, double u, double v, double n,
                     double *sums) {
    double s = fmax(ast_frame_s(frame, &plane->fit, u, v), plane->least_s), p[3];
    double area = n * ast_frame_pixel_area_factor(frame, plane->inverse_distance) / (s * s * s);
    ast_frame_point(frame, u, v, s, p);
    sums[AREA] += area;
    for (int c = 0; c < 3; c++)
        sums[X + c] += area * p[c];
}

static void measure_cell(const ast_frame_work *work, size_t column, size_t row, int32_t leader, size_t at) {
    const ast_depth_frame *frame = work->frame;
    ast_frame_plane *plane = &work->planes[at];
    size_t u = column * AST_CELL, v = row * AST_CELL;
    size_t wide = frame->width - u < AST_CELL ? frame->width - u : AST_CELL;
    size_t high = frame->height - v < AST_CELL ? frame->height - v : AST_CELL;
    double n, squares = sum_squares_cell(work, &plane->fit, leader, u, v, wide, high, &n);
    double *sums = work->partial + (row * work->plane_count + at) * SUMS;
    sums[PIXELS] += n;
    sums[SQUARES] += squares;
    if (!plane->by_pixels)
        add_area(frame, plane, (double)u + ((double)wide - 1) / 2, (double)v + ((double)high - 1) / 2, n, sums);
    for (size_t y = v; plane->by_pixels && y < v + high; y++)
        for (size_t x = u; x < u + wide; x++)
            if (work->leader[y * frame->width + x] == leader)
                add_area(frame, plane, (double)x, (double)y, 1, sums);
    work->shares[plane->first_share + (row - plane->first[1]) * (plane->last[0] - plane->first[0]) + column -
                 plane->first[0]] += (float)(n / (double)(wide * high));
}

static void measure_row(void *data, size_t row) {
    ast_frame_work *work = data;
    const ast_patches *p = &work->frame->patches;
    for (size_t column = 0; column < p->across; column++) {
        int32_t leaders[9 + AST_CELL * AST_CELL];
        size_t count = ast_frame_leaders_around(work, column, row, leaders);
        count += ast_redetected_leaders(work, row * p->across + column, leaders + count);
        for (size_t i = 0; i < count; i++)
            measure_cell(work, column, row, leaders[i], (size_t)work->plane_of[leaders[i]]);
    }
}

static void measure_planes(ast_frame_work *work) {
    size_t rows = work->frame->patches.down;
    ast_pool_each(work->pool, rows, 1, measure_row, work);
    for (size_t i = 0; i < work->plane_count; i++)
        for (int k = 0; k < SUMS; k++)
            for (size_t row = 0; row < rows; row++)
                work->planes[i].totals[k] += work->partial[(row * work->plane_count + i) * SUMS + (size_t)k];
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void project_on(const ast_plane_equation *flat, double *p) {
    double away = ast_plane_distance(flat, p);
    for (int c = 0; c < 3; c++)
        p[c] -= away * flat->normal[c];
}

/* The polygons of the image become polygons on the plane. A mirroring pose reverses the order of the vertices. */
static void place_outline(const ast_frame_work *work, const ast_frame_plane *plane, const ast_plane_equation *flat,
                          double (*vertices)[3]) {
    const ast_depth_frame *frame = work->frame;
    for (size_t p = 0, first = 0; p < work->outline.count; first = work->outline.ends[p++])
        for (size_t i = first; i < work->outline.ends[p]; i++) {
            const double *at = work->outline.vertices[i];
            double u = ((double)plane->first[0] + at[0] + 0.5) * AST_CELL - 0.5, point[3];
            double v = ((double)plane->first[1] + at[1] + 0.5) * AST_CELL - 0.5,
                   s = ast_frame_s(frame, &plane->fit, u, v);
            double *to = vertices[work->pose->mirror ? first + work->outline.ends[p] - 1 - i : i];
            ast_frame_point(frame, u, v, fmax(s, plane->least_s), point);
            ast_pose_move(work->pose, point, to);
            project_on(flat, to);
        }
}

static bool add_plane(ast_frame_work *work, const ast_frame_plane *plane, ast_plane_table *table) {
    const ast_plane_track *track = &work->tracks->list[plane->track];
    const double *sums = plane->totals;
    double middle[3];
    size_t first;
    ast_plane_info info = {.id = track->id,
                           .direction = track->direction,
                           .offset = track->plane.offset,
                           .area = sums[AREA],
                           .count = (size_t)sums[PIXELS],
                           .rms = sqrt(sums[SQUARES] / sums[PIXELS]) / plane->inverse_distance};
    for (int c = 0; c < 3; c++) {
        info.normal[c] = track->plane.normal[c];
        middle[c] = sums[X + c] / sums[AREA];
    }
    ast_pose_move(work->pose, middle, info.centroid);
    project_on(&track->plane, info.centroid);
    if (!ast_polygons_trace(&work->outline, work->shares + plane->first_share, plane->last[0] - plane->first[0],
                            plane->last[1] - plane->first[1], OUTLINE_MIN_AREA, OUTLINE_TOLERANCE) ||
        !ast_plane_table_add(table, &info, work->outline.ends, work->outline.count, &first))
        return false;
    place_outline(work, plane, &track->plane, table->vertices + first);
    return true;
}

static bool fill_table(ast_frame_work *work, ast_plane_table *table) {
    ast_plane_table_clear(table);
    for (size_t i = 0; i < work->plane_count; i++) {
        const ast_frame_plane *plane = &work->planes[i];
        if (plane->totals[PIXELS] > 0 && !add_plane(work, plane, table)) {
            ast_plane_table_clear(table);
            return false;
        }
    }
    ast_plane_table_finish(table);
    return true;
}

/* ---- Ids of pixels ----------------------------------------------------------------------------------------------- */

static int32_t id_of(const ast_frame_work *work, int32_t leader) {
    int32_t plane = leader < 0 ? -1 : work->plane_of[leader];
    return plane < 0 ? -1 : work->tracks->list[work->planes[plane].track].id;
}

/* A row of the image as the camera gave it. */
static void write_row(void *data, size_t v) {
    const ast_frame_work *work = data;
    const ast_depth_frame *frame = work->frame;
    const ast_lens_maps *maps = frame->maps;
    if (!maps) {
        const int32_t *leader = work->leader + v * frame->width;
        for (size_t u = 0, end; u < frame->width; u = end) { /* runs of one patch */
            int32_t id = id_of(work, leader[u]);
            for (end = u; end < frame->width && leader[end] == leader[u]; end++)
                work->pixel_ids[v * frame->width + end] = id;
        }
        return;
    }
    for (size_t u = 0; u < maps->width; u++) {
        const float *to = maps->to_pinhole + 2 * (v * maps->width + u);
        double x = (double)to[0] - maps->left + 0.5, y = (double)to[1] - maps->top + 0.5;
        bool inside = x >= 0 && y >= 0 && x < (double)frame->width && y < (double)frame->height;
        work->pixel_ids[v * maps->width + u] =
            inside ? id_of(work, work->leader[(size_t)y * frame->width + (size_t)x]) : -1;
    }
}

static void write_pixels(ast_frame_work *work, int32_t *plane_of) {
    const ast_depth_frame *frame = work->frame;
    work->pixel_ids = plane_of;
    ast_pool_each(work->pool, frame->maps ? frame->maps->height : frame->height, 16, write_row, work);
}
