/* SPDX-License-Identifier: MIT
 *
 * The points of a run: unit vectors in float, in the order in which they are visited, whatever the caller gave.
 *
 * Dimensions 2..4 ("small") are copied into columns. Larger rows are read where the caller has them, and normalised on
 * every reading unless they are unit vectors already, so that memory does not grow with the dimension. Sparse rows are
 * normalised once, entry by entry (sparse_rows.h). Rows of an ast_source are read when a thread asks for them
 * (reader.c). The functions over an ast_row_buffer hide which of these it is: they are the way in for every other room.
 */
#ifndef AST_ROWSET_H
#define AST_ROWSET_H

#include "asterism.h"
#include "fault.h"
#include "kernels.h"
#include "pool.h"
#include "sparse_rows.h"

#include <stdatomic.h>

#define AST_MAX_DIMENSION 4096 /* of dense rows */

#define AST_MISSING (-1)    /* label of a row without a direction, or that takes no part */
#define AST_UNLABELLED (-2) /* label of a point before the first pass */

/* Arrays over points that are read side by side start this many floats past a multiple of each other's size, so that
 * the same point of each does not fall into the same set of the cache. */
#define AST_STAGGER 192

/* Why rows of a source could not be used. */
typedef enum ast_row_fault { AST_UNREAD = 1, AST_CHANGED_ROW, AST_INFINITE_ROW, AST_LABELS_UNSTORED } ast_row_fault;

/* Rows that are read when they are needed. */
typedef struct ast_reader {
    const ast_source *source;
    int32_t *labels;       /* of the rows at hand: a missing row is marked when it is first read */
    _Atomic bool *stop;    /* set with the first fault: reading ends */
    _Atomic uint64_t read; /* rows so far */
    _Atomic size_t missing;
    _Atomic uint64_t fault; /* row << 3 | ast_row_fault, of the first row; UINT64_MAX: none */
} ast_reader;

/* What is there of a block of small points. */
enum {
    AST_BLOCK_UNREAD,   /* nothing: its labels are not set either */
    AST_BLOCK_IN_PLACE, /* its rows are unit vectors or holes, and are used where the caller has them */
    AST_BLOCK_COLUMNS   /* its columns */
};

/* What loading has found of the rows so far. */
typedef struct ast_loading {
    int32_t *labels; /* (padded) */
    bool due;        /* blocks are loaded when a pass first comes to them */
    bool partial;    /* small: there may be blocks without columns */
    uint8_t *blocks; /* (padded / AST_BLOCK) while `partial` */
    size_t capacity; /* blocks that there is memory for */
    _Atomic size_t scaled;
    _Atomic size_t infinite;      /* the smallest row with an infinity, or the number of rows */
    char apart[64];               /* counts are on another cache line than what all threads read all the time */
    _Atomic size_t missing, late; /* late: those with a direction */
    char behind[64];
} ast_loading;

typedef struct ast_rowset {
    const ast_kernels *kernels;
    size_t count, padded, dimension; /* padded: a multiple of the chunk */
    size_t chunk, chunks;            /* points that are scored together; number of chunks */
    size_t pitch;                    /* small: from one column to the next */
    ast_points view;
    size_t offset;         /* number of rows before the first one: those of other ranks or windows */
    size_t missing;        /* rows in memory: missing ones, of all ranks */
    const uint8_t *late;   /* (count) by row, as in ast_points, or NULL: such rows are AST_MISSING */
    const uint32_t *order; /* (count) the row that is visited i-th; NULL: as given */
    const double *weights; /* (count) in order of visit, divided by the smallest; NULL: all 1 */
    bool axial;            /* x and -x are the same (docs/axial.md) */
    bool small;            /* held as columns */
    bool tight;            /* rows are adjacent floats in the caller's memory */
    bool scaled;           /* some row is not a unit vector there */
    bool in_place;         /* large: rows can be used where they are */
    bool sparse;           /* large: rows are in `entries`; none of the three above */
    ast_sparse_rows entries;
    float *columns;  /* small: (D, pitch) */
    size_t capacity; /* floats that there is memory for */
    const float *column[AST_SMALL];
    ast_reader *reader; /* NULL: the rows are in memory */
    ast_loading loading;
} ast_rowset;

/* Loads the points and checks every row. The rowset is zeroed memory, or one used before, whose memory is reused.
 * labels (padded) become AST_UNLABELLED, or AST_MISSING for missing rows and for the padding. */
ast_status ast_rowset_load(ast_rowset *rows, ast_pool *pool, const ast_points *points, size_t padded, int32_t *labels,
                           ast_fault *fault);
void ast_rowset_free(ast_rowset *rows);

/* The same in parts, for small dense rows. Between the begin and the end every block is loaded once, by any one thread:
 * as columns, or by whoever labels it in place, and says how many holes and late rows that many blocks had. The end
 * loads what is left from block `first` on. A row with an infinity, if one is found, is the end's to tell of. */
ast_status ast_rowset_begin(ast_rowset *rows, const ast_points *points, size_t padded, int32_t *labels,
                            ast_fault *fault);
ast_status ast_rowset_end(ast_rowset *rows, ast_pool *pool, size_t first, ast_fault *fault);
bool ast_rowset_is_finite(const ast_rowset *rows); /* so far */

/* Sees to the columns of small points first..last-1, which are of one thread at a time; and of all of them. */
void ast_rowset_need_columns(ast_rowset *rows, size_t first, size_t last);
void ast_rowset_fill(ast_rowset *rows, ast_pool *pool);

