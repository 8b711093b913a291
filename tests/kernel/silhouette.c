/* SPDX-License-Identifier: MIT
 *
 * The loops of silhouettes, every table bit for bit against the header's sentences read one point at a time. */
#include "silhouette_kernels.h"
#include "common.h"

#include <math.h>
#include <string.h>

/* ---- The reference ---------------------------------------------------------------------------------------------- */

static double plain_silhouette(const double *x, const ast_silhouette_means *targets, int32_t own) {
    double inner = 0, outer = -INFINITY;
    if (own < 0 || targets->leave_one_out[own] == 0)
        return 0;
    for (size_t k = 0; k < targets->count; k++) {
        double dot = x[0] * targets->means[k * targets->features];
        for (size_t f = 1; f < targets->features; f++)
            dot += x[f * AST_LANES] * targets->means[k * targets->features + f];
        if (k == (size_t)own)
            inner = dot;
        else
            outer = dot > outer ? dot : outer;
    }
    double a = fmax(targets->leave_one_out[own] * (1 - inner), 0), b = fmax(1 - outer, 0), larger = fmax(a, b);
    return larger > targets->rounding_limit ? (b - a) / larger : 0;
}

static void plain_totals(const double *tiles, size_t n, const ast_silhouette_means *targets, const int32_t *own,
                         double *totals) {
    for (size_t i = 0; i < n; i++) {
        const double *x = tiles + i / AST_LANES * AST_LANES * targets->features + i % AST_LANES;
        double value = plain_silhouette(x, targets, own[i]);
        totals[i % AST_LANES] += value;
    }
}

/* ---- Cases ------------------------------------------------------------------------------------------------------ */

static double uniform(ast_random *random) {
    return 2 * ast_random_uniform(random) - 1;
}

/* Means of which some are equal, some are the points themselves, and some stand for a single point. */
static ast_silhouette_means random_means(ast_random *random, const double *tiles, size_t n, size_t count,
                                         size_t features) {
    double *means = guarded(count * features * sizeof *means), *without = guarded(count * sizeof *without);
    for (size_t k = 0; k < count; k++) {
        size_t i = n ? ast_random_below(random, n) : 0;
        int kind = (int)ast_random_below(random, 4);
        for (size_t f = 0; f < features; f++)
            means[k * features + f] = kind == 0 && k > 0 ? means[(k - 1) * features + f]
                                      : kind == 1 && n
                                          ? tiles[i / AST_LANES * AST_LANES * features + f * AST_LANES + i % AST_LANES]
                                          : uniform(random);
        size_t size = 1 + ast_random_below(random, 5);
        without[k] = size > 1 ? (double)size / (double)(size - 1) : 0;
    }
    return (ast_silhouette_means){means, count, features, without, 0x1p-32};
}

/* Tiles whose lanes without a label hold what is not a number. */
static double *random_tiles(ast_random *random, size_t n, size_t features, size_t count, int32_t *own) {
    double *tiles = guarded(n * features * sizeof *tiles);
    for (size_t i = 0; i < n; i++) {
        double *lane = tiles + i / AST_LANES * AST_LANES * features + i % AST_LANES;
        double square = 0;
        own[i] = (int32_t)ast_random_below(random, count + 1) - 1;
        for (size_t f = 0; f < features; f++) {
            lane[f * AST_LANES] = own[i] < 0 ? NAN : uniform(random);
            square += lane[f * AST_LANES] * lane[f * AST_LANES];
        }
        for (size_t f = 0; f < features; f++)
            lane[f * AST_LANES] /= sqrt(square);
    }
    return tiles;
}

typedef struct points {
    const double *tiles;
    const float *const *x; /* columns, or NULL for tiles */
} points;

/* Every table, with the right sums of the tiles. */
static void check_totals(ast_random *random, points given, size_t n, const ast_silhouette_means *targets,
                         const int32_t *own) {
    double right[AST_LANES], start[AST_LANES];
    for (size_t lane = 0; lane < AST_LANES; lane++)
        right[lane] = start[lane] = uniform(random);
    plain_totals(given.tiles, n, targets, own, right);
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
        double *totals = guarded(sizeof start);
        memcpy(totals, start, sizeof start);
        if (given.x)
            (*kernels)->silhouette->add_columns(given.x, n, targets, own, totals);
        else
            (*kernels)->silhouette->add_tiles(given.tiles, n, targets, own, totals);
        assert_memory_equal(totals, right, sizeof right);
    }
}

static void test_tiles(void **state) {
    (void)state;
    static const size_t features[] = {2, 3, 4, 5, 6, 10, 33};
    ast_random random;
    ast_random_seed(&random, 61, 0);
    for (size_t f = 0; f < sizeof features / sizeof *features; f++)
        for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
            for (size_t count = 2; count <= 12; count++) {
                int32_t *own = guarded_ints(NULL, n);
                points given = {random_tiles(&random, n, features[f], count, own), NULL};
                ast_silhouette_means targets = random_means(&random, given.tiles, n, count, features[f]);
                check_totals(&random, given, n, &targets, own);
                release_all();
            }
}

/* ---- Columns ---------------------------------------------------------------------------------------------------- */

/* The tiles that columns stand for. */
static double *tiles_of(const float *rows, size_t n, size_t dimension) {
    double *tiles = guarded(n * dimension * sizeof *tiles);
    for (size_t i = 0; i < n; i++) {
        const float *x = rows + i * dimension;
        double square = 0, length = 0;
        for (size_t d = 0; d < dimension; d++)
            square += (double)x[d] * x[d];
        for (size_t d = 0; d < dimension; d++) {
            double made = (1.5 - 0.5 * square) * x[d];
            tiles[i / AST_LANES * AST_LANES * dimension + d * AST_LANES + i % AST_LANES] = made;
            length += made * made;
        }
        assert_true(fabs(sqrt(length) - 1) < 3e-14);
    }
    return tiles;
}

static void check_fixed(const float *const *x, const double *tiles, size_t n, size_t dimension, double scale) {
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
        int64_t *fixed = guarded(n * dimension * sizeof *fixed);
        (*kernels)->silhouette->to_fixed_columns(x, n, dimension, scale, fixed);
        for (size_t i = 0; i < n * dimension; i++) {
            assert_true(fixed[i] == llrint(tiles[i] * scale));
            assert_true(fixed[i] == ast_to_fixed(tiles[i], scale));
        }
    }
}

static void check_columns(ast_random *random, size_t n, size_t dimension, size_t count) {
    float rows[MOST_POINTS * AST_SMALL];
    const float *x[AST_SMALL];
    int32_t *own = guarded_ints(NULL, n);
    for (size_t i = 0; i < n; i++) {
        random_unit(random, rows + i * dimension, dimension);
        own[i] = (int32_t)ast_random_below(random, count + 1) - 1;
    }
    guarded_columns(rows, n, dimension, x);
    points given = {tiles_of(rows, n, dimension), x};
    ast_silhouette_means targets = random_means(random, given.tiles, n, count, dimension);
    check_totals(random, given, n, &targets, own);
    check_fixed(x, given.tiles, n, dimension, 0x1p50);
    check_fixed(x, given.tiles, n, dimension, 0x1p20);
    release_all();
}

static void test_columns(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 62, 0);
    for (size_t dimension = 2; dimension <= AST_SMALL; dimension++)
        for (size_t n = 0; n <= MOST_POINTS; n += AST_LANES)
            for (size_t count = 2; count <= 12; count++)
                check_columns(&random, n, dimension, count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
