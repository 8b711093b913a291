/* SPDX-License-Identifier: MIT
 *
 * INPUT as directions, whatever it is: a table of points, several files as one table, an image of normals, a depth
 * image, a scene of a data set, a cloud or a mesh. */
#pragma once

#include "cloud.h"
#include "frame_normals.h"
#include "sparse.h"
#include "targets.h"

typedef enum ast_cli_kind_of_input { AST_CLI_ROWS, AST_CLI_IMAGES, AST_CLI_SURFACE } ast_cli_kind_of_input;

/* How INPUT is to be read. */
typedef struct ast_cli_reading {
    ast_cli_source source;
    ast_cli_camera camera;
    ast_cli_cloud cloud;
    ast_cli_sparse sparse;
    const ast_cli_input *inputs; /* as typed */
    /* Set by ast_cli_reading_find: */
    ast_cli_kind_of_input kind;
    ast_frame_list *list; /* the files; several tables are read as one. NULL for AST_CLI_SURFACE */
    char *name;           /* several tables: what sentences call them. Otherwise NULL */
} ast_cli_reading;

/* The groups of options that fill it in, for a list of ast_cli_use: the reading is at that offset in the settings. */
#define AST_CLI_READING_GROUPS(offset_of_reading)                                                                      \
    {&ast_cli_camera_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, camera)},                        \
        {&ast_cli_cloud_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, cloud)},                      \
        {&ast_cli_sparse_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, sparse)}, {                  \
        &ast_cli_source_group, .offset = (offset_of_reading) + offsetof(ast_cli_reading, source)                       \
    }

/* Finds out what the inputs of the command line are: one, or files that are read as one. *input becomes its name, or
 * what sentences call them. To be freed in any case. */
int ast_cli_reading_find(ast_cli_reading *how, const ast_cli_common *common, const char **input);
void ast_cli_reading_free(ast_cli_reading *how);

/* Whether the options fit what INPUT is, and no target is a file of it. */
int ast_cli_reading_check(const ast_cli_reading *how, const ast_cli_common *common, const char *input);

/* The memory that a table may take: `memory` bytes (0: all available memory), with `point` bytes for each of its points
 * besides their rows and `component` for each of their components. */
typedef struct ast_cli_budget {
    size_t memory;
    double point, component;
} ast_cli_budget;

/* What was read; zeroed at first. */
typedef struct ast_cli_directions {
    ast_cli_kind_of_input kind;
    ast_points points;    /* faces have their areas as weights; no rows where the table is read in parts */
    size_t height, width; /* of an image, whose points are its pixels row by row; 0 otherwise */
    size_t first, all;    /* several files on several ranks: the number of the first point; all points there are */
    uint64_t rows_hash;   /* on several ranks: a hash of some rows, by which they see that they read the same files */
    int joined;           /* they are the rows of several files, or a rank's own rows of a file that is not mapped */
    int transposed;       /* the columns of the table are the points */
    char remark[AST_REMARK]; /* of reading a text, until it is said */
    int in_parts;            /* the table is larger than memory: it is read through input.source */
    size_t allowed;          /* bytes that may be used, where there is a budget */
    ast_input input;
    ast_cli_frames depth;
    ast_cli_frame_normals made; /* of the depth image */
    ast_cli_surface surface;
} ast_cli_directions;

/* Reads INPUT, on the context's threads. A table that does not fit the budget is only opened, to be read in parts;
 * without a budget (NULL) every table is read. */
int ast_cli_directions_read(ast_cli_directions *directions, const ast_cli_reading *how, const ast_cli_common *common,
                            const char *input, ast_context *context, const ast_cli_budget *budget);

/* Labels or numbers of all points (one of both) in the shape of the input: that of the image, or a number per row. */
ast_array ast_cli_directions_array(const ast_cli_directions *directions, const int32_t *labels, const float *values);

/* The exit code of a call of the library on these points, as ast_cli_status. A row of several files is named by its
 * file and its number there. */
int ast_cli_directions_status(const ast_cli_directions *directions, ast_status status, const ast_context *context,
                              const char *input);

/* Before the context is closed. */
void ast_cli_directions_close(ast_cli_directions *directions);

/* ---- The jobs of commands that read points ----------------------------------------------------------------------- */

/* The first field of such a job. */
typedef struct ast_cli_subject {
    ast_cli_common common;
    ast_cli_reading reading;
    const char *input;
    int axial; /* x and -x are the same: --axial or --undirected */
    ast_context *context;
    ast_cli_directions directions;
} ast_cli_subject;

/* Steps: find out what the input is, check the options, open the context and read; the end frees all of it. */
int ast_cli_subject_find(void *data);
int ast_cli_subject_check(void *data);
int ast_cli_subject_read(void *data);
int ast_cli_subject_read_within(ast_cli_subject *subject, const ast_cli_budget *budget);
void ast_cli_subject_end(void *data);
