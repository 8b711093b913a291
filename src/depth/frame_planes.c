/* SPDX-License-Identifier: MIT
 *
 * The planes of a frame: patches get their tracks, patches of one track become one plane, and the planes are measured:
 * pixels, area, rms, outline. The area of the plane that a pixel covers is z^3 / (fx fy d), where d is the distance of
 * the plane from the camera. The share of each cell of 8 x 8 pixels that a plane covers gives its outline. */
#include "frame_planes.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SHARE (1.0 / 480) /* of the image: the smallest patch, as in planes.c */
#define SIMPLER 0.25            /* cells: how far an outline may move */
#define SMALLEST 1.5            /* cells: smaller pieces and holes have no outline */
#define FAR 0.05                /* of the mean s of a plane: the least s of its outline */
#define MOST_PATCHES 480        /* LEAST_SHARE allows no more */
#define SLOTS 4                 /* labels that are counted for a patch */

enum { PIXELS, SQUARES, AREA, X, Y, Z, SUMS }; /* over the pixels of a plane */

static bool find_patches(ast_frame_work *work, const ast_depth *depth);
static void place_patches(ast_frame_work *work, const ast_depth *depth, const int32_t *labels, const ast_pose *pose);
static bool make_planes(ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth *depth);
static bool measure_planes(ast_frame_work *work, ast_depth *depth);
static bool fill_table(ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth *depth,
                       const ast_pose *pose, ast_plane_table *table);
static void write_pixels(const ast_frame_work *work, const ast_plane_tracks *tracks, ast_depth *depth,
                         int32_t *plane_of);

bool ast_planes_of_frame(ast_frame_work *work, ast_plane_tracks *tracks, ast_depth *depth, const int32_t *labels,
                         const ast_pose *pose, ast_plane_table *table, int32_t *plane_of) {
    if (!find_patches(work, depth))
        return false;
    place_patches(work, depth, labels, pose);
    if (!ast_plane_tracks_step(tracks, work->patches, work->patch_count) || !make_planes(work, tracks, depth) ||
        !measure_planes(work, depth) || !fill_table(work, tracks, depth, pose, table))
        return false;
    if (plane_of)
        write_pixels(work, tracks, depth, plane_of);
    return true;
}

void ast_frame_work_free(ast_frame_work *work) {
    ast_free_all(work->patches, work->planes, work->plane_of, work->patch_of, work->shares, work->partial);
    ast_polygons_free(&work->outline);
    *work = (ast_frame_work){0};
}

/* ---- Patches ----------------------------------------------------------------------------------------------------- */

static int compare_patches(const void *a, const void *b) {
    const ast_frame_patch *x = a, *y = b;
    return x->area != y->area ? (x->area < y->area) - (x->area > y->area)
                              : (x->leader > y->leader) - (x->leader < y->leader);
}

/* From the one with most pixels on. */
static bool find_patches(ast_frame_work *work, const ast_depth *depth) {
    const ast_planes *p = &depth->planes;
    size_t cells = p->across * p->down;
    double least = LEAST_SHARE * (double)(depth->width * depth->height);
    work->patch_count = 0;
    if (!ast_reserve(&work->patch_of, &work->cell_room, 0, cells, sizeof *work->patch_of) ||
        !ast_reserve(&work->plane_of, &work->cell_room2, 0, cells, sizeof *work->plane_of))
        return false;
    for (size_t k = 0; k < cells; k++) {
        work->patch_of[k] = work->plane_of[k] = -1;
        if (p->leader[k] != (int32_t)k || p->patches[k].n < least || work->patch_count == MOST_PATCHES)
            continue;
        if (!ast_reserve(&work->patches, &work->patch_room, work->patch_count, work->patch_count + 1,
                         sizeof *work->patches))
            return false;
        work->patches[work->patch_count++] = (ast_frame_patch){.leader = (int32_t)k, .area = p->patches[k].n};
    }
    if (work->patch_count > 0)
        qsort(work->patches, work->patch_count, sizeof *work->patches, compare_patches);
    for (size_t i = 0; i < work->patch_count; i++)
        work->patch_of[work->patches[i].leader] = (int32_t)i;
    return true;
}

/* ---- Geometry ---------------------------------------------------------------------------------------------------- */

