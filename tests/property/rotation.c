/* SPDX-License-Identifier: MIT
 *
 * The rotation that turns some directions into others: recovered where it is exact, a maximum where it is not, refused
 * where the directions are parallel; and rotation vectors there and back. */
#include "degree.h"
#include "reference/cases.h"
#include "reference/reference.h"
#include "rotation.h"

#include "random.h"

#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A random rotation of at most `most` radians, as a vector and as a matrix. */
static void any_rotation(ast_random *random, double most, double *vector, double *matrix) {
    ref_random_direction(random, vector, 3);
    double angle = most * ast_random_uniform(random);
    for (int d = 0; d < 3; d++)
        vector[d] *= angle;
    ast_rotation_of_vector(vector, matrix);
}

static double difference(const double *a, const double *b, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void vectors_go_there_and_back(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 1, 80);
    for (int i = 0; i < 20000; i++) {
        double vector[3], matrix[9], back[3], again[9];
        any_rotation(&random, i % 3 == 0 ? 1e-9 : M_PI, vector, matrix);
        ast_vector_of_rotation(matrix, back);
        ast_rotation_of_vector(back, again);
        assert_true(difference(vector, back, 3) < 1e-12 || i % 3);
        assert_true(difference(vector, back, 3) < 1e-6);
        assert_true(difference(matrix, again, 9) < 1e-14);
    }
    double none[3] = {0, 0, 0}, one[9], back[3];
    ast_rotation_of_vector(none, one);
    ast_vector_of_rotation(one, back);
    assert_true(difference(none, back, 3) == 0 && one[0] == 1 && one[1] == 0);
}

/* The sum of weight * to . R from. */
static double value(const ast_alignment *a, const double *r) {
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += a->sum[i] * r[i];
    return sum;
}

static void the_fit_is_the_best(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 2, 80);
    for (int i = 0; i < 4000; i++) {
        double vector[3], matrix[9], fitted[9], noise = i % 2 ? 0 : 0.3;
        ast_alignment a = {0};
        any_rotation(&random, M_PI, vector, matrix);
        size_t count = 2 + (size_t)ast_random_below(&random, 5);
        for (size_t k = 0; k < count; k++) {
            double from[3], to[3], shift[3];
            ref_random_direction(&random, from, 3);
            ref_random_direction(&random, shift, 3);
            ast_rotation_apply(matrix, from, to);
            for (int d = 0; d < 3; d++)
                to[d] += noise * shift[d];
            ast_alignment_add(&a, from, to, 0.1 + ast_random_uniform(&random));
        }
        if (!ast_alignment_solve(&a, 5 * AST_DEGREE, fitted))
            continue;
        assert_true(noise > 0 || difference(matrix, fitted, 9) < 1e-9);
        for (int other = 0; other < 10; other++) {
            double turn[9], moved[9];
            any_rotation(&random, other % 2 ? 1e-3 : M_PI, vector, turn);
            ast_rotation_product(turn, fitted, moved);
            assert_true(value(&a, moved) <= value(&a, fitted) + 1e-12);
        }
    }
}

/* Two directions of equal weight, an angle apart: they say enough from that angle on, opposite ones as well. */
static void parallel_directions_say_nothing(void **state) {
    (void)state;
    for (int i = 0; i <= 180; i++) {
        double vector[3] = {0.3, -0.2, 0.1}, matrix[9], fitted[9], angle = i * AST_DEGREE;
        double from[2][3] = {{1, 0, 0}, {cos(angle), sin(angle), 0}}, to[3];
        ast_alignment a = {0};
        ast_rotation_of_vector(vector, matrix);
        for (int k = 0; k < 2; k++) {
            ast_rotation_apply(matrix, from[k], to);
            ast_alignment_add(&a, from[k], to, 7);
        }
        int enough = i > 20 && i < 160;
        if (i != 20 && i != 160)
            assert_int_equal(ast_alignment_solve(&a, 20 * AST_DEGREE, fitted), enough);
    }
    ast_alignment nothing = {0};
    double fitted[9];
    assert_false(ast_alignment_solve(&nothing, 0, fitted));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_go_there_and_back),
        cmocka_unit_test(the_fit_is_the_best),
        cmocka_unit_test(parallel_directions_say_nothing),
    };
    return cmocka_run_group_tests_name("rotations", tests, NULL, NULL);
}
