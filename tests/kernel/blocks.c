/* SPDX-License-Identifier: MIT
 *
 * Whole blocks of small points: label_block, label_and_sum and label_rows against score_columns and sum_columns of the
 * same table, which the other files check, and the header's sentences read one group at a time. */
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
    ast_mean_table table;
    ast_scores right;
} scene;

static ast_mean_table random_table(ast_random *random, size_t dimension, size_t count) {
    size_t capacity = (count / AST_PANEL + 1) * AST_PANEL;
    ast_mean_table table = {.dimension = dimension, .count = count, .capacity = capacity};
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
        .labels = s->labels, .scores = scores, .gaps = s->gaps, .drift = LEAD, .fit = FIT, .margin = MARGIN};
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

/* The smallest best score of the points in these groups. */
static float right_least(const scene *s, const int32_t *labels, uint32_t groups) {
    float least = INFINITY;
    for (size_t i = 0; i < AST_BLOCK; i++)
        if (labels[i] != -1 && (groups >> i / AST_LANES & 1))
            least = fminf(least, s->right.best[i]);
    return least;
}

static void check_result(const scene *s, const ast_small_result *result, uint32_t scored_groups, bool changed) {
    float least = INFINITY;
    for (size_t g = 0; g < AST_GROUPS; g++)
        least = fminf(least, s->gaps[g]);
    assert_int_equal(result->scored_groups, scored_groups);
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
    uint32_t scored_groups = 0;
    bool changed = false;
    for (size_t g = 0; g < AST_GROUPS; g++) {
        bool scored = before[g] <= awake;
        scored_groups |= (uint32_t)scored << g;
        assert_true(s.gaps[g] == (scored ? right_gap(&s, s.labels, g) : before[g]));
        for (size_t i = g * AST_LANES; scored && i < (g + 1) * AST_LANES; i++) {
            int32_t id = s.labels[i] == -1 ? -1 : s.right.id[i];
            assert_int_equal(out.id[i], id);
            assert_true(out.best[i] == s.right.best[i] && out.second[i] == s.right.second[i]);
            changed |= s.labels[i] >= 0 && s.labels[i] != id;
        }
    }
    check_result(&s, &result, scored_groups, changed);
    assert_true(result.least == right_least(&s, s.labels, scored_groups));
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
    assert_true(result.least == right_least(&s, before, AST_ALL_GROUPS));
    release_all();
}

/* ---- Packed rows ------------------------------------------------------------------------------------------------- */

/* Rows as images have them: runs of neighbours around one mean or none, and holes alone or in runs. One row behind
 * them, which is not the block's. */
static void make_rows(ast_random *random, const ast_mean_table *table, float *rows) {
    size_t left = 0, mean = 0;
    bool hole = false;
    double spread = 0;
    for (size_t i = 0; i <= AST_BLOCK; i++, left--) {
        float *x = rows + 3 * i;
        if (left == 0) {
            left = 1 + ast_random_below(random, ast_random_below(random, 2) ? 4 : 120);
            mean = ast_random_below(random, table->count);
            hole = ast_random_below(random, 5) == 0;
            spread = ast_random_below(random, 3) * 0.3;
        }
        random_unit(random, x, 3);
        double squared = 0;
        for (size_t d = 0; d < 3; d++)
            x[d] = (float)(spread * x[d] + table->means[d * table->capacity + mean]);
        for (size_t d = 0; d < 3; d++)
            squared += (double)x[d] * (double)x[d];
        for (size_t d = 0; d < 3; d++)
            x[d] = hole || ast_random_below(random, 150) == 0 ? NAN : (float)(x[d] / sqrt(squared));
        for (size_t d = 0; d < 3 && isnan(x[0] + x[1] + x[2]); d++)
            x[d] = NAN;
    }
}

/* NULL, or late points alone and in runs. */
static uint8_t *make_late(ast_random *random) {
    if (ast_random_below(random, 3) == 0)
        return NULL;
    uint8_t *late = guarded(AST_BLOCK);
    size_t left = 0;
    bool is_late = false;
    for (size_t i = 0; i < AST_BLOCK; i++, left--) {
        if (left == 0) {
            left = 1 + ast_random_below(random, ast_random_below(random, 2) ? 3 : 90);
            is_late = ast_random_below(random, 4) == 0;
        }
        late[i] = is_late ? (uint8_t)(1 + ast_random_below(random, 20)) : 0;
    }
    return late;
}

/* label_rows from columns: labels -1 for holes and late points, scores that start from FIT. */
static scene scene_of_rows(const float *rows, const uint8_t *late, const ast_mean_table *table,
                           const ast_kernels *kernels) {
    scene s = {.dimension = 3, .table = *table};
    float clean[AST_BLOCK * 3];
    for (size_t i = 0; i < AST_BLOCK * 3; i++)
        clean[i] = isnan(rows[i]) ? 0 : rows[i];
    guarded_columns(clean, AST_BLOCK, 3, s.x);
    s.right = guarded_scores(AST_BLOCK, true);
    kernels->score_columns[3](s.x, AST_BLOCK, table, s.right);
    s.labels = guarded_ints(NULL, AST_BLOCK);
    s.gaps = guarded_floats(NULL, AST_GROUPS);
    for (size_t i = 0; i < AST_BLOCK; i++) {
        s.right.id[i] = isnan(rows[3 * i]) || (late && late[i]) ? -1 : s.right.id[i];
        s.right.second[i] = fmaxf(s.right.second[i], FIT);
    }
    return s;
}

