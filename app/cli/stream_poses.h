/* SPDX-License-Identifier: MIT
 *
 * Camera poses: which way the camera was turned in each frame, and the points of a frame turned into the world. */
#pragma once

#include <asterism.h>
#include <frames.h>

/* A row of the file, or a file of the folder. */
typedef struct ast_cli_pose {
    double seconds; /* NaN where it has no time */
    double turn[9]; /* from the camera to the world, row-major */
    double at[3];   /* the camera in the world; NaN where the row has no position */
    bool lost;      /* the row says that there is no pose: numbers that are not finite, or a quaternion of zeros */
} ast_cli_pose;

/* Zeroed at first, but for `flip`. */
typedef struct ast_cli_poses {
    int flip; /* option: the y axis of the camera is negated first */
    const char *path;
    ast_cli_pose *rows;
    size_t count, room;
    ast_folder files; /* the file of each pose, where `path` is a folder */
    size_t *chosen;   /* (list->count) the pose of each frame; NULL: frame i has pose i */
    size_t frames;    /* of `chosen` */
    double *turned;   /* (capacity, 3) the points of the current frame */
    size_t capacity;
} ast_cli_poses;

/* How frames find their pose: -1 where it was not typed. */
enum { AST_CLI_POSES_NEAREST, AST_CLI_POSES_ROW };

/* Reads a text with one row per frame: 16 numbers are a 4 x 4 matrix; otherwise the last four are a quaternion qx qy qz
 * qw, and the first of eight is a time. Lines that begin with # are comments. Or a folder of text files with one matrix
 * each. The poses are to be freed in any case. */
int ast_cli_poses_read(ast_cli_poses *poses, const char *path);

/* Finds the pose of each frame (pose_match.c): by name in a folder, by time or by row in a file. `frames` is how many
 * there are, or SIZE_MAX; `how` is as above. */
int ast_cli_poses_match(ast_cli_poses *poses, const ast_frame_list *list, size_t frames, int how);

/* Whether the frame has a row that says that its pose is not known, as SLAM writes where it has lost track. */
bool ast_cli_poses_lost(const ast_cli_poses *poses, const ast_input_frame *frame);

/* Turns the points of the frame by its pose, in double; *points becomes a view of the turned ones. */
int ast_cli_poses_turn(ast_cli_poses *poses, const ast_input_frame *frame, ast_points *points);

/* The same in place, for unit normals: only their direction has to be kept. */
int ast_cli_poses_turn_normals(const ast_cli_poses *poses, const ast_input_frame *frame, float *normals, size_t count);

/* The 3 x 4 matrix of the frame's pose, row-major; a sentence if the pose has no position. */
int ast_cli_poses_matrix(const ast_cli_poses *poses, const ast_input_frame *frame, double matrix[12]);

void ast_cli_poses_free(ast_cli_poses *poses);