static void move(const ast_pose *pose, const double *p, double *out) {
    for (int r = 0; r < 3; r++)
        out[r] = ast_dot3(pose->of + 4 * r, p) + pose->of[4 * r + 3];
}

static double s_at(const ast_depth *depth, const ast_plane *fit, double u, double v) {
    return fit->level + fit->slope_x * (u - ast_middle(depth->width)) + fit->slope_y * (v - ast_middle(depth->height));
}

/* The point at a pixel where the inverse depth is s. */
static void point_at(const ast_depth *depth, double u, double v, double s, double *p) {
    const ast_camera *camera = &depth->options.camera;
    p[2] = 1 / s;
    p[0] = (u - camera->cx) / camera->fx * p[2];
    p[1] = (v - camera->cy) / camera->fy * p[2];
}

/* Minus the vector N with N . p = 1 on the plane; returns its length. */
static double normal_of(const ast_depth *depth, const ast_plane *fit, double *normal) {
    const ast_camera *camera = &depth->options.camera;
    normal[0] = -camera->fx * fit->slope_x;
    normal[1] = -camera->fy * fit->slope_y;
    normal[2] = -s_at(depth, fit, camera->cx, camera->cy);
    double length = sqrt(ast_dot3(normal, normal));
    for (int c = 0; c < 3; c++)
        normal[c] /= length;
    return length;
}

/* The plane with this normal (in the camera) through a point of the world. */
static ast_flat flat_through(const ast_pose *pose, const double *normal, const double *at) {
    ast_flat flat;
    for (int r = 0; r < 3; r++)
        flat.normal[r] = ast_dot3(pose->of + 4 * r, normal);
    flat.offset = ast_dot3(flat.normal, at);
    return flat;
}

/* The area of the plane that a pixel covers is this over s^3. */
static double area_scale(const ast_depth *depth, double length) {
    return length / (depth->options.camera.fx * depth->options.camera.fy);
}

/* ---- Where patches are ------------------------------------------------------------------------------------------- */

/* The most frequent labels of a patch (Misra and Gries): a label of more than a fifth of the cells is among them. */
typedef struct tally {
    int32_t labels[SLOTS];
    int counts[SLOTS];
} tally;

static void count_label(tally *t, int32_t label) {
    for (int i = 0; i < SLOTS; i++)
        if (t->counts[i] > 0 && t->labels[i] == label) {
            t->counts[i]++;
            return;
        }
    for (int i = 0; i < SLOTS; i++)
        if (t->counts[i] == 0) {
            t->labels[i] = label;
            t->counts[i] = 1;
            return;
        }
    for (int i = 0; i < SLOTS; i++)
        t->counts[i]--;
}

static int32_t most_frequent(const tally *t) {
    int best = 0;
    for (int i = 1; i < SLOTS; i++)
        best = t->counts[i] > t->counts[best] ? i : best;
    return t->counts[best] > 0 ? t->labels[best] : -1;
}

/* The label of a pixel; images of a lens are straightened, and the labels are not. */
static int32_t label_at(const ast_depth *depth, const int32_t *labels, size_t u, size_t v) {
    const ast_lens *lens = &depth->lens;
    if (!ast_depth_is_distorted(&depth->options))
        return labels[v * depth->width + u];
    const float *from = lens->from + 2 * (v * depth->width + u);
    bool inside =
        from[0] >= 0 && from[1] >= 0 && from[0] < (float)lens->width - 0.5f && from[1] < (float)lens->height - 0.5f;
    return inside ? labels[(size_t)(from[1] + 0.5f) * lens->width + (size_t)(from[0] + 0.5f)] : -1;
}

/* A cell adds the point of the plane at its middle; depth is known to within its square. Sums are about the camera,
 * which is near enough for doubles. */
static void add_cell(ast_frame_patch *patch, const ast_depth *depth, const ast_pose *pose, double u, double v) {
    const ast_plane *fit = &depth->planes.planes[patch->leader];
    double s = s_at(depth, fit, u, v), p[3], at[3];
    if (!(s > 0))
        return;
    double squared = s * s, weight = squared * squared;
    point_at(depth, u, v, s, p);
    move(pose, p, at);
    patch->scatter.n += weight;
    for (int i = 0, e = 0; i < 3; i++) {
        patch->scatter.mean[i] += weight * p[i];
        for (int j = i; j < 3; j++, e++)
            patch->scatter.of[e] += weight * p[i] * p[j];
        patch->low[i] = at[i] < patch->low[i] ? at[i] : patch->low[i];
        patch->high[i] = at[i] > patch->high[i] ? at[i] : patch->high[i];
    }
    patch->cells++;
    patch->area += AST_CELL * AST_CELL * p[2] / squared;
}

