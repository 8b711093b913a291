/* SPDX-License-Identifier: MIT
 *
 * A small picture of a frame: the clusters as colours over shades of grey, as the overlays have them, in so few colours
 * and pixels that a page can hold hundreds. */
#ifndef ASTERISM_REPORT_SMALL_H
#define ASTERISM_REPORT_SMALL_H

#include "json.h"
#include "report.h"

enum { AST_SMALL_WIDTH = 160, AST_SMALL_HEIGHT = 120 };

/* What is made small: labels, and what lies below them, a depth image or a picture. */
typedef struct ast_small {
    const int32_t *labels; /* (height, width) */
    size_t width, height;
    const ast_depth_image *depth; /* or NULL */
    double units_per_metre;
    const ast_picture *picture; /* or NULL */
} ast_small;

/* Appends a PNG as a data URL, at most AST_SMALL_WIDTH x AST_SMALL_HEIGHT with the proportions kept. */
bool ast_small_json(const ast_small *small, ast_text *json, const char *key, ast_format_error *error);

#endif
