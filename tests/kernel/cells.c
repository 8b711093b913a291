/* SPDX-License-Identifier: MIT
 *
 * Which means can win in a cell: every table, on lists that end at a guard page. For any point within the radius, the
 * exact winner is among those that are left, in order; and far fewer than all are. And which balls meet another one:
 * all that do by the distance in double, none that is clearly away. */
#include "common.h"

#include <math.h>
#include <string.h>

#define MOST_MEANS 150
#define POINTS 40

static ast_mean_table make_table(size_t count, size_t capacity) {
    ast_mean_table table = {.dimension = 3, .count = count, .capacity = capacity};
    table.ids = guarded_ints(NULL, capacity);
    table.means = guarded_floats(NULL, 3 * capacity);
    return table;
}

static void read_mean(const ast_mean_table *table, size_t k, float mean[3]) {
    for (size_t d = 0; d < 3; d++)
        mean[d] = table->means[d * table->capacity + k];
}

/* Every third mean is near the middle, every fifth one a copy of the one before. */
static void fill_table(ast_random *random, ast_mean_table *table, const float *centre) {
    for (size_t k = 0; k < table->count; k++) {
        float mean[3];
        random_unit(random, mean, 3);
        double length = 0;
        for (size_t d = 0; d < 3 && k % 3 == 0; d++)
            mean[d] = centre[d] + 0.02f * mean[d];
        for (size_t d = 0; d < 3; d++)
            length += (double)mean[d] * (double)mean[d];
        if (k % 5 == 4)
            read_mean(table, k - 1, mean);
        for (size_t d = 0; d < 3; d++)
            table->means[d * table->capacity + k] = k % 5 == 4 ? mean[d] : (float)((double)mean[d] / sqrt(length));
        table->ids[k] = (int32_t)(7 * k);
    }
}

static int32_t winner(const ast_mean_table *table, const float x[3]) {
    double most = -INFINITY;
    int32_t id = AST_NOBODY;
    for (size_t k = 0; k < table->count; k++) {
        float mean[3];
        read_mean(table, k, mean);
        double score = ast_exact_score(x, mean, 3);
        if (score > most) {
            most = score;
            id = table->ids[k];
        }
    }
    return id;
}

/* A unit vector that is within the radius of the centre. */
static void point_within(ast_random *random, const float *centre, float radius, float x[3]) {
    double length = 0, apart = 0, y[3], share = ast_random_uniform(random);
    random_unit(random, x, 3);
    for (size_t d = 0; d < 3; d++) {
        y[d] = (double)centre[d] + share * (double)radius * (double)x[d] / 2;
        length += y[d] * y[d];
    }
    for (size_t d = 0; d < 3; d++) {
        x[d] = (float)(y[d] / sqrt(length));
        apart += pow((double)x[d] - (double)centre[d], 2);
    }
    assert_true(sqrt(apart) <= (double)radius);
}

static void check_pruning(ast_random *random, const ast_kernels *kernels, size_t count, float radius) {
    float centre[3];
    random_unit(random, centre, 3);
    ast_mean_table all = make_table(count, (count + AST_PANEL) / AST_PANEL * AST_PANEL);
    ast_mean_table left = make_table(0, (count + AST_LANES + AST_PANEL) / AST_PANEL * AST_PANEL);
    fill_table(random, &all, centre);
    kernels->prune_means(&all, centre, radius + 0x1p-20f, &left);
    assert_true(left.count <= count && (left.count > 0 || count == 0));
    for (size_t k = 1; k < left.count; k++)
        assert_true(left.ids[k - 1] < left.ids[k]);
    for (size_t i = 0; i < POINTS && count > 0; i++) {
        float x[3];
        point_within(random, centre, radius, x);
        assert_int_equal(winner(&left, x), winner(&all, x));
    }
    if (count >= 60 && radius < 1e-3f)
        assert_true(left.count < count / 3); /* it does prune */
    release_all();
}

static void winners_stay(void **state) {
    (void)state;
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
        ast_random random;
        ast_random_seed(&random, 5, 0);
        for (size_t count = 0; count <= MOST_MEANS; count++)
            for (int size = 0; size < 6; size++)
                check_pruning(&random, *kernels, count, (float)pow(10, -size));
    }
}

static void put_mean(ast_mean_table *table, size_t k, const float mean[3]) {
    for (size_t d = 0; d < 3; d++)
        table->means[d * table->capacity + k] = mean[d];
    table->ids[k] = (int32_t)k;
}

/* Two means that differ by 2^-43 have the same score in double, so that the first of them wins, though the other one is
 * nearer to the centre; and of a long list only that one is looked at as the nearest, which every eighth vector is. */
static void close_means_stay(void **state) {
    (void)state;
    enum { COUNT = 600, FIRST = 10, SECOND = 64 };
    const float near_by[3] = {1, 0, 0x1p-20f}, nearer[3] = {1, 0, 0x1p-20f + 0x1p-43f}, centre[3] = {1, 0, 0x1.2p-20f};
    assert_true(near_by[2] < nearer[2] && ast_exact_score(centre, near_by, 3) == ast_exact_score(centre, nearer, 3));
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
        ast_mean_table all = make_table(COUNT, 608), left = make_table(0, 640);
        for (size_t k = 0; k < COUNT; k++)
            put_mean(&all, k, (const float[3]){-1, 0, 0});
        put_mean(&all, FIRST, near_by);
        put_mean(&all, SECOND, nearer);
        (*kernels)->prune_means(&all, centre, 0x1p-20f, &left);
        assert_int_equal(left.count, 2);
        assert_int_equal(winner(&left, centre), FIRST);
        release_all();
    }
}

static void check_balls(ast_random *random, const ast_kernels *kernels, size_t first, size_t n, float reach) {
    ast_balls balls = {guarded_floats(NULL, 4 * (first + n + AST_LANES)), first + n + AST_LANES};
    uint32_t list[MOST_MEANS];
    float centre[3];
    random_unit(random, centre, 3);
    for (size_t k = 0; k < first + n; k++) {
        float x[3];
        random_unit(random, x, 3);
        for (size_t d = 0; d < 3; d++)
            balls.columns[d * balls.pitch + k] = x[d];
        balls.columns[3 * balls.pitch + k] = (float)ast_random_uniform(random);
    }
    size_t count = kernels->intersecting_balls(&balls, first, n, centre, reach, list), at = 0;
    for (size_t k = first; k < first + n; k++) {
        double squared = 0, sum = (double)reach + (double)balls.columns[3 * balls.pitch + k];
        for (size_t d = 0; d < 3; d++)
            squared += pow((double)balls.columns[d * balls.pitch + k] - (double)centre[d], 2);
        bool listed = at < count && list[at] == k;
        at += listed;
        assert_true(listed || sqrt(squared) > sum - 0x1p-20);
        assert_true(!listed || sqrt(squared) < sum + 0x1p-20);
    }
    assert_int_equal(at, count);
    release_all();
}

static void balls_that_meet(void **state) {
    (void)state;
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
        ast_random random;
        ast_random_seed(&random, 6, 0);
        for (size_t n = 0; n <= 130; n++)
            check_balls(&random, *kernels, n % 19, n, 0.9f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(winners_stay), cmocka_unit_test(close_means_stay),
                                       cmocka_unit_test(balls_that_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
