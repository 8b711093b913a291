/* SPDX-License-Identifier: MIT
 *
 * Camera poses: which way the camera was turned in each frame, and the points of a frame turned into the world. */
#ifndef AST_CLI_STREAM_POSES_H
#define AST_CLI_STREAM_POSES_H

#include <asterism.h>

#include <stdint.h>

typedef struct ast_cli_poses {
    const char *path;
    double (*turns)[9]; /* (count) rotations from the camera to the world, row-major */
    size_t count, room;
    double *turned; /* (capacity, 3) the points of the current frame */
    size_t capacity;
} ast_cli_poses;

/* Reads a text with one row a frame whose last four columns are a quaternion qx qy qz qw. Lines that begin with # are
 * comments. The poses are to be freed in any case. */
int ast_cli_poses_read(ast_cli_poses *poses, const char *path);

/* Turns the points by row `row`, in double; *points becomes a view of the turned ones. `source` names the frame. */
int ast_cli_poses_turn(ast_cli_poses *poses, uint64_t row, const char *source, ast_points *points);

/* The same in place, for unit normals, which nothing but their direction has to be kept of. */
int ast_cli_poses_turn_normals(const ast_cli_poses *poses, uint64_t row, const char *source, float *normals,
                               size_t count);

void ast_cli_poses_free(ast_cli_poses *poses);

#endif
