/* SPDX-License-Identifier: MIT
 *
 * Decides whether heads pay in the next pass, and with which stages, by their cost on a sample of points and means.
 *
 * Axes are computed if there are none, or if their cost has increased since. If raw rows cost no more, the next passes
 * do not compute axes again. If neither costs clearly less than full products, heads are not used. Before the first
 * clusters are born, points stand for means. */
#include "stage_costs.h"

#include "memory.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_DIMENSION = 48, /* in fewer dimensions full products are as fast */
    PLACES = 12,          /* places that the points of the sample are taken from */
    MOST_MEANS = 1024,    /* means that axes are computed from */
    PATIENCE = 3          /* passes without another attempt, after one that did not pay */
};
#define ROUNDS 8                  /* multiplications of axes with rows in one computation of axes, about */
#define WORTH_IT 4                /* a pass must cost this many times as much as the axes, since heads may not pay */
#define GAIN 0.8                  /* heads are used up to this cost, relative to full products */
#define LEAST_RAW 0.1             /* lower limit of the cost of raw rows, relative to full products */
#define WORSE 1.25                /* axes are recomputed from this cost on, relative to that of new axes */
#define SAME_POINT (1 - 0x1p-20f) /* a score from here on is the score of a point with itself */

enum { POINTS = AST_TRIAL_POINTS, MEANS = AST_TRIAL_MEANS };

/* ---- The sample -------------------------------------------------------------------------------------------------- */

/* Copies up to `most` rows to `to`: from places distributed over all points, or from the start of a source. Leaves out
 * the first `skip` rows of each place. */
static size_t take_points(const ast_trial *t, size_t skip, size_t most, float *to, const float **rows) {
    const ast_rowset *all = t->s->rows;
    size_t places = all->reader ? 1 : PLACES, taken = 0;
    for (size_t p = 0; p < places; p++) {
        size_t base = p * all->chunks / places * all->chunk;
        ast_rows_begin(all, &t->c->rows, base);
        for (size_t j = skip; j < all->chunk && base + j < all->count && taken < most * (p + 1) / places; j++) {
            /* a row of a source may not have been read yet */
            if (t->s->labels[base + j] == AST_MISSING || ast_rows_kind(all, &t->c->rows, base + j) > AST_ROW_SCALED)
                continue;
            rows[taken] = to + taken * all->dimension;
            memcpy(to + taken++ * all->dimension, t->c->rows.row, all->dimension * sizeof *to);
        }
    }
    return taken;
}

/* Copies up to `most` means; with `odd`, the ones between those that are copied otherwise. */
static size_t take_means(const ast_trial *t, bool odd, size_t most, float *to, const float **rows) {
    const ast_mean_table *table = &t->s->table;
    size_t count = table->count < most ? table->count : most, dimension = table->dimension;
    for (size_t i = 0; i < count; i++) {
        size_t k = (2 * i + odd) * table->count / (2 * count);
        rows[i] = to + i * dimension;
        ast_mean_table_read(table, k, to + i * dimension);
    }
    return count;
}

/* The best scores of the sampled points, with the means or with other points. */
static void find_best(ast_trial *t) {
    ast_scorer *s = t->s;
    if (s->table.count) {
        ast_scores out = {t->best, t->c->other.second, t->c->other.id};
        s->kernels->score_rows(t->points, t->n, &s->table, out, t->c->scratch);
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        t->best[i] = AST_NO_SCORE;
        for (size_t k = 0; k < t->m; k++) {
            float score = s->kernels->dot(t->points[i], t->means[k], s->rows->dimension);
            score = s->rows->axial ? fabsf(score) : score;
            t->best[i] = score > t->best[i] && score < SAME_POINT ? score : t->best[i];
        }
    }
}

static bool take_sample(ast_trial *t) {
    size_t dimension = t->s->rows->dimension, each = t->s->rows->chunk / 4;
    size_t count = POINTS + MEANS + MOST_MEANS;
    if (!ast_replace_arrays(AST_REQUEST(t->memory, count * dimension), AST_REQUEST(t->rows, count)))
        return false;
    float *means = t->memory + POINTS * dimension, *source = means + MEANS * dimension;
    t->points = t->rows;
    t->means = t->rows + POINTS;
    t->source = t->rows + POINTS + MEANS;
    t->n = take_points(t, 0, POINTS, t->memory, t->points);
    if (t->s->table.count) {
        t->m = take_means(t, true, MEANS, means, t->means);
        t->sources = take_means(t, false, MOST_MEANS, source, t->source);
    } else {
        t->m = take_points(t, each, MEANS, means, t->means);
        t->sources = take_points(t, 2 * each, MOST_MEANS, source, t->source);
    }
    if (t->n == 0 || t->m < 2 || t->sources < 2)
        return false;
    find_best(t);
    return true;
}

/* ---- The decision ------------------------------------------------------------------------------------------------ */

