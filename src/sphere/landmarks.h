/* SPDX-License-Identifier: MIT
 *
 * The rotation of a camera from the directions that it sees. Directions of surfaces are landmarks of the world that do
 * not move: each frame is rotated onto all of them at once, so that the rotation does not drift while some of them stay
 * in view. In a frame a landmark appears as its narrow mode, the directions within 12 degrees: a mean over a wider
 * angle would move with whatever else is in view.
 *
 * Matrices are (3, 3), row-major; "the rotation" takes the camera to the first frame. Nothing is allocated here. */
#pragma once

#include "directions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AST_LANDMARKS = 64, AST_BUILDING_AXES = 8 };

/* The axes of a building (landmarks_axes.h), in the first frame: the vertical, and walls. */
enum { AST_NO_LINES, AST_MANHATTAN_LINES, AST_ATLANTA_LINES };
typedef struct ast_building {
    uint64_t kind, count;
    double directions[AST_BUILDING_AXES][3];
    double shares[AST_BUILDING_AXES]; /* of the frame, within the narrow angle of the axis or of its opposite */
} ast_building;

/* A direction of the world. */
typedef struct ast_landmark {
    double direction[3];    /* in the first frame */
    double information;     /* 1 / variance of a component of the direction, in radians, if its residual is small */
    double share, usual;    /* share of the last frame that saw it; running mean of the shares since it was found */
    double residual;        /* mean square of how far it was from where it was expected, radians, times the weight */
    double bias[3], weight; /* the same as a vector; the weight alone: share of the frame, 1 for a usual one */
    uint64_t frames;        /* that saw it */
    uint64_t rejected;      /* frames in a row in which another surface was in its place */
    uint64_t last_seen;
} ast_landmark;

/* What is remembered between frames. Plain numbers, so that it can be copied and saved. */
typedef struct ast_landmark_map {
    ast_landmark list[AST_LANDMARKS];
    uint64_t count, frame; /* frames taken */
    double rotation[9];
    double covariance[9];  /* of a small rotation in the first frame that corrects it, radians */
    double velocity[3];    /* the last rotation, smoothed: a rotation vector in the first frame, per frame */
    double explained;      /* the usual share of a frame that lies on landmarks */
    uint64_t rank;         /* degrees of freedom that the last frame determines: 0, 2 or 3 */
    uint64_t axes_kind;    /* of the last frame */
    ast_building building; /* the last that was found */
} ast_landmark_map;

/* Directions of a frame, whose weights are the rows that each stands for, and working memory. */
typedef struct ast_frame_directions {
    const ast_direction_kernels *kernels;
    ast_weighted_directions rows;
    double total;                  /* of the weights */
    ast_weighted_directions parts; /* rows of one landmark after the other, or those of none: room for all rows */
    int32_t *nearest;              /* (rows.count) */
} ast_frame_directions;

/* No landmarks; the next frame is the first. */
void ast_landmarks_start(ast_landmark_map *map);

/* Takes a frame: finds the rotation, moves the landmarks, and adds new ones. */
void ast_landmarks_step(ast_landmark_map *map, ast_frame_directions *sample);

/* Whether numbers that were read are a map. */
bool ast_landmarks_are_possible(const ast_landmark_map *map);

/* Sets the rotation that the next frame is expected to have, for example from an IMU. */
void ast_landmarks_expect_rotation(ast_landmark_map *map, const double *rotation);
