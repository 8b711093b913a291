/* SPDX-License-Identifier: MIT
 *
 * Rows of binary tables. A table in the machine's byte order is mapped and handed out as it lies on disk; Fortran
 * order, rows with their dimension in between, a transposed table and evenly spaced columns are only other strides.
 * What cannot be handed out as it is goes to a buffer, which is allocated after the promised size has been checked. */
#include "table.h"

#include "platform.h"
#include "npy.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_SIZE 4 /* bytes before a row that repeat its dimension */
#define ROWS_AT_ONCE 256

/* Memory that is written once from end to end: large pages spare the system half of the time that it takes. */
static void *allocate_body(size_t size) {
    const size_t page = (size_t)1 << 21;
    if (size < 4 * page || size > SIZE_MAX - page)
        return malloc(size);
    void *place = aligned_alloc(page, (size + page - 1) / page * page);
    if (place)
        ast_use_huge_pages(place, size);
    return place;
}

static bool read_body(ast_body *body, const ast_file_table *table, const ast_bytes *bytes, ast_format_error *error);
static bool check_counts(const ast_file_table *table, const ast_body *body, const ast_bytes *bytes,
                         ast_format_error *error);
static bool flatten_image(ast_input *input, const ast_file_table *table, const char *name, ast_format_error *error);
static void own_copy(ast_input *input, void *copy);

