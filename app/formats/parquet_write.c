/* SPDX-License-Identifier: MIT
 *
 * A Parquet file of three columns: id, cluster, similarity. Values are plain, pages of version 1 and packed by zstd, if
 * the build has it; a similarity that is NaN is null. A part is a group of rows, and what the footer says of it is kept
 * until the end. */
#include "rows_file.h"

#include "parquet.h"
#include "thrift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef AST_HAVE_ZSTD
#include <zstd.h>
#endif

enum { COLUMNS = 3, LEVEL = 3 };

typedef struct chunk {
    uint64_t begin, packed, unpacked, values;
} chunk;

typedef struct group {
    chunk chunks[COLUMNS];
} group;

struct ast_parquet_writer {
    ast_output *output;
    bool text; /* the ids are */
    uint64_t at, rows;
    group *groups;
    size_t count, capacity;
    ast_buffer body, packed, header;
};

/* ---- Thrift ------------------------------------------------------------------------------------------------------ */

static bool put(ast_buffer *buffer, const void *bytes, size_t size) {
    if (!ast_array_grow(&buffer->place, &buffer->capacity, buffer->filled + size, 1))
        return false;
    memcpy(buffer->place + buffer->filled, bytes, size);
    buffer->filled += size;
    return true;
}

static bool put_byte(ast_buffer *buffer, unsigned byte) {
    return put(buffer, &(unsigned char){(unsigned char)byte}, 1);
}

static bool put_varint(ast_buffer *buffer, uint64_t number) {
    for (; number > 127; number >>= 7)
        if (!put_byte(buffer, (unsigned)(number & 127) | 128))
            return false;
    return put_byte(buffer, (unsigned)number);
}

/* The head of a field: `step` is how far its id is from that of the field before. */
static bool put_head(ast_buffer *buffer, int step, int type) {
    return put_byte(buffer, (unsigned)step << 4 | (unsigned)type);
}

