/* SPDX-License-Identifier: MIT
 *
 * A scene with known truth, in three independent steps: the walk says where the camera is, the rays say what each pixel
 * sees, and the sensor turns this into the output of a depth camera.
 *
 * World: x and y on the floor, z up; camera: x right, y down, z forward; metres. Everything is plain arithmetic and
 * square roots, without library functions whose rounding depends on the processor, so that every machine gives the same
 * bits. */
#pragma once

#include "private/asterism_hallway.h"
#include "fault.h"
#include "pool.h"

enum { AST_SCENE_DIRECTIONS = 6 }; /* +x -x +y -y +z -z */

/* Renders a frame. The options and the index are checked; on failure nothing is written. */
ast_status ast_scene_render(ast_fault *fault, ast_pool *pool, const ast_hallway *hallway, size_t index, uint16_t *depth,
                            int32_t *truth, ast_hallway_frame *frame);

/* ---- The walk --------------------------------------------------------------------------------------------------- */

/* The pose of the camera in frame `index` of `frames`. */
void ast_scene_walk(size_t index, size_t frames, ast_hallway_frame *frame);

/* ---- Rays ------------------------------------------------------------------------------------------------------- */

/* What a pixel sees. */
typedef struct ast_hit {
    double depth;         /* along the optical axis */
    float normal_dot_ray; /* |normal . ray| for a ray of depth 1, which is longer than 1 off the optical axis */
    int8_t direction;     /* of the surface: 0..5, -1 for a curved one */
} ast_hit;

/* A box relative to the position of the camera, along the axes of the world, and the columns first[0]..last[0] and rows
 * first[1]..last[1] in which it may be visible. */
typedef struct ast_visible_box {
    double low[3], high[3];
    double first[2], last[2];
} ast_visible_box;

enum { AST_SCENE_SOLIDS = 7 };

/* A camera pose, and what is visible from it. */
typedef struct ast_scene_view {
    ast_camera camera;
    double origin[3];
    double axes[3][3]; /* the camera's x, y, z in the world */
    ast_visible_box room;
    ast_visible_box solids[AST_SCENE_SOLIDS];
} ast_scene_view;

void ast_scene_view_open(ast_scene_view *view, const ast_camera *camera, const ast_hallway_frame *frame);

/* Row `row` of the image: (width) hits. Every ray hits something, because the corridor is closed. */
void ast_scene_cast_row(const ast_scene_view *view, size_t row, size_t width, ast_hit *hits);

/* ---- The sensor ------------------------------------------------------------------------------------------------- */

/* Row `row` of the sensor's output, computed from all hits (height, width); truth may be NULL. */
void ast_scene_sense_row(const ast_hallway *hallway, size_t index, size_t row, const ast_hit *hits, uint16_t *depth,
                         int32_t *truth);