bool ast_table_set(ast_file_table *table, ast_type type, uint64_t count, uint64_t dimension, uint64_t offset) {
    size_t item = ast_number_type_of(type)->item, row, size;
    *table = (ast_file_table){.type = type,
                              .count = count,
                              .dimension = dimension,
                              .offset = offset,
                              .column_stride = item,
                              .swapped = item > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
    if (__builtin_mul_overflow(dimension, item, &row) || __builtin_mul_overflow(row, count, &size) ||
        __builtin_add_overflow(size, offset, &size) || size > PTRDIFF_MAX)
        return false;
    table->row_stride = row;
    return true;
}

void ast_table_close(ast_file_table *table) {
    if (table->decoder)
        table->decoder->close(table->decoder);
    table->decoder = NULL;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

bool ast_bytes_at(const ast_bytes *bytes, uint64_t offset, void *place, size_t size) {
    if (offset > bytes->size || size > bytes->size - offset)
        return false;
    if (!bytes->memory)
        return ast_read_at(bytes->descriptor, offset, place, size) == 0;
    memcpy(place, bytes->memory + offset, size);
    return true;
}

bool ast_body_map(ast_body *body, const ast_bytes *bytes, size_t offset, size_t size, size_t item) {
    *body = (ast_body){0};
    if (bytes->memory && (uintptr_t)(bytes->memory + offset) % item == 0) {
        body->data = bytes->memory + offset;
        return true;
    }
    /* A mapping begins at a page, so the offset alone decides on alignment; old headers end anywhere. */
    if (bytes->memory || offset % item != 0)
        return false;
    ast_mapping map;
    if (!ast_map_file(&map, bytes->descriptor, offset + size, false))
        return false;
    *body = (ast_body){(const char *)map.place + offset, NULL, map.place, map.size};
    return true;
}

void ast_body_free(ast_body *body) {
    free(body->owned);
    ast_unmap(&(ast_mapping){body->mapped, body->mapped_size});
    *body = (ast_body){0};
}

/* ---- Reading whole ----------------------------------------------------------------------------------------------- */

bool ast_table_read(ast_input *input, const ast_file_table *table, ast_bytes *bytes, const ast_resolved *how,
                    ast_format_error *error) {
    ast_body body;
    if (!ast_columns_fit(&how->columns, table->dimension, bytes->name, error) || !read_body(&body, table, bytes, error))
        return false;
    if (!check_counts(table, &body, bytes, error)) {
        ast_body_free(&body);
        return false;
    }
    return ast_table_view(input, table, body, how, bytes->name, error);
}

/* A pipe or a compressed file is read as far as its header promises first, so that its size is known like that of a
 * regular file; one byte more shows whether it ends there. */
static bool read_all(ast_bytes *bytes, const ast_resolved *how, ast_buffer *buffer, ast_bytes *memory,
                     ast_format_error *error) {
    uint64_t size;
    if (!how->format->promise(buffer, &size, bytes, how, error))
        return false;
    if (size > buffer->filled &&
        (!ast_bytes_budget(bytes, size, error) || !ast_bytes_fill(bytes, buffer, (size_t)size + 1, error)))
        return false;
    return ast_bytes_open_memory(memory, bytes->name, buffer->place, buffer->filled, false, error);
}

bool ast_table_open(ast_input *input, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    ast_buffer buffer = {0};
    ast_bytes memory = *bytes;
    ast_file_table table = {0};
    bool good = (bytes->sized || read_all(bytes, how, &buffer, &memory, error)) &&
                how->format->table(&table, &memory, how, error);
    good = good && ast_table_names(input, &table, how, error) && ast_table_read(input, &table, &memory, how, error);
    ast_table_close(&table);
    if (good && buffer.place && !input->body.owned)
        input->body.owned = buffer.place; /* the points are a view of it */
    else
        free(buffer.place);
    return good;
}

static size_t item_of(const ast_file_table *table) {
    return ast_number_type_of(table->type)->item;
}

/* Bytes from the first number to the last. */
static size_t extent(const ast_file_table *table) {
    return (table->count - 1) * table->row_stride + (table->dimension - 1) * table->column_stride + item_of(table);
}

static bool read_body(ast_body *body, const ast_file_table *table, const ast_bytes *bytes, ast_format_error *error) {
    size_t item = item_of(table), row = table->dimension * item;
    ast_row_decoder *decoder = table->decoder;
    size_t size = decoder ? table->count * row : extent(table);
    *body = (ast_body){0};
    if (!decoder && !table->swapped && ast_body_map(body, bytes, table->offset, size, item))
        return true;
    body->data = body->owned = allocate_body(size);
    if (!body->owned)
        return ast_format_no_memory(error, bytes->name);
    bool good = decoder ? decoder->rows(decoder, 0, table->count, body->owned)
                        : ast_bytes_at(bytes, table->offset, body->owned, size);
    if (!good) {
        ast_body_free(body);
        return ast_table_damaged(table, bytes, error);
    }
    if (table->swapped)
        ast_scalar_swap(body->owned, size / item, item);
    return true;
}

bool ast_table_names(ast_input *input, const ast_file_table *table, const ast_resolved *how, ast_format_error *error) {
    ast_row_decoder *decoder = table->decoder;
    return !how->columns.names || !decoder || !decoder->names ||
           decoder->names(decoder, how->columns.names, &input->names, error);
}

bool ast_table_damaged(const ast_file_table *table, const ast_bytes *bytes, ast_format_error *error) {
    const ast_row_decoder *decoder = table->decoder;
    if (decoder && decoder->wrong.text[0]) {
        *error = decoder->wrong;
        return false;
    }
    return ast_format_fail(error, "%s: cannot be read: the file is damaged or cut short%s", bytes->name,
                           decoder && decoder->damage ? decoder->damage : "");
}

/* Only regular files are read, so nothing is taken from any other. */
bool ast_whole_promise(ast_buffer *buffer, uint64_t *size, ast_bytes *bytes, const ast_resolved *how,
                       ast_format_error *error) {
    (void)bytes, (void)how, (void)error;
    *size = buffer->filled;
    return true;
}

bool ast_table_unequal(const ast_file_table *table, const ast_bytes *bytes, size_t row, ast_format_error *error) {
    unsigned char count[COUNT_SIZE] = {0};
    (void)ast_bytes_at(bytes, table->offset - COUNT_SIZE + (uint64_t)row * table->row_stride, count, sizeof count);
    return ast_format_fail(error, "%s: row %zu has %d numbers, but row 1 has %zu; all rows need the same number",
                           bytes->name, row + 1, (int32_t)ast_little(count, sizeof count), table->dimension);
}

/* The dimension before each row; the first one is the table's own. */
static bool check_counts(const ast_file_table *table, const ast_body *body, const ast_bytes *bytes,
                         ast_format_error *error) {
    for (size_t i = 1; table->counted && i < table->count; i++) {
        uint32_t dimension;
        memcpy(&dimension, (const char *)body->data + i * table->row_stride - COUNT_SIZE, sizeof dimension);
        if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && item_of(table) == 1)
            dimension = __builtin_bswap32(dimension);
        if (dimension != table->dimension)
            return ast_table_unequal(table, bytes, i, error);
    }
    return true;
}

bool ast_table_view(ast_input *input, const ast_file_table *table, ast_body body, const ast_resolved *how,
                    const char *name, ast_format_error *error) {
    input->body = body;
    input->height = table->height;
    input->width = table->width;
    size_t item = item_of(table);
    bool packed = table->decoder != NULL;
    input->points = ast_points_view(body.data, table->type, table->count, table->dimension,
                                    (ptrdiff_t)(packed ? table->dimension * item : table->row_stride),
                                    (ptrdiff_t)(packed ? item : table->column_stride));
    if (input->height > 0 && table->column_stride != item && !flatten_image(input, table, name, error))
        return false;
    if (input->height > 0 && how->transpose)
        return ast_format_fail(error, "%s: is an image of directions, H x W x D, which cannot be transposed", name);
    ast_buffer gathered = {0};
    if (!ast_points_pick(&input->points, &how->columns, &gathered, name, error))
        return false;
    if (gathered.place)
        own_copy(input, gathered.place);
    if (how->transpose)
        ast_points_transpose(&input->points);
    return true;
}

/* The points are a copy from now on, and what they were read from goes. */
static void own_copy(ast_input *input, void *copy) {
    ast_body_free(&input->body);
    input->body.owned = copy;
}

/* Copies an image in Fortran order, whose pixels row by row are no stride of each other: the row varies fastest. */
static bool flatten_image(ast_input *input, const ast_file_table *table, const char *name, ast_format_error *error) {
    ast_points *points = &input->points;
    size_t item = item_of(table), height = input->height, width = input->width, plane = height * width;
    char *place = malloc(table->count * table->dimension * item), *cursor = place;
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

/* ---- Reading rows ------------------------------------------------------------------------------------------------ */

/* Rows (at most ROWS_AT_ONCE) and the dimensions before them, in one call where the system reads that much at once. */
static int read_counted(int descriptor, uint64_t offset, size_t row, size_t count, char *place,
                        unsigned char (*counts)[COUNT_SIZE]) {
    struct iovec parts[2 * ROWS_AT_ONCE];
    for (size_t i = 0; i < count; i++) {
        parts[2 * i] = (struct iovec){counts[i], COUNT_SIZE};
        parts[2 * i + 1] = (struct iovec){place + i * row, row};
    }
    ssize_t got = preadv(descriptor, parts, (int)(2 * count), (off_t)offset);
    if (got >= 0 && (size_t)got == count * (row + COUNT_SIZE))
        return 0;
    int reason = 0;
    for (size_t i = 0; i < 2 * count && !reason; offset += parts[i++].iov_len)
        reason = ast_read_at(descriptor, offset, parts[i].iov_base, parts[i].iov_len);
    return reason;
}

static int read_counted_rows(const ast_file_table *table, int descriptor, size_t first, size_t count, char *place,
                             size_t *odd) {
    unsigned char counts[ROWS_AT_ONCE][COUNT_SIZE];
    size_t row = table->dimension * item_of(table);
    for (size_t part; count > 0; first += part, count -= part, place += part * row) {
        part = count < ROWS_AT_ONCE ? count : ROWS_AT_ONCE;
        uint64_t at = table->offset - COUNT_SIZE + (uint64_t)first * table->row_stride;
        int reason = read_counted(descriptor, at, row, part, place, counts);
        if (reason)
            return reason;
        for (size_t i = 0; i < part; i++)
            if (ast_little(counts[i], COUNT_SIZE) != table->dimension) {
                *odd = first + i;
                return AST_ROWS_UNEQUAL;
            }
    }
    return 0;
}

int ast_table_rows(const ast_file_table *table, const ast_bytes *bytes, size_t first, size_t count, void *place,
                   size_t *row) {
    if (table->decoder)
        return table->decoder->rows(table->decoder, first, count, place) ? 0 : AST_ROWS_DAMAGED;
    if (table->counted)
        return read_counted_rows(table, bytes->descriptor, first, count, place, row);
    return ast_read_at(bytes->descriptor, table->offset + (uint64_t)first * table->row_stride, place,
                       count * table->row_stride);
}
