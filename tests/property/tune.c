/* SPDX-License-Identifier: MIT
 *
 * What must hold of ast_tune: one distribution is weak, whatever its concentration, in noise or not, and so are
 * circles; clusters that are there are found; permuted rows, other threads and other seeds give the same
 * recommendation; the recommended options give what was described; a call can be cancelled at any step and leaves the
 * context as it was. AST_TEST_LONG=1 takes ten seeds of each distribution, and 10,000 points. */
#include "random.h"
#include "reference/cases.h"
#include "reference/harness.h"
#include "tune.h"
#include "vmf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cloud {
    size_t count, dimension;
    float *rows;
    int32_t *labels;
} cloud;

static cloud make_cloud(size_t count, size_t dimension, size_t clusters, double kappa, double separation, int axial,
                        uint64_t seed) {
    cloud c = {count, dimension, ref_take(count * dimension, sizeof(float)), ref_take(count, sizeof(int32_t))};
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = count,
                           .dimension = dimension,
                           .clusters = clusters,
                           .kappa = kappa,
                           .separation = separation,
                           .axial = axial,
                           .seed = seed};
    assert_int_equal(ast_sample_mixture(ref_context(REF_FAST, 2), &mixture, c.rows, c.labels, NULL), AST_OK);
    return c;
}

static void free_cloud(cloud *c) {
    free(c->rows);
    free(c->labels);
}

static ast_tune_report tune(ast_context *context, const cloud *c, int axial, int32_t *labels) {
    ast_points points = ast_points_f4(c->rows, c->count, c->dimension);
    ast_tune_options options;
    ast_tune_report report = {.size = sizeof report};
    ast_tune_options_init(&options);
    options.axial = axial;
    assert_int_equal(ast_tune(context, &points, &options, labels, &report), AST_OK);
    return report;
}

/* ---- Nothing is there -------------------------------------------------------------------------------------------- */

static void check_weak(size_t count, size_t dimension, double kappa, int axial) {
    uint64_t seeds = ref_long() ? 10 : 1;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        cloud c = make_cloud(count, dimension, 1, kappa, 0, axial, seed);
        ast_tune_report report = tune(ref_context(REF_FAST, 2), &c, axial, NULL);
        if (!report.weak)
            fail_msg("%zu x %zu, kappa %g, axial %d, seed %d: %zu clusters, excess %g: %s", count, dimension, kappa,
                     axial, (int)seed, report.clusters, report.excess, report.reason);
        assert_true(report.angle >= 5 && report.angle <= 120);
        assert_non_null(strstr(report.reason, "nothing stands out"));
        free_cloud(&c);
    }
}

static void one_distribution_is_weak(void **state) {
    (void)state;
    check_weak(1000, 3, 0, 0);
    check_weak(1000, 3, 10, 0);
    check_weak(2000, 64, 0, 0);
    check_weak(2000, 64, 100, 0);
    if (ref_long())
        check_weak(10000, 3, 0, 0);
    else
        print_message("AST_TEST_LONG=1 would take ten seeds and 10,000 points\n");
}

/* One cloud whose axes follow a power law: its own pieces would teach a metric that tears it apart. */
static void check_long_cloud(size_t rows, size_t axes, uint64_t seed) {
    cloud c = make_cloud(rows, axes, 1, 0, 0, 0, seed);
    ast_random random;
    ast_random_seed(&random, seed, 3);
    for (size_t i = 0; i < rows * axes; i++)
        c.rows[i] = (float)(ast_random_normal(&random) * pow((double)(i % axes + 1), -0.6));
    ast_tune_report report = tune(ref_context(REF_FAST, 2), &c, 0, NULL);
    assert_int_equal(report.metric, axes > 20 ? AST_METRIC_LOCAL : AST_METRIC_PLAIN);
    if (!report.weak)
        fail_msg("%zu axes, seed %d: %zu clusters, excess %g", axes, (int)seed, report.clusters, report.excess);
    free_cloud(&c);
}

static void one_long_cloud_is_weak(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= (ref_long() ? 10 : 2); seed++) {
        check_long_cloud(600, 32, seed);
        check_long_cloud(1000, 16, seed);
        check_long_cloud(1000, 6, seed);
    }
}

