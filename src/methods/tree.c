/* SPDX-License-Identifier: MIT
 *
 * The search for the pair of clusters to join next.
 *
 * Every node has a place. Place p lists the cheapest partners of its node among the places after p; all other partners
 * there cost at least as much. The price of two nodes never changes, and a new node is offered to all places before its
 * own. So the first listed partner that still exists is the cheapest. If none is left, the price of the last one listed
 * is a lower bound, and p is searched again only when that bound is the lowest of all.
 *
 * A search computes float cosines with panels of unit vectors, and a lower bound of the price from each cosine. The
 * exact price is computed only if the bound is low enough for the list.
 *
 * Where there are few clusters for their dimension, the cosines of all pairs are kept. The cosine of a + b with q is
 *
 *     (|a| cos(a, q) + |b| cos(b, q)) / |a + b|,
 *
 * so a join costs one number per place instead of D. Its error is that of a computed cosine times spread_p spread_q,
 * where spread is the sum of the lengths that were added up over the length of their sum; a large one is computed anew.
 *
 * Where only near pairs join, heads (unit_heads.h) show that most pairs are not: their cosines are upper bounds.
 */
#include "tree.h"

#include "memory.h"
#include "unit_heads.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS AST_PRODUCT_ROWS /* that are searched together */
#define LISTED 8              /* partners of a place */
#define NOBODY (-1)
#define MOST_KEPT 8192 /* clusters of which all cosines are kept */
#define MOST_SPREAD 4
#define MOST_DEPTH 64 /* joins since a cosine was computed; each rounds by less than 2^-22 */

typedef struct partner {
    double price;
    int32_t place, node; /* if the place has another node by now, this partner no longer exists */
} partner;

typedef struct place {
    int32_t node;     /* NOBODY: the place is empty */
    int32_t count;    /* partners listed, the cheapest first; the first of them exists */
    bool complete;    /* all partners are listed */
    double cut;       /* otherwise: no other partner costs less than this, */
    int32_t cut_node; /* or as much and comes before the pair with this node */
    partner list[LISTED];
} place;

struct ast_joiner {
    const ast_kernels *kernels;
    ast_pool *pool;
    ast_price price;
    double most;                                  /* no pair of this price joins; infinite: all do */
    size_t dimension, places, panels, live, next; /* next: the number of the next node */
    double unit;
    float error;  /* of a cosine in float */
    double slack; /* of a loss in double, relative to the lengths of the two sums */
    bool axial;
    int64_t *sums;   /* (places, D) */
    double *lengths; /* (places) |s|; NaN: the place is empty */
    float *units;    /* (places, D) unit vectors along the sums, or the means */
    float *table;    /* (panels, D, AST_PANEL) the same for the kernels */
    place *at;       /* (places) */
    double *lowest;  /* (places) the price of the first partner, or a lower bound; infinite: no partner */
    float *cosines;  /* (threads, ROWS, places padded) or upper bounds of pairs that do not join */
    ast_unit_heads heads;
    int threads;
    float *kept; /* (stride, stride) the cosines of all pairs of places; NULL: they are computed */
    size_t stride;
    int32_t **groups;    /* (places) of the leaves of a node, increasing; NULL: no groups */
    size_t *group_count; /* (places) */
    bool failed;         /* no memory for the groups of a node */
    double *spread;      /* (places) */
    int32_t *depth;      /* (places) */
};

/* ---- Prices by definition ---------------------------------------------------------------------------------------- */

static double length_of(const ast_joiner *j, const int64_t *a, const int64_t *b, int sign) {
    double squares = 0;
    for (size_t d = 0; d < j->dimension; d++) {
        double s = (double)(b ? a[d] + sign * b[d] : a[d]);
        squares += s * s;
    }
    return sqrt(squares) / j->unit;
}

/* -1 if the second must be flipped: axial, and the means point away from each other. */
static int sign_of(const ast_joiner *j, size_t p, size_t q) {
    if (!j->axial)
        return 1;
    const float *u = j->units + p * j->dimension, *v = j->units + q * j->dimension;
    return ast_exact_score(u, v, j->dimension) < 0 ? -1 : 1;
}

