/* SPDX-License-Identifier: MIT
 *
 * Axes, blocks, heads and balls. A ball is around the heads of a block, with the longest tail beside it, or around its
 * whole rows. The first suits rows that a few axes describe, the second rows around many centres: a few tiles are
 * searched with both, and the one that costs less is kept. */
#include "near.h"

#include "memory.h"
#include "random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = 128, SAMPLE = 4096, PAIRS = 8192, TRIAL_TILES = 8 };
#define FULL_COST 8 /* of a full score, relative to the products of as many coordinates of heads */
#define ROUND_UP (1 + 0x1p-20)

/* The blocks while they are made. */
typedef struct packing {
    ast_near_index *index;
    ast_near_order order[2];
    size_t *first_block;    /* (cells of both sets + 1) */
    ast_packed_means whole; /* balls around whole rows */
    _Atomic bool failed;
} packing;

void ast_near_index_free(ast_near_index *index) {
    ast_packed_means *h = &index->heads, *b = &index->balls;
    ast_free_all(index->ids, index->places, index->lengths, h->bias, h->floats, h->errors, h->tails, b->bias, b->floats,
                 b->errors, b->tails);
    ast_basis_free(&index->axes);
    *index = (ast_near_index){0};
}

/* ---- Axes -------------------------------------------------------------------------------------------------------- */

/* An upper bound of the score of two heads. */
static double bound_of(const ast_near_index *index, const float *a, const float *b, size_t width) {
    double sum = (double)ast_tail_length(&index->axes, a, width) * (double)ast_tail_length(&index->axes, b, width);
    for (size_t d = 0; d < width; d++)
        sum += (double)a[d] * (double)b[d];
    return sum;
}

/* The width that makes random pairs of a sample cheapest: a wide head leaves fewer pairs. heads (n, axes.count). */
static size_t choose_width(const ast_near_index *index, const float *heads, size_t n) {
    static const size_t widths[] = {16, 32, 48, 64, 96, MOST_WIDTH};
    size_t best = 16, count = index->axes.count;
    double least = INFINITY;
    for (size_t w = 0; w < sizeof widths / sizeof *widths && widths[w] <= count; w++) {
        double passed = 0.5;
        ast_random random;
        ast_random_seed(&random, 1, 0);
        for (size_t i = 0; i < PAIRS; i++) {
            size_t a = (size_t)ast_random_below(&random, n), b = (size_t)ast_random_below(&random, n);
            passed += a != b && bound_of(index, heads + a * count, heads + b * count, widths[w]) >= index->limit;
        }
        double cost = (double)widths[w] + passed / PAIRS * FULL_COST * (double)index->rows->dimension;
        best = cost < least ? widths[w] : best;
        least = cost < least ? cost : least;
    }
    return best;
}

