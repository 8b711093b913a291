/* SPDX-License-Identifier: MIT
 *
 * The axes of a building among the landmarks. */
#pragma once

#include "landmarks.h"

/* After a step: finds the axes that the landmarks of the frame support. */
void ast_landmarks_find_axes(ast_landmark_map *map, const ast_frame_directions *sample);
