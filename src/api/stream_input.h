/* SPDX-License-Identifier: MIT
 *
 * Prepares the points of a frame: subtracts the centre, and finds the late rows. */
#pragma once

#include "stream.h"

#define AST_MAX_QUALITY 0x1p20

/* Copies the centre of the options. */
ast_status ast_stream_keep_center(ast_stream *stream, const float *center);

/* Makes *taken from the caller's points, which were checked: subtracts the centre and, with `qualities`, marks rows of
 * small weight as late. *taken points into memory of the caller and of the stream. */
ast_status ast_stream_prepare_points(ast_stream *stream, const ast_points *given, bool qualities, ast_points *taken);