static void one_axial_distribution_is_weak(void **state) {
    (void)state;
    check_weak(1000, 3, 0, 1);
    check_weak(1000, 3, 10, 1);
}

/* A fold: poles along `arc` radians of a great circle, and a little off it. */
static cloud make_fold(size_t count, double arc, uint64_t seed) {
    cloud c = {count, 3, ref_take(count * 3, sizeof(float)), NULL};
    ast_random random;
    ast_random_seed(&random, seed, 0);
    for (size_t i = 0; i < count; i++) {
        double azimuth = arc * ast_random_uniform(&random), off = 0.05 * ast_random_normal(&random);
        c.rows[3 * i] = (float)cos(azimuth);
        c.rows[3 * i + 1] = (float)sin(azimuth);
        c.rows[3 * i + 2] = (float)off;
    }
    return c;
}

static void check_cloud_is_weak(cloud *c, int axial, const char *what) {
    ast_tune_report report = tune(ref_context(REF_FAST, 2), c, axial, NULL);
    if (!report.weak)
        fail_msg("%s: %zu clusters, excess %g: %s", what, report.clusters, report.excess, report.reason);
    free_cloud(c);
}

/* One cluster in uniform noise, small circles, girdles and folds are no sets. */
static void distributions_without_clusters_are_weak(void **state) {
    (void)state;
    static const struct {
        size_t count, dimension;
        ast_distribution distribution;
        double kappa, noise;
    } cases[] = {{500, 2, AST_VON_MISES_FISHER, 50, 0.4},
                 {500, 3, AST_VON_MISES_FISHER, 50, 0.6},
                 {500, 10, AST_VON_MISES_FISHER, 50, 0.4},
                 {500, 3, AST_WATSON, 20, 0.4},
                 {300, 3, AST_WATSON, -20, 0},
                 {300, 3, AST_SMALL_CIRCLE, 300, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cloud c = {cases[i].count, cases[i].dimension, ref_take(cases[i].count * cases[i].dimension, sizeof(float)),
                   NULL};
        ast_mixture mixture = {.size = sizeof mixture,
                               .points = c.count,
                               .dimension = c.dimension,
                               .clusters = 1,
                               .kappa = cases[i].kappa,
                               .noise = cases[i].noise,
                               .distribution = cases[i].distribution,
                               .radius = 40,
                               .axial = cases[i].distribution == AST_WATSON,
                               .seed = i + 1};
        assert_int_equal(ast_sample_mixture(ref_context(REF_FAST, 2), &mixture, c.rows, NULL, NULL), AST_OK);
        char what[32];
        snprintf(what, sizeof what, "case %zu", i);
        check_cloud_is_weak(&c, mixture.axial, what);
    }
    cloud fold = make_fold(300, 1.7, 1), girdle = make_fold(300, 3.1415926, 2);
    check_cloud_is_weak(&fold, 1, "a fold of 100 degrees");
    check_cloud_is_weak(&girdle, 1, "a girdle");
}

static void equal_rows_are_weak(void **state) {
    (void)state;
    float rows[12] = {0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 1};
    cloud c = {.count = 4, .dimension = 3, .rows = rows};
    ast_tune_report report = tune(ref_context("base", 1), &c, 0, NULL);
    assert_true(report.weak && report.clusters == 1 && report.evidence == 0);
}

/* ---- Something is there ------------------------------------------------------------------------------------------ */

/* The recommended options, run by themselves, give the labels and clusters that were described. */
static void check_described(ast_context *context, const cloud *c, int axial, const ast_tune_report *report,
                            const int32_t *labels) {
    ast_points points = ast_points_f4(c->rows, c->count, c->dimension);
    int32_t *own = ref_take(c->count, sizeof *own);
    ast_options options;
    ast_report run = {.size = sizeof run};
    ast_options_init(&options);
    options.angle = report->angle;
    options.dp.order = AST_ORDER_CONTENT;
    options.merge.by = report->merge;
    options.merge.count = report->merge_count;
    options.axial = axial;
    size_t described;
    const ast_cluster_info *clusters = ast_clusters(context, &described);
    assert_int_equal(described, report->clusters);
    float *means = ref_take(described * c->dimension, sizeof *means);
    memcpy(means, clusters->mean, described * c->dimension * sizeof *means);
    assert_int_equal(ast_cluster(context, &points, &options, own, &run), AST_OK);
    assert_int_equal(run.clusters, report->clusters);
    assert_memory_equal(own, labels, c->count * sizeof *own);
    assert_memory_equal(ast_clusters(context, &described)->mean, means, described * c->dimension * sizeof *means);
    free(own);
    free(means);
}

static void check_found(const cloud *c, size_t clusters, int axial) {
    ast_context *context = ref_context(REF_FAST, 2);
    int32_t *labels = ref_take(c->count, sizeof *labels);
    ast_agreement agreement = {.size = sizeof agreement};
    ast_tune_report report = tune(context, c, axial, labels);
    assert_false(report.weak);
    assert_int_equal(report.clusters, clusters);
    assert_true(report.evidence > 0 && report.excess >= 0.05 && report.limit >= clusters);
    check_described(context, c, axial, &report, labels);
    assert_int_equal(ast_compare(context, labels, c->labels, c->count, &agreement), AST_OK);
    assert_true(agreement.nmi > 0.97);
    free(labels);
}

/* Two polarities, which a circle with the heights of the rows would have, too. */
static void opposite_clusters_are_found(void **state) {
    (void)state;
    cloud c = make_cloud(300, 3, 1, 30, 0, 0, 1);
    for (size_t i = 0; i < c.count; i++) {
        c.labels[i] = i % 5 < 2;
        for (size_t d = 0; d < 3; d++)
            c.rows[3 * i + d] = c.labels[i] ? -c.rows[3 * i + d] : c.rows[3 * i + d];
    }
    check_found(&c, 2, 0);
    free_cloud(&c);
}

static void clusters_are_found(void **state) {
    (void)state;
    cloud many = make_cloud(20000, 3, 30, 400, 30, 0, 1), far = make_cloud(1500, 40, 7, 200, 0, 0, 2),
          axes = make_cloud(2000, 3, 5, 400, 45, 1, 3);
    check_found(&many, 30, 0);
    check_found(&far, 7, 0);
    check_found(&axes, 5, 1);
    free_cloud(&many);
    free_cloud(&far);
    free_cloud(&axes);
}

/* Few different rows, each many times: planes of a depth image. */
static void copies_count_once(void **state) {
    (void)state;
    static const float normals[5][3] = {{0, 0, 1}, {0, 0.02F, 1}, {1, 0, 0}, {0, 1, 0}, {0.01F, 1, 0}};
    cloud c = {.count = 30000, .dimension = 3, .rows = ref_take(90000, sizeof(float))};
    for (size_t i = 0; i < c.count; i++)
        memcpy(c.rows + 3 * i, normals[i * i % 7 % 5], sizeof normals[0]);
    ast_tune_report report = tune(ref_context(REF_FAST, 2), &c, 0, NULL);
    assert_int_equal(report.clusters, 3);
    free(c.rows);
}

/* ---- What it does not depend on ---------------------------------------------------------------------------------- */

typedef struct outcome {
    ast_tune_report report;
    size_t angles, levels;
} outcome;

/* The report of the context's last ast_tune, with the lengths of its records. */
static outcome outcome_of(const ast_context *context, ast_tune_report report) {
    outcome o = {.report = report};
    assert_non_null(ast_tune_angles(context, &o.angles));
    ast_tune_levels(context, &o.levels);
    return o;
}

static void assert_same(const outcome *first, const outcome *second) {
    const ast_tune_report *a = &first->report, *b = &second->report;
    assert_true(a->angle == b->angle && a->merge == b->merge && a->merge_count == b->merge_count);
    assert_true(a->clusters == b->clusters && a->evidence == b->evidence && a->weak == b->weak);
    assert_true(first->angles == second->angles && first->levels == second->levels);
    assert_true(a->excess == b->excess || (isnan(a->excess) && isnan(b->excess)));
}

static void order_and_threads_do_not_matter(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) { /* the third has more rows than the sample, and no plateau */
        cloud c = seed == 3 ? make_cloud(5000, 6, 40, 60, 0, 0, seed)
                            : make_cloud(seed == 1 ? 6000 : 700, seed == 1 ? 3 : 12, 9, 60, 0, 0, seed),
              permuted = c;
        uint32_t *order = ref_take(c.count, sizeof *order);
        ast_random random;
        ast_random_seed(&random, seed, 7);
        ast_random_permutation(&random, order, c.count);
        permuted.rows = ref_take(c.count * c.dimension, sizeof(float));
        for (size_t i = 0; i < c.count; i++)
            memcpy(permuted.rows + i * c.dimension, c.rows + order[i] * c.dimension, c.dimension * sizeof(float));
        ast_context *fast = ref_context(REF_FAST, 2), *base = ref_context("base", 1);
        outcome given = outcome_of(fast, tune(fast, &c, 0, NULL));
        outcome other = outcome_of(base, tune(base, &permuted, 0, NULL));
        assert_same(&given, &other);
        if (seed == 3)
            assert_int_equal(given.report.merge, AST_MERGE_COUNT);
        free(permuted.rows);
        free(order);
        free_cloud(&c);
    }
}

