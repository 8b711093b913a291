/* SPDX-License-Identifier: MIT
 *
 * The order of rows by content depends on the rows alone: permuted rows, the same sequence of rows. Copies, signs of
 * zero, missing rows, weights, axial rows, and sparse views of the same points. */
#include "content.h"
#include "random.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400, WIDEST = 40 };

typedef struct rows {
    size_t count, dimension;
    float x[MOST * WIDEST];
    double weights[MOST];
} rows;

static void make(rows *r, ast_random *random) {
    r->count = ast_random_below(random, MOST + 1);
    r->dimension = 2 + ast_random_below(random, WIDEST - 1);
    for (size_t i = 0; i < r->count; i++) {
        float *row = r->x + i * r->dimension;
        r->weights[i] = (double)ast_random_below(random, 4);
        for (size_t d = 0; d < r->dimension; d++)
            row[d] = ast_random_below(random, 4) == 0 ? (ast_random_below(random, 2) ? 0.0f : -0.0f)
                                                      : (float)ast_random_normal(random);
        if (i > 0 && ast_random_below(random, 3) == 0)
            memcpy(row, r->x + ast_random_below(random, i) * r->dimension, r->dimension * sizeof *row);
        if (ast_random_below(random, 20) == 0)
            row[0] = NAN;
    }
}

static void permute(const rows *from, const uint32_t *order, rows *to) {
    *to = *from;
    for (size_t i = 0; i < from->count; i++) {
        memcpy(to->x + i * from->dimension, from->x + order[i] * from->dimension, from->dimension * sizeof *to->x);
        to->weights[i] = from->weights[order[i]];
    }
}

static void sort_rows(const rows *r, bool weighted, bool axial, uint64_t seed, ast_pool *pool, uint32_t *order) {
    ast_points points = ast_points_f4(r->x, r->count, r->dimension);
    ast_fault fault;
    assert_int_equal(ast_order_by_content(&points, weighted ? r->weights : NULL, axial, seed, pool, order, &fault),
                     AST_OK);
}

static bool takes_part(const rows *r, size_t i, bool weighted) {
    const float *row = r->x + i * r->dimension;
    double squares = 0;
    for (size_t d = 0; d < r->dimension; d++)
        squares += (double)row[d] * row[d];
    return squares > 0 && !(weighted && r->weights[i] == 0);
}

/* The row as a unit vector; axial: with its first component that is not zero positive. */
static void unit_of(const rows *r, size_t i, bool axial, float *unit) {
    double wide[WIDEST];
    for (size_t d = 0; d < r->dimension; d++)
        wide[d] = r->x[i * r->dimension + d];
    ref_normalise(wide, r->dimension, 0, unit);
    size_t first = 0;
    while (unit[first] == 0)
        first++;
    if (axial && unit[first] < 0)
        ref_negate(unit, r->dimension);
}

static bool same_row(const rows *r, size_t i, const rows *s, size_t k, bool axial) {
    float x[WIDEST], y[WIDEST];
    unit_of(r, i, axial, x);
    unit_of(s, k, axial, y);
    for (size_t d = 0; d < r->dimension; d++)
        if (x[d] != y[d])
            return false;
    return true;
}

static void check_seed(uint64_t seed, ast_pool *pool) {
    static rows given, permuted;
    static uint32_t order[MOST], permutation[MOST], other[MOST];
    ast_random random;
    ast_random_seed(&random, seed, 0);
    make(&given, &random);
    bool weighted = ast_random_below(&random, 2), axial = ast_random_below(&random, 2);
    ast_random_permutation(&random, permutation, given.count);
    permute(&given, permutation, &permuted);
    sort_rows(&given, weighted, axial, seed, pool, order);
    sort_rows(&permuted, weighted, axial, seed, pool, other);
    size_t seen[MOST] = {0}, parts = 0;
    for (size_t i = 0; i < given.count; i++) {
        assert_true(order[i] < given.count);
        assert_int_equal(seen[order[i]]++, 0);
        if (!takes_part(&given, order[i], weighted))
            continue;
        assert_int_equal(parts++, i); /* those that take no part come last */
        assert_true(same_row(&given, order[i], &permuted, other[i], axial));
        assert_true(!weighted || given.weights[order[i]] == permuted.weights[other[i]]);
    }
}

static void permuted_rows_come_in_the_same_order(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        ast_pool *pool;
        assert_int_equal(ast_pool_open(&pool, threads), AST_OK);
        for (uint64_t seed = 1; seed <= ref_case_count(500); seed++)
            check_seed(3 * seed + (uint64_t)threads, pool);
        ast_pool_close(pool);
    }
}

/* A row and its entries have one hash; so have an axial row and its opposite; another seed gives another hash. */
static void hashes_do_not_depend_on_the_form(void **state) {
    const float row[] = {0, -0.6f, -0.0f, 0, 0.8f}, turned[] = {-0.0f, 0.6f, 0, -0.0f, -0.8f};
    const float values[] = {-0.6f, 0.8f};
    const int32_t columns[] = {1, 4};
    ast_content plain, axial, sparse, other;
    (void)state;
    assert_true(ast_content_open(&plain, 5, true, false, 7) && ast_content_open(&axial, 5, true, true, 7));
    assert_true(ast_content_open(&sparse, 5, false, false, 7) && ast_content_open(&other, 5, true, false, 8));
    uint64_t hash = ast_content_row(&plain, row);
    assert_true(hash == ast_content_entries(&sparse, (ast_sparse_row){values, columns, 2}));
    assert_true(hash != ast_content_row(&plain, turned));
    assert_true(hash != ast_content_row(&other, row));
    assert_true(ast_content_row(&axial, row) == ast_content_row(&axial, turned));
    ast_content_close(&plain);
    ast_content_close(&axial);
    ast_content_close(&sparse);
    ast_content_close(&other);
}

/* Leading bits of the hash decide where a row comes: each half of the rows must be as often first. */
static void orders_are_even(void **state) {
    enum { N = 20000 };
    static float x[N * 3];
    static uint32_t order[N];
    ast_random random;
    ast_pool *pool;
    ast_fault fault;
    size_t low = 0;
    (void)state;
    ast_random_seed(&random, 5, 0);
    for (size_t i = 0; i < N * 3; i++)
        x[i] = (float)ast_random_normal(&random);
    ast_points points = ast_points_f4(x, N, 3);
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    assert_int_equal(ast_order_by_content(&points, NULL, false, 1, pool, order, &fault), AST_OK);
    for (size_t i = 0; i < N / 2; i++)
        low += order[i] < N / 2;
    assert_true(low > N / 4 - 300 && low < N / 4 + 300); /* four standard deviations are 283 */
    ast_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(permuted_rows_come_in_the_same_order),
                                       cmocka_unit_test(hashes_do_not_depend_on_the_form),
                                       cmocka_unit_test(orders_are_even)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
