/* SPDX-License-Identifier: MIT
 *
 * The rotation of the camera in each frame: in the lines of JSON, and as a file of --rotations. */
#pragma once

#include <asterism.h>
#include <formats.h>
#include <frames.h>
#include <json.h>

/* Of the current frame. */
typedef struct ast_cli_rotation {
    bool known;
    double quaternion[4]; /* x y z w of the rotation from the camera to the first frame, w not negative */
    int rank;
    double deviation[3]; /* degrees */
} ast_cli_rotation;

/* What the stream says; not known where rows were turned by poses, and for streams that do not find rotations. */
ast_cli_rotation ast_cli_rotation_of(ast_stream *stream, const ast_stream_options *options, bool posed);

void ast_cli_rotation_put(ast_text *json, const ast_cli_rotation *rotation);

/* Adds the axes that the directions of the frame support: kind, directions, shares. */
void ast_cli_axes_put(ast_text *json, const ast_world_axes *axes);

/* Opens the file; adds the row of a frame; closes the file, which is there only if all went `well`. */
int ast_cli_rotations_open(ast_output **output, const char *path);
int ast_cli_rotations_add(ast_output *output, const ast_frame_list *list, const ast_input_frame *frame, uint64_t number,
                          const ast_cli_rotation *rotation);
int ast_cli_rotations_close(ast_output *output, bool well);
