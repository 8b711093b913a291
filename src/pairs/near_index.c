/* SPDX-License-Identifier: MIT
 *
 * Axes, blocks, heads and caps. Few axes suit rows along a few directions, many axes or whole rows suit rows around
 * many centres: a few tiles are searched with each kind of caps, and the one that costs least is kept. */
#include "near.h"

#include "memory.h"
#include "random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WIDTH = AST_NEAR_WIDTH, SAMPLE = 4096, PAIRS = 8192, TRIAL_TILES = 8 };
#define FULL_COST 8   /* of a full score, relative to the products of as many coordinates of heads */
#define LONG_COST 60  /* of a pair whose long heads are compared, apart from the coordinates */
#define PASS_CAPS 0.3 /* the share of pairs that pass the caps, about */
#define OVERHEAD 6    /* of a bound, in products of coordinates */

static const size_t cap_axes[] = {4, 8, 16, 32, 64, 0}; /* 0: whole rows */
enum { KINDS = sizeof cap_axes / sizeof *cap_axes };

/* The blocks while they are made. */
typedef struct packing {
    ast_near_index *index;
    ast_near_order order[2];
    size_t *first_block; /* (cells of both sets + 1) */
    ast_near_table caps[KINDS];
    _Atomic bool failed;
} packing;

static void free_table(ast_near_table *table) {
    ast_free_all(table->panels, table->bias);
    *table = (ast_near_table){0};
}

