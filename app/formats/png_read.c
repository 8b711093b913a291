/* SPDX-License-Identifier: MIT
 *
 * PNG through libpng, from memory. libpng leaves by longjmp when it fails; so each of its two steps (the header, the
 * rows) runs inside `guarded`, nothing is owned by a function that it can jump out of, and what it said becomes our
 * sentence. Chunks that no pixel depends on are passed over, which also keeps their bombs away. */
#include "image_readers.h"

#ifndef AST_HAVE_PNG

bool ast_png_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    (void)pixels;
    return ast_format_fail(error, "%s: this build has no libpng and reads no PNG; PGM can be read", file->name);
}

#else

#include "platform.h"
#include "png_calls.h"

#include <setjmp.h>
#include <string.h>

typedef struct png_decoder {
    const ast_image_file *file;
    size_t position;
    png_structp png;
    png_infop info;
    png_uint_32 width, height;
    int bits, colour;
    uint16_t *values;    /* where the pixels go */
    bool cut, no_memory; /* why it failed, if not `reason` */
    char reason[AST_EXCERPT];
} png_decoder;

static bool begin(png_decoder *decoder, const ast_image_file *file, ast_format_error *error);
static bool check_bytes(const png_decoder *decoder, ast_format_error *error);
static bool guarded(png_decoder *decoder, void (*step)(struct png_decoder *), ast_format_error *error);
static void read_rows(png_decoder *decoder);
static const char *colour_name(int colour);

bool ast_png_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    png_decoder decoder;
    bool good = begin(&decoder, file, error);
    if (good && (decoder.bits != 16 || decoder.colour != PNG_COLOR_TYPE_GRAY))
        good = ast_format_fail(error, "%s: is a PNG of %d-bit %s; a depth image has 16-bit greyscale", file->name,
                               decoder.bits, colour_name(decoder.colour));
    good = good && check_bytes(&decoder, error) &&
           ast_pixels_resize(pixels, decoder.width, decoder.height, sizeof *pixels->values, file->name, error);
    if (good) {
        decoder.values = pixels->values;
        good = guarded(&decoder, read_rows, error);
    }
    png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
    /* libpng could swap the bytes too, but one by one. */
    for (size_t i = 0, count = good ? pixels->width * pixels->height : 0; i < count; i++)
        pixels->values[i] = ast_from_big_endian(pixels->values[i]);
    return good;
}

static const char *colour_name(int colour) {
    return colour == PNG_COLOR_TYPE_GRAY         ? "greyscale"
           : colour == PNG_COLOR_TYPE_GRAY_ALPHA ? "greyscale with transparency"
           : colour == PNG_COLOR_TYPE_PALETTE    ? "palette colours"
           : colour == PNG_COLOR_TYPE_RGB        ? "RGB"
                                                 : "RGB with transparency";
}

/* ---- What libpng calls ------------------------------------------------------------------------------------------- */

static void on_error(png_structp png, png_const_charp message) {
    png_decoder *decoder = png_get_error_ptr(png);
    ast_excerpt(decoder->reason, message, strlen(message));
    png_longjmp(png, 1);
}

static void take_bytes(png_structp png, unsigned char *place, size_t count) {
    png_decoder *decoder = png_get_io_ptr(png);
    if (count > decoder->file->size - decoder->position) {
        decoder->cut = true;
        png_error(png, "the file ends");
    }
    memcpy(place, decoder->file->bytes + decoder->position, count);
    decoder->position += count;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static bool explain(const png_decoder *decoder, ast_format_error *error) {
    const char *name = decoder->file->name;
    if (decoder->no_memory)
        return ast_format_no_memory(error, name);
    if (decoder->cut)
        return ast_format_fail(error, "%s: the PNG ends too early; the file was cut short", name);
    return ast_format_fail(error, "%s: the PNG is damaged (%s)", name, decoder->reason);
}

static bool guarded(png_decoder *decoder, void (*step)(struct png_decoder *), ast_format_error *error) {
    if (setjmp(png_jmpbuf(decoder->png)))
        return explain(decoder, error);
    step(decoder);
    return true;
}

static void read_header(png_decoder *decoder) {
    png_structp png = decoder->png;
    png_set_read_fn(png, decoder, take_bytes);
    /* How large an image may be is for ast_image_check_size to say. */
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, decoder->info);
    png_get_IHDR(png, decoder->info, &decoder->width, &decoder->height, &decoder->bits, &decoder->colour, NULL, NULL,
                 NULL);
}

static bool begin(png_decoder *decoder, const ast_image_file *file, ast_format_error *error) {
    *decoder = (struct png_decoder){.file = file};
    decoder->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, decoder, on_error, ast_png_ignore,
                                            &decoder->no_memory, ast_png_allocate, ast_png_release);
    if (decoder->png)
        decoder->info = png_create_info_struct(decoder->png);
    if (!decoder->info)
        return ast_format_no_memory(error, file->name);
    return guarded(decoder, read_header, error) &&
           ast_image_check_size(file->name, decoder->width, decoder->height, error);
}

/* deflate makes at best 258 bytes of 2 bits, so a file cannot hold more than 1032 times its size: a few bytes that
 * promise a huge image are seen through before they cost memory. */
static bool check_bytes(const png_decoder *decoder, ast_format_error *error) {
    const ast_image_file *file = decoder->file;
    size_t rows = (png_get_rowbytes(decoder->png, decoder->info) + 1) * decoder->height;
    return rows / 1032 <= file->size ||
           ast_format_fail(error, "%s: is cut short: its %zu bytes cannot hold the %u x %u pixels that it promises",
                           file->name, file->size, (unsigned)decoder->width, (unsigned)decoder->height);
}

static void read_rows(png_decoder *decoder) {
    png_structp png = decoder->png;
    int passes = png_set_interlace_handling(png);
    png_start_read_image(png);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < decoder->height; y++)
            png_read_row(png, (png_bytep)(decoder->values + y * decoder->width), NULL);
    png_read_end(png, NULL); /* the check sum of the last rows, and whether the file goes on to its end */
}

#endif
