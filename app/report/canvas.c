/* SPDX-License-Identifier: MIT
 *
 * Pixels: how far the middle of a pixel is from a shape says how much of it is covered. Letters are 5 x 7 dots. */
#include "canvas.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
enum { LETTER_WIDTH = 5, LETTER_HEIGHT = 7, LETTER_STEP = 6, SECTOR_STEPS = 12, DASH = 6 };

/* ' ' to '~': five columns, the lowest bit on top. */
static const unsigned char letters[95][LETTER_WIDTH] = {
    {0, 0, 0, 0, 0},
    {0, 0, 0x5f, 0, 0},
    {0, 7, 0, 7, 0},
    {0x14, 0x7f, 0x14, 0x7f, 0x14},
    {0x24, 0x2a, 0x7f, 0x2a, 0x12},
    {0x23, 0x13, 8, 0x64, 0x62},
    {0x36, 0x49, 0x55, 0x22, 0x50},
    {0, 5, 3, 0, 0},
    {0, 0x1c, 0x22, 0x41, 0},
    {0, 0x41, 0x22, 0x1c, 0},
    {0x14, 8, 0x3e, 8, 0x14},
    {8, 8, 0x3e, 8, 8},
    {0, 0x50, 0x30, 0, 0},
    {8, 8, 8, 8, 8},
    {0, 0x60, 0x60, 0, 0},
    {0x20, 0x10, 8, 4, 2},
    {0x3e, 0x51, 0x49, 0x45, 0x3e},
    {0, 0x42, 0x7f, 0x40, 0},
    {0x42, 0x61, 0x51, 0x49, 0x46},
    {0x21, 0x41, 0x45, 0x4b, 0x31},
    {0x18, 0x14, 0x12, 0x7f, 0x10},
    {0x27, 0x45, 0x45, 0x45, 0x39},
    {0x3c, 0x4a, 0x49, 0x49, 0x30},
    {1, 0x71, 9, 5, 3},
    {0x36, 0x49, 0x49, 0x49, 0x36},
    {6, 0x49, 0x49, 0x29, 0x1e},
    {0, 0x36, 0x36, 0, 0},
    {0, 0x56, 0x36, 0, 0},
    {8, 0x14, 0x22, 0x41, 0},
    {0x14, 0x14, 0x14, 0x14, 0x14},
    {0, 0x41, 0x22, 0x14, 8},
    {2, 1, 0x51, 9, 6},
    {0x32, 0x49, 0x79, 0x41, 0x3e},
    {0x7e, 0x11, 0x11, 0x11, 0x7e},
    {0x7f, 0x49, 0x49, 0x49, 0x36},
    {0x3e, 0x41, 0x41, 0x41, 0x22},
    {0x7f, 0x41, 0x41, 0x22, 0x1c},
    {0x7f, 0x49, 0x49, 0x49, 0x41},
    {0x7f, 9, 9, 9, 1},
    {0x3e, 0x41, 0x49, 0x49, 0x7a},
    {0x7f, 8, 8, 8, 0x7f},
    {0, 0x41, 0x7f, 0x41, 0},
    {0x20, 0x40, 0x41, 0x3f, 1},
    {0x7f, 8, 0x14, 0x22, 0x41},
    {0x7f, 0x40, 0x40, 0x40, 0x40},
    {0x7f, 2, 0x0c, 2, 0x7f},
    {0x7f, 4, 8, 0x10, 0x7f},
    {0x3e, 0x41, 0x41, 0x41, 0x3e},
    {0x7f, 9, 9, 9, 6},
    {0x3e, 0x41, 0x51, 0x21, 0x5e},
    {0x7f, 9, 0x19, 0x29, 0x46},
    {0x46, 0x49, 0x49, 0x49, 0x31},
    {1, 1, 0x7f, 1, 1},
    {0x3f, 0x40, 0x40, 0x40, 0x3f},
    {0x1f, 0x20, 0x40, 0x20, 0x1f},
    {0x3f, 0x40, 0x38, 0x40, 0x3f},
    {0x63, 0x14, 8, 0x14, 0x63},
    {7, 8, 0x70, 8, 7},
    {0x61, 0x51, 0x49, 0x45, 0x43},
    {0, 0x7f, 0x41, 0x41, 0},
    {2, 4, 8, 0x10, 0x20},
    {0, 0x41, 0x41, 0x7f, 0},
    {4, 2, 1, 2, 4},
    {0x40, 0x40, 0x40, 0x40, 0x40},
    {0, 1, 2, 4, 0},
    {0x20, 0x54, 0x54, 0x54, 0x78},
    {0x7f, 0x48, 0x44, 0x44, 0x38},
    {0x38, 0x44, 0x44, 0x44, 0x20},
    {0x38, 0x44, 0x44, 0x48, 0x7f},
    {0x38, 0x54, 0x54, 0x54, 0x18},
    {8, 0x7e, 9, 1, 2},
    {0x0c, 0x52, 0x52, 0x52, 0x3e},
    {0x7f, 8, 4, 4, 0x78},
    {0, 0x44, 0x7d, 0x40, 0},
    {0x20, 0x40, 0x44, 0x3d, 0},
    {0x7f, 0x10, 0x28, 0x44, 0},
    {0, 0x41, 0x7f, 0x40, 0},
    {0x7c, 4, 0x18, 4, 0x78},
    {0x7c, 8, 4, 4, 0x78},
    {0x38, 0x44, 0x44, 0x44, 0x38},
    {0x7c, 0x14, 0x14, 0x14, 8},
    {8, 0x14, 0x14, 0x18, 0x7c},
    {0x7c, 8, 4, 4, 8},
    {0x48, 0x54, 0x54, 0x54, 0x20},
    {4, 0x3f, 0x44, 0x40, 0x20},
    {0x3c, 0x40, 0x40, 0x20, 0x7c},
    {0x1c, 0x20, 0x40, 0x20, 0x1c},
    {0x3c, 0x40, 0x30, 0x40, 0x3c},
    {0x44, 0x28, 0x10, 0x28, 0x44},
    {0x0c, 0x50, 0x50, 0x50, 0x3c},
    {0x44, 0x64, 0x54, 0x4c, 0x44},
    {0, 8, 0x36, 0x41, 0},
    {0, 0, 0x7f, 0, 0},
    {0, 0x41, 0x36, 8, 0},
    {8, 4, 8, 0x10, 8},
};

