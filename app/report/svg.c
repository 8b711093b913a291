/* SPDX-License-Identifier: MIT
 *
 * SVG as text. Sizes are in pixels, with two decimals. */
#include "svg.h"

void ast_svg_begin(ast_text *svg, int width, int height, const char *title) {
    ast_text_printf(svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                    "role=\"img\" font-family=\"sans-serif\" font-size=\"13\">\n<title>%s</title>\n"
                    "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                    width, height, width, height, title, width, height);
}

void ast_svg_end(ast_text *svg) {
    ast_text_put(svg, "</svg>\n");
}

void ast_svg_text(ast_text *svg, double x, double y, ast_svg_anchor anchor, const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    ast_text_printf(svg, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" fill=\"#222\">%s</text>\n", x, y,
                    anchors[anchor], text);
}

void ast_svg_line(ast_text *svg, double x1, double y1, double x2, double y2) {
    ast_text_printf(svg, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#888\" stroke-width=\"1\"/>\n",
                    x1, y1, x2, y2);
}

void ast_svg_rectangle(ast_text *svg, double x, double y, double width, double height, ast_colour colour) {
    ast_text_printf(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%02x%02x%02x\"/>\n", x, y,
                    width, height, colour.red, colour.green, colour.blue);
}

void ast_svg_hairline(ast_text *svg, double x1, double y1, double x2, double y2) {
    ast_text_printf(svg,
                    "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#ddd\" stroke-width=\"0.7\"/>\n",
                    x1, y1, x2, y2);
}

void ast_svg_upright(ast_text *svg, double x, double y, const char *text) {
    ast_text_printf(svg,
                    "<text transform=\"translate(%.2f %.2f) rotate(-90)\" text-anchor=\"middle\" "
                    "fill=\"#222\">%s</text>\n",
                    x, y, text);
}

void ast_svg_mark(ast_text *svg, double x, double y, int32_t shape, ast_colour colour) {
    static const char *const outlines[] = {"m-3.2 0a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0z", "m-3 -3h6v6h-6z",
                                           "m0 -4l3.8 6.6h-7.6z", "m0 -4.2l4.2 4.2l-4.2 4.2l-4.2 -4.2z"};
    ast_text_printf(svg, "<path fill=\"#%02x%02x%02x\" d=\"M%.2f %.2f%s\"/>\n", colour.red, colour.green, colour.blue,
                    x, y, outlines[(uint32_t)shape % 4]);
}
