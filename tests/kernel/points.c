/* SPDX-License-Identifier: MIT
 *
 * Kernels that look at points alone: rows to columns, unit length, squared lengths, dot products. */
#include "common.h"

#include <math.h>
#include <string.h>

static void test_split_columns(void **state) {
    (void)state;
    for (size_t dimension = 2; dimension <= AST_SMALL; dimension++)
        for (size_t n = 0; n <= MOST_POINTS; n++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                float *rows = guarded_floats(NULL, n * dimension), *x[AST_SMALL];
                for (size_t i = 0; i < n * dimension; i++)
                    rows[i] = (float)i;
                for (size_t d = 0; d < dimension; d++)
                    x[d] = guarded_floats(NULL, padded(n));
                ast_odd_rows odd = {.list = guarded(n * sizeof(uint32_t))};
                (*kernels)->split_columns[dimension](rows, n, x, guarded(n * sizeof(int32_t)), &odd);
                for (size_t i = 0; i < n * dimension; i++)
                    assert_true(x[i % dimension][i / dimension] == (float)i);
                release_all();
            }
}

/* (1, 2^-11) has a squared length of exactly 1 plus the tolerance; other entries are the least that is off, and what is
 * just not. Below 1 a step of one component is coarser: 1 - 2^-23 is within, one float less is not. */
static const float edges[][2] = {
    {1, 0x1p-11f},
    {1, 0x1.000002p-11f},
    {0x1.fffffep-1f, 0},
    {0x1.fffffcp-1f, 0},
    {0x1.fffffap-1f, 0},
    {0x1.000002p0f, 0},
    {1, 0},
    {0, -1},
    {0, 0},
    {NAN, 0},
    {1, NAN},
    {INFINITY, 0},
    {2, -2},
    {0, -INFINITY},
    {0.6f, 0.8f},
    {-0.6f, 0.8f},
    {1e30f, 0},
    {1e-30f, 1e-40f},
};
#define EDGES (sizeof edges / sizeof *edges)

/* A point to test: a hole, an edge in two of the components, or a unit vector stretched to about the tolerance. */
static void make_point(ast_random *random, float *x, size_t dimension) {
    random_unit(random, x, dimension);
    if (ast_random_below(random, 8) == 0) {
        for (size_t d = 0; d < dimension; d++)
            x[d] = NAN;
        return;
    }
    if (ast_random_below(random, 2)) {
        double stretch = 1 + (ast_random_uniform(random) - 0.5) * 0x1p-21;
        for (size_t d = 0; d < dimension; d++)
            x[d] = (float)(x[d] * stretch);
        return;
    }
    const float *edge = edges[ast_random_below(random, EDGES)];
    size_t first = ast_random_below(random, dimension), second = (first + 1) % dimension;
    memset(x, 0, dimension * sizeof *x);
    x[first] = edge[0];
    x[second] = edge[1];
}

static bool is_off(const float *x, size_t dimension) {
    double sum = 0;
    for (size_t d = 0; d < dimension; d++)
        sum += (double)x[d] * (double)x[d];
    return !(sum >= 1 - 0x1p-22 && sum <= 1 + 0x1p-22);
}

static bool is_hole(const float *x, size_t dimension) {
    bool hole = true;
    for (size_t d = 0; d < dimension; d++)
        hole = hole && isnan(x[d]);
    return hole;
}

static size_t off_and_check(ast_random *random, size_t dimension, size_t n, const ast_kernels *kernels) {
    float *rows = guarded_floats(NULL, n * dimension), *x[AST_SMALL];
    for (size_t i = 0; i < n; i++)
        make_point(random, rows + i * dimension, dimension);
    for (size_t d = 0; d < dimension; d++)
        x[d] = guarded_floats(NULL, padded(n));
    ast_odd_rows odd = {.list = guarded(n * sizeof *odd.list)};
    int32_t *labels = guarded(n * sizeof *labels);
    size_t expected = 0, holes = 0;
    kernels->split_columns[dimension](rows, n, x, labels, &odd);
    for (size_t i = 0; i < n; i++) {
        bool hole = is_hole(rows + i * dimension, dimension);
        holes += hole;
        assert_int_equal(labels[i], hole ? -1 : -2);
        for (size_t d = 0; d < dimension; d++)
            assert_true(hole ? x[d][i] == 0 : memcmp(&x[d][i], &rows[i * dimension + d], sizeof(float)) == 0);
        if (!hole && is_off(rows + i * dimension, dimension)) {
            assert_true(expected < odd.count);
            assert_int_equal(odd.list[expected++], i);
        }
    }
    assert_int_equal(odd.count, expected);
    assert_int_equal(odd.holes, holes);
    release_all();
    return odd.count;
}

