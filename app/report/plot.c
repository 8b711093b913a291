/* SPDX-License-Identifier: MIT
 *
 * Panels of lines and bars. A panel first finds its ranges and round ticks, then draws from back to front: grid, bands,
 * lines, marks, axes. */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "svg.h"

enum { PANEL_WIDTH = 400, HEIGHT = 330, LEFT = 64, RIGHT = 384, TOP = 40, BOTTOM = 264, LOOKS = 4 };

static const char *const dashes[LOOKS] = {"none", "7 3", "2 3", "9 3 2 3"};
static const int32_t colours[LOOKS] = {1, 6, 4,
                                       3}; /* blue, vermillion, green, purple: dark enough for lines on white */

/* Larger numbers are left out, like NaN: nobody could read such an axis. */
#define MOST 1e30

typedef struct range {
    double low, high, step;
} range;

typedef struct panel {
    const ast_plot_panel *given;
    range x, y;
    double shift; /* position of the panel within the figure */
    ast_text *svg;
} panel;

static void draw_panel(panel *drawn);

void ast_plot_draw(const ast_plot_panel *panels, size_t count, const char *title, ast_text *svg) {
    ast_svg_begin(svg, (int)count * PANEL_WIDTH, HEIGHT, title);
    for (size_t i = 0; i < count; i++)
        draw_panel(&(panel){.given = &panels[i], .shift = (double)i * PANEL_WIDTH, .svg = svg});
    ast_svg_end(svg);
}

/* ---- Ranges ------------------------------------------------------------------------------------------------------ */

/* y in the units of the axis. */
static double on_axis(const panel *drawn, double y) {
    if (!drawn->given->logarithmic)
        return y;
    return y > 0 ? log10(y) : NAN; /* not positive: left out */
}

static bool drawable(double value) {
    return fabs(value) <= MOST; /* false for NaN */
}

/* Whether point i exists and can be drawn on both axes. */
static bool shown(const panel *drawn, const ast_plot_series *series, size_t i) {
    return i < series->count && drawable(series->x[i]) && drawable(series->y[i]) &&
           !isnan(on_axis(drawn, series->y[i]));
}

/* The upper (side 1) or lower (-1) edge of the band, limited to the requested range, because the measured quantity
 * often ends there. */
static double edge(const panel *drawn, const ast_plot_series *series, size_t i, int side) {
    const ast_plot_panel *given = drawn->given;
    double y = series->y[i], error = series->error && drawable(series->error[i]) ? series->error[i] : 0;
    double limit = given->low < given->high ? (side > 0 ? given->high : given->low) : side * INFINITY;
    double end = y + side * error;
    if (isnan(on_axis(drawn, end)))
        return y; /* logarithmic, and negative: the band has no such edge */
    return side > 0 ? fmin(end, fmax(limit, y)) : fmax(end, fmin(limit, y));
}

static void widen(range *of, double value) {
    of->low = value < of->low ? value : of->low; /* false for NaN */
    of->high = value > of->high ? value : of->high;
}

/* Extends the range to round numbers: the step is 1, 2 or 5 times a power of ten, for about six steps. */
static void round_range(range *of) {
    if (!(of->low <= of->high))
        *of = (range){0, 1, 0};
    if (of->high - of->low < 1e-9 * fmax(1, fabs(of->high)))
        of->high = of->low + fmax(1, fabs(of->low));
    double rough = (of->high - of->low) / 6, power = pow(10, floor(log10(rough))), factor = rough / power;
    of->step = power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
    of->low = floor(of->low / of->step + 1e-9) * of->step;
    of->high = ceil(of->high / of->step - 1e-9) * of->step;
}

/* Extends the range to whole powers of ten; at most nine are labelled. */
static void round_decades(range *of) {
    if (!(of->low <= of->high))
        *of = (range){0, 0, 0};
    of->low = floor(of->low);
    of->step = ceil((floor(of->high) + 1 - of->low) / 8);
    of->high = of->low + of->step * ceil((floor(of->high) + 1 - of->low) / of->step);
}

