/* SPDX-License-Identifier: MIT
 *
 * The parts of SVG that a chart needs. */
#ifndef ASTERISM_REPORT_SVG_H
#define ASTERISM_REPORT_SVG_H

#include "report.h"

/* printf into an output; the text has at most 500 characters. */
bool ast_printf(ast_output *output, ast_format_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The start of the drawing, on white; `title` is the description for screen readers. */
bool ast_svg_begin(ast_output *output, int width, int height, const char *title, ast_format_error *error);
bool ast_svg_end(ast_output *output, ast_format_error *error);

typedef enum ast_svg_anchor { AST_SVG_START, AST_SVG_MIDDLE, AST_SVG_END } ast_svg_anchor;

/* A short text without characters that SVG would interpret; y is the baseline. */
bool ast_svg_text(ast_output *output, double x, double y, ast_svg_anchor anchor, const char *text,
                  ast_format_error *error);
bool ast_svg_line(ast_output *output, double x1, double y1, double x2, double y2, ast_format_error *error);
bool ast_svg_rectangle(ast_output *output, double x, double y, double width, double height, ast_colour colour,
                       ast_format_error *error);
/* A thin light line, for a grid; and a text that reads upwards, centred at y. */
bool ast_svg_hairline(ast_output *output, double x1, double y1, double x2, double y2, ast_format_error *error);
bool ast_svg_upright(ast_output *output, double x, double y, const char *text, ast_format_error *error);

/* A small mark around (x, y): circle, square, triangle or diamond, by `shape` modulo 4. */
bool ast_svg_mark(ast_output *output, double x, double y, int32_t shape, ast_colour colour, ast_format_error *error);

#endif
