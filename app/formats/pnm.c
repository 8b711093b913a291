/* SPDX-License-Identifier: MIT
 *
 * The images of netpbm: PGM as depth (P5 or P2, with a largest value of 256 or more). One image a file. The header's
 * promise is compared with the bytes that follow before memory is asked for. */
#include "image_readers.h"

#include "platform.h"
#include "number.h"

#include <string.h>

typedef struct pnm {
    const ast_image_file *file;
    const unsigned char *at, *end;
    int kind;  /* the digit behind the P */
    bool text; /* numbers in decimal */
    size_t width, height, largest;
} pnm;

static bool read_header(pnm *image, const ast_image_file *file, ast_format_error *error);
static bool check_raster(const pnm *image, ast_format_error *error);
static bool check_end(const pnm *image, ast_format_error *error);
static bool next_number(pnm *image, size_t index, unsigned *value, ast_format_error *error);
static bool too_large(const pnm *image, size_t index, size_t value, ast_format_error *error);
static bool copy_wide(pnm *image, uint16_t *values, size_t count, ast_format_error *error);

bool ast_pnm_depth(ast_depth_pixels *pixels, const ast_image_file *file, ast_format_error *error) {
    pnm image;
    if (!read_header(&image, file, error))
        return false;
    if (image.kind % 3 == 0)
        return ast_format_fail(error, "%s: is a PPM in colour; a depth image is a 16-bit greyscale PNG or PGM",
                               file->name);
    if (image.largest < 256)
        return ast_format_fail(error,
                               "%s: is an 8-bit PGM (its largest value is %zu); a depth image has 16 bits, and a "
                               "largest value of 256 to 65535",
                               file->name, image.largest);
    if (!check_raster(&image, error) ||
        !ast_pixels_resize(pixels, image.width, image.height, sizeof(uint16_t), file->name, error))
        return false;
    size_t count = image.width * image.height;
    if (!image.text)
        return copy_wide(&image, pixels->values, count, error) && check_end(&image, error);
    for (size_t i = 0; i < count; i++) {
        unsigned value = 0;
        if (!next_number(&image, i, &value, error))
            return false;
        pixels->values[i] = (uint16_t)value;
    }
    return check_end(&image, error);
}

/* ---- Header ------------------------------------------------------------------------------------------------------ */

static bool is_blank(unsigned char byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Moves on to what is neither blank nor in a comment. */
static void pass_blanks(pnm *image) {
    while (image->at < image->end && (is_blank(*image->at) || *image->at == '#')) {
        if (*image->at == '#')
            while (image->at < image->end && *image->at != '\n' && *image->at != '\r')
                image->at++;
        else
            image->at++;
    }
}

static bool read_number(pnm *image, size_t *number) {
    uint64_t value;
    pass_blanks(image);
    const char *after = ast_whole_parse((const char *)image->at, (const char *)image->end, &value);
    *number = value;
    image->at = after ? (const unsigned char *)after : image->at;
    return after;
}

static bool read_header(pnm *image, const ast_image_file *file, ast_format_error *error) {
    *image = (pnm){.file = file, .at = file->bytes + 2, .end = file->bytes + file->size, .kind = file->bytes[1] - '0'};
    if (image->kind == 1 || image->kind == 4)
        return ast_format_fail(error, "%s: is a PBM bitmap, black and white; a PGM is needed", file->name);
    image->text = image->kind < 4;
    if (!read_number(image, &image->width) || !read_number(image, &image->height) ||
        !read_number(image, &image->largest) || image->at == image->end || !is_blank(*image->at))
        return ast_format_fail(error, "%s: begins like a P%d image, but width, height and largest value do not follow",
                               file->name, image->kind);
    image->at++; /* one blank, and the raster begins */
    if (image->largest < 1 || image->largest > 65535)
        return ast_format_fail(error, "%s: has a largest value of %zu; it must be 1 to 65535", file->name,
                               image->largest);
    return ast_image_check_size(file->name, image->width, image->height, error);
}

/* ---- Raster ------------------------------------------------------------------------------------------------------ */

static bool cut_short(const pnm *image, ast_format_error *error) {
    return ast_format_fail(error, "%s: is cut short: its %zu bytes cannot hold the %zu x %zu pixels that it promises",
                           image->file->name, image->file->size, image->width, image->height);
}

/* Whether as many bytes follow as the pixels need at least: a digit and a blank for each number of a text. */
static bool check_raster(const pnm *image, ast_format_error *error) {
    size_t left = (size_t)(image->end - image->at), samples = image->width * image->height;
    size_t needed = 2 * samples - image->text;
    return left >= needed || cut_short(image, error);
}

static bool check_end(const pnm *image, ast_format_error *error) {
    const unsigned char *at = image->at;
    while (at < image->end && is_blank(*at))
        at++;
    return at == image->end || ast_format_fail(error, "%s: %zu bytes follow the image; there must be one image a file",
                                               image->file->name, (size_t)(image->end - image->at));
}

static bool too_large(const pnm *image, size_t index, size_t value, ast_format_error *error) {
    return ast_format_fail(
        error, "%s: row %zu, column %zu: %zu is larger than the largest value that its header names, %zu",
        image->file->name, index / image->width + 1, index % image->width + 1, value, image->largest);
}

static bool next_number(pnm *image, size_t index, unsigned *value, ast_format_error *error) {
    size_t number;
    if (!read_number(image, &number)) {
        return image->at == image->end
                   ? cut_short(image, error)
                   : ast_format_fail(error, "%s: row %zu, column %zu: is no whole number", image->file->name,
                                     index / image->width + 1, index % image->width + 1);
    }
    *value = (unsigned)number;
    return number <= image->largest || too_large(image, index, number, error);
}

/* Two bytes a value, the high one first. */
static bool copy_wide(pnm *image, uint16_t *values, size_t count, ast_format_error *error) {
    uint16_t largest = 0;
    memcpy(values, image->at, 2 * count);
    image->at += 2 * count;
    for (size_t i = 0; i < count; i++) {
        values[i] = ast_from_big_endian(values[i]);
        largest = values[i] > largest ? values[i] : largest;
    }
    if (largest <= image->largest)
        return true;
    size_t at = 0;
    while (values[at] <= image->largest)
        at++;
    return too_large(image, at, values[at], error);
}
