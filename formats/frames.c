/* SPDX-License-Identifier: MIT
 *
 * Sequences of frames. The one idea: an array of T frames is T views of one body where the body can be had whole, and
 * one buffer that is filled T times where it comes through a pipe, so that a frame is handed out as soon as its last
 * byte is there. Raw frames are such an array without a header and without an end. */
#include "npy.h"

#include "columns.h"
#include "message.h"
#include "registry.h"
#include "scalar.h"

#include <stdlib.h>
#include <string.h>

/* A pipe's promise is not believed: memory grows from here, by doubling, with what has come. */
#define FIRST_PART ((size_t)1 << 20)

struct ast_frames {
    char *path;
    ast_bytes bytes;
    ast_resolved how;
    bool is_text, raw;
    bool standard;         /* "-": arrays follow one another */
    size_t index;          /* of the next frame in the input */
    ast_input table;       /* the one frame of a text */
    ast_npy_header header; /* of the array that is being read, with T x N x D as its shape */
    bool flat;             /* it is N x D as it is written */
    ast_npy_body body;     /* its numbers, if they are there as a whole */
    size_t next, count;    /* frames of this array: handed out, all */
    void *buffer;          /* one frame of an array that comes piece by piece */
    size_t capacity;
    void *gathered; /* the wanted columns of one frame */
    size_t gathered_capacity;
};

static bool open_input(ast_frames *frames, const char *path, const ast_input_options *options, const ast_raw *raw,
                       ast_format_error *error);
static bool begin_array(ast_frames *frames, bool *ended, ast_format_error *error);
static int next_slab(ast_frames *frames, const void **data, ast_format_error *error);
static bool view_frame(ast_frames *frames, const void *data, ast_points *points, ast_format_error *error);

ast_frames *ast_frames_open(const char *path, const ast_input_options *options, const ast_raw *raw,
                            ast_format_error *error) {
    ast_frames *frames = calloc(1, sizeof *frames);
    if (frames)
        frames->bytes.descriptor = -1;
    bool good = frames && (frames->path = strdup(path));
    good = good ? open_input(frames, path, options, raw, error) : ast_format_no_memory(error, path);
    if (good)
        return frames;
    ast_frames_close(frames);
    return NULL;
}

bool ast_frames_numbered(const ast_frames *frames) {
    return frames->standard || frames->raw || (!frames->is_text && !frames->flat);
}

size_t ast_frames_count(const ast_frames *frames) {
    return frames->standard || frames->raw ? SIZE_MAX : frames->count;
}

bool ast_frames_skip(ast_frames *frames, size_t count, ast_format_error *error) {
    for (; count > 0 && frames->next < frames->count; count--) {
        const void *data;
        if (!frames->is_text && next_slab(frames, &data, error) < 0)
            return false;
        frames->next++;
        frames->index++;
    }
    return true;
}

int ast_frames_next(ast_frames *frames, ast_points *points, ast_format_error *error) {
    while (frames->next == frames->count) {
        bool ended = true;
        if (frames->standard && !frames->is_text && !frames->raw && !begin_array(frames, &ended, error))
            return -1;
        if (ended)
            return 0;
    }
    if (frames->is_text) {
        *points = frames->table.points;
    } else {
        const void *data;
        int found = next_slab(frames, &data, error);
        if (found <= 0)
            return found;
        if (!view_frame(frames, data, points, error))
            return -1;
    }
    frames->next += !frames->raw;
    frames->index++;
    return 1;
}

