/* SPDX-License-Identifier: MIT
 *
 * The pairs of a tile: caps discard blocks, sketches and long heads discard rows, full scores in float decide, and the
 * exact score decides where a float does not. */
#include "near.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = AST_NEAR_BLOCK };

/* The memory of a thread: its tile, and what it is compared with. */
typedef struct ast_near_worker {
    size_t n;
    size_t block; /* that the tile is; SIZE_MAX: it has listed rows */
    uint32_t ids[TILE];
    size_t places[TILE];
    const float *rows[TILE]; /* whole rows; NULL: not read yet */
    float sketches[TILE][AST_NEAR_WIDTH + 1], cap_sketches[TILE][AST_NEAR_WIDTH + 1];
    float *row_memory;     /* (TILE, D) */
    float *other;          /* (D) */
    uint64_t passed[TILE]; /* rows of the tile that a block's cap does not discard, of as many blocks */
} ast_near_worker;

bool ast_near_search_open(ast_near_search *search) {
    const ast_near_index *index = search->index;
    size_t threads = (size_t)ast_pool_threads(index->pool), dimension = index->rows->dimension;
    search->workers = ast_allocate_zero(threads, sizeof *search->workers);
    bool ready = search->workers != NULL;
    for (size_t t = 0; t < threads && ready; t++) {
        ast_near_worker *w = &search->workers[t];
        ready = ast_replace_arrays(AST_REQUEST(w->row_memory, TILE * dimension), AST_REQUEST(w->other, dimension));
    }
    return ready;
}

void ast_near_search_free(ast_near_search *search) {
    size_t threads = search->workers ? (size_t)ast_pool_threads(search->index->pool) : 0;
    for (size_t t = 0; t < threads; t++) {
        ast_near_worker *w = &search->workers[t];
        ast_free_all(w->row_memory, w->other);
    }
    ast_free(search->workers);
    search->workers = NULL;
}

/* ---- The tile ---------------------------------------------------------------------------------------------------- */

static void add_row(const ast_near_search *search, ast_near_worker *w, size_t place) {
    const ast_near_index *index = search->index;
    size_t r = w->n++;
    const float *head = index->long_heads + place * index->long_width;
    ast_near_sketch(&index->axes, head, index->width, w->sketches[r]);
    if (index->cap_axes)
        ast_near_sketch(&index->axes, head, index->cap_axes, w->cap_sketches[r]);
    w->ids[r] = index->ids[place];
    w->places[r] = place;
    w->rows[r] = NULL;
}

void ast_near_begin_tile_of_block(ast_near_search *search, int worker, size_t block) {
    ast_near_worker *w = &search->workers[worker];
    w->n = 0;
    w->block = block;
    for (size_t place = block * TILE; place < (block + 1) * TILE; place++) {
        uint32_t id = search->index->ids[place];
        if (id != AST_NO_ROW && !(search->skip && search->skip[id]))
            add_row(search, w, place);
    }
}

void ast_near_begin_tile_of_rows(ast_near_search *search, int worker, const uint32_t *rows, size_t n) {
    ast_near_worker *w = &search->workers[worker];
    w->n = 0;
    w->block = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        add_row(search, w, search->index->places[rows[i]]);
}

uint32_t ast_near_tile_row(const ast_near_search *search, int worker, size_t r) {
    return search->workers[worker].ids[r];
}

static const float *row_of_tile(const ast_near_search *search, ast_near_worker *w, size_t r) {
    const ast_near_rows *rows = search->index->rows;
    if (!w->rows[r])
        w->rows[r] = ast_near_row(rows, w->ids[r], w->row_memory + r * rows->dimension);
    return w->rows[r];
}

/* ---- Caps -------------------------------------------------------------------------------------------------------- */

/* Bit c of row r becomes bit r of row c: blocks of halves, quarters, ... change places (Warren, Hacker's Delight). */
static void transpose(uint64_t bits[TILE]) {
    uint64_t mask = UINT32_MAX;
    for (size_t step = TILE / 2; step > 0; step /= 2, mask ^= mask << step)
        for (size_t k = 0; k < TILE; k = (k + step + 1) & ~step) {
            uint64_t changed = (bits[k] >> step ^ bits[k + step]) & mask;
            bits[k] ^= changed << step;
            bits[k + step] ^= changed;
        }
}

