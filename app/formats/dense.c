/* SPDX-License-Identifier: MIT
 *
 * Tables whose name says the type of their numbers. .fbin, .u8bin and .i8bin (the big-ann benchmarks): the numbers of
 * rows and columns, two uint32, and the rows. .fvecs and .bvecs (TEXMEX): each row behind its dimension, an int32. */
#include "registry.h"

static bool plain(ast_file_table *table, ast_bytes *bytes, const ast_format *format, ast_format_error *error);
static bool counted(ast_file_table *table, ast_bytes *bytes, const ast_format *format, ast_format_error *error);

bool ast_dense_table(ast_file_table *table, ast_bytes *bytes, const ast_resolved *how, ast_format_error *error) {
    return (how->format->counted ? counted : plain)(table, bytes, how->format, error);
}

bool ast_dense_promise(ast_buffer *buffer, uint64_t *size, ast_bytes *bytes, const ast_resolved *how,
                       ast_format_error *error) {
    const ast_format *format = how->format;
    ast_file_table table;
    size_t header = format->counted ? 4 : 8;
    if (!ast_bytes_fill(bytes, buffer, header, error))
        return false;
    *size = buffer->filled;
    if (buffer->filled < header)
        return true;
    if (format->counted) /* only the end of the input tells how many rows there are */
        *size = (int32_t)ast_little(buffer->place, 4) < 1 ? header : PTRDIFF_MAX;
    else if (ast_table_set(&table, format->type, ast_little(buffer->place, 4), ast_little(buffer->place + 4, 4),
                           header))
        *size += table.row_stride * table.count;
    return true;
}

static bool plain(ast_file_table *table, ast_bytes *bytes, const ast_format *format, ast_format_error *error) {
    unsigned char header[8];
    const char *name = bytes->name;
    if (!ast_bytes_at(bytes, 0, header, sizeof header))
        return ast_format_fail(error, "%s: is cut short: .%s begins with the numbers of rows and columns, 8 bytes",
                               name, format->name);
    uint32_t rows = (uint32_t)ast_little(header, 4), columns = (uint32_t)ast_little(header + 4, 4);
    if (rows == 0 || columns == 0)
        return ast_format_fail(error, "%s: holds no points: its header says %u rows of %u numbers", name, rows,
                               columns);
    bool fits = ast_table_set(table, format->type, rows, columns, sizeof header);
    uint64_t follow = bytes->size - sizeof header;
    if (!fits)
        return ast_format_fail(error,
                               "%s: its header promises %u rows of %u numbers of %zu bytes, more than any file has",
                               name, rows, columns, table->column_stride);
    uint64_t promised = table->row_stride * table->count;
    if (promised != follow)
        return ast_format_fail(
            error,
            "%s: its header promises %u rows of %u numbers of %zu bytes, but %s%llu bytes follow; the "
            "file is damaged or cut short",
            name, rows, columns, table->column_stride, follow > promised ? "more than " : "",
            (unsigned long long)(follow > promised ? promised : follow));
    return true;
}

/* Whether the row begins with the same dimension as the first row. A row beyond the end of the file counts as equal. */
static bool same_count(const ast_file_table *table, const ast_bytes *bytes, size_t row) {
    unsigned char count[4];
    return !ast_bytes_at(bytes, (uint64_t)row * table->row_stride, count, sizeof count) ||
           ast_little(count, sizeof count) == table->dimension;
}

/* The rows do not fill the file. Either the last row is cut short, or some row has another dimension than the first. In
 * the second case every row behind it is misplaced, the last one included, so the rows are followed to find it. */
static bool odd_size(const ast_file_table *table, const ast_bytes *bytes, ast_format_error *error) {
    size_t last = table->count;
    bool moved = (last > 0 && !same_count(table, bytes, last - 1)) || !same_count(table, bytes, last);
    for (size_t row = 1; row <= last && moved; row++)
        if (!same_count(table, bytes, row))
            return ast_table_unequal(table, bytes, row, error);
    return ast_format_fail(error, "%s: is cut short: row %zu has %llu of its %zu bytes", bytes->name, last + 1,
                           (unsigned long long)(bytes->size - (uint64_t)last * table->row_stride), table->row_stride);
}

static bool counted(ast_file_table *table, ast_bytes *bytes, const ast_format *format, ast_format_error *error) {
    unsigned char count[4];
    if (!ast_bytes_at(bytes, 0, count, sizeof count))
        return ast_format_fail(error, "%s: is %s; each row of .%s begins with its dimension, 4 bytes", bytes->name,
                               bytes->size == 0 ? "empty" : "cut short", format->name);
    int32_t dimension = (int32_t)ast_little(count, sizeof count);
    if (dimension < 1)
        return ast_format_fail(error,
                               "%s: row 1 has %d numbers; at least one is needed: is this a file of rows behind "
                               "their dimension?",
                               bytes->name, dimension);
    ast_table_set(table, format->type, 0, (uint64_t)dimension, sizeof count);
    table->counted = true;
    table->row_stride += sizeof count;
    table->count = (size_t)(bytes->size / table->row_stride);
    return bytes->size % table->row_stride == 0 || odd_size(table, bytes, error);
}
