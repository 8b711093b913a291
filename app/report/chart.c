/* SPDX-License-Identifier: MIT
 *
 * The chart of the shares: frames from left to right, one band per id, stacked in order of id, as in the paper's Figure
 * 5. A column is one frame, or the mean of several if there are more frames than the chart is wide, so that the file
 * stays small for any length of the stream. */
#include "shares.h"
#include "svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1000, HEIGHT = 460, LEFT = 62, RIGHT = 850, TOP = 40, BOTTOM = 400, LEGEND_ROWS = 16, LEGEND_STEP = 21 };

/* A cluster in a column. */
typedef struct piece {
    int32_t id;
    size_t column;
    double bottom, height; /* as shares of 1 */
} piece;

typedef struct chart {
    const char *title;
    const ast_shares *shares;
    size_t per_column, columns; /* frames per column; columns */
    piece *pieces;              /* in order of id, then column */
    size_t piece_count;
    ast_shares_band *bands; /* for the legend */
    size_t band_count;
} chart;

static bool lay_out(chart *drawn);
static void draw_bands(const chart *drawn, ast_text *svg);
static void draw_axes(const chart *drawn, ast_text *svg);
static void draw_legend(const chart *drawn, ast_text *svg);

bool ast_shares_write_svg(const ast_shares *shares, ast_output *output, ast_format_error *error) {
    ast_text svg = {0};
    ast_shares_draw(&(ast_shares_panel){"Share of each cluster among the directions of a frame", shares}, 1, &svg);
    bool good = ast_text_write(&svg, output, error);
    ast_text_free(&svg);
    return good;
}

static void draw_panel(const ast_shares_panel *panel, ast_text *svg) {
    chart drawn = {.title = panel->title, .shares = panel->shares};
    svg->failed |= !lay_out(&drawn);
    if (!svg->failed) {
        draw_bands(&drawn, svg);
        draw_axes(&drawn, svg);
        draw_legend(&drawn, svg);
    }
    free(drawn.pieces);
    free(drawn.bands);
}

void ast_shares_draw(const ast_shares_panel *panels, size_t count, ast_text *svg) {
    ast_svg_begin(svg, WIDTH, HEIGHT * (int)count, "Share of each cluster in each frame, one band per id");
    for (size_t i = 0; i < count; i++) {
        ast_text_printf(svg, "<g transform=\"translate(0 %d)\">\n", HEIGHT * (int)i);
        draw_panel(&panels[i], svg);
        ast_text_put(svg, "</g>\n");
    }
    ast_svg_end(svg);
}

/* ---- Where everything lies --------------------------------------------------------------------------------------- */

/* Frames of a column; the last column may have fewer. */
static size_t frames_in(const chart *drawn, size_t column) {
    size_t rest = drawn->shares->frame_count - column * drawn->per_column;
    return rest < drawn->per_column ? rest : drawn->per_column;
}

/* Joins the sights of the same id and column, and puts every piece onto those of lower ids in its column. */
static void stack_pieces(chart *drawn, const ast_sight *sights, double *tops) {
    piece *last = drawn->pieces;
    for (size_t i = 0; i < drawn->shares->entry_count; i++) {
        size_t column = sights[i].frame / drawn->per_column;
        double height = sights[i].share / (double)frames_in(drawn, column);
        if (drawn->piece_count == 0 || last->id != sights[i].id || last->column != column) {
            last = &drawn->pieces[drawn->piece_count++];
            *last = (piece){.id = sights[i].id, .column = column, .bottom = tops[column]};
        }
        last->height += height;
        tops[column] = last->bottom + last->height;
    }
}

static bool lay_out(chart *drawn) {
    const ast_shares *shares = drawn->shares;
    size_t most = RIGHT - LEFT;
    drawn->per_column = shares->frame_count / most + (shares->frame_count % most > 0);
    drawn->per_column = drawn->per_column ? drawn->per_column : 1;
    drawn->columns = (shares->frame_count + drawn->per_column - 1) / drawn->per_column;
    drawn->pieces = calloc(shares->entry_count + 1, sizeof *drawn->pieces);
    drawn->bands = ast_shares_bands(shares, &drawn->band_count);
    ast_sight *sights = ast_shares_sights(shares);
    double *tops = calloc(drawn->columns + 1, sizeof *tops); /* of the pieces in each column */
    bool good = drawn->pieces && drawn->bands && sights && tops;
    if (good)
        stack_pieces(drawn, sights, tops);
    free(sights);
    free(tops);
    return good;
}

/* ---- Bands ------------------------------------------------------------------------------------------------------- */

static double x_of(const chart *drawn, size_t column) {
    return LEFT + (double)(RIGHT - LEFT) * (double)column / (double)(drawn->columns ? drawn->columns : 1);
}

static double y_of(double share) {
    return BOTTOM - (BOTTOM - TOP) * share;
}

/* Pieces in neighbouring columns as one outline: along the tops and back along the bottoms. */
static void draw_run(const chart *drawn, const piece *run, size_t length, ast_text *svg) {
    ast_text_printf(svg, "M%.2f %.2f", x_of(drawn, run[0].column), y_of(run[0].bottom));
    for (size_t i = 0; i < length; i++)
        ast_text_printf(svg, "V%.2fH%.2f", y_of(run[i].bottom + run[i].height), x_of(drawn, run[i].column + 1));
    for (size_t i = length; i-- > 0;)
        ast_text_printf(svg, "V%.2fH%.2f", y_of(run[i].bottom), x_of(drawn, run[i].column));
    ast_text_put(svg, "Z");
}