static void mask(const ast_near_index *index, const ast_near_table *table, size_t first, const float *const *rows,
                 size_t n, uint64_t *masks) {
    index->kernels->heads.mask_products(rows, n, table->panels + first * table->width, table->width,
                                        table->bias + first, masks);
}

/* w->passed of blocks first..first+TILE-1; first is a multiple of TILE. */
static void pass_caps(const ast_near_search *search, ast_near_worker *w, size_t first) {
    const ast_near_index *index = search->index;
    const float *rows[TILE];
    for (size_t r = 0; r < w->n; r++)
        rows[r] = index->cap_axes ? w->cap_sketches[r] : row_of_tile(search, w, r);
    memset(w->passed, 0, sizeof w->passed);
    mask(index, &index->caps, first, rows, w->n, w->passed);
    transpose(w->passed);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* Whether a pair is near enough; *score as the search needs it. */
static bool decide(const ast_near_search *search, const float *x, const float *y, double *score) {
    const ast_near_index *index = search->index;
    size_t dimension = index->rows->dimension;
    double error = (double)ast_score_error(dimension), rough = (double)index->kernels->dot(x, y, dimension);
    *score = rough;
    if (rough < index->limit - error)
        return false;
    if (rough > index->limit + error && !search->exact)
        return true;
    *score = ast_exact_score(x, y, dimension);
    return *score >= index->limit;
}

/* Row r of the tile with the row at a place. */
static void compare(ast_near_search *search, ast_near_worker *w, size_t r, size_t place) {
    const ast_near_index *index = search->index;
    uint32_t id = index->ids[place];
    double score;
    if (search->skip && search->skip[id])
        return;
    const float *other = ast_near_row(index->rows, id, w->other);
    if (decide(search, row_of_tile(search, w, r), other, &score))
        search->found(search->data, (int)(w - search->workers), r, id, score);
}

static bool long_heads_pass(const ast_near_index *index, size_t a, size_t b) {
    size_t width = index->long_width;
    if (width == index->width)
        return true;
    float score = index->kernels->dot(index->long_heads + a * width, index->long_heads + b * width, width);
    return (double)score + (double)index->long_tails[a] * (double)index->long_tails[b] >=
           index->limit - (double)index->head_slack;
}

/* The rows of the tile with a bit in `rows`, with a block. own: the tile is of this block. */
static void search_block(ast_near_search *search, ast_near_worker *w, uint64_t rows, size_t block, bool own) {
    const ast_near_index *index = search->index;
    const float *sketches[TILE] = {0};
    uint64_t near[TILE];
    size_t which[TILE], n = 0, first = block * TILE;
    for (; rows; rows &= rows - 1, n++) {
        which[n] = (size_t)__builtin_ctzll(rows);
        sketches[n] = w->sketches[which[n]];
    }
    mask(index, &index->sketches, first, sketches, n, near);
    for (size_t i = 0; i < n; i++) {
        size_t place = w->places[which[i]];
        if (own)
            near[i] &= ~(uint64_t)1 << (place - first); /* later ones */
        for (uint64_t left = near[i]; left; left &= left - 1) {
            size_t other = first + (size_t)__builtin_ctzll(left);
            if (long_heads_pass(index, place, other))
                compare(search, w, which[i], other);
        }
    }
}

void ast_near_search_tile(ast_near_search *search, int worker, size_t first, size_t last) {
    ast_near_worker *w = &search->workers[worker];
    for (size_t base = first / TILE * TILE; base < last && w->n > 0; base += TILE) {
        if (ast_pool_stopped(search->index->pool, worker))
            return;
        pass_caps(search, w, base);
        for (size_t b = base < first ? first : base; b < base + TILE && b < last; b++)
            if (w->passed[b - base])
                search_block(search, w, w->passed[b - base], b, b == w->block);
    }
}

size_t ast_near_count_cap_passes(ast_near_search *search, int worker, size_t first, size_t last) {
    ast_near_worker *w = &search->workers[worker];
    size_t passes = 0;
    for (size_t base = first / TILE * TILE; base < last && w->n > 0; base += TILE) {
        pass_caps(search, w, base);
        for (size_t b = base < first ? first : base; b < base + TILE && b < last; b++)
            passes += (size_t)__builtin_popcountll(w->passed[b - base]);
    }
    return passes;
}
