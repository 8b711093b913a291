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
    ast_output *output;
    ast_format_error *error;
} panel;

static bool draw_panel(panel *drawn);

bool ast_plot_write(const ast_plot_panel *panels, size_t count, const char *title, ast_output *output,
                    ast_format_error *error) {
    bool good = ast_svg_begin(output, (int)count * PANEL_WIDTH, HEIGHT, title, error);
    for (size_t i = 0; i < count && good; i++) {
        panel drawn = {.given = &panels[i], .shift = (double)i * PANEL_WIDTH, .output = output, .error = error};
        good = draw_panel(&drawn);
    }
    return good && ast_svg_end(output, error);
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

static bool draw_band(const panel *drawn, const ast_plot_series *series, size_t first, size_t end) {
    ast_colour colour = ast_palette(colours[series->look % LOOKS]);
    bool good = ast_printf(drawn->output, drawn->error, "<path fill=\"#%02x%02x%02x\" fill-opacity=\"0.2\" d=\"",
                           colour.red, colour.green, colour.blue);
    for (size_t i = first; i < end && good; i++)
        good = ast_printf(drawn->output, drawn->error, "%c%.2f %.2f", i == first ? 'M' : 'L', x_of(drawn, series->x[i]),
                          y_of(drawn, edge(drawn, series, i, 1)));
    for (size_t i = end; i-- > first && good;)
        good = ast_printf(drawn->output, drawn->error, "L%.2f %.2f", x_of(drawn, series->x[i]),
                          y_of(drawn, edge(drawn, series, i, -1)));
    return good && ast_printf(drawn->output, drawn->error, "Z\"/>\n");
}

static bool draw_mark(const panel *drawn, const ast_plot_series *series, double x, double y) {
    ast_colour colour = ast_palette(colours[series->look % LOOKS]);
    return ast_svg_mark(drawn->output, x, y, series->look, colour, drawn->error);
}

static bool draw_run(const panel *drawn, const ast_plot_series *series, size_t first, size_t end) {
    ast_colour colour = ast_palette(colours[series->look % LOOKS]);
    bool good = ast_printf(drawn->output, drawn->error,
                           "<path fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" "
                           "d=\"",
                           colour.red, colour.green, colour.blue, dashes[series->look % LOOKS]);
    for (size_t i = first; i < end && good; i++)
        good = ast_printf(drawn->output, drawn->error, "%c%.2f %.2f", i == first ? 'M' : 'L', x_of(drawn, series->x[i]),
                          y_of(drawn, series->y[i]));
    good = good && ast_printf(drawn->output, drawn->error, "\"/>\n");
    for (size_t i = first; i < end && good; i++)
        good = draw_mark(drawn, series, x_of(drawn, series->x[i]), y_of(drawn, series->y[i]));
    return good;
}

static bool draw_bars(const panel *drawn, const ast_plot_series *series) {
    bool good = true;
    for (size_t i = 0; i < series->count && good; i++) {
        if (!shown(drawn, series, i) || series->y[i] <= 0)
            continue;
        double left = x_of(drawn, series->x[i] - 0.42), top = y_of(drawn, series->y[i]);
        good = ast_svg_rectangle(drawn->output, left, top, x_of(drawn, series->x[i] + 0.42) - left,
                                 y_of(drawn, 0) - top, ast_palette(colours[series->look % LOOKS]), drawn->error);
    }
    return good;
}

static bool draw_series(const panel *drawn, const ast_plot_series *series) {
    bool good = true;
    if (series->bars)
        return draw_bars(drawn, series);
    for (size_t first = 0; first < series->count && good; first++) {
        size_t end = run_end(drawn, series, first);
        if (end == first)
            continue;
        good = (!series->error || draw_band(drawn, series, first, end)) && draw_run(drawn, series, first, end);
        first = end;
    }
    return good;
}

/* ---- Axes and legend --------------------------------------------------------------------------------------------- */

static bool draw_grid(const panel *drawn) {
    bool good = true;
    char text[32];
    for (int i = 0; good && drawn->x.low + i * drawn->x.step <= drawn->x.high + 1e-6 * drawn->x.step; i++) {
        double value = drawn->x.low + i * drawn->x.step, x = x_of(drawn, value);
        snprintf(text, sizeof text, "%.6g", fabs(value) < 1e-9 * drawn->x.step ? 0 : value);
        good = ast_svg_hairline(drawn->output, x, TOP, x, BOTTOM, drawn->error) &&
               ast_svg_text(drawn->output, x, BOTTOM + 18, AST_SVG_MIDDLE, text, drawn->error);
    }
    for (int i = 0; good && drawn->y.low + i * drawn->y.step <= drawn->y.high + 1e-6 * drawn->y.step; i++) {
        double value = drawn->y.low + i * drawn->y.step;
        value = drawn->given->logarithmic ? pow(10, value) : value;
        double y = y_of(drawn, value);
        snprintf(text, sizeof text, "%.6g", fabs(value) < 1e-9 * drawn->y.step ? 0 : value);
        good = ast_svg_hairline(drawn->output, drawn->shift + LEFT, y, drawn->shift + RIGHT, y, drawn->error) &&
               ast_svg_text(drawn->output, drawn->shift + LEFT - 6, y + 4.5, AST_SVG_END, text, drawn->error);
    }
    return good;
}

static bool draw_axes(const panel *drawn) {
    const ast_plot_panel *given = drawn->given;
    ast_output *output = drawn->output;
    double left = drawn->shift + LEFT, right = drawn->shift + RIGHT, centre = (left + right) / 2;
    bool good = ast_svg_line(output, left, BOTTOM, right, BOTTOM, drawn->error) &&
                ast_svg_line(output, left, TOP, left, BOTTOM, drawn->error) &&
                ast_svg_text(output, centre, BOTTOM + 36, AST_SVG_MIDDLE, given->x_label, drawn->error) &&
                ast_svg_upright(output, drawn->shift + 16, (TOP + BOTTOM) / 2.0, given->y_label, drawn->error) &&
                ast_svg_text(output, centre, TOP - 16, AST_SVG_MIDDLE, given->title, drawn->error);
    if (good && drawable(given->x_mark))
        good = ast_svg_line(output, x_of(drawn, given->x_mark), TOP, x_of(drawn, given->x_mark), BOTTOM, drawn->error);
    if (good && drawable(given->y_mark) && !isnan(on_axis(drawn, given->y_mark)))
        good = ast_svg_line(output, left, y_of(drawn, given->y_mark), right, y_of(drawn, given->y_mark), drawn->error);
    return good;
}

/* Below the panel, so that it never hides data. */
static bool draw_legend(const panel *drawn) {
    const ast_plot_panel *given = drawn->given;
    double x = drawn->shift + LEFT, y = BOTTOM + 58;
    bool good = true;
    for (size_t s = 0; s < given->count && given->count > 1 && good; s++) {
        const ast_plot_series *series = &given->series[s];
        ast_colour colour = ast_palette(colours[series->look % LOOKS]);
        good =
            ast_printf(drawn->output, drawn->error,
                       "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"#%02x%02x%02x\" "
                       "stroke-width=\"1.8\" stroke-dasharray=\"%s\"/>\n",
                       x, y - 4, x + 26, y - 4, colour.red, colour.green, colour.blue, dashes[series->look % LOOKS]) &&
            draw_mark(drawn, series, x + 13, y - 4) &&
            ast_svg_text(drawn->output, x + 32, y, AST_SVG_START, series->name, drawn->error);
        x += 46 + 8.0 * (double)strlen(series->name); /* approximate width of the text */
    }
    return good;
}

static bool draw_panel(panel *drawn) {
    find_ranges(drawn);
    bool good = draw_grid(drawn);
    for (size_t s = 0; s < drawn->given->count && good; s++)
        good = draw_series(drawn, &drawn->given->series[s]);
    return good && draw_axes(drawn) && draw_legend(drawn);
}
