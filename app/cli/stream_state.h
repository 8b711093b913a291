/* SPDX-License-Identifier: MIT
 *
 * The state file of asterism stream: the library's own state, and which frame was the last. */
#pragma once

#include <asterism.h>

#include <stdint.h>

/* A stream after a frame. The strings belong to the file that was read, or to whoever writes. */
typedef struct ast_cli_saved_stream {
    const char *path;       /* of the last frame's file as it was given, or "-" */
    const char *whole_path; /* from the root; "" for standard input */
    uint64_t number;        /* of the frame in the file, or AST_WHOLE */
    uint64_t frames;        /* that the stream has seen */
    uint64_t dimension;
    int posed;         /* the points were turned: 1 by --poses, 2 with --flip-y too, otherwise 0 */
    const void *state; /* of ast_stream_save */
    size_t state_size;
    const void *planes; /* of ast_plane_map_save; NULL: the run found none */
    size_t planes_size;
} ast_cli_saved_stream;

/* Reads the file if it is there; *bytes NULL if it is not, otherwise to free() after the last use of `saved`. */
int ast_cli_state_read(const char *path, unsigned char **bytes, ast_cli_saved_stream *saved);

/* Where standard output is appended to a file that ends with half a line of a frame, removes that half. Linux may cut a
 * write short at the end of a page when the process is killed; the frame is printed again. */
void ast_cli_state_drop_half_line(void);

/* Replaces the file in one step; after a failure it is as it was. */
int ast_cli_state_write(const char *path, int durable, const ast_cli_saved_stream *saved);
