/* SPDX-License-Identifier: MIT
 *
 * The map of a page: repulsion against the sum over all pairs, neighbours of sparse rows against all pairs, and what a
 * map is for: near rows stay near, wherever they stand in the file. */
#include <map.h>
#include <map_layout.h>
#include <map_neighbours.h>
#include <map_repulsion.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / (double)((uint64_t)1 << 31);
}

static double gaussian(uint64_t *state) {
    double radius = sqrt(-2 * log(next(state) + 1e-12));
    return radius * cos(6.283185307179586 * next(state));
}

/* ---- Repulsion --------------------------------------------------------------------------------------------------- */

/* Within 4% of the root mean square force, and 2% of the sum; places of all sizes, in heaps, and all equal. */
static void check_repulsion(size_t count, double scale, bool heaps, uint64_t seed) {
    float *xy = malloc(2 * count * sizeof *xy), *force = malloc(2 * count * sizeof *force);
    double all = 0, square = 0, error = 0;
    for (size_t i = 0; i < 2 * count; i++)
        xy[i] = (float)(scale * (gaussian(&seed) + (heaps ? 20 * (double)((i / 2) % 7 * (i % 2 + 1)) : 0)));
    ast_repulsion *repulsion = ast_repulsion_open(count);
    double found = ast_repulsion_find(repulsion, xy, force);
    for (size_t i = 0; i < count; i++) {
        double sum[2] = {0, 0};
        for (size_t j = 0; j < count; j++) {
            double dx = (double)(xy[2 * i] - xy[2 * j]), dy = (double)(xy[2 * i + 1] - xy[2 * j + 1]);
            double q = 1 / (1 + dx * dx + dy * dy);
            all += j == i ? 0 : q;
            sum[0] += q * q * dx;
            sum[1] += q * q * dy;
        }
        for (size_t c = 0; c < 2; c++) {
            square += sum[c] * sum[c];
            error += pow(sum[c] - (double)force[2 * i + c], 2);
        }
    }
    assert_true(fabs(found - all) <= 0.02 * all + 1e-3 * (double)count);
    assert_true(error <= 0.04 * 0.04 * square + 1e-6 * (double)count);
    ast_repulsion_close(repulsion);
    free(xy);
    free(force);
}

static void repulsion_is_that_of_all_pairs(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 15, 16, 17, 100, 1500};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int heaps = 0; heaps < 2; heaps++)
            for (double scale = 1e-4; scale < 200; scale *= 30)
                check_repulsion(counts[i], scale, heaps, i + 1);
    check_repulsion(500, 0, false, 1);
}

/* ---- Neighbours of sparse rows ----------------------------------------------------------------------------------- */

enum { ROWS = 120, COLUMNS = 40, NEAR = 6 };

static void sparse_neighbours_are_those_of_all_pairs(void **state) {
    (void)state;
    static double dense[ROWS][COLUMNS], values[ROWS * COLUMNS];
    static int32_t starts[ROWS + 1], columns[ROWS * COLUMNS], found[ROWS * NEAR];
    uint32_t rows[ROWS];
    uint64_t seed = 3;
    int32_t entries = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double length = 0;
        for (size_t d = 0; d < COLUMNS; d++) {
            dense[i][d] = next(&seed) < 0.15 || d == i % 5 ? floor(1 + 5 * next(&seed)) : 0;
            length += dense[i][d] * dense[i][d];
            if (dense[i][d] != 0) {
                columns[entries] = (int32_t)d;
                values[entries++] = dense[i][d];
            }
        }
        for (size_t d = 0; d < COLUMNS; d++)
            dense[i][d] /= sqrt(length);
        starts[i + 1] = entries;
        rows[i] = (uint32_t)(ROWS - 1 - i);
    }
    ast_points points = ast_points_csr(values, AST_F8, starts, columns, AST_I4, ROWS, COLUMNS);
    assert_true(ast_map_neighbours(&points, rows, ROWS, NEAR, 1, NULL, NULL, found));
    for (size_t i = 0; i < ROWS; i++) {
        double scores[ROWS], last = 2;
        for (size_t j = 0; j < ROWS; j++) {
            scores[j] = 0;
            for (size_t d = 0; d < COLUMNS; d++)
                scores[j] += dense[rows[i]][d] * dense[rows[j]][d];
        }
        scores[i] = -1;
        for (size_t n = 0; n < NEAR; n++) { /* the best of those that are left */
            double best = 0;
            for (size_t j = 0; j < ROWS; j++)
                best = fmax(best, scores[j]);
            if (best == 0) {
                assert_int_equal(found[i * NEAR + n], -1);
                continue;
            }
            double score = scores[found[i * NEAR + n]];
            assert_true(fabs(score - best) < 1e-12 && score <= last + 1e-12);
            last = score;
            scores[found[i * NEAR + n]] = -1;
        }
    }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

enum { DIMENSION = 20, GROUPS = 8 };