/* Levels of 61 to 137 clusters of real curves; NaN: not measured. */
static void levels_next_to_a_split_are_left_alone(void **state) {
    (void)state;
    static const double split[] = {NAN, 0.2395, 0.2438, 0.2450, 0.2458, 0.2478, 0.2486, 0.2074, 0.2071},
                        sharp[] = {0.2, 0.31, 0.4, 0.33, 0.3}, last[] = {0.2, 0.3, 0.4}, one[] = {NAN, 0.3, NAN};
    ast_tune_level levels[9];
    for (size_t i = 0; i < 9; i++)
        levels[i] = (ast_tune_level){.clusters = 61 + 10 * i, .stability = 0.9};
    assert_int_equal(ast_tune_level_by_excess(split, levels, 9, 6), 5);
    assert_int_equal(ast_tune_level_by_excess(sharp, levels, 5, 1), 2);
    assert_int_equal(ast_tune_level_by_excess(last, levels, 3, 2), 2);
    assert_int_equal(ast_tune_level_by_excess(one, levels, 3, 1), 1);
    levels[5].stability = 0.5; /* halves split the cluster in different ways */
    levels[6].stability = 0.4;
    assert_int_equal(ast_tune_level_by_excess(split, levels, 9, 6), 4);
}

/* 60 topics: at 50 clusters the excess is largest, but halves agree on 39. Of a level far from the peak nothing is
 * said. */
