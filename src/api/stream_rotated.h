/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "stream.h"

/* If the points have a rotation, *points becomes `view`: the rotated rows, which are valid until the next call. */
ast_status ast_stream_rotate_points(ast_stream *stream, const ast_points **points, ast_points *view);

/* Returns the sentence about a matrix (D, D) that is no rotation, or NULL. D = 3: mended (9) becomes the nearest
 * rotation or mirrored rotation, because a matrix from a text file has lost digits. Other matrices are only checked. */
const char *ast_mend_rotation(const double *given, size_t dimension, double *mended);
