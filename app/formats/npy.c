/* SPDX-License-Identifier: MIT
 *
 * Points and numbers from .npy files: what the header says is a table of rows. The numbers of a pipe go to a buffer
 * that grows as the bytes really arrive. */
#include "npy.h"

#include "registry.h"

#include <stdlib.h>
#include <string.h>

static bool check_points(const ast_npy_header *header, const char *name, ast_format_error *error);
static ast_file_table table_of(const ast_npy_header *header);
static bool wrong_size(const ast_npy_header *header, const char *name, const char *few_or_many, uint64_t follow,
                       ast_format_error *error);

bool ast_npy_open(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    ast_npy_header header;
    ast_body body;
    if (!ast_npy_read_header(&header, bytes, NULL, error) || !check_points(&header, bytes->name, error) ||
        !ast_columns_fit(&how->columns, header.shape[header.dimensions - 1], bytes->name, error) ||
        !ast_npy_read_body(&body, &header, bytes, true, error))
        return false;
    ast_file_table table = table_of(&header);
    return ast_table_view(input, &table, body, how, bytes->name, error);
}

bool ast_npy_table(ast_file_table *table, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    ast_npy_header header;
    (void)how;
    if (!ast_npy_read_header(&header, bytes, NULL, error) || !check_points(&header, bytes->name, error))
        return false;
    *table = table_of(&header);
    return true;
}

bool ast_npy_values(ast_values *values, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    ast_npy_header header;
    ast_body body;
    if (!ast_npy_read_header(&header, bytes, NULL, error))
        return false;
    if (header.elements == 0)
        return ast_format_fail(error, "%s: holds no numbers", bytes->name);
    if (how->columns.count > 0)
        return ast_format_fail(error, "%s: columns can be picked from a table of points or of text only", bytes->name);
    if (!ast_npy_read_body(&body, &header, bytes, true, error))
        return false;
    values->numbers = malloc(header.elements * sizeof(double));
    if (values->numbers) {
        ast_scalar_flatten(values->numbers, body.data, &header);
        values->count = header.elements;
        values->vector =
            header.dimensions == 1 || (header.dimensions == 2 && (header.shape[0] == 1 || header.shape[1] == 1));
    }
    ast_body_free(&body);
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

bool ast_npy_read_header(ast_npy_header *header, ast_bytes *bytes, bool *ended, ast_format_error *error) {
    unsigned char prelude[AST_NPY_PRELUDE];
    size_t got;
    if (!ast_bytes_read(bytes, prelude, sizeof prelude, &got, error))
        return false;
    if (ended && (*ended = got == 0))
        return true;
    if (!read_header(header, prelude, got, bytes, error))
        return false;
    if (!bytes->sized || bytes->size - header->offset == header->data_size)
        return true;
    uint64_t follow = bytes->size - header->offset;
    return wrong_size(header, bytes->name, follow < header->data_size ? "only " : "", follow, error);
}

bool ast_npy_read_body(ast_body *body, const ast_npy_header *header, ast_bytes *bytes, bool last,
                       ast_format_error *error) {
    ast_buffer buffer = {0};
    unsigned char extra;
    size_t got = 0;
    *body = (ast_body){0};
    if (bytes->sized && !header->swapped && ast_body_map(body, bytes, header->offset, header->data_size, header->item))
        return true;
    bool good =
        ast_bytes_budget(bytes, header->data_size, error) && ast_bytes_fill(bytes, &buffer, header->data_size, error);
    if (good && buffer.filled < header->data_size)
        good = wrong_size(header, bytes->name, "only ", buffer.filled, error);
    good = good && (!last || ast_bytes_read(bytes, &extra, 1, &got, error));
    if (good && got > 0)
        good = wrong_size(header, bytes->name, "more than ", header->data_size, error);
    body->data = body->owned = buffer.place;
    if (!good)
        ast_body_free(body);
    else if (header->swapped)
        ast_scalar_swap(body->owned, header->elements, header->item);
    return good;
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

/* Fortran order is only other strides. */
static ast_file_table table_of(const ast_npy_header *header) {
    bool image = header->dimensions == 3;
    size_t count = image ? header->shape[0] * header->shape[1] : header->shape[0];
    size_t dimension = header->shape[header->dimensions - 1];
    return (ast_file_table){.type = ast_npy_type(header),
                            .count = count,
                            .dimension = dimension,
                            .height = image ? header->shape[0] : 0,
                            .width = image ? header->shape[1] : 0,
                            .offset = header->offset,
                            .row_stride = header->item * (header->fortran ? 1 : dimension),
                            .column_stride = header->item * (header->fortran ? count : 1),
                            .swapped = header->swapped};
}

ast_type ast_npy_type(const ast_npy_header *header) {
    return header->item == 1 ? AST_I1 : header->item == 2 ? AST_F2 : header->item == 4 ? AST_F4 : AST_F8;
}

/* Whether the array can be points. */
static bool check_points(const ast_npy_header *header, const char *name, ast_format_error *error) {
    char shape[AST_SHAPE_TEXT];
    ast_npy_shape_text(header, shape);
    if (header->dimensions != 2 && header->dimensions != 3)
        return ast_format_fail(error,
                               "%s: is an array of shape %s; points need two dimensions, N x D, a row for each point, "
                               "or three, H x W x D",
                               name, shape);
    if (header->kind != 'f' && !(header->kind == 'i' && header->item == 1))
        return ast_format_fail(
            error,
            "%s: holds numbers of type '%s'; points need f2, f4, f8 or i1: convert the array first, for example "
            "with astype('float32')",
            name, header->descr);
    return header->elements > 0 ||
           ast_format_fail(error, "%s: is an array of shape %s and holds no points", name, shape);
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

const ast_number_type *ast_number_type_of(ast_type type) {
    static const ast_number_type types[] = {
        [AST_F4] = {"f4", 'f', 4}, [AST_F8] = {"f8", 'f', 8}, [AST_F2] = {"f2", 'f', 2},
        [AST_I1] = {"i1", 'i', 1}, [AST_U1] = {"u1", 'u', 1}, [AST_B2] = {"bf16", 'B', 2}};
    return &types[type];
}

size_t ast_source_row(const ast_source *source) {
    return source->dimension * ast_number_type_of(source->type)->item;
}

bool ast_points_pick(ast_points *points, const ast_columns *columns, ast_buffer *gathered, const char *name,
                     ast_format_error *error) {
    ptrdiff_t step;
    size_t item = ast_number_type_of(points->type)->item, size = points->count * columns->count * item;
    if (columns->count == 0)
        return true;
    if (ast_columns_even(columns, &step)) {
        if (points->count > 0)
            points->data = (const char *)points->data + (ptrdiff_t)columns->order[0] * points->column_stride;
        points->column_stride *= step;
        points->dimension = columns->count;
        return true;
    }
    if (!ast_array_grow(&gathered->place, &gathered->capacity, size, 1))
        return ast_format_no_memory(error, name);
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
