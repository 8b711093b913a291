/* SPDX-License-Identifier: MIT
 *
 * The points of a run: unit vectors in float, in the order in which they are visited, for every type and layout of the
 * caller's rows.
 *
 * Dimensions 2..4 ("small") are copied into columns. Larger rows are read from the caller's memory, and are normalised
 * on every read unless they are unit vectors, so that memory does not grow with the dimension. Sparse rows are
 * normalised once, entry by entry (sparse_rows.h). Rows of an ast_source are read when a thread needs them (reader.c).
 * The functions with an ast_row_buffer work for all of these; other rooms use only them. */
#pragma once

#include "asterism.h"
#include "fault.h"
#include "kernels.h"
#include "pool.h"
#include "sparse_rows.h"

#include <math.h>
#include <stdatomic.h>

#define AST_MOST_DIMENSION 4096 /* of dense rows */
#define AST_MAX_DIMENSION 5056  /* of rows in buffers: features of 100 axes are 5050 */

#define AST_MISSING (-1)    /* label of a row that has no direction or is left out */
#define AST_UNLABELLED (-2) /* label of a point before the first pass */

/* Extra floats between arrays over points that are read together, so that the same point of two arrays does not map to
 * the same cache set. */
#define AST_STAGGER 192

/* Why a row of a source cannot be used. */
typedef enum ast_row_fault { AST_UNREAD = 1, AST_CHANGED_ROW, AST_INFINITE_ROW, AST_LABELS_UNSTORED } ast_row_fault;

/* The state of a source whose rows are read when they are needed. */
typedef struct ast_reader {
    const ast_source *source;
    int32_t *labels;       /* labels of the rows in the window: a missing row is marked when it is first read */
    _Atomic bool *stop;    /* set at the first fault: reading ends */
    _Atomic uint64_t read; /* number of rows read so far */
    _Atomic size_t missing;
    _Atomic uint64_t fault; /* row << 3 | ast_row_fault of the first bad row; UINT64_MAX: none */
} ast_reader;

/* The state of a block of small points. */
enum {
    AST_BLOCK_UNREAD,   /* neither columns nor labels are set */
    AST_BLOCK_IN_PLACE, /* its rows are unit vectors or holes, and are used from the caller's memory */
    AST_BLOCK_COLUMNS   /* its columns are filled */
};

/* The progress and the findings of loading. */
typedef struct ast_loading {
    int32_t *labels;   /* (padded) */
    bool due;          /* blocks are loaded when a pass first needs them */
    size_t first_task; /* of the present run of tasks */
    bool partial;      /* small: some blocks may not have columns */
    uint8_t *blocks;   /* (padded / AST_BLOCK) while `partial` */
    size_t capacity;   /* blocks that `blocks` has memory for */
    _Atomic size_t scaled;
    _Atomic uint64_t infinite;    /* the smallest row with an infinity, or the number of rows */
    char apart[64];               /* keeps the counts on a different cache line from what all threads read often */
    _Atomic size_t missing, late; /* late: late rows with a direction */
    char behind[64];
} ast_loading;

typedef struct ast_rowset {
    const ast_kernels *kernels;
    size_t count, padded, dimension; /* padded: a multiple of the chunk */
    size_t chunk, chunks;            /* points per chunk, which are scored together; number of chunks */
    size_t pitch;                    /* small: floats from one column to the next */
    ast_points view;
    size_t offset;         /* number of rows before the first one, of other ranks or windows */
    size_t missing;        /* rows in memory: number of missing rows of all ranks */
    const uint8_t *late;   /* (count) by row, as in ast_points, or NULL; late rows are labelled AST_MISSING */
    const uint32_t *order; /* (count) the row that is visited i-th; NULL: order of rows */
    const double *weights; /* (count) in order of visit, divided by the smallest; NULL: all 1 */
    bool axial;            /* x and -x are the same (docs/axial.md) */
    bool small;            /* stored as columns */
    bool tight;            /* rows are adjacent floats in the caller's memory */
    bool scaled;           /* some row is not a unit vector in the caller's memory */
    bool in_place;         /* large: rows are used from the caller's memory */
    bool sparse;           /* large: rows are in `entries`; tight, scaled and in_place are false */
    ast_sparse_rows entries;
    float *columns;  /* small: (D, pitch) */
    size_t capacity; /* floats that `columns` has memory for */
    const float *column[AST_SMALL];
    ast_reader *reader; /* NULL: the rows are in memory */
    ast_loading loading;
} ast_rowset;

