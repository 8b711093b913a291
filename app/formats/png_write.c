/* SPDX-License-Identifier: MIT
 *
 * PNG through libpng, for speed: what is written here is looked at or read back, not archived. libpng leaves by longjmp
 * when it fails, as in png_read.c. */
#include "images.h"

#include "output.h"

typedef enum layout { GREY_16, RGB_8, INDEXED } layout;

/* An image to write; palette: (palette_size, 3), if it is indexed. */
typedef struct image {
    const void *rows;
    size_t width, height;
    layout layout;
    const unsigned char *palette;
    size_t palette_size;
} image;

static bool encode(ast_output *output, const image *from, ast_format_error *error);

bool ast_write_picture(ast_output *output, const unsigned char *rgb, size_t width, size_t height,
                       ast_format_error *error) {
    return encode(output, &(image){rgb, width, height, RGB_8, NULL, 0}, error);
}

bool ast_write_depth(ast_output *output, const uint16_t *values, size_t width, size_t height, ast_format_error *error) {
    return encode(output, &(image){values, width, height, GREY_16, NULL, 0}, error);
}

bool ast_write_indexed(ast_output *output, const unsigned char *pixels, size_t width, size_t height,
                       const unsigned char *colours, size_t count, ast_format_error *error) {
    return encode(output, &(image){pixels, width, height, INDEXED, colours, count}, error);
}

#ifndef AST_HAVE_PNG

static bool encode(ast_output *output, const image *from, ast_format_error *error) {
    (void)from;
    return ast_format_fail(error, "%s: this build has no libpng and writes no PNG", ast_output_name(output));
}

#else

#include "png_calls.h"

#include <setjmp.h>
#include <zlib.h>

typedef struct png_encoder {
    ast_output *output;
    ast_format_error *error;
    bool explained; /* the error has its sentence */
    bool no_memory;
    png_structp png;
    png_infop info;
    const image *from;
} png_encoder;

/* The layouts in libpng's words. The filter is what zlib's fastest level does best with: labels repeat themselves as
 * they are (2 ms for 640 x 480, 5 if filtered), depth changes little from row to row. */
static const struct {
    int bits, colour, filter;
    size_t pixel; /* bytes */
} layouts[] = {[GREY_16] = {16, PNG_COLOR_TYPE_GRAY, PNG_FILTER_UP, 2},
               [RGB_8] = {8, PNG_COLOR_TYPE_RGB, PNG_FILTER_NONE, 3},
               [INDEXED] = {8, PNG_COLOR_TYPE_PALETTE, PNG_FILTER_NONE, 1}};

/* ---- What libpng calls ------------------------------------------------------------------------------------------- */

static void on_error(png_structp png, png_const_charp message) {
    png_encoder *encoder = png_get_error_ptr(png);
    if (!encoder->explained)
        ast_format_fail(encoder->error, "%s: cannot be written as a PNG: %s", ast_output_name(encoder->output),
                        message);
    encoder->explained = true;
    png_longjmp(png, 1);
}

static void put_bytes(png_structp png, unsigned char *bytes, size_t count) {
    png_encoder *encoder = png_get_io_ptr(png);
    if (ast_output_write(encoder->output, bytes, count, encoder->error))
        return;
    encoder->explained = true;
    png_error(png, "the output failed");
}

static void nothing_to_flush(png_structp png) {
    (void)png;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_image(png_encoder *encoder) {
    png_structp png = encoder->png;
    const image *from = encoder->from;
    int bits = layouts[from->layout].bits;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, encoder, put_bytes, nothing_to_flush);
    png_set_IHDR(png, encoder->info, (png_uint_32)from->width, (png_uint_32)from->height, bits,
                 layouts[from->layout].colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (from->palette) {
        png_color palette[PNG_MAX_PALETTE_LENGTH];
        for (size_t i = 0; i < from->palette_size; i++)
            palette[i] = (png_color){from->palette[3 * i], from->palette[3 * i + 1], from->palette[3 * i + 2]};
        png_set_PLTE(png, encoder->info, palette, (int)from->palette_size);
    }
    png_set_filter(png, PNG_FILTER_TYPE_BASE, layouts[from->layout].filter);
    png_set_compression_level(png, Z_BEST_SPEED);
    png_set_compression_buffer_size(png, (size_t)1 << 16);
    png_write_info(png, encoder->info);
    if (bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    for (size_t y = 0; y < from->height; y++)
        png_write_row(png, (const unsigned char *)from->rows + y * from->width * layouts[from->layout].pixel);
    png_write_end(png, NULL);
}

static bool guarded(png_encoder *encoder) {
    if (setjmp(png_jmpbuf(encoder->png)))
        return false;
    write_image(encoder);
    return true;
}

static bool encode(ast_output *output, const image *from, ast_format_error *error) {
    png_encoder encoder = {.output = output, .error = error, .from = from};
    size_t pixels;
    if (from->width == 0 || from->height == 0 || __builtin_mul_overflow(from->width, from->height, &pixels) ||
        pixels > AST_PIXELS_MOST)
        return ast_format_fail(error, "%s: an image of %zu x %zu pixels cannot be written", ast_output_name(output),
                               from->width, from->height);
    encoder.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &encoder, on_error, ast_png_ignore,
                                            &encoder.no_memory, ast_png_allocate, ast_png_release);
    if (encoder.png)
        encoder.info = png_create_info_struct(encoder.png);
    encoder.no_memory |= !encoder.info;
    bool good = encoder.info && guarded(&encoder);
    png_destroy_write_struct(&encoder.png, &encoder.info);
    if (!good && encoder.no_memory)
        ast_format_fail(error, "%s: there is not enough memory to write it", ast_output_name(output));
    return good;
}

#endif