static double loss_of(const ast_joiner *j, size_t p, size_t q) {
    const int64_t *a = j->sums + p * j->dimension, *b = j->sums + q * j->dimension;
    return j->lengths[p] + j->lengths[q] - length_of(j, a, b, sign_of(j, p, q));
}

/* Whether the nodes have points of one group. */
static bool share_a_group(const ast_joiner *j, size_t p, size_t q) {
    const int32_t *a = j->groups[p], *b = j->groups[q];
    size_t n = j->group_count[p], m = j->group_count[q];
    for (size_t x = 0, y = 0; x < n && y < m; *(a[x] < b[y] ? &x : &y) += 1)
        if (a[x] == b[y])
            return true;
    return false;
}

/* Infinite: the pair may not join. */
static double exact_price(const ast_joiner *j, size_t p, size_t q) {
    if (j->groups && share_a_group(j, p, q))
        return INFINITY;
    if (j->price == AST_PRICE_LOSS)
        return loss_of(j, p, q);
    double cosine = ast_exact_score(j->units + p * j->dimension, j->units + q * j->dimension, j->dimension);
    return 1 - (j->axial ? fabs(cosine) : cosine);
}

/* ---- Search ------------------------------------------------------------------------------------------------------ */

static size_t padded(const ast_joiner *j) {
    return j->panels * AST_PANEL;
}

/* Of the cosine of two places. */
static double error_of(const ast_joiner *j, size_t p, size_t q) {
    if (!j->kept)
        return (double)j->error;
    return j->spread[p] * j->spread[q] * ((double)j->error + 2 * MOST_DEPTH * 0x1p-22);
}

/* |a| |b| (1 - c) / (|a| + |b|) is at most the loss: |a + b| is at most |a| + |b|. NaN for an empty place. */
static double rough_bound(const ast_joiner *j, size_t p, size_t q, float cosine) {
    double c = (double)(j->axial ? fabsf(cosine) : cosine) + error_of(j, p, q);
    double a = j->lengths[p], b = j->lengths[q], both = a + b;
    if (j->price == AST_PRICE_ANGLE)
        return 1 - c + 0 * b; /* below 0 for equal vectors */
    return both > 0 ? a * b / both * (c < 1 ? 1 - c : 0) * (1 - 0x1p-40) - both * j->slack : 0 * both - DBL_MAX;
}

/* The loss 2 |a| |b| (1 - c) / (|a| + |b| + |a + b|) grows with 1 - c. */
static double fine_bound(const ast_joiner *j, size_t p, size_t q, float cosine) {
    double c = fmin((double)(j->axial ? fabsf(cosine) : cosine) + error_of(j, p, q), 1);
    double a = j->lengths[p], b = j->lengths[q], both = a + b;
    if (j->price == AST_PRICE_ANGLE || !(both > 0))
        return -DBL_MAX;
    double together = sqrt(fmax(0, a * a + b * b + 2 * a * b * c));
    return 2 * a * b * (1 - c) / (both + together) * (1 - 0x1p-40) - both * j->slack;
}

/* Whether the pair of `own` and a comes before that of `own` and b: it is cheaper, or has lower nodes. */
static bool comes_first(int32_t own, double price_a, int32_t a, double price_b, int32_t b) {
    if (price_a != price_b)
        return price_a < price_b;
    int32_t low_a = a < own ? a : own, low_b = b < own ? b : own;
    return low_a != low_b ? low_a < low_b : a < b;
}

