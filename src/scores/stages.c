/* SPDX-License-Identifier: MIT
 *
 * Whether heads pay in the next pass, and with how many coordinates: tried on a sample of points and means.
 *
 * Axes are found where there are none, or where their price has risen since. If the price is not well below that of
 * full products, the pass goes without them, and the next passes do not try again at once. Before the first clusters
 * are born, points stand for them. */
#include "kinds.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_DIMENSION = 48, /* below, full products are as fast */
    POINTS = 64,          /* in the sample, */
    PLACES = 12,          /* that they come from, */
    MEANS = 256,          /* tried with each of them */
    MOST_MEANS = 1024,    /* that axes are found from */
    PATIENCE = 3          /* passes without heads, after an attempt that did not pay */
};
#define ROUNDS 8                  /* products of axes with rows that finding them takes, about */
#define WORTH_IT 4                /* a pass must cost so many times as much: it may turn out that heads do not pay */
#define GAIN 0.8                  /* the price, relative to full products, at which heads are used */
#define WORSE 1.25                /* the price, relative to that of new axes, at which they are found anew */
#define FORESIGHT 1.5             /* how much dearer a pass may be, if the next one is likely to be cheap */
#define SAME_POINT (1 - 0x1p-20f) /* a score from here on is that of a point with itself */
/* Prices are in units of one product within a panel. A single product is that much dearer, and each has a fixed cost.
 */
#define SINGLE 6.0
#define FIXED 1200.0

static const size_t widths[] = {16, 32, 48, 64, 80, 96, 128, 160, 192, 224, 256};
enum { WIDTHS = sizeof widths / sizeof *widths };

typedef struct trial {
    ast_scorer *s;
    ast_chunk *c;
    float *memory;        /* (POINTS + MEANS + MOST_MEANS, D) */
    const float **points; /* (n) */
    const float **means; /* (m) that points are tried with: others than the axes are found from, if there are so many */
    const float **source; /* (sources) what axes are found from */
    size_t n, m, sources;
    size_t expected; /* means that the pass will have */
    bool known;      /* points have labels, so that one score of theirs is at hand */
} trial;

/* ---- The sample -------------------------------------------------------------------------------------------------- */

/* Takes up to `most` rows from places all over the points (of a source: from its beginning), the first `skip` of each
 * left out, to `to`. */
static size_t take_points(const trial *t, size_t skip, size_t most, float *to, const float **rows) {
    const ast_rowset *all = t->s->rows;
    size_t places = all->reader ? 1 : PLACES, taken = 0;
    for (size_t p = 0; p < places; p++) {
        size_t base = p * all->chunks / places * all->chunk;
        ast_rows_begin(all, &t->c->rows, base);
        for (size_t j = skip; j < all->chunk && base + j < all->count && taken < most * (p + 1) / places; j++) {
            bool present = t->s->labels[base + j] != AST_MISSING &&
                           ast_rows_kind(all, &t->c->rows, base + j) <= AST_ROW_SCALED; /* a source's row may be new */
            if (!present)
                continue;
            rows[taken] = to + taken * all->dimension;
            memcpy(to + taken++ * all->dimension, t->c->rows.row, all->dimension * sizeof *to);
        }
    }
    return taken;
}

/* Takes up to `most` means; `odd`: those between the ones that are taken otherwise. */
static size_t take_means(const trial *t, bool odd, size_t most, float *to, const float **rows) {
    const ast_table *table = &t->s->table;
    size_t count = table->count < most ? table->count : most, dimension = table->dimension;
    for (size_t i = 0; i < count; i++) {
        size_t k = (2 * i + odd) * table->count / (2 * count);
        const float *column = table->means + k / AST_PANEL * AST_PANEL * dimension + k % AST_PANEL;
        rows[i] = to + i * dimension;
        for (size_t d = 0; d < dimension; d++)
            to[i * dimension + d] = column[d * AST_PANEL];
    }
    return count;
}

static bool take_sample(trial *t) {
    size_t dimension = t->s->rows->dimension, each = t->s->rows->chunk / 4;
    t->memory = ast_allocate((POINTS + MEANS + MOST_MEANS) * dimension, sizeof *t->memory);
    t->points = ast_allocate(POINTS + MEANS + MOST_MEANS, sizeof *t->points);
    if (!t->memory || !t->points)
        return false;
    float *means = t->memory + POINTS * dimension, *source = means + MEANS * dimension;
    t->means = t->points + POINTS;
    t->source = t->means + MEANS;
    t->n = take_points(t, 0, POINTS, t->memory, t->points);
    if (t->s->table.count) {
        t->m = take_means(t, true, MEANS, means, t->means);
        t->sources = take_means(t, false, MOST_MEANS, source, t->source);
    } else {
        t->m = take_points(t, each, MEANS, means, t->means);
        t->sources = take_points(t, 2 * each, MOST_MEANS, source, t->source);
    }
    return t->n > 0 && t->m > 1 && t->sources > 1;
}

