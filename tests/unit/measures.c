/* SPDX-License-Identifier: MIT
 *
 * NMI, ARI and silhouettes against their definitions, written out over all pairs of points. */
#include "measures.h"

#include "random.h"
#include "reference/harness.h"
#include "vmf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g instead of %.17g", value, expected);
}

static ast_agreement compare(const int32_t *labels, const int32_t *truth, size_t count) {
    ast_fault fault = {0};
    ast_agreement agreement = {.size = sizeof agreement};
    memset(&agreement, 0xff, sizeof agreement);
    assert_int_equal(ast_agreement_of(&fault, NULL, labels, truth, count, &agreement), AST_OK);
    return agreement;
}

/* ---- Agreement ------------------------------------------------------------------------------------------------- */

/* The adjusted Rand index by counting all pairs of points: together in both, in one, in the other. */
static double ari_by_pairs(const int32_t *a, const int32_t *b, int count) {
    double both = 0, in_a = 0, in_b = 0, all = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            if (a[i] < 0 || b[i] < 0 || a[j] < 0 || b[j] < 0)
                continue;
            all++;
            in_a += a[i] == a[j];
            in_b += b[i] == b[j];
            both += a[i] == a[j] && b[i] == b[j];
        }
    double expected = in_a * in_b / all;
    return (both - expected) / ((in_a + in_b) / 2 - expected);
}

static double share_of(const int32_t *a, const int32_t *b, int count, int i) {
    double equal = 0, all = 0;
    for (int j = 0; j < count; j++) {
        bool counts = a[j] >= 0 && b[j] >= 0;
        all += counts;
        equal += counts && a[j] == a[i];
    }
    return equal / all;
}

/* As averages over points of logarithms of shares: I = H(a) + H(b) - H(a, b). */
static double nmi_by_points(const int32_t *a, const int32_t *b, int count) {
    double points = 0, ha = 0, hb = 0, joint = 0;
    for (int i = 0; i < count; i++) {
        if (a[i] < 0 || b[i] < 0)
            continue;
        double together = 0, all = 0;
        for (int j = 0; j < count; j++) {
            bool counts = a[j] >= 0 && b[j] >= 0;
            all += counts;
            together += counts && a[j] == a[i] && b[j] == b[i];
        }
        points++;
        ha -= log(share_of(a, b, count, i));
        hb -= log(share_of(b, a, count, i));
        joint -= log(together / all);
    }
    return (ha + hb - joint) / sqrt(ha * hb);
}

static void test_agreement_equals_its_definition(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 1, 0);
    for (int round = 0; round < 400; round++) {
        enum { MOST = 90 };
        int32_t a[MOST], b[MOST];
        int count = 10 + (int)ast_random_below(&random, MOST - 10), ka = 2 + (int)ast_random_below(&random, 12);
        int used = 0;
        for (int i = 0; i < count; i++) {
            a[i] = (int32_t)ast_random_below(&random, (uint64_t)ka) - (round % 3 == 0);
            b[i] = ast_random_below(&random, 3) ? a[i] / 2 : (int32_t)ast_random_below(&random, 4) - (round % 2);
            used += a[i] >= 0 && b[i] >= 0;
        }
        ast_agreement agreement = compare(a, b, (size_t)count);
        assert_int_equal(agreement.points, used);
        if (agreement.clusters < 2 || agreement.truths < 2)
            continue;
        assert_near(agreement.ari, ari_by_pairs(a, b, count), 1e-13);
        assert_near(agreement.nmi, nmi_by_points(a, b, count), 1e-12);
    }
}

