/* SPDX-License-Identifier: MIT
 *
 * The state file of asterism stream: the library's own state, and which frame was the last. */
#pragma once

#include <asterism.h>

#include <platform.h>
#include <stdint.h>

/* A stream after a frame. The strings belong to whoever writes it, or to what was read. */
typedef struct ast_cli_saved_stream {
    const char *path;       /* of the last frame's file as it was given, or "-" */
    const char *whole_path; /* from the root; "" for standard input */
    uint64_t number;        /* of the frame in the file, or AST_WHOLE */
    uint64_t frames;        /* that the stream has seen */
    uint64_t dimension;
    int posed;          /* the points were turned: 1 by --poses, 2 with --flip-y too, otherwise 0 */
    const void *planes; /* of ast_plane_map_save; NULL: the run found none */
    size_t planes_size;
    const void *state; /* read: for ast_stream_load, with the frames behind the state */
    size_t state_size;
    uint64_t whole_size, file_size; /* read: bytes without these frames, and with them */
    unsigned char *bytes;           /* of the file; NULL: there is none */
    char *names;                    /* of its last frame */
} ast_cli_saved_stream;

/* Reads the file; saved->bytes is NULL if there is none. */
int ast_cli_state_read(const char *path, ast_cli_saved_stream *saved);
void ast_cli_state_free(ast_cli_saved_stream *saved);

/* Where standard output is appended to a file that ends with half a line of a frame, removes that half. Linux may cut a
 * write short at the end of a page when the process is killed; the frame is printed again. */
void ast_cli_state_drop_half_line(void);

/* A file that is written after every frame (stream_save.c). It starts as zeros with a path. */
typedef struct ast_cli_state_file {
    const char *path;
    int durable, open, descriptor, planes;
    uint64_t whole, size; /* bytes of the state alone, and of the file; 0: not written yet */
    struct stat status;   /* of the open file */
} ast_cli_state_file;

/* Goes on with what was read from the file, and loaded by the stream. */
void ast_cli_state_resume(ast_cli_state_file *file, const ast_cli_saved_stream *saved);

/* Saves the stream. After a failure the file is as it was. */
int ast_cli_state_save(ast_cli_state_file *file, ast_stream *stream, const ast_cli_saved_stream *saved);
void ast_cli_state_close(ast_cli_state_file *file);
