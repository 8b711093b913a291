/* SPDX-License-Identifier: MIT
 *
 * Spherical k-means by tallies: however the points are split, whoever is merged with whom, the iterations are those of
 * the reference, bit for bit, and the bytes are those of one part. A failure prints AST_TEST_SEED=...: with that in the
 * environment the program runs the one case. */
#include "asterism_tally.h"
#include "reference/harness.h"
#include "reference/sparse.h"

#include "checksum.h"
#include "random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 7 };

typedef struct run {
    const ref_case *made;
    const ref_points *points;
    ast_points view; /* the case's, or the same compressed by rows */
    ast_tally_options options;
    ast_random random;
    size_t clusters;
    float *means;
    int32_t *labels, *before;
    ast_tally *parts[PARTS];
    size_t empties; /* moves of all iterations */
} run;

static ast_points slice(const ast_points *view, size_t first, size_t count) {
    ast_points part = *view;
    part.count = count;
    part.weights = view->weights ? view->weights + first : NULL;
    if (view->starts)
        part.starts = (const char *)view->starts + first * (view->index == AST_I8 ? 8 : 4);
    else
        part.data = (const char *)view->data + (ptrdiff_t)first * view->row_stride;
    return part;
}

static ast_context *some_context(run *r) {
    ref_setup setup = ref_setup_number((size_t)ast_random_below(&r->random, REF_SETUPS));
    return ref_context(setup.isa, setup.threads > 3 ? 1 : setup.threads);
}

static ast_tally *open_tally(run *r) {
    ast_context *context = some_context(r);
    ast_tally *tally;
    ast_tally_open(&tally, context, r->means, r->clusters, r->view.dimension, &r->options);
    if (!tally)
        fail_msg("seed %llu: %s", (unsigned long long)r->made->seed, ast_message(context));
    return tally;
}

static void merge(run *r, ast_tally *into, ast_tally *from) {
    size_t size;
    const void *bytes = ast_tally_save(from, &size);
    char *shifted = ref_take(size + 1, 1);
    assert_non_null(bytes);
    memcpy(shifted + 1, bytes, size); /* wherever they lie */
    if (ast_tally_merge(into, shifted + 1, size) != AST_OK)
        fail_msg("seed %llu: a part is refused", (unsigned long long)r->made->seed);
    free(shifted);
}

/* Some parts, some of them in two blocks, joined in a random order; the labels are those of the points. */
static void fill_parts(run *r) {
    size_t at = 0, count = r->view.count;
    for (int p = 0; p < PARTS; p++) {
        r->parts[p] = open_tally(r);
        for (int block = 0; block < 2; block++) {
            size_t left = count - at,
                   n = p == PARTS - 1 && block ? left : (size_t)ast_random_below(&r->random, left + 1);
            n = n > 2 * count / PARTS && p < PARTS - 1 ? n / 3 : n;
            ast_points part = slice(&r->view, at, n);
            if (ast_tally_add(r->parts[p], &part, at, r->labels + at) != AST_OK)
                fail_msg("seed %llu: a block is refused", (unsigned long long)r->made->seed);
            at += n;
        }
    }
}

static ast_tally *join_parts(run *r) {
    for (size_t left = PARTS; left > 1; left--) {
        size_t a = (size_t)ast_random_below(&r->random, left), b = (size_t)ast_random_below(&r->random, left - 1);
        b += b >= a;
        merge(r, r->parts[a], r->parts[b]);
        ast_tally_close(r->parts[b]);
        r->parts[b] = r->parts[left - 1];
        if (a == left - 1)
            a = b;
    }
    return r->parts[0];
}

/* One part with all points has the same bytes. */
static void check_bytes(run *r, ast_tally *joined) {
    ast_tally *whole = open_tally(r);
    size_t size, other;
    assert_int_equal(ast_tally_add(whole, &r->view, 0, r->before), AST_OK);
    const void *bytes = ast_tally_save(joined, &size), *others = ast_tally_save(whole, &other);
    if (size != other || memcmp(bytes, others, size) != 0)
        fail_msg("AST_TEST_SEED=%llu: %s: the bytes depend on the split", (unsigned long long)r->made->seed,
                 r->made->text);
    assert_memory_equal(r->before, r->labels, r->view.count * sizeof *r->labels);
    ast_tally_close(whole);
}