static void halves_decide_near_a_peak(void **state) {
    (void)state;
    ast_tune_level levels[] = {{.clusters = 12, .excess = 0.29, .stability = 1.0},
                               {.clusters = 35, .excess = 0.275, .stability = 1.0},
                               {.clusters = 39, .excess = 0.278, .stability = 1.0},
                               {.clusters = 44, .excess = 0.279, .stability = 0.78},
                               {.clusters = 50, .excess = 0.282, .stability = 0.72}};
    assert_int_equal(ast_tune_steadiest(levels, 5, 4), 2);
    assert_int_equal(ast_tune_steadiest(levels, 2, 0), 0);
    size_t near[4];
    assert_int_equal(ast_tune_list_neighbours(levels, 5, 2, 4, near), 2); /* 39, and 35; 44 and 50 are not as good */
    assert_true(near[0] == 2 && near[1] == 1);
    levels[3].stability = levels[4].stability = NAN;
    assert_int_equal(ast_tune_steadiest(levels, 5, 4), 4);
    assert_int_equal(ast_tune_list_neighbours(levels, 5, 2, 4, near), 4);
    assert_true(near[1] == 1 && near[2] == 3 && near[3] == 4);
}

/* The map is learned from the finest scale: 22 topics of four subjects, where four clusters stand out most; but not
 * from ripples behind the best peak. */
