/* SPDX-License-Identifier: MIT
 *
 * Rows for one thread, in memory or of a source. Rows of a source are read by the thread that needs them, a whole chunk
 * or some rows of it, and are checked and normalised by the same code as rows in memory. A row that was missing when it
 * was first read stays missing. */
#include "rowset.h"

#include "memory.h"
#include "sparse.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define NEAR                                                                                                           \
    4 /* up to this distance, the rows between two listed ones are read too: that is cheaper than a separate call */
#define MANY 4 /* if more than one row in MANY is listed, the whole chunk is read */

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static bool open_fetched(ast_fetched_chunk *fetched, const ast_rowset *rows) {
    const ast_source *source = rows->reader->source;
    bool raw = rows->small || source->type != AST_F4;
    fetched->first = SIZE_MAX;
    fetched->raw = raw ? ast_allocate(rows->chunk * rows->dimension, ast_type_size(source->type)) : NULL;
    return ast_replace_arrays(AST_REQUEST(fetched->have, rows->chunk), AST_REQUEST(fetched->kinds, rows->chunk)) &&
           (!rows->small || ast_rowset_open_part(&fetched->part, rows->kernels, rows->dimension, rows->chunk)) &&
           (!raw || fetched->raw);
}

bool ast_row_buffer_open(ast_row_buffer *b, const ast_rowset *rows) {
    assert(rows->chunk > 0 && rows->chunk % AST_BLOCK == 0);
    size_t n = rows->chunk + AST_BLOCK;
    bool dense = !rows->small && !rows->sparse, copies = dense && (rows->reader || !rows->in_place);
    b->memory = copies ? ast_allocate(rows->chunk * rows->dimension, sizeof *b->memory) : NULL;
    return ast_replace_arrays(AST_REQUEST(b->row, rows->dimension), AST_REQUEST(b->canonical, rows->dimension),
                              AST_REQUEST(b->loaded, dense ? n : 0), AST_REQUEST(b->entries, rows->sparse ? n : 0)) &&
           (!copies || b->memory) && (!rows->reader || open_fetched(&b->fetched, rows));
}

void ast_row_buffer_free(ast_row_buffer *b) {
    ast_free_all(b->row, b->canonical, b->memory, b->loaded, b->entries, b->fetched.have, b->fetched.raw,
                 b->fetched.kinds, b->fetched.part.columns);
    *b = (ast_row_buffer){0};
}

/* ---- A source ---------------------------------------------------------------------------------------------------- */

void ast_reader_note_fault(ast_reader *reader, size_t row, ast_row_fault fault) {
    ast_keep_least(&reader->fault, (uint64_t)row << 3 | fault);
    atomic_store(reader->stop, true);
}

ast_status ast_reader_status(ast_reader *reader, ast_fault *fault) {
    uint64_t first = atomic_load(&reader->fault);
    size_t row = (size_t)(first >> 3) + 1;
    if (first == UINT64_MAX)
        return AST_OK;
    switch ((ast_row_fault)(first & 7)) {
    case AST_INFINITE_ROW:
        return ast_fail_infinite(fault, row);
    case AST_CHANGED_ROW:
        return ast_fail_row(fault, AST_BAD_DATA, row, "is not what it was: the points changed while they were read");
    case AST_LABELS_UNSTORED:
        return ast_fail(fault, AST_NO_INPUT, "the labels from row %zu (counting from 1) on could not be kept", row);
    default:
        return ast_fail_row(fault, AST_NO_INPUT, row, "could not be read");
    }
}

static ast_points view_of(const ast_source *source, const void *rows, size_t count) {
    return ast_points_dense(rows, source->type, ast_type_size(source->type), count, source->dimension);
}

/* Reads rows by their number among all rows. If they cannot be read they become zero, and the run stops. */
static void read_rows(ast_reader *reader, size_t first, size_t count, void *rows) {
    const ast_source *source = reader->source;
    atomic_fetch_add_explicit(&reader->read, count, memory_order_relaxed);
    if (!atomic_load(reader->stop) && source->read(first, count, rows, source->data) == 0)
        return;
    memset(rows, 0, count * source->dimension * ast_type_size(source->type));
    if (!atomic_load(reader->stop))
        ast_reader_note_fault(reader, first, AST_UNREAD);
}

