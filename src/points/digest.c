/* SPDX-License-Identifier: MIT
 *
 * A hash of points as the caller stores them, over every bit of every row. The words of a row are added to the hash of
 * the row one after the other by an invertible step, so rows that differ in one word have different hashes. The hashes
 * of the rows are summed. It detects another file or a changed one, not forgery. */
#include "rowset.h"

#include "checksum.h"
#include "random.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define ROWS 1024  /* rows per task */
#define PIECE 2048 /* bytes */

typedef struct digest {
    const ast_points *points;
    size_t offset;
    size_t size; /* bytes per element */
    bool tight;  /* the elements of a row are adjacent */
    _Atomic uint64_t sum;
} digest;

/* A row is hashed in pieces, so that elements that are not adjacent can be copied together first. */
static uint64_t fold_row(uint64_t hash, const digest *d, const unsigned char *at) {
    unsigned char gathered[PIECE];
    size_t each = PIECE / d->size, dimension = d->points->dimension;
    ptrdiff_t stride = d->points->column_stride;
    for (size_t first = 0; first < dimension; first += each) {
        size_t n = dimension - first < each ? dimension - first : each;
        const unsigned char *piece = at + (ptrdiff_t)first * stride;
        for (size_t j = 0; j < n && !d->tight; j++)
            memcpy(gathered + j * d->size, piece + (ptrdiff_t)j * stride, d->size);
        hash = ast_checksum_add(hash, d->tight ? piece : gathered, n * d->size);
    }
    return hash;
}

static uint64_t fold_entries(uint64_t hash, const digest *d, size_t row) {
    const ast_points *p = d->points;
    size_t last = (size_t)ast_index_at(p->starts, p->index, row + 1);
    for (size_t e = (size_t)ast_index_at(p->starts, p->index, row); e < last; e++) {
        int64_t column = ast_index_at(p->columns, p->index, e);
        hash = ast_checksum_add(hash, &column, sizeof column);
        hash = ast_checksum_add(hash, (const unsigned char *)p->data + e * d->size, d->size);
    }
    return hash;
}

static uint64_t digest_row(const digest *d, size_t row) {
    const ast_points *p = d->points;
    const unsigned char *at = (const unsigned char *)p->data + (ptrdiff_t)row * p->row_stride;
    uint64_t hash = ast_mix64(d->offset + row);
    hash = p->starts ? fold_entries(hash, d, row) : fold_row(hash, d, at);
    if (p->weights)
        hash = ast_checksum_add(hash, &p->weights[row], sizeof *p->weights);
    if (p->late)
        hash = ast_checksum_add(hash, &p->late[row], sizeof *p->late);
    return ast_mix64(hash);
}

static void digest_rows(void *data, size_t first, size_t last) {
    digest *d = data;
    uint64_t sum = 0;
    for (size_t row = first; row < last; row++)
        sum += digest_row(d, row);
    atomic_fetch_add(&d->sum, sum);
}

uint64_t ast_digest(const ast_points *points, size_t offset, ast_pool *pool) {
    digest d = {.points = points, .offset = offset, .size = ast_type_size(points->type)};
    d.tight = points->column_stride == (ptrdiff_t)d.size;
    ast_pool_ranges(pool, points->count, ROWS, digest_rows, &d);
    return atomic_load(&d.sum);
}
