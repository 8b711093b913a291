/* SPDX-License-Identifier: MIT
 *
 * The parts of SVG that a chart needs. */
#ifndef ASTERISM_REPORT_SVG_H
#define ASTERISM_REPORT_SVG_H

#include "report.h"

/* The start of the drawing, on white; `title` is the description for screen readers. */
void ast_svg_begin(ast_text *svg, int width, int height, const char *title);
void ast_svg_end(ast_text *svg);

typedef enum ast_svg_anchor { AST_SVG_START, AST_SVG_MIDDLE, AST_SVG_END } ast_svg_anchor;

/* A short text without characters that SVG would interpret; y is the baseline. */
void ast_svg_text(ast_text *svg, double x, double y, ast_svg_anchor anchor, const char *text);
void ast_svg_line(ast_text *svg, double x1, double y1, double x2, double y2);
void ast_svg_rectangle(ast_text *svg, double x, double y, double width, double height, ast_colour colour);

/* A thin light line, for a grid; and a text that reads upwards, centred at y. */
void ast_svg_hairline(ast_text *svg, double x1, double y1, double x2, double y2);
void ast_svg_upright(ast_text *svg, double x, double y, const char *text);

/* A small mark around (x, y): circle, square, triangle or diamond, by `shape` modulo 4. */
void ast_svg_mark(ast_text *svg, double x, double y, int32_t shape, ast_colour colour);

#endif
