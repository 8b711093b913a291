/* SPDX-License-Identifier: MIT
 *
 * Kernels of the planes of depth images: every table against plain C, bit for bit. */
#include "image_rows.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 300 };

static ast_plane_candidate any_plane(ast_random *random, const float *normal) {
    return (ast_plane_candidate){any_positive(random), 0.01f * any_number(random), 0.01f * any_number(random),
                                 0.3f * any_positive(random), normal};
}

static void test_cell_columns(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 41, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
            size_t stride = AST_CELL + (size_t)ast_random_below(&random, 9);
            float *s = row_of(&random, 7 * stride + AST_CELL, 0, round % 2 ? any_positive : any_s);
            double y = (double)ast_random_below(&random, 900) - 450;
            ast_cell_columns got;
            bool whole = true, told = (*kernels)->cell_columns(s, stride, y, &got);
            for (size_t i = 0; i < AST_CELL; i++) {
                double sum = 0, row_moment = 0, square = 0;
                for (size_t j = 0; j < AST_CELL; j++) {
                    double value = (double)s[j * stride + i];
                    whole &= value > 0;
                    sum += value;
                    row_moment += value * (y + (double)j);
                    square += value * value;
                }
                assert_true(got.sum[i] == sum && got.row_moment[i] == row_moment && got.square[i] == square);
            }
            assert_int_equal(told, whole);
            release_all();
        }
}

static float plain_distance(const float *block, const ast_plane_candidate *p, int i, int j, float most) {
    float level = p->level + ((float)j - AST_VOTE_MARGIN) * p->slope_y, s = block[j * AST_BLOCK_WIDE + i];
    float distance = fabsf(level + ((float)i - AST_VOTE_MARGIN) * p->slope_x - s);
    return s > 0 && distance < most ? distance : most;
}

static float plain_sum(const float *block, const ast_plane_candidate *p, int i, int j, float most) {
    float rows[5];
    for (int b = 0; b < 5; b++) {
        rows[b] = plain_distance(block, p, i, j + b, most);
        for (int a = 1; a < 5; a++)
            rows[b] += plain_distance(block, p, i + a, j + b, most);
    }
    return rows[0] + rows[1] + rows[2] + rows[3] + rows[4];
}

static void test_plane_vote(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 42, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
            float *block = row_of(&random, AST_BLOCK_HIGH * AST_BLOCK_WIDE, 0, any_s), most = 0.5f;
            float least[AST_CELL * AST_CELL], expected[AST_CELL * AST_CELL];
            int32_t winner[AST_CELL * AST_CELL], won[AST_CELL * AST_CELL];
            for (size_t k = 0; k < AST_CELL * AST_CELL; k++) {
                least[k] = expected[k] = INFINITY;
                winner[k] = won[k] = -1;
            }
            for (int32_t number = 0; number < 4; number++) {
                ast_plane_candidate plane = any_plane(&random, NULL);
                (*kernels)->plane_vote(block, &plane, most, number, least, winner);
                for (int k = 0; k < AST_CELL * AST_CELL; k++) {
                    int i = k % AST_CELL, j = k / AST_CELL;
                    float sum = plain_sum(block, &plane, i, j, most);
                    if (plain_distance(block, &plane, i + AST_VOTE_MARGIN, j + AST_VOTE_MARGIN, most) < plane.limit &&
                        sum < expected[k]) {
                        expected[k] = sum;
                        won[k] = number;
                    }
                }
                same_floats(least, expected, AST_CELL * AST_CELL, "plane_vote", (*kernels)->name);
                assert_memory_equal(winner, won, sizeof won);
            }
            release_all();
        }
}

static void test_plane_fill(void **state) {
    static const float normal[3] = {0.6f, 0, -0.8f};
    (void)state;
    ast_random random;
    ast_random_seed(&random, 43, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
            size_t stride = AST_CELL + (size_t)ast_random_below(&random, 9), open = 0,
                   rows = 1 + (size_t)round % AST_CELL;
            size_t pixels = (rows - 1) * stride + AST_CELL;
            float *s = row_of(&random, pixels, 0, any_s), *got = guarded_floats(NULL, 3 * pixels);
            ast_plane_candidate plane = any_plane(&random, normal);
            size_t told = (*kernels)->plane_fill_count_outliers(s, stride, rows, &plane, got);
            for (size_t j = 0; j < rows; j++)
                for (size_t i = 0; i < AST_CELL; i++) {
                    float here = s[j * stride + i], level = plane.level + (float)j * plane.slope_y;
                    bool on = fabsf(level + (float)i * plane.slope_x - here) < plane.limit, hole = !(here > 0);
                    float expected[3] = {NAN, NAN, NAN};
                    memcpy(expected, on && !hole ? normal : expected, sizeof expected);
                    same_floats(got + 3 * (j * stride + i), expected, 3, "plane_fill_count_outliers", (*kernels)->name);
                    open += !on && !hole;
                }
            assert_int_equal(told, open);
            release_all();
        }
}

static void test_peak(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 44, 0);
    for (size_t n = 0; n <= MOST_POINTS; n++)
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
            uint16_t values[MOST_POINTS + 1], most = (uint16_t)ast_random_below(&random, 300), expected = most;
            bool saturated = false;
            for (size_t i = 0; i < n; i++) {
                values[i] = ast_random_below(&random, 60) ? (uint16_t)ast_random_below(&random, 65535) : UINT16_MAX;
                saturated |= values[i] == UINT16_MAX;
                expected = values[i] < UINT16_MAX && values[i] > expected ? values[i] : expected;
            }
            assert_int_equal((*kernels)->largest_value(values, n, &most), saturated);
            assert_int_equal(most, expected);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cell_columns),
        cmocka_unit_test(test_plane_vote),
        cmocka_unit_test(test_plane_fill),
        cmocka_unit_test(test_peak),
    };
    return cmocka_run_group_tests_name("kernels of planes", tests, find_image_tables, NULL);
}
