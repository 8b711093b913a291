/* SPDX-License-Identifier: MIT
 *
 * Which files a sequence of depth images consists of. */
#ifndef ASTERISM_FORMATS_DEPTH_LIST_H
#define ASTERISM_FORMATS_DEPTH_LIST_H

#include "formats.h"

typedef struct ast_depth_item {
    char *path;
    double seconds; /* NaN: no time stamp */
} ast_depth_item;

typedef struct ast_depth_list {
    ast_depth_item *items;
    size_t count;
    bool plain; /* something else than a depth.txt was added */
} ast_depth_list;

/* Adds a file, "-", or the images of a folder, as depth_frames.h says. On failure too the list is to be freed, here and
 * below. */
bool ast_depth_list_input(ast_depth_list *list, const char *input, ast_format_error *error);

/* Adds one path, whatever it is. */
bool ast_depth_list_path(ast_depth_list *list, const char *path, ast_format_error *error);

/* Adds what the bytes of a depth.txt name; `name` is its own, and its files are found from `folder`. */
bool ast_depth_list_tum(ast_depth_list *list, const char *folder, const char *name, const unsigned char *bytes,
                        size_t size, ast_format_error *error);

void ast_depth_list_free(ast_depth_list *list);

#endif
