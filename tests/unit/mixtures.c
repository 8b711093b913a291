/* SPDX-License-Identifier: MIT
 *
 * Mixtures of known directions: as many points, clusters and as much noise as asked for, means that keep their
 * distance, the same bits from the same seed, and a drawing that can be stopped. */
#include "vmf.h"

#include "asterism.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double smallest_angle(const float *means, size_t clusters, size_t dimension) {
    double smallest = INFINITY;
    for (size_t i = 0; i < clusters; i++)
        for (size_t j = 0; j < i; j++) {
            double away = 0, towards = 0;
            for (size_t d = 0; d < dimension; d++) {
                away += pow((double)means[i * dimension + d] - means[j * dimension + d], 2);
                towards += pow((double)means[i * dimension + d] + means[j * dimension + d], 2);
            }
            smallest = fmin(smallest, 2 * atan2(sqrt(away), sqrt(towards)) * 180 / M_PI);
        }
    return smallest;
}

static void test_mixture_is_what_was_asked_for(void **state) {
    (void)state;
    enum { N = 20000, D = 6, K = 5 };
    ast_mixture mixture = {sizeof mixture, .points = N,      .dimension = D, .clusters = K,
                           .kappa = 40,    .separation = 50, .noise = 0.2,   .seed = 3};
    float *points = malloc(N * D * sizeof *points), means[K * D];
    int32_t *labels = malloc(N * sizeof *labels);
    ast_fault fault = {0};
    assert_int_equal(ast_mixture_draw(&fault, &mixture, points, labels, means), AST_OK);
    assert_true(smallest_angle(means, K, D) >= 50);
    int sizes[K] = {0}, noise = 0, early = 0;
    double cosines[K] = {0}, drift[D] = {0};
    for (int i = 0; i < N; i++) {
        const float *x = points + i * D;
        double square = 0;
        for (int d = 0; d < D; d++)
            square += (double)x[d] * x[d];
        assert_true(fabs(square - 1) <= 0x1p-22);
        assert_in_range(labels[i] + 1, 0, K);
        noise += labels[i] < 0;
        early += labels[i] < 0 && i < N / 2;
        for (int d = 0; d < D && labels[i] < 0; d++)
            drift[d] += x[d] / (0.2 * N);
        for (int d = 0; d < D && labels[i] >= 0; d++)
            cosines[labels[i]] += (double)x[d] * means[labels[i] * D + d];
        if (labels[i] >= 0)
            sizes[labels[i]]++;
    }
    assert_int_equal(noise, N / 5);
    assert_true(abs(early - N / 10) < 5 * sqrt(N * 0.2 * 0.25));
    for (int k = 0; k < K; k++) {
        assert_true(abs(sizes[k] - N * 4 / 5 / K) < 5 * sqrt(N / 5.0));
        assert_true(fabs(cosines[k] / sizes[k] - ast_vmf_resultant(D, 40)) < 0.01);
    }
    for (int d = 0; d < D; d++)
        assert_true(fabs(drift[d]) < 5 / sqrt(0.2 * N * D));
    free(points);
    free(labels);
}

static void test_mixture_follows_from_its_seed(void **state) {
    (void)state;
    enum { N = 500 };
    static float first[N * 3], second[N * 3], means[12];
    static int32_t labels[N];
    ast_fault fault = {0};
    ast_mixture mixture = {sizeof mixture, .points = N,      .dimension = 3, .clusters = 4,
                           .kappa = 20,    .separation = 30, .noise = 0.1,   .seed = 9};
    assert_int_equal(ast_mixture_draw(&fault, &mixture, first, labels, means), AST_OK);
    assert_int_equal(ast_mixture_draw(&fault, &mixture, second, NULL, NULL), AST_OK);
    assert_memory_equal(first, second, sizeof first);
    mixture.seed = 10;
    assert_int_equal(ast_mixture_draw(&fault, &mixture, second, NULL, NULL), AST_OK);
    assert_memory_not_equal(first, second, sizeof first);
}

