/* SPDX-License-Identifier: MIT
 *
 * Points of the sphere on paper: two hemispheres by Lambert's azimuthal equal-area projection, which preserves
 * density. */
#include "plot.h"

#include <math.h>

#include "svg.h"

enum { RADIUS = 190, WIDTH = 840, HEIGHT = 450, MIDDLE = 240, MOST_POINTS = 4000 };

#define LIGHTEST 150 /* of a point: luma, 0 to 255, on white paper */

static void draw_half(double centre, const char *name, ast_text *svg);
static ast_colour on_paper(ast_colour colour);
static bool project(const float *x, double *across, double *down);
static void draw_means(const float *means, size_t count, ast_text *svg);

void ast_net_draw(const float *points, const int32_t *labels, size_t count, const float *means, size_t means_count,
                  const char *title, ast_text *svg) {
    ast_svg_begin(svg, WIDTH, HEIGHT, title);
    draw_half(WIDTH * 0.25, "around +z, x to the right; rings every 30 degrees", svg);
    draw_half(WIDTH * 0.75, "around -z, x to the left", svg);
    ast_svg_text(svg, WIDTH / 2.0, 24, AST_SVG_MIDDLE, title);
    size_t step = count / MOST_POINTS + 1;
    for (size_t i = 0; i < count; i += step) {
        double across, down;
        if (labels[i] < 0 || !project(points + 3 * i, &across, &down))
            continue;
        ast_colour colour = on_paper(ast_palette(labels[i]));
        ast_text_printf(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\" fill=\"#%02x%02x%02x\"/>\n", across, down,
                        colour.red, colour.green, colour.blue);
    }
    if (means)
        draw_means(means, means_count, svg);
    ast_svg_end(svg);
}

/* Darkens colours that would be too light for small points on white. The hue stays. */
static ast_colour on_paper(ast_colour colour) {
    double luma = 0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue;
    double factor = luma > LIGHTEST ? LIGHTEST / luma : 1;
    return (ast_colour){(unsigned char)(colour.red * factor), (unsigned char)(colour.green * factor),
                        (unsigned char)(colour.blue * factor)};
}

/* |(a, b)| = sqrt(1 - |z|) preserves areas; it is 1 at the equator. The lower half is mirrored: it is seen from
 * below. */
static bool project(const float *x, double *across, double *down) {
    double length = sqrt((double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2]);
    if (!(length > 0) || isinf(length))
        return false;
    double z = fabs(x[2] / length), factor = RADIUS / sqrt(1 + z) / length;
    *across = x[2] >= 0 ? WIDTH * 0.25 + factor * x[0] : WIDTH * 0.75 - factor * x[0];
    *down = MIDDLE - factor * x[1];
    return true;
}

static void draw_half(double centre, const char *name, ast_text *svg) {
    ast_svg_text(svg, centre, MIDDLE + RADIUS + 17, AST_SVG_MIDDLE, name);
    for (int degrees = 30; degrees <= 90; degrees += 30) {
        double radius = RADIUS * sqrt(1 - cos(degrees * 3.14159265358979323846 / 180));
        ast_text_printf(svg, "<circle cx=\"%.1f\" cy=\"%d\" r=\"%.2f\" fill=\"none\" stroke=\"%s\"/>\n", centre, MIDDLE,
                        radius, degrees == 90 ? "#888" : "#ddd");
    }
    ast_svg_hairline(svg, centre - RADIUS, MIDDLE, centre + RADIUS, MIDDLE);
    ast_svg_hairline(svg, centre, MIDDLE - RADIUS, centre, MIDDLE + RADIUS);
}

static void draw_means(const float *means, size_t count, ast_text *svg) {
    for (size_t k = 0; k < count; k++) {
        double across, down;
        if (project(means + 3 * k, &across, &down))
            ast_text_printf(svg,
                            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"9\" fill=\"#fff\" fill-opacity=\"0.8\" "
                            "stroke=\"#000\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" "
                            "font-size=\"10\">%zu</text>\n",
                            across, down, across, down + 3.5, k);
    }
}
