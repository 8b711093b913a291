/* SPDX-License-Identifier: MIT
 *
 * The frames of one file of tables, one after the other, in the caller's own thread. */
#ifndef ASTERISM_FORMATS_TABLE_FRAMES_H
#define ASTERISM_FORMATS_TABLE_FRAMES_H

#include "frames.h"

typedef struct ast_table_frames ast_table_frames;

/* NULL on failure. `stop` is as for ast_bytes_open. */
ast_table_frames *ast_table_frames_open(const char *path, const ast_frames_options *options, int stop,
                                        ast_format_error *error);

/* Whether frames are told apart by their number in the file, since its name stands for more than one. */
bool ast_table_frames_numbered(const ast_table_frames *frames);

/* Passes over the next `count` frames, or all that are left where the file says how many there are: how many. */
bool ast_table_frames_skip(ast_table_frames *frames, uint64_t count, uint64_t *skipped, ast_format_error *error);

/* 1 and a view of the next frame, valid until the next call; 0 after the last; -1 and a sentence on failure, such as
 * for a frame that is cut short. */
int ast_table_frames_next(ast_table_frames *frames, ast_points *points, ast_format_error *error);

void ast_table_frames_close(ast_table_frames *frames); /* NULL is fine */

#endif
