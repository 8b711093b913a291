/* SPDX-License-Identifier: MIT
 *
 * Pictures are the thumbnails of the reports: PNG within the SVG. */
#include "nyu_figure.h"

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

/* The number of a cluster without a partner: the lowest that is free. */
static int32_t next_free(bool taken[MOST]) {
    int32_t colour = 0;
    while (colour < MOST - 1 && taken[colour])
        colour++;
    taken[colour] = true;
    return colour;
}

/* Takes the largest overlap of a cluster and a colour that are both free, and so on. */
static void match(size_t overlaps[MOST][MOST], int32_t colours[MOST]) {
    bool taken[MOST] = {false};
    for (int k = 0; k < MOST; k++)
        colours[k] = -1;
    for (;;) {
        size_t most = 0;
        int32_t cluster = 0, colour = 0;
        for (int32_t k = 0; k < MOST; k++)
            for (int32_t c = 0; c < MOST && colours[k] < 0; c++)
                if (!taken[c] && overlaps[k][c] > most) {
                    most = overlaps[k][c];
                    cluster = k;
                    colour = c;
                }
        if (most == 0)
            break;
        colours[cluster] = colour;
        taken[colour] = true;
    }
    for (int k = 0; k < MOST; k++)
        colours[k] = colours[k] < 0 ? next_free(taken) : colours[k];
}

static void recolour(const int32_t *first, int32_t *labels, size_t count) {
    size_t overlaps[MOST][MOST] = {{0}};
    int32_t colours[MOST];
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= 0 && labels[i] < MOST && first[i] >= 0 && first[i] < MOST)
            overlaps[labels[i]][first[i]]++;
    match(overlaps, colours);
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= 0 && labels[i] < MOST)
            labels[i] = colours[labels[i]];
}

bool ast_nyu_figure_add(ast_nyu_figure *figure, size_t row, const ast_thumbnail *small, int32_t *labels,
                        size_t clusters, ast_format_error *error) {
    ast_thumbnail coloured = *small;
    size_t pixels = small->width * small->height;
    if (!figure->colours && !(figure->colours = malloc(pixels * sizeof *figure->colours))) {
        snprintf(error->text, sizeof error->text, "there is no memory for the colours of a scene");
        return false;
    }
    if (row == 0)
        memcpy(figure->colours, labels, pixels * sizeof *labels);
    else
        recolour(figure->colours, labels, pixels);
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