/* ---- Pixels ------------------------------------------------------------------------------------------------------ */

static void blend(ast_canvas *c, long x, long y, ast_colour colour, double cover) {
    if (x < 0 || y < 0 || (size_t)x >= c->picture->width || (size_t)y >= c->picture->height || !(cover > 0))
        return;
    unsigned char *rgb = c->picture->rgb + 3 * ((size_t)y * c->picture->width + (size_t)x);
    const unsigned char ink[3] = {colour.red, colour.green, colour.blue};
    double part = fmin(1, cover);
    for (int i = 0; i < 3; i++)
        rgb[i] = (unsigned char)lround(rgb[i] + part * (ink[i] - rgb[i]));
}

typedef double distance_to(double x, double y, const double *shape);

/* Every pixel of the box by how far its middle is inside the shape. */
static void cover(ast_canvas *c, const double box[4], distance_to *inside, const double *shape, ast_pen pen) {
    for (long y = (long)floor(box[1]); y <= (long)ceil(box[3]); y++)
        for (long x = (long)floor(box[0]); x <= (long)ceil(box[2]); x++)
            blend(c, x, y, pen.colour,
                  pen.opacity * fmin(1, fmax(0, 0.5 + inside((double)x + 0.5, (double)y + 0.5, shape))));
}