/* One iteration; its fingerprint and objective. */
static uint64_t iterate(run *r, double *objective) {
    ast_tally_step step = {.size = sizeof step};
    memcpy(r->before, r->labels, r->view.count * sizeof *r->labels);
    fill_parts(r);
    ast_tally *all = join_parts(r);
    check_bytes(r, all);
    ast_tally_totals totals = {.size = sizeof totals};
    ast_tally_look(all, &totals);
    assert_int_equal(totals.points, r->view.count);
    assert_int_equal(totals.missing, r->points->missed);
    assert_int_equal(ast_tally_update(all, &step), AST_OK);
    for (size_t m = 0; m < step.moved; m++) {
        assert_int_equal(r->labels[step.moves[m].point], step.moves[m].from);
        r->labels[step.moves[m].point] = step.moves[m].to;
    }
    r->empties += step.moved;
    assert_true(step.objective >= totals.objective - 1e-6 * (1 + fabs(step.objective)) || step.moved);
    *objective = step.objective;
    memcpy(r->means, step.means, r->clusters * r->view.dimension * sizeof *r->means);
    ast_tally_look(all, &totals);
    assert_int_equal(totals.points, 0);
    ast_tally_close(all);
    return step.fingerprint;
}

static void check_result(run *r, const ref_result *expected, int iterations, int converged, double objective) {
    size_t dimension = r->view.dimension;
    for (size_t k = 0; r->options.axial && k < r->clusters; k++)
        ref_turn_mean(r->means + k * dimension, dimension);
    bool same = iterations == expected->iterations && converged == expected->converged &&
                fabs(objective - expected->objective) <= 1e-9 * (1 + fabs(objective)) &&
                memcmp(r->means, expected->means, r->clusters * dimension * sizeof *r->means) == 0;
    for (size_t i = 0; i < r->view.count; i++)
        if (r->points->missing[i] || r->points->weight[i] > 0 || converged)
            same = same && r->labels[i] == expected->labels[i];
    if (!same)
        fail_msg("AST_TEST_SEED=%llu: %s, %zu clusters: %d iterations (%d), objective %.17g, not %d (%d), %.17g",
                 (unsigned long long)r->made->seed, r->made->text, r->clusters, iterations, converged, objective,
                 expected->iterations, expected->converged, expected->objective);
}

/* What the options say of weights: of those that differ. */
static void weigh(run *r) {
    const double *w = r->view.weights;
    double smallest = INFINITY, largest = 0, total = 0;
    int zeros = 0;
    for (size_t i = 0; w && i < r->view.count; i++) {
        if (r->points->missing[i])
            continue;
        zeros |= w[i] == 0;
        smallest = w[i] > 0 && w[i] < smallest ? w[i] : smallest;
        largest = w[i] > largest ? w[i] : largest;
    }
    for (size_t i = 0; w && i < r->view.count; i++)
        total += r->points->missing[i] ? 0 : w[i] / smallest;
    bool equal = !w || (smallest == largest && !zeros);
    r->view.weights = equal ? NULL : w;
    r->options.smallest_weight = equal ? 0 : smallest;
    r->options.total_weight = equal ? 0 : total;
}

/* Points of the set, some of them twice, and random directions. */
static void draw_means(run *r) {
    size_t dimension = r->view.dimension;
    for (size_t k = 0; k < r->clusters; k++) {
        size_t i = (size_t)ast_random_below(&r->random, r->view.count);
        int copy = !r->points->missing[i] && ast_random_below(&r->random, 4) > 0;
        for (size_t d = 0; d < dimension; d++)
            r->means[k * dimension + d] = copy ? r->points->x[i * dimension + d] : (float)ast_random_normal(&r->random);
    }
}

