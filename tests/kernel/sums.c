/* SPDX-License-Identifier: MIT
 *
 * Exact sums by label: components, counts and keys equal scalar sums of integers, to the last bit. */
#include "common.h"

#include <math.h>
#include <string.h>

#define CLUSTERS 5
#define SLOTS (CLUSTERS + AST_BIN_MARGIN)

/* In units of 2^-30, ties to even, as the definition of the sums has it. */
static int64_t fixed(float x) {
    return (int64_t)nearbyint((double)x * 0x1p30);
}

/* Components of unit vectors; the ends of the range; and small ones between two integers, some exactly halfway. */
static float component(ast_random *random) {
    static const float special[] = {
        0,          -0.0f,       1,           -1,        0x1.000002p0f,   0x1p-30f, 0x1p-31f, 0x1.8p-30f,
        0x1.4p-29f, -0x1.4p-29f, -0x1.8p-30f, -0x1p-31f, 0x1.000002p-31f, 0x1p-60f, 1e-42f};
    size_t pick = ast_random_below(random, 4 * sizeof special / sizeof *special);
    if (pick < sizeof special / sizeof *special)
        return special[pick];
    double part = 2 * ast_random_uniform(random) - 1;
    return (float)ldexp(part, -(int)ast_random_below(random, 32));
}

/* Labels with long runs, and negative ones among them: those fall into the margin. */
static int32_t *make_labels(ast_random *random, size_t n) {
    int32_t *labels = guarded_ints(NULL, n);
    for (size_t i = 0; i < n; i++) {
        bool repeat = i > 0 && ast_random_below(random, 2);
        labels[i] = repeat ? labels[i - 1] : (int32_t)ast_random_below(random, SLOTS) - AST_BIN_MARGIN;
    }
    return labels;
}

/* Guarded bins with a start value that must be added to. */
static ast_bins make_bins(size_t copies, size_t width) {
    size_t places = SLOTS * copies + AST_BIN_MARGIN;
    int64_t *sums = guarded(places * width * sizeof *sums);
    uint64_t *keys = guarded(places * sizeof *keys);
    for (size_t i = 0; i < places * width; i++)
        sums[i] = (int64_t)1 << 40;
    for (size_t i = 0; i < places; i++)
        keys[i] = 77;
    return (ast_bins){SLOTS, copies, sums + AST_BIN_MARGIN * width, keys + AST_BIN_MARGIN};
}

/* The sum over the copies of one number of one bin, without the start values. */
static int64_t total(const ast_bins *bins, size_t width, size_t slot, size_t at) {
    int64_t sum = 0;
    for (size_t copy = 0; copy < bins->copies; copy++)
        sum += bins->sums[(copy * bins->slots + slot) * width + at] - ((int64_t)1 << 40);
    return sum;
}

static void check_sums(const float *const *x, const int32_t *labels, size_t n, size_t dimension, const ast_bins *bins) {
    size_t width = AST_SUM_WIDTH(dimension), count_at = dimension == 2 ? 3 : dimension;
    for (size_t slot = 0; slot < CLUSTERS; slot++) {
        int64_t right[8] = {0};
        for (size_t i = 0; i < n; i++)
            if (labels[i] == (int32_t)slot) {
                for (size_t d = 0; d < dimension; d++)
                    right[d] += fixed(x[d][i]);
                right[count_at]++;
            }
        for (size_t at = 0; at < width; at++)
            assert_int_equal(total(bins, width, slot, at), right[at]);
    }
}

static void test_sum_columns(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 31, 0);
    for (size_t dimension = 2; dimension <= AST_SMALL; dimension++)
        for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
            for (int turn = 0; turn < 20; turn++)
                for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                    float rows[MOST_POINTS * AST_SMALL] = {0};
                    const float *x[AST_SMALL];
                    for (size_t i = 0; i < n * dimension; i++)
                        rows[i] = component(&random);
                    guarded_columns(rows, n, dimension, x);
                    const int32_t *labels = make_labels(&random, n);
                    ast_bins bins = make_bins(turn % 2 ? 4 : 1, AST_SUM_WIDTH(dimension));
                    (*kernels)->sum_columns[dimension](x, labels, n, &bins);
                    check_sums(x, labels, n, dimension, &bins);
                    release_all();
                }
}