static void fine_scales_are_scales(void **state) {
    (void)state;
    ast_tune_level levels[6] = {{0}};
    static const double topics[] = {0.178, 0.247, 0.224, 0.181, 0.212, 0.224},
                        ripples[] = {0.137, 0.280, 0.184, 0.178, 0.181, 0.184};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < 6; i++) {
            double excess = (k ? ripples : topics)[i];
            levels[i] = (ast_tune_level){
                .clusters = 2 + 4 * i, .silhouette = excess, .null = 0, .null_any = 0, .stability = NAN};
        }
        ast_tune_mark_peaks(levels, 6, false);
        assert_int_equal(ast_tune_finest_peak(levels, 6), 6);
        assert_int_equal(ast_tune_finest_scale(levels, 6), k ? 6 : 22);
    }
}

/* Sparse rows and dense ones, and rows of weight 0. */
static void kinds_of_rows_do_not_matter(void **state) {
    (void)state;
    cloud c = make_cloud(900, 8, 5, 80, 0, 0, 4);
    ast_context *fast = ref_context(REF_FAST, 2), *base = ref_context("base", 2);
    ast_tune_report report = {.size = sizeof report};
    outcome dense = outcome_of(fast, tune(fast, &c, 0, NULL)), other;
    int32_t *starts = ref_take(c.count + 1, sizeof *starts), *columns = ref_take(8 * c.count, sizeof *columns);
    for (size_t i = 0; i <= c.count; i++)
        starts[i] = (int32_t)(8 * i);
    for (size_t i = 0; i < 8 * c.count; i++)
        columns[i] = (int32_t)(i % 8);
    ast_tune_options options;
    ast_tune_options_init(&options);
    ast_points points = ast_points_csr(c.rows, AST_F4, starts, columns, AST_I4, c.count, 8);
    assert_int_equal(ast_tune(base, &points, &options, NULL, &report), AST_OK);
    other = outcome_of(base, report);
    assert_same(&dense, &other);
    float *more = ref_take(8 * (c.count + 300), sizeof *more);
    double *weights = ref_take(c.count + 300, sizeof *weights);
    memcpy(more, c.rows, 8 * c.count * sizeof *more);
    for (size_t i = 0; i < c.count; i++)
        weights[i] = 2;
    for (size_t i = 8 * c.count; i < 8 * (c.count + 300); i++)
        more[i] = (float)(i % 31) - 15;
    points = ast_points_f4(more, c.count + 300, 8);
    points.weights = weights;
    assert_int_equal(ast_tune(fast, &points, &options, NULL, &report), AST_OK);
    other = outcome_of(fast, report);
    assert_same(&dense, &other);
    free(more);
    free(weights);
    free(starts);
    free(columns);
    free_cloud(&c);
}

/* ---- Documents --------------------------------------------------------------------------------------------------- */

enum { DOCUMENTS = 320, TERMS = 500, LENGTH = 24, SUBJECTS = 4 };

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Documents of LENGTH different terms, of frequencies that fall as 1 / rank, weighted by log(N / n). Of a document on a
 * subject two terms in three are those of the subject, every SUBJECTS-th of all. */
static void make_documents(uint64_t seed, bool subjects, int32_t *columns, float *values) {
    ast_random random;
    int found[TERMS] = {0};
    ast_random_seed(&random, seed, 31);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        for (size_t n = 0; n < LENGTH;) {
            bool own = subjects && n % 3 != 0, twice = false;
            int32_t term = (int32_t)(pow(TERMS + 1, ast_random_uniform(&random)) - 1);
            term = own ? term / SUBJECTS * SUBJECTS + (int32_t)(i % SUBJECTS) : term;
            for (size_t m = 0; m < n; m++)
                twice |= columns[i * LENGTH + m] == term;
            if (twice || term >= TERMS)
                continue;
            columns[i * LENGTH + n++] = term;
            found[term]++;
        }
        qsort(columns + i * LENGTH, LENGTH, sizeof *columns, by_number);
    }
    for (size_t e = 0; e < DOCUMENTS * LENGTH; e++)
        values[e] = (float)log((double)DOCUMENTS / found[columns[e]]);
}

/* The trees of documents have near copies at their ends, whose silhouettes are far above any draw's: they are no
 * subjects, since two halves of the documents do not agree on them. */
