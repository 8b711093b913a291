/* SPDX-License-Identifier: MIT
 *
 * Frames of tables. The one idea: an array of T frames is T views of one body where the body can be had whole, and
 * one buffer that is filled T times where it comes through a pipe, so that a frame is handed out as soon as its last
 * byte is there. Raw frames are such an array without a header and without an end. */
#include "frame_reader.h"

#include "npy.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

struct ast_table_frames {
    const char *path;
    ast_bytes bytes;
    ast_resolved how;
    bool is_text, raw;
    bool standard;         /* "-": arrays follow one another */
    size_t index;          /* of the next frame in the input */
    ast_input table;       /* the one frame of a text */
    ast_npy_header header; /* of the array that is being read, with T x N x D as its shape */
    bool flat;             /* it is N x D as it is written */
    ast_body body;         /* its numbers, if they are there as a whole */
    size_t next, count;    /* frames of this array: handed out, all */
    ast_buffer buffer;     /* one frame of an array that comes piece by piece */
    ast_buffer gathered;   /* the wanted columns of one frame */
};

static bool open_input(ast_table_frames *frames, ast_file_format format, const ast_frames_options *options, int stop,
                       ast_format_error *error);
static bool begin_array(ast_table_frames *frames, bool *ended, ast_format_error *error);
static int next_slab(ast_table_frames *frames, const void **data, ast_format_error *error);
static bool view_frame(ast_table_frames *frames, const void *data, ast_points *points, ast_format_error *error);

ast_table_frames *ast_table_frames_open(const ast_input_file *file, const ast_frames_options *options, int stop,
                                        ast_format_error *error) {
    ast_table_frames *frames = calloc(1, sizeof *frames);
    if (!frames) {
        ast_format_no_memory(error, file->path);
        return NULL;
    }
    frames->bytes.descriptor = -1;
    frames->path = file->path;
    frames->standard = strcmp(file->path, "-") == 0;
    if (open_input(frames, file->format, options, stop, error))
        return frames;
    ast_table_frames_close(frames);
    return NULL;
}

bool ast_table_frames_numbered(const ast_table_frames *frames) {
    return frames->standard || frames->raw || (!frames->is_text && !frames->flat);
}

bool ast_table_frames_skip(ast_table_frames *frames, uint64_t count, uint64_t *skipped, ast_format_error *error) {
    for (*skipped = 0; *skipped < count && frames->next < frames->count; ++*skipped) {
        const void *data;
        if (!frames->is_text && next_slab(frames, &data, error) < 0)
            return false;
        frames->next++;
        frames->index++;
    }
    return true;
}