void ast_frames_close(ast_frames *frames) {
    if (!frames)
        return;
    ast_input_close(&frames->table);
    ast_npy_body_free(&frames->body);
    ast_columns_free(&frames->how.columns);
    ast_bytes_close(&frames->bytes);
    free(frames->buffer);
    free(frames->gathered);
    free(frames->path);
    free(frames);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Raw frames are an array of one frame that is read again and again. */
static bool begin_raw(ast_frames *frames, const ast_raw *raw, ast_format_error *error) {
    ast_npy_header *header = &frames->header;
    *header = (ast_npy_header){.kind = 'f', .item = sizeof(float), .dimensions = 3};
    header->shape[0] = 1;
    header->shape[1] = frames->how.transpose ? raw->dimension : raw->points;
    header->shape[2] = frames->how.transpose ? raw->points : raw->dimension;
    frames->raw = true;
    frames->count = 1;
    if (__builtin_mul_overflow(raw->points, raw->dimension, &header->elements) ||
        header->elements > PTRDIFF_MAX / header->item)
        return ast_format_fail(error, "%s: frames of %zu x %zu numbers are larger than any memory", frames->path,
                               raw->points, raw->dimension);
    header->data_size = header->elements * header->item;
    if (frames->how.columns.highest > header->shape[2])
        return ast_format_fail(error, "%s: has %zu columns, and column %zu is asked for", frames->bytes.name,
                               header->shape[2], frames->how.columns.highest);
    return true;
}

static bool open_input(ast_frames *frames, const char *path, const ast_input_options *options, const ast_raw *raw,
                       ast_format_error *error) {
    ast_input_options given = options ? *options : (ast_input_options){0};
    bool is_raw = raw && raw->points > 0, ended;
    frames->standard = strcmp(path, "-") == 0;
    given.empty = true;
    if (!given.format && (frames->standard || is_raw))
        given.format = "npy";
    if (!ast_resolve(&frames->how, path, &given, error)) {
        frames->how = (ast_resolved){0};
        return false;
    }
    frames->is_text = !is_raw && frames->how.format->open != ast_npy_open;
    if (frames->is_text) {
        frames->count = 1;
        if (!ast_input_open(&frames->table, path, &given, error))
            return false;
        return !frames->table.points.starts ||
               ast_format_fail(error, "%s: holds sparse rows, which streams do not take; give the rows densely", path);
    }
    if (!ast_bytes_open(&frames->bytes, frames->path, frames->how.compressed, error))
        return false;
    if (is_raw)
        return begin_raw(frames, raw, error);
    /* Standard input is not waited for before its first frame is asked for. */
    return frames->standard || begin_array(frames, &ended, error);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static bool check_array(const ast_frames *frames, ast_format_error *error) {
    const ast_npy_header *header = &frames->header;
    const char *name = frames->bytes.name;
    char shape[AST_SHAPE_TEXT];
    ast_npy_shape_text(header, shape);
    if (header->dimensions != 2 && header->dimensions != 3)
        return ast_format_fail(error,
                               "%s: is an array of shape %s; a frame needs two dimensions, N x D, and a sequence of "
                               "frames three, T x N x D",
                               name, shape);
    if (header->kind != 'f')
        return ast_format_fail(error, "%s: holds numbers of type '%s'; points need f2, f4 or f8", name, header->descr);
    size_t columns = header->shape[header->dimensions - 1];
    if (frames->how.columns.highest > columns)
        return ast_format_fail(error, "%s: has %zu columns, and column %zu is asked for", name, columns,
                               frames->how.columns.highest);
    return true;
}

/* Whether the numbers are read frame by frame: they come through a pipe, and a frame lies in one piece. */
static bool piecewise(const ast_frames *frames) {
    return !frames->bytes.sized && (!frames->header.fortran || frames->header.shape[0] == 1);
}

/* Puts "frame 17" into a sentence about standard input, where a name alone says little. */
static bool with_frame(const ast_frames *frames, ast_format_error *error) {
    ast_format_error inner = *error;
    const char *text = inner.text, *name = frames->bytes.name;
    size_t length = strlen(name);
    if (strncmp(text, name, length) == 0 && text[length] == ':')
        text += length + 1;
    return ast_format_fail(error, "%s: frame %zu:%s", name, frames->index, text);
}

static bool begin_array(ast_frames *frames, bool *ended, ast_format_error *error) {
    ast_npy_header *header = &frames->header;
    *ended = false;
    ast_npy_body_free(&frames->body);
    frames->next = frames->count = 0;
    if (frames->standard) {
        if (!ast_npy_next_header(header, &frames->bytes, ended, error))
            return with_frame(frames, error);
        if (*ended)
            return true;
        if (!check_array(frames, error))
            return with_frame(frames, error);
    } else if (!ast_npy_read_header(header, &frames->bytes, error) || !check_array(frames, error)) {
        return false;
    }
    frames->flat = header->dimensions == 2;
    if (frames->flat) {
        header->shape[2] = header->shape[1];
        header->shape[1] = header->shape[0];
        header->shape[0] = 1;
        header->dimensions = 3;
    }
    if (header->elements > 0 && !piecewise(frames)) {
        ast_bytes *bytes = &frames->bytes;
        if (!(frames->standard ? ast_npy_next_body : ast_npy_read_body)(&frames->body, header, bytes, error))
            return frames->standard ? with_frame(frames, error) : false;
    }
    frames->count = header->shape[0];
    return true;
}

/* Where a file that is read piece by piece ends, nothing may follow: only standard input holds several arrays. */
static bool check_end(ast_frames *frames, ast_format_error *error) {
    unsigned char extra;
    size_t got;
    if (frames->standard || frames->raw || frames->next + 1 < frames->count)
        return true;
    if (!ast_bytes_read(&frames->bytes, &extra, 1, &got, error))
        return false;
    return got == 0 ||
           ast_format_fail(error, "%s: more bytes follow than the .npy header promises; the file is damaged",
                           frames->bytes.name);
}

/* Fills the buffer with the next frame. 1, or 0 where raw frames end, or -1. */
static int read_slab(ast_frames *frames, size_t size, ast_format_error *error) {
    size_t filled = 0, got = 0;
    do {
        size_t part = filled ? 2 * filled : FIRST_PART;
        part = part < frames->capacity ? frames->capacity : part;
        part = part < size ? part : size;
        if (part > frames->capacity) {
            void *grown = realloc(frames->buffer, part);
            if (!grown)
                return ast_format_no_memory(error, frames->bytes.name), -1;
            frames->buffer = grown;
            frames->capacity = part;
        }
        if (!ast_bytes_read(&frames->bytes, (char *)frames->buffer + filled, part - filled, &got, error))
            return -1;
        filled += got;
        if (filled == 0 && frames->raw)
            return 0;
        if (filled < part)
            return ast_format_fail(error, "%s: frame %zu is cut short: %zu of its %zu bytes are there",
                                   frames->bytes.name, frames->index, filled, size),
                   -1;
    } while (filled < size);
    return 1;
}

static int next_slab(ast_frames *frames, const void **data, ast_format_error *error) {
    const ast_npy_header *header = &frames->header;
    size_t size = header->elements / (header->shape[0] ? header->shape[0] : 1) * header->item;
    *data = NULL;
    if (frames->body.data) {
        /* In Fortran order the first index varies fastest: frames are interleaved number by number. */
        *data = (const char *)frames->body.data + frames->next * (header->fortran ? header->item : size);
        return 1;
    }
    if (size > 0) {
        int found = read_slab(frames, size, error);
        if (found <= 0)
            return found;
        if (header->swapped)
            ast_scalar_swap(frames->buffer, size / header->item, header->item);
    }
    *data = frames->buffer;
    return frames->bytes.sized || check_end(frames, error) ? 1 : -1;
}

static bool pick_columns(ast_frames *frames, ast_points *points, ast_format_error *error) {
    const ast_columns *columns = &frames->how.columns;
    size_t item = ast_points_item(points), size = points->count * columns->count * item;
    ptrdiff_t step;
    if (ast_columns_even(columns, &step)) {
        if (points->count > 0)
            points->data = (const char *)points->data + (ptrdiff_t)columns->order[0] * points->column_stride;
        points->column_stride *= step;
    } else if (size > 0) {
        if (size > frames->gathered_capacity) {
            free(frames->gathered);
            frames->gathered = malloc(size);
            frames->gathered_capacity = frames->gathered ? size : 0;
            if (!frames->gathered)
                return ast_format_no_memory(error, frames->bytes.name);
        }
        ast_points_gather(points, columns, frames->gathered);
        points->data = frames->gathered;
        points->row_stride = (ptrdiff_t)(columns->count * item);
        points->column_stride = (ptrdiff_t)item;
    }
    points->dimension = columns->count;
    return true;
}

static bool view_frame(ast_frames *frames, const void *data, ast_points *points, ast_format_error *error) {
    const ast_npy_header *header = &frames->header;
    ptrdiff_t item = (ptrdiff_t)header->item;
    ptrdiff_t rows = (ptrdiff_t)header->shape[1], columns = (ptrdiff_t)header->shape[2];
    /* What lies between two rows of a Fortran array: the same row of all frames, unless they come one by one. */
    ptrdiff_t between = item * (ptrdiff_t)header->shape[0];
    *points = (ast_points){.size = sizeof(ast_points),
                           .data = data,
                           .type = header->item == 2   ? AST_F2
                                   : header->item == 4 ? AST_F4
                                                       : AST_F8,
                           .count = header->shape[1],
                           .dimension = header->shape[2],
                           .row_stride = header->fortran ? between : item * columns,
                           .column_stride = header->fortran ? between * rows : item};
    if (frames->how.columns.count > 0 && !pick_columns(frames, points, error))
        return false;
    if (frames->how.transpose)
        ast_points_transpose(points);
    return true;
}
