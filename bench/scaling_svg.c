/* SPDX-License-Identifier: MIT
 *
 * All curves in one drawing: three panels by two, both axes logarithmic, with a line for every power of ten. Curves
 * differ in marks as well as in colour, and are labelled with their slopes. */
#include "scaling.h"

#include <math.h>
#include <stdio.h>
#include <svg.h>

enum { ACROSS = 3, WIDTH = 380, HEIGHT = 350, LEFT = 62, RIGHT = 358, TOP = 34, BOTTOM = 246, LEGEND = 300 };

typedef struct sheet {
    const bench_panel *panel;
    double left, top;  /* of the panel */
    double x[2], y[2]; /* powers of ten at the ends of the axes */
    ast_text *svg;
} sheet;

/* Blue, vermillion, green: dark enough for lines. */
static ast_colour colour_of(int number) {
    static const int32_t hues[BENCH_PANEL_CURVES] = {1, 6, 4};
    return ast_palette(hues[number % BENCH_PANEL_CURVES]);
}

static double x_of(const sheet *s, double x) {
    return s->left + LEFT + (RIGHT - LEFT) * (log10(x) - s->x[0]) / (s->x[1] - s->x[0]);
}

static double y_of(const sheet *s, double seconds) {
    return s->top + BOTTOM - (BOTTOM - TOP) * (log10(seconds) - s->y[0]) / (s->y[1] - s->y[0]);
}

static void widen(double range[2], double value) {
    range[0] = fmin(range[0], floor(log10(value) + 1e-9));
    range[1] = fmax(range[1], ceil(log10(value) - 1e-9));
}

static void find_ranges(sheet *s) {
    s->x[0] = s->y[0] = INFINITY;
    s->x[1] = s->y[1] = -INFINITY;
    for (int c = 0; c < s->panel->curves; c++)
        for (int i = 0; i < s->panel->curve[c].count; i++) {
            widen(s->x, s->panel->curve[c].x[i]);
            widen(s->y, s->panel->curve[c].seconds[i]);
        }
    for (int end = 0; end < 2 && !(s->x[0] < s->x[1]); end++)
        s->x[end] = end;
    for (int end = 0; end < 2 && !(s->y[0] < s->y[1]); end++)
        s->y[end] = isfinite(s->y[0]) ? s->y[0] + end : end - 3;
}

static void draw_grid(const sheet *s) {
    static const char *const units[] = {"1 us", "10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s", "10 s", "100 s"};
    char text[32];
    for (int p = (int)s->x[0]; p <= (int)s->x[1]; p++) {
        double x = x_of(s, pow(10, p));
        snprintf(text, sizeof text, p < 4 ? "%.0f" : "1e%.0f", p < 4 ? pow(10, p) : (double)p);
        ast_svg_hairline(s->svg, x, s->top + TOP, x, s->top + BOTTOM);
        ast_svg_text(s->svg, x, s->top + BOTTOM + 17, AST_SVG_MIDDLE, text);
    }
    for (int p = (int)s->y[0]; p <= (int)s->y[1]; p++) {
        double y = y_of(s, pow(10, p));
        ast_svg_hairline(s->svg, s->left + LEFT, y, s->left + RIGHT, y);
        if (p >= -6 && p <= 2)
            ast_svg_text(s->svg, s->left + LEFT - 6, y + 4.5, AST_SVG_END, units[p + 6]);
    }
}

static void draw_curve(const sheet *s, int number) {
    const bench_curve *curve = &s->panel->curve[number];
    ast_colour colour = colour_of(number);
    ast_text_printf(s->svg, "<path fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"1.6\" d=\"", colour.red,
                    colour.green, colour.blue);
    for (int i = 0; i < curve->count; i++)
        ast_text_printf(s->svg, "%c%.2f %.2f", i ? 'L' : 'M', x_of(s, curve->x[i]), y_of(s, curve->seconds[i]));
    ast_text_put(s->svg, "\"/>\n");
    for (int i = 0; i < curve->count; i++)
        ast_svg_mark(s->svg, x_of(s, curve->x[i]), y_of(s, curve->seconds[i]), number, colour);
}

static void draw_name(const sheet *s, int number) {
    const bench_curve *curve = &s->panel->curve[number];
    double y = s->top + LEGEND + 15 * number, slope = bench_curve_slope(curve);
    char text[96];
    snprintf(text, sizeof text, isnan(slope) ? "%s" : "%s: slope %.2f", curve->name, slope);
    ast_svg_mark(s->svg, s->left + LEFT + 8, y - 4, number, colour_of(number));
    ast_svg_text(s->svg, s->left + LEFT + 20, y, AST_SVG_START, text);
}

static void draw_panel(sheet *s) {
    double middle = s->left + (LEFT + RIGHT) / 2.0;
    find_ranges(s);
    draw_grid(s);
    for (int c = 0; c < s->panel->curves; c++) {
        draw_curve(s, c);
        draw_name(s, c);
    }
    ast_svg_text(s->svg, middle, s->top + TOP - 12, AST_SVG_MIDDLE, s->panel->title);
    ast_svg_text(s->svg, middle, s->top + BOTTOM + 34, AST_SVG_MIDDLE, s->panel->x_label);
    ast_svg_line(s->svg, s->left + LEFT, s->top + BOTTOM, s->left + RIGHT, s->top + BOTTOM);
    ast_svg_line(s->svg, s->left + LEFT, s->top + TOP, s->left + LEFT, s->top + BOTTOM);
}

void bench_scaling_draw(const bench_scaling *scaling, const char *path) {
    ast_format_error error;
    ast_text svg = {0};
    ast_svg_begin(&svg, ACROSS * WIDTH, BENCH_PANELS / ACROSS * HEIGHT,
                  "Time against points, clusters, dimension, processors and births");
    for (int p = 0; p < BENCH_PANELS; p++)
        if (scaling->panel[p].x_label)
            draw_panel(&(sheet){.panel = &scaling->panel[p],
                                .left = p % ACROSS * (double)WIDTH,
                                .top = HEIGHT * floor(p / (double)ACROSS),
                                .svg = &svg});
    ast_svg_end(&svg);
    ast_output *output = ast_output_open(path, false, &error);
    if (!output || !ast_text_write(&svg, output, &error) || !ast_output_commit(output, &error))
        bench_die("%s", error.text);
    ast_text_free(&svg);
}
