/* SPDX-License-Identifier: MIT
 *
 * INPUT as directions, whatever it is: a table of points, an image of normals, a depth image, a scene of a data set, a
 * cloud or a mesh. Functions that return an int return -1 to go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_DIRECTIONS_H
#define AST_CLI_DIRECTIONS_H

#include "cloud.h"
#include "depth.h"
#include "sparse.h"

/* How INPUT is to be read. */
typedef struct ast_cli_reading {
    ast_cli_source source;
    ast_cli_camera camera;
    ast_cli_cloud cloud;
    ast_cli_sparse sparse;
} ast_cli_reading;

/* The groups of options that fill it in, for a list of ast_cli_use: the reading is at that offset in the settings. */
#define AST_CLI_READING_GROUPS(offset_of_reading)                                                                      \
    {&ast_cli_camera_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, camera)},                        \
        {&ast_cli_cloud_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, cloud)},                      \
        {&ast_cli_sparse_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, sparse)}, {                  \
        &ast_cli_source_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, source)                       \
    }

typedef enum ast_cli_kind_of_input { AST_CLI_ROWS, AST_CLI_IMAGES, AST_CLI_SURFACE } ast_cli_kind_of_input;

/* What INPUT is, by its name and the options, which must fit that. */
int ast_cli_directions_check(const ast_cli_reading *how, const ast_cli_common *common, const char *input,
                             ast_cli_kind_of_input *kind);

/* What was read; zeroed at first. */
typedef struct ast_cli_directions {
    ast_cli_kind_of_input kind;
    ast_points points;    /* faces have their areas as weights */
    size_t height, width; /* of an image, whose points are its pixels row by row; 0 otherwise */
    size_t first, all;    /* several files on several ranks: the number of the first point; all points there are */
    ast_rows rows;        /* of several files; zeroed otherwise */
    uint64_t look;        /* on several ranks: what tells these files from others */
    ast_input input;
    ast_cli_depth depth;
    ast_cli_surface surface;
} ast_cli_directions;

/* Reads it for the subcommand, on the context's threads. */
int ast_cli_directions_read(ast_cli_directions *directions, const ast_cli_reading *how, const ast_cli_common *common,
                            const char *input, ast_context *context);

/* Before the context is closed. */
void ast_cli_directions_close(ast_cli_directions *directions);

#endif
