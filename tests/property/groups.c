/* SPDX-License-Identifier: MIT
 *
 * Groups: rows of one group never share a cluster. The runs equal a slow program that looks at every cluster for every
 * row, in any order of visit, on any number of threads and any instruction set; merging joins the cheapest pair that
 * shares no group, found among all pairs. */
#include "reference/harness.h"

#include "clusters.h"
#include "degree.h"
#include "grouped.h"
#include "random.h"
#include "tree.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 160, D = 8, PASSES = 100 };

typedef struct scene {
    size_t rows, dimension;
    float x[MOST * D];
    int32_t groups[MOST];
} scene;

/* A few directions with noise, some rows twice; up to four rows of a group, some rows without one. */
static scene draw_scene(uint64_t seed) {
    scene s = {.rows = 0};
    ast_random random;
    float centres[6 * D];
    ast_random_seed(&random, seed, 120);
    s.rows = 1 + ast_random_below(&random, MOST - 1);
    s.dimension = 2 + ast_random_below(&random, D - 1);
    double noise = ast_random_below(&random, 3) ? 0.15 : 0;
    for (size_t c = 0; c < 6 * D; c++)
        centres[c] = (float)ast_random_normal(&random);
    for (size_t i = 0; i < s.rows; i++) {
        size_t centre = ast_random_below(&random, 6);
        for (size_t d = 0; d < s.dimension; d++)
            s.x[i * s.dimension + d] = centres[centre * D + d] + (float)(noise * ast_random_normal(&random));
        if (i && ast_random_below(&random, 8) == 0)
            memcpy(s.x + i * s.dimension, s.x + (i - 1) * s.dimension, s.dimension * sizeof *s.x);
        s.groups[i] = (int32_t)ast_random_below(&random, s.rows / 3 + 1);
        s.groups[i] -= ast_random_below(&random, 9) == 0 ? 999 : 0;
    }
    return s;
}

/* ---- The slow program -------------------------------------------------------------------------------------------- */

typedef struct slow {
    size_t rows, dimension, clusters;
    float x[MOST * D]; /* unit rows */
    float means[2 * MOST * D];
    int32_t labels[MOST]; /* -1: none yet */
    const int32_t *groups;
} slow;

static void normalise(slow *s, const scene *from) {
    for (size_t i = 0; i < s->rows; i++) {
        double squares = 0;
        for (size_t d = 0; d < s->dimension; d++)
            squares += (double)from->x[i * s->dimension + d] * (double)from->x[i * s->dimension + d];
        bool unit = fabs(squares - 1) <= 0x1p-22;
        for (size_t d = 0; d < s->dimension; d++) {
            float x = from->x[i * s->dimension + d];
            s->x[i * s->dimension + d] = unit ? x : (float)((double)x / sqrt(squares));
        }
    }
}

static size_t members(const slow *s, int32_t k) {
    size_t count = 0;
    for (size_t i = 0; i < s->rows; i++)
        count += s->labels[i] == k;
    return count;
}

/* Whether an earlier row of the group has joined the cluster in this pass, in which rows before i were visited. */
static bool is_taken(const slow *s, size_t i, int32_t k) {
    for (size_t j = 0; j < i; j++)
        if (s->groups[i] >= 0 && s->groups[j] == s->groups[i] && s->labels[j] == k)
            return true;
    return false;
}

/* The best cluster that is free for the row, which has no label now; -1: there is none. */
static int32_t best_for(const slow *s, size_t i, bool births, double *score) {
    int32_t best = -1;
    for (int32_t k = 0; (size_t)k < s->clusters; k++) {
        if (is_taken(s, i, k) || (births && members(s, k) == 0))
            continue;
        double other = ast_exact_score(s->x + i * s->dimension, s->means + (size_t)k * s->dimension, s->dimension);
        if (best < 0 || other > *score) {
            best = k;
            *score = other;
        }
    }
    return best;
}

static void renumber(slow *s) {
    int32_t live = 0;
    for (int32_t k = 0; (size_t)k < s->clusters; k++) {
        if (members(s, k) == 0)
            continue;
        for (size_t i = 0; i < s->rows; i++)
            s->labels[i] = s->labels[i] == k ? live : s->labels[i];
        memmove(s->means + (size_t)live * s->dimension, s->means + (size_t)k * s->dimension,
                s->dimension * sizeof *s->means);
        live++;
    }
    s->clusters = (size_t)live;
}

