/* SPDX-License-Identifier: MIT
 *
 * What all images have in common: their bytes are read whole, their kind is seen from the first of them, and their
 * pixels have a place of their own. The decoders are in png_read.c, pnm.c, depth_float.c and pcd_depth.c. */
#include "image_readers.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are read before the kind of an image is looked at. */
#define FIRST_PART ((size_t)1 << 20)
/* No image of AST_PIXELS_MOST pixels needs more, even as text. */
#define FILE_MOST ((size_t)1 << 30)

static bool decode(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error);
static bool load(ast_buffer *buffer, ast_image_file *file, ast_bytes *bytes, ast_format_error *error);

bool ast_depth_read_bytes(ast_depth_pixels *pixels, ast_buffer *buffer, ast_bytes *bytes, ast_format_error *error) {
    ast_image_file file = {0};
    pixels->width = pixels->height = 0;
    return load(buffer, &file, bytes, error) && decode(pixels, &file, error);
}

bool ast_depth_read(ast_depth_pixels *pixels, const char *path, ast_format_error *error) {
    ast_bytes bytes;
    ast_buffer buffer = {0};
    pixels->width = pixels->height = 0;
    if (!ast_bytes_open(&bytes, path, false, AST_NO_STOP, error))
        return false;
    bool good = ast_depth_read_bytes(pixels, &buffer, &bytes, error);
    ast_bytes_close(&bytes);
    free(buffer.place);
    return good;
}

bool ast_depth_read_memory(ast_depth_pixels *pixels, const char *name, const void *bytes, size_t size,
                           ast_format_error *error) {
    return decode(pixels, &(ast_image_file){name, bytes, size}, error);
}

void ast_pixels_free(ast_pixels *pixels) {
    free(pixels->memory);
    *pixels = (ast_pixels){0};
}

ast_depth_image ast_depth_view(const ast_depth_pixels *pixels) {
    return (ast_depth_image){.size = sizeof(ast_depth_image),
                             .values = pixels->values,
                             .width = pixels->width,
                             .height = pixels->height,
                             .row_stride = (ptrdiff_t)(pixels->width * sizeof *pixels->values)};
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

bool ast_image_check_size(const char *name, size_t width, size_t height, ast_format_error *error) {
    size_t pixels;
    if (width == 0 || height == 0)
        return ast_format_fail(error, "%s: is an image of %zu x %zu pixels, which shows nothing", name, width, height);
    if (__builtin_mul_overflow(width, height, &pixels) || pixels > AST_PIXELS_MOST)
        return ast_format_fail(error, "%s: is an image of %zu x %zu pixels; at most 2^27 (134 million) can be read",
                               name, width, height);
    return true;
}

/* What was there is lost, so that nothing is copied. */
bool ast_pixels_resize(ast_pixels *pixels, size_t width, size_t height, size_t item, const char *name,
                       ast_format_error *error) {
    pixels->width = pixels->height = 0;
    if (!ast_image_check_size(name, width, height, error))
        return false;
    size_t size = width * height * item;
    if (size > pixels->capacity) {
        free(pixels->memory);
        pixels->memory = malloc(size);
        pixels->capacity = pixels->memory ? size : 0;
        if (!pixels->memory)
            return ast_format_no_memory(error, name);
    }
    pixels->width = width;
    pixels->height = height;
    return true;
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

/* By the first bytes; NULL: none that is known. A PNG whose first byte lost its top bit, or whose line ends were
 * changed, is a PNG too: its decoder says that it is damaged. */
static ast_image_decoder *decoder_of(const unsigned char *bytes, size_t size) {
    if (size >= 4 && memcmp(bytes + 1, "PNG", 3) == 0)
        return ast_png_depth;
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return ast_npy_depth;
    if (size >= 8 && (memcmp(bytes, "II*\0", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0))
        return ast_tiff_depth;
    if (size >= 8 && bytes[0] == 'P' && (bytes[1] == 'f' || bytes[1] == 'F'))
        return ast_pfm_depth;
    if (size >= 8 && (memcmp(bytes, "# .PCD", 6) == 0 || memcmp(bytes, "VERSION ", 8) == 0))
        return ast_pcd_depth;
    return size >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' ? ast_pnm_depth : NULL;
}

static bool decode(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    ast_image_decoder *decoder = decoder_of(file->bytes, file->size);
    pixels->units = 0;
    bool good = decoder ? decoder(pixels, file, error)
                        : ast_format_fail(error, "%s: is %s; a depth image, a 16-bit greyscale PNG or PGM, is needed",
                                          file->name, file->size == 0 ? "empty" : "no image of a known kind");
    if (!good)
        pixels->width = pixels->height = 0;
    return good;
}

static bool load(ast_buffer *buffer, ast_image_file *file, ast_bytes *bytes, ast_format_error *error) {
    buffer->filled = 0;
    if (!ast_bytes_fill(bytes, buffer, FIRST_PART, error))
        return false;
    if (buffer->filled == FIRST_PART && decoder_of(buffer->place, FIRST_PART) &&
        !ast_bytes_fill(bytes, buffer, FILE_MOST, error))
        return false;
    if (buffer->filled >= FILE_MOST)
        return ast_format_fail(error, "%s: is larger than any image that can be read (1 GiB)", bytes->name);
    *file = (ast_image_file){bytes->name, buffer->place, buffer->filled};
    return true;
}