int ast_table_frames_next(ast_table_frames *frames, ast_points *points, ast_format_error *error) {
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

void ast_table_frames_close(ast_table_frames *frames) {
    if (!frames)
        return;
    ast_input_close(&frames->table);
    ast_body_free(&frames->body);
    ast_columns_free(&frames->how.columns);
    ast_bytes_close(&frames->bytes);
    free(frames->buffer.place);
    free(frames->gathered.place);
    free(frames);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Raw frames are an array of one frame that is read again and again. Depth images are columns of 16-bit numbers or of
 * floats, little-endian. */
static bool begin_raw(ast_table_frames *frames, const ast_frames_options *options, ast_format_error *error) {
    ast_npy_header *header = &frames->header;
    bool depth = options->raw_width > 0, transpose = frames->how.transpose;
    bool short_numbers = depth && !options->raw_floats;
    size_t points = depth ? options->raw_width * options->raw_height : options->raw_points;
    size_t dimension = depth ? 1 : options->raw_dimension;
    *header =
        (ast_npy_header){.kind = short_numbers ? 'u' : 'f', .item = short_numbers ? 2 : sizeof(float), .dimensions = 3};
    header->swapped = depth && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    header->shape[0] = 1;
    header->shape[1] = transpose ? dimension : points;
    header->shape[2] = transpose ? points : dimension;
    frames->count = 1;
    if (__builtin_mul_overflow(points, dimension, &header->elements) || header->elements > PTRDIFF_MAX / header->item)
        return ast_format_fail(error, "%s: frames of %zu x %zu numbers are larger than any memory", frames->path,
                               points, dimension);
    header->data_size = header->elements * header->item;
    return ast_columns_fit(&frames->how.columns, header->shape[2], frames->bytes.name, error);
}

/* A text is read whole: it is one frame. */
static bool read_text(ast_table_frames *frames, ast_format_error *error) {
    frames->count = 1;
    if (!ast_input_read_bytes(&frames->table, &frames->bytes, &frames->how, error))
        return false;
    return !frames->table.points.starts ||
           ast_format_fail(error, "%s: holds sparse rows, which streams do not take; give the rows densely",
                           frames->path);
}

static bool open_input(ast_table_frames *frames, ast_file_format format, const ast_frames_options *options, int stop,
                       ast_format_error *error) {
    ast_input_options given = options->table;
    bool ended;
    bool depth = options->raw_width > 0;
    frames->raw = depth || (frames->standard && options->raw_points > 0);
    given.empty = true;
    given.known = format;
    if (!depth && !ast_resolve(&frames->how, frames->path, &given, error)) {
        frames->how = (ast_resolved){0};
        return false;
    }
    if (!ast_bytes_open(&frames->bytes, frames->path, frames->how.compressed, stop, error))
        return false;
    frames->is_text = !frames->raw && frames->how.format->open != ast_npy_open;
    if (frames->is_text)
        return read_text(frames, error);
    if (frames->raw)
        return begin_raw(frames, options, error);
    /* Arrays in standard input begin when the first frame is asked for. */
    return frames->standard || begin_array(frames, &ended, error);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static bool check_array(const ast_table_frames *frames, ast_format_error *error) {
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
        return ast_format_fail(
            error,
            "%s: holds numbers of type '%s'; frames need f2, f4 or f8: convert the array first, for example "
            "with astype('float32')",
            name, header->descr);
    return ast_columns_fit(&frames->how.columns, header->shape[header->dimensions - 1], name, error);
}

/* Whether the numbers are read frame by frame: they come through a pipe, and a frame lies in one piece. */
static bool piecewise(const ast_table_frames *frames) {
    return !frames->bytes.sized && (!frames->header.fortran || frames->header.shape[0] == 1);
}

/* Puts "frame 17" into a sentence about standard input, where a name alone says little. */
static bool with_frame(const ast_table_frames *frames, ast_format_error *error) {
    ast_format_error inner = *error;
    const char *text = inner.text, *name = frames->bytes.name;
    size_t length = strlen(name);
    if (strncmp(text, name, length) == 0 && text[length] == ':')
        text += length + 1;
    return ast_format_fail(error, "%s: frame %zu:%s", name, frames->index, text);
}

/* N x D is one frame of a sequence. */
static void make_sequence(ast_table_frames *frames) {
    ast_npy_header *header = &frames->header;
    frames->flat = header->dimensions == 2;
    if (frames->flat) {
        header->shape[2] = header->shape[1];
        header->shape[1] = header->shape[0];
        header->shape[0] = 1;
        header->dimensions = 3;
    }
}

static bool begin_array(ast_table_frames *frames, bool *ended, ast_format_error *error) {
    ast_npy_header *header = &frames->header;
    bool several = frames->standard;
    *ended = false;
    ast_body_free(&frames->body);
    frames->next = frames->count = 0;
    bool good = ast_npy_read_header(header, &frames->bytes, several ? ended : NULL, error);
    if (*ended)
        return true;
    good = good && check_array(frames, error);
    if (good)
        make_sequence(frames);
    if (good && header->elements > 0 && !piecewise(frames))
        good = ast_npy_read_body(&frames->body, header, &frames->bytes, !several, error);
    frames->count = good ? header->shape[0] : 0;
    return good || (several && with_frame(frames, error));
}

/* Where a file that is read piece by piece ends, nothing may follow: only standard input holds several arrays. */
static bool check_end(ast_table_frames *frames, ast_format_error *error) {
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
static int read_slab(ast_table_frames *frames, size_t size, ast_format_error *error) {
    ast_buffer *buffer = &frames->buffer;
    buffer->filled = 0;
    if (!ast_bytes_fill(&frames->bytes, buffer, size, error))
        return -1;
    if (buffer->filled == size)
        return 1;
    if (buffer->filled == 0 && frames->raw)
        return 0;
    ast_format_fail(error, "%s: frame %zu is cut short: %zu of its %zu bytes are there", frames->bytes.name,
                    frames->index, buffer->filled, size);
    return -1;
}

static int next_slab(ast_table_frames *frames, const void **data, ast_format_error *error) {
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
            ast_scalar_swap(frames->buffer.place, size / header->item, header->item);
    }
    *data = frames->buffer.place;
    return frames->bytes.sized || check_end(frames, error) ? 1 : -1;
}

static bool view_frame(ast_table_frames *frames, const void *data, ast_points *points, ast_format_error *error) {
    const ast_npy_header *header = &frames->header;
    ptrdiff_t item = (ptrdiff_t)header->item;
    ptrdiff_t rows = (ptrdiff_t)header->shape[1], columns = (ptrdiff_t)header->shape[2];
    /* In Fortran order the numbers of all frames are interleaved, unless the frames are read one by one. */
    ptrdiff_t between = item * (ptrdiff_t)header->shape[0];
    *points = ast_points_view(data, ast_npy_type(header), header->shape[1], header->shape[2],
                              header->fortran ? between : item * columns, header->fortran ? between * rows : item);
    if (!ast_points_pick(points, &frames->how.columns, &frames->gathered, frames->bytes.name, error))
        return false;
    if (frames->how.transpose)
        ast_points_transpose(points);
    return true;
}

bool ast_frames_single(const ast_input_file *file) {
    ast_format_error error;
    ast_table_frames *frames = ast_table_frames_open(file, &(ast_frames_options){0}, AST_NO_STOP, &error);
    bool single = frames && !ast_table_frames_numbered(frames);
    ast_table_frames_close(frames);
    return single;
}