/* From sums about the camera to a scatter in the world: the mean moves, and R S R^T. */
static void turn_scatter(ast_scatter *s, const ast_pose *pose) {
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double mean[3], central[6] = {0}, turned[3][3];
    for (int i = 0; i < 3; i++)
        mean[i] = s->mean[i] / s->n;
    for (int i = 0, e = 0; i < 3; i++)
        for (int j = i; j < 3; j++, e++)
            central[e] = s->of[e] - s->n * mean[i] * mean[j];
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < 3; j++)
            turned[r][j] = pose->of[4 * r] * central[at[0][j]] + pose->of[4 * r + 1] * central[at[1][j]] +
                           pose->of[4 * r + 2] * central[at[2][j]];
    for (int r = 0, e = 0; r < 3; r++)
        for (int c = r; c < 3; c++, e++)
            s->of[e] = ast_dot3(turned[r], pose->of + 4 * c);
    move(pose, mean, s->mean);
}

static void finish_patch(ast_frame_patch *patch, const ast_depth *depth, const ast_pose *pose) {
    const ast_patch *sums = &depth->planes.patches[patch->leader];
    const ast_plane *fit = &depth->planes.planes[patch->leader];
    double u = sums->x / sums->n + ast_middle(depth->width), v = sums->y / sums->n + ast_middle(depth->height);
    double s = s_at(depth, fit, u, v), p[3], normal[3], length = normal_of(depth, fit, normal);
    turn_scatter(&patch->scatter, pose);
    point_at(depth, u, v, s, p);
    move(pose, p, patch->at);
    patch->depth = p[2];
    patch->distance = 1 / length;
    patch->sure = !depth->planes.uncertain[patch->leader] && !isnan(depth->planes.normals[3 * patch->leader]);
    patch->area *= area_scale(depth, length);
    patch->flat = flat_through(pose, normal, patch->at);
}