static void check_row(const ast_rowset *rows, size_t i, ast_row_kind kind) {
    ast_reader *reader = rows->reader;
    if (kind == AST_ROW_INFINITE)
        ast_reader_note_fault(reader, rows->offset + i, AST_INFINITE_ROW);
    if (kind != AST_ROW_MISSING || reader->labels[i] == AST_MISSING)
        return;
    if (reader->labels[i] != AST_UNLABELLED && !atomic_load(reader->stop))
        ast_reader_note_fault(reader, rows->offset + i, AST_CHANGED_ROW);
    reader->labels[i] = AST_MISSING;
    atomic_fetch_add_explicit(&reader->missing, 1, memory_order_relaxed);
}

static size_t first_point(const ast_rowset *rows, const ast_fetched_chunk *fetched) {
    return fetched->first - rows->offset;
}

static size_t rows_here(const ast_rowset *rows, const ast_fetched_chunk *fetched) {
    size_t left = rows->count - first_point(rows, fetched);
    return left < rows->chunk ? left : rows->chunk;
}

/* Large: reads rows j..j+n-1 of the current chunk. Most are floats of length 1 and need no normalisation. */
static void fetch_rows(const ast_rowset *rows, ast_row_buffer *b, size_t j, size_t n) {
    assert(n > 0 && j + n <= rows_here(rows, &b->fetched));
    ast_fetched_chunk *fetched = &b->fetched;
    size_t dimension = rows->dimension;
    float *first = b->memory + j * dimension;
    void *raw = fetched->raw ? fetched->raw : first;
    read_rows(rows->reader, fetched->first + j, n, raw);
    ast_points view = view_of(rows->reader->source, raw, n);
    for (size_t r = 0; r < n; r++) {
        float *row = first + r * dimension;
        fetched->have[j + r] = 1;
        if (!fetched->raw && fabs(rows->kernels->squared_length(row, dimension) - 1) < AST_UNIT_TOLERANCE - 0x1p-36)
            continue;
        check_row(rows, first_point(rows, fetched) + j + r, ast_read_row(&view, r, row));
    }
}

/* Small: reads the whole chunk into columns. */
static void fetch_columns(const ast_rowset *rows, ast_fetched_chunk *fetched) {
    size_t n = rows_here(rows, fetched), base = first_point(rows, fetched);
    read_rows(rows->reader, fetched->first, n, fetched->raw);
    ast_points view = view_of(rows->reader->source, fetched->raw, n);
    size_t infinite = ast_rowset_load_part(&fetched->part, &view, fetched->kinds);
    if (infinite < n)
        check_row(rows, base + infinite, AST_ROW_INFINITE);
    for (size_t j = 0; j < n; j++)
        if (fetched->kinds[j] == AST_MISSING)
            check_row(rows, base + j, AST_ROW_MISSING);
}

/* Reads one point, of any chunk, into b->row. */
static ast_row_kind fetch_one(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    void *raw = b->fetched.raw ? b->fetched.raw : b->row;
    read_rows(rows->reader, rows->offset + i, 1, raw);
    ast_points view = view_of(rows->reader->source, raw, 1);
    return ast_read_row(&view, 0, b->row);
}

static const float *source_row(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    ast_fetched_chunk *fetched = &b->fetched;
    size_t row = rows->offset + i;
    if (fetched->first == SIZE_MAX || row < fetched->first || row - fetched->first >= rows->chunk) {
        check_row(rows, i, fetch_one(rows, b, i));
        return b->row;
    }
    size_t j = row - fetched->first;
    if (rows->small) {
        ast_rows_fetch(rows, b);
        return ast_rowset_row(&fetched->part, j, b->row);
    }
    if (!fetched->have[j])
        fetch_rows(rows, b, j, 1);
    return b->memory + j * rows->dimension;
}

/* ---- Either ------------------------------------------------------------------------------------------------------ */

void ast_rows_begin(const ast_rowset *rows, ast_row_buffer *b, size_t base) {
    b->is_loaded = false;
    if (!rows->reader)
        return;
    assert(base % rows->chunk == 0 && base < rows->count);
    b->fetched.first = rows->offset + base;
    b->fetched.fetched_all = false;
    memset(b->fetched.have, 0, rows->chunk);
}

