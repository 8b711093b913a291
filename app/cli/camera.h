/* SPDX-License-Identifier: MIT
 *
 * The options for depth images: which camera took them, and how normals are made of them. */
#pragma once

#include <asterism_depth.h>
#include <frames.h>

#include "files.h"

typedef struct ast_cli_camera {
    double intrinsics[4]; /* fx, fy, cx, cy; NaN: not given */
    double distortion[5]; /* k1, k2, p1, p2, k3; NaN: not given */
    const char *name;
    size_t raw[2];             /* width and height; 0: not given */
    int raw_type;              /* 1: floats */
    const char *frame;         /* of a data set: a number; NULL: not given */
    double scale;              /* NaN: not given */
    size_t width, height;      /* of the images, by camera.json; 0: not known */
    int smooth;                /* an ast_smooth; -1 before it is resolved */
    ast_depth_options options; /* the rest, without camera and scale */
} ast_cli_camera;

extern const ast_cli_group ast_cli_camera_group;

/* How normals are smoothed: as typed, guided where options about pixels were typed, else `usual`. */
void ast_cli_camera_resolve(ast_cli_camera *camera, const ast_cli_common *common, ast_smooth usual);

/* If neither --intrinsics nor --camera was typed: takes the camera of the data set that the input is, or that of the
 * file camera.json beside the input. */
void ast_cli_camera_beside(ast_cli_camera *camera, const ast_cli_input *input);

/* What an input is taken for: standard input for tables, unless an option says that it is depth images. */
ast_frame_kind ast_cli_camera_kind(const ast_cli_input *input);

/* From words to the library's options, for `input`, which is depth images. units_per_metre is 0 where nothing says. */
int ast_cli_camera_set(const ast_cli_camera *camera, const char *input, ast_depth_options *options);

/* Which scenes of the data set `input` are to be listed; of anything else, nothing changes. */
int ast_cli_camera_scene(const ast_cli_camera *camera, const ast_cli_input *input, ast_frame_list *list);
