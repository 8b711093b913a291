/* SPDX-License-Identifier: MIT
 *
 * Every pixel of the thumbnail takes the label and the grey of one pixel at its middle: a mean of labels is
 * meaningless, and reading all pixels would take as long as clustering them. */
#include "thumbnail.h"

#include "page.h"

#include <string.h>

/* 35 colours times 7 shades, plus black: 246 of the 256 entries of a palette. */
enum { SHADES = 7, BLACK = AST_PALETTE_SIZE * SHADES, COLOURS = BLACK + 1, COLOUR_PART = 166, BELOW_PART = 90 };

static void fill_palette(unsigned char colours[COLOURS][3]) {
    for (int32_t id = 0; id < AST_PALETTE_SIZE; id++) {
        ast_colour colour = ast_palette(id);
        unsigned char parts[3] = {colour.red, colour.green, colour.blue};
        for (int shade = 0; shade < SHADES; shade++) {
            int below = shade * 255 / (SHADES - 1);
            for (int c = 0; c < 3; c++)
                colours[id * SHADES + shade][c] =
                    (unsigned char)((parts[c] * COLOUR_PART + below * BELOW_PART + 128) / 256);
        }
    }
    memset(colours[BLACK], 0, 3);
}

/* 0 to 1: near is light, as in the overlays. */
static double grey_at(const ast_thumbnail *small, size_t u, size_t v) {
    const char *row = (const char *)small->depth->values + (ptrdiff_t)v * small->depth->row_stride;
    return 2 / (2 + ((const uint16_t *)row)[u] / small->units_per_metre);
}

static unsigned char colour_at(const ast_thumbnail *small, size_t u, size_t v) {
    int32_t label = small->labels[v * small->width + u];
    if (label < 0)
        return BLACK;
    int shade = (int)(grey_at(small, u, v) * (SHADES - 1) + 0.5);
    return (unsigned char)(label % AST_PALETTE_SIZE * SHADES + shade);
}

/* The size that keeps the proportions, at least one pixel. */
static void fit(const ast_thumbnail *small, size_t *width, size_t *height) {
    *width = small->width < AST_THUMBNAIL_WIDTH ? small->width : AST_THUMBNAIL_WIDTH;
    *height = (*width * small->height + small->width / 2) / small->width;
    if (*height > AST_THUMBNAIL_HEIGHT) {
        *height = AST_THUMBNAIL_HEIGHT;
        *width = (*height * small->width + small->height / 2) / small->height;
    }
    *width = *width ? *width : 1;
    *height = *height ? *height : 1;
}

static bool put_png(const unsigned char *pixels, size_t width, size_t height, ast_text *json, const char *key,
                    ast_format_error *error) {
    unsigned char colours[COLOURS][3];
    fill_palette(colours);
    ast_output *output = ast_output_open_memory("the picture of a frame", error);
    bool good = output && ast_write_indexed(output, pixels, width, height, colours[0], COLOURS, error);
    return ast_json_png(json, key, output, good, error);
}

bool ast_thumbnail_json(const ast_thumbnail *small, ast_text *json, const char *key, ast_format_error *error) {
    unsigned char pixels[AST_THUMBNAIL_WIDTH * AST_THUMBNAIL_HEIGHT];
    size_t width, height;
    fit(small, &width, &height);
    for (size_t y = 0; y < height; y++) {
        size_t v = (2 * y + 1) * small->height / (2 * height);
        for (size_t x = 0; x < width; x++)
            pixels[y * width + x] = colour_at(small, (2 * x + 1) * small->width / (2 * width), v);
    }
    return put_png(pixels, width, height, json, key, error);
}
