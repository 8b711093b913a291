/* SPDX-License-Identifier: MIT
 *
 * The specification, executed one point after the other. Section numbers are those of the project's page "The
 * algorithms, exactly". Read ref_dp and ref_spkm first; what they rest on stands below them, and section 1, points and
 * scores, in points.c. Axial points (docs/axial.md) have scores without sign, and each a sign in its cluster's sum. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REF_EPS 0x1p-20 /* section 1: how short a sum is no direction */

/* The list of clusters of section 2. A dead cluster stays in it, without being a candidate, until the pass ends. */
typedef struct clusters {
    size_t count, capacity, dimension;
    int axial;
    float *means;    /* (capacity, D) */
    size_t *members; /* (capacity) the running count */
    int32_t *dead;   /* (capacity) */
} clusters;

/* What a pass decides of every point. One block of memory, so that two of them are easily compared. */
typedef struct marks {
    int32_t *labels; /* (N) -1: none */
    int32_t *signs;  /* (N) 1 or -1, right behind them; 0 where there is no label */
} marks;

static void clusters_start(clusters *list, const ref_points *points, const float *given, size_t count);
static void clusters_free(clusters *list);
static size_t clusters_append(clusters *list, const float *mean);
static void clusters_drop_dead(clusters *list, int32_t *labels, size_t points);
static ptrdiff_t best_candidate(const clusters *list, const float *x, ptrdiff_t excluded, double *score);
static double update_means(const ref_points *points, marks now, clusters *list);
static void record_pass(ref_result *result, double objective, size_t count, size_t changed);
static void finish(ref_result *result, const ref_points *points, clusters *list, int32_t *labels, double angle);

static int takes_part(const ref_points *points, size_t i) {
    return !points->missing[i] && points->weight[i] > 0;
}

static marks no_marks(size_t count) {
    int32_t *block = ref_take(2 * count, sizeof *block);
    for (size_t i = 0; i < count; i++)
        block[i] = -1;
    return (marks){block, block + count};
}

static void copy_marks(marks to, marks from, size_t count) {
    memcpy(to.labels, from.labels, 2 * count * sizeof *to.labels);
}

static size_t count_changes(marks before, marks after, size_t count) {
    size_t changes = 0;
    for (size_t i = 0; i < count; i++)
        changes += before.labels[i] != after.labels[i] || before.signs[i] != after.signs[i];
    return changes;
}

/* ---- DP-vMF-means, section 2 ----------------------------------------------------------------------------------- */

/* Steps 1 to 3 of the pass for point x. Returns its label. */
static ptrdiff_t visit(const float *x, clusters *list, ptrdiff_t a, double angle) {
    int alone = a >= 0 && list->members[a] == 1; /* by the running count at this moment */
    double score;
    ptrdiff_t best = best_candidate(list, x, alone ? a : -1, &score);
    ptrdiff_t target;
    if (best >= 0 && ref_fits(score, angle)) {
        target = best;
    } else if (alone) {
        memcpy(list->means + (size_t)a * list->dimension, x, list->dimension * sizeof *x);
        return a;
    } else {
        target = (ptrdiff_t)clusters_append(list, x);
    }
    if (target == a)
        return a;
    list->members[target]++;
    if (a >= 0 && --list->members[a] == 0)
        list->dead[a] = 1;
    return target;
}

static size_t dp_pass(const ref_points *points, clusters *list, marks now, double angle) {
    marks before = no_marks(points->count);
    copy_marks(before, now, points->count);
    for (size_t i = 0; i < points->count; i++) {
        const float *x = points->x + i * points->dimension;
        if (!takes_part(points, i))
            continue;
        size_t k = (size_t)visit(x, list, now.labels[i], angle);
        now.labels[i] = (int32_t)k;
        now.signs[i] = ref_sign(list->axial, x, list->means + k * list->dimension, list->dimension);
    }
    /* Clusters that came with the call and found no point in the first pass end here; later there are no others. */
    for (size_t k = 0; k < list->count; k++)
        if (list->members[k] == 0)
            list->dead[k] = 1;
    size_t changed = count_changes(before, now, points->count);
    free(before.labels);
    return changed;
}