/* Many large components of one sign: the sums leave 32 bits at once. */
static void test_sums_are_wide(void **state) {
    (void)state;
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
        float rows[128 * 3];
        const float *x[AST_SMALL];
        for (size_t i = 0; i < 128 * 3; i++)
            rows[i] = i % 3 == 1 ? -1 : 1;
        guarded_columns(rows, 128, 3, x);
        int32_t *labels = guarded_ints(NULL, 128);
        memset(labels, 0, 128 * sizeof *labels);
        ast_bins bins = make_bins(1, 4);
        for (int turn = 0; turn < 3; turn++)
            (*kernels)->sum_columns[3](x, labels, 128, &bins);
        assert_int_equal(total(&bins, 4, 0, 0), (int64_t)384 << 30);
        assert_int_equal(total(&bins, 4, 0, 1), -((int64_t)384 << 30));
        assert_int_equal(total(&bins, 4, 0, 3), 384);
        release_all();
    }
}

/* The keys of 8 neighbours are one odd number times 1, 2, 4 .. 128. */
static void test_key(void **state) {
    (void)state;
    for (size_t i = 0; i < 4096; i++) {
        assert_true((ast_key(i & ~(size_t)7) & 1) == 1);
        assert_true(ast_key(i) == ast_key(i & ~(size_t)7) << (i & 7));
        assert_true(ast_key(i) != ast_key(i + 8));
    }
}

static void test_add_keys(void **state) {
    (void)state;
    static const size_t firsts[] = {0, 8, 64, 4096, (size_t)1 << 33};
    ast_random random;
    ast_random_seed(&random, 32, 0);
    for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
        for (size_t turn = 0; turn < 10; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                const int32_t *labels = make_labels(&random, n);
                ast_bins bins = make_bins(turn % 2 ? 4 : 1, 1);
                (*kernels)->add_keys(labels, n, firsts[turn / 2], &bins);
                for (size_t slot = 0; slot < CLUSTERS; slot++) {
                    uint64_t right = 0, sum = 0;
                    for (size_t i = 0; i < n; i++)
                        right += labels[i] == (int32_t)slot ? ast_key(firsts[turn / 2] + i) : 0;
                    for (size_t copy = 0; copy < bins.copies; copy++)
                        sum += bins.keys[copy * bins.slots + slot] - 77;
                    assert_true(sum == right);
                }
                release_all();
            }
}

static void test_sum_row(void **state) {
    (void)state;
    static const size_t dimensions[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 100, 300, 4096};
    ast_random random;
    ast_random_seed(&random, 33, 0);
    for (size_t j = 0; j < sizeof dimensions / sizeof *dimensions; j++)
        for (int turn = 0; turn < 20; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                size_t dimension = dimensions[j];
                float *x = guarded_floats(NULL, dimension);
                int64_t *sum = guarded(dimension * sizeof *sum);
                for (size_t d = 0; d < dimension; d++)
                    x[d] = component(&random), sum[d] = (int64_t)(d << 35) - 5;
                int sign = turn % 2 ? -1 : 1;
                (*kernels)->sum_row(x, dimension, sign, sum);
                for (size_t d = 0; d < dimension; d++)
                    assert_int_equal(sum[d] - ((int64_t)(d << 35) - 5), sign * fixed(x[d]));
                (*kernels)->sum_row(x, dimension, -sign, sum);
                for (size_t d = 0; d < dimension; d++)
                    assert_int_equal(sum[d], (int64_t)(d << 35) - 5);
                release_all();
            }
}

/* Of floats as doubles: any table adds to what is there exactly what the plain loop adds. */
static void test_exact_products(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 34, 0);
    for (size_t n = 0; n <= MOST_POINTS; n++)
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
            double *panel = guarded(n * AST_EXACT_PANEL * sizeof *panel), *rows[AST_PRODUCT_ROWS];
            double *out = guarded(AST_PRODUCT_ROWS * AST_EXACT_PANEL * sizeof *out);
            double expected[AST_PRODUCT_ROWS * AST_EXACT_PANEL];
            for (size_t i = 0; i < n * AST_EXACT_PANEL; i++)
                panel[i] = (double)component(&random);
            for (size_t r = 0; r < AST_PRODUCT_ROWS; r++) {
                rows[r] = guarded(n * sizeof *rows[r]);
                for (size_t i = 0; i < n; i++)
                    rows[r][i] = (double)component(&random);
            }
            for (size_t j = 0; j < AST_PRODUCT_ROWS * AST_EXACT_PANEL; j++) {
                expected[j] = out[j] = ast_random_normal(&random);
                for (size_t i = 0; i < n; i++)
                    expected[j] += rows[j / AST_EXACT_PANEL][i] * panel[i * AST_EXACT_PANEL + j % AST_EXACT_PANEL];
            }
            (*kernels)->add_exact_products((const double *const *)rows, panel, n, out);
            assert_memory_equal(out, expected, sizeof expected);
            release_all();
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum_columns), cmocka_unit_test(test_sums_are_wide), cmocka_unit_test(test_key),
        cmocka_unit_test(test_add_keys),    cmocka_unit_test(test_sum_row),       cmocka_unit_test(test_exact_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