/* ---- Prices ------------------------------------------------------------------------------------------------------ */

/* The share of sampled means whose reach is no smaller than the goal, for each width. */
static void count_rivals(const trial *t, const float *goals, const float *points, const float *means, size_t width,
                         double share[WIDTHS]) {
    const ast_basis *axes = &t->s->heads.axes;
    size_t left[WIDTHS] = {0};
    float tails[MEANS];
    for (size_t w = 0; w < WIDTHS && widths[w] <= width; w++) {
        for (size_t k = 0; k < t->m; k++)
            tails[k] = ast_tail_length(axes, means + k * width, widths[w]);
        for (size_t i = 0; i < t->n; i++) {
            const float *head = points + i * width;
            float tail = ast_tail_length(axes, head, widths[w]);
            for (size_t k = 0; k < t->m; k++) {
                float product = t->s->kernels->dot(head, means + k * width, widths[w]);
                left[w] += (t->s->rows->axial ? fabsf(product) : product) + tail * tails[k] >= goals[i];
            }
        }
    }
    for (size_t w = 0; w < WIDTHS; w++)
        share[w] = widths[w] <= width ? (double)left[w] / (double)(t->n * t->m) : 1;
}

/* The time per point and mean, of `stages` products over the first coordinates. */
static double price_of(const trial *t, const double share[WIDTHS], size_t first, size_t second, int stages) {
    double dimension = (double)t->s->rows->dimension, expected = (double)t->expected;
    double finding = t->s->rows->reader ? 2 : 0.5; /* how often a pass finds the heads of points, in double */
    return stages * (double)widths[first] + share[first] * (FIXED + SINGLE * (double)(widths[second] - widths[first])) +
           (share[second] + 2 / expected) * (FIXED + SINGLE * dimension) +
           finding * dimension * (double)widths[second] / expected;
}

/* `fresh`: the axes are new, and so will be the heads of points; otherwise those that are kept are used on. */
static double choose_widths(const trial *t, const double share[WIDTHS], bool fresh, int stages) {
    double least = INFINITY;
    ast_heads *h = &t->s->heads;
    size_t kept = h->second;
    for (size_t second = 0; second < WIDTHS && widths[second] <= h->axes.count; second++)
        for (size_t first = 0; first <= second && (fresh || widths[second] == kept); first++) {
            double price = price_of(t, share, first, second, stages);
            if (price < least) {
                least = price;
                h->first = widths[first];
                h->second = widths[second];
            }
        }
    return least;
}

/* The best scores of the sampled points, with the means or with other points. */
static void find_best(const trial *t, float *best) {
    ast_scorer *s = t->s;
    if (s->table.count) {
        ast_scores out = {best, t->c->other.second, t->c->other.id};
        s->kernels->score_rows(t->points, t->n, &s->table, out, t->c->scratch);
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        best[i] = AST_NO_SCORE;
        for (size_t k = 0; k < t->m; k++) {
            float score = s->kernels->dot(t->points[i], t->means[k], s->rows->dimension);
            score = s->rows->axial ? fabsf(score) : score;
            best[i] = score > best[i] && score < SAME_POINT ? score : best[i];
        }
    }
}

/* What is tried: with which goals, and how the widths come out. */
typedef struct attempt {
    bool seedless;
    float spare;
    double price;
    size_t first, second;
} attempt;

static void try_one(const trial *t, const float *heads, const float *best, bool fresh, attempt *a) {
    ast_heads *h = &t->s->heads;
    size_t width = h->axes.count, second = h->second;
    float goals[POINTS];
    double share[WIDTHS];
    for (size_t i = 0; i < t->n; i++)
        goals[i] = (a->seedless ? h->floor : fmaxf(best[i], h->floor)) - a->spare - h->slack;
    count_rivals(t, goals, heads, heads + t->n * width, width, share);
    a->price = choose_widths(t, share, fresh, t->known || a->seedless ? 1 : 2);
    a->first = h->first;
    a->second = h->second;
    h->second = second;
}

/* The price with the axes that there are, and the best widths. Points without a label are scored with the mean of the
 * largest reach first, or with none. Means that cannot win are scored all the same, if they might in the next pass and
 * that does not cost much: then the bounds spare most points that pass. */
