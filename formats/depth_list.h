/* SPDX-License-Identifier: MIT
 *
 * Which files a sequence of depth images consists of. */
#ifndef ASTERISM_FORMATS_DEPTH_LIST_H
#define ASTERISM_FORMATS_DEPTH_LIST_H

#include "formats.h"

typedef struct ast_depth_item {
    char *path;
    double seconds;  /* NaN: no time stamp */
    uint64_t number; /* the scene of a data set, from 0, or AST_DEPTH_WHOLE */
} ast_depth_item;

typedef struct ast_depth_list {
    ast_depth_item *items;
    size_t count;
    bool plain;     /* something else than a depth.txt was added */
    bool scenes;    /* all of it are scenes of a data set */
    bool one_scene; /* of a data set only scene `scene` is to be added, from 0 */
    uint64_t scene;
} ast_depth_list;

/* Adds a file, "-", the images of a folder, or the scenes of a data set, as depth_frames.h says. On failure too the
 * list is to be freed, here and below. */
bool ast_depth_list_input(ast_depth_list *list, const char *input, ast_format_error *error);

/* Adds one path, whatever it is. */
bool ast_depth_list_path(ast_depth_list *list, const char *path, ast_format_error *error);

/* Adds what the bytes of a depth.txt name; `name` is its own, and its files are found from `folder`. */
bool ast_depth_list_tum(ast_depth_list *list, const char *folder, const char *name, const unsigned char *bytes,
                        size_t size, ast_format_error *error);

void ast_depth_list_free(ast_depth_list *list);

#endif