void ast_near_index_free(ast_near_index *index) {
    free_table(&index->sketches);
    free_table(&index->caps);
    ast_free_all(index->ids, index->places, index->long_heads, index->long_tails);
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

/* Which share of random pairs of a sample passes heads of each width: one in PAIRS at least. heads (n, axes.count) */
static double share_passing(const ast_near_index *index, const float *heads, size_t n, size_t width) {
    size_t count = index->axes.count;
    double passed = 0.5;
    ast_random random;
    ast_random_seed(&random, 1, 0);
    for (size_t i = 0; i < PAIRS; i++) {
        size_t a = (size_t)ast_random_below(&random, n), b = (size_t)ast_random_below(&random, n);
        passed += a != b && bound_of(index, heads + a * count, heads + b * count, width) >= index->limit;
    }
    return passed / PAIRS;
}

/* The widths that make pairs of a sample cheapest: a wide head leaves fewer pairs. */
static void choose_widths(ast_near_index *index, const float *heads, size_t n) {
    static const size_t shorts[] = {4, 8, 12, 16, 24, 32, 48, 64}, longs[] = {16, 32, 64, MOST_WIDTH};
    double least = INFINITY, left[sizeof longs / sizeof *longs] = {0};
    for (size_t l = 0; l < sizeof longs / sizeof *longs && longs[l] <= index->axes.count; l++)
        left[l] = share_passing(index, heads, n, longs[l]) * FULL_COST * (double)index->rows->dimension;
    for (size_t s = 0; s < sizeof shorts / sizeof *shorts; s++) {
        double passing = shorts[s] <= index->axes.count ? share_passing(index, heads, n, shorts[s]) : 0;
        for (size_t l = 0; l < sizeof longs / sizeof *longs && longs[l] <= index->axes.count; l++) {
            double next = longs[l] > shorts[s] ? passing * (LONG_COST + (double)longs[l]) : 0,
                   cost = PASS_CAPS * (double)(shorts[s] + OVERHEAD) + next + left[l];
            if (longs[l] < shorts[s] || cost >= least)
                continue;
            least = cost;
            index->width = shorts[s];
            index->long_width = longs[l];
        }
    }
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
        choose_widths(index, heads, n);
        index->head_slack = ast_head_slack(&index->axes, index->long_width) + 0x1p-20f;
    }
    ast_free_all(copies, heads, (void *)rows);
    return ready;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* Memory for `count` entries, all of them unused. */
static bool open_table(ast_near_table *table, size_t count, size_t width) {
    size_t room = (count + AST_NEAR_BLOCK - 1) / AST_NEAR_BLOCK * AST_NEAR_BLOCK;
    *table = (ast_near_table){.width = width,
                              .panels = ast_allocate_zero(room * width, sizeof *table->panels),
                              .bias = ast_allocate(room, sizeof *table->bias)};
    for (size_t i = 0; i < room && table->bias; i++)
        table->bias[i] = AST_NO_SCORE;
    return table->panels && table->bias;
}

/* Entry k passes a row if their product is at least `least`. */
static void set_entry(ast_near_table *table, size_t k, const float *x, double least) {
    for (size_t d = 0; d < table->width; d++)
        table->panels[(k / AST_PANEL * table->width + d) * AST_PANEL + k % AST_PANEL] = x[d];
    table->bias[k] = (float)(-least);
}

static double length_of(const float *x, size_t width) {
    double square = 0;
    for (size_t d = 0; d < width; d++)
        square += (double)x[d] * (double)x[d];
    return sqrt(square);
}

void ast_near_sketch(const ast_basis *axes, const float *head, size_t count, float *sketch) {
    memcpy(sketch, head, count * sizeof *sketch);
    sketch[count] = ast_tail_length(axes, head, count);
}

/* How far the lengths of sketches, or of whole rows (axes 0), are from 1 at most. */
static double sketch_error(const ast_near_index *index, size_t axes) {
    double head = axes ? 2 * ast_head_error(&index->axes, axes) + index->axes.skew : 0;
    return head + 2 * AST_UNIT_TOLERANCE + 0x1p-20;
}

/* Of a product in float that begins with a number below 2. */
static double rounding_of(const ast_near_index *index) {
    return 2 * (double)ast_score_error(index->rows->dimension + 2) + 0x1p-20;
}

/* The least score that the sketch of a row near one in a cap of this angle may have with the centre of the cap. */
static double least_in_reach(const ast_near_index *index, size_t axes, double angle) {
    double error = sketch_error(index, axes), near = index->limit - (double)index->head_slack - 4 * error,
           reach = acos(fmax(fmin(near, 1), -1)) + angle;
    return cos(fmin(reach, acos(-1))) - 2 * error - rounding_of(index);
}

/* The angle of the cap around n vectors, rounded up. The centre is the direction of their sum, in float. */
static double find_cap(const float *const *x, size_t n, size_t width, float *centre) {
    double least = 1, length;
    memset(centre, 0, width * sizeof *centre);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < width; d++)
            centre[d] += x[i][d];
    length = length_of(centre, width);
    for (size_t d = 0; d < width && length > 0; d++)
        centre[d] = (float)((double)centre[d] / length);
    length = length_of(centre, width);
    for (size_t i = 0; i < n; i++) {
        double product = 0;
        for (size_t d = 0; d < width; d++)
            product += (double)x[i][d] * (double)centre[d];
        least = fmin(least, length > 0 ? product / (length * length_of(x[i], width)) : -1);
    }
    return acos(fmax(least - 0x1p-40, -1)) + 0x1p-30;
}

/* The caps of all kinds around the rows of a block. centre: (D) */
static void pack_caps(packing *p, size_t block, const float *const *heads, const float *const *rows, size_t n,
                      float *centre) {
    ast_near_index *index = p->index;
    float sketches[AST_NEAR_BLOCK][MOST_WIDTH + 1], middle[MOST_WIDTH + 1] = {0};
    const float *pointers[AST_NEAR_BLOCK];
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t axes = cap_axes[kind], width = p->caps[kind].width;
        float *at = axes ? middle : centre;
        if (!p->caps[kind].panels)
            continue;
        for (size_t i = 0; i < n; i++) {
            pointers[i] = axes ? sketches[i] : rows[i];
            if (axes)
                ast_near_sketch(&index->axes, heads[i], axes, sketches[i]);
        }
        double angle = find_cap(pointers, n, width, at);
        set_entry(&p->caps[kind], block, at, least_in_reach(index, axes, angle));
    }
}