static void find_ranges(panel *drawn) {
    const ast_plot_panel *given = drawn->given;
    drawn->x = drawn->y = (range){INFINITY, -INFINITY, 0};
    if (given->low < given->high) {
        widen(&drawn->y, on_axis(drawn, given->low));
        widen(&drawn->y, on_axis(drawn, given->high));
    }
    for (size_t s = 0; s < given->count; s++) {
        const ast_plot_series *series = &given->series[s];
        double half = series->bars ? 0.5 : 0;
        for (size_t i = 0; i < series->count; i++) {
            if (!shown(drawn, series, i))
                continue;
            widen(&drawn->x, series->x[i] - half);
            widen(&drawn->x, series->x[i] + half);
            widen(&drawn->y, series->bars ? 0 : on_axis(drawn, edge(drawn, series, i, -1)));
            widen(&drawn->y, on_axis(drawn, edge(drawn, series, i, 1)));
        }
    }
    if (drawable(given->x_mark))
        widen(&drawn->x, given->x_mark);
    if (drawable(given->y_mark))
        widen(&drawn->y, on_axis(drawn, given->y_mark));
    round_range(&drawn->x);
    if (given->logarithmic)
        round_decades(&drawn->y);
    else
        round_range(&drawn->y);
}

static double x_of(const panel *drawn, double x) {
    return drawn->shift + LEFT + (RIGHT - LEFT) * (x - drawn->x.low) / (drawn->x.high - drawn->x.low);
}

static double y_of(const panel *drawn, double y) {
    return BOTTOM - (BOTTOM - TOP) * (on_axis(drawn, y) - drawn->y.low) / (drawn->y.high - drawn->y.low);
}

/* ---- Series ------------------------------------------------------------------------------------------------------ */

/* The end of the run of points that starts at `first`. */
static size_t run_end(const panel *drawn, const ast_plot_series *series, size_t first) {
    size_t end = first;
    while (shown(drawn, series, end))
        end++;
    return end;
}

static ast_colour colour_of(const ast_plot_series *series) {
    return ast_palette(colours[series->look % LOOKS]);
}

static void draw_band(const panel *drawn, const ast_plot_series *series, size_t first, size_t end) {
    ast_colour colour = colour_of(series);
    ast_text_printf(drawn->svg, "<path fill=\"#%02x%02x%02x\" fill-opacity=\"0.2\" d=\"", colour.red, colour.green,
                    colour.blue);
    for (size_t i = first; i < end; i++)
        ast_text_printf(drawn->svg, "%c%.2f %.2f", i == first ? 'M' : 'L', x_of(drawn, series->x[i]),
                        y_of(drawn, edge(drawn, series, i, 1)));
    for (size_t i = end; i-- > first;)
        ast_text_printf(drawn->svg, "L%.2f %.2f", x_of(drawn, series->x[i]), y_of(drawn, edge(drawn, series, i, -1)));
    ast_text_put(drawn->svg, "Z\"/>\n");
}

static void draw_run(const panel *drawn, const ast_plot_series *series, size_t first, size_t end) {
    ast_colour colour = colour_of(series);
    ast_text_printf(drawn->svg,
                    "<path fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" "
                    "d=\"",
                    colour.red, colour.green, colour.blue, dashes[series->look % LOOKS]);
    for (size_t i = first; i < end; i++)
        ast_text_printf(drawn->svg, "%c%.2f %.2f", i == first ? 'M' : 'L', x_of(drawn, series->x[i]),
                        y_of(drawn, series->y[i]));
    ast_text_put(drawn->svg, "\"/>\n");
    for (size_t i = first; i < end; i++)
        ast_svg_mark(drawn->svg, x_of(drawn, series->x[i]), y_of(drawn, series->y[i]), series->look, colour);
}

static void draw_bars(const panel *drawn, const ast_plot_series *series) {
    for (size_t i = 0; i < series->count; i++) {
        if (!shown(drawn, series, i) || series->y[i] <= 0)
            continue;
        double left = x_of(drawn, series->x[i] - 0.42), top = y_of(drawn, series->y[i]);
        ast_svg_rectangle(drawn->svg, left, top, x_of(drawn, series->x[i] + 0.42) - left, y_of(drawn, 0) - top,
                          colour_of(series));
    }
}