static void documents_have_subjects_or_none(void **state) {
    (void)state;
    int32_t starts[DOCUMENTS + 1], *columns = ref_take(DOCUMENTS * LENGTH, sizeof *columns);
    float *values = ref_take(DOCUMENTS * LENGTH, sizeof *values);
    for (int32_t i = 0; i <= DOCUMENTS; i++)
        starts[i] = i * LENGTH;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        bool subjects = seed % 2 == 1;
        make_documents(seed, subjects, columns, values);
        ast_points points = ast_points_csr(values, AST_F4, starts, columns, AST_I4, DOCUMENTS, TERMS);
        ast_tune_options options;
        ast_tune_report report = {.size = sizeof report};
        ast_tune_options_init(&options);
        assert_int_equal(ast_tune(ref_context(REF_FAST, 2), &points, &options, NULL, &report), AST_OK);
        if (subjects ? report.weak || report.clusters != SUBJECTS : !report.weak)
            fail_msg("seed %d: %zu subjects, weak %d: %s", (int)seed, report.clusters, report.weak, report.reason);
    }
    free(columns);
    free(values);
}

/* A few hundred rows of many columns are looked at in the space that they span; dense rows are not. */
static void long_sparse_rows_are_found_alike(void **state) {
    (void)state;
    enum { COUNT = 260, COLUMNS = 400 };
    cloud c = make_cloud(COUNT, COLUMNS, 5, 300, 0, 0, 4);
    ast_context *fast = ref_context(REF_FAST, 2), *base = ref_context("base", 1);
    int32_t *starts = ref_take(COUNT + 1, sizeof *starts), *columns = ref_take(COUNT * COLUMNS, sizeof *columns);
    float *values = ref_take(COUNT * COLUMNS, sizeof *values);
    memcpy(c.rows + 20 * COLUMNS, c.rows, 10 * COLUMNS * sizeof *c.rows); /* copies */
    starts[0] = 0;
    for (size_t i = 0; i < COUNT; i++) {
        starts[i + 1] = starts[i];
        for (int32_t d = 0; d < COLUMNS; d++) {
            float *value = &c.rows[i * COLUMNS + (size_t)d];
            *value = fabsf(*value) < 0.02f ? 0 : *value;
            if (*value == 0)
                continue;
            columns[starts[i + 1]] = d;
            values[starts[i + 1]++] = *value;
        }
    }
    ast_points given[] = {ast_points_f4(c.rows, COUNT, COLUMNS),
                          ast_points_csr(values, AST_F4, starts, columns, AST_I4, COUNT, COLUMNS)};
    ast_tune_report reports[] = {{.size = sizeof *reports}, {.size = sizeof *reports}};
    const ast_tune_level *levels[2];
    size_t counts[2];
    ast_tune_options options;
    ast_tune_options_init(&options);
    options.metric = AST_METRIC_PLAIN;
    for (int i = 0; i < 2; i++) {
        ast_context *context = i ? base : fast;
        assert_int_equal(ast_tune(context, &given[i], &options, NULL, &reports[i]), AST_OK);
        levels[i] = ast_tune_levels(context, &counts[i]);
    }
    const ast_tune_report *a = &reports[0], *b = &reports[1];
    assert_true(a->angle == b->angle && a->merge == b->merge && a->merge_count == b->merge_count);
    assert_true(a->clusters == 5 && b->clusters == 5 && a->weak == b->weak && a->limit == b->limit);
    assert_true(fabs(a->evidence - b->evidence) < 1e-6 * fabs(a->evidence));
    assert_true(counts[0] == counts[1] && counts[0] > 2);
    for (size_t i = 0; i < counts[0]; i++) {
        assert_true(levels[0][i].clusters == levels[1][i].clusters);
        assert_true(fabs(levels[0][i].silhouette - levels[1][i].silhouette) < 1e-5);
        assert_true(fabs(levels[0][i].null - levels[1][i].null) < 1e-5);
    }
    free(starts);
    free(columns);
    free(values);
    free_cloud(&c);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

typedef struct countdown {
    int left, calls;
    double done;
} countdown;

static int count_down(double done, void *data) {
    countdown *c = data;
    assert_true(done >= c->done && done <= 1);
    c->done = done;
    c->calls++;
    return c->left-- == 0;
}

static void cancelled_calls_change_nothing(void **state) {
    (void)state;
    ast_context *context = ref_context(REF_FAST, 2);
    cloud c = make_cloud(600, 5, 4, 60, 0, 0, 1);
    ast_points points = ast_points_f4(c.rows, c.count, c.dimension);
    ast_options dp = ref_dp_options(30);
    ast_report run = {.size = sizeof run};
    ast_tune_options options;
    ast_tune_report report = {.size = sizeof report};
    int32_t labels[600];
    ast_tune_options_init(&options);
    options.progress = count_down;
    assert_int_equal(ast_cluster(context, &points, &dp, labels, &run), AST_OK);
    for (int left = 0;; left = 2 * left + 1) {
        countdown c_left = {.left = left};
        size_t count;
        options.progress_data = &c_left;
        ast_status status = ast_tune(context, &points, &options, labels, &report);
        if (status == AST_OK)
            break;
        assert_int_equal(status, AST_CANCELLED);
        assert_int_equal(c_left.calls, left + 1);
        assert_non_null(ast_clusters(context, &count));
        assert_int_equal(count, run.clusters);
    }
    assert_false(report.weak);
    free_cloud(&c);
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 1);
    float rows[6] = {0, 0, 0, 0, 0, 0};
    ast_points points = ast_points_f4(rows, 2, 3);
    ast_tune_options options;
    ast_tune_report report = {.size = sizeof report};
    ast_tune_options_init(&options);
    assert_int_equal(ast_tune(NULL, &points, &options, NULL, &report), AST_BAD_OPTION);
    assert_int_equal(ast_tune(context, NULL, &options, NULL, &report), AST_BAD_OPTION);
    assert_int_equal(ast_tune(context, &points, NULL, NULL, &report), AST_BAD_OPTION);
    assert_int_equal(ast_tune(context, &points, &options, NULL, NULL), AST_BAD_OPTION);
    assert_int_equal(ast_tune(context, &points, &options, NULL, &report), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(context), "no usable row"));
    rows[4] = INFINITY;
    assert_int_equal(ast_tune(context, &points, &options, NULL, &report), AST_BAD_DATA);
    assert_int_equal(ast_fault_row(context), 2);
    rows[4] = 1;
    options.to = 130;
    assert_int_equal(ast_tune(context, &points, &options, NULL, &report), AST_BAD_OPTION);
    options.to = 5;
    options.step = 0;
    assert_int_equal(ast_tune(context, &points, &options, NULL, &report), AST_BAD_OPTION);
    options.step = 5;
    options.draws = 0;
    assert_int_equal(ast_tune(context, &points, &options, NULL, &report), AST_BAD_OPTION);
    options.draws = 1;
    assert_int_equal(ast_tune(context, &points, &options, NULL, &report), AST_OK);
    assert_true(report.missing == 1 && report.points == 1 && report.clusters == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_distribution_is_weak),
                                       cmocka_unit_test(one_long_cloud_is_weak),
                                       cmocka_unit_test(one_axial_distribution_is_weak),
                                       cmocka_unit_test(distributions_without_clusters_are_weak),
                                       cmocka_unit_test(equal_rows_are_weak),
                                       cmocka_unit_test(opposite_clusters_are_found),
                                       cmocka_unit_test(clusters_are_found),
                                       cmocka_unit_test(copies_count_once),
                                       cmocka_unit_test(order_and_threads_do_not_matter),
                                       cmocka_unit_test(levels_next_to_a_split_are_left_alone),
                                       cmocka_unit_test(halves_decide_near_a_peak),
                                       cmocka_unit_test(fine_scales_are_scales),
                                       cmocka_unit_test(kinds_of_rows_do_not_matter),
                                       cmocka_unit_test(long_sparse_rows_are_found_alike),
                                       cmocka_unit_test(documents_have_subjects_or_none),
                                       cmocka_unit_test(cancelled_calls_change_nothing),
                                       cmocka_unit_test(wrong_arguments_are_refused)};
    return cmocka_run_group_tests_name("tune", tests, NULL, ref_contexts_end);
}