static void update(slow *s) {
    for (int32_t k = 0; (size_t)k < s->clusters; k++) {
        int64_t sum[D] = {0};
        for (size_t i = 0; i < s->rows; i++)
            for (size_t d = 0; s->labels[i] == k && d < s->dimension; d++)
                sum[d] += llrint((double)s->x[i * s->dimension + d] * 0x1p30);
        double length = ast_sum_length(sum, s->dimension);
        for (size_t i = 0; i < s->rows && members(s, k) == 1; i++)
            if (s->labels[i] == k)
                memcpy(s->means + (size_t)k * s->dimension, s->x + i * s->dimension, s->dimension * sizeof *s->x);
        for (size_t d = 0; d < s->dimension && members(s, k) > 1 && length / 0x1p30 > (double)members(s, k) * 0x1p-20;
             d++)
            s->means[(size_t)k * s->dimension + d] = (float)((double)sum[d] / length);
    }
}

static void visit(slow *s, size_t i, double limit, double *fit) {
    int32_t was = s->labels[i];
    bool lone = was >= 0 && members(s, was) == 1, births = limit > -2;
    double score = 0;
    s->labels[i] = -1;
    int32_t best = best_for(s, i, births, &score);
    if (best >= 0 && score >= limit) {
        s->labels[i] = best;
        fit[i] = score;
        return;
    }
    s->labels[i] = lone ? was : (int32_t)s->clusters++;
    memcpy(s->means + (size_t)s->labels[i] * s->dimension, s->x + i * s->dimension, s->dimension * sizeof *s->x);
}

/* An empty cluster takes the row that fits its own worst. */
static void fill(slow *s, double *fit) {
    for (int32_t k = 0; (size_t)k < s->clusters; k++) {
        size_t worst = s->rows;
        for (size_t i = 0; i < s->rows && members(s, k) == 0; i++)
            if (members(s, s->labels[i]) > 1 && (worst == s->rows || fit[i] < fit[worst]))
                worst = i;
        if (worst < s->rows) {
            s->labels[worst] = k;
            fit[worst] = 1;
        }
    }
}

/* limit -3: no births, empty clusters take a row. Returns the number of passes. */
static int run_slow(slow *s, double limit) {
    static int32_t earlier[PASSES][MOST];
    double fit[MOST];
    for (int pass = 0; pass < PASSES; pass++) {
        int32_t before[MOST];
        memcpy(before, s->labels, sizeof before);
        for (size_t i = 0; i < s->rows; i++)
            visit(s, i, limit, fit);
        if (limit < -2)
            fill(s, fit);
        bool same = memcmp(before, s->labels, s->rows * sizeof *before) == 0;
        renumber(s);
        update(s);
        for (int p = 0; p < pass && !same; p++)
            same = memcmp(earlier[p], s->labels, s->rows * sizeof *before) == 0;
        memcpy(earlier[pass], s->labels, sizeof earlier[pass]);
        if (same)
            return pass + 1;
    }
    return PASSES;
}

static slow begin_slow(const scene *from) {
    slow s = {.rows = from->rows, .dimension = from->dimension, .groups = from->groups};
    normalise(&s, from);
    memset(s.labels, 0xff, sizeof s.labels);
    return s;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static ast_report run(const scene *s, const ast_options *options, int way, int32_t *labels) {
    static const int threads[] = {1, 2, 3};
    ast_context *context = ref_context(way % 2 ? REF_FAST : "base", threads[way % 3]);
    ast_points points = ast_points_f4(s->x, s->rows, s->dimension);
    ast_report report = {.size = sizeof report};
    if (ast_cluster(context, &points, options, labels, &report) != AST_OK)
        fail_msg("%s", ast_message(context));
    return report;
}

static void check_groups(const scene *s, const int32_t *labels, uint64_t seed) {
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < i; j++)
            if (s->groups[i] >= 0 && s->groups[i] == s->groups[j] && labels[i] >= 0 && labels[i] == labels[j])
                fail_msg("seed %llu: rows %zu and %zu of a group share a cluster", (unsigned long long)seed, j, i);
}

