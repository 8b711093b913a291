/* SPDX-License-Identifier: MIT
 *
 * Random numbers: the published generators bit for bit, and the distributions that are made from them. */
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* splitmix64 from state 0: ast_mix64 is its step, state included. */
static void test_splitmix64_known_values(void **state) {
    (void)state;
    assert_true(ast_mix64(0) == 0xe220a8397b1dcdafu);
    assert_true(ast_mix64(0x9e3779b97f4a7c15u) == 0x6e789e6aa1b965f4u);
    assert_true(ast_mix64(2 * 0x9e3779b97f4a7c15u) == 0x06c45d188009454fu);
}

/* xoshiro256++ from the state {1, 2, 3, 4}: the values its authors' code prints. */
static void test_xoshiro_known_values(void **state) {
    (void)state;
    ast_random random = {{1, 2, 3, 4}};
    const uint64_t expected[] = {
        41943041u, 58720359u, 3588806011781223u, 3591011842654386u, 9228616714210784205u, 9973669472204895162u};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(ast_random_u64(&random) == expected[i]);
}

static void test_seeds_and_streams_differ(void **state) {
    (void)state;
    enum { SEEDS = 40 };
    uint64_t first[SEEDS * SEEDS];
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t stream = 0; stream < SEEDS; stream++) {
            ast_random random, again;
            ast_random_seed(&random, seed, stream);
            ast_random_seed(&again, seed, stream);
            assert_memory_equal(&random, &again, sizeof random);
            first[seed * SEEDS + stream] = ast_random_u64(&random);
        }
    for (int i = 0; i < SEEDS * SEEDS; i++)
        for (int j = 0; j < i; j++)
            assert_true(first[i] != first[j]);
}

static void test_uniform_fills_the_unit_interval(void **state) {
    (void)state;
    enum { COUNT = 200000, CELLS = 100 };
    int cells[CELLS] = {0};
    ast_random random;
    ast_random_seed(&random, 1, 2);
    for (int i = 0; i < COUNT; i++) {
        double u = ast_random_uniform(&random);
        assert_true(u >= 0 && u < 1);
        cells[(int)(u * CELLS)]++;
    }
    double chi2 = 0, expected = (double)COUNT / CELLS;
    for (int c = 0; c < CELLS; c++)
        chi2 += pow(cells[c] - expected, 2) / expected;
    assert_true(chi2 > 50 && chi2 < 160);       /* 99 degrees of freedom: outside once in ten thousand */
    ast_random top = {{~(uint64_t)0, 0, 0, 0}}; /* the largest draw is still below 1 */
    assert_true(ast_random_uniform(&top) < 1);
}

static void test_below_is_unbiased(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 3, 4);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ast_random_below(&random, 1), 0);
    int counts[7] = {0};
    for (int i = 0; i < 70000; i++)
        counts[ast_random_below(&random, 7)]++;
    for (int c = 0; c < 7; c++)
        assert_true(abs(counts[c] - 10000) < 500);
    /* Taking the remainder of 2^64 by 3 * 2^62 would give the first third twice as often. */
    int low = 0;
    uint64_t bound = (uint64_t)3 << 62;
    for (int i = 0; i < 30000; i++) {
        uint64_t draw = ast_random_below(&random, bound);
        assert_true(draw < bound);
        low += draw < bound / 3;
    }
    assert_true(abs(low - 10000) < 450);
}

static void test_normal_has_its_moments(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    double moments[5] = {0};
    int within = 0;
    ast_random random;
    ast_random_seed(&random, 5, 6);
    for (int i = 0; i < COUNT; i++) {
        double x = ast_random_normal(&random), power = 1;
        for (int p = 1; p <= 4; p++)
            moments[p] += (power *= x) / COUNT;
        within += fabs(x) < 1;
    }
    double scale = 5 / sqrt(COUNT);
    assert_true(fabs(moments[1]) < scale && fabs(moments[2] - 1) < scale * sqrt(2));
    assert_true(fabs(moments[3]) < scale * sqrt(15) && fabs(moments[4] - 3) < scale * sqrt(96));
    assert_true(fabs((double)within / COUNT - erf(sqrt(0.5))) < scale / 2);
}

/* Every order of four comes up equally often; and large ones are permutations. */
static void test_permutations_are_uniform(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 7, 8);
    int counts[256] = {0}, met = 0;
    for (int i = 0; i < 48000; i++) {
        uint32_t order[4];
        ast_random_permutation(&random, order, 4);
        counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    for (int c = 0; c < 256; c++) {
        met += counts[c] > 0;
        assert_true(counts[c] == 0 || abs(counts[c] - 2000) < 220);
    }
    assert_int_equal(met, 24);
    static uint32_t order[10000];
    static bool seen[10000];
    ast_random_permutation(&random, order, 10000);
    for (int i = 0; i < 10000; i++) {
        assert_true(order[i] < 10000 && !seen[order[i]]);
        seen[order[i]] = true;
    }
    ast_random_permutation(&random, order, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splitmix64_known_values),  cmocka_unit_test(test_xoshiro_known_values),
        cmocka_unit_test(test_seeds_and_streams_differ), cmocka_unit_test(test_uniform_fills_the_unit_interval),
        cmocka_unit_test(test_below_is_unbiased),        cmocka_unit_test(test_normal_has_its_moments),
        cmocka_unit_test(test_permutations_are_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
