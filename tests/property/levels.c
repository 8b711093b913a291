/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means in two levels equals slow code that follows src/methods/levels.c line by line, on every number of
 * threads and instruction set; what it says that it loses is what it loses; it can be cancelled; wrong options are
 * refused. */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 16 };

typedef struct points {
    size_t count, dimension;
    float *rows, *units; /* (N, D) as given, and normalised */
    double *weights;     /* (N); NULL: all count 1 */
    bool axial;
} points;

static ast_options options_of(const points *p, size_t clusters, int levels) {
    ast_options o;
    ast_options_init(&o);
    o.method = AST_SPKM;
    o.clusters = clusters;
    o.axial = p->axial;
    o.seed = 7;
    o.kmeans.levels = levels;
    return o;
}

/* Rows around some centres, every 50th a copy of the one before, every 70th missing. */
static points draw_points(uint64_t seed, size_t count, size_t dimension, bool weighted, bool axial) {
    points p = {count, dimension, .axial = axial};
    ast_random random;
    double row[64];
    p.rows = ref_take(count * dimension, sizeof *p.rows);
    p.units = ref_take(count * dimension, sizeof *p.units);
    p.weights = weighted ? ref_take(count, sizeof *p.weights) : NULL;
    ast_random_seed(&random, seed, 3);
    for (size_t i = 0; i < count; i++) {
        float *x = p.rows + i * dimension;
        const float *near = p.rows + (size_t)ast_random_below(&random, i / 3 + 1) * dimension;
        for (size_t d = 0; d < dimension; d++)
            x[d] = (float)((i ? (double)near[d] : 0) + 0.5 * ast_random_normal(&random));
        if (i % 50 == 49)
            memcpy(x, x - dimension, dimension * sizeof *x);
        if (i % 70 == 69)
            memset(x, 0, dimension * sizeof *x);
        if (weighted)
            p.weights[i] = 1 + (double)ast_random_below(&random, 2);
        for (size_t d = 0; d < dimension; d++)
            row[d] = (double)x[d];
        if (i % 70 != 69)
            assert_true(ref_normalise(row, dimension, 0, p.units + i * dimension));
    }
    return p;
}

