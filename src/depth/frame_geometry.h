/* SPDX-License-Identifier: MIT
 *
 * Geometry of a frame: pixels, points in the camera, and the world. */
#pragma once

#include "plane_table.h"
#include "planes.h"

#include <math.h>

/* From camera to world: R p + t, row-major 3 x 4. */
typedef struct ast_pose {
    double matrix[12];
    bool known;  /* whether a pose was given; without one the matrix is the identity, although the camera may move */
    bool mirror; /* the determinant is negative */
} ast_pose;

static inline void ast_pose_move(const ast_pose *pose, const double *p, double *out) {
    for (int r = 0; r < 3; r++)
        out[r] = ast_dot3(pose->matrix + 4 * r, p) + pose->matrix[4 * r + 3];
}

/* s of a plane of the image at a pixel. */
static inline double ast_frame_s(const ast_depth_frame *frame, const ast_plane_fit *fit, double u, double v) {
    return fit->level + fit->slope_x * (u - ast_middle(frame->width)) + fit->slope_y * (v - ast_middle(frame->height));
}

/* The point at a pixel where the inverse depth is s. */
static inline void ast_frame_point(const ast_depth_frame *frame, double u, double v, double s, double *p) {
    const ast_camera *camera = &frame->camera;
    p[2] = 1 / s;
    p[0] = (u - camera->cx) / camera->fx * p[2];
    p[1] = (v - camera->cy) / camera->fy * p[2];
}

/* The unit normal of the plane, -N / |N|, where N . p = 1 for the points p of the plane. Returns |N| = 1 / distance
 * from the camera. */
static inline double ast_frame_normal(const ast_depth_frame *frame, const ast_plane_fit *fit, double *normal) {
    const ast_camera *camera = &frame->camera;
    normal[0] = -camera->fx * fit->slope_x;
    normal[1] = -camera->fy * fit->slope_y;
    normal[2] = -ast_frame_s(frame, fit, camera->cx, camera->cy);
    double length = sqrt(ast_dot3(normal, normal));
    for (int c = 0; c < 3; c++)
        normal[c] /= length;
    return length;
}

/* Returns a factor: a pixel with inverse depth s covers factor / s^3 square metres of the plane. */
static inline double ast_frame_pixel_area_factor(const ast_depth_frame *frame, double length) {
    return length / (frame->camera.fx * frame->camera.fy);
}