static size_t most_axes(const ast_rowset *rows) {
    size_t most = rows->dimension < AST_MOST_AXES ? rows->dimension : AST_MOST_AXES;
    return most < AST_PANEL ? AST_PANEL : most / AST_PANEL * AST_PANEL;
}

static void set_slack(ast_heads *h, const ast_rowset *rows, bool raw) {
    h->slack = raw ? ast_score_error(rows->dimension) + 0x1p-20f : ast_head_slack(&h->axes, most_axes(rows));
}

/* The cost along the present axes; along new axes if it has increased, or if there are none. */
static double try_axes(const ast_trial *t, ast_stages *stages) {
    ast_scorer *s = t->s;
    ast_heads *h = &s->heads;
    set_slack(h, s->rows, false);
    double cost = INFINITY;
    if (h->axes.dimension == s->rows->dimension)
        cost = ast_cheapest_stages(t, false, h->kept_width, stages);
    if ((cost <= WORSE * h->cost_when_found && cost < INFINITY) || h->wait > 0)
        return cost;
    if (!ast_basis_find(&h->axes, s->kernels, t->source, t->sources, s->rows->dimension, most_axes(s->rows)))
        return INFINITY;
    set_slack(h, s->rows, false);
    h->version++;
    h->cost_when_found = cost = ast_cheapest_stages(t, false, 0, stages);
    h->kept_width = cost < INFINITY ? stages->second : 0;
    return cost;
}

/* For tests: the number selects one of all kinds of stages. */
static void force_stages(ast_heads *h, const ast_rowset *rows) {
    size_t most = most_axes(rows), width = h->forced / 4 * 4 + 4;
    bool raw = h->forced % 4 == 1;
    ast_stages *s = &h->stages;
    s->raw = raw;
    s->second = raw ? 0 : most;
    most = raw ? rows->dimension / 4 * 4 : most;
    s->first = width < most ? width : most;
    s->plain = h->forced % 4 == 2 ? s->first / 2 : h->forced % 4 == 3 ? s->first : 0;
    s->unit = 0.5f / AST_BYTE; /* too small for some numbers */
    h->version += h->kept_width != s->second;
    h->kept_width = s->second;
}

static void choose_stages(const ast_trial *t) {
    ast_scorer *s = t->s;
    ast_heads *h = &s->heads;
    ast_stages raw = {0}, along = {0};
    double dimension = (double)s->rows->dimension, cost_when_found = try_axes(t, &along);
    double raw_cost = INFINITY;
    if (cost_when_found > LEAST_RAW * dimension) {
        set_slack(h, s->rows, true);
        raw_cost = ast_cheapest_stages(t, true, 0, &raw);
    }
    double cost = fmin(raw_cost, cost_when_found);
    h->wait = cost_when_found < fmin(raw_cost, GAIN * dimension) ? 0 : h->wait > 0 ? h->wait - 1 : PATIENCE;
    h->on = cost < INFINITY && (cost < GAIN * dimension || h->forced);
    h->stages = cost == raw_cost ? raw : along;
    if (h->on && h->forced)
        force_stages(h, s->rows);
    /* memory for the axes may have been missing */
    h->on = h->on && (h->stages.raw || h->axes.count >= h->stages.second);
    set_slack(h, s->rows, h->stages.raw);
    h->layout++;
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

/* Memory for the heads of all points, if the points are in memory and more passes follow. Without it, every pass
 * computes the heads. */
static void keep_points(ast_scorer *s) {
    ast_kept_heads *k = &s->heads.kept;
    size_t needed = s->rows->padded * s->heads.stages.second;
    k->used = false;
    if (s->rows->reader || s->heads.stages.raw || !s->keeps_scores)
        return;
    if (needed > k->capacity || s->rows->chunks > k->chunks) {
        bool ready = ast_replace_arrays(AST_REQUEST(k->rows, needed), AST_REQUEST(k->versions, s->rows->chunks));
        k->capacity = ready ? needed : 0;
        k->chunks = ready ? s->rows->chunks : 0;
        if (ready)
            memset(k->versions, 0, k->chunks * sizeof *k->versions);
    }
    k->used = k->capacity > 0;
}

void ast_heads_begin_pass(ast_scorer *s, ast_chunk *scratch, float floor) {
    ast_heads *h = &s->heads;
    size_t expected = s->table.count ? s->table.count : s->rows->count / 16;
    ast_trial trial = {
        .s = s, .c = scratch, .expected_means = expected, .labelled = s->bounds.on && !scratch->unlabelled};
    h->on = false;
    h->floor = floor;
    if (!may_pay(s, expected))
        return;
    if (take_sample(&trial))
        choose_stages(&trial);
    ast_free_all(trial.memory, trial.rows);
    if (h->on)
        keep_points(s);
    h->on = h->on && ast_mean_heads_sync(h, s->kernels, &s->table, s->pool);
    assert(!h->on ||
           (h->stages.first % 4 == 0 && h->stages.plain <= h->stages.first && h->stages.second % AST_PANEL == 0));
}
