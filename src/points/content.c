/* SPDX-License-Identifier: MIT
 *
 * Hashes are sorted in two steps, both on all threads: into buckets by their leading bits, then within each bucket.
 * Only rows whose hashes are equal are compared byte by byte; nearly always those are copies of one row. */
#include "content.h"

#include "memory.h"
#include "random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4096       /* rows per task */
#define BUCKET 8        /* average number of rows in a bucket */
#define FEW 48          /* up to this number rows are sorted by insertion */
#define LAST UINT64_MAX /* the hash of rows that are left out */

/* ---- The hash ---------------------------------------------------------------------------------------------------- */

static uint64_t factor(uint64_t seed, uint64_t column) {
    return ast_mix64(seed + column * 0x9e3779b97f4a7c15u) | 1;
}

bool ast_content_open(ast_content *content, size_t dimension, bool dense, bool axial, uint64_t seed) {
    *content = (ast_content){.seed = ast_mix64(seed), .dimension = dimension, .axial = axial};
    if (!dense)
        return true;
    content->factors = ast_allocate(dimension, sizeof *content->factors);
    for (size_t d = 0; content->factors && d < dimension; d++)
        content->factors[d] = factor(content->seed, d);
    return content->factors != NULL;
}

void ast_content_close(ast_content *content) {
    ast_free(content->factors);
    *content = (ast_content){0};
}