/* Groups around means; (count, DIMENSION) */
static float *make_rows(size_t count, uint64_t seed) {
    float *rows = malloc(count * DIMENSION * sizeof *rows);
    double means[GROUPS][DIMENSION];
    for (size_t k = 0; k < GROUPS; k++)
        for (size_t d = 0; d < DIMENSION; d++)
            means[k][d] = gaussian(&seed);
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < DIMENSION; d++)
            rows[i * DIMENSION + d] = (float)(means[i % GROUPS][d] + 0.7 * gaussian(&seed));
    return rows;
}

/* The share of rows whose nearest place on the map is that of a row of their group. */
static double share_of_groups(const ast_map *map) {
    size_t good = 0;
    for (size_t i = 0; i < map->count; i++) {
        size_t nearest = i;
        float least = INFINITY;
        for (size_t j = 0; j < map->count; j++) {
            float dx = map->xy[2 * i] - map->xy[2 * j], dy = map->xy[2 * i + 1] - map->xy[2 * j + 1];
            if (j != i && dx * dx + dy * dy < least) {
                least = dx * dx + dy * dy;
                nearest = j;
            }
        }
        good += map->rows[nearest] % GROUPS == map->rows[i] % GROUPS;
    }
    return (double)good / (double)map->count;
}

static ast_map map_of(const float *rows, size_t count, int threads) {
    ast_map map = {0};
    ast_format_error error;
    ast_points points = ast_points_f4(rows, count, DIMENSION);
    assert_true(ast_map_make(&map, &points, NULL, 0, threads, NULL, NULL, &error));
    for (size_t i = 0; i < 2 * map.count; i++)
        assert_true(map.xy[i] >= -1 && map.xy[i] <= 1);
    return map;
}

static void near_rows_stay_near(void **state) {
    (void)state;
    float *rows = make_rows(1200, 5);
    rows[0] = NAN; /* a missing row */
    ast_map map = map_of(rows, 1200, 1);
    assert_int_equal(map.count, 1199);
    assert_true(share_of_groups(&map) > 0.97);
    ast_map_free(&map);
    free(rows);
}

/* Row i of one file is row (i * 7 + 3) % count of the other. */
static void the_order_of_rows_does_not_matter(void **state) {
    (void)state;
    enum { COUNT = 400 };
    float *rows = make_rows(COUNT, 6), *permuted = malloc(COUNT * DIMENSION * sizeof *permuted);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(permuted + (i * 7 + 3) % COUNT * DIMENSION, rows + i * DIMENSION, DIMENSION * sizeof *rows);
    ast_map one = map_of(rows, COUNT, 1), other = map_of(permuted, COUNT, 3);
    assert_memory_equal(one.xy, other.xy, 2 * COUNT * sizeof *one.xy);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal((one.rows[i] * 7 + 3) % COUNT, other.rows[i]);
    ast_map_free(&one);
    ast_map_free(&other);
    free(rows);
    free(permuted);
}

static void odd_rows_have_places(void **state) {
    (void)state;
    float equal[5 * DIMENSION] = {0}, none[2 * DIMENSION] = {0};
    for (size_t i = 0; i < 5; i++)
        equal[i * DIMENSION + 2] = 1;
    for (size_t count = 1; count <= 5; count++) {
        ast_map map = map_of(equal, count, 1);
        assert_int_equal(map.count, count);
        ast_map_free(&map);
    }
    ast_map map = map_of(none, 2, 1);
    assert_int_equal(map.count, 0);
    ast_map_free(&map);
}

/* Those behind the marked ones stand among their neighbours. */
static void many_rows_are_placed_by_the_marked(void **state) {
    (void)state;
    enum { COUNT = AST_MAP_MARKED + 2000 };
    float *rows = make_rows(COUNT, 7);
    ast_map map = map_of(rows, COUNT, 0);
    assert_int_equal(map.count, COUNT);
    assert_true(share_of_groups(&map) > 0.97);
    ast_map_free(&map);
    free(rows);
}

static int stop_at_once(void *data) {
    (void)data;
    return 1;
}

static void a_map_can_be_given_up(void **state) {
    (void)state;
    float *rows = make_rows(300, 8);
    ast_map map = {0};
    ast_format_error error;
    ast_points points = ast_points_f4(rows, 300, DIMENSION);
    assert_false(ast_map_make(&map, &points, NULL, 0, 1, stop_at_once, NULL, &error));
    assert_string_equal(error.text, "");
    ast_map_free(&map);
    free(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(repulsion_is_that_of_all_pairs),
                                       cmocka_unit_test(sparse_neighbours_are_those_of_all_pairs),
                                       cmocka_unit_test(near_rows_stay_near),
                                       cmocka_unit_test(the_order_of_rows_does_not_matter),
                                       cmocka_unit_test(odd_rows_have_places),
                                       cmocka_unit_test(many_rows_are_placed_by_the_marked),
                                       cmocka_unit_test(a_map_can_be_given_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
