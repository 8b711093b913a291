/* SPDX-License-Identifier: MIT
 *
 * Every row is compared with every other one, but by its head (heads.h): the coordinates along the principal axes of
 * the rows, and the length of the rest as one more coordinate, so that one product is an upper bound of the score. Rows
 * whose bound is below the k-th best score so far are discarded. The others are scored in float; only rows that this
 * leaves open, within its error, are scored exactly. If no axes are better than others, the heads are the rows
 * themselves.
 */
#include "neighbours.h"

#include "heads.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIX AST_PRODUCT_ROWS
#define TILE 48                       /* rows of a task, a multiple of SIX */
#define CHUNK_BYTES ((size_t)1 << 18) /* of heads that stay in the cache while a tile is compared with them */
#define LEAST_CHUNK 64
#define MOST_CHUNK 2048
#define SAMPLE 2048        /* rows from which axes are found and widths chosen */
#define PROBES 24          /* rows whose neighbours tell how many rows a width leaves, a multiple of SIX */
#define FULL_COST 6        /* time of a component of a full score, relative to one of a head's product */
#define LEAST_DIMENSION 48 /* for heads */

typedef struct searching {
    const ast_neighbour_search *given;
    ast_basis axes;
    size_t width;                   /* coordinates of a head; D: heads are rows */
    size_t pitch;                   /* numbers of a head: width + 1 with the tail, or D */
    size_t chunk;                   /* rows per chunk, a multiple of AST_PANEL */
    float slack;                    /* an upper bound of a score is a product of heads plus this */
    float *heads;                   /* (count, pitch); NULL: the rows */
    float *panels;                  /* (count / AST_PANEL, pitch, AST_PANEL), the last one padded with zeros */
    float *bounds;                  /* (threads, SIX, chunk) */
    ast_mean_candidate *candidates; /* (threads, chunk) */
    uint32_t *counts;               /* (count) neighbours found so far, up to k */
    uint32_t *neighbours;
    double *scores;
} searching;

static const float *row_of(const searching *s, size_t i) {
    return s->given->rows + i * s->given->dimension;
}

static const float *head_of(const searching *s, size_t i) {
    return s->heads ? s->heads + i * s->pitch : row_of(s, i);
}

/* ---- Neighbours found so far ------------------------------------------------------------------------------------- */

/* The score that a row must reach; -INFINITY while there are fewer than k neighbours. */
static double least_score(const searching *s, size_t i) {
    size_t k = s->given->each;
    return s->counts[i] < k ? -INFINITY : s->scores[i * k + k - 1];
}

static bool comes_first(double score, size_t j, double other, size_t number) {
    return score > other || (score == other && j < number);
}

static void insert(searching *s, size_t i, size_t j, double score) {
    size_t k = s->given->each, n = s->counts[i];
    uint32_t *neighbours = s->neighbours + i * k;
    double *scores = s->scores + i * k;
    if (n == k && !comes_first(score, j, scores[k - 1], neighbours[k - 1]))
        return;
    size_t at = n < k ? n : k - 1;
    for (; at > 0 && comes_first(score, j, scores[at - 1], neighbours[at - 1]); at--) {
        scores[at] = scores[at - 1];
        neighbours[at] = neighbours[at - 1];
    }
    scores[at] = score;
    neighbours[at] = (uint32_t)j;
    s->counts[i] += n < k;
}

/* Scores row j for row i: in float, and exactly if that does not exclude it. */
static void consider(searching *s, size_t i, size_t j) {
    const ast_neighbour_search *g = s->given;
    const float *a = row_of(s, i), *b = row_of(s, j);
    if (i == j ||
        (double)g->kernels->dot(a, b, g->dimension) + (double)ast_score_error(g->dimension) < least_score(s, i))
        return;
    insert(s, i, j, ast_exact_score(a, b, g->dimension));
}

/* ---- A tile of rows against a chunk ------------------------------------------------------------------------------ */

/* Bounds of up to SIX rows from i on with the `columns` rows from `first` on: (SIX, chunk). */
static void bound_six(const searching *s, size_t i, size_t n, size_t first, size_t columns, float *bounds) {
    const float *six[SIX];
    float out[SIX * AST_PANEL];
    for (size_t r = 0; r < SIX; r++)
        six[r] = head_of(s, i + (r < n ? r : n - 1));
    for (size_t j = 0; j < columns; j += AST_PANEL) {
        s->given->kernels->panel_products(six, n, s->panels + (first + j) * s->pitch, s->pitch, out);
        for (size_t r = 0; r < n; r++)
            memcpy(bounds + r * s->chunk + j, out + r * AST_PANEL, AST_PANEL * sizeof *bounds);
    }
}

