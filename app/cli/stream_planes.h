/* SPDX-License-Identifier: MIT
 *
 * The planes of depth frames in stream and segment: found and tracked by the library, written to files. */
#pragma once

#include <asterism_depth.h>

#include "frame_files.h"
#include "stream_poses.h"

/* What the command line says. */
typedef struct ast_cli_stream_plane_settings {
    const char *planes, *labels; /* folders, or NULL */
    double area, offset;         /* NaN: not given */
    int wanted;                  /* the planes are needed for something else */
} ast_cli_stream_plane_settings;

extern const ast_cli_group ast_cli_stream_plane_group;

/* Zeroed at first, so that they can be closed at any point. */
typedef struct ast_cli_stream_planes {
    const ast_cli_stream_plane_settings *given;
    ast_plane_map *map; /* NULL: nobody asked for planes */
    ast_cli_frame_files lists, images;
    int32_t *of; /* (height, width) of the current frame */
    size_t capacity;
    const ast_plane_info *planes; /* of the current frame */
    size_t count;
    double pose[12]; /* of the current frame, with poses */
} ast_cli_stream_planes;

/* Whether anything needs planes. */
int ast_cli_planes_wanted(const ast_cli_stream_plane_settings *given);

int ast_cli_stream_planes_open(ast_cli_stream_planes *planes, const ast_cli_stream_plane_settings *given,
                               ast_context *context, int durable);

/* The names of the files that it will write. */
int ast_cli_stream_planes_check(const ast_cli_stream_planes *planes, const ast_cli_frames *inputs);

/* Right before the first frame: makes the folders. */
int ast_cli_stream_planes_begin(const ast_cli_stream_planes *planes);

/* The planes of the current frame, whose normals have these labels; writes their files. poses: NULL without. */
int ast_cli_stream_planes_take(ast_cli_stream_planes *planes, const ast_cli_frames *inputs,
                               const ast_depth_frame *frame, ast_context *context, const ast_cli_poses *poses,
                               const int32_t *labels, uint64_t number);

/* What the frames have left, for a state; NULL without planes. And back: a run with planes needs a state with planes.
 */
int ast_cli_stream_planes_save(const ast_cli_stream_planes *planes, ast_context *context, const void **bytes,
                               size_t *size);
int ast_cli_stream_planes_load(ast_cli_stream_planes *planes, ast_context *context, const char *path, const void *bytes,
                               size_t size);

void ast_cli_stream_planes_close(ast_cli_stream_planes *planes);