static size_t run_length(const piece *first, const piece *end) {
    size_t length = 1;
    while (first + length < end && first[length].id == first->id && first[length].column == first->column + length)
        length++;
    return length;
}

/* Writes the id inside the band if a run is large enough, so that nobody depends on the colour alone. */
static void label_run(const chart *drawn, const piece *run, size_t length, ast_text *svg) {
    double column = x_of(drawn, 1) - x_of(drawn, 0);
    double half = 4.0 * snprintf(NULL, 0, "%" PRId32, run->id) + 4; /* half the width of the text, with some space */
    size_t margin = (size_t)(half / column);
    if ((double)length * column < 2 * half)
        return;
    const piece *centre = &run[length / 2];
    for (size_t i = margin; i + margin < length; i++)
        centre = run[i].height > centre->height ? &run[i] : centre;
    if ((BOTTOM - TOP) * centre->height < 16)
        return;
    ast_text_printf(svg, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" fill=\"%s\">%" PRId32 "</text>\n",
                    (x_of(drawn, centre->column) + x_of(drawn, centre->column + 1)) / 2,
                    y_of(centre->bottom + centre->height / 2) + 4.5,
                    ast_colour_light(ast_palette(run->id)) ? "#000" : "#fff", run->id);
}

/* Draws all runs of one id; returns where the next id begins. */
static const piece *draw_band(const chart *drawn, const piece *first, ast_text *svg) {
    const piece *next = first, *end = drawn->pieces + drawn->piece_count;
    ast_colour colour = ast_palette(first->id);
    ast_text_printf(svg, "<path fill=\"#%02x%02x%02x\" stroke=\"#fff\" stroke-width=\"0.5\" d=\"", colour.red,
                    colour.green, colour.blue);
    for (; next < end && next->id == first->id; next += run_length(next, end))
        draw_run(drawn, next, run_length(next, end), svg);
    ast_text_printf(svg, "\"><title>cluster %" PRId32 "</title></path>\n", first->id);
    for (const piece *run = first; run < next; run += run_length(run, next))
        label_run(drawn, run, run_length(run, next), svg);
    return next;
}

static void draw_bands(const chart *drawn, ast_text *svg) {
    for (const piece *next = drawn->pieces; next < drawn->pieces + drawn->piece_count;)
        next = draw_band(drawn, next, svg);
}

/* ---- Axes and legend --------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, for about eight ticks. */
static size_t tick_step(size_t count) {
    size_t step = 1;
    for (int i = 0; count / step > 8; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static void draw_axes(const chart *drawn, ast_text *svg) {
    const ast_shares *shares = drawn->shares;
    char text[32];
    for (int percent = 0; percent <= 100; percent += 25) {
        double y = y_of(percent / 100.0);
        snprintf(text, sizeof text, "%d%%", percent);
        ast_svg_line(svg, LEFT - 5, y, LEFT, y);
        ast_svg_text(svg, LEFT - 9, y + 4.5, AST_SVG_END, text);
    }
    size_t step = tick_step(shares->frame_count);
    for (size_t i = 0; i < shares->frame_count; i++) {
        if (shares->frames[i].number % step != 0)
            continue;
        double x = LEFT + (double)(RIGHT - LEFT) * ((double)i + 0.5) / (double)(drawn->columns * drawn->per_column);
        snprintf(text, sizeof text, "%" PRIu64, shares->frames[i].number);
        ast_svg_line(svg, x, BOTTOM, x, BOTTOM + 5);
        ast_svg_text(svg, x, BOTTOM + 20, AST_SVG_MIDDLE, text);
    }
    ast_svg_text(svg, (LEFT + RIGHT) / 2.0, BOTTOM + 44, AST_SVG_MIDDLE, "frame");
    ast_svg_upright(svg, 12, (TOP + BOTTOM) / 2.0, "share");
    ast_svg_text(svg, LEFT, TOP - 16, AST_SVG_START, drawn->title);
}

static void draw_legend(const chart *drawn, ast_text *svg) {
    size_t shown = drawn->band_count <= LEGEND_ROWS ? drawn->band_count : LEGEND_ROWS - 1;
    double x = RIGHT + 22;
    char text[64];
    ast_svg_text(svg, x, TOP - 16, AST_SVG_START, "id, mean share");
    for (size_t i = 0; i < shown; i++) {
        double y = TOP + (double)i * LEGEND_STEP;
        snprintf(text, sizeof text, "%" PRId32 ": %.1f%%", drawn->bands[i].id, 100 * drawn->bands[i].share);
        ast_svg_rectangle(svg, x, y, 16, 16, ast_palette(drawn->bands[i].id));
        ast_svg_text(svg, x + 24, y + 13, AST_SVG_START, text);
    }
    if (shown < drawn->band_count) {
        snprintf(text, sizeof text, "and %zu more", drawn->band_count - shown);
        ast_svg_text(svg, x, TOP + (double)shown * LEGEND_STEP + 13, AST_SVG_START, text);
    }
}
