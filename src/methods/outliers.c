/* SPDX-License-Identifier: MIT
 *
 * Outliers of a result: rows that are less similar to their mean than a threshold of their cluster. A share is a
 * quantile of the cluster's own similarities. The automatic threshold is the similarity that rows have to clusters that
 * they do NOT belong to: a row that is no more similar to its own cluster is an outlier. Means stay as they were, so
 * that a model with these thresholds gives the same labels.
 *
 * A row is part of its own mean, so that the members of a small cluster are similar to its mean whatever they are. The
 * automatic threshold t is therefore meant for the mean of the OTHER members. If L is the length of the sum of the n
 * members and s that of the sum of the others, a row x at the threshold has
 *     x.m = (1 + s t) / L,    s = -t + sqrt(t^2 - 1 + L^2). */
#include "methods.h"

#include "edit.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS ((size_t)20000)       /* that are compared with other clusters ... */
#define MOST_PRODUCTS ((size_t)1 << 26) /* ... in so many products */
#define LEAST_ROWS ((size_t)256)
#define OTHERS 0.9    /* quantile of the similarity to the best of the other clusters */
#define FENCE 3       /* quartile distances below the lower quartile: far out */
#define FENCE_LEAST 8 /* members that have quartiles */
#define MOST_SHARE                                                                                                     \
    0.5 /* if more rows than that are no more similar to their own cluster, there is nothing to compare */

typedef struct outliers {
    ast_labelling *l;
    ast_labelling_view v;
    float *own;        /* (padded) similarity of each row with a label to its mean */
    float *sorted;     /* (count) the same, cluster by cluster, ascending */
    size_t *starts;    /* (slots + 1) of each cluster in it */
    float *thresholds; /* (slots) */
    float *middle;     /* (slots) median of the own similarities */
    double *scores;    /* (threads, live) */
    float *others;     /* (sampled) similarity to the best other cluster; below -1: there is none */
    size_t *rows;      /* (sampled) */
    size_t sampled;
    float *means;    /* (slots, D) before rows are taken out */
    int32_t *labels; /* (padded) */
} outliers;

/* ---- Similarities ------------------------------------------------------------------------------------------------ */

static double similarity(const ast_labelling_view *v, ast_row_buffer *buffer, size_t row, int32_t slot) {
    double score = ast_rows_exact_score(v->rows, buffer, row, v->clusters->means + (size_t)slot * v->rows->dimension);
    return v->rows->axial ? fabs(score) : score;
}

static void find_own(void *data, ast_chunk *memory, size_t first, size_t last) {
    const outliers *o = data;

    ast_rows_fetch(o->v.rows, &memory->rows);
    for (size_t i = first; i < last; i++)
        if (o->v.labels[i] >= 0)
            o->own[i] = (float)similarity(&o->v, &memory->rows, i, o->v.labels[i]);
}