/* Block number `block`: n rows with their heads. buffer: (AST_NEAR_BLOCK + 1, D) */
static void pack_block(packing *p, size_t block, const uint32_t *ids, const float *const *heads, size_t n,
                       float *buffer) {
    ast_near_index *index = p->index;
    const float *rows[AST_NEAR_BLOCK];
    size_t dimension = index->rows->dimension;
    double least = index->limit - (double)index->head_slack - rounding_of(index);
    for (size_t i = 0; i < n; i++) {
        float sketch[MOST_WIDTH + 1];
        size_t place = block * AST_NEAR_BLOCK + i;
        rows[i] = ast_near_row(index->rows, ids[i], buffer + (i + 1) * dimension);
        index->ids[place] = ids[i];
        index->places[ids[i]] = (uint32_t)place;
        memcpy(index->long_heads + place * index->long_width, heads[i], index->long_width * sizeof(float));
        index->long_tails[place] = ast_tail_length(&index->axes, heads[i], index->long_width);
        ast_near_sketch(&index->axes, heads[i], index->width, sketch);
        set_entry(&index->sketches, place, sketch, least);
    }
    pack_caps(p, block, heads, rows, n, buffer);
}

static bool pack_rows(packing *p, const uint32_t *rows, size_t n, size_t block) {
    const ast_near_index *index = p->index;
    size_t width = index->long_width, dimension = index->rows->dimension;
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

static bool open_caps(packing *p) {
    const ast_near_index *index = p->index;
    bool ready = true;
    for (size_t kind = 0; kind < KINDS && ready; kind++)
        if (cap_axes[kind] <= index->long_width)
            ready =
                open_table(&p->caps[kind], index->blocks, cap_axes[kind] ? cap_axes[kind] + 1 : index->rows->dimension);
    return ready;
}

static bool pack_blocks(packing *p) {
    ast_near_index *index = p->index;
    if (!count_blocks(p))
        return false;
    size_t places = index->blocks * AST_NEAR_BLOCK;
    if (!ast_replace_arrays(AST_REQUEST(index->ids, places), AST_REQUEST(index->long_heads, places * index->long_width),
                            AST_REQUEST(index->long_tails, places), AST_REQUEST(index->places, index->rows->count)) ||
        !open_table(&index->sketches, places, index->width + 1) || !open_caps(p))
        return false;
    memset(index->ids, 0xff, places * sizeof *index->ids);
    ast_pool_run_cancellable(index->pool, p->order[0].cells + p->order[1].cells, pack_cell, p);
    return !p->failed;
}

/* ---- Which caps -------------------------------------------------------------------------------------------------- */

/* The products of coordinates that a few tiles need: with all caps, and with the rows of the blocks that pass. */
static double trial_cost(const ast_near_index *index, ast_near_search *search) {
    double cost = 0;
    size_t tiles = index->own < TRIAL_TILES ? index->own : TRIAL_TILES;
    for (size_t t = 0; t < tiles; t++) {
        ast_near_begin_tile_of_block(search, 0, t * index->own / tiles);
        cost += (double)(AST_NEAR_BLOCK * index->blocks * (index->caps.width + OVERHEAD)) +
                (double)(ast_near_count_cap_passes(search, 0, 0, index->blocks) * AST_NEAR_BLOCK *
                         (index->width + OVERHEAD));
    }
    return cost;
}

static bool choose_caps(packing *p) {
    ast_near_index *index = p->index;
    ast_near_search search = {.index = index};
    double least = INFINITY;
    size_t best = 0;
    bool ready = ast_near_search_open(&search);
    for (size_t kind = 0; kind < KINDS && ready; kind++) {
        if (!p->caps[kind].panels)
            continue;
        index->caps = p->caps[kind];
        index->cap_axes = cap_axes[kind];
        double cost = trial_cost(index, &search);
        best = cost < least ? kind : best;
        least = fmin(cost, least);
    }
    index->caps = p->caps[best];
    index->cap_axes = cap_axes[best];
    p->caps[best] = (ast_near_table){0};
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
        ready = choose_caps(&p);
    for (size_t kind = 0; kind < KINDS; kind++)
        free_table(&p.caps[kind]);
    ast_near_order_free(&p.order[0]);
    ast_near_order_free(&p.order[1]);
    ast_free(p.first_block);
    if (ast_pool_cancelled(index->pool))
        return ast_fail_cancelled(fault);
    return ready ? AST_OK : ast_fail_memory(fault);
}