/* Puts q into the list of p if it is cheap enough. */
static void offer(ast_joiner *j, size_t p, size_t q) {
    place *at = &j->at[p];
    partner new = {exact_price(j, p, q), (int32_t)q, j->at[q].node};
    if (!(new.price < j->most))
        return;
    if (!at->complete && !comes_first(at->node, new.price, new.node, at->cut, at->cut_node))
        return;
    int32_t to = at->count;
    while (to > 0 && comes_first(at->node, new.price, new.node, at->list[to - 1].price, at->list[to - 1].node))
        to--;
    if (at->count == LISTED) { /* the list is full: the last partner drops out */
        at->complete = false;
        at->count -= to < LISTED;
    }
    if (to < LISTED) {
        memmove(at->list + to + 1, at->list + to, (size_t)(at->count - to) * sizeof *at->list);
        at->list[to] = new;
        at->count++;
    }
    if (at->count == LISTED && !at->complete) {
        at->cut = at->list[LISTED - 1].price;
        at->cut_node = at->list[LISTED - 1].node;
    }
    j->lowest[p] = at->list[0].price;
}

/* Whether q may be one of the partners of p to list. */
static bool may_join(const ast_joiner *j, size_t p, size_t q, float cosine) {
    double most = j->at[p].complete ? j->most : j->at[p].cut;
    return rough_bound(j, p, q, cosine) <= most && fine_bound(j, p, q, cosine) <= most;
}

/* Lists the partners of p among the places after it; cosines (places) with all of them. */
static void choose_partners(ast_joiner *j, size_t p, const float *cosines) {
    place *at = &j->at[p];
    at->count = 0;
    at->complete = true;
    j->lowest[p] = INFINITY;
    for (size_t q = p + 1; q < j->places; q++)
        if (may_join(j, p, q, cosines[q]))
            offer(j, p, q);
}

/* Cosines of the pairs of n places from p on and those of a panel that may join, and upper bounds of the others. */
static void find_near(const ast_joiner *j, size_t p, size_t n, size_t panel, float *products) {
    float least = (float)(1 - j->most) - 0x1p-20f;
    size_t left = j->places - panel * AST_PANEL;
    ast_unit_heads_bounds(&j->heads, p, n, panel, j->axial, products);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < AST_PANEL && i < left; i++)
            if (products[r * AST_PANEL + i] >= least)
                products[r * AST_PANEL + i] = j->kernels->dot(
                    j->units + (p + r) * j->dimension, j->units + (panel * AST_PANEL + i) * j->dimension, j->dimension);
}

/* Cosines of n places from p on with those of panels first..last-1; out (ROWS, padded places). */
static void find_cosines(const ast_joiner *j, size_t p, size_t n, size_t first, size_t last, float *out) {
    const float *rows[ROWS];
    float products[ROWS * AST_PANEL];
    for (size_t r = 0; r < ROWS; r++) /* the last rows repeat */
        rows[r] = j->units + (p + (r < n ? r : n - 1)) * j->dimension;
    for (size_t panel = first; panel < last; panel++) {
        if (j->heads.rows)
            find_near(j, p, n, panel, products);
        else
            j->kernels->panel_products(rows, n, j->table + panel * AST_PANEL * j->dimension, j->dimension, products);
        for (size_t r = 0; r < n; r++)
            memcpy(out + r * padded(j) + panel * AST_PANEL, products + r * AST_PANEL, AST_PANEL * sizeof *products);
    }
}

static void search_rows(void *data, size_t block, int worker) {
    ast_joiner *j = data;
    size_t p = block * ROWS, n = j->places - p < ROWS ? j->places - p : ROWS;
    float *cosines = j->cosines + (size_t)worker * ROWS * padded(j);
    find_cosines(j, p, n, p / AST_PANEL, j->panels, cosines);
    for (size_t r = 0; r < n; r++)
        choose_partners(j, p + r, cosines + r * padded(j));
    for (size_t r = 0; j->kept && r < n; r++)
        memcpy(j->kept + (p + r) * j->stride + p, cosines + r * padded(j) + p, (j->places - p) * sizeof *cosines);
}

typedef struct one_search {
    ast_joiner *j;
    size_t p, first; /* the place, and the first panel */
} one_search;

#define PANELS 16 /* of one task */

static void search_panels(void *data, size_t first, size_t last) {
    const one_search *s = data;
    find_cosines(s->j, s->p, 1, s->first + first, s->first + last, s->j->cosines);
}