/* Names of clusters do not matter, however large and scattered they are; nor which labelling comes first. */
static void test_agreement_ignores_names(void **state) {
    (void)state;
    enum { N = 5000 };
    static int32_t a[N], b[N], scattered[N];
    ast_random random;
    ast_random_seed(&random, 2, 0);
    for (int i = 0; i < N; i++) {
        a[i] = (int32_t)ast_random_below(&random, 700);
        b[i] = ast_random_below(&random, 2) ? a[i] % 50 : (int32_t)ast_random_below(&random, 50);
        scattered[i] = (int32_t)(ast_mix64((uint64_t)a[i]) >> 33);
    }
    ast_agreement plain = compare(a, b, N), named = compare(scattered, b, N), turned = compare(b, a, N);
    assert_true(plain.nmi > 0.1 && plain.nmi < 0.9);
    assert_near(named.nmi, plain.nmi, 1e-13);
    assert_near(named.ari, plain.ari, 1e-15);
    assert_near(turned.nmi, plain.nmi, 1e-13);
    assert_near(turned.ari, plain.ari, 1e-15);
    assert_int_equal(turned.clusters, plain.truths);
    ast_agreement same = compare(a, scattered, N);
    assert_true(same.nmi == 1 && same.ari == 1);
}

static void test_agreement_where_it_degenerates(void **state) {
    (void)state;
    const int32_t one[] = {4, 4, 4, 4}, two[] = {0, 0, 1, 1}, each[] = {3, 1, 0, 2}, none[] = {-1, -2, -1, INT32_MIN};
    ast_agreement agreement = compare(one, one, 4);
    assert_true(agreement.nmi == 1 && agreement.ari == 1 && agreement.clusters == 1);
    agreement = compare(one, two, 4);
    assert_true(agreement.nmi == 0 && agreement.ari == 0 && agreement.truths == 2);
    agreement = compare(two, one, 4);
    assert_true(agreement.nmi == 0 && agreement.ari == 0);
    agreement = compare(each, one, 4);
    assert_true(agreement.nmi == 0 && agreement.ari == 0);
    agreement = compare(each, each, 4);
    assert_true(agreement.nmi == 1 && agreement.ari == 1);
    agreement = compare(each, two, 4);
    assert_near(agreement.nmi, sqrt(0.5), 1e-15);
    assert_true(agreement.ari == 0);
    agreement = compare(none, two, 4);
    assert_true(agreement.nmi == 1 && agreement.points == 0 && agreement.clusters == 0);
    agreement = compare(NULL, NULL, 0);
    assert_true(agreement.nmi == 1 && agreement.points == 0);
}

/* Independent halves of a million points: the integers of the Rand index pass 2^64 when multiplied. */
static void test_agreement_of_many_points(void **state) {
    (void)state;
    enum { N = 1000000 };
    int32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    for (int i = 0; i < N; i++) {
        a[i] = i % 2;
        b[i] = i % 4 / 2;
    }
    ast_agreement agreement = compare(a, b, N);
    assert_near(agreement.ari, 0, 2e-6);
    assert_near(agreement.nmi, 0, 1e-12);
    for (int i = 0; i < N; i++)
        b[i] = i; /* as many clusters as points */
    agreement = compare(a, b, N);
    assert_int_equal(agreement.truths, N);
    assert_near(agreement.nmi, sqrt(log(2) / log(N)), 1e-10);
    free(a);
    free(b);
}

/* ---- Silhouettes ----------------------------------------------------------------------------------------------- */

/* How a silhouette is computed, which must not show. */
typedef struct manner {
    int threads;
    const char *kernels; /* NULL: the best */
    bool columns;        /* rows of up to four components also as columns */
} manner;

static float *columns_of(const float *points, size_t count, size_t dimension, const float **columns) {
    size_t pitch = (count + AST_LANES - 1) / AST_LANES * AST_LANES;
    float *all = calloc(pitch * dimension, sizeof *all);
    assert_non_null(all);
    for (size_t d = 0; d < dimension; d++) {
        columns[d] = all + d * pitch;
        for (size_t i = 0; i < count; i++)
            all[d * pitch + i] = points[i * dimension + d];
    }
    return all;
}