/* Whether labels and signs were seen after an earlier pass. They are kept whole, so that no hash can lie. */
static int seen_before(const marks *history, int passes, marks now, size_t count) {
    for (int t = 0; t < passes; t++)
        if (memcmp(history[t].labels, now.labels, 2 * count * sizeof *now.labels) == 0)
            return 1;
    return 0;
}

void ref_dp(ref_result *result, const ref_points *points, double angle, int max_iterations, const float *given,
            size_t given_count) {
    double lambda = ref_cosine(angle) - 1;
    clusters list;
    clusters_start(&list, points, given, given_count);
    marks now = no_marks(points->count);
    marks *history = ref_take((size_t)max_iterations, sizeof *history);
    memset(result, 0, sizeof *result);

    while (!result->converged && result->iterations < max_iterations) {
        size_t changed = dp_pass(points, &list, now, angle);
        clusters_drop_dead(&list, now.labels, points->count);
        double lengths = update_means(points, now, &list);
        result->converged = changed == 0 || seen_before(history, result->iterations, now, points->count);
        history[result->iterations] = no_marks(points->count);
        copy_marks(history[result->iterations], now, points->count);
        record_pass(result, lengths + lambda * (double)list.count, list.count, changed);
    }

    for (int t = 0; t < result->iterations; t++)
        free(history[t].labels);
    free(history);
    finish(result, points, &list, now.labels, angle);
}

/* ---- Spherical k-means, section 6 ------------------------------------------------------------------------------ */

static void label_all(const ref_points *points, clusters *list, marks now) {
    memset(list->members, 0, list->count * sizeof *list->members);
    for (size_t i = 0; i < points->count; i++) {
        const float *x = points->x + i * points->dimension;
        double score;
        if (!takes_part(points, i))
            continue;
        size_t k = (size_t)best_candidate(list, x, -1, &score);
        now.labels[i] = (int32_t)k;
        now.signs[i] = ref_sign(list->axial, x, list->means + k * list->dimension, list->dimension);
        list->members[k]++;
    }
}

/* The point that fits its own mean worst, among those that leave another behind; equal ones: the lowest. -1: none. */
static ptrdiff_t worst_point(const ref_points *points, const clusters *list, const int32_t *labels) {
    ptrdiff_t worst = -1;
    double worst_score = 0;
    for (size_t i = 0; i < points->count; i++) {
        if (!takes_part(points, i) || list->members[labels[i]] < 2)
            continue;
        const float *own = list->means + (size_t)labels[i] * list->dimension;
        double score = ref_closeness(list->axial, points->x + i * points->dimension, own, list->dimension);
        if (worst < 0 || score < worst_score) {
            worst = (ptrdiff_t)i;
            worst_score = score;
        }
    }
    return worst;
}

/* Every empty cluster, in order, takes a point. The means are still those of this pass, and a point once taken is alone
 * in its cluster, so it is not taken again. */
static void fill_empty(const ref_points *points, clusters *list, marks now) {
    for (size_t k = 0; k < list->count; k++) {
        ptrdiff_t worst = list->members[k] == 0 ? worst_point(points, list, now.labels) : -1;
        if (worst < 0)
            continue;
        list->members[now.labels[worst]]--;
        list->members[k]++;
        now.labels[worst] = (int32_t)k;
        now.signs[worst] = 1;
    }
}

/* A point that leaves a cluster empty may be the one that fills it again, pass after pass: what counts for the end are
 * the labels when the empty clusters have been filled. */
void ref_spkm(ref_result *result, const ref_points *points, const float *given, size_t count, int max_iterations) {
    clusters list;
    clusters_start(&list, points, given, count);
    marks now = no_marks(points->count), before = no_marks(points->count);
    memset(result, 0, sizeof *result);

    while (!result->converged && result->iterations < max_iterations) {
        copy_marks(before, now, points->count);
        label_all(points, &list, now);
        size_t changed = count_changes(before, now, points->count);
        fill_empty(points, &list, now);
        result->converged = count_changes(before, now, points->count) == 0;
        record_pass(result, update_means(points, now, &list), list.count, changed);
    }

    free(before.labels);
    finish(result, points, &list, now.labels, NAN);
}

