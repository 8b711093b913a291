/* SPDX-License-Identifier: MIT
 *
 * Kernels that sort points out by their scores and labels, against the header's sentences read one point at a time. */
#include "common.h"

#include <math.h>
#include <string.h>

#define FIT 0.5f
#define MARGIN 0.25f

/* Scores in quarters: a good part of them stands exactly on a limit. A point of label -1 is not there. */
typedef struct sample {
    ast_scores scores;
    int32_t *labels;
} sample;

static sample make_sample(ast_random *random, size_t n) {
    sample s = {guarded_scores(n, true), guarded_ints(NULL, padded(n))};
    for (size_t i = 0; i < n; i++) {
        s.scores.best[i] = (float)ast_random_below(random, 7) / 4 - 0.5f;
        s.scores.second[i] = s.scores.best[i] - (float)ast_random_below(random, 4) / 4;
        if (ast_random_below(random, 8) == 0)
            s.scores.second[i] = AST_NO_SCORE;
        if (ast_random_below(random, 16) == 0)
            s.scores.best[i] = s.scores.second[i] = AST_NO_SCORE;
        if (ast_random_below(random, 8) == 0)
            s.scores.best[i] = nextafterf(s.scores.best[i], ast_random_below(random, 2) ? 2 : -5);
        s.scores.id[i] = (int32_t)ast_random_below(random, 3);
        s.labels[i] = (int32_t)ast_random_below(random, 5) - 2;
    }
    return s;
}

static void check_list(const uint32_t *list, size_t count, const bool *listed, size_t n) {
    size_t expected = 0;
    for (size_t i = 0; i < n; i++)
        if (listed[i]) {
            assert_true(expected < count);
            assert_int_equal(list[expected++], i);
        }
    assert_int_equal(count, expected);
}

static void screen_and_check(ast_random *random, bool changes, const ast_kernels *kernels) {
    sample s = make_sample(random, AST_BLOCK);
    uint32_t groups = (uint32_t)ast_random_u64(random) & (uint32_t)ast_random_u64(random);
    uint64_t bits[AST_BLOCK / 64], right[AST_BLOCK / 64] = {0};
    for (size_t i = 0; i < AST_BLOCK; i++) {
        float best = s.scores.best[i];
        bool open = best < FIT || best - s.scores.second[i] <= MARGIN || (changes && s.scores.id[i] != s.labels[i]);
        bool marked = open && s.labels[i] != -1 && (groups >> i / AST_LANES & 1);
        right[i / 64] |= (uint64_t)marked << i % 64;
    }
    bool some = kernels->mark_undecided(s.scores, s.labels, groups, FIT, MARGIN, changes, bits);
    assert_memory_equal(bits, right, sizeof bits);
    assert_int_equal(some, (right[0] | right[1] | right[2] | right[3]) != 0);
    release_all();
}

static void test_screen(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 41, 0);
    for (int turn = 0; turn < 400; turn++)
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
            screen_and_check(&random, turn % 2, *kernels);
}

static void narrow_and_check(ast_random *random, size_t n, const ast_kernels *kernels) {
    sample s = make_sample(random, n);
    bool listed[MOST_POINTS + AST_LANES];
    for (size_t i = 0; i < n; i++) {
        float gap = fminf(s.scores.best[i] - s.scores.second[i], s.scores.best[i] - FIT);
        listed[i] = gap <= MARGIN && s.labels[i] != -1;
    }
    uint32_t *list = guarded(n * sizeof *list);
    size_t count = kernels->list_undecided(s.scores.best, s.scores.second, s.labels, n, FIT, MARGIN, list);
    check_list(list, count, listed, n);
    release_all();
}

static void test_narrow(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 42, 0);
    for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
        for (int turn = 0; turn < 100; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
                narrow_and_check(&random, n, *kernels);
}

static void test_adopt(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 43, 0);
    for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
        for (int turn = 0; turn < 20; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                int32_t *labels = guarded_ints(NULL, n), *proposals = guarded_ints(NULL, n), right[MOST_POINTS];
                for (size_t i = 0; i < n; i++) {
                    labels[i] = (int32_t)ast_random_below(&random, 5) - 3;
                    proposals[i] = (int32_t)ast_random_below(&random, 100);
                    right[i] = labels[i] == -2 ? proposals[i] : labels[i];
                }
                (*kernels)->take_proposals(labels, proposals, n);
                if (n)
                    assert_memory_equal(labels, right, n * sizeof *right);
                release_all();
            }
}

static void test_label_mask(void **state) {
    (void)state;
    static const int32_t labels_to_try[] = {INT32_MIN, -64, -63, -2, -1, 0, 1, 31, 32, 33, 62, 63, 64, 100, INT32_MAX};
    ast_random random;
    ast_random_seed(&random, 44, 0);
    for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
        for (int turn = 0; turn < 50; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                int32_t *labels = guarded_ints(NULL, n); /* -1, but for a few of them */
                uint32_t mask = 0;
                for (size_t i = 0; i < n; i++) {
                    if (ast_random_below(&random, 16) == 0)
                        labels[i] = labels_to_try[ast_random_below(&random, sizeof labels_to_try / sizeof *labels)];
                    mask |= labels[i] >= 0 ? (uint32_t)1 << (labels[i] % 32) : 0;
                }
                assert_true((*kernels)->label_mask(labels, n) == mask);
                release_all();
            }
}

/* Products with 64 columns in quarters, which are exact in float: some are exactly the one that passes. */
static void check_masks(ast_random *random, const ast_kernels *kernels, size_t n, size_t width) {
    float *panels = guarded_floats(NULL, 64 * width), *bias = guarded_floats(NULL, 64);
    const float *rows[64];
    uint64_t *masks = guarded(n * sizeof *masks);
    for (size_t i = 0; i < 64 * width; i++)
        panels[i] = (float)ast_random_below(random, 9) / 4 - 1;
    for (size_t k = 0; k < 64; k++)
        bias[k] = ast_random_below(random, 8) ? (float)ast_random_below(random, 9) / 16 : AST_NO_SCORE * (float)width;
    for (size_t r = 0; r < n; r++) {
        float *row = guarded_floats(NULL, width);
        for (size_t d = 0; d < width; d++)
            row[d] = (float)ast_random_below(random, 9) / 4 - 1;
        rows[r] = row;
    }
    kernels->heads.mask_products(rows, n, panels, width, bias, masks);
    for (size_t r = 0; r < n; r++)
        for (size_t k = 0; k < 64; k++) {
            float sum = bias[k];
            for (size_t d = 0; d < width; d++)
                sum += rows[r][d] * panels[(k / AST_PANEL * width + d) * AST_PANEL + k % AST_PANEL];
            assert_int_equal(masks[r] >> k & 1, sum >= 0);
        }
    release_all();
}

static void masks_of_products(void **state) {
    ast_random random;
    (void)state;
    ast_random_seed(&random, 6, 0);
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
        for (size_t n = 1; n <= 64; n += n < 9 ? 1 : 5)
            for (size_t width = 1; width <= 130; width += width < 10 ? 1 : 24)
                check_masks(&random, *kernels, n, width);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_screen),     cmocka_unit_test(test_narrow),       cmocka_unit_test(test_adopt),
        cmocka_unit_test(test_label_mask), cmocka_unit_test(masks_of_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