static ast_status measure_in(manner how, ast_fault *fault, const float *points, size_t count, size_t dimension,
                             const int32_t *labels, ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette,
                             size_t *sampled) {
    ast_pool *pool;
    ast_pool_open(&pool, how.threads);
    assert_non_null(pool);
    ast_rowset rows = {.kernels = ast_kernels_choose(how.kernels),
                       .count = count,
                       .dimension = dimension,
                       .view = ast_points_f4(points, count, dimension),
                       .in_place = true,
                       .small = how.columns && dimension <= AST_SMALL};
    float *copy = rows.small ? columns_of(points, count, dimension, rows.column) : NULL;
    ast_measured given = {.rows = &rows};
    ast_status status = ast_silhouette_of(fault, pool, &given, labels, dissimilarity, seed, silhouette, sampled);
    ast_pool_close(pool);
    free(copy);
    return status;
}

static ast_status measure(ast_fault *fault, int threads, const float *points, size_t count, size_t dimension,
                          const int32_t *labels, ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette,
                          size_t *sampled) {
    return measure_in((manner){threads, NULL, false}, fault, points, count, dimension, labels, dissimilarity, seed,
                      silhouette, sampled);
}

static double silhouette_of(const float *points, size_t count, size_t dimension, const int32_t *labels,
                            ast_dissimilarity dissimilarity) {
    ast_fault fault = {0};
    double silhouette = NAN;
    size_t sampled = 0, labelled = 0;
    assert_int_equal(measure(&fault, 2, points, count, dimension, labels, dissimilarity, 1, &silhouette, &sampled),
                     AST_OK);
    for (size_t i = 0; i < count; i++)
        labelled += labels[i] >= 0;
    assert_int_equal(sampled, labelled);
    return silhouette;
}

static double apart(const float *x, const float *y, size_t dimension, ast_dissimilarity dissimilarity) {
    double dot = 0, xx = 0, yy = 0, away = 0, towards = 0;
    for (size_t d = 0; d < dimension; d++) {
        dot += (double)x[d] * y[d];
        xx += (double)x[d] * x[d];
        yy += (double)y[d] * y[d];
    }
    for (size_t d = 0; d < dimension; d++) {
        away += pow(x[d] / sqrt(xx) - y[d] / sqrt(yy), 2);
        towards += pow(x[d] / sqrt(xx) + y[d] / sqrt(yy), 2);
    }
    double angle = 2 * atan2(sqrt(away), sqrt(towards));
    switch (dissimilarity) {
    case AST_ANGLE:
        return angle;
    case AST_AXIAL_ANGLE:
        return fmin(angle, M_PI - angle);
    case AST_AXIAL_COSINE:
        return 1 - dot * dot / (xx * yy);
    default:
        return 1 - dot / sqrt(xx * yy);
    }
}

/* Rousseeuw (1987), word by word. */
static double by_definition(const float *points, int count, size_t dimension, const int32_t *labels,
                            ast_dissimilarity dissimilarity) {
    double total = 0, used = 0;
    for (int i = 0; i < count; i++) {
        double a = NAN, b = INFINITY;
        if (labels[i] < 0)
            continue;
        for (int j = 0; j < count; j++) {
            double sum = 0, n = 0;
            for (int l = 0; l < count; l++)
                if (labels[j] >= 0 && labels[l] == labels[j] && l != i) {
                    sum += apart(points + i * (int)dimension, points + l * (int)dimension, dimension, dissimilarity);
                    n++;
                }
            if (n > 0 && labels[j] == labels[i])
                a = sum / n;
            else if (n > 0)
                b = fmin(b, sum / n);
        }
        used++;
        total += isnan(a) ? 0 : (b - a) / fmax(a, b);
    }
    return total / used;
}