/* The bits of a component; -0 and +0 have the same. */
static uint32_t bits_of(float x) {
    uint32_t bits;
    x += 0.0f;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float sign_of(const ast_content *content, const float *row) {
    return content->axial && ast_is_noncanonical(row, content->dimension) ? -1 : 1;
}

static uint64_t finish(uint64_t sum) {
    uint64_t hash = ast_mix64(sum);
    return hash == LAST ? 0 : hash;
}

uint64_t ast_content_row(const ast_content *content, const float *row) {
    float sign = sign_of(content, row);
    uint64_t sum = 0;
    for (size_t d = 0; d < content->dimension; d++)
        sum += bits_of(sign * row[d]) * content->factors[d];
    return finish(sum);
}

uint64_t ast_content_entries(const ast_content *content, ast_sparse_row entries) {
    uint64_t sum = 0;
    for (size_t e = 0; e < entries.count; e++)
        sum += bits_of(entries.values[e]) * factor(content->seed, (uint64_t)entries.columns[e]);
    return finish(sum);
}

/* ---- The order --------------------------------------------------------------------------------------------------- */

typedef struct keyed {
    uint64_t hash;
    uint32_t row;
} keyed;

typedef struct sorting {
    const ast_points *points;
    const double *weights;
    ast_content content;
    ast_sparse_rows sparse;
    uint64_t *hashes; /* (N) */
    keyed *sorted;    /* (N) bucket by bucket */
    size_t *ends;     /* (buckets + 1) the end of bucket b at b + 1 */
    size_t buckets;
    int shift; /* a hash shifted by this is the number of its bucket */
    uint32_t *order;
} sorting;

/* The row in the caller's memory if it is a unit vector of adjacent floats, otherwise NULL. */
static const float *unit_row(const ast_points *points, size_t r) {
    const char *at = (const char *)points->data + (ptrdiff_t)r * points->row_stride;
    if (points->type != AST_F4 || points->column_stride != sizeof(float) || (uintptr_t)at % sizeof(float) != 0)
        return NULL;
    const float *row = (const float *)(const void *)at;
    double squared = 0;
    for (size_t d = 0; d < points->dimension; d++)
        squared += (double)row[d] * (double)row[d];
    return fabs(squared - 1) <= AST_UNIT_TOLERANCE ? row : NULL;
}

static uint64_t hash_of(sorting *s, size_t r) {
    float row[AST_MAX_DIMENSION];
    if ((s->weights && s->weights[r] == 0) || (s->points->late && s->points->late[r]))
        return LAST;
    if (s->points->starts) {
        ast_row_kind kind = ast_sparse_rows_read(&s->sparse, s->points, r);
        bool usable = kind == AST_ROW_UNIT || kind == AST_ROW_SCALED;
        return usable ? ast_content_entries(&s->content, ast_sparse_rows_at(&s->sparse, r)) : LAST;
    }
    const float *unit = unit_row(s->points, r);
    if (unit)
        return ast_content_row(&s->content, unit);
    ast_row_kind kind = ast_read_row(s->points, r, row);
    return kind == AST_ROW_UNIT || kind == AST_ROW_SCALED ? ast_content_row(&s->content, row) : LAST;
}

static void hash_row(void *data, size_t r) {
    sorting *s = data;
    s->hashes[r] = hash_of(s, r);
}

static void fill_buckets(sorting *s) {
    size_t count = s->points->count;
    for (size_t r = 0; r < count; r++)
        s->ends[(s->hashes[r] >> s->shift) + 1]++;
    for (size_t b = 0; b < s->buckets; b++)
        s->ends[b + 1] += s->ends[b];
    for (size_t r = count; r-- > 0;) /* ends[b + 1] decreases to the start of bucket b; stable */
        s->sorted[--s->ends[(s->hashes[r] >> s->shift) + 1]] = (keyed){s->hashes[r], (uint32_t)r};
    for (size_t b = 0; b < s->buckets; b++)
        s->ends[b] = s->ends[b + 1];
    s->ends[s->buckets] = count;
    assert(s->ends[0] == 0);
}

static int by_hash(const void *a, const void *b) {
    const keyed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Compares components in order; sparse rows by entries, first by column. */
static int compare_rows(sorting *s, size_t a, size_t b) {
    float x[AST_MAX_DIMENSION], y[AST_MAX_DIMENSION];
    if (s->points->starts) {
        ast_sparse_row p = ast_sparse_rows_at(&s->sparse, a), q = ast_sparse_rows_at(&s->sparse, b);
        for (size_t e = 0; e < p.count && e < q.count; e++) {
            if (p.columns[e] != q.columns[e])
                return p.columns[e] < q.columns[e] ? -1 : 1;
            if (p.values[e] != q.values[e])
                return p.values[e] < q.values[e] ? -1 : 1;
        }
        return p.count < q.count ? -1 : p.count > q.count;
    }
    ast_read_row(s->points, a, x);
    ast_read_row(s->points, b, y);
    float sign_x = sign_of(&s->content, x), sign_y = sign_of(&s->content, y);
    for (size_t d = 0; d < s->points->dimension; d++)
        if (sign_x * x[d] != sign_y * y[d])
            return sign_x * x[d] < sign_y * y[d] ? -1 : 1;
    return 0;
}

/* Rows with the same hash: by content, then by weight, then by number. */
static int by_content(const void *a, const void *b, void *data) {
    sorting *s = data;
    const keyed *x = a, *y = b;
    int order = compare_rows(s, x->row, y->row);
    if (order == 0 && s->weights && s->weights[x->row] != s->weights[y->row])
        return s->weights[x->row] < s->weights[y->row] ? -1 : 1;
    return order != 0 ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* Insertion sort by hash; stable. */
static void insert(keyed *rows, size_t count) {
    for (size_t i = 1; i < count; i++) {
        keyed row = rows[i];
        size_t to = i;
        for (; to > 0 && rows[to - 1].hash > row.hash; to--)
            rows[to] = rows[to - 1];
        rows[to] = row;
    }
}

/* A bucket has a few rows, or very many copies of one row. */
static void sort_bucket(void *data, size_t bucket) {
    sorting *s = data;
    keyed *rows = s->sorted + s->ends[bucket];
    size_t count = s->ends[bucket + 1] - s->ends[bucket];
    if (count > FEW)
        qsort(rows, count, sizeof *rows, by_hash);
    else
        insert(rows, count);
    for (size_t i = 0; i < count; i++)
        s->order[s->ends[bucket] + i] = rows[i].row;
}

/* Sorts rows with the same hash. They are nearly always copies in order already: then one comparison each is enough. */
static void sort_ties(sorting *s) {
    size_t count = s->points->count, end;
    for (size_t i = 0; i < count; i = end) {
        bool sorted = true;
        for (end = i + 1; end < count && s->sorted[end].hash == s->sorted[i].hash && s->sorted[i].hash != LAST; end++)
            sorted = sorted && by_content(&s->sorted[end - 1], &s->sorted[end], s) < 0;
        if (!sorted)
            ast_system_sort(s->sorted + i, end - i, sizeof *s->sorted, by_content, s);
        for (size_t k = i; k < end && !sorted; k++)
            s->order[k] = s->sorted[k].row;
    }
}

static bool open_sorting(sorting *s, bool axial, uint64_t seed) {
    size_t count = s->points->count;
    int bits = 1; /* a shift by 64 is undefined */
    while (bits < 24 && ((size_t)1 << bits) * BUCKET < count)
        bits++;
    s->buckets = (size_t)1 << bits;
    s->shift = 64 - bits;
    s->ends = ast_allocate_zero(s->buckets + 1, sizeof *s->ends);
    return ast_content_open(&s->content, s->points->dimension, !s->points->starts, axial, seed) && s->ends &&
           ast_replace_arrays(AST_REQUEST(s->hashes, count), AST_REQUEST(s->sorted, count));
}

static ast_status sort(sorting *s, bool axial, uint64_t seed, ast_pool *pool, ast_fault *fault) {
    ast_status status = open_sorting(s, axial, seed) ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK && s->points->starts)
        status = ast_sparse_rows_open(&s->sparse, s->points, pool, fault);
    if (status != AST_OK)
        return status;
    ast_pool_each(pool, s->points->count, ROWS, hash_row, s);
    fill_buckets(s);
    ast_pool_each(pool, s->buckets, 64, sort_bucket, s);
    sort_ties(s);
    return AST_OK;
}

static void close_sorting(sorting *s) {
    ast_free_all(s->hashes, s->sorted, s->ends);
    ast_content_close(&s->content);
    ast_sparse_rows_free(&s->sparse);
}

ast_status ast_order_by_content(const ast_points *points, const double *weights, bool axial, uint64_t seed,
                                ast_pool *pool, uint32_t *order, ast_fault *fault) {
    sorting s = {.points = points, .weights = weights, .order = order};
    ast_status status = sort(&s, axial, seed, pool, fault);
    close_sorting(&s);
    return status;
}

ast_status ast_find_copies(const ast_points *points, const double *weights, bool axial, ast_pool *pool, uint8_t *copies,
                           ast_fault *fault) {
    sorting s = {.points = points, .weights = weights};
    s.order = ast_allocate(points->count, sizeof *s.order);
    ast_status status = s.order ? sort(&s, axial, 0, pool, fault) : ast_fail_memory(fault);
    if (status == AST_OK && points->count)
        memset(copies, 0, points->count);
    for (size_t i = 1; status == AST_OK && i < points->count; i++) {
        const keyed *a = &s.sorted[i - 1], *b = &s.sorted[i];
        if (a->hash == b->hash && b->hash != LAST)
            copies[b->row] = compare_rows(&s, a->row, b->row) == 0;
    }
    ast_free(s.order);
    close_sorting(&s);
    return status;
}