static void dp_equals_the_slow_program(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        scene s = draw_scene(seed);
        slow expected = begin_slow(&s);
        ast_options options = ref_dp_options(seed % 5 == 0 ? 0 : 15 + (double)(seed % 60));
        int32_t labels[MOST];
        options.groups = s.groups;
        int passes = run_slow(&expected, cos(options.angle * AST_DEGREE) - 0x1p-20);
        ast_report report = run(&s, &options, (int)(seed % 6), labels);
        check_groups(&s, labels, seed);
        if (memcmp(labels, expected.labels, s.rows * sizeof *labels) != 0 || report.iterations != passes)
            fail_msg("seed %llu: the labels differ from those of the slow program (%d passes, should be %d)",
                     (unsigned long long)seed, report.iterations, passes);
    }
}

/* Spherical k-means from given means. */
static void spkm_equals_the_slow_program(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        scene s = draw_scene(seed);
        slow expected = begin_slow(&s);
        ast_options options;
        int32_t labels[MOST];
        size_t largest = 1, clusters;
        for (size_t i = 0; i < s.rows; i++) {
            size_t size = 0;
            for (size_t j = 0; j < s.rows; j++)
                size += s.groups[i] >= 0 && s.groups[i] == s.groups[j];
            largest = size > largest ? size : largest;
        }
        clusters = largest + seed % 4 < s.rows ? largest + seed % 4 : s.rows;
        ast_options_init(&options);
        options.method = AST_SPKM;
        options.start.by = AST_GIVEN;
        options.start.means = expected.x;
        options.start.means_count = expected.clusters = clusters;
        options.groups = s.groups;
        memcpy(expected.means, expected.x, clusters * s.dimension * sizeof *expected.means);
        run_slow(&expected, -3);
        run(&s, &options, (int)(seed % 6), labels);
        check_groups(&s, labels, seed);
        if (memcmp(labels, expected.labels, s.rows * sizeof *labels) != 0)
            fail_msg("seed %llu: the labels differ from those of the slow program", (unsigned long long)seed);
    }
}

/* Merging, small clusters, weights of 0, orders and restarts: no two rows of a group ever share a cluster. */
static void no_option_breaks_groups(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        scene s = draw_scene(seed);
        ast_options options = ref_dp_options(20 + (double)(seed % 50));
        ast_points points = ast_points_f4(s.x, s.rows, s.dimension);
        int32_t labels[MOST];
        double weights[MOST];
        ast_report report = {.size = sizeof report};
        options.groups = s.groups;
        options.dp.order = (ast_order)(seed % 3);
        options.restarts = 1 + (int)(seed % 2);
        options.merge.by = seed % 4 == 0 ? AST_MERGE_ANGLE : seed % 4 == 1 ? AST_MERGE_EVIDENCE : AST_MERGE_NONE;
        options.merge.angle = 40;
        options.merge.min_size = (double)(seed % 3);
        for (size_t i = 0; i < s.rows; i++)
            weights[i] = (double)((i * 7 + seed) % 4);
        points.weights = seed % 5 && s.rows > 8 ? weights : NULL;
        if (ast_cluster(ref_context(REF_FAST, 2), &points, &options, labels, &report) != AST_OK)
            fail_msg("seed %llu: %s", (unsigned long long)seed, ast_message(ref_context(REF_FAST, 2)));
        check_groups(&s, labels, seed);
    }
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

typedef struct node {
    int64_t sum[3];
    uint64_t groups; /* a bit each */
    bool alive;
} node;

static double length_of(const int64_t *a, const int64_t *b) {
    double squares = 0;
    for (int d = 0; d < 3; d++)
        squares += ((double)(a[d] + b[d])) * ((double)(a[d] + b[d]));
    return sqrt(squares) / 0x1p30;
}

static double price_of(const node *a, const node *b) {
    const int64_t zero[3] = {0};
    return length_of(a->sum, zero) + length_of(b->sum, zero) - length_of(a->sum, b->sum);
}

/* The cheapest pair that shares no group, of equal ones the lowest; count * 2: there is none. */
static size_t cheapest(const node *nodes, size_t count, size_t *second) {
    size_t best = 2 * count;
    double least = INFINITY;
    for (size_t a = 0; a < 2 * count; a++)
        for (size_t b = a + 1; b < 2 * count && nodes[a].alive; b++)
            if (nodes[b].alive && !(nodes[a].groups & nodes[b].groups) && price_of(&nodes[a], &nodes[b]) < least) {
                least = price_of(&nodes[a], &nodes[b]);
                best = a;
                *second = b;
            }
    return best;
}