/* shape: both ends, half the width. */
static double inside_line(double x, double y, const double *s) {
    double dx = s[2] - s[0], dy = s[3] - s[1], square = dx * dx + dy * dy;
    double t = square > 0 ? fmax(0, fmin(1, ((x - s[0]) * dx + (y - s[1]) * dy) / square)) : 0;
    return s[4] - hypot(x - s[0] - t * dx, y - s[1] - t * dy);
}

/* shape: centre, inner and outer radius. */
static double inside_ring(double x, double y, const double *s) {
    double distance = hypot(x - s[0], y - s[1]);
    return fmin(s[3] - distance, distance - s[2]);
}

static void pixel_line(ast_canvas *c, const double *from, const double *to, ast_pen pen) {
    double half = fmax(0.5, pen.width * AST_CANVAS_SCALE / 2);
    double s[5] = {from[0] * AST_CANVAS_SCALE, from[1] * AST_CANVAS_SCALE, to[0] * AST_CANVAS_SCALE,
                   to[1] * AST_CANVAS_SCALE, half};
    double box[4] = {fmin(s[0], s[2]) - half - 1, fmin(s[1], s[3]) - half - 1, fmax(s[0], s[2]) + half,
                     fmax(s[1], s[3]) + half};
    cover(c, box, inside_line, s, pen);
}