static void place_patches(ast_frame_work *work, const ast_depth *depth, const int32_t *labels, const ast_pose *pose) {
    const ast_planes *p = &depth->planes;
    tally tallies[MOST_PATCHES] = {0};
    for (size_t i = 0; i < work->patch_count; i++) {
        work->patches[i].area = 0;
        for (int c = 0; c < 3; c++) {
            work->patches[i].low[c] = INFINITY;
            work->patches[i].high[c] = -INFINITY;
        }
    }
    for (size_t k = 0; k < p->across * p->down; k++) {
        int32_t i = p->leader[k] < 0 ? -1 : work->patch_of[p->leader[k]];
        size_t u = k % p->across * AST_CELL + AST_CELL / 2, v = k / p->across * AST_CELL + AST_CELL / 2;
        if (i < 0)
            continue;
        add_cell(&work->patches[i], depth, pose, (double)u - 0.5, (double)v - 0.5);
        if (labels && u < depth->width && v < depth->height && depth->cut.leader[v * depth->width + u] == p->leader[k])
            count_label(&tallies[i], label_at(depth, labels, u, v));
    }
    for (size_t i = 0; i < work->patch_count; i++) {
        work->patches[i].direction = most_frequent(&tallies[i]);
        finish_patch(&work->patches[i], depth, pose);
    }
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

/* One for each track that has patches, in order of tracks and so of ids. */
static bool gather_planes(ast_frame_work *work, const ast_depth *depth) {
    work->plane_count = 0;
    for (size_t i = 0; i < work->patch_count; i++) {
        const ast_frame_patch *patch = &work->patches[i];
        ast_frame_plane *plane = plane_with(work, patch->track);
        if (patch->track < 0)
            continue;
        if (!plane) {
            if (!ast_reserve(&work->planes, &work->plane_room, work->plane_count, work->plane_count + 1,
                             sizeof *work->planes))
                return false;
            plane = &work->planes[work->plane_count++];
            *plane = (ast_frame_plane){.track = patch->track, .first = {SIZE_MAX, SIZE_MAX}};
        }
        ast_patch_add(&plane->sums, &depth->planes.patches[patch->leader]);
    }
    if (work->plane_count > 0)
        qsort(work->planes, work->plane_count, sizeof *work->planes, compare_planes);
    return true;
}

/* The boxes of the planes, by their cells and those around them, in which pixels may lie on them too. */
static void find_boxes(ast_frame_work *work, const ast_depth *depth) {
    const ast_planes *p = &depth->planes;
    for (size_t i = 0; i < work->patch_count; i++)
        if (work->patches[i].track >= 0)
            work->plane_of[work->patches[i].leader] =
                (int32_t)(plane_with(work, work->patches[i].track) - work->planes);
    for (size_t k = 0; k < p->across * p->down; k++) {
        int32_t at = p->leader[k] < 0 ? -1 : work->plane_of[p->leader[k]];
        size_t place[2] = {k % p->across, k / p->across}, most[2] = {p->across, p->down};
        for (int d = 0; at >= 0 && d < 2; d++) {
            ast_frame_plane *plane = &work->planes[at];
            size_t first = place[d] > 0 ? place[d] - 1 : 0, last = place[d] + 2 < most[d] ? place[d] + 2 : most[d];
            plane->first[d] = first < plane->first[d] ? first : plane->first[d];
            plane->last[d] = last > plane->last[d] ? last : plane->last[d];
        }
    }
}

static bool make_planes(ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth *depth) {
    size_t cells = 0, rows = depth->planes.down;
    (void)tracks;
    if (!gather_planes(work, depth))
        return false;
    find_boxes(work, depth);
    for (size_t i = 0; i < work->plane_count; i++) {
        ast_frame_plane *plane = &work->planes[i];
        double normal[3];
        plane->fit = ast_plane_of(&plane->sums);
        plane->length = normal_of(depth, &plane->fit, normal);
        plane->cells = cells;
        cells += (plane->last[0] - plane->first[0]) * (plane->last[1] - plane->first[1]);
    }
    if (!ast_reserve(&work->shares, &work->share_room, 0, cells, sizeof *work->shares) ||
        !ast_reserve(&work->partial, &work->partial_room, 0, rows * work->plane_count * SUMS, sizeof *work->partial))
        return false;
    for (size_t k = 0; k < cells; k++)
        work->shares[k] = 0;
    for (size_t k = 0; k < rows * work->plane_count * SUMS; k++)
        work->partial[k] = 0;
    return true;
}

/* ---- Pixels of planes -------------------------------------------------------------------------------------------- */

typedef struct measuring {
    ast_frame_work *work;
    const ast_depth *depth;
} measuring;

/* The pixels of a row of a cell that belong to a patch: their number, and the squares of their distances from the plane
 * relative to that of the camera, 1 - s z. Eight columns side by side. */
static inline void square_row(const float *z, const int32_t *of, int32_t leader, float level, float slope, size_t wide,
                              float *restrict squares, float *restrict found) {
    static const float steps[AST_CELL] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < wide; i++) {
        float off = 1 - (level + steps[i] * slope) * z[i], there = (float)(of[i] == leader);
        squares[i] += there * (off * off);
        found[i] += there;
    }
}

static double square_cell(const ast_depth *depth, const ast_plane *fit, int32_t leader, size_t u, size_t v, size_t wide,
                          size_t high, double *n) {
    float squares[AST_CELL] = {0}, found[AST_CELL] = {0};
    double sum = 0;
    for (size_t j = v; j < v + high; j++) {
        size_t at = j * depth->width + u;
        float level = (float)s_at(depth, fit, (double)u, (double)j), slope = (float)fit->slope_x;
        if (wide == AST_CELL) /* a constant for the compiler */
            square_row(depth->cut.metres + at, depth->cut.leader + at, leader, level, slope, AST_CELL, squares, found);
        else
            square_row(depth->cut.metres + at, depth->cut.leader + at, leader, level, slope, wide, squares, found);
    }
    *n = 0;
    for (size_t i = 0; i < wide; i++) {
        sum += (double)squares[i];
        *n += (double)found[i];
    }
    return sum;
}