static void test_silhouettes_equal_their_definition(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 3, 0);
    for (int round = 0; round < 60; round++) {
        enum { MOST = 70 };
        size_t dimension = round < 30 ? 3 : 2 + ast_random_below(&random, 12);
        int count = 8 + (int)ast_random_below(&random, MOST - 8);
        int clusters = 2 + (int)ast_random_below(&random, round % 5 == 0 ? 60 : 6); /* up to more than a chunk of 32 */
        float points[MOST * 14];
        int32_t labels[MOST];
        double x[14], centre[14];
        for (int i = 0; i < count; i++) {
            labels[i] = i < 2 ? i : (int32_t)ast_random_below(&random, (uint64_t)clusters + 1) - 1;
            ast_random around;
            ast_random_seed(&around, 4, (uint64_t)labels[i]);
            ast_uniform_direction(&around, dimension, centre);
            ast_vmf_sample(&random, dimension, centre, round % 2 ? 20 : 1e5, x);
            for (size_t d = 0; d < dimension; d++)
                points[(size_t)i * dimension + d] = labels[i] < 0 && round % 3 ? NAN : (float)x[d];
            if (labels[i] >= 0 && round % 4 == 0)
                labels[i] = labels[i] * 1000003; /* far apart, with gaps */
        }
        for (int kind = 0; kind < 4; kind++) {
            ast_dissimilarity dissimilarity = (ast_dissimilarity)kind;
            int angle = dissimilarity == AST_ANGLE || dissimilarity == AST_AXIAL_ANGLE;
            assert_near(silhouette_of(points, (size_t)count, dimension, labels, dissimilarity),
                        by_definition(points, count, dimension, labels, dissimilarity), angle ? 1e-9 : 1e-8);
        }
    }
}

/* So many clusters of so many dimensions that second moments would be too many numbers: by pairs, which is the same. */
static void test_many_moments_are_taken_by_pairs(void **state) {
    (void)state;
    enum { N = 60, D = 320 }; /* 320 * 321 / 2 = 51360 numbers a cluster, 1048576 are allowed: 20 clusters */
    static float points[N * D];
    int32_t labels[N];
    double x[D];
    ast_random random;
    ast_random_seed(&random, 8, 0);
    for (int clusters = 19; clusters <= 22; clusters++) {
        for (int i = 0; i < N; i++) {
            labels[i] = i % clusters;
            ast_random around;
            ast_random_seed(&around, 9, (uint64_t)labels[i]);
            ast_uniform_direction(&around, D, x);
            for (int d = 0; d < D; d++)
                points[i * D + d] = (float)((i % 2 ? -1 : 1) * x[d] + 0.03 * ast_random_normal(&random));
            double square = 0;
            for (int d = 0; d < D; d++)
                square += (double)points[i * D + d] * points[i * D + d];
            for (int d = 0; d < D; d++)
                points[i * D + d] = (float)(points[i * D + d] / sqrt(square));
        }
        assert_near(silhouette_of(points, N, D, labels, AST_AXIAL_COSINE),
                    by_definition(points, N, D, labels, AST_AXIAL_COSINE), 1e-8);
    }
}

/* Rows that change sign change nothing: the same bits. */
static void test_axial_silhouettes_do_not_see_signs(void **state) {
    (void)state;
    enum { N = 900 };
    for (size_t dimension = 2; dimension <= 5; dimension++) {
        float points[N * 5], flipped[N * 5];
        int32_t labels[N];
        ast_fault fault = {0};
        ast_mixture mixture = {sizeof mixture, .points = N, .dimension = dimension, .clusters = 4, .kappa = 30,
                               .noise = 0.1,   .seed = 6};
        assert_int_equal(ast_mixture_draw(&fault, &mixture, points, labels, NULL), AST_OK);
        mixture.axial = 1;
        assert_int_equal(ast_mixture_draw(&fault, &mixture, flipped, labels, NULL), AST_OK);
        assert_true(silhouette_of(points, N, dimension, labels, AST_AXIAL_COSINE) ==
                    silhouette_of(flipped, N, dimension, labels, AST_AXIAL_COSINE));
        assert_true(silhouette_of(points, N, dimension, labels, AST_AXIAL_ANGLE) ==
                    silhouette_of(flipped, N, dimension, labels, AST_AXIAL_ANGLE));
        assert_true(silhouette_of(points, N, dimension, labels, AST_COSINE) !=
                    silhouette_of(flipped, N, dimension, labels, AST_COSINE));
    }
}

