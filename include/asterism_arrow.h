/* SPDX-License-Identifier: MIT
 *
 * Points from Arrow arrays by the C data interface, which is two plain structs: whoever produces them (DuckDB, polars,
 * pyarrow, nanoarrow) and this library need not know each other.
 *
 *     ast_points_arrow(&rows, context, &schema, chunks, chunk_count, "embedding", &points, NULL);
 *     ast_cluster(context, &points, &options, labels, &report);
 *     ast_arrow_close(rows);                       // and release the arrays, which stay the caller's
 *
 * The rules at the head of asterism.h apply. */
#ifndef ASTERISM_ARROW_H
#define ASTERISM_ARROW_H

#include "asterism.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As https://arrow.apache.org/docs/format/CDataInterface.html prints them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

/* Rows that were read from Arrow arrays. */
typedef struct ast_arrow ast_arrow;

/* Reads the chunks of one column: lists, large lists or lists of fixed size, of floats of 2, 4 or 8 bytes or integers
 * of 1 byte, all of one length. A list that is null, empty or holds a null is a missing row. `schema` is that of the
 * column (then `column` is NULL) or that of a struct, such as a record batch. Then `column` is the name of one of its
 * fields, or NULL if only one field holds lists of numbers. Rows are numbered through all chunks, in their order.
 *
 * `points` (or NULL) receives a view of all rows. If no row is missing and all rows are contiguous in memory, also from
 * chunk to chunk, nothing is copied; otherwise the rows are copied into memory of *rows. `source` (or NULL) receives
 * the same rows for ast_cluster_source, which copies only a part at a time, however many chunks there are. If rows of
 * integers are missing, both have the type AST_F4.
 *
 * Schema and chunks must outlive *rows, which must outlive both views. AST_BAD_DATA: a column of this type cannot be
 * read, or the arrays do not agree with the schema; the message names the column or the row, and *rows is NULL. */
AST_API ast_status ast_points_arrow(ast_arrow **rows, ast_context *context, const struct ArrowSchema *schema,
                                    const struct ArrowArray *const *chunks, size_t chunk_count, const char *column,
                                    ast_points *points, ast_source *source);

/* 1: the points are in memory of *rows, so that schema and chunks may be released if no source is in use. */
AST_API int ast_arrow_copied(const ast_arrow *rows);

AST_API void ast_arrow_close(ast_arrow *rows); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif
