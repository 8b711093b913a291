/* SPDX-License-Identifier: MIT
 *
 * Kernels of the filter for depth images, and sums: every table against plain C, bit for bit. */
#include "image_rows.h"

#include <math.h>
#include <string.h>

static const size_t radii[] = {0, 1, 2, 3, 6, 7};
#define RADII (sizeof radii / sizeof *radii)

static const size_t lengths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static void test_invert(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 31, 0);
    for (size_t n = 0; n <= MOST_POINTS; n++)
        for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
            uint16_t *values = guarded(n * sizeof *values);
            uint16_t nearest = (uint16_t)(1 + ast_random_below(&random, 900));
            uint16_t farthest = (uint16_t)(64636 + ast_random_below(&random, 900));
            ast_depth_range range = {nearest, farthest, n % 2 ? 1000 : 4999.7f};
            float *s = guarded_floats(NULL, padded(n)), expected[MOST_POINTS];
            for (size_t i = 0; i < n; i++) {
                values[i] = (uint16_t)ast_random_below(&random, 65536);
                if (i % 5 == 0)
                    values[i] = i % 2 ? range.lowest : range.highest;
                if (i % 7 == 0)
                    values[i] = (uint16_t)(i % 2 ? range.lowest - 1 : range.highest + 1);
                int hole = values[i] < range.lowest || values[i] > range.highest;
                expected[i] = hole ? 0 : range.units / (float)values[i];
            }
            (*kernels)->invert(values, n, range, s);
            same_floats(s, expected, n, "invert", (*kernels)->name);
            release_all();
        }
}

static void test_moments(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 32, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
                size_t n = lengths[l], room = padded(n), radius = radii[k];
                const float *rows[ROWS];
                for (size_t row = 0; row <= 2 * radius; row++)
                    rows[row] = row_of(&random, n, 0, any_s);
                ast_column_moments got = {guarded_floats(NULL, room), guarded_floats(NULL, room), guarded(room * 8),
                                          guarded(room * 8)};
                (*kernels)->moments(rows, radius, n, got);
                for (size_t i = 0; i < n; i++) {
                    float count = 0, row_moment = 0;
                    double sum = 0, square = 0;
                    for (size_t row = 0; row <= 2 * radius; row++) {
                        float s = rows[row][i];
                        count += s > 0;
                        row_moment += ((float)row - (float)radius) * s;
                        sum += (double)s;
                        square += (double)s * (double)s;
                    }
                    assert_true(got.count[i] == count && got.row_moment[i] == row_moment);
                    assert_true(got.sum[i] == sum && got.square[i] == square);
                }
                release_all();
            }
}

/* The fit of one window, in the order of the kernels. */
static void plain_fit(ast_column_moments of, ptrdiff_t i, size_t radius, float epsilon2, float out[5]) {
    double sum = 0, square = 0, lean = 0;
    float count = 0, row_moment = 0, side = (float)(2 * radius + 1), area = side * side;
    float inertia = radius ? area * (float)(radius * (radius + 1)) / 3 : 1;
    for (ptrdiff_t at = i - (ptrdiff_t)radius; at <= i + (ptrdiff_t)radius; at++) {
        count += of.count[at];
        row_moment += of.row_moment[at];
        sum += of.sum[at];
        lean += (double)(at - i) * of.sum[at];
        square += of.square[at];
    }
    int whole = count == area;
    float x = whole ? (float)lean * (1 / inertia) : 0, y = whole ? row_moment * (1 / inertia) : 0;
    float share = 1 / (count > 1 ? count : 1);
    float variance = (float)(square * (double)count - sum * sum) * share * share - (x * x + y * y) * (inertia / area);
    float flat = epsilon2 / ((variance > 0 ? variance : 0) + epsilon2);
    float weight = count * flat * (whole ? 1 : AST_INCOMPLETE_WINDOW_WEIGHT), fit_weight = weight * flat;
    const float all[5] = {weight, fit_weight, fit_weight * ((float)sum * share), fit_weight * x, fit_weight * y};
    memcpy(out, all, sizeof all);
}

static void check_fit(ast_random *random, size_t n, size_t radius, int whole, const ast_image_kernels *kernels) {
    size_t room = padded(n);
    ast_column_moments of = {row_of(random, n, radius, any_count), row_of(random, n, radius, any_number),
                             (double *)guarded((room + 2 * radius) * 8) + radius,
                             (double *)guarded((room + 2 * radius) * 8) + radius};
    for (ptrdiff_t i = -(ptrdiff_t)radius; i < (ptrdiff_t)(room + radius); i++) {
        if (whole)
            of.count[i] = (float)(2 * radius + 1);
        of.sum[i] = of.count[i] * (0.3 + 0.01 * ast_random_uniform(random));
        of.square[i] = of.count[i] * (0.093 + 0.01 * ast_random_uniform(random));
    }
    float *got[5], expected[5];
    for (int k = 0; k < 5; k++)
        got[k] = guarded_floats(NULL, room);
    kernels->fit(of, radius, 3e-5f, n, (ast_fits){{got[0], got[1], got[2], got[3], got[4]}});
    for (size_t i = 0; i < n; i++) {
        plain_fit(of, (ptrdiff_t)i, radius, 3e-5f, expected);
        for (int k = 0; k < 5; k++)
            same_floats(&got[k][i], &expected[k], 1, "fit", kernels->name);
    }
    release_all();
}

static void test_fit(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 33, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
                check_fit(&random, lengths[l], radii[k], 0, *kernels);
                check_fit(&random, lengths[l], radii[k], 1, *kernels);
            }
}

static float plain_window(const float *centre, size_t radius) {
    float sum = centre[-(ptrdiff_t)radius];
    for (ptrdiff_t k = 1 - (ptrdiff_t)radius; k <= (ptrdiff_t)radius; k++)
        sum += centre[k];
    return sum;
}

static float plain_guide(ast_fits fits, const float *row_moment, size_t radius, float here, size_t i) {
    float weight = plain_window(fits.weight + i, radius), level = plain_window(fits.level + i, radius);
    float x = plain_window(fits.x + i, radius), y = plain_window(fits.y + i, radius), fit_weight = 0, centre = 0;
    for (ptrdiff_t k = -(ptrdiff_t)radius; k <= (ptrdiff_t)radius; k++) {
        fit_weight += fits.fit_weight[(ptrdiff_t)i + k];
        centre += (float)k * fits.fit_weight[(ptrdiff_t)i + k];
    }
    float aside = (x * centre + y * plain_window(row_moment + i, radius)) /
                  (fit_weight > AST_TINY_WEIGHT ? fit_weight : AST_TINY_WEIGHT);
    float smooth = (here * (weight - fit_weight) + (level - aside)) / weight;
    return here > 0 ? (smooth > 0 ? smooth : here) : 0;
}

static void test_guide(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 34, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
                size_t n = lengths[l], radius = radii[k];
                ast_fits fits = {{row_of(&random, n, radius, any_positive), row_of(&random, n, radius, any_positive),
                                  row_of(&random, n, radius, any_positive), row_of(&random, n, radius, any_number),
                                  row_of(&random, n, radius, any_number)}};
                float *row_moment = row_of(&random, n, radius, any_number), *s = row_of(&random, n, 0, any_s);
                float *got = guarded_floats(NULL, padded(n)), expected[MOST_POINTS];
                (*kernels)->guide(fits, row_moment, radius, s, n, got);
                for (size_t i = 0; i < n; i++)
                    expected[i] = plain_guide(fits, row_moment, radius, s[i], i);
                same_floats(got, expected, n, "guide", (*kernels)->name);
                release_all();
            }
}

static void test_sums(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 35, 0);
    for (size_t k = 0; k < RADII; k++)
        for (size_t n = 1; n <= MOST_POINTS; n++)
            for (const ast_image_kernels **kernels = image_tables; *kernels; kernels++) {
                size_t radius = radii[k];
                const float *rows[ROWS];
                float *row = row_of(&random, n, radius, any_number), expected[3][MOST_POINTS], *got[4];
                for (size_t r = 0; r <= 2 * radius; r++)
                    rows[r] = row_of(&random, n, 0, any_number);
                for (int g = 0; g < 4; g++)
                    got[g] = guarded_floats(NULL, padded(n));
                for (size_t i = 0; i < n; i++) {
                    expected[0][i] = rows[0][i];
                    expected[1][i] = 0;
                    for (size_t r = 0; r <= 2 * radius; r++) {
                        expected[0][i] += r ? rows[r][i] : 0;
                        expected[1][i] += ((float)r - (float)radius) * rows[r][i];
                    }
                    expected[2][i] = plain_window(row + i, radius);
                }
                (*kernels)->sum_rows(rows, 2 * radius + 1, n, got[0]);
                (*kernels)->row_moments(rows, radius, n, got[1], got[2]);
                (*kernels)->sum_columns(row, radius, n, got[3]);
                same_floats(got[0], expected[0], n, "sum_rows", (*kernels)->name);
                same_floats(got[1], expected[0], n, "row_moments' sum", (*kernels)->name);
                same_floats(got[2], expected[1], n, "row_moments", (*kernels)->name);
                same_floats(got[3], expected[2], n, "sum_columns", (*kernels)->name);
                release_all();
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invert), cmocka_unit_test(test_moments), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_guide),  cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests_name("kernels of the depth filter", tests, find_image_tables, NULL);
}
