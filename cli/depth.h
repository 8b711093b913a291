/* SPDX-License-Identifier: MIT
 *
 * Depth images as points: a sequence of them, and the normals of the one whose turn it is. Every function returns -1 to
 * go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_DEPTH_H
#define AST_CLI_DEPTH_H

#include <depth_frames.h>

#include "camera.h"
#include "files.h"

typedef struct ast_cli_depth {
    ast_depth_options options;
    const char *camera; /* by its name, or NULL */
    ast_depth_frames *frames;
    ast_depth_frame frame; /* the current one */
    ast_depth *maker;
    float *normals;       /* (height, width, 3) */
    size_t width, height; /* of every frame; 0 before the first */
    double seconds;       /* that normals took so far */
} ast_cli_depth;

/* Whether the inputs (NULL-terminated) are depth images: all of them, or none; *depth says. The options must fit what
 * they are. */
int ast_cli_depth_check(const ast_cli_camera *camera, const ast_cli_common *common, const char *const *inputs,
                        int *depth);

/* What the command line alone shows about inputs that are depth images, whatever they are called. */
int ast_cli_depth_usage(const ast_cli_camera *camera, const char *const *inputs);

/* Lists the frames. The depth starts zeroed and is to be closed in any case. */
int ast_cli_depth_open(ast_cli_depth *depth, const ast_cli_camera *camera, const char *const *inputs);

/* The next frame; *found 0 after the last, and after a signal. */
int ast_cli_depth_next(ast_cli_depth *depth, int *found);

/* The only frame of a command that takes one, called `command`. */
int ast_cli_depth_single(ast_cli_depth *depth, const char *command, const char *input);

/* How many scenes --frame all stands for in the data set `input`. */
int ast_cli_depth_scenes(const ast_cli_camera *camera, const char *input, size_t *count);

/* The normals of the current frame, valid until the next ones: one point a pixel, row by row. */
int ast_cli_depth_normals(ast_cli_depth *depth, ast_context *context, ast_points *points);

/* Before the context is closed. */
void ast_cli_depth_close(ast_cli_depth *depth);

#endif