static void test_off_unit(void **state) {
    (void)state;
    assert_false(is_off(edges[0], 2) || is_off(edges[2], 2) || is_off(edges[3], 2));
    assert_true(is_off(edges[1], 2) && is_off(edges[4], 2) && is_off(edges[5], 2));
    ast_random random;
    ast_random_seed(&random, 21, 0);
    for (size_t dimension = 2; dimension <= AST_SMALL; dimension++)
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
            size_t off = 0, points = 0;
            for (size_t n = 0; n <= MOST_POINTS; n++, points += n)
                off += off_and_check(&random, dimension, n, *kernels);
            assert_true(off > points / 4 && off < points - points / 4); /* the test saw both */
        }
}

static const size_t dimensions[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 300, 4096};
#define DIMENSIONS (sizeof dimensions / sizeof *dimensions)

/* Every table must give the same bits: seeds of k-means++ hang on them. */
static void test_steady_dot(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 23, 0);
    for (size_t j = 0; j < DIMENSIONS; j++) {
        size_t dimension = dimensions[j];
        float *a = guarded_floats(NULL, dimension), *b = guarded_floats(NULL, dimension);
        double part[8] = {0}, sum = 0;
        for (size_t d = 0; d < dimension; d++) {
            a[d] = (float)ast_random_normal(&random);
            b[d] = (float)ast_random_normal(&random);
            part[d % 8] += (double)a[d] * (double)b[d];
        }
        for (size_t lane = 0; lane < 8; lane++)
            sum += part[lane];
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
            assert_true((*kernels)->reproducible_dot(a, b, dimension) == sum);
        release_all();
    }
}

static void test_squared_length(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 22, 0);
    for (size_t j = 0; j < DIMENSIONS; j++)
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
            float *x = guarded_floats(NULL, dimensions[j]);
            for (size_t d = 0; d < dimensions[j]; d++) {
                double normal = ast_random_normal(&random);
                x[d] = (float)ldexp(normal, (int)ast_random_below(&random, 40) - 20);
            }
            long double sum = 0;
            for (size_t d = 0; d < dimensions[j]; d++)
                sum += (long double)x[d] * (long double)x[d];
            double got = (*kernels)->squared_length(x, dimensions[j]);
            assert_true(fabsl((long double)got - sum) <= (long double)dimensions[j] * 0x1p-52L * sum);
            x[dimensions[j] - 1] = NAN;
            assert_true(isnan((*kernels)->squared_length(x, dimensions[j])));
            release_all();
        }
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
        assert_true((*kernels)->squared_length(guarded(0), 0) == 0);
    release_all();
}

static void test_dot(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 23, 0);
    for (size_t j = 0; j < DIMENSIONS; j++)
        for (int turn = 0; turn < 20; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                float *a = guarded_floats(NULL, dimensions[j]), *b = guarded_floats(NULL, dimensions[j]);
                random_unit(&random, a, dimensions[j]);
                random_unit(&random, b, dimensions[j]);
                double sum = 0;
                for (size_t d = 0; d < dimensions[j]; d++)
                    sum += (double)a[d] * (double)b[d];
                assert_true(fabs((*kernels)->dot(a, b, dimensions[j]) - sum) <= ast_score_error(dimensions[j]));
                release_all();
            }
}

static void test_best_products(void **state) {
    (void)state;
    static const size_t some[] = {0, 1, 3, 7, 8, 9, 16, 31, 64, 100, 130};
    ast_random random;
    ast_random_seed(&random, 35, 0);
    for (size_t j = 0; j < sizeof some / sizeof *some; j++)
        for (size_t n = 0; n < 6; n++)
            for (size_t count = 0; count < 13; count++)
                for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                    size_t dimension = some[j];
                    float *rows = guarded_floats(NULL, n * dimension),
                          *others = guarded_floats(NULL, count * dimension);
                    float *best = guarded_floats(NULL, n);
                    for (size_t i = 0; i < n && dimension; i++)
                        random_unit(&random, rows + i * dimension, dimension);
                    for (size_t k = 0; k < count && dimension; k++)
                        random_unit(&random, others + k * dimension, dimension);
                    (*kernels)->best_products(rows, n, others, count, dimension, best);
                    for (size_t i = 0; i < n; i++) {
                        double most = (double)AST_NO_SCORE;
                        for (size_t k = 0; k < count; k++) {
                            double score = ast_exact_score(rows + i * dimension, others + k * dimension, dimension);
                            most = score > most ? score : most;
                        }
                        assert_true(fabs((double)best[i] - most) <= (double)ast_score_error(dimension));
                    }
                    release_all();
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_columns),  cmocka_unit_test(test_off_unit), cmocka_unit_test(test_steady_dot),
        cmocka_unit_test(test_squared_length), cmocka_unit_test(test_dot),      cmocka_unit_test(test_best_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