/* ---- What both end with ---------------------------------------------------------------------------------------- */

static void record_pass(ref_result *result, double objective, size_t count, size_t changed) {
    size_t t = (size_t)result->iterations++;
    ref_pass *passes = ref_take(t + 1, sizeof *passes);
    if (t > 0)
        memcpy(passes, result->passes, t * sizeof *passes);
    free(result->passes);
    result->passes = passes;
    passes[t] = (ref_pass){.objective = objective, .clusters = count, .changed = changed};
    result->objective = objective;
}

/* Points of weight 0 took no part; they go to the nearest mean now, if it fits or there is no angle (NaN). */
static void finish(ref_result *result, const ref_points *points, clusters *list, int32_t *labels, double angle) {
    for (size_t i = 0; i < points->count; i++) {
        double score = 0;
        if (points->missing[i] || takes_part(points, i))
            continue;
        labels[i] = (int32_t)best_candidate(list, points->x + i * points->dimension, -1, &score);
        if (!isnan(angle) && !ref_fits(score, angle))
            labels[i] = -1;
    }
    for (size_t k = 0; k < list->count && list->axial; k++)
        ref_turn_mean(list->means + k * list->dimension, list->dimension);
    result->labels = labels;
    result->clusters = list->count;
    result->means = list->means;
    list->means = NULL;
    clusters_free(list);
}

void ref_result_free(ref_result *result) {
    free(result->labels);
    free(result->means);
    free(result->passes);
    memset(result, 0, sizeof *result);
}

void ref_assign(const ref_points *points, const float *given, size_t count, double angle, int32_t *labels,
                float *similarity) {
    clusters list;
    clusters_start(&list, points, given, count);
    for (size_t i = 0; i < points->count; i++) {
        double score = NAN;
        labels[i] = -1;
        if (!points->missing[i]) {
            labels[i] = (int32_t)best_candidate(&list, points->x + i * points->dimension, -1, &score);
            if (!isnan(angle) && !ref_fits(score, angle))
                labels[i] = -1;
        }
        if (similarity)
            similarity[i] = (float)score;
    }
    clusters_free(&list);
}

/* ---- Clusters -------------------------------------------------------------------------------------------------- */

static void clusters_start(clusters *list, const ref_points *points, const float *given, size_t count) {
    size_t dimension = points->dimension;
    memset(list, 0, sizeof *list);
    list->dimension = dimension;
    list->axial = points->axial;
    double *row = ref_take(dimension, sizeof *row);
    float *unit = ref_take(dimension, sizeof *unit);
    for (size_t k = 0; k < count; k++) {
        for (size_t d = 0; d < dimension; d++)
            row[d] = given[k * dimension + d];
        ref_normalise(row, dimension, 0, unit);
        clusters_append(list, unit);
    }
    free(row);
    free(unit);
}

static void clusters_free(clusters *list) {
    free(list->means);
    free(list->members);
    free(list->dead);
}

static void *grown(void *old, size_t old_bytes, size_t new_bytes) {
    void *grown_block = ref_take(new_bytes, 1);
    if (old_bytes > 0)
        memcpy(grown_block, old, old_bytes);
    free(old);
    return grown_block;
}

/* Appends a living cluster without members and returns its index. */
static size_t clusters_append(clusters *list, const float *mean) {
    size_t k = list->count, row = list->dimension * sizeof *mean;
    if (k == list->capacity) {
        size_t capacity = k == 0 ? 8 : 2 * k;
        list->means = grown(list->means, k * row, capacity * row);
        list->members = grown(list->members, k * sizeof *list->members, capacity * sizeof *list->members);
        list->dead = grown(list->dead, k * sizeof *list->dead, capacity * sizeof *list->dead);
        list->capacity = capacity;
    }
    memcpy(list->means + k * list->dimension, mean, row);
    list->members[k] = 0;
    list->dead[k] = 0;
    list->count++;
    return k;
}

