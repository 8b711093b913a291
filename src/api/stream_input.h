/* SPDX-License-Identifier: MIT
 *
 * A frame as a stream takes it. */
#pragma once

#include "stream.h"

#define AST_MAX_QUALITY 0x1p20

/* Copies the centre of the options. */
ast_status ast_stream_keep_center(ast_stream *stream, const float *center);

/* What the stream makes of the rows of a caller, which were checked: rows without the centre, and (`qualities`) late
 * rows where the weight is small. *taken is a view of memory of the caller and of the stream. */
ast_status ast_stream_prepare_points(ast_stream *stream, const ast_points *given, bool qualities, ast_points *taken);
