/* SPDX-License-Identifier: MIT
 *
 * Pictures are the thumbnails of the reports: PNG within the SVG. */
#include "nyu_figure.h"

#include "experiments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svg.h>

enum { LEFT = 150, TOP = 30, STEP_X = AST_THUMBNAIL_WIDTH + 8, STEP_Y = AST_THUMBNAIL_HEIGHT + 24, MOST = 64 };

void ast_nyu_figure_free(ast_nyu_figure *figure) {
    for (size_t row = 0; row < AST_NYU_FIGURE_ROWS; row++)
        for (size_t i = 0; i < AST_NYU_FIGURE_SCENES; i++)
            ast_text_free(&figure->images[row][i]);
    free(figure->colours);
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* Clusters without a partner get the lowest colours that are free. */
static bool recolour(const int32_t *first, int32_t *labels, size_t count) {
    ast_overlaps overlaps = {0};
    int32_t colours[MOST], next = 0;
    bool taken[MOST] = {false}, good = true;
    for (size_t i = 0; i < count && good; i++)
        if (labels[i] >= 0 && labels[i] < MOST && first[i] >= 0 && first[i] < MOST)
            good = ast_overlaps_add(&overlaps, labels[i], first[i]);
    for (int k = 0; k < MOST; k++)
        colours[k] = -1;
    for (size_t i = ast_overlaps_match(&overlaps); i-- > 0;) {
        colours[overlaps.list[i].one] = overlaps.list[i].other;
        taken[overlaps.list[i].other] = true;
    }
    free(overlaps.list);
    for (int k = 0; k < MOST; k++) {
        while (colours[k] < 0 && next < MOST - 1 && taken[next])
            next++;
        if (colours[k] < 0) {
            colours[k] = next;
            taken[next] = true;
        }
    }
    for (size_t i = 0; i < count && good; i++)
        if (labels[i] >= 0 && labels[i] < MOST)
            labels[i] = colours[labels[i]];
    return good;
}

bool ast_nyu_figure_add(ast_nyu_figure *figure, size_t row, const ast_thumbnail *small, int32_t *labels,
                        size_t clusters, ast_format_error *error) {
    ast_thumbnail coloured = *small;
    size_t pixels = small->width * small->height;
    bool good = figure->colours || (figure->colours = malloc(pixels * sizeof *figure->colours));
    if (good && row == 0)
        memcpy(figure->colours, labels, pixels * sizeof *labels);
    else
        good = good && recolour(figure->colours, labels, pixels);
    if (!good)
        return ast_format_fail(error, "there is no memory for the colours of a scene");
    coloured.labels = labels;
    figure->clusters[row][figure->count] = clusters;
    ast_text_free(&figure->images[row][figure->count]);
    return ast_thumbnail_json(&coloured, &figure->images[row][figure->count], NULL, error);
}

/* ---- The drawing ------------------------------------------------------------------------------------------------- */

/* The text of an image is a string of JSON: quotes with a URL between them, which is an attribute of SVG as well. */
static void put_cell(ast_text *svg, const ast_nyu_figure *figure, size_t row, size_t i) {
    const ast_text *image = &figure->images[row][i];
    double x = LEFT + (double)(i * STEP_X), y = TOP + (double)(row * STEP_Y);
    char text[40];
    snprintf(text, sizeof text, "%zu cluster%s", figure->clusters[row][i], figure->clusters[row][i] == 1 ? "" : "s");
    ast_text_printf(svg, "<image x=\"%g\" y=\"%g\" width=\"%d\" height=\"%d\" href=%s/>\n", x, y, AST_THUMBNAIL_WIDTH,
                    AST_THUMBNAIL_HEIGHT, image->bytes);
    ast_svg_text(svg, x + AST_THUMBNAIL_WIDTH / 2.0, y + AST_THUMBNAIL_HEIGHT + 15, AST_SVG_MIDDLE, text);
}

void ast_nyu_figure_write(const void *data, ast_text *svg) {
    const ast_nyu_figure *figure = data;
    int width = LEFT + (int)figure->count * STEP_X, height = TOP + AST_NYU_FIGURE_ROWS * STEP_Y;
    char text[40];
    ast_svg_begin(svg, width, height, "Scenes segmented by the directions of their surfaces");
    for (size_t i = 0; i < figure->count; i++) {
        snprintf(text, sizeof text, "scene %zu", figure->scenes[i]);
        ast_svg_text(svg, LEFT + (double)(i * STEP_X) + AST_THUMBNAIL_WIDTH / 2.0, TOP - 10, AST_SVG_MIDDLE, text);
    }
    for (size_t row = 0; row < AST_NYU_FIGURE_ROWS; row++) {
        ast_svg_text(svg, LEFT - 12, TOP + (double)(row * STEP_Y) + AST_THUMBNAIL_HEIGHT / 2.0, AST_SVG_END,
                     figure->names[row]);
        for (size_t i = 0; i < figure->count; i++)
            put_cell(svg, figure, row, i);
    }
    ast_svg_end(svg);
}
