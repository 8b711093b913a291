/* SPDX-License-Identifier: MIT
 *
 * What asterism stream does before the first frame, or instead of one. */
#pragma once

#include "tracking.h"

/* Enrolls the rows of a file, with the names of another (NULL: every row is somebody without a name), unless the stream
 * was loaded and its log says that somebody was enrolled. -1, or the exit code after the sentence. */
int ast_cli_stream_enroll(ast_cli_tracking *tracking, const char *file, const char *names);

/* Prints how far the state is: the exit code. */
int ast_cli_stream_print_status(const ast_cli_common *common, const char *state);