static bool find_axes(packing *p) {
    ast_near_index *index = p->index;
    size_t all = p->order[0].count + p->order[1].count, n = all < SAMPLE ? all : SAMPLE, d = index->rows->dimension;
    size_t most = (d + AST_PANEL - 1) / AST_PANEL * AST_PANEL, count = most < MOST_WIDTH ? most : MOST_WIDTH;
    float *copies = ast_allocate(n * d, sizeof *copies), *heads = ast_allocate(n * count, sizeof *heads);
    const float **rows = ast_allocate(n, sizeof *rows);
    bool ready = copies && heads && rows;
    for (size_t i = 0; i < n && ready; i++) {
        size_t at = i * all / n, set = at >= p->order[0].count;
        rows[i] = ast_near_row(index->rows, p->order[set].rows[at - (set ? p->order[0].count : 0)], copies + i * d);
    }
    ready = ready && ast_basis_find(&index->axes, index->kernels, rows, n, d, count);
    if (ready) {
        ast_heads_project(&index->axes, index->kernels, rows, n, count, heads);
        index->width = choose_width(index, heads, n);
        index->head_slack = ast_head_slack(&index->axes, index->width) + 0x1p-20f;
    }
    ast_free_all(copies, heads, (void *)rows);
    return ready;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Memory for `count` entries, all of them unused. */
static bool open_packed(ast_packed_means *to, size_t count, size_t plain) {
    size_t room = (count + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    *to = (ast_packed_means){.count = count, .plain = plain};
    to->floats = ast_allocate_zero(room * plain, sizeof *to->floats);
    to->errors = ast_allocate_zero(room, sizeof *to->errors);
    to->tails = ast_allocate_zero(room, sizeof *to->tails);
    to->bias = ast_allocate(room, sizeof *to->bias);
    for (size_t i = 0; i < room && to->bias; i++)
        to->bias[i] = AST_NO_SCORE;
    return to->floats && to->errors && to->tails && to->bias;
}

static void free_packed(ast_packed_means *p) {
    ast_free_all(p->floats, p->errors, p->tails, p->bias);
    *p = (ast_packed_means){0};
}

static void set_entry(ast_packed_means *to, size_t k, const float *x, double error, float tail) {
    for (size_t d = 0; d < to->plain; d++)
        to->floats[(k / AST_PANEL * to->plain + d) * AST_PANEL + k % AST_PANEL] = x[d];
    to->bias[k] = 0;
    to->errors[k] = (float)(error * ROUND_UP);
    to->tails[k] = tail;
}

static double length_of(const float *x, const float *centre, size_t width) {
    double square = 0;
    for (size_t d = 0; d < width; d++) {
        double part = (double)x[d] - (centre ? (double)centre[d] : 0);
        square += part * part;
    }
    return sqrt(square) * (1 + 0x1p-40);
}

/* The ball around n vectors: the centre is their mean, in float. */
static double find_ball(const float *const *x, size_t n, size_t width, float *centre) {
    double radius = 0;
    memset(centre, 0, width * sizeof *centre);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < width; d++)
            centre[d] += x[i][d] / (float)n;
    for (size_t i = 0; i < n; i++)
        radius = fmax(radius, length_of(x[i], centre, width));
    return radius;
}

/* Block number `block`: n rows with their heads. buffer: (AST_NEAR_BLOCK + 1, D) */
static void pack_block(packing *p, size_t block, const uint32_t *ids, const float *const *heads, size_t n,
                       float *buffer) {
    ast_near_index *index = p->index;
    const float *rows[AST_NEAR_BLOCK];
    float centre[MOST_WIDTH], longest = 0;
    size_t width = index->width, dimension = index->rows->dimension;
    for (size_t i = 0; i < n; i++) {
        size_t place = block * AST_NEAR_BLOCK + i;
        float tail = ast_tail_length(&index->axes, heads[i], width);
        rows[i] = ast_near_row(index->rows, ids[i], buffer + (i + 1) * dimension);
        index->ids[place] = ids[i];
        index->places[ids[i]] = (uint32_t)place;
        index->lengths[place] = (float)(length_of(heads[i], NULL, width) * ROUND_UP);
        set_entry(&index->heads, place, heads[i], 0, tail);
        longest = tail > longest ? tail : longest;
    }
    set_entry(&index->balls, block, centre, find_ball(heads, n, width, centre), longest);
    double radius = find_ball(rows, n, dimension, buffer);
    set_entry(&p->whole, block, buffer, radius, 0);
}

static bool pack_rows(packing *p, const uint32_t *rows, size_t n, size_t block) {
    const ast_near_index *index = p->index;
    size_t width = index->width, dimension = index->rows->dimension;
    float *heads = ast_allocate(n * width, sizeof *heads);
    float *buffer = ast_allocate((AST_NEAR_BLOCK + 1) * dimension, sizeof *buffer);
    uint32_t *order = ast_allocate(n, sizeof *order);
    bool ready = heads && buffer && order;
    for (size_t i = 0; i < n && ready; i += AST_NEAR_BLOCK) {
        const float *some[AST_NEAR_BLOCK];
        size_t count = n - i < AST_NEAR_BLOCK ? n - i : AST_NEAR_BLOCK;
        for (size_t j = 0; j < count; j++) {
            some[j] = ast_near_row(index->rows, rows[i + j], buffer + j * dimension);
            order[i + j] = (uint32_t)(i + j);
        }
        ast_heads_project(&index->axes, index->kernels, some, count, width, heads + i * width);
    }
    if (ready)
        ast_near_split(heads, width, order, n);
    for (size_t i = 0; i < n && ready; i += AST_NEAR_BLOCK, block++) {
        uint32_t ids[AST_NEAR_BLOCK];
        const float *some[AST_NEAR_BLOCK];
        size_t count = n - i < AST_NEAR_BLOCK ? n - i : AST_NEAR_BLOCK;
        for (size_t j = 0; j < count; j++) {
            ids[j] = rows[order[i + j]];
            some[j] = heads + order[i + j] * width;
        }
        pack_block(p, block, ids, some, count, buffer);
    }
    ast_free_all(heads, buffer, order);
    return ready;
}

static void pack_cell(void *data, size_t cell, int worker) {
    packing *p = data;
    size_t set = cell >= p->order[0].cells, own = cell - (set ? p->order[0].cells : 0);
    const size_t *starts = p->order[set].starts + own;
    (void)worker;
    if (starts[1] > starts[0] &&
        !pack_rows(p, p->order[set].rows + starts[0], starts[1] - starts[0], p->first_block[cell]))
        p->failed = true;
}

static bool count_blocks(packing *p) {
    ast_near_index *index = p->index;
    size_t cells = p->order[0].cells + p->order[1].cells;
    if (!ast_replace_arrays(AST_REQUEST(p->first_block, cells + 1)))
        return false;
    for (size_t s = 0, c = 0; s < 2; s++) {
        for (size_t k = 0; k < p->order[s].cells; k++) {
            size_t n = p->order[s].starts[k + 1] - p->order[s].starts[k];
            p->first_block[c++] = index->blocks;
            index->blocks += (n + AST_NEAR_BLOCK - 1) / AST_NEAR_BLOCK;
        }
        index->own = s == 0 ? index->blocks : index->own;
    }
    return true;
}

static bool pack_blocks(packing *p) {
    ast_near_index *index = p->index;
    if (!count_blocks(p))
        return false;
    size_t places = index->blocks * AST_NEAR_BLOCK;
    if (!ast_replace_arrays(AST_REQUEST(index->ids, places), AST_REQUEST(index->lengths, places),
                            AST_REQUEST(index->places, index->rows->count)) ||
        !open_packed(&index->heads, places, index->width) || !open_packed(&index->balls, index->blocks, index->width) ||
        !open_packed(&p->whole, index->blocks, index->rows->dimension))
        return false;
    memset(index->ids, 0xff, places * sizeof *index->ids);
    memset(index->lengths, 0, places * sizeof *index->lengths);
    ast_pool_run_cancellable(index->pool, p->order[0].cells + p->order[1].cells, pack_cell, p);
    return !p->failed;
}

/* ---- Which balls ------------------------------------------------------------------------------------------------- */

/* The products of coordinates that a few tiles need: with all balls, and with the rows of the blocks that pass. */
static double trial_cost(const ast_near_index *index, ast_near_search *search) {
    double cost = 0;
    size_t tiles = index->own < TRIAL_TILES ? index->own : TRIAL_TILES;
    for (size_t t = 0; t < tiles; t++) {
        ast_near_tile_block(search, 0, t * index->own / tiles);
        cost += (double)(AST_NEAR_BLOCK * index->blocks * index->balls.plain) +
                (double)(ast_near_tile_passes(search, 0, 0, index->blocks) * AST_NEAR_BLOCK * index->width);
    }
    return cost;
}

static void use_balls(ast_near_index *index, packing *p) {
    ast_packed_means kept = index->balls;
    index->balls = p->whole;
    p->whole = kept;
    index->whole = !index->whole;
    index->ball_slack = index->whole ? ast_score_error(index->rows->dimension) + 0x1p-19f : index->head_slack;
}

static bool choose_balls(packing *p) {
    ast_near_index *index = p->index;
    ast_near_search search = {.index = index};
    index->ball_slack = index->head_slack;
    bool ready = ast_near_search_open(&search);
    if (ready) {
        double heads = trial_cost(index, &search);
        use_balls(index, p);
        if (trial_cost(index, &search) >= heads)
            use_balls(index, p);
    }
    ast_near_search_free(&search);
    return ready;
}

ast_status ast_near_index_open(ast_near_index *index, ast_fault *fault) {
    packing p = {.index = index};
    bool ready = true;
    for (size_t s = 0; s < 2 && ready; s++)
        if (index->rows->sets[s])
            ready = ast_near_order_find(&p.order[s], index->rows, s, index->kernels, index->pool);
    if (ready && p.order[0].count + p.order[1].count > 0)
        ready = find_axes(&p) && pack_blocks(&p);
    if (ready && index->own > 0 && !ast_pool_cancelled(index->pool))
        ready = choose_balls(&p);
    free_packed(&p.whole);
    ast_near_order_free(&p.order[0]);
    ast_near_order_free(&p.order[1]);
    free(p.first_block);
    if (ast_pool_cancelled(index->pool))
        return ast_fail_cancelled(fault);
    return ready ? AST_OK : ast_fail_memory(fault);
}
