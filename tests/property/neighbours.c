/* SPDX-License-Identifier: MIT
 *
 * Nearest neighbours: equal to comparing all pairs, down to the bit, for rows of every kind, with and without heads, on
 * any number of threads and instruction set. */
#include "context.h"
#include "reference/harness.h"
#include "rowset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The reference: all pairs ------------------------------------------------------------------------------------ */

typedef struct found {
    int32_t *neighbours; /* (N, k) */
    double *cosines;
} found;

static found found_open(size_t count, size_t k) {
    found f = {malloc((count * k + 1) * sizeof *f.neighbours), malloc((count * k + 1) * sizeof *f.cosines)};
    for (size_t i = 0; i < count * k; i++) {
        f.neighbours[i] = -1;
        f.cosines[i] = NAN;
    }
    return f;
}

static void found_close(found *f) {
    free(f->neighbours);
    free(f->cosines);
}

/* Puts row j into the sorted list of one row. */
static void put(int32_t *neighbours, double *cosines, size_t k, size_t j, double cosine) {
    for (size_t at = 0; at < k; at++)
        if (neighbours[at] < 0 || cosine > cosines[at]) {
            memmove(neighbours + at + 1, neighbours + at, (k - at - 1) * sizeof *neighbours);
            memmove(cosines + at + 1, cosines + at, (k - at - 1) * sizeof *cosines);
            neighbours[at] = (int32_t)j;
            cosines[at] = cosine;
            return;
        }
}

static found all_pairs(const ast_points *points, size_t k) {
    size_t dimension = points->dimension;
    found f = found_open(points->count, k);
    float *rows = malloc((points->count * dimension + 1) * sizeof *rows);
    bool *there = malloc(points->count + 1);
    for (size_t i = 0; i < points->count; i++)
        there[i] = ast_read_row(points, i, rows + i * dimension) != AST_ROW_MISSING;
    for (size_t i = 0; i < points->count; i++)
        for (size_t j = 0; j < points->count; j++) {
            double sum = 0;
            for (size_t d = 0; d < dimension; d++)
                sum += (double)rows[i * dimension + d] * (double)rows[j * dimension + d];
            if (i != j && there[i] && there[j])
                put(f.neighbours + i * k, f.cosines + i * k, k, j, sum);
        }
    free(rows);
    free(there);
    return f;
}

static void compare(ast_context *context, const ast_points *points, size_t k, const found *expected, const char *what) {
    found f = found_open(points->count, k);
    if (ast_neighbours(context, points, k, f.neighbours, f.cosines) != AST_OK)
        fail_msg("%s: %s", what, ast_message(context));
    for (size_t i = 0; i < points->count * k; i++)
        if (f.neighbours[i] != expected->neighbours[i] ||
            !(f.cosines[i] == expected->cosines[i] || (isnan(f.cosines[i]) && isnan(expected->cosines[i]))))
            fail_msg("%s: neighbour %zu of row %zu is %d at %.17g, not %d at %.17g", what, i % k, i / k,
                     f.neighbours[i], f.cosines[i], expected->neighbours[i], expected->cosines[i]);
    found_close(&f);
}

static void check(const ast_points *points, size_t k, const char *what) {
    found expected = all_pairs(points, k);
    compare(ref_context("base", 1), points, k, &expected, what);
    compare(ref_context(REF_FAST, 2), points, k, &expected, what);
    compare(ref_context(REF_FAST, 3), points, k, &expected, what);
    found_close(&expected);
}

/* ---- Rows of every kind ------------------------------------------------------------------------------------------ */

static void check_case(uint64_t seed, ref_size size, size_t ways) {
    (void)ways;
    ref_case made;
    ref_case_make(&made, seed, size);
    check(&made.points, 1 + seed % 7, made.text);
    ref_case_free(&made);
}

static void test_cases(void **state) {
    (void)state;
    ref_check_seeds(check_case, REF_SMALL, 200, 1);
}