static void joins_are_the_cheapest_that_are_allowed(void **state) {
    (void)state;
    enum { LEAVES = 90 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 121);
        size_t count = 1 + ast_random_below(&random, LEAVES), start[LEAVES + 1], second = 0;
        node nodes[2 * LEAVES] = {0};
        int64_t sums[3 * LEAVES];
        float means[3 * LEAVES];
        int32_t groups[LEAVES * 3];
        size_t used = 0;
        for (size_t k = 0; k < count; k++) {
            start[k] = used;
            nodes[k].alive = true;
            for (int d = 0; d < 3; d++) {
                sums[3 * k + (size_t)d] = nodes[k].sum[d] =
                    ((int64_t)ast_random_below(&random, 21) - 10) * (int64_t)0x1p27 + (d == 0 ? (int64_t)0x1p30 : 0);
                means[3 * k + (size_t)d] = d == 0;
            }
            for (int g = 0; g < 60; g++)
                if (ast_random_below(&random, 60) == 0 && used < start[k] + 3) {
                    groups[used++] = g;
                    nodes[k].groups |= UINT64_C(1) << g;
                }
        }
        start[count] = used;
        ast_leaves leaves = {.count = count, .dimension = 3, .sums = sums, .means = means, .unit = 0x1p30};
        leaves.group_start = start;
        leaves.groups = groups;
        ast_pool *pool;
        assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
        ast_joiner *joiner = ast_joiner_open(&leaves, AST_PRICE_LOSS, ast_kernels_choose("base"), pool);
        ast_joined join;
        size_t made = 0;
        for (; ast_joiner_next(joiner, &join); made++) {
            size_t first = cheapest(nodes, count, &second);
            if (first != (size_t)join.a || second != (size_t)join.b)
                fail_msg("seed %llu: join %zu is %d and %d, should be %zu and %zu", (unsigned long long)seed, made,
                         join.a, join.b, first, second);
            node *both = &nodes[count + made];
            *both = nodes[first];
            for (int d = 0; d < 3; d++)
                both->sum[d] += nodes[second].sum[d];
            both->groups |= nodes[second].groups;
            nodes[first].alive = nodes[second].alive = false;
            ast_joiner_join(joiner, &join);
        }
        assert_true(cheapest(nodes, count, &second) == 2 * count);
        ast_joiner_close(joiner);
        ast_pool_close(pool);
    }
}

/* ---- What is refused --------------------------------------------------------------------------------------------- */

static void what_cannot_have_groups_is_refused(void **state) {
    (void)state;
    const float x[] = {1, 0, 0, 1, 0.6f, 0.8f};
    const int32_t groups[] = {4, 4, 4};
    int32_t labels[3];
    ast_points points = ast_points_f4(x, 3, 2);
    ast_report report = {.size = sizeof report};
    ast_options options = ref_dp_options(30);
    options.groups = groups;
    assert_null(ast_options_problem(&options));
    options.axial = 1;
    assert_non_null(ast_options_problem(&options));
    options.axial = 0;
    options.merge.tree = 1;
    assert_non_null(ast_options_problem(&options));
    options.merge.tree = 0;
    options.method = AST_MOVMF;
    options.clusters = 2;
    assert_non_null(ast_options_problem(&options));
    options.method = AST_SPKM;
    ast_context *context = ref_context("base", 1);
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
    assert_string_equal(ast_message(context), "the group of row 1 (counting from 1) has 3 rows, but there are only 2 "
                                              "clusters; rows of one group never share one");
    options = ref_dp_options(30);
    options.groups = groups;
    options.merge.by = AST_MERGE_COUNT;
    options.merge.count = 2;
    assert_int_equal(ast_cluster(context, &points, &options, labels, &report), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "3 is the fewest"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dp_equals_the_slow_program),
        cmocka_unit_test(spkm_equals_the_slow_program),
        cmocka_unit_test(no_option_breaks_groups),
        cmocka_unit_test(joins_are_the_cheapest_that_are_allowed),
        cmocka_unit_test(what_cannot_have_groups_is_refused),
    };
    return cmocka_run_group_tests_name("groups", tests, NULL, ref_contexts_end);
}
