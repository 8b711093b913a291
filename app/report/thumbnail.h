/* SPDX-License-Identifier: MIT
 *
 * A thumbnail of a frame: the clusters as colours over shades of grey, as in the overlays, with so few colours and
 * pixels that a page can hold hundreds. */
#ifndef ASTERISM_REPORT_THUMBNAIL_H
#define ASTERISM_REPORT_THUMBNAIL_H

#include "report.h"

enum { AST_THUMBNAIL_WIDTH = 160, AST_THUMBNAIL_HEIGHT = 120 };

/* The input: labels, and the depth image below them. */
typedef struct ast_thumbnail {
    const int32_t *labels; /* (height, width) */
    size_t width, height;
    const ast_depth_image *depth;
    double units_per_metre;
} ast_thumbnail;

/* Appends a PNG as a data URL, at most AST_THUMBNAIL_WIDTH x AST_THUMBNAIL_HEIGHT, with the proportions kept. */
bool ast_thumbnail_json(const ast_thumbnail *small, ast_text *json, const char *key, ast_format_error *error);

#endif