/* Drops the dead, keeps the order of the others, and gives the labels their new numbers. */
static void clusters_drop_dead(clusters *list, int32_t *labels, size_t points) {
    int32_t *number = ref_take(list->count, sizeof *number);
    size_t kept = 0;
    for (size_t k = 0; k < list->count; k++) {
        if (list->dead[k])
            continue;
        size_t row = list->dimension * sizeof *list->means;
        memmove(list->means + kept * list->dimension, list->means + k * list->dimension, row);
        list->members[kept] = list->members[k];
        number[k] = (int32_t)kept++;
    }
    for (size_t k = 0; k < kept; k++)
        list->dead[k] = 0;
    list->count = kept;
    for (size_t i = 0; i < points; i++)
        if (labels[i] >= 0)
            labels[i] = number[labels[i]];
    free(number);
}

/* Step 2: the largest score over the candidates, the lowest index among equals. -1 if there is no candidate. */
static ptrdiff_t best_candidate(const clusters *list, const float *x, ptrdiff_t excluded, double *score) {
    ptrdiff_t best = -1;
    for (size_t k = 0; k < list->count; k++) {
        if (list->dead[k] || (ptrdiff_t)k == excluded)
            continue;
        double s = ref_closeness(list->axial, x, list->means + k * list->dimension, list->dimension);
        if (best < 0 || s > *score) {
            best = (ptrdiff_t)k;
            *score = s;
        }
    }
    return best;
}

/* ---- Sums and means, section 1 --------------------------------------------------------------------------------- */

/* A component's part in a sum: a whole number of 2^-shift, ties to even (the processor's default rounding). */
static int64_t part(float component, double weight, double scale) {
    return llrint((double)component * weight * scale); /* the scale is a power of two: multiplying by it is exact */
}

/* The sum of one cluster: exact whole numbers, so no order of addition matters. */
typedef struct cluster_sum {
    int64_t *sum;  /* (D) */
    double weight; /* of its members */
    size_t members;
    const float *last; /* one of them */
} cluster_sum;

/* The new mean of one cluster, and what the cluster adds to the objective: |sum|, or sum . mu where the sum is too
 * short to have a direction and the old mean stays. */
static double update_mean(const cluster_sum *cluster, size_t dimension, int shift, float *mean) {
    double squares = 0, dot = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += (double)cluster->sum[d] * (double)cluster->sum[d];
    double norm = sqrt(squares);
    int has_direction = ldexp(norm, -shift) > cluster->weight * REF_EPS;
    if (cluster->members == 1)
        memcpy(mean, cluster->last, dimension * sizeof *mean); /* bit for bit */
    else if (has_direction)
        for (size_t d = 0; d < dimension; d++)
            mean[d] = (float)((double)cluster->sum[d] / norm);
    if (has_direction)
        return ldexp(norm, -shift);
    for (size_t d = 0; d < dimension; d++)
        dot += (double)cluster->sum[d] * (double)mean[d];
    return ldexp(dot, -shift);
}

/* Every mean becomes the normalised sum of its members. Returns the sum over clusters of |sum|. */
static double update_means(const ref_points *points, marks now, clusters *list) {
    size_t dimension = points->dimension;
    int64_t *numbers = ref_take(list->count * dimension, sizeof *numbers);
    cluster_sum *sums = ref_take(list->count, sizeof *sums);
    double scale = ldexp(1, points->shift);
    for (size_t k = 0; k < list->count; k++)
        sums[k].sum = numbers + k * dimension;
    for (size_t i = 0; i < points->count; i++) {
        if (!takes_part(points, i))
            continue;
        cluster_sum *own = &sums[now.labels[i]];
        own->last = points->x + i * dimension;
        own->weight += points->weight[i];
        own->members++;
        for (size_t d = 0; d < dimension; d++)
            own->sum[d] += now.signs[i] * part(own->last[d], points->weight[i], scale);
    }
    double lengths = 0;
    for (size_t k = 0; k < list->count; k++)
        if (sums[k].members > 0)
            lengths += update_mean(&sums[k], dimension, points->shift, list->means + k * dimension);
    free(numbers);
    free(sums);
    return lengths;
}