/* The k rows with the largest bounds are likely neighbours: a high least score from the start. */
static void consider_best(searching *s, size_t i, size_t first, size_t columns, const float *bounds,
                          ast_mean_candidate *best) {
    size_t k = s->given->each < columns ? s->given->each : columns, n = 0;
    for (size_t j = 0; j < columns; j++) {
        if (first + j == i || (n == k && !(bounds[j] > best[k - 1].upper_bound)))
            continue;
        size_t at = n < k ? n++ : k - 1;
        for (; at > 0 && bounds[j] > best[at - 1].upper_bound; at--)
            best[at] = best[at - 1];
        best[at] = (ast_mean_candidate){(uint32_t)(first + j), bounds[j]};
    }
    for (size_t c = 0; c < n; c++)
        consider(s, i, best[c].mean);
}

static bool is_found(const searching *s, size_t i, size_t j) {
    const uint32_t *neighbours = s->neighbours + i * s->given->each;
    for (size_t n = 0; n < s->counts[i]; n++)
        if (neighbours[n] == j)
            return true;
    return false;
}

/* A bound below this excludes a row. */
static float limit_of(const searching *s, size_t i) {
    return (float)fmax(least_score(s, i) - (double)s->slack, -3) - 0x1p-23f;
}

static void visit_chunk(searching *s, size_t i, size_t first, size_t columns, float *bounds,
                        ast_mean_candidate *candidates) {
    const ast_neighbour_search *g = s->given;
    size_t padded = (columns + AST_PANEL - 1) / AST_PANEL * AST_PANEL;
    for (size_t j = columns; j < padded; j++)
        bounds[j] = AST_NO_SCORE;
    size_t found = s->counts[i];
    if (found < g->each)
        consider_best(s, i, first, columns, bounds, candidates);
    bool some = found < s->counts[i]; /* of this chunk */
    float passed;
    size_t n = g->kernels->heads.select_candidates(bounds, padded, limit_of(s, i), candidates, &passed);
    for (size_t c = 0; c < n; c++) {
        size_t j = first + candidates[c].mean;
        if (candidates[c].upper_bound >= limit_of(s, i) && !(some && is_found(s, i, j)))
            consider(s, i, j);
    }
}

static void visit_tile(void *data, size_t tile, int worker) {
    searching *s = data;
    const ast_neighbour_search *g = s->given;
    size_t begin = tile * TILE, end = begin + TILE < g->count ? begin + TILE : g->count;
    float *bounds = s->bounds + (size_t)worker * SIX * s->chunk;
    ast_mean_candidate *candidates = s->candidates + (size_t)worker * s->chunk;
    for (size_t first = 0; first < g->count && !ast_pool_stopped(g->pool, worker); first += s->chunk) {
        size_t columns = g->count - first < s->chunk ? g->count - first : s->chunk;
        for (size_t i = begin; i < end; i += SIX) {
            size_t n = end - i < SIX ? end - i : SIX;
            bound_six(s, i, n, first, columns, bounds);
            for (size_t r = 0; r < n; r++)
                visit_chunk(s, i + r, first, columns, bounds + r * s->chunk, candidates);
        }
    }
}

/* ---- Heads ------------------------------------------------------------------------------------------------------- */

static void fill_panel(void *data, size_t panel, int worker) {
    searching *s = data;
    size_t count = s->given->count, first = panel * AST_PANEL;
    float *to = s->panels + first * s->pitch;
    (void)worker;
    for (size_t j = 0; j < AST_PANEL; j++) {
        const float *head = first + j < count ? head_of(s, first + j) : NULL;
        for (size_t d = 0; d < s->pitch; d++)
            to[d * AST_PANEL + j] = head ? head[d] : 0;
    }
}

static void fill_heads(void *data, size_t panel, int worker) {
    searching *s = data;
    const ast_neighbour_search *g = s->given;
    const float *rows[AST_PANEL] = {0};
    float heads[AST_PANEL * AST_MOST_AXES];
    size_t first = panel * AST_PANEL, n = g->count - first < AST_PANEL ? g->count - first : AST_PANEL;
    (void)worker;
    for (size_t r = 0; r < n; r++)
        rows[r] = row_of(s, first + r);
    ast_heads_project(&s->axes, g->kernels, rows, n, s->width, heads);
    for (size_t r = 0; r < n; r++) {
        float *to = s->heads + (first + r) * s->pitch;
        memcpy(to, heads + r * s->width, s->width * sizeof *to);
        to[s->width] = ast_tail_length(&s->axes, to, s->width);
    }
}

/* ---- How wide heads should be ------------------------------------------------------------------------------------ */

/* Rows of the sample, and those whose neighbours are found in it. */
typedef struct trial {
    searching *s;
    const float **rows; /* (n) */
    size_t n, most;     /* most: the largest width */
    float *heads;       /* (n, most) */
    double least[PROBES];
    size_t left;  /* pairs that a width leaves */
    size_t width; /* under trial */
} trial;