static void free_points(points *p) {
    free(p->rows);
    free(p->units);
    free(p->weights);
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

static double score_of(const points *p, const float *x, const float *mean) {
    double sum = 0;
    for (size_t d = 0; d < p->dimension; d++)
        sum += (double)x[d] * (double)mean[d];
    return p->axial ? fabs(sum) : sum;
}

/* Flat k-means of the listed rows; means: (clusters, D). */
static void cluster_listed(const points *p, const size_t *list, size_t count, size_t clusters, int32_t *labels,
                           float *means) {
    ast_context *context = ref_context("base", 1);
    ast_options o = options_of(p, clusters, 1);
    ast_report report = {.size = sizeof report};
    size_t records;
    float *rows = ref_take(count * p->dimension, sizeof *rows);
    double *weights = ref_take(count, sizeof *weights);
    for (size_t i = 0; i < count; i++) {
        memcpy(rows + i * p->dimension, p->rows + list[i] * p->dimension, p->dimension * sizeof *rows);
        weights[i] = p->weights ? p->weights[list[i]] : 1;
    }
    ast_points part = ast_points_f4(rows, count, p->dimension);
    part.weights = p->weights ? weights : NULL;
    assert_int_equal(ast_cluster(context, &part, &o, labels, &report), AST_OK);
    const ast_cluster_info *info = ast_cluster_records(context, sizeof *info, &records);
    assert_int_equal(records, clusters);
    for (size_t k = 0; k < clusters; k++)
        memcpy(means + k * p->dimension, info[k].mean, p->dimension * sizeof *means);
    free(rows);
    free(weights);
}

static size_t nearest_of(const points *p, const float *x, const float *means, const size_t *list, size_t count) {
    size_t best = list[0];
    for (size_t j = 1; j < count; j++)
        if (score_of(p, x, means + list[j] * p->dimension) > score_of(p, x, means + best * p->dimension))
            best = list[j];
    return best;
}

/* Largest remainders, at least 1 and at most the points of each. */
static void share_out(size_t clusters, const double *weight, const size_t *size, size_t coarse, size_t *share) {
    double all = 0;
    size_t total = 0;
    for (size_t c = 0; c < coarse; c++)
        all += weight[c];
    for (size_t c = 0; c < coarse; c++) {
        share[c] = (size_t)fmin(floor(weight[c] * ((double)clusters / all)), (double)size[c]);
        share[c] = share[c] || !size[c] ? share[c] : 1;
        total += share[c];
    }
    for (; total != clusters; total += total < clusters ? 1 : (size_t)-1) {
        size_t best = coarse;
        double most = -INFINITY, sign = total < clusters ? 1 : -1;
        for (size_t c = 0; c < coarse; c++) {
            double gap = sign * (weight[c] * ((double)clusters / all) - (double)share[c]);
            if ((sign > 0 ? share[c] < size[c] : share[c] > 1) && gap > most) {
                most = gap;
                best = c;
            }
        }
        share[best] += sign > 0 ? 1 : (size_t)-1;
    }
}

/* The clusters of the coarse clusters near c, its own first: returns their number. */
static size_t list_candidates(const points *p, const float *coarse_means, size_t coarse, size_t c, const size_t *share,
                              const size_t *first, size_t *list) {
    bool *taken = ref_take(coarse, sizeof *taken);
    size_t found = 0, next = c;
    for (int n = 0; n < NEAR && next < coarse; n++) {
        taken[next] = true;
        for (size_t j = 0; j < share[next]; j++)
            list[found++] = first[next] + j;
        double most = -INFINITY;
        next = coarse;
        for (size_t o = 0; o < coarse; o++) {
            double score = score_of(p, coarse_means + c * p->dimension, coarse_means + o * p->dimension);
            if (!taken[o] && share[o] && score > most) {
                most = score;
                next = o;
            }
        }
    }
    free(taken);
    return found;
}

static void cluster_plainly(const points *p, size_t clusters, int32_t *labels) {
    size_t coarse = (size_t)ceil(sqrt((double)clusters) - 1e-9), n = 0, width = p->dimension;
    size_t *present = ref_take(p->count, sizeof *present), *of = ref_take(p->count, sizeof *of);
    size_t *size = ref_take(coarse, sizeof *size), *share = ref_take(coarse, sizeof *share);
    size_t *first = ref_take(coarse + 1, sizeof *first), *all = ref_take(coarse, sizeof *all);
    size_t *list = ref_take(p->count, sizeof *list), *candidates = ref_take(clusters, sizeof *candidates);
    size_t *to = ref_take(p->count, sizeof *to), *members = ref_take(clusters, sizeof *members);
    double *weight = ref_take(coarse, sizeof *weight);
    float *top = ref_take(coarse * width, sizeof *top), *means = ref_take(clusters * width, sizeof *means);
    int32_t *part = ref_take(p->count, sizeof *part);
    for (size_t i = 0; i < p->count; i++) {
        labels[i] = -1;
        if (i % 70 != 69)
            present[n++] = i;
    }
    assert_true(n <= 256 * coarse); /* the sample is all of them */
    cluster_listed(p, present, n, coarse, part, top);
    for (size_t c = 0; c < coarse; c++)
        all[c] = c;
    for (size_t i = 0; i < n; i++) {
        of[present[i]] = nearest_of(p, p->units + present[i] * width, top, all, coarse);
        size[of[present[i]]]++;
        weight[of[present[i]]] += p->weights ? p->weights[present[i]] : 1;
    }
    share_out(clusters, weight, size, coarse, share);
    for (size_t c = 0; c < coarse; c++) {
        size_t count = 0;
        first[c + 1] = first[c] + share[c];
        for (size_t i = 0; i < n; i++)
            if (of[present[i]] == c)
                list[count++] = present[i];
        if (count)
            cluster_listed(p, list, count, share[c], part, means + first[c] * width);
        for (size_t i = 0; i < count; i++)
            labels[list[i]] = (int32_t)first[c] + part[i];
    }
    for (size_t i = 0; i < n; i++) {
        size_t count = list_candidates(p, top, coarse, of[present[i]], share, first, candidates);
        to[i] = nearest_of(p, p->units + present[i] * width, means, candidates, count);
        members[labels[present[i]]]++;
    }
    for (size_t i = 0; i < n; i++)
        if (members[labels[present[i]]] > 1) {
            members[labels[present[i]]]--;
            labels[present[i]] = (int32_t)to[i];
            members[to[i]]++;
        }
    void *arrays[] = {present, of, size, share, first, all, list, candidates, to, members, weight, top, means, part};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
        free(arrays[a]);
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

/* Of so few points all are looked at. */
static void check_loss(const points *p, const ast_cluster_info *info, size_t clusters, const int32_t *labels,
                       const ast_report *report) {
    double own = 0, lost = 0;
    size_t misplaced = 0, present = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (labels[i] < 0)
            continue;
        const float *x = p->units + i * p->dimension;
        double score = score_of(p, x, info[labels[i]].mean), best = score, weight = p->weights ? p->weights[i] : 1;
        for (size_t k = 0; k < clusters; k++)
            best = fmax(best, score_of(p, x, info[k].mean));
        present++;
        misplaced += best > score;
        own += weight * score;
        lost += weight * (best - score);
    }
    assert_true(fabs(report->level_misplaced - (double)misplaced / (double)present) < 1e-12);
    assert_true(fabs(report->level_loss - lost / own) < 1e-12);
}

static void check_all_ways(uint64_t seed, size_t count, size_t dimension, size_t clusters, bool weighted, bool axial) {
    points p = draw_points(seed, count, dimension, weighted, axial);
    int32_t *expected = ref_take(count, sizeof *expected), *labels = ref_take(count, sizeof *labels);
    ast_points given = ast_points_f4(p.rows, count, dimension);
    given.weights = p.weights;
    cluster_plainly(&p, clusters, expected);
    for (int way = 0; way < 4; way++) {
        ast_context *context = ref_context(way & 1 ? REF_FAST : "base", way & 2 ? 3 : 1);
        ast_options o = options_of(&p, clusters, 2);
        ast_report report = {.size = sizeof report};
        size_t records;
        assert_int_equal(ast_cluster(context, &given, &o, labels, &report), AST_OK);
        assert_int_equal(report.clusters, clusters);
        assert_memory_equal(labels, expected, count * sizeof *labels);
        const ast_cluster_info *info = ast_cluster_records(context, sizeof *info, &records);
        check_loss(&p, info, records, labels, &report);
    }
    free(expected);
    free(labels);
    free_points(&p);
}

static void two_levels_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        check_all_ways(seed, 600, 3 + (size_t)seed % 3 * 8, 9 + 13 * (size_t)seed, seed % 2, seed % 3 == 2);
        check_all_ways(seed, 900, 5, 400, seed % 2 == 0, false); /* more coarse clusters than are near */
    }
    check_all_ways(9, 140, 4, 138, false, false); /* a cluster for every point */
}