/* Loads the points and checks every row. The rowset is zeroed memory, or one used before, whose memory is reused.
 * labels (padded) become AST_UNLABELLED, or AST_MISSING for missing rows and for the padding. */
ast_status ast_rowset_load(ast_rowset *rows, ast_pool *pool, const ast_points *points, size_t padded, int32_t *labels,
                           ast_fault *fault);
void ast_rowset_free(ast_rowset *rows);

/* The same in steps, for small dense rows. Between ast_rowset_begin and ast_rowset_end each block is loaded once, by
 * any thread: as columns (ast_rowset_need_columns), or in place (ast_rowset_note_labelled). ast_rowset_end loads the
 * other blocks from block `first` on, and fails if a row with an infinity was found. */
ast_status ast_rowset_begin(ast_rowset *rows, const ast_points *points, size_t padded, int32_t *labels,
                            ast_fault *fault);
ast_status ast_rowset_end(ast_rowset *rows, ast_pool *pool, size_t first, ast_fault *fault);
bool ast_rowset_is_finite(const ast_rowset *rows); /* so far */

/* ast_rowset_need_columns fills the columns of small points first..last-1, which only one thread uses at a time;
 * ast_rowset_fill fills the columns of all points. */
void ast_rowset_need_columns(ast_rowset *rows, size_t first, size_t last);
void ast_rowset_fill(ast_rowset *rows, ast_pool *pool);

/* ast_rowset_packed returns the packed rows (AST_BLOCK, 3) of an unread block, followed by at least one float; NULL:
 * the block needs columns. ast_rowset_note_labelled notes that blocks first + i, for each bit i, were labelled in
 * place, with the number of their holes and of their late rows with a direction. */
const float *ast_rowset_packed(const ast_rowset *rows, size_t block);
void ast_rowset_note_labelled(ast_rowset *rows, size_t first, uint32_t blocks, size_t holes, size_t late);

/* Points per chunk for a dimension. */
size_t ast_chunk_size(size_t dimension);

/* A reusable rowset of up to `padded` small points. ast_rowset_open_part allocates it; false: no memory.
 * ast_rowset_load_part fills its columns from a view, and labels (padded) as above; it returns the first row with an
 * infinity, or view->count. */
bool ast_rowset_open_part(ast_rowset *part, const ast_kernels *kernels, size_t dimension, size_t padded);
size_t ast_rowset_load_part(ast_rowset *part, const ast_points *view, int32_t *labels);

/* Rows in memory. ast_rowset_row returns the i-th point, in place or in the buffer (D floats); it must not be missing.
 * ast_rowset_copy copies points. ast_rowset_entries returns the entries of a sparse point. */
const float *ast_rowset_row(const ast_rowset *rows, size_t i, float *buffer);
void ast_rowset_copy(const ast_rowset *rows, size_t first, size_t count, float *to); /* (count, D) */
ast_sparse_row ast_rowset_entries(const ast_rowset *rows, size_t i);

/* Normalises row r of the view, dense or sparse, into `row` (D floats). */
ast_row_kind ast_read_row(const ast_points *view, size_t r, float *row);

/* Whether the rows of a view are adjacent floats; then, of D = 3: the same as ast_read_row. */
bool ast_has_tight_floats(const ast_points *view);
static inline ast_row_kind ast_read_tight_row(const ast_points *view, size_t r, float *row) {
    const float *from = (const float *)(const void *)((const char *)view->data + (ptrdiff_t)r * view->row_stride);
    double x = (double)from[0], y = (double)from[1], z = (double)from[2], squared = x * x + y * y + z * z;
    for (int d = 0; d < 3; d++)
        row[d] = from[d];
    if (fabs(squared - 1) <= AST_UNIT_TOLERANCE)
        return AST_ROW_UNIT;
    if (!(squared > 0 && squared < INFINITY)) /* squares of floats do not overflow */
        return squared == INFINITY ? AST_ROW_INFINITE : AST_ROW_MISSING;
    double length = sqrt(squared);
    row[0] = (float)(x / length);
    row[1] = (float)(y / length);
    row[2] = (float)(z / length);
    return AST_ROW_SCALED;
}

/* digest.c: a hash of rows and their weights; the first row has number `offset` among all rows. The sum of the hashes
 * of all parts is the hash of the whole, however the rows are divided and laid out in memory. Sparse rows must have
 * been checked. */