/* Computes the cosines of place p with all places from panel `first` on, in j->cosines. */
static void search_one(ast_joiner *j, size_t p, size_t first) {
    one_search s = {j, p, first};
    ast_pool_ranges(j->pool, j->panels - first, PANELS, search_panels, &s);
}

/* ---- Kept cosines ------------------------------------------------------------------------------------------------ */

static bool open_kept(ast_joiner *j) {
    if (j->price != AST_PRICE_LOSS || j->places > MOST_KEPT || j->places > 2 * j->dimension)
        return true;
    j->stride = j->places;
    if (!ast_replace_arrays(AST_REQUEST(j->kept, j->stride * j->stride), AST_REQUEST(j->spread, j->stride),
                            AST_REQUEST(j->depth, j->stride)))
        return false;
    for (size_t p = 0; p < j->places; p++) {
        j->spread[p] = 1;
        j->depth[p] = 0;
    }
    return true;
}

/* Copies the rows, of which every place has the part from itself on, into the columns. */
static void mirror_kept(ast_joiner *j) {
    for (size_t p = 0; j->kept && p < j->places; p++)
        for (size_t q = 0; q < p; q++)
            j->kept[p * j->stride + q] = j->kept[q * j->stride + p];
}

/* Puts the cosines of the new node in place q, whose sum is p_sign times that of place p and q_sign times that of the
 * old node in q, of length `before`, into j->cosines. false: they must be computed. */
static bool join_kept(ast_joiner *j, size_t p, int p_sign, size_t q, int q_sign, double before) {
    double a = j->lengths[p], length = j->lengths[q], lengths = a * j->spread[p] + before * j->spread[q];
    double p_part = p_sign * a / length, q_part = q_sign * before / length;
    int32_t depth = 1 + (j->depth[p] > j->depth[q] ? j->depth[p] : j->depth[q]);
    bool sound = a > 0 && before > 0 && lengths <= MOST_SPREAD * length && depth <= MOST_DEPTH;
    j->spread[q] = sound ? fmax(lengths / length, 1) : 1;
    j->depth[q] = sound ? depth : 0;
    const float *first = j->kept + p * j->stride, *second = j->kept + q * j->stride;
    for (size_t r = 0; sound && r < j->places; r++)
        j->cosines[r] = (float)(p_part * (double)first[r] + q_part * (double)second[r]);
    return sound;
}

static void keep_cosines(ast_joiner *j, size_t q) {
    memcpy(j->kept + q * j->stride, j->cosines, j->places * sizeof *j->kept);
    for (size_t r = 0; r < j->places; r++)
        j->kept[r * j->stride + q] = j->cosines[r];
}