/* Two tight bundles at right angles, of which one point is labelled wrongly; and a point by itself, which counts 0. */
static void test_silhouette_of_a_case_by_hand(void **state) {
    (void)state;
    const float points[] = {1, 0, 1, 0, 0, 1, 0, 1, -1, 0};
    const int32_t right[] = {0, 0, 1, 1, -1}, wrong[] = {0, 1, 1, 1, -1}, alone[] = {0, 0, 1, 1, 2};
    for (int kind = 0; kind < 2; kind++) {
        ast_dissimilarity dissimilarity = kind ? AST_ANGLE : AST_COSINE;
        assert_near(silhouette_of(points, 5, 2, right, dissimilarity), 1, 1e-8);
        /* 0 alone: 0. 1 among the wrong: a = a right angle, b = 0: -1. 2 and 3: a = half a right angle, b = a right
         * angle: 1/2 each. */
        assert_near(silhouette_of(points, 5, 2, wrong, dissimilarity), (0 - 1 + 0.5 + 0.5) / 4, 1e-8);
        assert_near(silhouette_of(points, 5, 2, alone, dissimilarity), 4.0 / 5, 1e-8);
    }
}

static void test_equal_points_have_no_silhouette(void **state) {
    (void)state;
    float points[30];
    int32_t labels[10];
    for (int i = 0; i < 10; i++) {
        memcpy(points + 3 * i, (float[]){0.26726124f, 0.53452248f, 0.80178373f}, 3 * sizeof *points);
        labels[i] = i % 2;
    }
    assert_true(silhouette_of(points, 10, 3, labels, AST_COSINE) == 0);
    assert_true(silhouette_of(points, 10, 3, labels, AST_ANGLE) == 0);
    assert_true(silhouette_of(points, 10, 3, labels, AST_AXIAL_COSINE) == 0);
    assert_true(silhouette_of(points, 10, 3, labels, AST_AXIAL_ANGLE) == 0);
}

static void test_silhouette_needs_two_clusters(void **state) {
    (void)state;
    const float points[] = {1, 0, 0, 1};
    const int32_t one[] = {3, 3}, none[] = {-1, -1}, half[] = {-1, 0};
    const int32_t *cases[] = {one, none, half};
    for (int i = 0; i < 3; i++) {
        ast_fault fault = {0};
        double silhouette = 7;
        size_t sampled = 7;
        assert_int_equal(measure(&fault, 1, points, 2, 2, cases[i], AST_COSINE, 1, &silhouette, &sampled),
                         AST_BAD_DATA);
        assert_non_null(strstr(fault.message, "two clusters"));
        assert_true(silhouette == 7 && sampled == 7);
    }
}

static void draw(size_t count, size_t dimension, size_t clusters, float **points, int32_t **labels) {
    ast_fault fault = {0};
    ast_mixture mixture = {sizeof mixture, .points = count, .dimension = dimension, .clusters = clusters, .kappa = 30,
                           .noise = 0.1,   .seed = 5};
    *points = malloc(count * dimension * sizeof **points);
    *labels = malloc(count * sizeof **labels);
    assert_int_equal(ast_mixture_draw(&fault, &mixture, *points, *labels, NULL), AST_OK);
}

