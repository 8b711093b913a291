/* SPDX-License-Identifier: MIT
 *
 * A drawing of lines, circles and short texts, as SVG or as pixels: the same calls make both. */
#ifndef ASTERISM_REPORT_CANVAS_H
#define ASTERISM_REPORT_CANVAS_H

#include "report.h"
#include "svg.h"

enum { AST_CANVAS_SCALE = 2 }; /* pixels of a picture to a unit of the drawing */

typedef struct ast_canvas {
    ast_text *svg;        /* NULL: pixels */
    ast_picture *picture; /* (AST_CANVAS_SCALE height, AST_CANVAS_SCALE width) */
    int width, height;
} ast_canvas;

typedef struct ast_pen {
    ast_colour colour;
    double width;
    double opacity; /* 0..1 */
    bool dashed;
} ast_pen;

/* Begins a white drawing: title is for screen readers. */
void ast_canvas_begin(ast_canvas *canvas, const char *title);
void ast_canvas_end(ast_canvas *canvas);

/* points (count, 2) joined by lines. */
void ast_canvas_path(ast_canvas *canvas, const double *points, size_t count, ast_pen pen);

/* A disc, or a ring of the pen's width. */
void ast_canvas_disc(ast_canvas *canvas, double x, double y, double radius, ast_pen pen);
void ast_canvas_ring(ast_canvas *canvas, double x, double y, double radius, ast_pen pen);

/* A sector between two angles clockwise from up, in radians. */
void ast_canvas_sector(ast_canvas *canvas, double x, double y, double inner, double outer, double from, double to,
                       ast_pen pen);

/* ASCII; what is not is drawn as "?", and what SVG would interpret as it is. y is the baseline. */
void ast_canvas_text(ast_canvas *canvas, double x, double y, ast_svg_anchor anchor, const char *text);

#endif
