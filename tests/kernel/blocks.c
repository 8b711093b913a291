/* SPDX-License-Identifier: MIT
 *
 * Whole blocks of small points: label_block and label_and_sum against score_columns and sum_columns of the same table,
 * which the other files check, and the header's sentences read one group at a time. */
#include "common.h"

#include <math.h>
#include <string.h>

#define MOST_MEANS 40
#define SLOTS (MOST_MEANS + AST_BIN_MARGIN)
#define LEAD 0.125f
#define FIT 0.25f
#define MARGIN 0x1p-20f
#define AWAKE 0.5f

/* A block with its points and labels, a table, and what score_columns says about them. */
typedef struct scene {
    size_t dimension;
    const float *x[AST_SMALL];
    int32_t *labels;
    float *gaps;
    ast_table table;
    ast_scores right;
} scene;

static ast_table random_table(ast_random *random, size_t dimension, size_t count) {
    size_t capacity = (count / AST_PANEL + 1) * AST_PANEL;
    ast_table table = {.dimension = dimension, .count = count, .capacity = capacity};
    table.ids = guarded_ints(NULL, capacity);
    table.means = guarded_floats(NULL, capacity * dimension);
    for (size_t k = 0; k < count; k++) {
        float mean[AST_SMALL];
        random_unit(random, mean, dimension);
        table.ids[k] = (int32_t)(MOST_MEANS - 1 - k);
        for (size_t d = 0; d < dimension; d++)
            table.means[d * capacity + k] = mean[d];
    }
    return table;
}

/* Labels of which most are the id, some another, -2 or -1; gaps of which half are awake. */
static scene make_scene(ast_random *random, size_t dimension, const ast_kernels *kernels) {
    scene s = {.dimension = dimension};
    float rows[AST_BLOCK * AST_SMALL];
    for (size_t i = 0; i < AST_BLOCK; i++)
        random_unit(random, rows + i * dimension, dimension);
    guarded_columns(rows, AST_BLOCK, dimension, s.x);
    s.table = random_table(random, dimension, ast_random_below(random, MOST_MEANS + 1));
    s.right = guarded_scores(AST_BLOCK, true);
    kernels->score_columns[dimension](s.x, AST_BLOCK, &s.table, s.right);
    s.labels = guarded_ints(NULL, AST_BLOCK);
    s.gaps = guarded_floats(NULL, AST_GROUPS);
    bool tidy = ast_random_below(random, 2);
    for (size_t i = 0; i < AST_BLOCK; i++) {
        bool odd = !tidy && ast_random_below(random, 32) == 0;
        s.labels[i] = odd ? (int32_t)ast_random_below(random, 5) - 2 : s.right.id[i];
        if (ast_random_below(random, 16) == 0)
            s.labels[i] = -1;
        s.right.second[i] = fmaxf(s.right.second[i], FIT);
    }
    for (size_t g = 0; g < AST_GROUPS; g++)
        s.gaps[g] = ast_random_below(random, 8) ? (float)ast_random_uniform(random) : AWAKE;
    return s;
}

static ast_small_block block_of(const scene *s, ast_scores scores) {
    ast_small_block block = {
        .labels = s->labels, .scores = scores, .gaps = s->gaps, .lead = LEAD, .fit = FIT, .margin = MARGIN};
    memcpy(block.x, s->x, sizeof block.x);
    return block;
}

static float right_gap(const scene *s, const int32_t *labels, size_t g) {
    float least = INFINITY;
    for (size_t i = g * AST_LANES; i < (g + 1) * AST_LANES; i++)
        if (labels[i] != -1)
            least = fminf(least, s->right.best[i] - s->right.second[i]);
    return least + LEAD;
}

static void check_result(const scene *s, const ast_small_result *result, uint32_t fresh, bool changed) {
    float least = INFINITY;
    for (size_t g = 0; g < AST_GROUPS; g++)
        least = fminf(least, s->gaps[g]);
    assert_int_equal(result->fresh, fresh);
    assert_true(result->gap == least);
    if (changed || least <= LEAD + MARGIN)
        assert_true(result->attention);
    else if (least > LEAD + MARGIN + 0x1p-21f)
        assert_false(result->attention);
}

static void check_label_block(ast_random *random, size_t dimension, const ast_kernels *kernels) {
    scene s = make_scene(random, dimension, kernels);
    float before[AST_GROUPS], awake = ast_random_below(random, 3) ? AWAKE : INFINITY;
    ast_scores out = guarded_scores(AST_BLOCK, true);
    memcpy(before, s.gaps, sizeof before);
    ast_small_block block = block_of(&s, out);
    ast_small_result result = kernels->label_block[dimension](&block, &s.table, awake);
    uint32_t fresh = 0;
    bool changed = false;
    for (size_t g = 0; g < AST_GROUPS; g++) {
        bool scored = before[g] <= awake;
        fresh |= (uint32_t)scored << g;
        assert_true(s.gaps[g] == (scored ? right_gap(&s, s.labels, g) : before[g]));
        for (size_t i = g * AST_LANES; scored && i < (g + 1) * AST_LANES; i++) {
            int32_t id = s.labels[i] == -1 ? -1 : s.right.id[i];
            assert_int_equal(out.id[i], id);
            assert_true(out.best[i] == s.right.best[i] && out.second[i] == s.right.second[i]);
            changed |= s.labels[i] >= 0 && s.labels[i] != id;
        }
    }
    check_result(&s, &result, fresh, changed);
    release_all();
}

static ast_bins empty_bins(size_t dimension, size_t copies) {
    size_t width = AST_SUM_WIDTH(dimension), places = SLOTS * copies + AST_BIN_MARGIN;
    int64_t *sums = guarded(places * width * sizeof *sums);
    memset(sums, 0, places * width * sizeof *sums);
    return (ast_bins){SLOTS, copies, sums + AST_BIN_MARGIN * width, NULL};
}

static void check_label_and_sum(ast_random *random, size_t dimension, const ast_kernels *kernels) {
    scene s = make_scene(random, dimension, kernels);
    int32_t before[AST_BLOCK];
    size_t copies = ast_random_below(random, 2) ? 4 : 1, width = AST_SUM_WIDTH(dimension);
    ast_bins mine = empty_bins(dimension, copies), right = empty_bins(dimension, copies);
    memcpy(before, s.labels, sizeof before);
    ast_small_block block = block_of(&s, (ast_scores){0});
    ast_small_result result = kernels->label_and_sum[dimension](&block, &s.table, &mine);
    for (size_t i = 0; i < AST_BLOCK; i++)
        assert_int_equal(s.labels[i], before[i] == -1 ? -1 : s.right.id[i]);
    for (size_t g = 0; g < AST_GROUPS; g++)
        assert_true(s.gaps[g] == right_gap(&s, before, g));
    kernels->sum_columns[dimension](s.x, s.labels, AST_BLOCK, &right);
    assert_memory_equal(mine.sums, right.sums, SLOTS * copies * width * sizeof *mine.sums);
    check_result(&s, &result, AST_ALL_GROUPS, false);
    release_all();
}

static void test_blocks(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 45, 0);
    for (size_t dimension = 2; dimension <= AST_SMALL; dimension++)
        for (int turn = 0; turn < 300; turn++)
            for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                check_label_block(&random, dimension, *kernels);
                check_label_and_sum(&random, dimension, *kernels);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
