/* SPDX-License-Identifier: MIT
 *
 * Parquet, as far as tables of embeddings need it: columns of lists of numbers, one list a row, and flat columns of
 * whole numbers or strings, which are ids. A file is groups of rows; in a group every column is a chunk of pages; the
 * footer says where they are.
 *
 *     parquet_footer.c    the footer: columns, groups, chunks
 *     parquet_page.c      one page after the other: unpacked, with its levels and where its values begin
 *     parquet_codec.c     unpacking
 *     parquet_values.c    the values of a page: plain, through a dictionary, or split by bytes
 *     parquet.c           rows of points and ids
 *     parquet_write.c     the other direction */
#ifndef ASTERISM_FORMATS_PARQUET_H
#define ASTERISM_FORMATS_PARQUET_H

#include "table.h"

/* The numbers are those of the format. */
enum ast_parquet_type {
    AST_PARQUET_I32 = 1,
    AST_PARQUET_I64 = 2,
    AST_PARQUET_F4 = 4,
    AST_PARQUET_F8 = 5,
    AST_PARQUET_BYTES = 6,
    AST_PARQUET_FIXED = 7
};
enum ast_parquet_codec { AST_PARQUET_SNAPPY = 1, AST_PARQUET_GZIP = 2, AST_PARQUET_ZSTD = 6, AST_PARQUET_LZ4_RAW = 7 };
enum ast_parquet_encoding {
    AST_PARQUET_PLAIN = 0,
    AST_PARQUET_PLAIN_DICTIONARY = 2,
    AST_PARQUET_RLE = 3,
    AST_PARQUET_BIT_PACKED = 4,
    AST_PARQUET_RLE_DICTIONARY = 8,
    AST_PARQUET_SPLIT = 9
};

/* A column of values; columns of structs count by their parts. */
typedef struct ast_parquet_column {
    char *name;                   /* of the outermost column */
    int type;                     /* in the file */
    size_t width;                 /* bytes of a value of fixed width */
    int points;                   /* the ast_type of its numbers, or -1 */
    bool is_id;                   /* flat: whole numbers or strings */
    bool is_signed;               /* whole numbers are */
    unsigned repeated_definition; /* the definition level from which on a list has an element; 0 where it is no list */
    unsigned most_definition, most_repetition;
    unsigned levels_deep; /* names on the way to it */
} ast_parquet_column;

/* The pages of a column in a group. */
typedef struct ast_parquet_chunk {
    uint64_t begin, end; /* in the file */
    uint64_t values;     /* with those that are null */
    int codec;
    uint32_t encodings; /* bits */
} ast_parquet_chunk;

typedef struct ast_parquet_group {
    uint64_t first, rows;
} ast_parquet_group;

typedef struct ast_parquet_footer {
    ast_parquet_column *columns;
    size_t column_count, column_capacity;
    ast_parquet_group *groups;
    size_t group_count, group_capacity;
    ast_parquet_chunk *chunks; /* (groups, columns) */
    size_t chunk_capacity;
    uint64_t rows;
} ast_parquet_footer;

/* Reads the footer; every chunk is within the file. */
bool ast_parquet_footer_read(ast_parquet_footer *footer, const ast_bytes *bytes, ast_format_error *error);
void ast_parquet_footer_free(ast_parquet_footer *footer);

/* Whether all chunks of a column are in codecs and encodings that are known; the sentence names the one that is not. */
bool ast_parquet_known(const ast_parquet_footer *footer, size_t column, const char *name, ast_format_error *error);

/* Unpacks: false if it is damaged, or does not yield exactly `size` bytes. */
bool ast_parquet_unpack(int codec, const void *packed, size_t packed_size, void *place, size_t size);
bool ast_parquet_has_codec(int codec); /* in this build */
const char *ast_parquet_codec_name(int codec);

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* Where a reader of a column is: in one chunk, behind one page. */
typedef struct ast_parquet_pages {
    const ast_bytes *bytes;
    const ast_parquet_column *column;
    const ast_parquet_chunk *chunk;
    uint64_t at;   /* the next page */
    uint64_t left; /* values of the chunk that no page has had yet */
    ast_buffer packed, unpacked, dictionary_page;
    ast_buffer repetition, definition; /* a byte for each value of the page */
    bool repeats, defines;             /* whether they say anything: otherwise all are 0, and all are the most */
    size_t count;                      /* values of the page, with those that are null */
    size_t present;                    /* those that are not */
    int encoding;
    const unsigned char *values, *values_end;
    size_t dictionary_count; /* values in the dictionary's page */
    bool no_memory;
} ast_parquet_pages;

void ast_parquet_pages_begin(ast_parquet_pages *pages, const ast_bytes *bytes, const ast_parquet_column *column,
                             const ast_parquet_chunk *chunk);
/* The next page with values: false at the end of the chunk (`left` is 0) and if it is damaged (`left` is not). */
bool ast_parquet_pages_next(ast_parquet_pages *pages);
void ast_parquet_pages_free(ast_parquet_pages *pages);

/* Runs of numbers of `width` bits: repeated ones, and packed ones. */
typedef struct ast_parquet_runs {
    const unsigned char *at, *end;
    unsigned width;
    uint32_t repeated;
    size_t left;               /* of the run */
    size_t packed;             /* the bit that comes next, if the run is packed */
    const unsigned char *bits; /* NULL: it is repeated */
} ast_parquet_runs;

/* The next `count` numbers; false if there are fewer. */
bool ast_parquet_runs_take(ast_parquet_runs *runs, uint32_t *numbers, size_t count);

/* The present values of the page, of fixed width, in the machine's byte order: plain ones are where they were unpacked,
 * others in `place`. NULL: damaged, or no memory. */
const unsigned char *ast_parquet_fixed(ast_parquet_pages *pages, ast_buffer *place);

/* The present strings of the page. */
typedef struct ast_parquet_strings {
    const unsigned char **begins;
    uint32_t *lengths;
    size_t capacity, lengths_capacity;
} ast_parquet_strings;
bool ast_parquet_take_strings(ast_parquet_pages *pages, ast_parquet_strings *strings);
void ast_parquet_strings_free(ast_parquet_strings *strings);

#endif