static void measure_cell(const measuring *m, size_t column, size_t row, int32_t leader, size_t at) {
    const ast_depth *depth = m->depth;
    ast_frame_plane *plane = &m->work->planes[at];
    size_t u = column * AST_CELL, v = row * AST_CELL;
    size_t wide = depth->width - u < AST_CELL ? depth->width - u : AST_CELL;
    size_t high = depth->height - v < AST_CELL ? depth->height - v : AST_CELL;
    double n, squares = square_cell(depth, &plane->fit, leader, u, v, wide, high, &n), p[3];
    double middle[2] = {(double)u + ((double)wide - 1) / 2, (double)v + ((double)high - 1) / 2};
    double s = s_at(depth, &plane->fit, middle[0], middle[1]), least = FAR * plane->sums.s / plane->sums.n;
    s = s > least ? s : least;
    double area = n * area_scale(depth, plane->length) / (s * s * s);
    double *sums = m->work->partial + (row * m->work->plane_count + at) * SUMS;
    point_at(depth, middle[0], middle[1], s, p);
    sums[PIXELS] += n;
    sums[SQUARES] += squares;
    sums[AREA] += area;
    for (int c = 0; c < 3; c++)
        sums[X + c] += area * p[c];
    m->work->shares[plane->cells + (row - plane->first[1]) * (plane->last[0] - plane->first[0]) + column -
                    plane->first[0]] += (float)(n / (double)(wide * high));
}

/* Each patch that pixels of a cell belong to, once. */
static void measure_row(void *data, size_t row, int worker) {
    const measuring *m = data;
    const ast_planes *p = &m->depth->planes;
    (void)worker;
    for (size_t column = 0; column < p->across; column++) {
        int32_t seen[9];
        size_t count = 0;
        for (size_t r = row - 1; r != row + 2; r++)
            for (size_t c = column - 1; c != column + 2; c++) { /* -1 wraps to a large number */
                int32_t leader = c < p->across && r < p->down ? p->leader[r * p->across + c] : -1;
                size_t k = 0;
                if (leader < 0 || m->work->plane_of[leader] < 0)
                    continue;
                while (k < count && seen[k] != leader)
                    k++;
                if (k < count)
                    continue;
                seen[count++] = leader;
                measure_cell(m, column, row, leader, (size_t)m->work->plane_of[leader]);
            }
    }
}

