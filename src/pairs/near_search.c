/* SPDX-License-Identifier: MIT
 *
 * The pairs of a tile: balls discard blocks, heads discard rows, full scores in float decide, and the exact score
 * decides where a float does not. */
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
    const float *heads[TILE];
    float lengths[TILE], tails[TILE];
    float *row_memory;                 /* (TILE, D) */
    float *head_memory;                /* (TILE, width) */
    float *other;                      /* (D) */
    ast_mean_candidate *candidates;    /* (TILE, AST_NEAR_SEGMENT) */
    uint64_t passed[AST_NEAR_SEGMENT]; /* rows of the tile that a block's ball does not discard */
    float *scratch;                    /* AST_ROW_SCRATCH */
} ast_near_worker;

static const uint8_t *const no_bytes[TILE];
static const float ones[TILE] = {[0 ... TILE - 1] = 1 + 0x1p-20f}; /* lengths of whole rows */
static const float zeros[TILE];

bool ast_near_search_open(ast_near_search *search) {
    const ast_near_index *index = search->index;
    size_t threads = (size_t)ast_pool_threads(index->pool), dimension = index->rows->dimension;
    search->workers = ast_allocate_zero(threads, sizeof *search->workers);
    bool ready = search->workers != NULL;
    for (size_t t = 0; t < threads && ready; t++) {
        ast_near_worker *w = &search->workers[t];
        ready = ast_replace_arrays(AST_REQUEST(w->row_memory, TILE * dimension),
                                   AST_REQUEST(w->head_memory, TILE * index->width), AST_REQUEST(w->other, dimension),
                                   AST_REQUEST(w->candidates, TILE * (size_t)AST_NEAR_SEGMENT),
                                   AST_REQUEST(w->scratch, AST_ROW_SCRATCH));
    }
    return ready;
}

void ast_near_search_free(ast_near_search *search) {
    size_t threads = search->workers ? (size_t)ast_pool_threads(search->index->pool) : 0;
    for (size_t t = 0; t < threads; t++) {
        ast_near_worker *w = &search->workers[t];
        ast_free_all(w->row_memory, w->head_memory, w->other, w->candidates, w->scratch);
    }
    free(search->workers);
    search->workers = NULL;
}

/* ---- The tile ---------------------------------------------------------------------------------------------------- */

static void add_row(const ast_near_search *search, ast_near_worker *w, size_t place) {
    const ast_near_index *index = search->index;
    size_t width = index->width, r = w->n++;
    float *head = w->head_memory + r * width;
    const float *panel = index->heads.floats + place / AST_PANEL * width * AST_PANEL + place % AST_PANEL;
    for (size_t d = 0; d < width; d++)
        head[d] = panel[d * AST_PANEL];
    w->ids[r] = index->ids[place];
    w->places[r] = place;
    w->rows[r] = NULL;
    w->heads[r] = head;
    w->lengths[r] = index->lengths[place];
    w->tails[r] = index->heads.tails[place];
}

void ast_near_tile_block(ast_near_search *search, int worker, size_t block) {
    ast_near_worker *w = &search->workers[worker];
    w->n = 0;
    w->block = block;
    for (size_t place = block * TILE; place < (block + 1) * TILE; place++) {
        uint32_t id = search->index->ids[place];
        if (id != AST_NO_ROW && !(search->skip && search->skip[id]))
            add_row(search, w, place);
    }
}

