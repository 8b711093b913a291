/* SPDX-License-Identifier: MIT
 *
 * Pages of a column in a group of rows. A page is a header, levels and values. The levels say which values begin a row
 * and which are null. In pages of version 1 everything behind the header is packed as one; in those of version 2 the
 * levels are not packed. */
#include "parquet.h"

#include "thrift.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_FIRST 4096 /* bytes that are read to find a header, and if that was not enough, */
#define HEADER_MOST (1 << 20)
#define UNPACKED_MOST ((uint64_t)1 << 30) /* bytes of a page */
#define VALUES_MOST ((int64_t)1 << 28)    /* of a page */

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_PAGE_V2 = 3 };

typedef struct page_header {
    int type;
    int64_t unpacked, packed;
    int64_t values, encoding;
    int64_t definition_encoding, repetition_encoding; /* version 1 */
    int64_t definition_size, repetition_size;         /* version 2 */
    bool is_packed;                                   /* its values */
    size_t size;                                      /* of the header itself */
} page_header;

/* ---- Headers ----------------------------------------------------------------------------------------------------- */

static void read_data_header(ast_thrift *thrift, page_header *header, bool second) {
    int64_t *const first_fields[] = {NULL, &header->values, &header->encoding, &header->definition_encoding,
                                     &header->repetition_encoding};
    int64_t nulls = 0, rows = 0;
    int64_t *const second_fields[] = {
        NULL, &header->values, &nulls, &rows, &header->encoding, &header->definition_size, &header->repetition_size};
    ast_thrift_field field = {0};
    while (ast_thrift_next(thrift, &field)) {
        if (second && field.id == 7 && field.type <= AST_THRIFT_FALSE)
            header->is_packed = field.type == AST_THRIFT_TRUE;
        else if (field.id >= 1 && field.id <= (second ? 6 : 4) && field.type > AST_THRIFT_FALSE)
            *(second ? second_fields : first_fields)[field.id] = ast_thrift_integer(thrift, field.type);
        else
            ast_thrift_skip(thrift, field.type);
    }
}

static bool parse_header(const unsigned char *bytes, size_t size, page_header *header) {
    ast_thrift thrift = {bytes, bytes + size, false};
    ast_thrift_field field = {0};
    *header = (page_header){.type = -1,
                            .unpacked = -1,
                            .packed = -1,
                            .definition_encoding = AST_PARQUET_RLE,
                            .repetition_encoding = AST_PARQUET_RLE,
                            .is_packed = true};
    while (ast_thrift_next(&thrift, &field)) {
        if (field.id == 1)
            header->type = (int)ast_thrift_integer(&thrift, field.type);
        else if (field.id == 2)
            header->unpacked = ast_thrift_integer(&thrift, field.type);
        else if (field.id == 3)
            header->packed = ast_thrift_integer(&thrift, field.type);
        else if ((field.id == 5 || field.id == 7 || field.id == 8) && field.type == AST_THRIFT_STRUCT)
            read_data_header(&thrift, header, field.id == 8);
        else
            ast_thrift_skip(&thrift, field.type);
    }
    header->size = (size_t)(thrift.at - bytes);
    return !thrift.bad;
}

static bool make_room(ast_parquet_pages *pages, ast_buffer *buffer, size_t size) {
    if (buffer->capacity >= size && buffer->place)
        return true;
    void *place = realloc(buffer->place, size + 1);
    pages->no_memory |= !place;
    if (!place)
        return false;
    buffer->place = place;
    buffer->capacity = size;
    return true;
}

