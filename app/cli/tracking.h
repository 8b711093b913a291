/* SPDX-License-Identifier: MIT
 *
 * Clusters followed through frames: what stream and segment have in common. */
#ifndef AST_CLI_TRACKING_H
#define AST_CLI_TRACKING_H

#include <asterism.h>

#include "frame_files.h"
#include "progress.h"
#include "frame_normals.h"
#include "stream_planes.h"
#include "stream_poses.h"

/* What the command line says. */
typedef struct ast_cli_tracking_settings {
    ast_cli_source source;
    ast_cli_passes passes;
    ast_stream_options options; /* without the dimension, which only the first frame shows */
    ast_cli_camera camera;
    ast_frame_list *list; /* their files */
    const char *labels, *poses;
    int pose_times, flip_y;   /* pose_times: as ast_cli_poses_match takes it */
    size_t dimension, points; /* 0: not given */
    int durable, strict;
    ast_cli_stream_plane_settings planes;
} ast_cli_tracking_settings;

/* The options of the clustering; of labels, poses and frames. */
extern const ast_cli_group ast_cli_tracker_group, ast_cli_tracking_group;

/* A run; zeroed at first, so that it can be closed at any point. */
typedef struct ast_cli_tracking {
    const ast_cli_common *common;
    const ast_cli_tracking_settings *given;
    ast_context *context;
    ast_stream_options options;
    ast_stream *stream; /* opened once the dimension is known */
    ast_cli_frames inputs;
    ast_cli_frame_normals made; /* of depth images */
    ast_cli_poses poses;
    ast_cli_frame_files files; /* of labels */
    uint64_t frames;           /* of this run that were taken */
    int lines;                 /* a line a frame goes to standard output, which is progress enough on a terminal */
    /* The current frame */
    ast_frame frame;
    ast_points points; /* as they were clustered, valid until the next frame */
    int32_t *labels;   /* (frame.points) */
    size_t capacity;
    float *vectors; /* (frame.points, 3) of angles in the field */
    size_t vector_capacity;
    const ast_tracked *clusters;
    size_t count;
    ast_cli_stream_planes planes;
} ast_cli_tracking;

/* Lists the inputs of the command line and checks the options; to be freed in any case. */
int ast_cli_tracking_find(ast_cli_tracking_settings *tracking, const ast_cli_common *common);

void ast_cli_tracking_free(ast_cli_tracking_settings *given);

/* Opens the inputs, reads the poses and opens the context. */
int ast_cli_tracking_open(ast_cli_tracking *tracking, const ast_cli_common *common,
                          const ast_cli_tracking_settings *given);

/* Opens the stream before the first frame does, for a state of that dimension; `name` is for the sentence. */
int ast_cli_tracking_dimension(ast_cli_tracking *tracking, size_t dimension, const char *name);

/* Right before the first frame: makes the folder of the labels. */
int ast_cli_tracking_begin(ast_cli_tracking *tracking);

/* One frame after the other until the last or a signal, for which it returns the exit code: reads it, clusters it,
 * writes its labels, and hands it to `take`, which returns as all functions here. */
int ast_cli_tracking_run(ast_cli_tracking *tracking, int (*take)(void *work), void *work);

/* Prints the frame's line of JSON, and flushes it (stream_line.c). */
int ast_cli_tracking_print(const ast_cli_tracking *tracking);

void ast_cli_tracking_close(ast_cli_tracking *tracking);

#endif
