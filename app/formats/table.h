/* SPDX-License-Identifier: MIT
 *
 * Dense rows as a file holds them. Every binary table is described by one `ast_file_table`: a format finds the
 * description in its header and checks it against the size of the file; table.c maps the rows, copies them, or reads
 * some of them.
 */
#ifndef ASTERISM_FORMATS_TABLE_H
#define ASTERISM_FORMATS_TABLE_H

#include "bytes.h"

struct ast_resolved;

/* Rows that must be decoded: a format puts it at the beginning of its own struct. */
typedef struct ast_row_decoder {
    /* Decodes `count` rows from number `first` on, without gaps, from any thread; false: they are damaged. */
    bool (*rows)(struct ast_row_decoder *decoder, size_t first, size_t count, void *place);
    /* Adds the names of all rows; NULL: the format has none. */
    bool (*names)(struct ast_row_decoder *decoder, const char *column, ast_names *names, ast_format_error *error);
    void (*close)(struct ast_row_decoder *decoder);
    const char *damage;     /* behind the sentence that the file is damaged */
    ast_format_error wrong; /* a better sentence, if its text is not empty */
} ast_row_decoder;

typedef struct ast_file_table {
    ast_type type;
    size_t count, dimension;
    size_t height, width;     /* of an H x W x D array, whose pixels are the points; 0 otherwise */
    size_t offset;            /* of the first number of the first row in the file */
    size_t row_stride;        /* bytes from a row to the next */
    size_t column_stride;     /* and from a number of a row to the next */
    bool swapped;             /* not in the machine's byte order */
    bool counted;             /* four bytes before each row repeat its dimension: .fvecs and .bvecs */
    ast_row_decoder *decoder; /* of rows that must be decoded: offset and strides are unused; NULL otherwise */
} ast_file_table;

/* The table of a regular file or of bytes in memory: read from the header, and within the size of the file. On failure
 * there is nothing to close. */
typedef bool ast_table_function(ast_file_table *table, ast_bytes *bytes, const struct ast_resolved *how,
                                ast_format_error *error);

/* What the header of a pipe or a compressed file promises: reads it into `buffer`, and *size is that of the whole file.
 * Where the header is cut short or cannot be true, *size is what has been read, and ast_table_function says why. */
typedef bool ast_promise_function(ast_buffer *buffer, uint64_t *size, ast_bytes *bytes, const struct ast_resolved *how,
                                  ast_format_error *error);
ast_promise_function ast_dense_promise, ast_safetensors_promise, ast_whole_promise;

/* dense.c: .fbin, .u8bin, .i8bin, .fvecs and .bvecs; safetensors.c; hdf5.c; parquet.c */
ast_table_function ast_dense_table, ast_safetensors_table, ast_hdf5_table, ast_parquet_table;

/* Describes (count, dimension) numbers in C order without gaps, from `offset` on. False if they are too many bytes. */
bool ast_table_set(ast_file_table *table, ast_type type, uint64_t count, uint64_t dimension, uint64_t offset);

/* Reads all rows: maps or borrows them where possible. The table stays open. */
bool ast_table_read(ast_input *input, const ast_file_table *table, ast_bytes *bytes, const struct ast_resolved *how,
                    ast_format_error *error);

/* Borrows or maps `size` bytes at `offset` of a regular file or of memory. False if they must be copied. */
bool ast_body_map(ast_body *body, const ast_bytes *bytes, size_t offset, size_t size, size_t item);
void ast_body_free(ast_body *body);

/* Makes the body of a table the points of an input, with the wanted columns, transposed if asked for. The input owns
 * the body from now on. */
bool ast_table_view(ast_input *input, const ast_file_table *table, ast_body body, const struct ast_resolved *how,
                    const char *name, ast_format_error *error);

/* Why rows could not be read, besides errno. */
enum { AST_ROWS_CUT = -1, AST_ROWS_UNEQUAL = -2, AST_ROWS_DAMAGED = -3 };

/* Reads `count` rows from number `first` on, without gaps, from any thread: 0, or the reason; *row is then the number
 * of a row whose own dimension is another one. Not for rows in Fortran order or in the other byte order. */
int ast_table_rows(const ast_file_table *table, const ast_bytes *bytes, size_t first, size_t count, void *place,
                   size_t *row);

/* The sentence for a row, counted from 0, whose own dimension is another one. */
bool ast_table_unequal(const ast_file_table *table, const ast_bytes *bytes, size_t row, ast_format_error *error);

/* The sentence for rows that cannot be decoded, or that a file is too short for. */
bool ast_table_damaged(const ast_file_table *table, const ast_bytes *bytes, ast_format_error *error);

/* Reads the names of the rows, if a column of them is asked for and the format has columns. */
bool ast_table_names(ast_input *input, const ast_file_table *table, const struct ast_resolved *how,
                     ast_format_error *error);

/* Fine on a zeroed or closed one. */
void ast_table_close(ast_file_table *table);

/* All `size` bytes at `offset` of a regular file or of memory: false where it ends before, and if it cannot be read. */
bool ast_bytes_at(const ast_bytes *bytes, uint64_t offset, void *place, size_t size);

/* ---- members.c: which of several ------------------------------------------------------------------------------- */

/* A tensor or a dataset of a file. */
typedef struct ast_member {
    char *name; /* in UTF-8, to free() */
    char type[AST_EXCERPT];
    int known;      /* its ast_type, or -1: no type of points */
    int dimensions; /* the shape has the first two of them */
    uint64_t shape[2];
    uint64_t begin, end; /* its bytes */
} ast_member;

typedef struct ast_members {
    ast_member *list;
    size_t count, capacity;
} ast_members;

/* What they are called in sentences. */
typedef struct ast_member_words {
    const char *one, *many, *option, *types;
    bool rooted; /* names begin with a slash, which need not be typed */
} ast_member_words;

/* The member called `wanted`, or the only one that can be points if `wanted` is NULL; otherwise the sentence lists
 * those that are there. */
bool ast_members_choose(const ast_members *members, const char *wanted, const ast_member_words *words, const char *name,
                        const ast_member **found, ast_format_error *error);
void ast_members_free(ast_members *members);

#endif
