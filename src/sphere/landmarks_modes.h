/* SPDX-License-Identifier: MIT
 *
 * Modes of the directions of a frame: where many of them lie within 12 degrees, and fewer around. */
#pragma once

#include "landmarks.h"

#define AST_NARROW 12.0 /* degrees: what belongs to a mode */
#define AST_CORE 5.0    /* degrees: what its direction is the mean of */

typedef struct ast_mode {
    double direction[3]; /* in the camera */
    double share;        /* of the frame within the narrow angle, 0: none */
} ast_mode;

static inline double ast_dot_of3(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void ast_cross3(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The directions in which a camera with this rotation sees the landmarks. */
void ast_landmarks_expected_directions(const ast_landmark_map *map, const double *rotation, double (*expected)[3]);

/* The weight of the rows with from <= cosine to the centre < below. */
double ast_landmarks_weigh(const ast_frame_directions *sample, const double *centre, double from, double below);

/* Gives each row to the nearest landmark within `wide` degrees: rows ends[k - 1]..ends[k] - 1 of sample->parts are
 * those of landmark k; those of none follow. ends: (map->count + 1). */
void ast_landmarks_divide(const ast_landmark_map *map, const ast_frame_directions *sample, const double *rotation,
                          double wide, size_t *ends);

/* The mode of each landmark (map->count) among its rows, looked for within `wide` degrees of where it is expected. */
void ast_landmarks_find_in_frame(const ast_landmark_map *map, const ast_frame_directions *sample, const size_t *ends,
                                 const double *rotation, double wide, ast_mode *modes);

/* Modes of what is not within the narrow angle of `known` directions, the largest first, `most` at most. Returns their
 * number. The parts of the sample are lost. */
size_t ast_landmarks_find_modes(ast_frame_directions *sample, double (*known)[3], size_t known_count, size_t most,
                                ast_mode *modes);