static bool put_integer(ast_buffer *buffer, int step, int type, int64_t number) {
    return put_head(buffer, step, type) && put_varint(buffer, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

static bool put_string(ast_buffer *buffer, const char *text) {
    return put_varint(buffer, strlen(text)) && put(buffer, text, strlen(text));
}

static bool put_list(ast_buffer *buffer, int step, size_t count, int type) {
    return put_head(buffer, step, AST_THRIFT_LIST) &&
           (count < 15 ? put_byte(buffer, (unsigned)count << 4 | (unsigned)type)
                       : put_byte(buffer, 15u << 4 | (unsigned)type) && put_varint(buffer, count));
}

/* ---- Groups of rows ---------------------------------------------------------------------------------------------- */

static int codec(void) {
    return ast_parquet_has_codec(AST_PARQUET_ZSTD) ? AST_PARQUET_ZSTD : 0;
}

/* Packs the body, or keeps it as it is. */
static bool pack(ast_parquet_writer *writer) {
#ifdef AST_HAVE_ZSTD
    size_t room = ZSTD_compressBound(writer->body.filled);
    writer->packed.filled = 0;
    if (!ast_array_grow(&writer->packed.place, &writer->packed.capacity, room, 1))
        return false;
    size_t size = ZSTD_compress(writer->packed.place, room, writer->body.place, writer->body.filled, LEVEL);
    writer->packed.filled = size;
    return !ZSTD_isError(size);
#else
    writer->packed.filled = 0;
    return put(&writer->packed, writer->body.place, writer->body.filled);
#endif
}

static bool put_page_header(ast_parquet_writer *writer, size_t values) {
    ast_buffer *b = &writer->header;
    b->filled = 0;
    return put_integer(b, 1, AST_THRIFT_I32, 0) && put_integer(b, 1, AST_THRIFT_I32, (int64_t)writer->body.filled) &&
           put_integer(b, 1, AST_THRIFT_I32, (int64_t)writer->packed.filled) && put_head(b, 2, AST_THRIFT_STRUCT) &&
           put_integer(b, 1, AST_THRIFT_I32, (int64_t)values) && put_integer(b, 1, AST_THRIFT_I32, AST_PARQUET_PLAIN) &&
           put_integer(b, 1, AST_THRIFT_I32, AST_PARQUET_RLE) && put_integer(b, 1, AST_THRIFT_I32, AST_PARQUET_RLE) &&
           put_byte(b, 0) && put_byte(b, 0);
}

static bool write_page(ast_parquet_writer *writer, chunk *c, size_t values, ast_format_error *error) {
    if (!pack(writer) || !put_page_header(writer, values))
        return ast_format_no_memory(error, "the table of rows");
    *c = (chunk){writer->at, writer->header.filled + writer->packed.filled, writer->header.filled + writer->body.filled,
                 values};
    writer->at += c->packed;
    return ast_output_write(writer->output, writer->header.place, writer->header.filled, error) &&
           ast_output_write(writer->output, writer->packed.place, writer->packed.filled, error);
}

static bool put_little(ast_buffer *buffer, uint64_t number, size_t size) {
    unsigned char bytes[8];
    ast_put_little(bytes, number, size);
    return put(buffer, bytes, size);
}

static bool put_ids(ast_parquet_writer *writer, const ast_rows_part *part) {
    bool good = true;
    for (size_t i = 0; i < part->count && good; i++) {
        const char *id = part->ids ? part->ids[i] : NULL;
        if (writer->text)
            good = put_little(&writer->body, strlen(id), 4) && put(&writer->body, id, strlen(id));
        else
            good = put_little(&writer->body, (uint64_t)(id ? strtoll(id, NULL, 10) : (long long)(part->first + i)), 8);
    }
    return good;
}

/* Which similarities there are, one bit each, in one packed run; then those. */
static bool put_similarities(ast_parquet_writer *writer, const ast_rows_part *part) {
    ast_buffer *b = &writer->body;
    size_t bytes = (part->count + 7) / 8;
    if (!put_little(b, 0, 4) || !put_varint(b, (uint64_t)bytes << 1 | 1))
        return false;
    for (size_t i = 0; i < bytes; i++) {
        unsigned bits = 0;
        for (size_t at = 8 * i; at < 8 * i + 8 && at < part->count; at++)
            bits |= !isnan(part->similarity[at]) ? 1u << at % 8 : 0;
        if (!put_byte(b, bits))
            return false;
    }
    ast_put_little(b->place, b->filled - 4, 4);
    bool good = true;
    for (size_t i = 0; i < part->count && good; i++) {
        uint32_t bits;
        memcpy(&bits, &part->similarity[i], sizeof bits);
        good = isnan(part->similarity[i]) || put_little(b, bits, 4);
    }
    return good;
}

bool ast_parquet_write_rows(ast_parquet_writer *writer, const ast_rows_part *part, ast_format_error *error) {
    bool good = ast_array_grow(&writer->groups, &writer->capacity, writer->count + 1, sizeof *writer->groups);
    group *g = good ? &writer->groups[writer->count] : NULL;
    writer->body.filled = 0;
    if (!good || !put_ids(writer, part))
        return ast_format_no_memory(error, "the table of rows");
    if (!write_page(writer, &g->chunks[0], part->count, error))
        return false;
    writer->body.filled = 0;
    for (size_t i = 0; i < part->count && good; i++)
        good = put_little(&writer->body, (uint32_t)part->labels[i], 4);
    if (!good || !write_page(writer, &g->chunks[1], part->count, error))
        return good ? false : ast_format_no_memory(error, "the table of rows");
    writer->body.filled = 0;
    if (!put_similarities(writer, part))
        return ast_format_no_memory(error, "the table of rows");
    writer->count++;
    writer->rows += part->count;
    return write_page(writer, &g->chunks[2], part->count, error);
}

/* ---- The footer -------------------------------------------------------------------------------------------------- */

static const char *const names[COLUMNS] = {"id", "cluster", "similarity"};

static int type_of(const ast_parquet_writer *writer, size_t column) {
    return column == 1    ? AST_PARQUET_I32
           : column == 2  ? AST_PARQUET_F4
           : writer->text ? AST_PARQUET_BYTES
                          : AST_PARQUET_I64;
}

static bool put_schema(const ast_parquet_writer *writer, ast_buffer *b) {
    bool good = put_list(b, 1, COLUMNS + 1, AST_THRIFT_STRUCT) && put_head(b, 4, AST_THRIFT_BINARY) &&
                put_string(b, "rows") && put_integer(b, 1, AST_THRIFT_I32, COLUMNS) && put_byte(b, 0);
    for (size_t c = 0; c < COLUMNS && good; c++) {
        good = put_integer(b, 1, AST_THRIFT_I32, type_of(writer, c)) && put_integer(b, 2, AST_THRIFT_I32, c == 2) &&
               put_head(b, 1, AST_THRIFT_BINARY) && put_string(b, names[c]);
        if (c == 0 && writer->text) /* UTF-8, in the older and in the newer way */
            good = good && put_integer(b, 2, AST_THRIFT_I32, 0) && put_head(b, 4, AST_THRIFT_STRUCT) &&
                   put_head(b, 1, AST_THRIFT_STRUCT) && put_byte(b, 0) && put_byte(b, 0);
        good = good && put_byte(b, 0);
    }
    return good;
}

static bool put_chunk(const ast_parquet_writer *writer, ast_buffer *b, const chunk *c, size_t column) {
    return put_integer(b, 2, AST_THRIFT_I64, (int64_t)c->begin) && put_head(b, 1, AST_THRIFT_STRUCT) &&
           put_integer(b, 1, AST_THRIFT_I32, type_of(writer, column)) && put_list(b, 1, 2, AST_THRIFT_I32) &&
           put_varint(b, AST_PARQUET_PLAIN) && put_varint(b, AST_PARQUET_RLE << 1) &&
           put_list(b, 1, 1, AST_THRIFT_BINARY) && put_string(b, names[column]) &&
           put_integer(b, 1, AST_THRIFT_I32, codec()) && put_integer(b, 1, AST_THRIFT_I64, (int64_t)c->values) &&
           put_integer(b, 1, AST_THRIFT_I64, (int64_t)c->unpacked) &&
           put_integer(b, 1, AST_THRIFT_I64, (int64_t)c->packed) &&
           put_integer(b, 2, AST_THRIFT_I64, (int64_t)c->begin) && put_byte(b, 0) && put_byte(b, 0);
}

static bool put_group(const ast_parquet_writer *writer, ast_buffer *b, const group *g) {
    uint64_t size = 0;
    bool good = put_list(b, 1, COLUMNS, AST_THRIFT_STRUCT);
    for (size_t c = 0; c < COLUMNS && good; c++) {
        good = put_chunk(writer, b, &g->chunks[c], c);
        size += g->chunks[c].unpacked;
    }
    return good && put_integer(b, 1, AST_THRIFT_I64, (int64_t)size) &&
           put_integer(b, 1, AST_THRIFT_I64, (int64_t)g->chunks[0].values) && put_byte(b, 0);
}

static bool put_footer(ast_parquet_writer *writer) {
    ast_buffer *b = &writer->body;
    b->filled = 0;
    bool good = put_integer(b, 1, AST_THRIFT_I32, 1) && put_schema(writer, b) &&
                put_integer(b, 1, AST_THRIFT_I64, (int64_t)writer->rows) &&
                put_list(b, 1, writer->count, AST_THRIFT_STRUCT);
    for (size_t i = 0; i < writer->count && good; i++)
        good = put_group(writer, b, &writer->groups[i]);
    good = good && put_head(b, 2, AST_THRIFT_BINARY) && put_string(b, "asterism") && put_byte(b, 0);
    return good && put_little(b, b->filled, 4) && put(b, "PAR1", 4);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

ast_parquet_writer *ast_parquet_writer_open(ast_output *output, bool text, ast_format_error *error) {
    ast_parquet_writer *writer = calloc(1, sizeof *writer);
    if (!writer) {
        ast_format_no_memory(error, "the table of rows");
        return NULL;
    }
    writer->output = output;
    writer->text = text;
    writer->at = 4;
    if (ast_output_write(output, "PAR1", 4, error))
        return writer;
    ast_parquet_writer_free(writer);
    return NULL;
}

bool ast_parquet_writer_end(ast_parquet_writer *writer, ast_format_error *error) {
    if (!put_footer(writer))
        return ast_format_no_memory(error, "the table of rows");
    return ast_output_write(writer->output, writer->body.place, writer->body.filled, error);
}

void ast_parquet_writer_free(ast_parquet_writer *writer) {
    if (!writer)
        return;
    free(writer->groups);
    free(writer->body.place);
    free(writer->packed.place);
    free(writer->header.place);
    free(writer);
}
