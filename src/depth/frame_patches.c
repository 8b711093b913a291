/* SPDX-License-Identifier: MIT
 *
 * Lists the patches of a frame and computes their position in the world. */
#include "frame_planes.h"

#include "label_tally.h"
#include "memory.h"

#include <stdlib.h>

#define MOST_PATCHES 480 /* AST_MIN_PATCH_SHARE allows no more */

/* ---- Patches ----------------------------------------------------------------------------------------------------- */

static int compare_patches(const void *a, const void *b) {
    const ast_frame_patch *x = a, *y = b;
    return x->area != y->area ? (x->area < y->area) - (x->area > y->area)
                              : (x->leader > y->leader) - (x->leader < y->leader);
}

bool ast_frame_find_patches(ast_frame_work *work) {
    const ast_depth_frame *frame = work->frame;
    const ast_patches *p = &frame->patches;
    size_t cells = p->across * p->down;
    double least = AST_MIN_PATCH_SHARE * (double)(frame->width * frame->height);
    work->patch_count = 0;
    if (!ast_reserve(&work->patch_of, &work->patch_of_room, 0, cells, sizeof *work->patch_of))
        return false;
    for (size_t k = 0; k < cells; k++) {
        work->patch_of[k] = -1;
        if (p->leader[k] != (int32_t)k || p->moments[k].n < least || work->patch_count == MOST_PATCHES)
            continue;
        if (!ast_reserve(&work->patches, &work->patch_room, work->patch_count, work->patch_count + 1,
                         sizeof *work->patches))
            return false;
        work->patches[work->patch_count++] = (ast_frame_patch){.leader = (int32_t)k, .area = p->moments[k].n};
    }
    if (work->patch_count > 0)
        qsort(work->patches, work->patch_count, sizeof *work->patches, compare_patches);
    for (size_t i = 0; i < work->patch_count; i++)
        work->patch_of[work->patches[i].leader] = (int32_t)i;
    return true;
}

/* ---- Where patches are ------------------------------------------------------------------------------------------- */

/* The label of a pixel of the pinhole image; labels are those of the image as the camera gave it. */
static int32_t label_at(const ast_depth_frame *frame, const int32_t *labels, size_t u, size_t v) {
    const ast_lens_maps *maps = frame->maps;
    if (!maps)
        return labels[v * frame->width + u];
    const float *from = maps->to_distorted + 2 * (v * frame->width + u);
    bool inside =
        from[0] >= 0 && from[1] >= 0 && from[0] < (float)maps->width - 0.5f && from[1] < (float)maps->height - 0.5f;
    return inside ? labels[(size_t)(from[1] + 0.5f) * maps->width + (size_t)(from[0] + 0.5f)] : -1;
}

/* Adds the point of the plane at the middle of the cell, with weight s^4, because the standard deviation of depth grows
 * with the square of depth. Sums are about the camera, which is near enough for doubles. */
static void add_cell(ast_frame_patch *patch, const ast_depth_frame *frame, const ast_pose *pose, double u, double v) {
    const ast_plane_fit *fit = &frame->patches.fits[patch->leader];
    double s = ast_frame_s(frame, fit, u, v), p[3], at[3];
    if (!(s > 0))
        return;
    double squared = s * s, weight = squared * squared;
    ast_frame_point(frame, u, v, s, p);
    ast_pose_move(pose, p, at);
    patch->scatter.n += weight;
    for (int i = 0, e = 0; i < 3; i++) {
        patch->scatter.mean[i] += weight * p[i];
        for (int j = i; j < 3; j++, e++)
            patch->scatter.products[e] += weight * p[i] * p[j];
        patch->low[i] = at[i] < patch->low[i] ? at[i] : patch->low[i];
        patch->high[i] = at[i] > patch->high[i] ? at[i] : patch->high[i];
    }
    patch->cells++;
    patch->area += AST_CELL * AST_CELL * p[2] / squared;
}

/* From sums about the camera to a scatter in the world: the mean moves, and R S R^T. */
static void scatter_to_world(ast_scatter *s, const ast_pose *pose) {
    static const int at[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double mean[3], central[6] = {0}, rotated[3][3];
    for (int i = 0; i < 3; i++)
        mean[i] = s->mean[i] / s->n;
    for (int i = 0, e = 0; i < 3; i++)
        for (int j = i; j < 3; j++, e++)
            central[e] = s->products[e] - s->n * mean[i] * mean[j];
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < 3; j++)
            rotated[r][j] = pose->matrix[4 * r] * central[at[0][j]] + pose->matrix[4 * r + 1] * central[at[1][j]] +
                            pose->matrix[4 * r + 2] * central[at[2][j]];
    for (int r = 0, e = 0; r < 3; r++)
        for (int c = r; c < 3; c++, e++)
            s->products[e] = ast_dot3(rotated[r], pose->matrix + 4 * c);
    ast_pose_move(pose, mean, s->mean);
}

/* The plane with this normal (in the camera) through a point of the world. */
static ast_plane_equation plane_through(const ast_pose *pose, const double *normal, const double *at) {
    ast_plane_equation plane;
    for (int r = 0; r < 3; r++)
        plane.normal[r] = ast_dot3(pose->matrix + 4 * r, normal);
    plane.offset = ast_dot3(plane.normal, at);
    return plane;
}

static void finish_patch(ast_frame_patch *patch, const ast_depth_frame *frame, const ast_pose *pose) {
    const ast_pixel_moments *sums = &frame->patches.moments[patch->leader];
    const ast_plane_fit *fit = &frame->patches.fits[patch->leader];
    double u = sums->x / sums->n + ast_middle(frame->width), v = sums->y / sums->n + ast_middle(frame->height);
    double s = ast_frame_s(frame, fit, u, v), p[3], normal[3], length = ast_frame_normal(frame, fit, normal);
    scatter_to_world(&patch->scatter, pose);
    ast_frame_point(frame, u, v, s, p);
    ast_pose_move(pose, p, patch->centre);
    patch->depth = p[2];
    patch->camera_distance = 1 / length;
    patch->normal_reliable =
        !frame->patches.uncertain[patch->leader] && !isnan(frame->patches.normals[3 * patch->leader]);
    patch->area *= ast_frame_pixel_area_factor(frame, length);
    patch->plane = plane_through(pose, normal, patch->centre);
}

void ast_frame_place_patches(ast_frame_work *work, const int32_t *labels) {
    const ast_depth_frame *frame = work->frame;
    const ast_patches *p = &frame->patches;
    ast_label_tally tallies[MOST_PATCHES] = {0};
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
        add_cell(&work->patches[i], frame, work->pose, (double)u - 0.5, (double)v - 0.5);
        if (labels && u < frame->width && v < frame->height && frame->leader[v * frame->width + u] == p->leader[k])
            ast_tally_label(&tallies[i], label_at(frame, labels, u, v));
    }
    for (size_t i = 0; i < work->patch_count; i++) {
        work->patches[i].direction = ast_most_frequent_label(&tallies[i]);
        finish_patch(&work->patches[i], frame, work->pose);
    }
}

size_t ast_frame_leaders_around(const ast_frame_work *work, size_t column, size_t row, int32_t *leaders) {
    const ast_patches *p = &work->frame->patches;
    size_t count = 0;
    for (size_t y = row - 1; y != row + 2; y++)
        for (size_t x = column - 1; x != column + 2; x++) { /* -1 wraps to a large number */
            int32_t leader = x < p->across && y < p->down ? p->leader[y * p->across + x] : -1;
            if (ast_frame_track_of(work, leader) >= 0)
                ast_add_once(leaders, &count, leader);
        }
    return count;
}
