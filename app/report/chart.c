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

static bool lay_out(chart *drawn, ast_format_error *error);
static bool draw_bands(const chart *drawn, ast_output *output, ast_format_error *error);
static bool draw_axes(const chart *drawn, ast_output *output, ast_format_error *error);
static bool draw_legend(const chart *drawn, ast_output *output, ast_format_error *error);

bool ast_shares_write_svg(const ast_shares *shares, ast_output *output, ast_format_error *error) {
    ast_shares_panel panel = {"Share of each cluster among the directions of a frame", shares};
    return ast_shares_write_panels(&panel, 1, output, error);
}

static bool draw_panel(const ast_shares_panel *panel, ast_output *output, ast_format_error *error) {
    chart drawn = {.title = panel->title, .shares = panel->shares};
    bool good = lay_out(&drawn, error) && draw_bands(&drawn, output, error) && draw_axes(&drawn, output, error) &&
                draw_legend(&drawn, output, error);
    free(drawn.pieces);
    free(drawn.bands);
    return good;
}

bool ast_shares_write_panels(const ast_shares_panel *panels, size_t count, ast_output *output,
                             ast_format_error *error) {
    bool good = ast_svg_begin(output, WIDTH, HEIGHT * (int)count,
                              "Share of each cluster in each frame, one band per id", error);
    for (size_t i = 0; i < count && good; i++)
        good = ast_printf(output, error, "<g transform=\"translate(0 %d)\">\n", HEIGHT * (int)i) &&
               draw_panel(&panels[i], output, error) && ast_printf(output, error, "</g>\n");
    return good && ast_svg_end(output, error);
}

/* ---- Where everything lies --------------------------------------------------------------------------------------- */

static int by_column(const void *a, const void *b) {
    const piece *one = a, *other = b;
    if (one->column != other->column)
        return one->column < other->column ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

static int by_id(const void *a, const void *b) {
    const piece *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return (one->column > other->column) - (one->column < other->column);
}

/* Frames of a column; the last column may have fewer. */
static size_t frames_in(const chart *drawn, size_t column) {
    size_t rest = drawn->shares->frame_count - column * drawn->per_column;
    return rest < drawn->per_column ? rest : drawn->per_column;
}

/* Makes one piece per entry, then joins and stacks those of the same id and column. */
static void stack_pieces(chart *drawn) {
    const ast_shares *shares = drawn->shares;
    piece *pieces = drawn->pieces;
    size_t count = 0;
    for (size_t i = 0; i < shares->frame_count; i++) {
        const ast_shares_frame *frame = &shares->frames[i];
        size_t column = i / drawn->per_column;
        for (size_t j = frame->first; j < frame->first + frame->count; j++)
            pieces[count++] = (piece){.id = shares->entries[j].id,
                                      .column = column,
                                      .height = shares->entries[j].share / (double)frames_in(drawn, column)};
    }
    qsort(pieces, count, sizeof *pieces, by_column);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        piece *last = kept ? &pieces[kept - 1] : NULL;
        int same_column = last && last->column == pieces[i].column;
        if (same_column && last->id == pieces[i].id) {
            last->height += pieces[i].height;
            continue;
        }
        pieces[i].bottom = same_column ? last->bottom + last->height : 0;
        pieces[kept++] = pieces[i];
    }
    drawn->piece_count = kept;
    qsort(pieces, kept, sizeof *pieces, by_id);
}

static bool lay_out(chart *drawn, ast_format_error *error) {
    const ast_shares *shares = drawn->shares;
    size_t most = RIGHT - LEFT;
    drawn->per_column = shares->frame_count / most + (shares->frame_count % most > 0);
    drawn->per_column = drawn->per_column ? drawn->per_column : 1;
    drawn->columns = (shares->frame_count + drawn->per_column - 1) / drawn->per_column;
    drawn->pieces = calloc(shares->entry_count + 1, sizeof *drawn->pieces);
    drawn->bands = ast_shares_bands(shares, &drawn->band_count);
    if (!drawn->pieces || !drawn->bands)
        return ast_format_fail(error, "there is not enough memory for the chart of the shares");
    stack_pieces(drawn);
    return true;
}

/* ---- Bands ------------------------------------------------------------------------------------------------------- */

static double x_of(const chart *drawn, size_t column) {
    return LEFT + (double)(RIGHT - LEFT) * (double)column / (double)(drawn->columns ? drawn->columns : 1);
}

static double y_of(double share) {
    return BOTTOM - (BOTTOM - TOP) * share;
}

/* Pieces in neighbouring columns as one outline: along the tops and back along the bottoms. */
static bool draw_run(const chart *drawn, const piece *run, size_t length, ast_output *output, ast_format_error *error) {
    bool good = ast_printf(output, error, "M%.2f %.2f", x_of(drawn, run[0].column), y_of(run[0].bottom));
    for (size_t i = 0; i < length && good; i++)
        good = ast_printf(output, error, "V%.2fH%.2f", y_of(run[i].bottom + run[i].height),
                          x_of(drawn, run[i].column + 1));
    for (size_t i = length; i-- > 0 && good;)
        good = ast_printf(output, error, "V%.2fH%.2f", y_of(run[i].bottom), x_of(drawn, run[i].column));
    return good && ast_printf(output, error, "Z");
}

static size_t run_length(const piece *first, const piece *end) {
    size_t length = 1;
    while (first + length < end && first[length].id == first->id && first[length].column == first->column + length)
        length++;
    return length;
}