/* Rows are those of directed data, each with a sign of its own, about as often the one as the other. */
static void test_axial_mixture_has_random_signs(void **state) {
    (void)state;
    enum { N = 2000 };
    static float directed[N * 3], axial[N * 3];
    static int32_t labels[N], axial_labels[N];
    ast_fault fault = {0};
    ast_mixture mixture = {
        .size = sizeof mixture, .points = N, .dimension = 3, .clusters = 4, .kappa = 20, .noise = 0.1, .seed = 9};
    assert_int_equal(ast_mixture_draw(&fault, &mixture, directed, labels, NULL), AST_OK);
    mixture.axial = 1;
    assert_int_equal(ast_mixture_draw(&fault, &mixture, axial, axial_labels, NULL), AST_OK);
    assert_memory_equal(labels, axial_labels, sizeof labels);
    int turned = 0;
    for (int i = 0; i < N; i++) {
        float sign = axial[3 * i] == directed[3 * i] ? 1 : -1;
        for (int d = 0; d < 3; d++)
            assert_true(axial[3 * i + d] == sign * directed[3 * i + d]);
        turned += sign < 0;
    }
    assert_true(abs(turned - N / 2) < 5 * sqrt(N) / 2);
}

/* Both ends of every mean keep their distance, up to the tightest: three right angles, the six diagonals of an
 * icosahedron; beyond there are none. */