static void test_silhouette_is_the_same_in_any_manner(void **state) {
    (void)state;
    static const struct {
        size_t count, dimension, clusters;
        ast_dissimilarity dissimilarity;
    } cases[] = {{50001, 3, 7, AST_COSINE},       {10007, 2, 5, AST_COSINE},      {10004, 4, 300, AST_COSINE},
                 {7, 3, 3, AST_COSINE},           {3000, 40, 70, AST_COSINE},     {300, 700, 3, AST_COSINE},
                 {1501, 3, 6, AST_ANGLE},         {9001, 4, 7, AST_AXIAL_COSINE}, {2003, 2, 4, AST_AXIAL_COSINE},
                 {1501, 17, 5, AST_AXIAL_COSINE}, {1501, 3, 6, AST_AXIAL_ANGLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float *points;
        int32_t *labels;
        draw(cases[i].count, cases[i].dimension, cases[i].clusters, &points, &labels);
        double first = NAN;
        bool pairs = cases[i].dissimilarity == AST_ANGLE || cases[i].dissimilarity == AST_AXIAL_ANGLE;
        for (int way = 0; way < (pairs ? 4 : 4 * 4); way++) { /* by pairs, the threads are all there is */
            ast_fault fault = {0};
            double silhouette;
            manner how = {way % 4 + 1, way & 4 ? "base" : REF_FAST, way & 8};
            if (!ref_has(how.kernels))
                how.kernels = "base";
            assert_int_equal(measure_in(how, &fault, points, cases[i].count, cases[i].dimension, labels,
                                        cases[i].dissimilarity, 1, &silhouette, NULL),
                             AST_OK);
            first = way == 0 ? silhouette : first;
            assert_memory_equal(&silhouette, &first, sizeof first);
        }
        free(points);
        free(labels);
    }
}

/* More points than the sample takes: the number used is reported and the seed decides. Most points are alone in their
 * cluster, which costs nothing, so that 20,000 of them are no burden; the others are in one of two bundles. */
static void test_angular_silhouette_samples(void **state) {
    (void)state;
    enum { N = AST_SILHOUETTE_SAMPLE * 2, BUNDLED = 1000 };
    float *points;
    int32_t *labels;
    draw(N, 4, 1, &points, &labels);
    for (int i = 0; i < N; i++) {
        labels[i] = i % (N / BUNDLED) ? i + 2 : i / (N / BUNDLED) % 2;
        points[4 * i] += labels[i] == 0 ? 40 : labels[i] == 1 ? -40 : 0; /* bundles about the first axis */
        double length = sqrt(pow(points[4 * i], 2) + pow(points[4 * i + 1], 2) + pow(points[4 * i + 2], 2) +
                             pow(points[4 * i + 3], 2));
        for (int d = 0; d < 4; d++)
            points[4 * i + d] = (float)(points[4 * i + d] / length);
    }
    double values[2];
    for (int i = 0; i < 2; i++) {
        ast_fault fault = {0};
        size_t sampled = 0;
        assert_int_equal(measure(&fault, 2, points, N, 4, labels, AST_ANGLE, (uint64_t)i, &values[i], &sampled),
                         AST_OK);
        assert_int_equal(sampled, AST_SILHOUETTE_SAMPLE);
    }
    assert_true(values[0] != values[1]);
    /* Half of the bundled points are in the sample, with silhouettes not far from 1. */
    for (int i = 0; i < 2; i++)
        assert_true(values[i] > 0.015 && values[i] <= (0.5 * BUNDLED + 80) / AST_SILHOUETTE_SAMPLE);
    free(points);
    free(labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement_equals_its_definition),
        cmocka_unit_test(test_agreement_ignores_names),
        cmocka_unit_test(test_agreement_where_it_degenerates),
        cmocka_unit_test(test_agreement_of_many_points),
        cmocka_unit_test(test_silhouettes_equal_their_definition),
        cmocka_unit_test(test_many_moments_are_taken_by_pairs),
        cmocka_unit_test(test_axial_silhouettes_do_not_see_signs),
        cmocka_unit_test(test_silhouette_of_a_case_by_hand),
        cmocka_unit_test(test_equal_points_have_no_silhouette),
        cmocka_unit_test(test_silhouette_needs_two_clusters),
        cmocka_unit_test(test_silhouette_is_the_same_in_any_manner),
        cmocka_unit_test(test_angular_silhouette_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
