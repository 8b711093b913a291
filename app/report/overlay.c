/* SPDX-License-Identifier: MIT
 *
 * Clusters as colours over an image. The colour dominates, so that an id is recognised on any background; the
 * background gives the shapes. */
#include "report.h"

#include <string.h>

/* The parts of 256 that are the cluster's colour. */
enum { COLOUR_PART = 166, BELOW_PART = 256 - COLOUR_PART, GREYS = 1 << 16 };

static unsigned char blend(unsigned char colour, unsigned char below) {
    return (unsigned char)((colour * COLOUR_PART + below * BELOW_PART + 128) / 256);
}

/* A label for every pixel. */
static void colour(ast_picture *picture, const int32_t *labels) {
    ast_colour colours[AST_PALETTE_SIZE];
    for (int32_t id = 0; id < AST_PALETTE_SIZE; id++)
        colours[id] = ast_palette(id);
    size_t count = picture->width * picture->height;
    unsigned char *pixel = picture->rgb;
    for (size_t i = 0; i < count; i++, pixel += 3) {
        if (labels[i] < 0) {
            memset(pixel, 0, 3);
            continue;
        }
        ast_colour over = colours[labels[i] % AST_PALETTE_SIZE];
        pixel[0] = blend(over.red, pixel[0]);
        pixel[1] = blend(over.green, pixel[1]);
        pixel[2] = blend(over.blue, pixel[2]);
    }
}

/* The grey value of every depth; near is light. The scale is the same for every frame, so that a film does not flicker,
 * and it is unbounded: half of the range is used up to two metres, the typical distance in rooms. */
static void fill_greys(unsigned char greys[GREYS], double units_per_metre) {
    for (int value = 0; value < GREYS; value++)
        greys[value] = (unsigned char)(255 * 2 / (2 + value / units_per_metre) + 0.5);
}

bool ast_overlay_depth(ast_picture *picture, const ast_depth_image *depth, double units_per_metre,
                       const int32_t *labels, ast_format_error *error) {
    unsigned char greys[GREYS];
    if (!ast_pixels_resize(picture, depth->width, depth->height, 3, "the picture of a frame", error))
        return false;
    fill_greys(greys, units_per_metre);
    unsigned char *pixel = picture->rgb;
    for (size_t v = 0; v < depth->height; v++) {
        const uint16_t *row = (const uint16_t *)((const char *)depth->values + (ptrdiff_t)v * depth->row_stride);
        for (size_t u = 0; u < depth->width; u++, pixel += 3)
            memset(pixel, greys[row[u]], 3);
    }
    colour(picture, labels);
    return true;
}
