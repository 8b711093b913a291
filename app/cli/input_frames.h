/* SPDX-License-Identifier: MIT
 *
 * Frames of the inputs: tables of points or depth images, whose normals frame_normals.h makes. All depth images of a
 * run come from one camera and have one size. */
#pragma once

#include "camera.h"

/* Zeroed at first, but for the option. */
typedef struct ast_cli_frames {
    const ast_frame_list *list;
    ast_frames *frames;
    ast_input_frame frame;   /* the current one */
    bool go_on;              /* option: image files that cannot be read are left out, with a warning */
    size_t left_out;         /* how many were */
    char remark[AST_REMARK]; /* of reading a text */
    bool said;               /* what one text remarks is said; the others are alike */
    bool unnamed;            /* standard input without --format, before its first table */
    /* Of depth images */
    ast_depth_options options;      /* of their normals */
    const char *camera;             /* by its name, or NULL */
    size_t file_width, file_height; /* by camera.json; 0: not known */
    size_t width, height;           /* of every frame; 0 before the first */
    bool floats;                    /* they hold floats, whose units are theirs */
    double scale;                   /* of floats: units per metre */
} ast_cli_frames;

/* Lists the inputs of the command line, which are all depth images or all tables, as list->depth says; and checks that
 * the options fit what they are. A folder's file `except` (or NULL) is left out. The list is to be freed in any
 * case. */
int ast_cli_frames_list(ast_frame_list *list, const ast_cli_camera *camera, const ast_cli_source *source,
                        const ast_cli_common *common, const char *except);

/* What the command line alone shows about inputs that are depth images, whatever they are called. */
int ast_cli_depth_usage(const ast_cli_camera *camera, const char *input);

/* Opens the frames of a list, which must outlive them. Standard input is raw tables of `raw_points` x `raw_dimension`
 * numbers where those are not 0. The frames are to be closed in any case. */
int ast_cli_frames_open(ast_cli_frames *frames, ast_frame_list *list, const ast_cli_camera *camera,
                        const ast_cli_source *source, size_t raw_points, size_t raw_dimension);

/* Skips the frames up to and including frame `number` of the file called `path`, or `whole_path` from the root, if it
 * is among the inputs; `counted`: the index of frames must count those of the files that are skipped. */
int ast_cli_frames_resume(ast_cli_frames *frames, const char *path, const char *whole_path, uint64_t number,
                          int counted);

/* The next frame; *found 0 after the last, and after a signal. */
int ast_cli_frames_next(ast_cli_frames *frames, int *found);

/* Says of an array of the shape of a camera's images, which is as good as a table, that it is taken for a table. */
void ast_cli_say_table(const ast_cli_common *common, const char *input, const ast_points *points);

/* The only depth image of a command that takes one, called `command`. */
int ast_cli_frames_single(ast_cli_frames *frames, const char *command, const char *input);