static int compare(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void sort_own(outliers *o) {
    size_t slots = o->v.clusters->slots;
    for (size_t i = 0; i < o->v.rows->count; i++)
        if (o->v.labels[i] >= 0)
            o->starts[o->v.labels[i] + 1]++;
    for (size_t k = 0; k < slots; k++)
        o->starts[k + 1] += o->starts[k];
    for (size_t i = 0; i < o->v.rows->count; i++)
        if (o->v.labels[i] >= 0)
            o->sorted[o->starts[o->v.labels[i]]++] = o->own[i];
    memmove(o->starts + 1, o->starts, slots * sizeof *o->starts);
    o->starts[0] = 0;
    for (size_t k = 0; k < slots; k++)
        qsort(o->sorted + o->starts[k], o->starts[k + 1] - o->starts[k], sizeof *o->sorted, compare);
}

/* Of a cluster that has rows. */
static float quantile(const outliers *o, size_t slot, double share) {
    size_t count = o->starts[slot + 1] - o->starts[slot], at = (size_t)(share * (double)count);
    return o->sorted[o->starts[slot] + (at < count ? at : count - 1)];
}

/* ---- The automatic threshold ------------------------------------------------------------------------------------- */

/* The best other cluster of a row; a cluster whose mean is as similar to the row's own mean as the members are is a
 * piece of the same one. */
static float best_other(const outliers *o, ast_row_buffer *buffer, size_t row, double *scores) {
    const ast_cluster_list *c = o->v.clusters;
    int32_t own = o->v.labels[row];
    for (size_t k = 0; k < c->live; k++)
        scores[k] = c->order[k] == own ? -2 : similarity(&o->v, buffer, row, c->order[k]);
    for (;;) {
        size_t best = 0;
        for (size_t k = 1; k < c->live; k++)
            best = scores[k] > scores[best] ? k : best;
        if (scores[best] < -1.5)
            return -2;
        double between = ast_exact_score(c->means + (size_t)own * c->dimension,
                                         c->means + (size_t)c->order[best] * c->dimension, c->dimension);
        if ((o->v.rows->axial ? fabs(between) : between) < (double)o->middle[own])
            return (float)scores[best];
        scores[best] = -2;
    }
}

static void find_others(void *data, ast_chunk *memory, size_t first, size_t last) {
    const outliers *o = data;
    ast_rows_fetch(o->v.rows, &memory->rows);
    size_t low = 0, high = o->sampled;
    while (low < high) { /* the first sampled row of the chunk */
        size_t middle = (low + high) / 2;
        if (o->rows[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < o->sampled && o->rows[low] < last; low++)
        o->others[low] =
            best_other(o, &memory->rows, o->rows[low], o->scores + (size_t)memory->worker * o->v.clusters->live);
}

/* Rows at equal distances among those with a label. */
static void sample_rows(outliers *o) {
    size_t live = o->v.clusters->live ? o->v.clusters->live : 1, most = MOST_PRODUCTS / live, present = 0, seen = 0;
    most = most > MOST_ROWS ? MOST_ROWS : most < LEAST_ROWS ? LEAST_ROWS : most;
    for (size_t i = 0; i < o->v.rows->count; i++)
        present += o->v.labels[i] >= 0;
    size_t step = present / most + 1;
    for (size_t i = 0; i < o->v.rows->count; i++)
        if (o->v.labels[i] >= 0 && seen++ % step == 0)
            o->rows[o->sampled++] = i;
}

/* Whether a member this similar to the mean of the others is as similar to the mean of all as this. */
static double with_itself(double other, double length) {
    double rest = other * other - 1 + length * length;
    if (!(length > 1 + 1e-6) || !(rest > 0))
        return other > 0 ? INFINITY : -1; /* alone: similar to nobody */
    return (1 + (sqrt(rest) - other) * other) / length;
}

static double without_itself(double own, double length) {
    double rest = length * length - 2 * length * own + 1;
    return rest > 1e-12 ? (length * own - 1) / sqrt(rest) : 1;
}

static double sum_length(const outliers *o, int32_t slot) {
    const ast_cluster_list *c = o->v.clusters;
    double weight = ast_clusters_weight(c, slot);
    return weight > 0 ? ast_clusters_length(c, slot) / weight * (double)c->members[slot] : 0;
}

/* Sets all thresholds from the similarity to others, -2 if there is none. Returns the rows below. */
static size_t set_thresholds(outliers *o, double chance) {
    const ast_cluster_list *c = o->v.clusters;
    size_t below = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        size_t count = o->starts[slot + 1] - o->starts[slot];
        double length = sum_length(o, slot), least = chance;
        if (count >= FENCE_LEAST) {
            double lower = without_itself((double)quantile(o, (size_t)slot, 0.25), length),
                   upper = without_itself((double)quantile(o, (size_t)slot, 0.75), length);
            least = fmax(least, lower - FENCE * (upper - lower));
        }
        o->thresholds[slot] = least > -1 ? (float)with_itself(least, length) : -2;
        for (size_t i = o->starts[slot]; i < o->starts[slot + 1] && o->sorted[i] < o->thresholds[slot]; i++)
            below++;
    }
    return below;
}

static ast_status set_automatic(outliers *o, ast_fault *fault) {
    size_t found = 0;
    for (size_t k = 0; k < o->v.clusters->live; k++) {
        size_t slot = (size_t)o->v.clusters->order[k];
        o->middle[slot] = o->starts[slot + 1] > o->starts[slot] ? quantile(o, slot, 0.5) : 1;
    }
    sample_rows(o);
    ast_status status = ast_labelling_each_chunk(o->l, find_others, o, fault);
    if (status != AST_OK)
        return status;
    for (size_t i = 0; i < o->sampled; i++)
        if (o->others[i] > -1.5f)
            o->others[found++] = o->others[i];
    qsort(o->others, found, sizeof *o->others, compare);
    double chance = found ? (double)o->others[(size_t)(OTHERS * (double)found)] : -2;
    if ((double)set_thresholds(o, chance) > MOST_SHARE * (double)o->starts[o->v.clusters->slots])
        set_thresholds(o, -2);
    return AST_OK;
}

/* ---- The labels -------------------------------------------------------------------------------------------------- */

static bool reserve(outliers *o) {
    const ast_labelling_view *v = &o->v;
    size_t slots = v->clusters->slots, rows = v->rows->padded, threads = (size_t)ast_pool_threads(v->pool);
    o->starts = ast_allocate_zero(slots + 1, sizeof *o->starts);
    return o->starts && ast_replace_arrays(
                            AST_REQUEST(o->own, rows), AST_REQUEST(o->sorted, rows), AST_REQUEST(o->thresholds, slots),
                            AST_REQUEST(o->middle, slots), AST_REQUEST(o->scores, threads * v->clusters->live),
                            AST_REQUEST(o->others, rows), AST_REQUEST(o->rows, rows),
                            AST_REQUEST(o->means, slots * v->rows->dimension), AST_REQUEST(o->labels, rows));
}

/* Takes rows below the threshold out. Clusters that lose all of them are dropped, unless they are components. */
static ast_status take_out(outliers *o, ast_run *run, ast_fault *fault) {
    const ast_cluster_list *c = o->v.clusters;
    size_t dimension = c->dimension;
    memcpy(o->means, c->means, c->slots * dimension * sizeof *o->means);
    memcpy(o->labels, o->v.labels, o->v.rows->padded * sizeof *o->labels);
    for (size_t i = 0; i < o->v.rows->count; i++)
        if (o->labels[i] >= 0 && o->own[i] < o->thresholds[o->labels[i]]) {
            o->labels[i] = AST_MISSING;
            run->outliers++;
        }
    if (run->components.count) {
        memcpy(ast_labelling_labels(o->l), o->labels, o->v.rows->padded * sizeof *o->labels);
        return ast_labelling_recount(o->l, fault);
    }
    ast_status status = ast_labelling_rebuild_from(o->l, o->labels, NULL, fault);
    for (size_t k = 0; status == AST_OK && k < c->live; k++)
        ast_labelling_set_mean(o->l, c->order[k], o->means + (size_t)c->order[k] * dimension);
    return status;
}

ast_status ast_run_outliers(ast_labelling *l, ast_run *run, ast_fault *fault) {
    bool removes = !isnan(run->options->outliers);
    double share = removes ? run->options->outliers : INFINITY;
    outliers o = {.l = l, .v = ast_view_of(l)};
    if ((!removes && !run->options->calibrate) || o.v.clusters->live == 0)
        return AST_OK;
    ast_status status = reserve(&o) ? ast_labelling_each_chunk(l, find_own, &o, fault) : ast_fail_memory(fault);
    if (status == AST_OK)
        sort_own(&o);
    for (size_t k = 0; status == AST_OK && isfinite(share) && k < o.v.clusters->live; k++) {
        size_t slot = (size_t)o.v.clusters->order[k];
        o.thresholds[slot] = o.starts[slot + 1] > o.starts[slot] ? quantile(&o, slot, share) : -2;
    }
    if (status == AST_OK && isinf(share))
        status = set_automatic(&o, fault);
    if (status == AST_OK && removes)
        status = take_out(&o, run, fault);
    *(removes ? &run->thresholds : &run->fits) = status == AST_OK ? o.thresholds : NULL;
    if (status != AST_OK)
        ast_free(o.thresholds);
    ast_free_all(o.own, o.sorted, o.starts, o.middle, o.scores, o.others, o.rows, o.means, o.labels);
    return status;
}