/* Writes the id inside the band if a run is large enough, so that nobody depends on the colour alone. */
static bool label_run(const chart *drawn, const piece *run, size_t length, ast_output *output,
                      ast_format_error *error) {
    double column = x_of(drawn, 1) - x_of(drawn, 0);
    double half = 4.0 * snprintf(NULL, 0, "%" PRId32, run->id) + 4; /* half the width of the text, with some space */
    size_t margin = (size_t)(half / column);
    if ((double)length * column < 2 * half)
        return true;
    const piece *centre = &run[length / 2];
    for (size_t i = margin; i + margin < length; i++)
        centre = run[i].height > centre->height ? &run[i] : centre;
    if ((BOTTOM - TOP) * centre->height < 16)
        return true;
    return ast_printf(output, error,
                      "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"middle\" fill=\"%s\">%" PRId32 "</text>\n",
                      (x_of(drawn, centre->column) + x_of(drawn, centre->column + 1)) / 2,
                      y_of(centre->bottom + centre->height / 2) + 4.5,
                      ast_colour_light(ast_palette(run->id)) ? "#000" : "#fff", run->id);
}

/* Draws all runs of one id; returns where the next id begins, or NULL. */
static const piece *draw_band(const chart *drawn, const piece *first, ast_output *output, ast_format_error *error) {
    const piece *end = drawn->pieces + drawn->piece_count;
    ast_colour colour = ast_palette(first->id);
    bool good = ast_printf(output, error, "<path fill=\"#%02x%02x%02x\" stroke=\"#fff\" stroke-width=\"0.5\" d=\"",
                           colour.red, colour.green, colour.blue);
    const piece *next = first;
    while (good && next < end && next->id == first->id) {
        size_t length = run_length(next, end);
        good = draw_run(drawn, next, length, output, error);
        next += length;
    }
    good = good && ast_printf(output, error, "\"><title>cluster %" PRId32 "</title></path>\n", first->id);
    for (const piece *run = first; good && run < next;) {
        size_t length = run_length(run, next);
        good = label_run(drawn, run, length, output, error);
        run += length;
    }
    return good ? next : NULL;
}

static bool draw_bands(const chart *drawn, ast_output *output, ast_format_error *error) {
    const piece *next = drawn->pieces, *end = drawn->pieces + drawn->piece_count;
    while (next && next < end)
        next = draw_band(drawn, next, output, error);
    return next != NULL;
}

/* ---- Axes and legend --------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten, for about eight ticks. */
static size_t tick_step(size_t count) {
    size_t step = 1;
    for (int i = 0; count / step > 8; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static bool draw_axes(const chart *drawn, ast_output *output, ast_format_error *error) {
    const ast_shares *shares = drawn->shares;
    bool good = true;
    for (int percent = 0; percent <= 100 && good; percent += 25) {
        char text[16];
        snprintf(text, sizeof text, "%d%%", percent);
        good = ast_svg_line(output, LEFT - 5, y_of(percent / 100.0), LEFT, y_of(percent / 100.0), error) &&
               ast_svg_text(output, LEFT - 9, y_of(percent / 100.0) + 4.5, AST_SVG_END, text, error);
    }
    size_t step = tick_step(shares->frame_count);
    for (size_t i = 0; i < shares->frame_count && good; i++) {
        if (shares->frames[i].number % step != 0)
            continue;
        char text[32];
        double x = LEFT + (double)(RIGHT - LEFT) * ((double)i + 0.5) / (double)(drawn->columns * drawn->per_column);
        snprintf(text, sizeof text, "%" PRIu64, shares->frames[i].number);
        good = ast_svg_line(output, x, BOTTOM, x, BOTTOM + 5, error) &&
               ast_svg_text(output, x, BOTTOM + 20, AST_SVG_MIDDLE, text, error);
    }
    return good && ast_svg_text(output, (LEFT + RIGHT) / 2.0, BOTTOM + 44, AST_SVG_MIDDLE, "frame", error) &&
           ast_svg_upright(output, 12, (TOP + BOTTOM) / 2.0, "share", error) &&
           ast_svg_text(output, LEFT, TOP - 16, AST_SVG_START, drawn->title, error);
}

static bool draw_legend(const chart *drawn, ast_output *output, ast_format_error *error) {
    size_t shown = drawn->band_count <= LEGEND_ROWS ? drawn->band_count : LEGEND_ROWS - 1;
    double x = RIGHT + 22;
    bool good = ast_svg_text(output, x, TOP - 16, AST_SVG_START, "id, mean share", error);
    for (size_t i = 0; i < shown && good; i++) {
        char text[64];
        double y = TOP + (double)i * LEGEND_STEP;
        snprintf(text, sizeof text, "%" PRId32 ": %.1f%%", drawn->bands[i].id, 100 * drawn->bands[i].share);
        good = ast_svg_rectangle(output, x, y, 16, 16, ast_palette(drawn->bands[i].id), error) &&
               ast_svg_text(output, x + 24, y + 13, AST_SVG_START, text, error);
    }
    if (good && shown < drawn->band_count) {
        char text[64];
        snprintf(text, sizeof text, "and %zu more", drawn->band_count - shown);
        good = ast_svg_text(output, x, TOP + (double)shown * LEGEND_STEP + 13, AST_SVG_START, text, error);
    }
    return good;
}
