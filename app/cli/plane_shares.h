/* SPDX-License-Identifier: MIT
 *
 * What segment prints of planes: a row for each id over all frames. */
#pragma once

#include <asterism_depth.h>

/* A plane over all frames. */
typedef struct ast_cli_plane_row {
    int32_t id, direction; /* the direction of the last frame that saw it */
    double share;          /* sum over frames */
    double area;           /* largest of a frame, square metres */
    double normal[3], offset;
    size_t frames;
    uint64_t first, last;
} ast_cli_plane_row;

/* Zeroed at first. */
typedef struct ast_cli_plane_shares {
    ast_cli_plane_row *rows; /* in order of ids */
    size_t count, room;
} ast_cli_plane_shares;

/* Adds the planes of a frame of so many pixels. -1, or the exit code. */
int ast_cli_plane_shares_add(ast_cli_plane_shares *shares, const ast_plane_info *planes, size_t count, size_t pixels,
                             uint64_t frame);

/* Prints the largest `most` planes, of so many frames; `colour`: each with the colour that it has in the pictures.
 * Changes the order of the rows. */
void ast_cli_plane_shares_print(ast_cli_plane_shares *shares, size_t frames, size_t most, int colour);

void ast_cli_plane_shares_free(ast_cli_plane_shares *shares);
