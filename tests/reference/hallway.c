/* SPDX-License-Identifier: MIT */
#include "hallway.h"

#include "reference.h"

#include <math.h>

static bool is_within(const double *p, double x0, double x1, double y0, double y1, double z1) {
    return p[0] > x0 && p[0] < x1 && p[1] > y0 && p[1] < y1 && p[2] < z1;
}

bool ref_hallway_free(const double *p) {
    bool first_part = is_within(p, -2, 10.6, -1.3, 1.3, 2.5), second_part = is_within(p, 7.6, 10.6, -1.3, 9.5, 2.5);
    if (p[2] <= 0 || !(first_part || second_part))
        return false;
    if (is_within(p, 4.9, 5.7, -1.3, -0.8, 0.85) || is_within(p, 5.5, 6.1, 0.85, 1.3, 1.9)) /* sideboard, locker */
        return false;
    if (is_within(p, 10, 10.6, 4.1, 4.8, 0.75) || is_within(p, 7.6, 8.1, 5.1, 5.9, 1.3)) /* crate, cabinet */
        return false;
    if (is_within(p, 9.9, 10.6, 6.5, 7.2, 1.8)) /* wardrobe */
        return false;
    return hypot(p[0] - 10.1, p[1] - 2.6) >= 0.15; /* column */
}

void ref_hallway_turn(const double *q, const double *v, double *turned) {
    /* v + 2 u x (u x v + w v) with u = (x, y, z) */
    double inner[3], outer[3];
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        inner[a] = q[b] * v[c] - q[c] * v[b] + q[3] * v[a];
    }
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        outer[a] = q[b] * inner[c] - q[c] * inner[b];
    }
    for (int a = 0; a < 3; a++)
        turned[a] = v[a] + 2 * outer[a];
}

void ref_hallway_ray(const ast_camera *camera, size_t column, size_t row, double *ray) {
    ray[0] = ((double)column - camera->cx) / camera->fx;
    ray[1] = ((double)row - camera->cy) / camera->fy;
    ray[2] = 1;
}

void ref_hallway_point(const ast_hallway *hallway, const ast_hallway_frame *frame, size_t column, size_t row,
                       double depth, double *point) {
    double ray[3], turned[3];
    ref_hallway_ray(&hallway->camera, column, row, ray);
    ref_hallway_turn(frame->rotation, ray, turned);
    for (int a = 0; a < 3; a++)
        point[a] = frame->position[a] + depth * turned[a];
}

ast_hallway ref_hallway_smaller(size_t divisor) {
    ast_hallway hallway;
    ast_hallway_init(&hallway);
    hallway.width /= divisor;
    hallway.height /= divisor;
    hallway.camera.fx = hallway.camera.fy = 525 / (double)divisor;
    hallway.camera.cx = ((double)hallway.width - 1) / 2;
    hallway.camera.cy = ((double)hallway.height - 1) / 2;
    return hallway;
}

ast_hit *ref_hallway_hits(const ast_hallway *hallway, size_t index, ast_hallway_frame *frame) {
    ast_scene_view view;
    ast_hit *hits = ref_take(hallway->width * hallway->height, sizeof *hits);
    ast_scene_walk(index, hallway->frames, frame);
    ast_scene_view_open(&view, &hallway->camera, frame);
    for (size_t row = 0; row < hallway->height; row++)
        ast_scene_cast_row(&view, row, hallway->width, hits + row * hallway->width);
    return hits;
}
