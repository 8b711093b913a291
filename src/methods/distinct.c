/* SPDX-License-Identifier: MIT
 *
 * The rows that count for the evidence. A copy of a row is no second observation. Of equal rows the one with the
 * smallest weight counts, and of these the first one.
 *
 * Rows in memory of one process are compared byte by byte. Otherwise two hashes of a row stand for it, 128 bits: rows
 * of a source are read once, in order, and ranks tell each other the hashes of their rows. */
#include "content.h"
#include "memory.h"
#include "merge.h"
#include "methods.h"
#include "rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SENT 2048 /* rows that a rank sends at a time */

/* ---- Rows in the memory of one process --------------------------------------------------------------------------- */

static ast_status find_resident(ast_distinct *distinct, const ast_labelling_view *v, double rounding, double *degrees,
                                ast_fault *fault) {
    size_t count = v->rows->count;
    const ast_points *points = &v->rows->view; /* in the order of the caller */
    uint8_t *copies = ast_allocate_zero(count, 1);
    ast_status status = copies ? AST_OK : ast_fail_memory(fault);
    if (status == AST_OK)
        status = ast_find_copies(points, points->weights, v->rows->axial, v->pool, copies, fault);
    if (status == AST_OK)
        status = ast_rounding_find(points, v->rows->axial, rounding, v->pool, degrees, fault);
    for (size_t i = 0; status == AST_OK && i < count; i++) {
        size_t row = v->rows->order ? v->rows->order[i] : i;
        distinct->copies[i] = copies[row] || (points->weights && points->weights[row] == 0);
    }
    ast_free(copies);
    return status;
}

/* ---- Hashes ------------------------------------------------------------------------------------------------------ */

typedef struct hashed_row {
    uint64_t hashes[2];
    uint32_t row; /* of this rank */
    uint32_t counts;
} hashed_row;

/* What a rank sends. */
typedef struct sent_row {
    uint64_t hashes[2];
    double weight;
} sent_row;

typedef struct hashing {
    ast_labelling_view v;
    ast_content content[2];
    const double *weights; /* (N) as given, or NULL */
    hashed_row *rows;      /* (N), sorted in the end */
    size_t count;          /* of those that take part */
    size_t first;          /* number of the first point of the open window */
    sent_row *sent;        /* (SENT) */
} hashing;

static double weight_of(const hashing *h, const hashed_row *row) {
    return h->weights ? h->weights[row->row] : 1;
}

static void hash_chunk(void *data, ast_chunk *memory, size_t first, size_t last) {
    hashing *h = data;
    const ast_labelling_view *v = &h->v;
    ast_rows_fetch(v->rows, &memory->rows);
    for (size_t i = first; i < last; i++) {
        hashed_row *row = h->rows + h->first + i;
        *row = (hashed_row){.row = (uint32_t)(h->first + i), .counts = v->labels[i] >= 0};
        for (int j = 0; j < 2 && row->counts; j++)
            row->hashes[j] = ast_content_row(&h->content[j], ast_rows_at(v->rows, &memory->rows, i));
    }
}

static int compare_hashes(const uint64_t a[2], const uint64_t b[2]) {
    int first = a[0] < b[0] ? -1 : a[0] > b[0], second = a[1] < b[1] ? -1 : a[1] > b[1];
    return first ? first : second;
}

static int compare_rows(const void *a, const void *b, void *data) {
    const hashed_row *x = a, *y = b;
    int order = compare_hashes(x->hashes, y->hashes);
    double left = weight_of(data, x), right = weight_of(data, y);
    if (order == 0 && left != right)
        return left < right ? -1 : 1;
    return order ? order : x->row < y->row ? -1 : x->row > y->row;
}

/* Rows that take no part go; of equal ones the first stays marked. */
static void sort_rows(hashing *h) {
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->rows[i].counts)
            h->rows[kept++] = h->rows[i];
    h->count = kept;
    if (kept > 0)
        ast_system_sort(h->rows, kept, sizeof *h->rows, compare_rows, h);
    for (size_t i = kept; i-- > 1;)
        h->rows[i].counts = compare_hashes(h->rows[i - 1].hashes, h->rows[i].hashes) != 0;
}