uint64_t ast_digest(const ast_points *points, size_t offset, ast_pool *pool);

/* ---- rows for one thread, wherever they are ---- */

/* Of a source: the rows of the current chunk that a thread has read. */
typedef struct ast_fetched_chunk {
    size_t first;     /* number of the chunk's first row; SIZE_MAX: nothing was read */
    bool fetched_all; /* every row of the chunk was read */
    uint8_t *have;    /* large: (chunk) 1 if the row is in the buffer's memory */
    void *raw;        /* (chunk, D) rows as read, if they are not floats */
    int32_t *kinds;   /* small: (chunk) AST_MISSING for missing rows */
    ast_rowset part;  /* small: the chunk's columns */
} ast_fetched_chunk;

typedef struct ast_row_buffer {
    float *row;           /* (D) */
    float *canonical;     /* (D) axial: a row with its canonical sign */
    float *memory;        /* large, if rows are not in place: (chunk, D) */
    const float **loaded; /* large: (chunk) every row of the chunk, if `is_loaded` */
    bool is_loaded;
    ast_sparse_row *entries; /* sparse: (chunk) */
    ast_fetched_chunk fetched;
} ast_row_buffer;

bool ast_row_buffer_open(ast_row_buffer *buffer, const ast_rowset *rows); /* false: no memory */
void ast_row_buffer_free(ast_row_buffer *buffer);

/* Makes the chunk that starts at point `base` the current one. */
void ast_rows_begin(const ast_rowset *rows, ast_row_buffer *buffer, size_t base);

/* Read all rows of the current chunk, or n listed ones (indices into the chunk, increasing), so that rows of a source
 * are read together. Do nothing for rows in memory. */
void ast_rows_fetch(const ast_rowset *rows, ast_row_buffer *buffer);
void ast_rows_fetch_listed(const ast_rowset *rows, ast_row_buffer *buffer, const uint32_t *list, size_t n);

/* Sets `loaded` for every row of the current chunk that is not missing (large, dense). */
void ast_rows_load_chunk(const ast_rowset *rows, ast_row_buffer *buffer, const int32_t *labels, size_t base);

/* Point i as a row, until the next one is asked for. ast_rows_canonical: an axial row with a positive first non-zero
 * component, in buffer->canonical if it had to be negated. ast_rows_keep: the row stays valid with the chunk; it is
 * copied, if necessary, to the memory of point j of the chunk. */
const float *ast_rows_at(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);
const float *ast_rows_canonical(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);
const float *ast_rows_keep(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, size_t j);

/* Exact scores of point i with one mean and with a table of means. ast_rows_in_order_* are for callers that visit
 * many points in order: they read whole chunks. ast_rows_in_order_dot is the product with the same bits in every table
 * of kernels (reproducible_dot), faster than the exact score. */
double ast_rows_exact_score(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const float *mean);
void ast_rows_exact_scores(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const ast_mean_table *table,
                           double *scores);
double ast_rows_in_order_score(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const float *mean);
double ast_rows_in_order_dot(const ast_rowset *rows, ast_row_buffer *buffer, size_t i, const float *mean);
const float *ast_rows_in_order_at(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);

/* Reads the row of point i again and returns its kind; a dense row is then in buffer->row. */
ast_row_kind ast_rows_kind(const ast_rowset *rows, ast_row_buffer *buffer, size_t i);

/* Small: component d of point i and of the points after it, in the current chunk, which must have been fetched. */
static inline const float *ast_rows_column(const ast_rowset *rows, const ast_row_buffer *buffer, size_t d, size_t i) {
    return rows->reader ? buffer->fetched.part.column[d] + (rows->offset + i - buffer->fetched.first)
                        : rows->column[d] + i;
}

/* Records a fault of a row of a source, and ends reading. */
void ast_reader_note_fault(ast_reader *reader, size_t row, ast_row_fault fault);

/* AST_OK, or fails with the fault of the first bad row. */
ast_status ast_reader_status(ast_reader *reader, ast_fault *fault);

/* Axial signs. The canonical sign of a row makes its first non-zero component positive. The sign of a mean makes its
 * component of largest magnitude positive. */
bool ast_is_noncanonical(const float *row, size_t dimension);
void ast_mean_make_largest_positive(float *mean, size_t dimension);
void ast_negate(float *vector, size_t dimension);
