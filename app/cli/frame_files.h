/* SPDX-License-Identifier: MIT
 *
 * Files that are written for each frame: labels, pictures. They are called as the frame's file, or by the frame's
 * number where many frames come from one input. */
#pragma once

#include <formats.h>

#include "input_frames.h"

typedef struct ast_cli_frame_files {
    const char *option, *folder; /* --option FOLDER */
    const char *extension;       /* without its dot */
    const char *what;            /* for sentences: "labels" */
    int durable;
} ast_cli_frame_files;

/* The name without its folder and the extensions that say how to read it: 000017 of depth/000017.csv.gz. */
const char *ast_cli_stem(const char *path, size_t *length);

/* Makes sure that no two frames get the same file, and none replaces its input. Nothing to do without a folder. */
int ast_cli_frame_files_check(const ast_cli_frame_files *files, const ast_cli_frames *inputs);

/* Makes the folder, if there is one: once everything is checked, so that wrong usage leaves none behind. */
int ast_cli_frame_files_make(const ast_cli_frame_files *files);

/* Opens the file of the current frame: folder/stem.npy for a file, folder/000017.npy for frames of an array or of
 * standard input, `number` being the frame's number in the stream. */
int ast_cli_frame_files_open(const ast_cli_frame_files *files, const ast_input_frame *frame, uint64_t number,
                             ast_output **output);

/* Puts it in place, or if the writing was not `good`, removes it and says why. */
int ast_cli_frame_files_close(ast_output *output, bool good, ast_format_error *error);
