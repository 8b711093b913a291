/* SPDX-License-Identifier: MIT
 *
 * Clusters followed through frames: what stream and segment have in common. */
#pragma once

#include "progress.h"
#include "frame_normals.h"
#include "rotations.h"
#include "row_files.h"
#include "stream_planes.h"
#include "stream_view.h"

/* What the command line says. */
typedef struct ast_cli_tracking_settings {
    ast_cli_source source;
    ast_cli_passes passes;
    ast_stream_options options; /* without the dimension, which only the first frame shows */
    ast_cli_camera camera;
    ast_frame_list *list; /* their files */
    const char *labels, *similarity, *poses, *rotations;
    const char *weights, *late, *center; /* what belongs to the rows of each frame; the centre of all */
    int frame_axes;
    int rows, all;            /* what the lines have */
    int pose_times, flip_y;   /* pose_times: as ast_cli_poses_match takes it */
    size_t dimension, points; /* 0: not given */
    int durable, strict;
    ast_cli_stream_plane_settings planes;
    ast_cli_stream_view_settings view;
} ast_cli_tracking_settings;

/* The options of the clustering; of labels, poses and frames. */
extern const ast_cli_group ast_cli_tracker_group, ast_cli_tracking_group;

/* A run, the first field of the jobs of both commands. */
struct ast_cli_tracking {
    ast_cli_common common;
    ast_cli_tracking_settings given;
    ast_context *context;
    ast_stream_options options;
    ast_stream *stream; /* opened once the dimension is known */
    ast_cli_frames inputs;
    ast_cli_frame_normals made; /* of depth images */
    ast_cli_poses poses;
    ast_cli_frame_files files; /* of labels */
    ast_cli_frame_files similarity_files;
    ast_output *rotations;       /* of --rotations, while it is open */
    ast_cli_row_files row_files; /* --weights, --late */
    float *center;               /* --center-file */
    uint64_t next;               /* number of the next frame in the stream */
    uint64_t frames;             /* of this run that were taken */
    double *seen;                /* (dimension) the sum of the rows of this run, in many dimensions */
    uint64_t rows_seen;          /* of them; UINT64_MAX: they are not added up any more */
    uint64_t lost;               /* frames that were left out, because their pose is lost */
    int lines;                   /* a line a frame goes to standard output, which is progress enough on a terminal */
    int lasting;                 /* the subcommand writes files of its own */
    int unread;                  /* the reader of standard output has left */
    /* The current frame */
    ast_frame frame;
    ast_points points; /* as they were clustered, valid until the next frame */
    int32_t *labels;   /* (frame.points) */
    size_t capacity;
    float *compared;     /* --similarity, --rows: (2, frame.points) cosines with the own id and the nearest other one */
    int32_t *runners_up; /* (frame.points) the other one */
    float *vectors;      /* (frame.points, 3) of angles in the field */
    size_t vector_capacity;
    ast_cli_rotation rotation;
    ast_world_axes axes; /* --frame-axes */
    const ast_tracked *clusters;
    size_t count;
    ast_cli_stream_planes planes;
    ast_cli_stream_view view;
};

/* The groups of options that fill in the settings, for a list of ast_cli_use. */
#define AST_CLI_TRACKING_AT(field) offsetof(ast_cli_tracking, given.field)
#define AST_CLI_TRACKING_GROUPS                                                                                        \
    {&ast_cli_tracker_group, .offset = AST_CLI_TRACKING_AT(options)},                                                  \
        {&ast_cli_tracking_group, .offset = offsetof(ast_cli_tracking, given)},                                        \
        {&ast_cli_stream_view_group, .offset = AST_CLI_TRACKING_AT(view)},                                             \
        {&ast_cli_passes_group, .offset = AST_CLI_TRACKING_AT(passes)},                                                \
        {&ast_cli_stream_plane_group, .offset = AST_CLI_TRACKING_AT(planes)}, {                                        \
        &ast_cli_camera_group, .offset = AST_CLI_TRACKING_AT(camera)                                                   \
    }

/* For ast_cli_command: the defaults of the library; the step that lists the inputs and checks the options; the step
 * that opens the inputs, reads the poses and opens the context. */
void ast_cli_tracking_defaults(void *data);
int ast_cli_tracking_find(void *data);
int ast_cli_tracking_open(void *data);

/* Opens the stream before the first frame does, for a state of that dimension; `name` is for the sentence. */
int ast_cli_tracking_dimension(ast_cli_tracking *tracking, size_t dimension, const char *name);

/* The step right before the first frame: makes the folders and opens the live view. */
int ast_cli_tracking_begin(void *data);

/* One frame after the other until the last or a signal, for which it returns the exit code: reads it, clusters it,
 * writes its labels, and hands it to `take`, which returns as all functions here. */
int ast_cli_tracking_run(ast_cli_tracking *tracking, int (*take)(void *work), void *work);

/* Prints the frame's line of JSON, and flushes it (stream_line.c). Once nobody reads the lines any more none is
 * printed, and the run ends (0) unless it writes files too. */
int ast_cli_tracking_print(ast_cli_tracking *tracking);

/* Frees all of it, whichever step was the last. */
void ast_cli_tracking_end(void *data);
