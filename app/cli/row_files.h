/* SPDX-License-Identifier: MIT
 *
 * What belongs to the rows of each frame, in folders with one file per frame: weights, and which rows are late. */
#pragma once

#include "input_frames.h"

/* Zeroed at first, but for the folders. */
typedef struct ast_cli_row_files {
    const char *weights, *late; /* folders, or NULL */
    double *weight;             /* of the rows of the current frame */
    uint8_t *is_late;
} ast_cli_row_files;

/* Reads the files of a frame, whose number in the stream is `number`, and sets the weights and late rows of its points.
 * Their names are those of the files of labels (frame_files.h) with .npy, .csv or .txt. A frame without points
 * needs no files. */
int ast_cli_row_files_read(ast_cli_row_files *files, const ast_input_frame *frame, uint64_t number, ast_points *points);

void ast_cli_row_files_free(ast_cli_row_files *files);