/* A bound of a gap may be smaller than the gap, and no larger than rounding allows. It must not hide an undecided
 * point, and a block without one must not be in doubt without reason. */
static void check_packed_gaps(const scene *s, const ast_small_result *result, bool exact) {
    float least = INFINITY;
    for (size_t g = 0; g < AST_GROUPS; g++) {
        float right = right_gap(s, s->right.id, g);
        assert_true(exact ? s->gaps[g] == right : s->gaps[g] <= right + 0x1p-20f);
        if (right > LEAD + 0x1p-9f) /* a run demands more than that */
            assert_true(s->gaps[g] > LEAD + 0x1p-11f);
        least = fminf(least, s->gaps[g]);
    }
    assert_true(result->gap == least);
    if (least <= LEAD + MARGIN)
        assert_true(result->attention);
}

static void check_label_rows(ast_random *random, const ast_kernels *kernels) {
    float rows[3 * (AST_BLOCK + 1)], alone[AST_HALF_ANGLE_MEANS];
    ast_mean_table table = random_table(random, 3, 1 + ast_random_below(random, AST_HALF_ANGLE_MEANS));
    bool runs = ast_random_below(random, 4) != 0;
    size_t copies = ast_random_below(random, 2) ? 4 : 1, left_out = 0, holes = 0;
    make_rows(random, &table, rows);
    const uint8_t *late = make_late(random);
    for (size_t i = 0; late && i < AST_BLOCK; i++)
        for (size_t d = 0; d < 3 && late[i] == 1; d++)
            rows[3 * i + d] *= 0.999f;
    const float *packed = guarded_floats(rows, 3 * AST_BLOCK + 1);
    scene s = scene_of_rows(packed, late, &table, kernels);
    ast_bins mine = empty_bins(3, copies), right = empty_bins(3, copies);
    ast_small_block block = block_of(&s, (ast_scores){0});
    ast_half_angle_cosines(&table, UINT32_MAX, alone);
    block.half_angles = runs ? alone : NULL;
    block.late = late;
    block.label_before = ast_random_below(random, 2) ? table.ids[ast_random_below(random, table.count)] : AST_NOBODY;
    ast_small_result result = kernels->label_rows(packed, &block, &table, &mine);
    uint32_t mask = block.label_before >= 0 && runs ? (uint32_t)1 << (block.label_before & 31) : 0;
    for (size_t i = 0; i < AST_BLOCK; i++) {
        assert_int_equal(s.labels[i], s.right.id[i]);
        holes += isnan(packed[3 * i]) != 0;
        left_out += s.labels[i] == -1;
        mask |= s.labels[i] >= 0 ? (uint32_t)1 << (s.labels[i] & 31) : 0;
    }
    assert_int_equal(result.scored_groups, AST_ALL_GROUPS);
    assert_int_equal(result.holes, holes);
    assert_int_equal(result.late, left_out - holes);
    assert_int_equal(result.mask, mask);
    assert_true(fabsf(result.least - right_least(&s, s.labels, AST_ALL_GROUPS)) <= 0x1p-20f || left_out == AST_BLOCK);
    check_packed_gaps(&s, &result, !runs);
    kernels->sum_columns[3](s.x, s.labels, AST_BLOCK, &right);
    int64_t sums[2][SLOTS * 4] = {0}; /* a run is added to one copy */
    for (size_t i = 0; i < SLOTS * 4 * copies; i++) {
        sums[0][i % (SLOTS * 4)] += mine.sums[i];
        sums[1][i % (SLOTS * 4)] += right.sums[i];
    }
    assert_memory_equal(sums[0], sums[1], (SLOTS - AST_BIN_MARGIN) * 4 * sizeof(int64_t));
    release_all();
}

/* A row that has to be normalised, wherever it is: the sums stay as they were. */
static void check_refused_rows(ast_random *random, const ast_kernels *kernels) {
    static const float odd[][3] = {{0, 0, 0}, {0, 0, 2}, {NAN, 0, 1}, {INFINITY, 0, 0}, {0.6f, 0.8f, 0.001f}};
    float rows[3 * (AST_BLOCK + 1)], alone[AST_HALF_ANGLE_MEANS];
    ast_mean_table table = random_table(random, 3, 1 + ast_random_below(random, AST_HALF_ANGLE_MEANS));
    make_rows(random, &table, rows);
    size_t at = ast_random_below(random, AST_BLOCK), kind = ast_random_below(random, 5);
    uint8_t *late = make_late(random);
    memcpy(rows + 3 * at, odd[kind], 3 * sizeof *rows);
    if (late && kind == 4) /* a direction */
        late[at] = 0;
    scene s = scene_of_rows(rows, late, &table, kernels);
    ast_bins mine = empty_bins(3, 4);
    ast_small_block block = block_of(&s, (ast_scores){0});
    ast_half_angle_cosines(&table, UINT32_MAX, alone);
    block.half_angles = alone;
    block.late = late;
    block.label_before = AST_NOBODY;
    assert_int_equal(kernels->label_rows(rows, &block, &table, &mine).scored_groups, 0);
    int64_t sums[SLOTS * 4] = {0};
    for (size_t i = 0; i < SLOTS * 4 * 4; i++)
        sums[i % (SLOTS * 4)] += mine.sums[i];
    for (size_t i = 0; i < (SLOTS - AST_BIN_MARGIN) * 4; i++)
        assert_true(sums[i] == 0);
    release_all();
}

static void test_packed_rows(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 46, 0);
    for (int turn = 0; turn < 1000; turn++)
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
            check_label_rows(&random, *kernels);
            check_refused_rows(&random, *kernels);
        }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_packed_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
