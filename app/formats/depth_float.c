/* SPDX-License-Identifier: MIT
 *
 * Depth images in other files than PNG and PGM: .npy of two dimensions, PFM, and TIFF without compression. Numbers are
 * floats, which are metres unless the caller names a scale, or 16-bit whole numbers as every depth image has them.
 *
 * Floats become whole units of a quarter of a millimetre, up to 16 m, the resolution of the sensors being coarser. What
 * is not finite, not above 0 or farther away is a hole. */
#include "image_readers.h"

#include "npy.h"

#include <stdio.h>
#include <string.h>

#define UNITS 4000.0 /* a metre */

/* Rows of numbers: pixel (u, v) is at first + v * row + u * column. */
typedef struct raster {
    const unsigned char *first;
    ptrdiff_t row, column;
    size_t width, height;
    char kind; /* 'f' or 'u' */
    size_t item;
    bool swap;
} raster;

static uint16_t depth_of(const ast_depth_pixels *pixels, const raster *r, const unsigned char *at) {
    unsigned char bytes[8];
    memcpy(bytes, at, r->item);
    if (r->swap)
        ast_scalar_swap(bytes, 1, r->item);
    double value = ast_scalar_load(bytes, r->kind, r->item);
    if (r->kind == 'u')
        return (uint16_t)value;
    double units = value * (UNITS / (pixels->float_scale > 0 ? pixels->float_scale : 1)) + 0.5;
    return units >= 1 && units < 65536 ? (uint16_t)units : 0;
}

static void fill(ast_depth_pixels *pixels, const raster *r) {
    for (size_t v = 0; v < r->height; v++)
        for (size_t u = 0; u < r->width; u++)
            pixels->values[v * r->width + u] =
                depth_of(pixels, r, r->first + (ptrdiff_t)v * r->row + (ptrdiff_t)u * r->column);
    pixels->units = r->kind == 'f' ? UNITS : 0;
}

static bool take(ast_depth_pixels *pixels, const raster *r, const char *name, ast_format_error *error) {
    if (!ast_pixels_resize(pixels, r->width, r->height, sizeof *pixels->values, name, error))
        return false;
    fill(pixels, r);
    return true;
}

void ast_depth_from_floats(ast_depth_pixels *pixels, const void *floats) {
    const raster r = {.first = floats,
                      .row = 4 * (ptrdiff_t)pixels->width,
                      .column = 4,
                      .width = pixels->width,
                      .height = pixels->height,
                      .kind = 'f',
                      .item = 4};
    fill(pixels, &r);
}

/* ---- NumPy ------------------------------------------------------------------------------------------------------- */

bool ast_npy_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    ast_npy_header h;
    char shape[AST_SHAPE_TEXT];
    size_t offset;
    if (!ast_npy_offset(file->name, file->bytes, file->size, &offset, error))
        return false;
    if (offset > file->size)
        return ast_format_fail(error, "%s: is cut short: the .npy header is not complete", file->name);
    if (!ast_npy_parse(&h, file->name, file->bytes, offset, error))
        return false;
    ast_npy_shape_text(&h, shape);
    bool known = h.kind == 'f' || (h.kind == 'u' && h.item == 2);
    if (h.dimensions != 2 || !known)
        return ast_format_fail(error,
                               "%s: is an array %s of %s; a depth image is (height, width) of floats, in metres, or of "
                               "16-bit unsigned numbers",
                               file->name, shape, h.descr);
    if (h.data_size != file->size - offset)
        return ast_format_fail(error, "%s: holds %zu bytes behind its header, but %s of %s has %zu", file->name,
                               file->size - offset, shape, h.descr, h.data_size);
    ptrdiff_t item = (ptrdiff_t)h.item;
    raster r = {.first = file->bytes + offset,
                .row = h.fortran ? item : item * (ptrdiff_t)h.shape[1],
                .column = h.fortran ? item * (ptrdiff_t)h.shape[0] : item,
                .width = h.shape[1],
                .height = h.shape[0],
                .kind = h.kind,
                .item = h.item,
                .swap = h.swapped};
    return take(pixels, &r, file->name, error);
}

/* ---- PFM --------------------------------------------------------------------------------------------------------- */