static size_t run_case(const ref_case *made, const ref_points *points, const ast_points *view, int axial) {
    run r = {.made = made, .points = points, .view = *view, .options = {.size = sizeof r.options, .axial = axial}};
    ast_random_seed(&r.random, made->seed, 96);
    size_t most = points->used < 40 || ast_random_below(&r.random, 5) == 0 ? points->used : 40;
    r.clusters = 1 + (size_t)ast_random_below(&r.random, most < 300 ? most : 300);
    r.means = ref_take(r.clusters * view->dimension, sizeof *r.means);
    r.labels = ref_take(view->count, sizeof *r.labels);
    r.before = ref_take(view->count, sizeof *r.before);
    draw_means(&r);
    weigh(&r);
    ref_result expected;
    int most_iterations = ast_random_below(&r.random, 3) ? 12 : 1 + (int)ast_random_below(&r.random, 3);
    ref_spkm(&expected, points, r.means, r.clusters, most_iterations);
    ast_context *context = some_context(&r);
    if (ast_tally_start(context, r.means, r.clusters, view->dimension, r.means) != AST_OK)
        fail_msg("seed %llu: %s", (unsigned long long)made->seed, ast_message(context));
    uint64_t print = 0;
    int iterations = 0, converged = 0;
    double objective = 0;
    while (!converged && iterations < most_iterations) {
        uint64_t next = iterate(&r, &objective);
        converged = iterations++ > 0 && next == print;
        print = next;
    }
    check_result(&r, &expected, iterations, converged, objective);
    ref_result_free(&expected);
    free(r.means);
    free(r.labels);
    free(r.before);
    return r.empties;
}

static size_t filled; /* empty clusters that were met */

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    ref_case made;
    ref_points points;
    ref_case_make(&made, seed, size);
    ref_points_read(&points, &made.points);
    int axial = seed % 3 == 0;
    if (axial)
        ref_points_turn(&points);
    for (size_t way = 0; way < ways && points.used > 0; way++)
        filled += run_case(&made, &points, &made.points, axial);
    if (points.used > 0 && !axial && seed % 2) {
        ref_sparse sparse;
        ast_random random;
        ast_random_seed(&random, seed, 95);
        ref_compress(&sparse, &made.points, &random);
        filled += run_case(&made, &points, &sparse.view, 0);
        ref_sparse_free(&sparse);
    }
    ref_points_free(&points);
    ref_case_free(&made);
}

static void tallies_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_SMALL, 600, 1);
    ref_check_seeds(check_case, REF_LARGE, 6, 1);
    assert_true(filled > 0);
}

/* ---- What is refused -------------------------------------------------------------------------------------------- */

static const float means[] = {1, 0, 0, 1}, x[] = {0.8f, 0.6f, 0.6f, 0.8f, -1, 0};

static void refuse(ast_tally *tally, const void *bytes, size_t size, ast_context *context, const char *words) {
    size_t before, after;
    const void *held = ast_tally_save(tally, &before);
    char *copy = ref_take(before, 1);
    memcpy(copy, held, before);
    assert_int_equal(ast_tally_merge(tally, bytes, size), AST_BAD_DATA);
    if (!strstr(ast_message(context), words))
        fail_msg("'%s' does not say '%s'", ast_message(context), words);
    held = ast_tally_save(tally, &after);
    assert_int_equal(before, after);
    assert_memory_equal(held, copy, before);
    free(copy);
}

