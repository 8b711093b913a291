/* SPDX-License-Identifier: MIT */
#pragma once

#include "context.h"
#include "stream.h"

/* If the points have a rotation: *points becomes `view`, the rotated rows, valid until the next call. */
ast_status ast_stream_rotate_points(ast_stream *stream, const ast_points **points, ast_points *view);

/* Why a matrix is no rotation, or NULL. D = 3: mended (9) is the nearest one, up to the digits that a text has lost,
 * and it may be mirrored. Otherwise nothing is mended. */
const char *ast_mend_rotation(const double *given, size_t dimension, double *mended);
