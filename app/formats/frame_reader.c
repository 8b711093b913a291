/* SPDX-License-Identifier: MIT
 *
 * From a list of files to frames: tables and raw depth images through table_frames.c; other images are read whole and
 * decoded. It knows no threads; frames.c runs it in one, or the decoding of images in several. */
#include "frame_reader.h"

#include <stdlib.h>
#include <string.h>

static int next_table(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error);
static bool read_scene(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error);

static bool is_raw(const ast_frame_reader *reader) {
    return reader->options.raw_width > 0;
}

/* ---- Skipping ---------------------------------------------------------------------------------------------------- */

static bool open_table(ast_frame_reader *reader, ast_format_error *error) {
    if (!reader->table) {
        const ast_input_file *file = &reader->list->files[reader->position];
        reader->table = ast_table_frames_open(file, &reader->options, reader->stop, error);
        reader->number = 0;
    }
    return reader->table;
}

static void close_table(ast_frame_reader *reader) {
    ast_table_frames_close(reader->table);
    reader->table = NULL;
    reader->position++;
}

static bool skip_tables(ast_frame_reader *reader, uint64_t count, ast_format_error *error) {
    uint64_t skipped;
    if (!open_table(reader, error) || !ast_table_frames_skip(reader->table, count, &skipped, error))
        return false;
    reader->number += skipped;
    reader->index += skipped;
    return true;
}

bool ast_frame_reader_skip_files(ast_frame_reader *reader, size_t count, bool counted, ast_format_error *error) {
    for (; count > 0 && reader->position < reader->list->count; count--) {
        if (reader->list->depth) {
            reader->position++;
            reader->index++;
        } else {
            if (counted && !skip_tables(reader, UINT64_MAX, error))
                return false;
            close_table(reader);
        }
    }
    return true;
}

bool ast_frame_reader_skip(ast_frame_reader *reader, uint64_t count, ast_format_error *error) {
    if (reader->position == reader->list->count)
        return true;
    if (!reader->list->depth)
        return skip_tables(reader, count, error);
    if (!is_raw(reader))
        return ast_frame_reader_skip_files(reader, count < SIZE_MAX ? (size_t)count : SIZE_MAX, false, error);
    ast_read_frame frame = {0};
    int found = 1;
    for (; count > 0 && found > 0; count--)
        found = next_table(reader, &frame, error);
    ast_pixels_free(&frame.pixels);
    return found >= 0;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

bool ast_frame_reader_parallel(const ast_frame_reader *reader) {
    return reader->list->depth && !reader->list->scenes && !is_raw(reader);
}

int ast_frame_reader_take(ast_frame_reader *reader, ast_read_frame *frame) {
    if (reader->position == reader->list->count)
        return 0;
    frame->file = &reader->list->files[reader->position++];
    frame->number = frame->file->scene;
    frame->index = reader->index++;
    return 1;
}

bool ast_frame_reader_image(const ast_frame_reader *reader, ast_buffer *buffer, ast_read_frame *frame,
                            ast_format_error *error) {
    ast_bytes bytes;
    if (!ast_bytes_open(&bytes, frame->file->path, false, reader->stop, error))
        return false;
    frame->pixels.float_scale = reader->options.depth_scale;
    bool good = ast_depth_read_bytes(&frame->pixels, buffer, &bytes, error);
    ast_bytes_close(&bytes);
    return good;
}

int ast_frame_reader_next(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error) {
    if (!reader->list->depth || is_raw(reader))
        return next_table(reader, frame, error);
    if (ast_frame_reader_take(reader, frame) == 0)
        return 0;
    bool good = frame->number == AST_WHOLE ? ast_frame_reader_image(reader, &reader->buffer, frame, error)
                                           : read_scene(reader, frame, error);
    return good ? 1 : -1;
}

void ast_frame_reader_close(ast_frame_reader *reader) {
    ast_table_frames_close(reader->table);
    if (reader->list->nyu)
        ast_nyu_close(reader->nyu);
    else
        reader->list->nyu = reader->nyu; /* for the next iterator, or to be closed with the list */
    free(reader->metres);
    free(reader->buffer.place);
    *reader = (ast_frame_reader){0};
}

/* A raw depth image comes as a column of numbers, whose memory the next frame takes. */
static bool copy_image(const ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error) {
    const ast_frames_options *options = &reader->options;
    ast_depth_pixels *pixels = &frame->pixels;
    if (!ast_pixels_resize(pixels, options->raw_width, options->raw_height, sizeof *pixels->values, frame->file->path,
                           error))
        return false;
    pixels->float_scale = options->depth_scale;
    if (options->raw_floats)
        ast_depth_from_floats(pixels, frame->points.data);
    else
        memcpy(pixels->values, frame->points.data, frame->points.count * sizeof *pixels->values);
    frame->points = (ast_points){0};
    return true;
}

static int next_table(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error) {
    while (reader->position < reader->list->count) {
        if (!open_table(reader, error))
            return -1;
        int found = ast_table_frames_next(reader->table, &frame->points, error);
        if (found > 0) {
            frame->file = &reader->list->files[reader->position];
            frame->number = ast_table_frames_numbered(reader->table) ? reader->number : AST_WHOLE;
            frame->index = reader->index++;
            reader->number++;
        }
        if (found > 0 && is_raw(reader) && !copy_image(reader, frame, error))
            return -1;
        if (found != 0)
            return found;
        close_table(reader);
    }
    return 0;
}

/* ---- Scenes ------------------------------------------------------------------------------------------------------ */

/* The data set that the list has opened, unless another iterator has it. */
static bool open_scenes(ast_frame_reader *reader, const char *path, ast_format_error *error) {
    if (reader->nyu)
        return true;
    reader->nyu = reader->list->nyu ? reader->list->nyu : ast_nyu_open(path, error);
    reader->list->nyu = NULL;
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

static bool read_scene(ast_frame_reader *reader, ast_read_frame *frame, ast_format_error *error) {
    const char *path = frame->file->path;
    ast_depth_pixels *pixels = &frame->pixels;
    if (!open_scenes(reader, path, error) ||
        !ast_pixels_resize(pixels, reader->nyu->width, reader->nyu->height, sizeof(uint16_t), path, error) ||
        !ast_nyu_depth(reader->nyu, (size_t)frame->number, reader->metres, error))
        return false;
    for (size_t i = 0; i < pixels->width * pixels->height; i++)
        pixels->values[i] = whole_depth(reader->metres[i]);
    return true;
}