/* Reads the header at pages->at, which statistics can make long. */
static bool read_header(ast_parquet_pages *pages, page_header *header) {
    uint64_t left = pages->chunk->end - pages->at;
    for (uint64_t size = HEADER_FIRST; left > 0; size = HEADER_MOST) {
        size = size < left ? size : left;
        if (!make_room(pages, &pages->packed, size) ||
            !ast_bytes_at(pages->bytes, pages->at, pages->packed.place, size))
            return false;
        if (parse_header(pages->packed.place, size, header))
            break;
        if (size == left || size == HEADER_MOST)
            return false;
    }
    left -= header->size;
    return header->unpacked >= 0 && header->packed >= 0 && (uint64_t)header->packed <= left &&
           (uint64_t)header->unpacked <= UNPACKED_MOST && header->values >= 0 && header->values <= VALUES_MOST;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static bool next_run(ast_parquet_runs *runs) {
    uint64_t head = 0;
    unsigned shift = 0;
    do {
        if (runs->at == runs->end || shift > 28)
            return false;
        head |= (uint64_t)(*runs->at & 127) << shift;
        shift += 7;
    } while (*runs->at++ >= 128);
    size_t room = (size_t)(runs->end - runs->at);
    if (head & 1) { /* groups of eight packed numbers; the last group may be cut */
        size_t size = (size_t)(head >> 1) * runs->width;
        runs->left = (size_t)(head >> 1) * 8;
        runs->bits = runs->at;
        runs->packed = 0;
        if (size > room) {
            runs->left = runs->width ? room * 8 / runs->width : 0;
            size = room;
        }
        runs->at += size;
        return true;
    }
    size_t size = (runs->width + 7) / 8;
    runs->left = (size_t)(head >> 1);
    runs->bits = NULL;
    if (size > room)
        return false;
    runs->repeated = (uint32_t)ast_little(runs->at, size);
    runs->at += size;
    return true;
}

/* A number of a packed run, the lowest bit first. */
static uint32_t unpack(ast_parquet_runs *runs) {
    size_t bit = runs->packed, byte = bit / 8, room = (size_t)(runs->at - runs->bits) - byte;
    uint64_t word = 0;
    if (room >= sizeof word && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        memcpy(&word, runs->bits + byte, sizeof word);
    else if (runs->width)
        word = ast_little(runs->bits + byte, room < 5 ? room : 5);
    runs->packed += runs->width;
    return (uint32_t)(word >> bit % 8 & (((uint64_t)1 << runs->width) - 1));
}

bool ast_parquet_runs_take(ast_parquet_runs *runs, uint32_t *numbers, size_t count) {
    while (count > 0) {
        if (runs->left == 0 && (!next_run(runs) || runs->left == 0))
            return false;
        size_t part = runs->left < count ? runs->left : count;
        for (size_t i = 0; i < part; i++)
            numbers[i] = runs->bits ? unpack(runs) : runs->repeated;
        runs->left -= part;
        numbers += part;
        count -= part;
    }
    return true;
}

/* Levels, a byte each. `all`: what they are where they say nothing; *any: whether they say something. */
static bool read_levels(ast_parquet_pages *pages, ast_buffer *buffer, const unsigned char *at, size_t size,
                        unsigned most, unsigned all, bool *any) {
    ast_parquet_runs runs = {.at = at, .end = at + size, .width = most ? 32 - (unsigned)__builtin_clz(most) : 0};
    size_t done = 0;
    *any = false;
    if (most == 0)
        return true;
    if (!make_room(pages, buffer, pages->count))
        return false;
    while (done < pages->count) {
        if (runs.left == 0 && (!next_run(&runs) || runs.left == 0))
            return false;
        size_t part = runs.left < pages->count - done ? runs.left : pages->count - done;
        unsigned char *place = buffer->place + done;
        if (runs.bits)
            for (size_t i = 0; i < part; i++)
                place[i] = (unsigned char)unpack(&runs);
        else
            memset(place, (int)runs.repeated, part);
        *any |= runs.bits || runs.repeated != all;
        for (size_t i = 0; i < (runs.bits ? part : 1); i++)
            if (place[i] > most)
                return false;
        runs.left -= part;
        done += part;
    }
    return true;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

void ast_parquet_pages_begin(ast_parquet_pages *pages, const ast_bytes *bytes, const ast_parquet_column *column,
                             const ast_parquet_chunk *chunk) {
    pages->bytes = bytes;
    pages->column = column;
    pages->chunk = chunk;
    pages->at = chunk->begin;
    pages->left = chunk->values;
    pages->count = pages->present = pages->dictionary_count = 0;
}

void ast_parquet_pages_free(ast_parquet_pages *pages) {
    free(pages->packed.place);
    free(pages->unpacked.place);
    free(pages->dictionary_page.place);
    free(pages->repetition.place);
    free(pages->definition.place);
    *pages = (ast_parquet_pages){0};
}

/* The bytes behind the header, unpacked: `plain` of them were not packed and come first. What is not packed at all is
 * read to where it belongs. */
static bool read_body(ast_parquet_pages *pages, const page_header *header, ast_buffer *place, size_t plain) {
    size_t packed = (size_t)header->packed, size = (size_t)header->unpacked;
    uint64_t at = pages->at + header->size;
    bool as_is = pages->chunk->codec == 0 || !header->is_packed;
    if (plain > packed || plain > size || (as_is && packed != size) || !make_room(pages, place, size))
        return false;
    place->filled = size;
    if (as_is)
        return ast_bytes_at(pages->bytes, at, place->place, size);
    if (!make_room(pages, &pages->packed, packed) || !ast_bytes_at(pages->bytes, at, pages->packed.place, packed))
        return false;
    memcpy(place->place, pages->packed.place, plain);
    return packed == plain ? size == plain
                           : ast_parquet_unpack(pages->chunk->codec, pages->packed.place + plain, packed - plain,
                                                place->place + plain, size - plain);
}

/* Levels behind their size, of version 1. */
static bool sized_levels(ast_parquet_pages *pages, ast_buffer *buffer, int64_t encoding, unsigned most, unsigned all,
                         bool *any) {
    size_t room = (size_t)(pages->values_end - pages->values);
    *any = false;
    if (most == 0)
        return true;
    if (encoding != AST_PARQUET_RLE || room < 4)
        return false;
    uint64_t size = ast_little(pages->values, 4);
    if (size > room - 4 || !read_levels(pages, buffer, pages->values + 4, (size_t)size, most, all, any))
        return false;
    pages->values += 4 + size;
    return true;
}

static bool read_data(ast_parquet_pages *pages, const page_header *header) {
    const ast_parquet_column *column = pages->column;
    unsigned repetitions = column->most_repetition, definitions = column->most_definition;
    bool second = header->type == DATA_PAGE_V2;
    size_t repetition_size = second ? (size_t)header->repetition_size : 0;
    size_t definition_size = second ? (size_t)header->definition_size : 0;
    if (header->repetition_size < 0 || header->definition_size < 0 || (uint64_t)header->values > pages->left ||
        repetition_size > (size_t)header->unpacked || definition_size > (size_t)header->unpacked - repetition_size ||
        !read_body(pages, header, &pages->unpacked, repetition_size + definition_size))
        return false;
    pages->count = (size_t)header->values;
    pages->encoding = (int)header->encoding;
    pages->values = pages->unpacked.place;
    pages->values_end = pages->unpacked.place + pages->unpacked.filled;
    if (second) {
        const unsigned char *definition = pages->values + repetition_size;
        pages->values = definition + definition_size;
        return read_levels(pages, &pages->repetition, pages->unpacked.place, repetition_size, repetitions, 0,
                           &pages->repeats) &&
               read_levels(pages, &pages->definition, definition, definition_size, definitions, definitions,
                           &pages->defines);
    }
    return sized_levels(pages, &pages->repetition, header->repetition_encoding, repetitions, 0, &pages->repeats) &&
           sized_levels(pages, &pages->definition, header->definition_encoding, definitions, definitions,
                        &pages->defines);
}

static size_t count_present(const ast_parquet_pages *pages) {
    size_t present = pages->defines ? 0 : pages->count;
    for (size_t i = 0; i < pages->count && pages->defines; i++)
        present += pages->definition.place[i] == pages->column->most_definition;
    return present;
}

bool ast_parquet_pages_next(ast_parquet_pages *pages) {
    page_header header;
    while (pages->left > 0) {
        if (pages->at >= pages->chunk->end || !read_header(pages, &header))
            return false;
        bool data = header.type == DATA_PAGE || header.type == DATA_PAGE_V2;
        if (data && !read_data(pages, &header))
            return false;
        if (header.type == DICTIONARY_PAGE) {
            if (!read_body(pages, &header, &pages->dictionary_page, 0))
                return false;
            pages->dictionary_count = (size_t)header.values;
        }
        pages->at += header.size + (uint64_t)header.packed;
        if (!data || header.values == 0)
            continue;
        pages->left -= (uint64_t)header.values;
        pages->present = count_present(pages);
        return true;
    }
    return false;
}