static ast_status hash_rows(hashing *h, ast_labelling *l, ast_fault *fault) {
    ast_status status = AST_OK;
    for (size_t n = 0; n < h->v.windows && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        h->first = ast_view_of(l).window_first;
        if (status == AST_OK)
            status = ast_labelling_each_chunk(l, hash_chunk, h, fault);
    }
    if (status == AST_OK)
        sort_rows(h);
    return status;
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

/* Puts the next rows that count into the message. Returns their number. */
static size_t fill_message(hashing *h, size_t *next) {
    size_t count = 0;
    for (; *next < h->count && count < SENT; ++*next)
        if (h->rows[*next].counts) {
            const hashed_row *row = &h->rows[*next];
            h->sent[count++] = (sent_row){{row->hashes[0], row->hashes[1]}, weight_of(h, row)};
        }
    return count;
}

/* Rows that equal one of the message do not count, if that one comes before them. *at: how far the rows were compared.
 */
static void compare_message(hashing *h, size_t count, bool earlier, size_t *at) {
    for (size_t i = 0; i < count; i++) {
        while (*at < h->count && compare_hashes(h->rows[*at].hashes, h->sent[i].hashes) < 0)
            ++*at;
        if (*at == h->count)
            return;
        hashed_row *row = &h->rows[*at];
        double own = weight_of(h, row);
        if (compare_hashes(row->hashes, h->sent[i].hashes) == 0 &&
            (h->sent[i].weight < own || (h->sent[i].weight == own && earlier)))
            row->counts |= 2; /* what is sent in this rank's turn must not depend on it */
    }
}

/* Of equal rows on several ranks one counts. Each rank sends the rows that count among its own, sorted. */
static void compare_ranks(hashing *h) {
    const ast_comm *comm = h->v.comm;
    for (int rank = 0; rank < ast_comm_size(comm); rank++) {
        size_t next = 0, at = 0;
        uint64_t count = 1;
        while (count > 0) {
            if (rank == ast_comm_rank(comm))
                count = fill_message(h, &next);
            ast_comm_broadcast(comm, &count, sizeof count, rank);
            ast_comm_broadcast(comm, h->sent, count * sizeof *h->sent, rank);
            if (rank != ast_comm_rank(comm))
                compare_message(h, (size_t)count, rank < ast_comm_rank(comm), &at);
        }
    }
}

static bool open_hashing(hashing *h, size_t count) {
    return ast_content_open(&h->content[0], h->v.rows->dimension, true, h->v.rows->axial, 0) &&
           ast_content_open(&h->content[1], h->v.rows->dimension, true, h->v.rows->axial, 1) &&
           ast_replace_arrays(AST_REQUEST(h->rows, count), AST_REQUEST(h->sent, SENT));
}

static ast_status find_by_hashes(ast_distinct *distinct, ast_labelling *l, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const ast_source *source = v.rows->reader ? v.rows->reader->source : NULL;
    hashing h = {.v = v, .count = v.points, .weights = source ? source->weights : v.rows->view.weights};
    ast_status status = open_hashing(&h, v.points) ? hash_rows(&h, l, fault) : ast_fail_memory(fault);
    status = ast_comm_agree(v.comm, status, fault);
    if (status == AST_OK && ast_comm_many(v.comm))
        compare_ranks(&h);
    for (size_t i = 0; i < h.count && status == AST_OK; i++)
        distinct->copies[h.rows[i].row] = h.rows[i].counts != 1;
    ast_free_all(h.rows, h.sent);
    ast_content_close(&h.content[0]);
    ast_content_close(&h.content[1]);
    return status;
}

/* ---- The rows that count ----------------------------------------------------------------------------------------- */

ast_status ast_distinct_open(ast_distinct *distinct, ast_labelling *l, double rounding, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    bool resident = !v.rows->reader && !ast_comm_many(v.comm);
    double degrees = isnan(rounding) ? 0 : rounding;
    distinct->copies = ast_allocate_zero(v.points, 1);
    ast_status status = ast_comm_agree(v.comm, distinct->copies ? AST_OK : ast_fail_memory(fault), fault);
    if (status == AST_OK)
        status = resident ? find_resident(distinct, &v, rounding, &degrees, fault) : find_by_hashes(distinct, l, fault);
    distinct->scale = ast_rounding_scale(v.rows->dimension, degrees);
    if (status != AST_OK || degrees == 0)
        return status;
    memset(distinct->copies, 0, v.points); /* rounded rows are observations of their own */
    return AST_OK;
}

void ast_distinct_free(ast_distinct *distinct) {
    ast_free(distinct->copies);
    ast_sums_free(&distinct->of);
    *distinct = (ast_distinct){0};
}

ast_status ast_distinct_add(ast_distinct *distinct, ast_labelling *l, const int32_t *labels, const uint8_t *signs,
                            ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    const uint8_t *copies = distinct->copies + v.window_first;
    int32_t *counted = ast_allocate(v.rows->padded, sizeof *counted);
    if (!counted)
        return ast_fail_memory(fault);
    memcpy(counted, labels, v.rows->padded * sizeof *counted);
    for (size_t i = 0; i < v.rows->count; i++)
        counted[i] = copies[i] ? AST_MISSING : counted[i];
    ast_status status = ast_labelling_sums_add(l, counted, signs, &distinct->of, fault);
    ast_free(counted);
    return status;
}

ast_status ast_distinct_sum(ast_distinct *distinct, ast_labelling *l, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(l);
    ast_status status = ast_labelling_sums_begin(l, &distinct->of, fault);
    for (size_t n = 0; n < v.windows && status == AST_OK; n++) {
        status = ast_labelling_open_window(l, n, fault);
        if (status == AST_OK)
            status = ast_distinct_add(distinct, l, v.labels, v.signs, fault);
    }
    return ast_labelling_sums_end(l, &distinct->of, status, fault);
}