/* The packed rows (AST_BLOCK, 3) of a block that nobody has read, with a float behind them, or NULL: they have to
 * become columns. Then: blocks first + i were labelled where they are, for each bit i; together they had so many holes,
 * and so many late rows with a direction. */
const float *ast_rowset_packed(const ast_rowset *rows, size_t block);
void ast_rowset_labelled(ast_rowset *rows, size_t first, uint32_t blocks, size_t holes, size_t late);

/* Points in a chunk, by dimension. */
size_t ast_chunk_size(size_t dimension);

/* A block of small points that is loaded again and again, with memory for `padded` of them (false: no memory). Each
 * view becomes the columns; labels (padded) as above. Returns the first row with an infinity, or view->count. */
bool ast_rowset_open_part(ast_rowset *part, const ast_kernels *kernels, size_t dimension, size_t padded);
size_t ast_rowset_load_part(ast_rowset *part, const ast_points *view, int32_t *labels);

/* Rows in memory: the i-th point as a row, in place or in the buffer (D floats); the point must not be missing. Sparse
 * rows: the entries of the i-th point. */
const float *ast_rowset_row(const ast_rowset *rows, size_t i, float *buffer);
void ast_rowset_copy(const ast_rowset *rows, size_t first, size_t count, float *to); /* (count, D) */
ast_sparse_row ast_rowset_entries(const ast_rowset *rows, size_t i);

/* Normalises row r of the view, dense or sparse, into `row` (D floats). */
ast_row_kind ast_read_row(const ast_points *view, size_t r, float *row);

/* digest.c: one number for rows `offset` and on of all, with their weights. The digests of parts add up to that of the
 * whole, whoever has which rows and however they lie in memory. Sparse rows must have been checked. */
uint64_t ast_digest(const ast_points *points, size_t offset, ast_pool *pool);

/* ---- rows for one thread, wherever they are ---- */

/* Of a source: what a thread has read of the chunk at hand. */
typedef struct ast_hold {
    size_t first;     /* the number of the chunk's first row; SIZE_MAX: nothing was read */
    bool fetched_all; /* every row of the chunk was read */
    uint8_t *have;    /* large: (chunk) the row is in the buffer's memory */
    void *raw;        /* (chunk, D) as read, where rows are not floats that can be used as they are */
    int32_t *kinds;   /* small: (chunk) AST_MISSING for missing rows */
    ast_rowset part;  /* small: the chunk's columns */
} ast_hold;

typedef struct ast_row_buffer {
    float *row;           /* (D) */
    float *canonical;     /* (D) axial: a row turned to its canonical side */
    float *memory;        /* large, where rows are not in place: (chunk, D) */
    const float **loaded; /* large: (chunk) every row of the chunk, where `is_loaded` */
    bool is_loaded;
    ast_sparse_row *entries; /* sparse: (chunk) */
    ast_hold hold;
} ast_row_buffer;

bool ast_row_buffer_open(ast_row_buffer *buffer, const ast_rowset *rows); /* false: no memory */
void ast_row_buffer_free(ast_row_buffer *buffer);

/* Makes the chunk that starts at point `base` the one at hand. */
void ast_rows_begin(const ast_rowset *rows, ast_row_buffer *buffer, size_t base);

/* Reads the chunk at hand as a whole, or n listed points of it (indices into the chunk, increasing), before they are
 * looked at, so that rows of a source are read together. Rows in memory need nothing. */
void ast_rows_fetch(const ast_rowset *rows, ast_row_buffer *buffer);
void ast_rows_fetch_listed(const ast_rowset *rows, ast_row_buffer *buffer, const uint32_t *list, size_t n);

/* Points `loaded` at every row of the chunk at hand that is not missing (large, dense). */
void ast_rows_load(const ast_rowset *rows, ast_row_buffer *buffer, const int32_t *labels, size_t base);

/* Point i as a row; ast_rows_canonical: axial rows turned so that their first non-zero component is positive, in
 * buffer->canonical if that had to be done; ast_rows_slot: in the place that point j of the chunk has in memory. */
const float *ast_rows_at(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);
const float *ast_rows_canonical(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);
const float *ast_rows_slot(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, size_t j);

/* Scores of point i by definition, with one mean and with a table of means; and the product in eight partial sums (the
 * kernels' steady_dot). ast_rows_walk_* are for callers that visit many points in order. */
double ast_rows_exact_score(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const float *mean);
void ast_rows_exact_scores(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const ast_mean_table *table,
                           double *scores);
double ast_rows_sequential_score(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const float *mean);
double ast_rows_sequential_dot(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const float *mean);
const float *ast_rows_sequential_at(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);

/* What the row of point i is, whatever its label says; dense rows are left in buffer->row. */
ast_row_kind ast_rows_kind(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);

/* Small: component d of point i and of those after it, in the chunk at hand, which was fetched. */
static inline const float *ast_rows_column(const ast_rowset *rows, const ast_row_buffer *buffer, size_t d, size_t i) {
    return rows->reader ? buffer->hold.part.column[d] + (rows->offset + i - buffer->hold.first) : rows->column[d] + i;
}

/* Notes what is wrong with a row of a source, and ends reading. */
void ast_reader_note(ast_reader *reader, size_t row, ast_row_fault fault);

/* AST_OK, or the sentence on the first row that could not be used. */
ast_status ast_reader_status(ast_reader *reader, ast_fault *fault);

/* Axial. A row is looked at from the side on which its first non-zero component is positive ("canonical"); a mean is
 * returned on the side on which its component of largest magnitude is positive. */
bool ast_is_noncanonical(const float *row, size_t dimension);
void ast_mean_choose_sign(float *mean, size_t dimension);
void ast_negate(float *vector, size_t dimension);

#endif
