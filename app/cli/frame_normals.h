/* SPDX-License-Identifier: MIT
 *
 * The normals of depth images, one image after the other, and a warning if more than half of the pixels with depth get
 * no label: a picture that is mostly black needs a word. Reading the images is input_frames.h. */
#pragma once

#include "input_frames.h"

/* Zeroed at first. */
typedef struct ast_cli_frame_normals {
    ast_depth *maker;        /* opened with the first frame; NULL: the frames are tables */
    ast_depth_frame *frame;  /* the current frame, converted */
    float *normals;          /* (height, width, 3) of the current frame */
    double seconds;          /* that normals took so far */
    ast_depth_report report; /* of the current frame */
    size_t mostly_missing;   /* frames of which more than half was */
} ast_cli_frame_normals;

/* The current frame as points: those of the table, or one normal per pixel, row by row. Valid until the next ones. */
int ast_cli_frame_points(ast_cli_frame_normals *made, const ast_cli_frames *frames, ast_context *context,
                         ast_points *points);

/* After the current frame was clustered at that angle (NaN: without one): of its pixels, holes included, `unlabelled`
 * have no label. Only the first such frame gets a sentence. */
void ast_cli_missing_note(ast_cli_frame_normals *made, const ast_cli_frames *frames, size_t unlabelled, double angle);

/* After the last of `count` frames: how many such frames there were. */
void ast_cli_missing_end(const ast_cli_frame_normals *made, uint64_t count);

/* Before the context is closed. */
void ast_cli_frame_normals_close(ast_cli_frame_normals *made);