void ast_near_tile_rows(ast_near_search *search, int worker, const uint32_t *rows, size_t n) {
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

/* ---- Balls ------------------------------------------------------------------------------------------------------- */

/* Lists entries first..first+count-1 of `means` (rows or balls) for the rows of the tile that `pick` names. */
static void list(const ast_near_search *search, ast_near_worker *w, const ast_packed_means *means, size_t first,
                 size_t count, const ast_head_tile *tile) {
    ast_packed_means part = *means;
    float passed[TILE];
    part.count = count;
    part.bias += first;
    part.errors += first;
    part.tails += first;
    part.floats += first * means->plain;
    search->index->kernels->heads.list_candidates(tile, &part, passed, w->scratch);
}

/* Sets the bits of w->passed for blocks first..first+count-1; first is a multiple of AST_PANEL. */
static void pass_balls(const ast_near_search *search, ast_near_worker *w, size_t first, size_t count) {
    const ast_near_index *index = search->index;
    float limits[TILE];
    size_t counts[TILE];
    for (size_t r = 0; r < w->n; r++) {
        limits[r] = (float)(index->limit - (double)index->ball_slack);
        if (index->whole)
            row_of_tile(search, w, r);
    }
    ast_head_tile tile = {.n = w->n,
                          .floats = index->whole ? w->rows : w->heads,
                          .bytes = no_bytes,
                          .lengths = index->whole ? ones : w->lengths,
                          .tails = index->whole ? zeros : w->tails,
                          .limits = limits,
                          .candidates = w->candidates,
                          .counts = counts,
                          .room = AST_NEAR_SEGMENT};
    list(search, w, &index->balls, first, count, &tile);
    memset(w->passed, 0, sizeof w->passed);
    for (size_t r = 0; r < w->n; r++)
        for (size_t c = 0; c < counts[r]; c++)
            w->passed[w->candidates[r * AST_NEAR_SEGMENT + c].mean] |= (uint64_t)1 << r;
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

/* The rows of the tile with a bit in `rows`, with a block. own: the tile is of this block. */
static void search_block(ast_near_search *search, ast_near_worker *w, uint64_t rows, size_t block, bool own) {
    const ast_near_index *index = search->index;
    const float *heads[TILE];
    float lengths[TILE], tails[TILE], limits[TILE];
    size_t which[TILE], counts[TILE], n = 0;
    for (; rows; rows &= rows - 1, n++) {
        size_t r = which[n] = (size_t)__builtin_ctzll(rows);
        heads[n] = w->heads[r];
        lengths[n] = w->lengths[r];
        tails[n] = w->tails[r];
        limits[n] = (float)(index->limit - (double)index->head_slack);
    }
    ast_head_tile tile = {.n = n,
                          .floats = heads,
                          .bytes = no_bytes,
                          .lengths = lengths,
                          .tails = tails,
                          .limits = limits,
                          .candidates = w->candidates,
                          .counts = counts,
                          .room = TILE};
    list(search, w, &index->heads, block * TILE, TILE, &tile);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < counts[i]; c++) {
            size_t place = block * TILE + w->candidates[i * TILE + c].mean;
            if (!own || place > w->places[which[i]])
                compare(search, w, which[i], place);
        }
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

void ast_near_tile_search(ast_near_search *search, int worker, size_t first, size_t last) {
    ast_near_worker *w = &search->workers[worker];
    for (size_t base = first / AST_PANEL * AST_PANEL; base < last && w->n > 0; base += AST_NEAR_SEGMENT) {
        if (ast_pool_stopped(search->index->pool, worker))
            return;
        size_t count = smaller(last - base, AST_NEAR_SEGMENT);
        pass_balls(search, w, base, count);
        for (size_t b = base < first ? first - base : 0; b < count; b++)
            if (w->passed[b])
                search_block(search, w, w->passed[b], base + b, base + b == w->block);
    }
}

size_t ast_near_tile_passes(ast_near_search *search, int worker, size_t first, size_t last) {
    ast_near_worker *w = &search->workers[worker];
    size_t passes = 0;
    for (size_t base = first / AST_PANEL * AST_PANEL; base < last && w->n > 0; base += AST_NEAR_SEGMENT) {
        size_t count = smaller(last - base, AST_NEAR_SEGMENT);
        pass_balls(search, w, base, count);
        for (size_t b = 0; b < count; b++)
            passes += (size_t)__builtin_popcountll(w->passed[b]);
    }
    return passes;
}
