/* SPDX-License-Identifier: MIT
 *
 * The loops over weighted directions: every table gives the bits of the plain loops below, on memory that ends at a
 * guard page. */
#include "directions.h"
#include "common.h"

#include <math.h>
#include <string.h>

enum { MOST_CENTRES = 65 };

/* Rows, some of them around the centres, in guarded memory. */
static ast_weighted_directions random_rows(ast_random *random, size_t n, const float (*centres)[3], size_t count) {
    ast_weighted_directions rows = {.weight = guarded(n * sizeof(float)), .count = n};
    for (int d = 0; d < 3; d++)
        rows.x[d] = guarded(n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        float row[3];
        random_unit(random, row, 3);
        if (count > 0 && i % 3)
            memcpy(row, centres[ast_random_below(random, count)], sizeof row); /* and equal cosines */
        for (int d = 0; d < 3; d++)
            rows.x[d][i] = row[d];
        rows.weight[i] = i % 7 == 0 ? 0 : (float)(1 + ast_random_below(random, 9));
    }
    return rows;
}

static float plain_cosine(const ast_weighted_directions *rows, size_t i, const float *to) {
    float x = rows->x[0][i] * to[0], y = rows->x[1][i] * to[1], z = rows->x[2][i] * to[2];
    return x + y + z;
}

static int32_t plain_nearest(const ast_weighted_directions *rows, size_t i, const float (*centres)[3], size_t count,
                             float least) {
    int32_t nearest = (int32_t)count;
    for (size_t k = 0; k < count; k++) {
        float cosine = plain_cosine(rows, i, centres[k]);
        nearest = cosine > least ? (int32_t)k : nearest;
        least = cosine > least ? cosine : least;
    }
    return nearest;
}

static double plain_total(const float lanes[AST_LANES]) {
    double total = 0;
    for (int lane = 0; lane < AST_LANES; lane++)
        total += (double)lanes[lane];
    return total;
}

static void plain_cap(const ast_weighted_directions *rows, const float *centre, float least, double *sums) {
    float lanes[4][AST_LANES] = {{0}};
    for (size_t i = 0; i < rows->count; i++) {
        float inside = plain_cosine(rows, i, centre) - least;
        if (inside <= 0)
            continue;
        float weight = rows->weight[i], part = weight * inside * inside;
        for (int d = 0; d < 3; d++)
            lanes[d][i % AST_LANES] += part * rows->x[d][i];
        lanes[3][i % AST_LANES] += weight;
    }
    for (int s = 0; s < 4; s++)
        sums[s] = plain_total(lanes[s]);
}

static double plain_ring(const ast_weighted_directions *rows, const float *centre, float from, float below) {
    double weight = 0; /* whole numbers: exact in any order */
    for (size_t i = 0; i < rows->count; i++) {
        float cosine = plain_cosine(rows, i, centre);
        weight += cosine >= from && cosine < below ? (double)rows->weight[i] : 0;
    }
    return weight;
}

static void check(const ast_direction_kernels *kernels, const ast_weighted_directions *rows, const float (*centres)[3],
                  size_t count, float least) {
    int32_t *nearest = guarded(rows->count * sizeof *nearest);
    kernels->find_nearest(rows, centres, count, least, nearest);
    for (size_t i = 0; i < rows->count; i++)
        assert_int_equal(nearest[i], plain_nearest(rows, i, centres, count, least));
    for (size_t k = 0; k < count; k++) {
        double sums[4], expected[4];
        kernels->sum_cap(rows, centres[k], least, sums);
        plain_cap(rows, centres[k], least, expected);
        for (int s = 0; s < 4; s++)
            assert_true(sums[s] == expected[s]);
        for (int ring = 0; ring < 3; ring++) {
            float from = ring == 0 ? least : ring == 1 ? -2 : -least, below = ring == 0 ? 2 : least;
            assert_true(kernels->weigh_ring(rows, centres[k], from, below) ==
                        plain_ring(rows, centres[k], from, below));
        }
    }
}

static void every_table_gives_the_same_bits(void **state) {
    (void)state;
    static const float least[] = {0.97f, 0.5f, 0, -0.3f};
    for (size_t n = 0; n <= MOST_POINTS; n++)
        for (size_t t = 0; all_tables[t]; t++) {
            ast_random random;
            ast_random_seed(&random, 17, n);
            size_t count = n % 5 == 0 ? n % 3 : 1 + ast_random_below(&random, MOST_CENTRES);
            float(*centres)[3] = guarded(count * sizeof *centres);
            for (size_t k = 0; k < count; k++)
                random_unit(&random, centres[k], 3);
            if (count > 1)
                memcpy(centres[count - 1], centres[0], sizeof centres[0]);
            ast_weighted_directions rows = random_rows(&random, n, (const float(*)[3])centres, count);
            check(all_tables[t]->directions, &rows, (const float(*)[3])centres, count, least[n % 4]);
            release_all();
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_table_gives_the_same_bits)};
    return cmocka_run_group_tests_name("kernels of directions", tests, NULL, NULL);
}