static bool measure_planes(ast_frame_work *work, ast_depth *depth) {
    measuring m = {work, depth};
    ast_pool_run(depth->pool, depth->planes.down, measure_row, &m);
    for (size_t i = 0; i < work->plane_count; i++)
        for (int k = 0; k < SUMS; k++)
            for (size_t row = 0; row < depth->planes.down; row++)
                work->planes[i].sums_of[k] += work->partial[(row * work->plane_count + i) * SUMS + (size_t)k];
    return true;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static void put_on(const ast_flat *flat, double *p) {
    double away = ast_flat_distance(flat, p);
    for (int c = 0; c < 3; c++)
        p[c] -= away * flat->normal[c];
}

static bool trace(ast_frame_work *work, const ast_frame_plane *plane) {
    size_t across = plane->last[0] - plane->first[0], down = plane->last[1] - plane->first[1];
    float *shares = work->shares + plane->cells, most = 0;
    if (!ast_polygons_trace(&work->outline, shares, across, down, SMALLEST, SIMPLER))
        return false;
    for (size_t k = 0; k < across * down; k++)
        most = shares[k] > most ? shares[k] : most;
    for (size_t k = 0; work->outline.count == 0 && k < across * down; k++)
        shares[k] /= most;
    return work->outline.count > 0 || ast_polygons_trace(&work->outline, shares, across, down, SMALLEST, SIMPLER);
}

/* The polygons of the image become polygons on the plane. A mirrored world turns them around. */
static void place_outline(const ast_frame_work *work, const ast_frame_plane *plane, const ast_depth *depth,
                          const ast_pose *pose, const ast_flat *flat, double (*vertices)[3]) {
    double least = FAR * plane->sums.s / plane->sums.n;
    for (size_t p = 0, first = 0; p < work->outline.count; first = work->outline.ends[p++])
        for (size_t i = first; i < work->outline.ends[p]; i++) {
            const double *at = work->outline.at[i];
            double u = ((double)plane->first[0] + at[0] + 0.5) * AST_CELL - 0.5, point[3];
            double v = ((double)plane->first[1] + at[1] + 0.5) * AST_CELL - 0.5, s = s_at(depth, &plane->fit, u, v);
            double *to = vertices[pose->mirror ? first + work->outline.ends[p] - 1 - i : i];
            point_at(depth, u, v, s > least ? s : least, point);
            move(pose, point, to);
            put_on(flat, to);
        }
}

static bool add_plane(ast_frame_work *work, const ast_frame_plane *plane, const ast_plane_track *track,
                      const ast_depth *depth, const ast_pose *pose, ast_plane_table *table) {
    const double *sums = plane->sums_of;
    double middle[3];
    size_t first;
    ast_plane_info info = {.id = track->id,
                           .direction = track->direction,
                           .offset = track->flat.offset,
                           .area = sums[AREA],
                           .count = (size_t)sums[PIXELS],
                           .rms = sqrt(sums[SQUARES] / sums[PIXELS]) / plane->length};
    for (int c = 0; c < 3; c++) {
        info.normal[c] = track->flat.normal[c];
        middle[c] = sums[X + c] / sums[AREA];
    }
    move(pose, middle, info.centroid);
    put_on(&track->flat, info.centroid);
    if (!trace(work, plane) || !ast_plane_table_add(table, &info, work->outline.ends, work->outline.count, &first))
        return false;
    place_outline(work, plane, depth, pose, &track->flat, table->vertices + first);
    return true;
}

static bool fill_table(ast_frame_work *work, const ast_plane_tracks *tracks, const ast_depth *depth,
                       const ast_pose *pose, ast_plane_table *table) {
    ast_plane_table_clear(table);
    for (size_t i = 0; i < work->plane_count; i++) {
        const ast_frame_plane *plane = &work->planes[i];
        if (plane->sums_of[PIXELS] > 0 && !add_plane(work, plane, &tracks->list[plane->track], depth, pose, table)) {
            ast_plane_table_clear(table);
            return false;
        }
    }
    ast_plane_table_finish(table);
    return true;
}

/* ---- Ids of pixels ----------------------------------------------------------------------------------------------- */

typedef struct writing {
    const ast_frame_work *work;
    const ast_plane_tracks *tracks;
    const ast_depth *depth;
    int32_t *plane_of;
} writing;

static int32_t id_of(const writing *w, int32_t leader) {
    int32_t plane = leader < 0 ? -1 : w->work->plane_of[leader];
    return plane < 0 ? -1 : w->tracks->list[w->work->planes[plane].track].id;
}

/* A row of the image as the camera gave it. */
static void write_row(void *data, size_t v, int worker) {
    const writing *w = data;
    const ast_depth *depth = w->depth;
    const ast_lens *lens = &depth->lens;
    (void)worker;
    if (!ast_depth_is_distorted(&depth->options)) {
        const int32_t *leader = depth->cut.leader + v * depth->width;
        for (size_t u = 0, end; u < depth->width; u = end) { /* runs of one patch */
            int32_t id = id_of(w, leader[u]);
            for (end = u; end < depth->width && leader[end] == leader[u]; end++)
                w->plane_of[v * depth->width + end] = id;
        }
        return;
    }
    for (size_t u = 0; u < lens->width; u++) {
        const float *to = lens->to + 2 * (v * lens->width + u);
        double x = (double)to[0] - lens->left + 0.5, y = (double)to[1] - lens->top + 0.5;
        bool inside = x >= 0 && y >= 0 && x < (double)depth->width && y < (double)depth->height;
        w->plane_of[v * lens->width + u] =
            inside ? id_of(w, depth->cut.leader[(size_t)y * depth->width + (size_t)x]) : -1;
    }
}

static void write_pixels(const ast_frame_work *work, const ast_plane_tracks *tracks, ast_depth *depth,
                         int32_t *plane_of) {
    writing w = {work, tracks, depth, plane_of};
    bool distorted = ast_depth_is_distorted(&depth->options);
    ast_pool_run_rows(depth->pool, distorted ? depth->lens.height : depth->height, 16, write_row, &w);
}
