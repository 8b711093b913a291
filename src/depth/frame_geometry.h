/* SPDX-License-Identifier: MIT
 *
 * Geometry of a frame: pixels, points in the camera, and the world. */
#ifndef AST_FRAME_GEOMETRY_H
#define AST_FRAME_GEOMETRY_H

#include "plane_table.h"
#include "planes.h"

#include <math.h>

/* From camera to world: R p + t, row-major 3 x 4. */
typedef struct ast_pose {
    double matrix[12];
    bool known;  /* false: the identity, and the camera may move between frames */
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

/* Minus the vector N with N . p = 1 on the plane; returns its length. */
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

/* The area of the plane that a pixel covers is this over s^3. */
static inline double ast_frame_pixel_area_factor(const ast_depth_frame *frame, double length) {
    return length / (frame->camera.fx * frame->camera.fy);
}

#endif
