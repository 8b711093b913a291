/* SPDX-License-Identifier: MIT
 *
 * Points and numbers from .npy files. A file in the machine's byte order is mapped and handed out as it lies on disk;
 * Fortran order, a transposed table and evenly spaced columns are only other strides. What cannot be handed out as it
 * is goes to a buffer, which is allocated after the promised size has been checked, or as the bytes really arrive. */
#include "npy.h"

#include "columns.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void view_points(ast_input *input, const ast_npy_header *header, const void *data);
static bool flatten_image(ast_input *input, const ast_npy_header *header, const char *name, ast_format_error *error);
static void own_copy(ast_input *input, void *copy);
static bool wrong_size(const ast_npy_header *header, const char *name, const char *few_or_many, uint64_t follow,
                       ast_format_error *error);

bool ast_npy_open(ast_input *input, ast_bytes *bytes, const ast_columns *columns, bool transpose,
                  ast_format_error *error) {
    ast_npy_header header;
    return ast_npy_read_header(&header, bytes, error) && ast_npy_check(&header, columns, bytes->name, error) &&
           ast_npy_read(input, &header, bytes, columns, transpose, error);
}

bool ast_npy_read(ast_input *input, const ast_npy_header *header, ast_bytes *bytes, const ast_columns *columns,
                  bool transpose, ast_format_error *error) {
    ast_npy_body body;
    if (!ast_npy_read_body(&body, header, bytes, error))
        return false;
    input->owned = body.owned;
    input->mapped = body.mapped;
    input->mapped_size = body.mapped_size;
    view_points(input, header, body.data);
    if (input->height > 0 && header->fortran && !flatten_image(input, header, bytes->name, error))
        return false;
    if (input->height > 0 && transpose)
        return ast_format_fail(error, "%s: is an image of directions, H x W x D, which cannot be transposed",
                               bytes->name);
    ast_buffer gathered = {0};
    if (!ast_points_pick(&input->points, columns, &gathered, bytes->name, error))
        return false;
    if (gathered.place)
        own_copy(input, gathered.place);
    if (transpose)
        ast_points_transpose(&input->points);
    return true;
}

bool ast_npy_values(ast_values *values, ast_bytes *bytes, const ast_columns *columns, ast_format_error *error) {
    ast_npy_header header;
    ast_npy_body body;
    if (!ast_npy_read_header(&header, bytes, error))
        return false;
    if (header.elements == 0)
        return ast_format_fail(error, "%s: holds no numbers", bytes->name);
    if (columns->count > 0)
        return ast_format_fail(error, "%s: columns can be picked from a table of points or of text only", bytes->name);
    if (!ast_npy_read_body(&body, &header, bytes, error))
        return false;
    values->numbers = malloc(header.elements * sizeof(double));
    if (values->numbers) {
        ast_scalar_flatten(values->numbers, body.data, &header);
        values->count = header.elements;
        values->vector =
            header.dimensions == 1 || (header.dimensions == 2 && (header.shape[0] == 1 || header.shape[1] == 1));
    }
    ast_npy_body_free(&body);
    return values->numbers || ast_format_no_memory(error, bytes->name);
}

/* The rest of the header, behind `got` bytes of it that have been read already. */
static bool read_header(ast_npy_header *header, const unsigned char *prelude, size_t got, ast_bytes *bytes,
                        ast_format_error *error) {
    size_t offset;
    if (!ast_npy_offset(bytes->name, prelude, got, &offset, error))
        return false;
    unsigned char *text = malloc(offset);
    if (!text)
        return ast_format_no_memory(error, bytes->name);
    memcpy(text, prelude, got);
    size_t rest = offset - got;
    bool good = ast_bytes_read(bytes, text + got, rest, &got, error);
    if (good && got < rest)
        good = ast_format_fail(error, "%s: is cut short: the .npy header is not complete", bytes->name);
    good = good && ast_npy_parse(header, bytes->name, text, offset, error);
    free(text);
    return good;
}