/* Rows in clusters with a spectrum that falls fast, many copies among them, two rows missing: heads pay. */
static void test_heads(void **state) {
    (void)state;
    enum { DIMENSION = 64 };
    size_t count = REF_SLOWER > 1 ? 2200 : 5000;
    float *x = malloc(count * DIMENSION * sizeof *x), centres[30][DIMENSION];
    ast_random random;
    ast_random_seed(&random, 7, 0);
    for (size_t k = 0; k < 30; k++)
        for (size_t d = 0; d < DIMENSION; d++)
            centres[k][d] = (float)(ast_random_normal(&random) / (double)(1 + d));
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < DIMENSION; d++) {
            double noise = ast_random_normal(&random) * 0.4 / (double)(1 + d);
            x[i * DIMENSION + d] = i % 10 == 9 ? x[(i - 9) * DIMENSION + d] : centres[i % 30][d] + (float)noise;
        }
    x[3 * DIMENSION] = NAN;
    memset(x + 100 * DIMENSION, 0, DIMENSION * sizeof *x);
    ast_points points = ast_points_f4(x, count, DIMENSION);
    check(&points, 5, "a falling spectrum");
    free(x);
}

/* Uniform rows: no axes are better than others. */
static void test_uniform(void **state) {
    (void)state;
    enum { COUNT = 2100, DIMENSION = 50 };
    float *x = malloc(sizeof(float) * COUNT * DIMENSION);
    ast_random random;
    ast_random_seed(&random, 8, 0);
    for (size_t i = 0; i < (size_t)COUNT * DIMENSION; i++)
        x[i] = (float)ast_random_normal(&random);
    ast_points points = ast_points_f4(x, COUNT, DIMENSION);
    check(&points, 3, "uniform rows");
    points.count = 40;
    check(&points, 39, "all the others");
    check(&points, 50, "more than there are");
    free(x);
}

/* Rows of few components -1, 0, 1: most cosines are equal, and so are many rows. With and without heads. */
static void test_ties(void **state) {
    (void)state;
    enum { COUNT = 2300, MOST = 64 };
    static const size_t dimensions[] = {3, 64}, numbers[] = {1, 4, 90};
    float *x = calloc((size_t)COUNT * MOST, sizeof *x);
    ast_random random;
    assert_non_null(x);
    ast_random_seed(&random, 9, 0);
    for (size_t n = 0; n < 2; n++) {
        size_t dimension = dimensions[n], count = dimension > 3 ? COUNT : 400;
        memset(x, 0, count * dimension * sizeof *x);
        for (size_t i = 0; i < count; i++) /* component 0 is never 0 in 64 dimensions: no row is missing there */
            for (size_t m = 0; m < 3; m++) {
                size_t component = dimension > 3 && m > 0 ? ast_random_below(&random, 7) : m;
                x[i * dimension + component] = dimension > 3 && m == 0 ? 1 : (float)ast_random_below(&random, 3) - 1;
            }
        ast_points points = ast_points_f4(x, count, dimension);
        for (size_t k = 0; k < 3; k++)
            check(&points, numbers[k], "ties");
    }
    free(x);
}

static void test_refused(void **state) {
    (void)state;
    ast_context *context = ref_context("base", 1);
    float x[] = {1, 0, INFINITY, 1};
    int32_t neighbours[2] = {7, 7}, starts[] = {0, 1, 2}, columns[] = {0, 1};
    double cosines[2];
    ast_points points = ast_points_f4(x, 2, 2), sparse = ast_points_csr(x, AST_F4, starts, columns, AST_I4, 2, 2);
    assert_int_equal(ast_neighbours(context, &points, 1, neighbours, cosines), AST_BAD_DATA);
    assert_int_equal(ast_fault_row(context), 2);
    assert_int_equal(ast_neighbours(context, &points, 0, neighbours, cosines), AST_BAD_OPTION);
    assert_int_equal(ast_neighbours(context, &sparse, 1, neighbours, cosines), AST_BAD_OPTION);
    assert_int_equal(ast_neighbours(context, &points, 1, NULL, cosines), AST_BAD_OPTION);
    assert_int_equal(neighbours[0], 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_heads),
                                       cmocka_unit_test(test_uniform), cmocka_unit_test(test_ties),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
