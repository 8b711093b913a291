/* SPDX-License-Identifier: MIT
 *
 * What asterism stream reads: files, folders and standard input as one sequence of frames, each with a name. The frames
 * are tables of points or depth images. */
#ifndef AST_CLI_STREAM_INPUTS_H
#define AST_CLI_STREAM_INPUTS_H

#include <formats.h>

#include "depth.h"
#include "files.h"

/* Stands for "the whole file" where frames of an array have a number. */
#define AST_CLI_WHOLE UINT64_MAX

typedef struct ast_cli_inputs {
    const ast_cli_source *how;    /* of tables */
    ast_raw raw;                  /* of standard input; points 0: not raw */
    const ast_cli_camera *camera; /* of depth images; NULL: tables */
    ast_cli_depth depth;
    char **paths; /* (count) files, folders listed, and "-" */
    size_t count;
    size_t position;    /* of the file that is open, or of the next one */
    ast_frames *frames; /* of the file that is open, or NULL */
    uint64_t in_file;   /* frames of it that were handed out or skipped */
    uint64_t row;       /* the current frame's place among all frames of the inputs, skipped ones included */
    uint64_t rows;      /* frames handed out or skipped */
    /* The current frame */
    char *source; /* its name: the file's, with #17 behind it for frames of an array and of standard input */
    const char *path;
    uint64_t number; /* within the file, or AST_CLI_WHOLE */
} ast_cli_inputs;

/* Every function returns -1 to go on, or the exit code after printing the sentence. */

/* Lists the inputs, `given` NULL-terminated: folders become their files of known formats in natural order. The file
 * `except` (or NULL) is left out of folders. The inputs are to be freed in any case, before the context is. */
int ast_cli_inputs_list(ast_cli_inputs *inputs, const char *const *given, const char *except);

/* Skips the frames up to and including frame `number` of the file called `path`, or `whole_path` from the root, if it
 * is among the inputs; `counted`: rows must count the frames of the files that are skipped. */
int ast_cli_inputs_resume(ast_cli_inputs *inputs, const char *path, const char *whole_path, uint64_t number,
                          int counted);

/* The next frame; *found 0 after the last. Waiting for standard input ends with a signal, also with *found 0. The
 * context makes normals of depth images. */
int ast_cli_inputs_next(ast_cli_inputs *inputs, ast_context *context, ast_points *points, int *found);

/* How many frames there are, or SIZE_MAX where that does not show before they are read. */
size_t ast_cli_inputs_frames(const ast_cli_inputs *inputs);

/* Whether depth frames have a number in their input, since its name stands for all of them: raw ones and scenes. */
int ast_cli_inputs_numbered(const ast_cli_inputs *inputs);

void ast_cli_inputs_free(ast_cli_inputs *inputs);

#endif
