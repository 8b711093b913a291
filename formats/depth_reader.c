/* SPDX-License-Identifier: MIT
 *
 * From a list of files to depth images, one at a time: images are read whole and decoded, raw frames are cut from their
 * inputs piece by piece. It knows no threads; depth_frames.c runs it in one. */
#include "depth_reader.h"

#include "depth_frames.h"
#include "message.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>

/* Memory for raw frames grows from here, by doubling, with what has come. */
#define FIRST_PART ((size_t)1 << 20)

static bool read_image(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_depth_origin *origin,
                       ast_format_error *error);
static bool read_scene(ast_depth_reader *reader, const ast_depth_item *item, ast_depth_pixels *pixels,
                       ast_format_error *error);
static int next_raw(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_depth_origin *origin,
                    ast_format_error *error);

void ast_depth_reader_skip(ast_depth_reader *reader, uint64_t count) {
    if (reader->width > 0) {
        reader->skip = count > UINT64_MAX - reader->skip ? UINT64_MAX : reader->skip + count;
    } else {
        size_t left = reader->list.count - reader->position;
        reader->position += count < left ? (size_t)count : left;
        reader->index = reader->position;
    }
}

int ast_depth_reader_next(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_depth_origin *origin,
                          ast_format_error *error) {
    if (reader->width == 0) {
        if (reader->position == reader->list.count)
            return 0;
        return read_image(reader, pixels, origin, error) ? 1 : -1;
    }
    int found = 1;
    for (; reader->skip > 0 && found > 0; reader->skip--)
        found = next_raw(reader, pixels, origin, error);
    return found > 0 ? next_raw(reader, pixels, origin, error) : found;
}

void ast_depth_reader_close(ast_depth_reader *reader) {
    if (reader->open)
        ast_bytes_close(&reader->bytes);
    ast_depth_list_free(&reader->list);
    ast_nyu_close(reader->nyu);
    free(reader->metres);
    free(reader->buffer.bytes);
    *reader = (ast_depth_reader){0};
}

static bool read_image(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_depth_origin *origin,
                       ast_format_error *error) {
    ast_bytes bytes;
    const ast_depth_item *item = &reader->list.items[reader->position++];
    *origin = (ast_depth_origin){item, item->number, reader->index++};
    if (item->number != AST_DEPTH_WHOLE)
        return read_scene(reader, item, pixels, error);
    if (!ast_bytes_open_watched(&bytes, origin->item->path, reader->stop, error))
        return false;
    bool good = ast_depth_read_bytes(pixels, &reader->buffer, &bytes, error);
    ast_bytes_close(&bytes);
    return good;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Room for the first `count` values, which keep what they have. */
static bool grow(ast_depth_pixels *pixels, size_t count, const char *name, ast_format_error *error) {
    if (count <= pixels->capacity)
        return true;
    uint16_t *grown = realloc(pixels->values, count * sizeof *grown);
    if (!grown)
        return ast_format_no_memory(error, name);
    pixels->values = grown;
    pixels->capacity = count;
    return true;
}

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

static bool open_scenes(ast_depth_reader *reader, const char *path, ast_format_error *error) {
    if (reader->nyu)
        return true;
    reader->nyu = ast_nyu_open(path, error);
    if (!reader->nyu)
        return false;
    reader->metres = malloc(reader->nyu->width * reader->nyu->height * sizeof *reader->metres);
    return reader->metres || ast_format_no_memory(error, path);
}

/* Written so that NaN is a hole. */
static uint16_t whole_depth(float metres) {
    float units = metres * AST_NYU_UNITS + 0.5f;
    return units >= 1 && units < 65536 ? (uint16_t)units : 0;
}

static bool read_scene(ast_depth_reader *reader, const ast_depth_item *item, ast_depth_pixels *pixels,
                       ast_format_error *error) {
    if (!open_scenes(reader, item->path, error))
        return false;
    size_t width = reader->nyu->width, height = reader->nyu->height;
    if (!grow(pixels, width * height, item->path, error) ||
        !ast_nyu_depth(reader->nyu, (size_t)item->number, reader->metres, error))
        return false;
    for (size_t i = 0; i < width * height; i++)
        pixels->values[i] = whole_depth(reader->metres[i]);
    pixels->width = width;
    pixels->height = height;
    return true;
}

/* ---- Raw frames -------------------------------------------------------------------------------------------------- */

/* The bytes of the next frame of the open input: 1, 0 where it has ended, or -1. */
static int read_raw(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_format_error *error) {
    size_t size = reader->width * reader->height * sizeof(uint16_t), filled = 0, got;
    const char *name = reader->bytes.name;
    do {
        size_t part = filled ? 2 * filled : FIRST_PART;
        part = part < size ? part : size;
        if (!grow(pixels, part / sizeof(uint16_t), name, error) ||
            !ast_bytes_read(&reader->bytes, (char *)pixels->values + filled, part - filled, &got, error))
            return -1;
        filled += got;
        if (filled == 0)
            return 0;
        if (filled < part) {
            ast_format_fail(error, "%s: frame %" PRIu64 " is cut short: %zu of its %zu bytes are there", name,
                            reader->number, filled, size);
            return -1;
        }
    } while (filled < size);
    return 1;
}

/* Opens the raw input whose turn it is. */
static bool open_raw(ast_depth_reader *reader, ast_format_error *error) {
    const char *path = reader->list.items[reader->position].path;
    reader->open = ast_bytes_open_watched(&reader->bytes, path, reader->stop, error);
    reader->number = 0;
    return reader->open;
}

static void close_raw(ast_depth_reader *reader) {
    ast_bytes_close(&reader->bytes);
    reader->open = false;
    reader->position++;
}

/* The next frame of all inputs, whether it is to be skipped or not. */
static int next_raw(ast_depth_reader *reader, ast_depth_pixels *pixels, ast_depth_origin *origin,
                    ast_format_error *error) {
    int found = 0;
    while (found == 0 && reader->position < reader->list.count) {
        if (!reader->open && !open_raw(reader, error))
            return -1;
        found = read_raw(reader, pixels, error);
        if (found == 0)
            close_raw(reader);
    }
    if (found <= 0)
        return found;
    *origin = (ast_depth_origin){&reader->list.items[reader->position], reader->number++, reader->index++};
    pixels->width = reader->width;
    pixels->height = reader->height;
    for (size_t i = 0; i < reader->width * reader->height; i++)
        pixels->values[i] = le16toh(pixels->values[i]);
    return found;
}