/* As compact, which follows. No number is written before it was read: they move to the front. */
static void compact_kept(ast_joiner *j) {
    size_t to = 0;
    for (size_t p = 0; j->kept && p < j->places; p++) {
        if (j->at[p].node == NOBODY)
            continue;
        size_t column = 0;
        for (size_t q = 0; q < j->places; q++)
            if (j->at[q].node != NOBODY)
                j->kept[to * j->stride + column++] = j->kept[p * j->stride + q];
        j->spread[to] = j->spread[p];
        j->depth[to++] = j->depth[p];
    }
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* The unit vector of a place, for the kernels too. */
static void set_unit(ast_joiner *j, size_t p) {
    const int64_t *sum = j->sums + p * j->dimension;
    float *unit = j->units + p * j->dimension;
    j->lengths[p] = length_of(j, sum, NULL, 1);
    double scale = j->lengths[p] * j->unit;
    for (size_t d = 0; d < j->dimension && scale > 0; d++)
        unit[d] = (float)((double)sum[d] / scale);
}

static void show_unit(ast_joiner *j, size_t p) {
    if (j->heads.rows)
        ast_unit_heads_set(&j->heads, p, j->units + p * j->dimension);
    float *column = j->table + p / AST_PANEL * AST_PANEL * j->dimension + p % AST_PANEL;
    for (size_t d = 0; d < j->dimension; d++)
        column[d * AST_PANEL] = j->units[p * j->dimension + d];
}

/* Removes empty places; the others keep their order. */
static void compact(ast_joiner *j) {
    size_t live = 0, dimension = j->dimension;
    compact_kept(j);
    int32_t *moved = (int32_t *)(void *)j->cosines; /* (places) the new place of each; the cosines are not needed now */
    for (size_t p = 0; p < j->places; p++) {
        bool used = j->at[p].node != NOBODY;
        moved[p] = used ? (int32_t)live : 0; /* a partner that no longer exists is recognised by its node */
        if (!used)
            continue;
        memmove(j->sums + live * dimension, j->sums + p * dimension, dimension * sizeof *j->sums);
        memmove(j->units + live * dimension, j->units + p * dimension, dimension * sizeof *j->units);
        j->lengths[live] = j->lengths[p];
        if (j->groups && live < p) {
            j->groups[live] = j->groups[p];
            j->group_count[live] = j->group_count[p];
            j->groups[p] = NULL;
            j->group_count[p] = 0;
        }
        j->lowest[live] = j->lowest[p];
        j->at[live++] = j->at[p];
    }
    for (size_t p = 0; p < live; p++)
        for (int32_t i = 0; i < j->at[p].count; i++)
            j->at[p].list[i].place = moved[j->at[p].list[i].place];
    j->places = live;
    j->panels = (live + AST_PANEL - 1) / AST_PANEL;
    memset(j->table, 0, padded(j) * dimension * sizeof *j->table);
    for (size_t p = 0; p < live; p++)
        show_unit(j, p);
}

static bool reserve(ast_joiner *j, size_t count) {
    size_t units = count * j->dimension, table = padded(j) * j->dimension,
           cosines = (size_t)j->threads * ROWS * padded(j) + 1;
    if (!ast_replace_arrays(AST_REQUEST(j->sums, units), AST_REQUEST(j->lengths, count), AST_REQUEST(j->units, units),
                            AST_REQUEST(j->at, count), AST_REQUEST(j->lowest, count), AST_REQUEST(j->table, table),
                            AST_REQUEST(j->cosines, cosines)))
        return false;
    memset(j->units, 0, units * sizeof *j->units);
    memset(j->table, 0, table * sizeof *j->table);
    memset(j->cosines, 0, cosines * sizeof *j->cosines);
    return true;
}

/* Copies the lists of the leaves. */
static bool open_groups(ast_joiner *j, const ast_leaves *leaves) {
    if (!leaves->group_start)
        return true;
    j->groups = ast_allocate_zero(leaves->count, sizeof *j->groups);
    j->group_count = ast_allocate_zero(leaves->count, sizeof *j->group_count);
    bool ready = j->groups && j->group_count;
    for (size_t k = 0; k < leaves->count && ready; k++) {
        size_t from = leaves->group_start[k], n = leaves->group_start[k + 1] - from;
        j->groups[k] = ast_allocate(n + 1, sizeof **j->groups);
        ready = j->groups[k] != NULL;
        if (ready && n)
            memcpy(j->groups[k], leaves->groups + from, n * sizeof **j->groups);
        j->group_count[k] = n;
    }
    return ready;
}

/* The node in place `to` gets the groups of both. */
static void join_groups(ast_joiner *j, size_t from, size_t to) {
    if (!j->groups)
        return;
    const int32_t *a = j->groups[from], *b = j->groups[to];
    size_t n = j->group_count[from], m = j->group_count[to], x = 0, y = 0;
    int32_t *all = ast_allocate(n + m + 1, sizeof *all);
    j->failed = j->failed || !all;
    for (size_t k = 0; all && k < n + m; k++)
        all[k] = y == m || (x < n && a[x] < b[y]) ? a[x++] : b[y++];
    ast_free(j->groups[from]);
    ast_free(j->groups[to]);
    j->groups[from] = NULL;
    j->groups[to] = all;
    j->group_count[from] = 0;
    j->group_count[to] = all ? n + m : 0;
}

bool ast_joiner_failed(const ast_joiner *j) {
    return j->failed;
}

/* The partners of all places when only pairs with a leaf that moved can join: a leaf that moved is offered to those
 * before it that did not. */
static void search_moved(ast_joiner *j, const uint8_t *moved) {
    for (size_t p = 0; p < j->places; p++) {
        j->at[p].complete = true;
        j->lowest[p] = INFINITY;
    }
    for (size_t q = 0; q < j->places && !ast_pool_poll(j->pool); q++) {
        if (!moved[q])
            continue;
        search_one(j, q, 0);
        for (size_t r = 0; r < q; r++)
            if (!moved[r] && may_join(j, r, q, j->cosines[r]))
                offer(j, r, q);
        choose_partners(j, q, j->cosines);
    }
}

ast_joiner *ast_joiner_open(const ast_leaves *leaves, ast_price price, const ast_kernels *kernels, ast_pool *pool) {
    ast_joiner *j = ast_allocate_zero(1, sizeof *j);
    size_t count = leaves->count, dimension = leaves->dimension;
    if (!j)
        return NULL;
    *j = (ast_joiner){.kernels = kernels, .pool = pool, .price = price, .dimension = dimension, .places = count};
    j->most = leaves->most > 0 ? leaves->most : INFINITY;
    j->panels = (count + AST_PANEL - 1) / AST_PANEL;
    j->live = j->next = count;
    j->unit = leaves->unit;
    j->error = ast_score_error(dimension) + 0x1p-21f; /* and the rounding of the two unit vectors */
    j->slack = (double)(dimension + 8) * DBL_EPSILON;
    j->axial = leaves->axial;
    j->threads = ast_pool_threads(pool);
    if (!reserve(j, count) || !open_kept(j) || !open_groups(j, leaves)) {
        ast_joiner_close(j);
        return NULL;
    }
    memcpy(j->sums, leaves->sums, count * dimension * sizeof *j->sums);
    for (size_t p = 0; p < count; p++) {
        j->at[p] = (place){.node = (int32_t)p};
        set_unit(j, p);
        if (price == AST_PRICE_ANGLE || !(j->lengths[p] > 0))
            memcpy(j->units + p * dimension, leaves->means + p * dimension, dimension * sizeof *j->units);
        show_unit(j, p);
    }
    if (isfinite(j->most))
        ast_unit_heads_open(&j->heads, kernels, j->units, count, dimension);
    if (leaves->moved)
        search_moved(j, leaves->moved);
    else
        ast_pool_run(pool, (count + ROWS - 1) / ROWS, search_rows, j);
    mirror_kept(j);
    return j;
}

void ast_joiner_close(ast_joiner *j) {
    if (!j)
        return;
    for (size_t p = 0; j->groups && p < j->places; p++)
        ast_free(j->groups[p]);
    ast_free_all((void *)j->groups, j->group_count);
    ast_unit_heads_close(&j->heads);
    ast_free_all(j->sums, j->lengths, j->units, j->table, j->at, j->lowest, j->cosines, j->kept, j->spread, j->depth);
    ast_free(j);
}

/* ---- Joins ------------------------------------------------------------------------------------------------------- */

/* Whether place p comes before place q, whose pair costs as much. A place with an empty list comes first: it must be
 * searched. */
static bool precedes(const ast_joiner *j, size_t p, size_t q) {
    const place *x = &j->at[p], *y = &j->at[q];
    if (x->count == 0 || y->count == 0)
        return y->count > 0;
    int32_t a = x->node, b = x->list[0].node, c = y->node, d = y->list[0].node;
    int32_t low_x = a < b ? a : b, low_y = c < d ? c : d;
    return low_x != low_y ? low_x < low_y : (a < b ? b : a) < (c < d ? d : c);
}

/* The place with the cheapest pair; j->places if no pair is left. */
static size_t cheapest(const ast_joiner *j) {
    double least = INFINITY;
    size_t best = j->places;
    for (size_t p = 0; p < j->places; p++)
        least = j->lowest[p] < least ? j->lowest[p] : least;
    for (size_t p = 0; p < j->places && isfinite(least); p++)
        if (j->lowest[p] == least && (best == j->places || precedes(j, p, best)))
            best = p;
    return best;
}

static double angle_between(const ast_joiner *j, size_t p, size_t q) {
    const float *u = j->units + p * j->dimension, *v = j->units + q * j->dimension;
    double apart = 0, together = 0;
    int sign = sign_of(j, p, q);
    for (size_t d = 0; d < j->dimension; d++) {
        double x = u[d], y = sign * (double)v[d];
        apart += (x - y) * (x - y);
        together += (x + y) * (x + y);
    }
    return 2 * atan2(sqrt(apart), sqrt(together));
}

bool ast_joiner_next(ast_joiner *j, ast_joined *join) {
    size_t p = cheapest(j);
    while (p < j->places && j->at[p].count == 0 && !ast_pool_poll(j->pool)) {
        if (!j->kept)
            search_one(j, p, p / AST_PANEL);
        choose_partners(j, p, j->kept ? j->kept + p * j->stride : j->cosines);
        p = cheapest(j);
    }
    if (p == j->places || j->failed || ast_pool_cancelled(j->pool))
        return false;
    size_t q = (size_t)j->at[p].list[0].place;
    int32_t a = j->at[p].node, b = j->at[q].node;
    *join = (ast_joined){.a = a < b ? a : b,
                         .b = a < b ? b : a,
                         .price = j->at[p].list[0].price,
                         .loss = loss_of(j, p, q),
                         .angle = angle_between(j, p, q),
                         .flipped = sign_of(j, p, q) < 0};
    return true;
}

static size_t place_of(const ast_joiner *j, int32_t node) {
    size_t p = 0;
    while (p < j->places && j->at[p].node != node)
        p++;
    assert(p < j->places);
    return p;
}

/* Drops partners that no longer exist from the front of the list, then offers the new node in place q. */
static void update_partners(ast_joiner *j, size_t p, size_t q) {
    place *at = &j->at[p];
    int32_t gone = 0;
    while (gone < at->count && j->at[at->list[gone].place].node != at->list[gone].node)
        gone++;
    at->count -= gone;
    memmove(at->list, at->list + gone, (size_t)at->count * sizeof *at->list);
    j->lowest[p] = at->count ? at->list[0].price : at->complete ? INFINITY : at->cut;
    if (may_join(j, p, q, j->cosines[p]))
        offer(j, p, q);
}

/* The new node takes the later of the two places. It is offered to every place before, and searched for partners among
 * the places after. */
void ast_joiner_join(ast_joiner *j, const ast_joined *join) {
    size_t p = place_of(j, join->a), q = place_of(j, join->b), low = p < q ? p : q, high = p < q ? q : p;
    int sign = sign_of(j, low, high);
    int64_t *a = j->sums + p * j->dimension, *b = j->sums + q * j->dimension, *to = j->sums + high * j->dimension;
    for (size_t d = 0; d < j->dimension; d++)
        to[d] = a[d] + sign * b[d];
    double before = j->lengths[high];
    join_groups(j, low, high);
    set_unit(j, high);
    show_unit(j, high);
    bool kept = j->kept && join_kept(j, low, low == p ? 1 : sign, high, high == p ? 1 : sign, before);
    j->at[low] = (place){.node = NOBODY};
    j->at[high].node = (int32_t)j->next++;
    j->lengths[low] = NAN;
    j->lowest[low] = INFINITY;
    j->live--;
    if (!kept)
        search_one(j, high, 0);
    if (j->kept)
        keep_cosines(j, high);
    for (size_t r = 0; r < high; r++)
        if ((isfinite(j->lowest[r]) || may_join(j, r, high, j->cosines[r])) && j->at[r].node != NOBODY)
            update_partners(j, r, high);
    choose_partners(j, high, j->cosines);
    if (j->places > 2 * AST_PANEL && j->live < j->places / 2)
        compact(j);
}
