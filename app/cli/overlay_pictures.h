/* SPDX-License-Identifier: MIT
 *
 * The pictures in colour that lie below the clusters: which belongs to which frame. */
#ifndef AST_CLI_OVERLAY_PICTURES_H
#define AST_CLI_OVERLAY_PICTURES_H

#include <frames.h>

#include "input_frames.h"

typedef struct ast_cli_overlay {
    const char *given;   /* the folder or the file, as given */
    ast_folder pictures; /* in natural order */
    size_t *of_frame;    /* (frames) the picture of each frame, by name; NULL: frame i has picture i */
    size_t frames;
} ast_cli_overlay;

/* Lists the pictures and finds those of the frames: by name, or where not one name is the same, by order. The overlay
 * is to be freed in any case. */
int ast_cli_overlay_open(ast_cli_overlay *overlay, const char *given, const ast_cli_frames *inputs);

/* Reads the picture of the current frame, which must have its size; *found 0 if it has none. */
int ast_cli_overlay_read(const ast_cli_overlay *overlay, const ast_cli_frames *inputs, ast_picture *picture,
                         int *found);

void ast_cli_overlay_free(ast_cli_overlay *overlay);

#endif