/* The k-th best of the scores of a probe with the sample, where k is in proportion to all rows, at least the best. */
static void probe(void *data, size_t p, int worker) {
    trial *t = data;
    const ast_neighbour_search *g = t->s->given;
    size_t own = p * t->n / PROBES, rank = 1 + g->each * t->n / g->count;
    float best[32] = {0};
    rank = rank < 32 ? rank : 32;
    (void)worker;
    for (size_t j = 0; j < rank; j++)
        best[j] = -1;
    for (size_t j = 0; j < t->n; j++) {
        float score = j == own ? -1 : g->kernels->dot(t->rows[own], t->rows[j], g->dimension);
        for (size_t at = 0; at < rank && score > -1; at++)
            if (score > best[at]) {
                float other = best[at];
                best[at] = score;
                score = other;
            }
    }
    t->least[p] = (double)best[rank - 1];
}

/* The share of pairs that heads of a width leave. */
static double share_left(const trial *t, size_t width) {
    const searching *s = t->s;
    size_t left = 0;
    float slack = ast_head_slack(&s->axes, width);
    for (size_t p = 0; p < PROBES; p++) {
        const float *own = t->heads + p * t->n / PROBES * t->most;
        float tail = ast_tail_length(&s->axes, own, width);
        for (size_t j = 0; j < t->n; j++) {
            const float *head = t->heads + j * t->most;
            float bound =
                s->given->kernels->dot(own, head, width) + tail * ast_tail_length(&s->axes, head, width) + slack;
            left += (double)bound >= t->least[p];
        }
    }
    return (double)left / (double)(PROBES * t->n);
}

static void choose_width(searching *s, const trial *t) {
    double dimension = (double)s->given->dimension, best = dimension;
    s->width = s->given->dimension;
    for (size_t width = AST_PANEL; width <= t->most; width *= 2) {
        double cost = (double)width + FULL_COST * share_left(t, width) * dimension;
        if (cost < best) {
            best = cost;
            s->width = width;
        }
    }
}

/* Finds axes and the width of heads; false: no memory. */
static bool plan_heads(searching *s) {
    const ast_neighbour_search *g = s->given;
    s->width = g->dimension;
    if (g->dimension < LEAST_DIMENSION || g->count < SAMPLE)
        return true;
    size_t most = AST_PANEL;
    while (2 * most <= g->dimension / 2 && 2 * most <= AST_MOST_AXES)
        most *= 2;
    trial t = {.s = s, .n = SAMPLE, .most = most};
    t.rows = ast_allocate(SAMPLE, sizeof *t.rows);
    t.heads = ast_allocate(SAMPLE * most, sizeof *t.heads);
    bool ready = t.rows && t.heads;
    for (size_t i = 0; ready && i < SAMPLE; i++)
        t.rows[i] = row_of(s, i * g->count / SAMPLE);
    ready = ready && ast_basis_find(&s->axes, g->kernels, t.rows, SAMPLE, g->dimension, most);
    if (ready) {
        ast_heads_project(&s->axes, g->kernels, t.rows, SAMPLE, most, t.heads);
        ast_pool_run(g->pool, PROBES, probe, &t);
        choose_width(s, &t);
    }
    ast_free_all((void *)t.rows, t.heads);
    return ready;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static bool begin(searching *s) {
    const ast_neighbour_search *g = s->given;
    size_t threads = (size_t)ast_pool_threads(g->pool), panels = (g->count + AST_PANEL - 1) / AST_PANEL;
    if (!plan_heads(s))
        return false;
    bool full = s->width == g->dimension;
    s->pitch = full ? s->width : s->width + 1;
    s->slack = (full ? 0 : ast_head_slack(&s->axes, s->width)) + ast_score_error(s->pitch);
    s->chunk = CHUNK_BYTES / (s->pitch * sizeof(float)) / AST_PANEL * AST_PANEL;
    s->chunk = s->chunk < LEAST_CHUNK ? LEAST_CHUNK : s->chunk > MOST_CHUNK ? MOST_CHUNK : s->chunk;
    s->heads = full ? NULL : ast_allocate(g->count * s->pitch, sizeof *s->heads);
    s->panels = ast_allocate(panels * AST_PANEL * s->pitch, sizeof *s->panels);
    s->bounds = ast_allocate(threads * SIX * s->chunk, sizeof *s->bounds);
    s->candidates = ast_allocate(threads * s->chunk, sizeof *s->candidates);
    s->counts = ast_allocate_zero(g->count, sizeof *s->counts);
    if ((!full && !s->heads) || !s->panels || !s->bounds || !s->candidates || !s->counts)
        return false;
    if (!full)
        ast_pool_run(g->pool, panels, fill_heads, s);
    ast_pool_run(g->pool, panels, fill_panel, s);
    return true;
}

ast_status ast_nearest_rows(const ast_neighbour_search *search, uint32_t *neighbours, double *scores,
                            ast_fault *fault) {
    searching s = {.given = search, .neighbours = neighbours, .scores = scores};
    ast_status status = AST_OK;
    if (!begin(&s))
        status = ast_fail_memory(fault);
    else if (!ast_pool_run_cancellable(search->pool, (search->count + TILE - 1) / TILE, visit_tile, &s) ||
             ast_pool_cancelled(search->pool))
        status = ast_fail_cancelled(fault);
    ast_basis_free(&s.axes);
    ast_free_all(s.heads, s.panels, s.bounds, s.candidates, s.counts);
    return status;
}