static void test_axes_keep_their_distance(void **state) {
    (void)state;
    static const struct {
        size_t clusters, dimension;
        double separation;
        ast_status status;
    } cases[] = {
        {8, 3, 30, AST_OK},         {6, 3, 63.4, AST_OK},     {3, 3, 89.9, AST_OK},
        {5, 2, 35.9, AST_OK},       {1, 4, 90, AST_OK},       {12, 4, 40, AST_OK},
        {7, 3, 63.5, AST_BAD_DATA}, {4, 3, 90, AST_BAD_DATA}, {6, 2, 30.1, AST_BAD_DATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float point[4], means[96];
        ast_fault fault = {0};
        size_t count = cases[i].clusters, dimension = cases[i].dimension;
        ast_mixture mixture = {.size = sizeof mixture,
                               .points = 1,
                               .dimension = dimension,
                               .clusters = count,
                               .kappa = 1,
                               .separation = cases[i].separation,
                               .axial = 1,
                               .seed = 2};
        assert_int_equal(ast_mixture_draw(&fault, &mixture, point, NULL, means), cases[i].status);
        if (cases[i].status != AST_OK)
            continue;
        for (size_t k = 0; k < count * dimension; k++)
            means[count * dimension + k] = -means[k];
        assert_true(smallest_angle(means, count > 1 ? 2 * count : 1, dimension) >= cases[i].separation - 2e-5);
    }
}

static void test_means_keep_their_distance(void **state) {
    (void)state;
    static const struct {
        size_t clusters, dimension;
        double separation;
        int seeds;
    } cases[] = {
        {30, 3, 30, 200}, {30, 3, 36, 3},   {6, 3, 90, 5}, {4, 3, 109.47, 5}, {12, 3, 63.4, 5},
        {2, 5, 180, 5},   {12, 2, 29.9, 5}, {8, 4, 90, 5}, {100, 40, 60, 2},  {1, 3, 180, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int seed = 1; seed <= cases[i].seeds; seed++) {
            float point[40], means[4000];
            ast_fault fault = {0};
            ast_mixture mixture = {.size = sizeof mixture,
                                   .points = 1,
                                   .dimension = cases[i].dimension,
                                   .clusters = cases[i].clusters,
                                   .kappa = 1,
                                   .separation = cases[i].separation,
                                   .seed = (uint64_t)seed};
            if (ast_mixture_draw(&fault, &mixture, point, NULL, means) != AST_OK)
                fail_msg("seed %d: %s", seed, fault.message);
            double slack = cases[i].separation == 30 ? 0 : 2e-5; /* the tightest packings are met up to rounding */
            assert_true(smallest_angle(means, mixture.clusters, mixture.dimension) >= mixture.separation - slack);
        }
}

static void test_impossible_means_are_refused(void **state) {
    (void)state;
    static const struct {
        size_t clusters, dimension;
        double separation;
    } cases[] = {{13, 3, 64}, {7, 3, 90}, {5, 3, 100}, {3, 8, 121}, {13, 2, 30}, {10000, 3, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float point[8] = {7};
        ast_fault fault = {0};
        ast_mixture mixture = {.size = sizeof mixture,
                               .points = 1,
                               .dimension = cases[i].dimension,
                               .clusters = cases[i].clusters,
                               .kappa = 1,
                               .separation = cases[i].separation,
                               .seed = 1};
        assert_int_equal(ast_mixture_draw(&fault, &mixture, point, NULL, NULL), AST_BAD_DATA);
        assert_non_null(strstr(fault.message, "degrees apart"));
        assert_true(point[0] == 7);
    }
}

static void test_odd_mixtures(void **state) {
    (void)state;
    float points[40];
    int32_t labels[10];
    ast_fault fault = {0};
    ast_mixture none = {.size = sizeof none, .points = 0, .dimension = 3, .clusters = 2, .kappa = 1, .seed = 1};
    assert_int_equal(ast_mixture_draw(&fault, &none, NULL, NULL, NULL), AST_OK);
    ast_mixture noise = {.size = sizeof noise, .points = 10, .dimension = 4, .clusters = 0, .kappa = 1, .seed = 1};
    assert_int_equal(ast_mixture_draw(&fault, &noise, points, labels, NULL), AST_OK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(labels[i], -1);
    ast_mixture line = {.size = sizeof line, .points = 10, .dimension = 1, .clusters = 1, .kappa = 1, .seed = 1};
    assert_int_equal(ast_mixture_draw(&fault, &line, points, labels, NULL), AST_BAD_OPTION);
}

static int stop_at(size_t drawn, void *data) {
    size_t *limits = data; /* where it stops; the last call's number */
    assert_true(drawn >= limits[1]);
    limits[1] = drawn;
    return drawn >= limits[0];
}

static void test_drawing_can_be_cancelled(void **state) {
    (void)state;
    enum { N = 5000 };
    static float points[N * 300], whole[N * 300];
    ast_fault fault = {0};
    size_t limits[2] = {SIZE_MAX, 0};
    ast_mixture mixture = {.size = sizeof mixture, .points = N, .dimension = 300, .clusters = 2, .kappa = 1, .seed = 1};
    assert_int_equal(ast_mixture_draw(&fault, &mixture, whole, NULL, NULL), AST_OK);
    mixture.progress = stop_at;
    mixture.progress_data = limits;
    assert_int_equal(ast_mixture_draw(&fault, &mixture, points, NULL, NULL), AST_OK);
    assert_memory_equal(points, whole, sizeof whole);
    assert_in_range(limits[1], N / 2, N - 1); /* it was asked to the end */
    limits[0] = N / 2;
    limits[1] = 0;
    assert_int_equal(ast_mixture_draw(&fault, &mixture, points, NULL, NULL), AST_CANCELLED);
    assert_in_range(limits[1], N / 2, N - 1);
    assert_true(strlen(fault.message) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixture_is_what_was_asked_for),
        cmocka_unit_test(test_mixture_follows_from_its_seed),
        cmocka_unit_test(test_axial_mixture_has_random_signs),
        cmocka_unit_test(test_axes_keep_their_distance),
        cmocka_unit_test(test_means_keep_their_distance),
        cmocka_unit_test(test_impossible_means_are_refused),
        cmocka_unit_test(test_odd_mixtures),
        cmocka_unit_test(test_drawing_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
