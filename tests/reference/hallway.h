/* SPDX-License-Identifier: MIT
 *
 * The hallway once more, slowly: which points of the world are free, and turning by a quaternion. */
#ifndef REF_HALLWAY_H
#define REF_HALLWAY_H

#include "asterism_depth.h"
#include "scene.h"

#include <stdbool.h>

/* Whether a point of the world is in the corridor and in nothing that stands there. */
bool ref_hallway_free(const double *point);

/* v turned by the quaternion x y z w. */
void ref_hallway_turn(const double *rotation, const double *v, double *turned);

/* The ray of a pixel, of depth 1, in the camera's coordinates. */
void ref_hallway_ray(const ast_camera *camera, size_t column, size_t row, double *ray);

/* The point of the world that a pixel sees at a depth. */
void ref_hallway_point(const ast_hallway *hallway, const ast_hallway_frame *frame, size_t column, size_t row,
                       double depth, double *point);

/* Default options for images of 640 / divisor x 480 / divisor pixels with the same view. */
ast_hallway ref_hallway_smaller(size_t divisor);

/* The exact hits of a frame, (height, width), to free(). */
ast_hit *ref_hallway_hits(const ast_hallway *hallway, size_t index, ast_hallway_frame *frame);

#endif