/* Three levels have no reference: the number of clusters, no empty one, the same labels in all ways. */
static void three_levels_are_whole(void **state) {
    points p = draw_points(4, 3000, 6, true, false);
    int32_t *labels = ref_take(2 * p.count, sizeof *labels);
    ast_points given = ast_points_f4(p.rows, p.count, p.dimension);
    (void)state;
    given.weights = p.weights;
    for (size_t way = 0; way < 2; way++) {
        ast_context *context = ref_context(way ? REF_FAST : "base", way ? 3 : 1);
        ast_options o = options_of(&p, 343, 3);
        ast_report report = {.size = sizeof report};
        size_t records;
        assert_int_equal(ast_cluster(context, &given, &o, labels + way * p.count, &report), AST_OK);
        const ast_cluster_info *info = ast_cluster_records(context, sizeof *info, &records);
        assert_int_equal(records, 343);
        for (size_t k = 0; k < records; k++)
            assert_true(info[k].count > 0);
    }
    assert_memory_equal(labels, labels + p.count, p.count * sizeof *labels);
    free(labels);
    free_points(&p);
}

typedef struct stopper {
    int calls, stop;
    bool last;
} stopper;

static int count_calls(const ast_progress *state, void *data) {
    stopper *s = data;
    s->last = s->last || state->last;
    return s->calls++ == s->stop;
}

/* Wherever it is cancelled. */
static void progress_cancels(void **state) {
    points p = draw_points(2, 400, 4, false, false);
    int32_t *labels = ref_take(p.count, sizeof *labels);
    ast_points given = ast_points_f4(p.rows, p.count, p.dimension);
    ast_context *context = ref_context("base", 2);
    stopper s = {.stop = -1};
    (void)state;
    ast_options o = options_of(&p, 30, 2);
    o.progress = count_calls;
    o.progress_data = &s;
    ast_report report = {.size = sizeof report};
    assert_int_equal(ast_cluster(context, &given, &o, labels, &report), AST_OK);
    assert_false(s.last);
    for (int stop = 0, all = s.calls; stop < all; stop++) {
        s = (stopper){.stop = stop};
        assert_int_equal(ast_cluster(context, &given, &o, labels, &report), AST_CANCELLED);
        assert_int_equal(s.calls, stop + 1);
    }
    free(labels);
    free_points(&p);
}

static void wrong_options_are_refused(void **state) {
    points p = {0};
    float mean[2] = {1, 0};
    (void)state;
    ast_options o = options_of(&p, 9, 0);
    assert_string_equal(ast_options_problem(&o), "levels must be between 1 and 4");
    o.kmeans.levels = 2;
    assert_null(ast_options_problem(&o));
    o.start.points = 9;
    assert_string_equal(ast_options_problem(&o),
                        "levels draw their own starts: start.means and start.points are for one level");
    o.start.points = 0;
    o.start.by = AST_GIVEN;
    o.start.means = mean;
    o.start.means_count = 9;
    assert_string_equal(ast_options_problem(&o),
                        "levels draw their own starts: start.means and start.points are for one level");
    o = options_of(&p, 9, 2);
    o.method = AST_DP;
    o.angle = 20;
    assert_string_equal(ast_options_problem(&o), "levels are for AST_SPKM");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_levels_equal_the_reference),
        cmocka_unit_test(three_levels_are_whole),
        cmocka_unit_test(progress_cancels),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