static void damage_is_noticed(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 1);
    ast_tally *one, *two;
    ast_tally_open(&one, context, means, 2, 2, NULL);
    ast_tally_open(&two, context, means, 2, 2, NULL);
    ast_points points = ast_points_f4(x, 3, 2);
    assert_int_equal(ast_tally_add(two, &points, 0, NULL), AST_OK);
    size_t size;
    const char *saved = ast_tally_save(two, &size);
    char *bytes = ref_take(size, 1);
    memcpy(bytes, saved, size);
    for (size_t n = 0; n < size; n++) {
        assert_int_equal(ast_tally_merge(one, bytes, n), AST_BAD_DATA);
        bytes[n] ^= 16;
        assert_int_equal(ast_tally_merge(one, bytes, size), AST_BAD_DATA);
        bytes[n] ^= 16;
    }
    refuse(one, bytes, 3, context, "it has only 3 bytes");
    bytes[0] ^= 1;
    refuse(one, bytes, size, context, "no tally");
    bytes[0] ^= 1;
    bytes[8]++;
    refuse(one, bytes, size, context, "version 3; this library reads version 2");
    bytes[8]--;
    bytes[size / 2] ^= 1;
    refuse(one, bytes, size, context, "its checksum does not match");
    bytes[size / 2] ^= 1;
    assert_int_equal(ast_tally_merge(one, bytes, size), AST_OK);
    ast_tally_close(one);
    ast_tally_close(two);
    free(bytes);
}

/* Sums that no rows have, under a checksum that is right: the sums are at byte 120, the weights behind them. */
static void impossible_sums_are_refused(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 1);
    ast_tally *one;
    ast_points points = ast_points_f4(x, 3, 2);
    size_t size;
    assert_int_equal(ast_tally_open(&one, context, means, 2, 2, NULL), AST_OK);
    assert_int_equal(ast_tally_add(one, &points, 0, NULL), AST_OK);
    const char *saved = ast_tally_save(one, &size);
    char *bytes = ref_take(size, 1);
    for (size_t j = 0; j < 6; j++) {
        static const int64_t wild[] = {INT64_MAX, INT64_MIN, (int64_t)1 << 40};
        for (size_t w = 0; w < 3; w++) {
            saved = ast_tally_save(one, &size);
            memcpy(bytes, saved, size);
            memcpy(bytes + 120 + 8 * j, &wild[w], sizeof *wild);
            uint64_t sum = ast_checksum(bytes, size - sizeof sum);
            memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
            refuse(one, bytes, size, context, "do not match its counts");
        }
    }
    ast_tally_close(one);
    free(bytes);
}

static void check_other(const float *m, size_t clusters, size_t dimension, const ast_tally_options *o,
                        const char *words) {
    ast_context *context = ref_context(REF_FAST, 1);
    ast_tally *one;
    ast_tally_open(&one, context, means, 2, 2, NULL);
    ast_tally *two;
    ast_tally_open(&two, context, m, clusters, dimension, o);
    size_t size;
    assert_non_null(two);
    const void *bytes = ast_tally_save(two, &size);
    refuse(one, bytes, size, context, words);
    ast_tally_close(one);
    ast_tally_close(two);
}

static void other_iterations_are_refused(void **state) {
    (void)state;
    static const float other[] = {1, 0, 0, -1}, long_ones[] = {1, 0, 0, 1, 0, 0};
    check_other(other, 2, 2, NULL, "another set of means");
    check_other(means, 1, 2, NULL, "another number of clusters");
    check_other(long_ones, 2, 3, NULL, "another dimension");
    check_other(means, 2, 2, &(ast_tally_options){.size = sizeof(ast_tally_options), .axial = 1},
                "another setting of axial");
    check_other(means, 2, 2,
                &(ast_tally_options){.size = sizeof(ast_tally_options), .smallest_weight = 1, .total_weight = 9},
                "another smallest_weight");
}

static void check_open(const float *m, size_t clusters, size_t dimension, ast_tally_options o, const char *words) {
    ast_context *context = ref_context(REF_FAST, 1);
    ast_tally *tally;
    assert_int_not_equal(ast_tally_open(&tally, context, m, clusters, dimension, &o), AST_OK);
    assert_null(tally);
    if (!strstr(ast_message(context), words))
        fail_msg("'%s' does not say '%s'", ast_message(context), words);
}