bool ast_npy_read_header(ast_npy_header *header, ast_bytes *bytes, ast_format_error *error) {
    unsigned char prelude[AST_NPY_PRELUDE];
    size_t got;
    if (!ast_bytes_read(bytes, prelude, sizeof prelude, &got, error) ||
        !read_header(header, prelude, got, bytes, error))
        return false;
    if (!bytes->sized || bytes->size - header->offset == header->data_size)
        return true;
    uint64_t follow = bytes->size - header->offset;
    return wrong_size(header, bytes->name, follow < header->data_size ? "only " : "", follow, error);
}

bool ast_npy_next_header(ast_npy_header *header, ast_bytes *bytes, bool *ended, ast_format_error *error) {
    unsigned char prelude[AST_NPY_PRELUDE];
    size_t got;
    if (!ast_bytes_read(bytes, prelude, sizeof prelude, &got, error))
        return false;
    *ended = got == 0;
    return *ended || read_header(header, prelude, got, bytes, error);
}

bool ast_npy_read_body(ast_npy_body *body, const ast_npy_header *header, ast_bytes *bytes, ast_format_error *error) {
    *body = (ast_npy_body){0};
    bool as_is = bytes->sized && !header->swapped;
    if (as_is && bytes->memory && (uintptr_t)(bytes->memory + header->offset) % header->item == 0) {
        body->data = bytes->memory + header->offset;
        return true;
    }
    /* A mapping begins at a page, so the offset alone decides on alignment; old headers end anywhere. */
    if (as_is && !bytes->memory && header->offset % header->item == 0) {
        size_t size = header->offset + header->data_size;
        void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, bytes->descriptor, 0);
        if (map != MAP_FAILED) {
            *body = (ast_npy_body){(const char *)map + header->offset, NULL, map, size};
            return true;
        }
    }
    unsigned char extra;
    size_t got;
    if (!ast_npy_next_body(body, header, bytes, error))
        return false;
    bool good = ast_bytes_read(bytes, &extra, 1, &got, error);
    if (good && got > 0)
        good = wrong_size(header, bytes->name, "more than ", header->data_size, error);
    if (!good)
        ast_npy_body_free(body);
    return good;
}

bool ast_npy_next_body(ast_npy_body *body, const ast_npy_header *header, ast_bytes *bytes, ast_format_error *error) {
    ast_buffer buffer = {0};
    *body = (ast_npy_body){0};
    bool good = ast_bytes_fill(bytes, &buffer, header->data_size, error);
    if (good && buffer.filled < header->data_size)
        good = wrong_size(header, bytes->name, "only ", buffer.filled, error);
    body->owned = buffer.place;
    if (!good) {
        ast_npy_body_free(body);
        return false;
    }
    if (header->swapped)
        ast_scalar_swap(body->owned, header->elements, header->item);
    body->data = body->owned;
    return true;
}

void ast_npy_body_free(ast_npy_body *body) {
    free(body->owned);
    if (body->mapped)
        munmap(body->mapped, body->mapped_size);
    *body = (ast_npy_body){0};
}

static bool wrong_size(const ast_npy_header *header, const char *name, const char *few_or_many, uint64_t follow,
                       ast_format_error *error) {
    char shape[AST_SHAPE_TEXT];
    ast_npy_shape_text(header, shape);
    return ast_format_fail(error,
                           "%s: the .npy header promises shape %s of '%s', %zu bytes, but %s%llu follow; the file is "
                           "damaged or cut short",
                           name, shape, header->descr, header->data_size, few_or_many, (unsigned long long)follow);
}

/* Fortran order is only other strides, unless it is that of an image. */
static void view_points(ast_input *input, const ast_npy_header *header, const void *data) {
    bool image = header->dimensions == 3;
    size_t count = image ? header->shape[0] * header->shape[1] : header->shape[0];
    size_t dimension = header->shape[header->dimensions - 1];
    ptrdiff_t item = (ptrdiff_t)header->item;
    input->height = image ? header->shape[0] : 0;
    input->width = image ? header->shape[1] : 0;
    input->points = ast_points_view(data, ast_npy_type(header), count, dimension,
                                    header->fortran ? item : item * (ptrdiff_t)dimension,
                                    header->fortran ? item * (ptrdiff_t)count : item);
}

/* The points are a copy from now on, and what they were read from goes. */
static void own_copy(ast_input *input, void *copy) {
    ast_npy_body body = {NULL, input->owned, input->mapped, input->mapped_size};
    ast_npy_body_free(&body);
    input->owned = copy;
    input->mapped = NULL;
    input->mapped_size = 0;
}

