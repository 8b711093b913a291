/* SPDX-License-Identifier: MIT
 *
 * PNG through libpng, for speed: what is written here is looked at or read back, not archived. libpng leaves by longjmp
 * when it fails, as in png_read.c. */
#include "images.h"

#include "output.h"

#ifndef AST_HAVE_PNG

static bool no_png(const ast_output *output, ast_format_error *error) {
    return ast_format_fail(error, "%s: this build has no libpng and writes no PNG", ast_output_name(output));
}

bool ast_write_picture(ast_output *output, const unsigned char *rgb, size_t width, size_t height,
                       ast_format_error *error) {
    (void)rgb, (void)width, (void)height;
    return no_png(output, error);
}

bool ast_write_depth(ast_output *output, const uint16_t *values, size_t width, size_t height, ast_format_error *error) {
    (void)values, (void)width, (void)height;
    return no_png(output, error);
}

bool ast_write_indexed(ast_output *output, const unsigned char *pixels, size_t width, size_t height,
                       const unsigned char *colours, size_t count, ast_format_error *error) {
    (void)pixels, (void)width, (void)height, (void)colours, (void)count;
    return no_png(output, error);
}

#else

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <zlib.h>

typedef struct png_encoder {
    ast_output *output;
    ast_format_error *error;
    bool explained; /* the error has its sentence */
    png_structp png;
    png_infop info;
    const unsigned char *rows;
    size_t width, height, row_bytes;
    int bits, colour;
    const png_color *palette; /* (palette_size), or NULL */
    int palette_size;
    /* What zlib's fastest level does best with: labels repeat themselves as they are (2 ms for 640 x 480, 5 if
     * filtered), depth changes little from row to row. */
    int filter;
} png_encoder;

static bool encode(png_encoder *encoder);

bool ast_write_picture(ast_output *output, const unsigned char *rgb, size_t width, size_t height,
                       ast_format_error *error) {
    return encode(&(png_encoder){.output = output,
                                 .error = error,
                                 .rows = rgb,
                                 .width = width,
                                 .height = height,
                                 .row_bytes = 3 * width,
                                 .bits = 8,
                                 .colour = PNG_COLOR_TYPE_RGB,
                                 .filter = PNG_FILTER_NONE});
}

bool ast_write_depth(ast_output *output, const uint16_t *values, size_t width, size_t height, ast_format_error *error) {
    return encode(&(png_encoder){.output = output,
                                 .error = error,
                                 .rows = (const unsigned char *)values,
                                 .width = width,
                                 .height = height,
                                 .row_bytes = 2 * width,
                                 .bits = 16,
                                 .colour = PNG_COLOR_TYPE_GRAY,
                                 .filter = PNG_FILTER_UP});
}

bool ast_write_indexed(ast_output *output, const unsigned char *pixels, size_t width, size_t height,
                       const unsigned char *colours, size_t count, ast_format_error *error) {
    png_color palette[PNG_MAX_PALETTE_LENGTH];
    for (size_t i = 0; i < count; i++)
        palette[i] = (png_color){colours[3 * i], colours[3 * i + 1], colours[3 * i + 2]};
    return encode(&(png_encoder){.output = output,
                                 .error = error,
                                 .rows = pixels,
                                 .width = width,
                                 .height = height,
                                 .row_bytes = width,
                                 .bits = 8,
                                 .colour = PNG_COLOR_TYPE_PALETTE,
                                 .palette = palette,
                                 .palette_size = (int)count,
                                 .filter = PNG_FILTER_NONE});
}

/* ---- What libpng calls ------------------------------------------------------------------------------------------- */

static void on_error(png_structp png, png_const_charp message) {
    png_encoder *encoder = png_get_error_ptr(png);
    if (!encoder->explained)
        ast_format_fail(encoder->error, "%s: cannot be written as a PNG: %s", ast_output_name(encoder->output),
                        message);
    encoder->explained = true;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

static bool no_memory(png_encoder *encoder) {
    encoder->explained = true;
    return ast_format_fail(encoder->error, "%s: there is not enough memory to write it",
                           ast_output_name(encoder->output));
}

static void *allocate(png_structp png, png_alloc_size_t size) {
    void *memory = malloc(size);
    if (!memory)
        no_memory(png_get_mem_ptr(png));
    return memory;
}

static void release(png_structp png, void *memory) {
    (void)png;
    free(memory);
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
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(png, encoder, put_bytes, nothing_to_flush);
    png_set_IHDR(png, encoder->info, (png_uint_32)encoder->width, (png_uint_32)encoder->height, encoder->bits,
                 encoder->colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (encoder->palette)
        png_set_PLTE(png, encoder->info, encoder->palette, encoder->palette_size);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, encoder->filter);
    png_set_compression_level(png, Z_BEST_SPEED);
    png_set_compression_buffer_size(png, (size_t)1 << 16);
    png_write_info(png, encoder->info);
    if (encoder->bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    for (size_t y = 0; y < encoder->height; y++)
        png_write_row(png, encoder->rows + y * encoder->row_bytes);
    png_write_end(png, NULL);
}

static bool guarded(png_encoder *encoder) {
    if (setjmp(png_jmpbuf(encoder->png)))
        return false;
    write_image(encoder);
    return true;
}

static bool encode(png_encoder *encoder) {
    const char *name = ast_output_name(encoder->output);
    size_t pixels;
    if (encoder->width == 0 || encoder->height == 0 ||
        __builtin_mul_overflow(encoder->width, encoder->height, &pixels) || pixels > AST_PIXELS_MOST)
        return ast_format_fail(encoder->error, "%s: an image of %zu x %zu pixels cannot be written", name,
                               encoder->width, encoder->height);
    encoder->png =
        png_create_write_struct_2(PNG_LIBPNG_VER_STRING, encoder, on_error, on_warning, encoder, allocate, release);
    if (encoder->png)
        encoder->info = png_create_info_struct(encoder->png);
    bool good = encoder->info ? guarded(encoder) : no_memory(encoder);
    png_destroy_write_struct(&encoder->png, &encoder->info);
    return good;
}

#endif