bool ast_pfm_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    char header[128] = "";
    size_t width = 0, height = 0, held = file->size < sizeof header - 1 ? file->size : sizeof header - 1;
    double scale = 0;
    int end = 0;
    memcpy(header, file->bytes, held);
    if (header[1] == 'F')
        return ast_format_fail(error, "%s: is a PFM in colour; a depth image has one number a pixel (Pf)", file->name);
    if (sscanf(header + 2, " %9zu %9zu %lf%n", &width, &height, &scale, &end) != 3 || scale == 0)
        return ast_format_fail(error,
                               "%s: the header of the PFM cannot be understood: Pf, width, height and a scale are "
                               "needed",
                               file->name);
    size_t offset = (size_t)end + 3; /* one blank behind the scale */
    if (!ast_image_check_size(file->name, width, height, error))
        return false;
    if (offset > file->size || file->size - offset != 4 * width * height)
        return ast_format_fail(error, "%s: does not hold the %zu x %zu floats that its header promises", file->name,
                               width, height);
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    raster r = {.first = file->bytes + offset + 4 * width * (height - 1), /* the last row comes first */
                .row = -4 * (ptrdiff_t)width,
                .column = 4,
                .width = width,
                .height = height,
                .kind = 'f',
                .item = 4,
                .swap = (scale < 0) != little};
    return take(pixels, &r, file->name, error);
}

/* ---- TIFF -------------------------------------------------------------------------------------------------------- */

enum { WIDTH = 256, HEIGHT = 257, BITS = 258, COMPRESSION = 259, STRIPS = 273, SAMPLES = 277, ROWS = 278, SIZES = 279 };
enum { TILES = 322, SAMPLE_FORMAT = 339, SHORT = 3, LONG = 4, ENTRY = 12 };

typedef struct tiff {
    const ast_image_file *file;
    bool big; /* bytes */
} tiff;

/* A number of `size` bytes; 0 beyond the end. */
static size_t number_at(const tiff *t, size_t at, size_t size) {
    size_t value = 0;
    if (at > t->file->size || size > t->file->size - at)
        return 0;
    for (size_t i = 0; i < size; i++)
        value |= (size_t)t->file->bytes[at + i] << 8 * (t->big ? size - 1 - i : i);
    return value;
}

/* Number `index` of the values of a tag in the first directory; `other` if the tag is not there. */
static size_t value_of(const tiff *t, size_t tag, size_t index, size_t other) {
    size_t directory = number_at(t, 4, 4), count = number_at(t, directory, 2);
    for (size_t i = 0; i < count; i++) {
        size_t at = directory + 2 + ENTRY * i, type = number_at(t, at + 2, 2), size = type == SHORT ? 2 : 4;
        size_t values = number_at(t, at + 4, 4);
        if (number_at(t, at, 2) != tag || (type != SHORT && type != LONG) || index >= values)
            continue;
        return number_at(t, (values * size <= 4 ? at + 8 : number_at(t, at + 8, 4)) + index * size, size);
    }
    return other;
}

/* What is wrong with it, or NULL. */
static const char *tiff_problem(const tiff *t, size_t bits, size_t format) {
    if (value_of(t, COMPRESSION, 0, 1) != 1)
        return "is compressed; a TIFF without compression is needed";
    if (value_of(t, TILES, 0, 0) != 0)
        return "is made of tiles; a TIFF of strips is needed";
    if (value_of(t, SAMPLES, 0, 1) != 1)
        return "has several numbers a pixel; a depth image has one";
    if (!((bits == 32 && format == 3) || (bits == 16 && format == 1)))
        return "holds other numbers than a depth image has: 32-bit floats, in metres, or 16-bit unsigned numbers";
    return NULL;
}

/* The strips one behind the other become pixels; each must be within the file. */
static bool take_strips(ast_depth_pixels *pixels, const tiff *t, raster *r, ast_format_error *error) {
    size_t rows = value_of(t, ROWS, 0, r->height), line = r->width * r->item;
    rows = rows == 0 || rows > r->height ? r->height : rows;
    if (!ast_pixels_resize(pixels, r->width, r->height, sizeof *pixels->values, t->file->name, error))
        return false;
    for (size_t v = 0; v < r->height; v++) {
        size_t strip = v / rows, at = value_of(t, STRIPS, strip, 0), behind = v % rows * line;
        if (at == 0 || at > t->file->size || behind + line > t->file->size - at)
            return ast_format_fail(error, "%s: is cut short: row %zu of its %zu rows is not there", t->file->name,
                                   v + 1, r->height);
        for (size_t u = 0; u < r->width; u++)
            pixels->values[v * r->width + u] = depth_of(pixels, r, t->file->bytes + at + behind + u * r->item);
    }
    pixels->units = r->kind == 'f' ? UNITS : 0;
    return true;
}

bool ast_tiff_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    tiff t = {file, file->bytes[0] == 'M'};
    size_t bits = value_of(&t, BITS, 0, 1), format = value_of(&t, SAMPLE_FORMAT, 0, 1);
    const char *problem = tiff_problem(&t, bits, format);
    if (problem)
        return ast_format_fail(error, "%s: %s", file->name, problem);
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    raster r = {.width = value_of(&t, WIDTH, 0, 0),
                .height = value_of(&t, HEIGHT, 0, 0),
                .kind = format == 3 ? 'f' : 'u',
                .item = bits / 8,
                .swap = t.big == little};
    return take_strips(pixels, &t, &r, error);
}