static void check_add(const ast_points *points, ast_tally_options o, ast_status status, const char *words) {
    ast_context *context = ref_context(REF_FAST, 1);
    ast_tally *tally;
    ast_tally_open(&tally, context, means, 2, 2, &o);
    int32_t labels[3] = {7, 7, 7};
    assert_non_null(tally);
    assert_int_equal(ast_tally_add(tally, points, 0, labels), status);
    if (!strstr(ast_message(context), words))
        fail_msg("'%s' does not say '%s'", ast_message(context), words);
    assert_true(labels[0] == 7 && labels[1] == 7 && labels[2] == 7);
    ast_tally_step step = {.size = sizeof step};
    assert_int_equal(ast_tally_update(tally, &step), AST_BAD_DATA);
    ast_tally_close(tally);
}

static void wrong_arguments(void **state) {
    (void)state;
    static const float hollow[] = {1, 0, 0, 0};
    static const double weights[] = {1, 2, 4};
    const ast_tally_options none = {.size = sizeof none},
                            weighted = {.size = sizeof weighted, .smallest_weight = 2, .total_weight = 3};
    check_open(NULL, 2, 2, none, "there are 0 means");
    check_open(means, 0, 2, none, "there are 0 means");
    check_open(means, 1, 1, none, "dimension 1");
    check_open(hollow, 2, 2, none, "mean 2 (counting from 1) is no unit vector");
    ast_context *context = ref_context(REF_FAST, 1);
    float started[4] = {7};
    assert_int_equal(ast_tally_start(context, hollow, 2, 2, started), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "mean 2 (counting from 1) has no direction"));
    assert_true(started[0] == 7);
    check_open(means, 2, 2, (ast_tally_options){.size = sizeof(ast_tally_options), .smallest_weight = -1},
               "smallest_weight is -1");
    check_open(means, 2, 2, (ast_tally_options){.size = sizeof(ast_tally_options), .smallest_weight = 1},
               "total_weight is 0");
    ast_points points = ast_points_f4(x, 3, 2), flat = ast_points_f4(x, 2, 3), heavy = points;
    heavy.weights = weights;
    check_add(NULL, none, AST_BAD_OPTION, "NULL");
    check_add(&flat, none, AST_BAD_DATA, "the points have dimension 3, the means 2");
    check_add(&heavy, none, AST_BAD_OPTION, "smallest_weight and total_weight are to be set");
    check_add(&points, weighted, AST_BAD_OPTION, "these points have no weights");
    check_add(&heavy, weighted, AST_BAD_DATA, "weight 1 (counting from 1) is 1, less than");
    check_add(&heavy, (ast_tally_options){.size = sizeof(ast_tally_options), .smallest_weight = 1, .total_weight = 5},
              AST_BAD_DATA, "come to 7 times");
    ast_tally_close(NULL);
}

/* Three points, two clusters: one below the other would be missing. */
static void too_few_points(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 1);
    ast_tally *tally;
    ast_tally_open(&tally, context, means, 2, 2, NULL);
    ast_points points = ast_points_f4(x, 1, 2);
    ast_tally_step step = {.size = sizeof step};
    assert_int_equal(ast_tally_add(tally, &points, 0, NULL), AST_OK);
    assert_int_equal(ast_tally_update(tally, &step), AST_BAD_DATA);
    assert_string_equal(ast_message(context), "there are 2 clusters, but only 1 usable point");
    points = ast_points_f4(x + 4, 1, 2);
    assert_int_equal(ast_tally_add(tally, &points, 1, NULL), AST_OK);
    assert_int_equal(ast_tally_update(tally, &step), AST_OK);
    assert_int_equal(step.moved, 0);
    assert_memory_equal(step.means, x, 2 * sizeof *x);
    ast_tally_close(tally);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tallies_equal_the_reference),
                                       cmocka_unit_test(damage_is_noticed),
                                       cmocka_unit_test(impossible_sums_are_refused),
                                       cmocka_unit_test(other_iterations_are_refused),
                                       cmocka_unit_test(wrong_arguments),
                                       cmocka_unit_test(too_few_points)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