static void pixel_ring(ast_canvas *c, double x, double y, double inner, double outer, ast_pen pen) {
    double s[4] = {x * AST_CANVAS_SCALE, y * AST_CANVAS_SCALE, inner * AST_CANVAS_SCALE, outer * AST_CANVAS_SCALE};
    double box[4] = {s[0] - s[3] - 1, s[1] - s[3] - 1, s[0] + s[3], s[1] + s[3]};
    cover(c, box, inside_ring, s, pen);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

void ast_canvas_begin(ast_canvas *c, const char *title) {
    if (c->svg)
        ast_svg_begin(c->svg, c->width, c->height, title);
    else
        memset(c->picture->rgb, 255, 3 * c->picture->width * c->picture->height);
}

void ast_canvas_end(ast_canvas *c) {
    if (c->svg)
        ast_svg_end(c->svg);
}

static void svg_stroke(const ast_canvas *c, ast_pen pen) {
    ast_text_printf(c->svg,
                    "fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"%.2f\" stroke-opacity=\"%.2f\"%s/>\n",
                    pen.colour.red, pen.colour.green, pen.colour.blue, pen.width, pen.opacity,
                    pen.dashed ? " stroke-dasharray=\"6 4\"" : "");
}

static void svg_fill(const ast_canvas *c, ast_pen pen) {
    ast_text_printf(c->svg, "fill=\"#%02x%02x%02x\" fill-opacity=\"%.2f\"/>\n", pen.colour.red, pen.colour.green,
                    pen.colour.blue, pen.opacity);
}

void ast_canvas_path(ast_canvas *c, const double *points, size_t count, ast_pen pen) {
    double along = 0;
    if (c->svg && count > 1) {
        ast_text_put(c->svg, "<polyline points=\"");
        for (size_t i = 0; i < count; i++)
            ast_text_printf(c->svg, "%s%.2f,%.2f", i ? " " : "", points[2 * i], points[2 * i + 1]);
        ast_text_put(c->svg, "\" ");
        svg_stroke(c, pen);
    }
    for (size_t i = 1; !c->svg && i < count; i++) {
        const double *from = points + 2 * i - 2, *to = points + 2 * i;
        along += hypot(to[0] - from[0], to[1] - from[1]);
        if (!pen.dashed || fmod(along, 2 * DASH) < DASH)
            pixel_line(c, from, to, pen);
    }
}

void ast_canvas_disc(ast_canvas *c, double x, double y, double radius, ast_pen pen) {
    if (!c->svg) {
        pixel_ring(c, x, y, -1, radius, pen);
        return;
    }
    ast_text_printf(c->svg, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" ", x, y, radius);
    svg_fill(c, pen);
}

void ast_canvas_ring(ast_canvas *c, double x, double y, double radius, ast_pen pen) {
    if (!c->svg) {
        pixel_ring(c, x, y, radius - pen.width / 2, radius + pen.width / 2, pen);
        return;
    }
    ast_text_printf(c->svg, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" ", x, y, radius);
    svg_stroke(c, pen);
}

/* shape: centre, inner and outer radius, angles of both sides. */
static double inside_sector(double x, double y, const double *s) {
    double away = atan2(x - s[0], s[1] - y), middle = (s[4] + s[5]) / 2, radius = hypot(x - s[0], y - s[1]);
    double off = fabs(remainder(away - middle, 2 * PI)), side = ((s[5] - s[4]) / 2 - off) * radius;
    return fmin(side, inside_ring(x, y, s));
}

void ast_canvas_sector(ast_canvas *c, double x, double y, double inner, double outer, double from, double to,
                       ast_pen pen) {
    if (!c->svg) {
        double s[6] = {x * AST_CANVAS_SCALE,
                       y * AST_CANVAS_SCALE,
                       inner > 0 ? inner * AST_CANVAS_SCALE : -1,
                       outer * AST_CANVAS_SCALE,
                       from,
                       to};
        double box[4] = {s[0] - s[3] - 1, s[1] - s[3] - 1, s[0] + s[3], s[1] + s[3]};
        cover(c, box, inside_sector, s, pen);
        return;
    }
    ast_text_put(c->svg, "<polygon points=\"");
    for (int side = 0; side < 2; side++)
        for (int i = 0; i <= SECTOR_STEPS; i++) {
            double angle = from + (to - from) * (side ? SECTOR_STEPS - i : i) / SECTOR_STEPS;
            double radius = side ? inner : outer;
            ast_text_printf(c->svg, "%.2f,%.2f ", x + radius * sin(angle), y - radius * cos(angle));
        }
    ast_text_put(c->svg, "\" ");
    svg_fill(c, pen);
}

static void svg_text(const ast_canvas *c, double x, double y, ast_svg_anchor anchor, const char *text) {
    ast_text safe = {0};
    for (const char *at = text; *at; at++)
        if (*at == '<')
            ast_text_put(&safe, "&lt;");
        else if (*at == '>')
            ast_text_put(&safe, "&gt;");
        else if (*at == '&')
            ast_text_put(&safe, "&amp;");
        else
            ast_text_printf(&safe, "%c", *at >= ' ' && *at <= '~' ? *at : '?');
    c->svg->failed |= safe.failed;
    if (safe.size > 0)
        ast_svg_text(c->svg, x, y, anchor, safe.bytes);
    ast_text_free(&safe);
}

void ast_canvas_text(ast_canvas *c, double x, double y, ast_svg_anchor anchor, const char *text) {
    static const ast_colour ink = {0x22, 0x22, 0x22};
    if (c->svg) {
        svg_text(c, x, y, anchor, text);
        return;
    }
    double width = LETTER_STEP * (double)strlen(text), part = anchor == AST_SVG_START ? 0
                                                              : anchor == AST_SVG_END ? 1
                                                                                      : 0.5;
    long left = lround(AST_CANVAS_SCALE * (x - part * width)), top = lround(AST_CANVAS_SCALE * (y - LETTER_HEIGHT - 1));
    for (; *text; text++, left += (long)LETTER_STEP * AST_CANVAS_SCALE) {
        const unsigned char *columns = letters[*text >= ' ' && *text <= '~' ? *text - ' ' : '?' - ' '];
        for (int i = 0; i < LETTER_WIDTH * AST_CANVAS_SCALE; i++)
            for (int j = 0; j < LETTER_HEIGHT * AST_CANVAS_SCALE; j++)
                if (columns[i / AST_CANVAS_SCALE] >> (j / AST_CANVAS_SCALE) & 1)
                    blend(c, left + i, top + j, ink, 1);
    }
}