void ast_rows_fetch(const ast_rowset *rows, ast_row_buffer *b) {
    if (!rows->reader || b->fetched.fetched_all)
        return;
    b->fetched.fetched_all = true;
    if (rows->small) {
        fetch_columns(rows, &b->fetched);
        return;
    }
    const uint8_t *have = b->fetched.have;
    for (size_t j = 0, end, n = rows_here(rows, &b->fetched); j < n;
         j = end) { /* runs of rows that were not read yet */
        for (end = j; end < n && have[end] == have[j]; end++)
            ;
        if (!have[j])
            fetch_rows(rows, b, j, end - j);
    }
}

void ast_rows_fetch_listed(const ast_rowset *rows, ast_row_buffer *b, const uint32_t *list, size_t n) {
    if (!rows->reader || rows->small || b->fetched.fetched_all)
        return;
    if (n > rows->chunk / MANY) {
        ast_rows_fetch(rows, b);
        return;
    }
    for (size_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && list[last] - list[last - 1] <= NEAR; last++)
            ;
        fetch_rows(rows, b, list[first], list[last - 1] - list[first] + 1);
    }
}

const float *ast_rows_at(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    return rows->reader ? source_row(rows, b, i) : ast_rowset_row(rows, i, b->row);
}

const float *ast_rows_canonical(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    const float *row = ast_rows_at(rows, b, i);
    if (!rows->axial || !ast_is_noncanonical(row, rows->dimension))
        return row;
    memcpy(b->canonical, row, rows->dimension * sizeof *row);
    ast_negate(b->canonical, rows->dimension);
    return b->canonical;
}

const float *ast_rows_keep(const ast_rowset *rows, ast_row_buffer *b, size_t i, size_t j) {
    if (rows->reader)
        return source_row(rows, b, i);
    return ast_rowset_row(rows, i, rows->in_place ? NULL : b->memory + j * rows->dimension);
}

void ast_rows_load_chunk(const ast_rowset *rows, ast_row_buffer *b, const int32_t *labels, size_t base) {
    if (b->is_loaded || rows->sparse)
        return;
    ast_rows_fetch(rows, b);
    for (size_t j = 0; j < rows->chunk; j++)
        if (labels[base + j] != AST_MISSING)
            b->loaded[j] = ast_rows_keep(rows, b, base + j, j);
    b->is_loaded = true;
}

double ast_rows_exact_score(const ast_rowset *rows, ast_row_buffer *b, size_t i, const float *mean) {
    if (!rows->sparse)
        return ast_exact_score(ast_rows_at(rows, b, i), mean, rows->dimension);
    ast_sparse_row entries = ast_rowset_entries(rows, i);
    return ast_sparse_exact_score(&entries, mean);
}

void ast_rows_exact_scores(const ast_rowset *rows, ast_row_buffer *b, size_t i, const ast_mean_table *table,
                           double *scores) {
    if (!rows->sparse) {
        ast_exact_scores(ast_rows_at(rows, b, i), table, scores);
        return;
    }
    ast_sparse_row entries = ast_rowset_entries(rows, i);
    ast_sparse_exact_scores(&entries, table, scores);
}

/* Reads the whole chunk of point i. */
static void fetch_chunk_of(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    if (!rows->reader)
        return;
    if (b->fetched.first != rows->offset + i / rows->chunk * rows->chunk)
        ast_rows_begin(rows, b, i / rows->chunk * rows->chunk);
    ast_rows_fetch(rows, b);
}

double ast_rows_in_order_score(const ast_rowset *rows, ast_row_buffer *b, size_t i, const float *mean) {
    fetch_chunk_of(rows, b, i);
    return ast_rows_exact_score(rows, b, i, mean);
}

double ast_rows_in_order_dot(const ast_rowset *rows, ast_row_buffer *b, size_t i, const float *mean) {
    fetch_chunk_of(rows, b, i);
    if (!rows->sparse)
        return rows->kernels->reproducible_dot(ast_rows_at(rows, b, i), mean, rows->dimension);
    ast_sparse_row entries = ast_rowset_entries(rows, i);
    return ast_sparse_reproducible_dot(&entries, mean);
}

const float *ast_rows_in_order_at(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    fetch_chunk_of(rows, b, i);
    return ast_rows_at(rows, b, i);
}

ast_row_kind ast_rows_kind(const ast_rowset *rows, ast_row_buffer *b, size_t i) {
    ast_row_scale scale;
    size_t r = rows->order ? rows->order[i] : i;
    if (rows->reader)
        return fetch_one(rows, b, i);
    return rows->sparse ? ast_sparse_row_scale(&rows->view, r, &scale) : ast_read_row(&rows->view, r, b->row);
}
