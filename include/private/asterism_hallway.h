/* SPDX-License-Identifier: MIT
 *
 * Not installed, and not part of the public interface: a ray-cast scene with a known answer, for the command, the
 * Python package, the tests and the benchmarks.
 *
 * A corridor with a turn of 90 degrees (walls, floor, ceiling, boxes, a cylinder), seen by a camera that a person
 * carries through it, with the noise of a structured-light sensor. On the way directions go out of sight and return.
 * The depth has a standard deviation of 1.2 mm + 1.9 mm (z - 0.4)^2, z in metres, and steps of 1/8 pixel of disparity
 * at a baseline of 0.075 m. Holes are at the edges of objects, in their shadows (the projector is to the right of the
 * camera), where a surface is seen at more than 80 degrees from its normal, and outside 0.5 to 8 m. */
#ifndef ASTERISM_HALLWAY_H
#define ASTERISM_HALLWAY_H

#include "../asterism_depth.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ast_hallway {
    size_t frames;        /* 120: of the whole walk; with more frames the camera moves more slowly */
    size_t width, height; /* 640, 480; at most 2^27 pixels */
    ast_camera camera;    /* fx = fy = 525, centre 319.5 239.5 */
    int noise;            /* 1: sensor noise, disparity steps and holes; 0: exact depth everywhere */
    uint64_t seed;        /* 1: of the noise */
} ast_hallway;

/* The pose of the camera. */
typedef struct ast_hallway_frame {
    double position[3]; /* of the camera, in the world (x, y on the floor, z up), metres */
    double rotation[4]; /* camera to world: quaternion qx qy qz qw */
    double seconds;     /* since the start, at 30 frames per second */
} ast_hallway_frame;

AST_API void ast_hallway_init(ast_hallway *hallway);
AST_API const char *ast_hallway_problem(const ast_hallway *hallway); /* NULL, or one sentence */

/* The true surface directions in the world: (*count, 3), constant: +x -x +y -y +z -z. */
AST_API const double *ast_hallway_directions(size_t *count);

/* Renders frame `index`, which depends only on the options and the index. depth (H, W): millimetres, 0 for holes.
 * truth (H, W, or NULL): the index of the surface's direction, -1 where the surface is curved and in holes. frame may
 * be NULL. */
AST_API ast_status ast_hallway_render(ast_context *context, const ast_hallway *hallway, size_t index, uint16_t *depth,
                                      int32_t *truth, ast_hallway_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
