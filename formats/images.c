/* SPDX-License-Identifier: MIT
 *
 * What all images have in common: their bytes are read whole, their kind is seen from the first of them, and their
 * pixels have a place of their own. The decoders are in png_read.c, pnm.c and jpeg.c. */
#include "image_readers.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that are read before the kind of an image is looked at. */
#define FIRST_PART ((size_t)1 << 20)
/* No image of AST_PIXELS_MOST pixels needs more, even as text. */
#define FILE_MOST ((size_t)1 << 30)

static ast_depth_decoder no_jpeg_depth;

/* The kinds of images: how they begin, and their decoders. A PNG whose first byte lost its top bit, or whose line ends
 * were changed, is a PNG too: its decoder says that it is damaged. */
typedef struct image_kind {
    size_t at;
    const char *begin;
    ast_depth_decoder *depth;
    ast_picture_decoder *picture;
} image_kind;

static const image_kind kinds[] = {{1, "PNG", ast_png_depth, ast_png_picture},
                                   {0, "\xFF\xD8\xFF", no_jpeg_depth, ast_jpeg_picture}};
static const image_kind pnm = {0, "P", ast_pnm_depth, ast_pnm_picture}; /* and a digit */

static bool decode_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error);
static bool decode_picture(ast_picture *picture, const ast_image_file *file, ast_format_error *error);
static bool load(ast_buffer *buffer, ast_image_file *file, ast_bytes *bytes, ast_format_error *error);

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

bool ast_depth_read_bytes(ast_depth_pixels *pixels, ast_buffer *buffer, ast_bytes *bytes, ast_format_error *error) {
    ast_image_file file = {0};
    pixels->width = pixels->height = 0;
    return load(buffer, &file, bytes, error) && decode_depth(pixels, &file, error);
}

bool ast_depth_read_memory(ast_depth_pixels *pixels, const char *name, const void *bytes, size_t size,
                           ast_format_error *error) {
    return decode_depth(pixels, &(ast_image_file){name, bytes, size}, error);
}

void ast_depth_pixels_free(ast_depth_pixels *pixels) {
    free(pixels->values);
    *pixels = (ast_depth_pixels){0};
}

ast_depth_image ast_depth_view(const ast_depth_pixels *pixels) {
    return (ast_depth_image){.size = sizeof(ast_depth_image),
                             .values = pixels->values,
                             .width = pixels->width,
                             .height = pixels->height,
                             .row_stride = (ptrdiff_t)(pixels->width * sizeof *pixels->values)};
}

bool ast_picture_read(ast_picture *picture, const char *path, ast_format_error *error) {
    ast_bytes bytes;
    ast_buffer buffer = {0};
    ast_image_file file = {0};
    picture->width = picture->height = 0;
    if (!ast_bytes_open(&bytes, path, false, AST_NO_STOP, error))
        return false;
    bool good = load(&buffer, &file, &bytes, error) && decode_picture(picture, &file, error);
    ast_bytes_close(&bytes);
    free(buffer.place);
    return good;
}

bool ast_picture_read_memory(ast_picture *picture, const char *name, const void *bytes, size_t size,
                             ast_format_error *error) {
    return decode_picture(picture, &(ast_image_file){name, bytes, size}, error);
}

void ast_picture_free(ast_picture *picture) {
    free(picture->rgb);
    *picture = (ast_picture){0};
}

bool ast_depth_extension(const char *path) {
    return ast_has_extension(path, ".png") || ast_has_extension(path, ".pgm");
}

bool ast_picture_extension(const char *path) {
    return ast_depth_extension(path) || ast_has_extension(path, ".ppm") || ast_has_extension(path, ".jpg") ||
           ast_has_extension(path, ".jpeg");
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

/* Room for `count` items at *place; what was there is lost, so that nothing is copied. */
static bool make_room(void **place, size_t *capacity, size_t count, size_t item, const char *name,
                      ast_format_error *error) {
    if (count <= *capacity)
        return true;
    free(*place);
    *place = malloc(count * item);
    *capacity = *place ? count : 0;
    return *place || ast_format_no_memory(error, name);
}

bool ast_depth_resize(ast_depth_pixels *pixels, size_t width, size_t height, const char *name,
                      ast_format_error *error) {
    void *place = pixels->values;
    bool good = ast_image_check_size(name, width, height, error) &&
                make_room(&place, &pixels->capacity, width * height, sizeof *pixels->values, name, error);
    pixels->values = place;
    pixels->width = good ? width : 0;
    pixels->height = good ? height : 0;
    return good;
}

bool ast_picture_resize(ast_picture *picture, size_t width, size_t height, const char *name, ast_format_error *error) {
    void *place = picture->rgb;
    bool good = ast_image_check_size(name, width, height, error) &&
                make_room(&place, &picture->capacity, width * height, 3, name, error);
    picture->rgb = place;
    picture->width = good ? width : 0;
    picture->height = good ? height : 0;
    return good;
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

/* NULL: none that is known. */
static const image_kind *kind_of(const unsigned char *bytes, size_t size) {
    for (const image_kind *kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++)
        if (size >= kind->at + 3 && memcmp(bytes + kind->at, kind->begin, 3) == 0)
            return kind;
    return size >= 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' ? &pnm : NULL;
}

static bool no_image(const ast_image_file *file, const char *wanted, ast_format_error *error) {
    if (file->size == 0)
        return ast_format_fail(error, "%s: is empty; %s is needed", file->name, wanted);
    return ast_format_fail(error, "%s: is no image of a known kind; %s is needed", file->name, wanted);
}

static bool no_jpeg_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    (void)pixels;
    return ast_format_fail(error, "%s: is a JPEG picture; a depth image is a 16-bit greyscale PNG or PGM", file->name);
}

static bool decode_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    const image_kind *kind = kind_of(file->bytes, file->size);
    bool good = kind ? kind->depth(pixels, file, error)
                     : no_image(file, "a depth image, a 16-bit greyscale PNG or PGM,", error);
    if (!good)
        pixels->width = pixels->height = 0;
    return good;
}

static bool decode_picture(ast_picture *picture, const ast_image_file *file, ast_format_error *error) {
    const image_kind *kind = kind_of(file->bytes, file->size);
    bool good = kind ? kind->picture(picture, file, error) : no_image(file, "a picture, a PNG, JPEG or PPM,", error);
    if (!good)
        picture->width = picture->height = 0;
    return good;
}

static bool load(ast_buffer *buffer, ast_image_file *file, ast_bytes *bytes, ast_format_error *error) {
    buffer->filled = 0;
    if (!ast_bytes_fill(bytes, buffer, FIRST_PART, error))
        return false;
    if (buffer->filled == FIRST_PART && kind_of(buffer->place, FIRST_PART) &&
        !ast_bytes_fill(bytes, buffer, FILE_MOST, error))
        return false;
    if (buffer->filled >= FILE_MOST)
        return ast_format_fail(error, "%s: is larger than any image that can be read (1 GiB)", bytes->name);
    *file = (ast_image_file){bytes->name, buffer->place, buffer->filled};
    return true;
}