/* Copies an image in Fortran order, whose pixels row by row are no stride of each other: the row varies fastest. */
static bool flatten_image(ast_input *input, const ast_npy_header *header, const char *name, ast_format_error *error) {
    ast_points *points = &input->points;
    size_t item = header->item, height = input->height, width = input->width, plane = height * width;
    char *place = malloc(header->data_size), *cursor = place;
    if (!place)
        return ast_format_no_memory(error, name);
    for (size_t i = 0; i < plane; i++) {
        const char *pixel = (const char *)points->data + (i % width * height + i / width) * item;
        for (size_t d = 0; d < points->dimension; d++, cursor += item)
            memcpy(cursor, pixel + d * plane * item, item);
    }
    own_copy(input, place);
    points->data = place;
    points->column_stride = (ptrdiff_t)item;
    points->row_stride = (ptrdiff_t)(points->dimension * item);
    return true;
}

ast_type ast_npy_type(const ast_npy_header *header) {
    return header->item == 1 ? AST_I1 : header->item == 2 ? AST_F2 : header->item == 4 ? AST_F4 : AST_F8;
}

bool ast_npy_check(const ast_npy_header *header, const ast_columns *columns, const char *name,
                   ast_format_error *error) {
    char shape[AST_SHAPE_TEXT];
    ast_npy_shape_text(header, shape);
    if (header->dimensions != 2 && header->dimensions != 3)
        return ast_format_fail(error,
                               "%s: is an array of shape %s; points need two dimensions, N x D, a row for each point, "
                               "or three, H x W x D",
                               name, shape);
    if (header->kind != 'f' && !(header->kind == 'i' && header->item == 1))
        return ast_format_fail(error, "%s: holds numbers of type '%s'; points need f2, f4, f8 or i1", name,
                               header->descr);
    if (header->elements == 0)
        return ast_format_fail(error, "%s: is an array of shape %s and holds no points", name, shape);
    size_t last = header->shape[header->dimensions - 1];
    return ast_columns_fit(columns, last, name, error);
}

ast_points ast_points_view(const void *data, ast_type type, size_t count, size_t dimension, ptrdiff_t row_stride,
                           ptrdiff_t column_stride) {
    return (ast_points){.size = sizeof(ast_points),
                        .data = data,
                        .type = type,
                        .count = count,
                        .dimension = dimension,
                        .row_stride = row_stride,
                        .column_stride = column_stride};
}

size_t ast_points_item(const ast_points *points) {
    return points->type == AST_I1 ? 1 : points->type == AST_F2 ? 2 : points->type == AST_F4 ? 4 : 8;
}

size_t ast_source_row(const ast_source *source) {
    return source->dimension * ast_points_item(&(ast_points){.type = source->type});
}

bool ast_points_pick(ast_points *points, const ast_columns *columns, ast_buffer *gathered, const char *name,
                     ast_format_error *error) {
    ptrdiff_t step;
    size_t item = ast_points_item(points), size = points->count * columns->count * item;
    if (columns->count == 0)
        return true;
    if (ast_columns_even(columns, &step)) {
        if (points->count > 0)
            points->data = (const char *)points->data + (ptrdiff_t)columns->order[0] * points->column_stride;
        points->column_stride *= step;
        points->dimension = columns->count;
        return true;
    }
    if (size > gathered->capacity) {
        free(gathered->place);
        gathered->place = malloc(size);
        gathered->capacity = gathered->place ? size : 0;
        if (!gathered->place)
            return ast_format_no_memory(error, name);
    }
    unsigned char *cursor = gathered->place;
    for (size_t i = 0; i < points->count; i++) {
        const char *row = (const char *)points->data + (ptrdiff_t)i * points->row_stride;
        for (size_t c = 0; c < columns->count; c++, cursor += item)
            memcpy(cursor, row + (ptrdiff_t)columns->order[c] * points->column_stride, item);
    }
    points->data = gathered->place;
    points->dimension = columns->count;
    points->row_stride = (ptrdiff_t)(columns->count * item);
    points->column_stride = (ptrdiff_t)item;
    return true;
}