static double try_axes(const trial *t, bool fresh) {
    ast_scorer *s = t->s;
    ast_heads *h = &s->heads;
    size_t width = h->axes.count;
    float best[POINTS], *heads = ast_allocate((POINTS + MEANS) * width, sizeof *heads);
    attempt plain = {.spare = 2 * s->margin}, other = plain;
    if (!heads || !width) {
        free(heads);
        return INFINITY;
    }
    find_best(t, best);
    ast_heads_project(&h->axes, s->kernels, t->points, t->n, width, heads);
    ast_heads_project(&h->axes, s->kernels, t->means, t->m, width, heads + t->n * width);
    try_one(t, heads, best, fresh, &plain);
    double worth = 1;
    if (t->known) {
        other.spare += 2 * s->moves.slow.most[0];
        worth = FORESIGHT;
    } else {
        other.seedless = h->floor > AST_NO_SCORE;
    }
    try_one(t, heads, best, fresh, &other);
    const attempt *chosen = other.price < worth * plain.price ? &other : &plain;
    h->seedless = chosen->seedless;
    h->spare = chosen->spare;
    h->first = chosen->first;
    h->second = chosen->second;
    free(heads);
    return t->known ? plain.price : chosen->price;
}

/* ---- Before a pass ----------------------------------------------------------------------------------------------- */

static bool may_pay(const ast_scorer *s, size_t expected) {
    const ast_rowset *rows = s->rows;
    if (!s->heads.allowed || rows->small || rows->sparse || expected < ast_least_means(&s->heads))
        return false;
    if (s->heads.forced)
        return true;
    double axes = rows->dimension < AST_MOST_AXES ? (double)rows->dimension : AST_MOST_AXES;
    return rows->dimension >= LEAST_DIMENSION && rows->count >= 4 * POINTS &&
           (double)rows->count * (double)expected > WORTH_IT * ROUNDS * MOST_MEANS * axes;
}

/* Memory for heads of all points, where these are in memory too. Without it they are found for each pass. */
static void keep_points(ast_scorer *s) {
    ast_kept_heads *k = &s->heads.kept;
    size_t needed = s->rows->padded * s->heads.second;
    if (s->rows->reader)
        return;
    if (needed > k->capacity || s->rows->chunks > k->chunks) {
        ast_free_all(k->rows, k->versions);
        k->rows = ast_allocate(needed, sizeof *k->rows);
        k->versions = ast_allocate_zero(s->rows->chunks, sizeof *k->versions);
        k->capacity = k->rows && k->versions ? needed : 0;
        k->chunks = k->capacity ? s->rows->chunks : 0;
    }
    if (k->capacity)
        return;
    ast_free_all(k->rows, k->versions);
    *k = (ast_kept_heads){0};
}

static void decide(const trial *t) {
    ast_scorer *s = t->s;
    ast_heads *h = &s->heads;
    size_t dimension = s->rows->dimension, most = dimension < AST_MOST_AXES ? dimension : AST_MOST_AXES;
    most = most < AST_PANEL ? AST_PANEL : most / AST_PANEL * AST_PANEL;
    h->slack = ast_score_error(most) + (float)h->axes.skew + 0x1p-20f;
    double price = h->axes.dimension == dimension ? try_axes(t, false) : INFINITY;
    if (price > WORSE * h->price || price == INFINITY) {
        if (!ast_basis_find(&h->axes, s->kernels, t->source, t->sources, dimension, most))
            return;
        h->slack = ast_score_error(most) + (float)h->axes.skew + 0x1p-20f;
        price = h->price = try_axes(t, true);
        h->version++;
    }
    h->on = price < GAIN * (double)dimension || h->forced;
    if (h->forced) {
        h->second = most;
        h->first = h->forced < most ? h->forced / 4 * 4 : most;
    }
    h->wait = h->on || s->table.count == 0 ? 0 : PATIENCE;
}

void ast_heads_begin_pass(ast_scorer *s, ast_chunk *scratch, float floor) {
    ast_heads *h = &s->heads;
    size_t expected = s->table.count ? s->table.count : s->rows->count / 16;
    trial t = {.s = s, .c = scratch, .expected = expected, .known = s->bounds.on && !scratch->unlabelled};
    h->on = false;
    h->floor = floor;
    if (!may_pay(s, expected) || (h->wait > 0 && h->wait-- > 0))
        return;
    if (take_sample(&t))
        decide(&t);
    ast_free_all(t.memory, t.points);
    if (h->on)
        keep_points(s);
    h->on = h->on && ast_mean_heads_sync(h, s->kernels, &s->table);
}