static void draw_series(const panel *drawn, const ast_plot_series *series) {
    for (size_t first = 0, end; first < series->count; first = end + 1) {
        end = run_end(drawn, series, first);
        if (end > first && series->error)
            draw_band(drawn, series, first, end);
        if (end > first)
            draw_run(drawn, series, first, end);
    }
}

/* ---- Axes and legend --------------------------------------------------------------------------------------------- */

/* Whether tick i is on the axis, its value in units of the axis, and its text, as a number that is not -0. */
static bool tick(const range *of, int i, bool logarithmic, double *value, char text[32]) {
    *value = of->low + i * of->step;
    if (!(*value <= of->high + 1e-6 * of->step))
        return false;
    *value = logarithmic ? pow(10, *value) : *value;
    snprintf(text, 32, "%.6g", fabs(*value) < 1e-9 * of->step ? 0 : *value);
    return true;
}

static void draw_grid(const panel *drawn) {
    double value;
    char text[32];
    for (int i = 0; tick(&drawn->x, i, false, &value, text); i++) {
        double x = x_of(drawn, value);
        ast_svg_hairline(drawn->svg, x, TOP, x, BOTTOM);
        ast_svg_text(drawn->svg, x, BOTTOM + 18, AST_SVG_MIDDLE, text);
    }
    for (int i = 0; tick(&drawn->y, i, drawn->given->logarithmic, &value, text); i++) {
        double y = y_of(drawn, value);
        ast_svg_hairline(drawn->svg, drawn->shift + LEFT, y, drawn->shift + RIGHT, y);
        ast_svg_text(drawn->svg, drawn->shift + LEFT - 6, y + 4.5, AST_SVG_END, text);
    }
}

static void draw_axes(const panel *drawn) {
    const ast_plot_panel *given = drawn->given;
    ast_text *svg = drawn->svg;
    double left = drawn->shift + LEFT, right = drawn->shift + RIGHT, centre = (left + right) / 2;
    double x = x_of(drawn, given->x_mark), y = y_of(drawn, given->y_mark);
    ast_svg_line(svg, left, BOTTOM, right, BOTTOM);
    ast_svg_line(svg, left, TOP, left, BOTTOM);
    ast_svg_text(svg, centre, BOTTOM + 36, AST_SVG_MIDDLE, given->x_label);
    ast_svg_upright(svg, drawn->shift + 16, (TOP + BOTTOM) / 2.0, given->y_label);
    ast_svg_text(svg, centre, TOP - 16, AST_SVG_MIDDLE, given->title);
    if (drawable(given->x_mark))
        ast_svg_line(svg, x, TOP, x, BOTTOM);
    if (drawable(given->y_mark) && !isnan(y))
        ast_svg_line(svg, left, y, right, y);
}

/* Below the panel, so that it never hides data. */
static void draw_legend(const panel *drawn) {
    const ast_plot_panel *given = drawn->given;
    double x = drawn->shift + LEFT, y = BOTTOM + 58;
    for (size_t s = 0; s < given->count && given->count > 1; s++) {
        const ast_plot_series *series = &given->series[s];
        ast_colour colour = colour_of(series);
        ast_text_printf(drawn->svg,
                        "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#%02x%02x%02x\" "
                        "stroke-width=\"1.8\" stroke-dasharray=\"%s\"/>\n",
                        x, y - 4, x + 26, y - 4, colour.red, colour.green, colour.blue, dashes[series->look % LOOKS]);
        ast_svg_mark(drawn->svg, x + 13, y - 4, series->look, colour);
        ast_svg_text(drawn->svg, x + 32, y, AST_SVG_START, series->name);
        x += 46 + 8.0 * (double)strlen(series->name); /* approximate width of the text */
    }
}

static void draw_panel(panel *drawn) {
    find_ranges(drawn);
    draw_grid(drawn);
    for (size_t s = 0; s < drawn->given->count; s++) {
        const ast_plot_series *series = &drawn->given->series[s];
        (series->bars ? draw_bars : draw_series)(drawn, series);
    }
    draw_axes(drawn);
    draw_legend(drawn);
}
