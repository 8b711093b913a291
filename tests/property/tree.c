/* SPDX-License-Identifier: MIT
 *
 * The search for the pair to join next equals the definition: in every step all pairs are priced anew, and the cheapest
 * joins, the lowest of equal ones. Random clusters, copies of clusters (equal losses), sums of length zero, axial; up
 * to a price, with clusters that are known to be apart, and with heads. */
#include "kernels.h"
#include "random.h"
#include "reference/harness.h"
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct forest {
    size_t count, dimension, live;
    int64_t *sums;
    float *means;
    int32_t *nodes; /* (count) of the clusters there are */
    bool axial;
    ast_price price;
} forest;

static const double unit = 0x1p30;

static double length_of(const int64_t *sum, size_t dimension) {
    double squares = 0;
    for (size_t d = 0; d < dimension; d++)
        squares += (double)sum[d] * (double)sum[d];
    return sqrt(squares) / unit;
}

static void set_mean(forest *f, size_t k) {
    double length = length_of(f->sums + k * f->dimension, f->dimension) * unit;
    for (size_t d = 0; d < f->dimension && length > 0; d++)
        f->means[k * f->dimension + d] = (float)((double)f->sums[k * f->dimension + d] / length);
}

static void make(forest *f, ast_random *random) {
    static const size_t dimensions[] = {2, 3, 4, 5, 17, 50, 130};
    f->dimension = dimensions[ast_random_below(random, 7)];
    f->count = f->live = 1 + ast_random_below(random, 70);
    f->axial = ast_random_below(random, 3) == 0;
    f->price = ast_random_below(random, 2) ? AST_PRICE_LOSS : AST_PRICE_ANGLE;
    f->sums = ref_take(f->count * f->dimension, sizeof *f->sums);
    f->means = ref_take(f->count * f->dimension, sizeof *f->means);
    f->nodes = ref_take(f->count, sizeof *f->nodes);
    bool coarse = ast_random_below(random, 3) == 0; /* few different directions and lengths: many equal losses */
    for (size_t k = 0; k < f->count; k++) {
        double size = coarse ? 1 : exp(6 * ast_random_uniform(random));
        f->nodes[k] = (int32_t)k;
        f->means[k * f->dimension] = 1;
        for (size_t d = 0; d < f->dimension; d++) {
            double x = coarse ? (double)ast_random_below(random, 3) - 1 : ast_random_normal(random);
            f->sums[k * f->dimension + d] = (int64_t)(x * size * unit / 8);
        }
        if (k > 0 && ast_random_below(random, 5) == 0)
            memcpy(f->sums + k * f->dimension, f->sums + (k - 1) * f->dimension, f->dimension * sizeof *f->sums);
        set_mean(f, k);
    }
}

static int sign_of(const forest *f, size_t a, size_t b) {
    const float *u = f->means + a * f->dimension, *v = f->means + b * f->dimension;
    return f->axial && ref_score(u, v, f->dimension) < 0 ? -1 : 1;
}

static double loss_of(const forest *f, size_t a, size_t b) {
    int64_t sum[130];
    int sign = sign_of(f, a, b);
    const int64_t *s = f->sums + a * f->dimension, *t = f->sums + b * f->dimension;
    for (size_t d = 0; d < f->dimension; d++)
        sum[d] = s[d] + sign * t[d];
    return length_of(s, f->dimension) + length_of(t, f->dimension) - length_of(sum, f->dimension);
}

static double price_of(const forest *f, size_t a, size_t b) {
    if (f->price == AST_PRICE_LOSS)
        return loss_of(f, a, b);
    double cosine = ref_score(f->means + a * f->dimension, f->means + b * f->dimension, f->dimension);
    return 1 - (f->axial ? fabs(cosine) : cosine);
}

/* By definition: clusters stand in order of their nodes, so the first of equal pairs is the lowest. */
static void find_pair(const forest *f, size_t *a, size_t *b, double *price) {
    *price = INFINITY;
    for (size_t i = 0; i < f->live; i++)
        for (size_t k = i + 1; k < f->live; k++)
            if (price_of(f, i, k) < *price) {
                *price = price_of(f, i, k);
                *a = i;
                *b = k;
            }
}

static void take(forest *f, size_t a, size_t b, int32_t node) {
    size_t dimension = f->dimension;
    int sign = sign_of(f, a, b);
    int64_t sum[130];
    float mean[130];
    for (size_t d = 0; d < dimension; d++)
        sum[d] = f->sums[a * dimension + d] + sign * f->sums[b * dimension + d];
    memcpy(mean, f->means + b * dimension, dimension * sizeof *mean);
    size_t gone[2] = {b, a};
    for (size_t g = 0; g < 2; g++) {
        size_t k = gone[g], after = f->live - k - 1;
        memmove(f->sums + k * dimension, f->sums + (k + 1) * dimension, after * dimension * sizeof *f->sums);
        memmove(f->means + k * dimension, f->means + (k + 1) * dimension, after * dimension * sizeof *f->means);
        memmove(f->nodes + k, f->nodes + k + 1, after * sizeof *f->nodes);
        f->live--;
    }
    memcpy(f->sums + f->live * dimension, sum, dimension * sizeof *sum);
    memcpy(f->means + f->live * dimension, mean, dimension * sizeof *mean);
    f->nodes[f->live] = node;
    set_mean(f, f->live++);
}

/* Joins while a pair costs less than `most`; returns the number of joins. moved (live) or NULL. */
static size_t check_joins(forest *f, double most, const uint8_t *moved, ast_pool *pool, const ast_kernels *kernels,
                          uint64_t seed) {
    ast_leaves leaves = {.count = f->live, .dimension = f->dimension, .sums = f->sums, .means = f->means, .unit = unit};
    leaves.axial = f->axial;
    leaves.most = isfinite(most) ? most : 0;
    leaves.moved = moved;
    ast_joiner *joiner = ast_joiner_open(&leaves, f->price, kernels, pool);
    ast_joined join;
    size_t a = 0, b = 0, joins = 0, count = f->live;
    double price;
    assert_non_null(joiner);
    for (; ast_joiner_next(joiner, &join); joins++) {
        find_pair(f, &a, &b, &price);
        if (join.a != f->nodes[a] || join.b != f->nodes[b] || join.price != price || join.loss != loss_of(f, a, b))
            fail_msg("seed %llu, join %zu: %d and %d at %.17g instead of %d and %d at %.17g", (unsigned long long)seed,
                     joins, join.a, join.b, join.price, f->nodes[a], f->nodes[b], price);
        take(f, a, b, (int32_t)(count + joins));
        ast_joiner_join(joiner, &join);
    }
    find_pair(f, &a, &b, &price);
    assert_true(!(price < most));
    ast_joiner_close(joiner);
    return joins;
}

static void free_forest(forest *f) {
    free(f->sums);
    free(f->means);
    free(f->nodes);
}

static void check_seed(uint64_t seed, ast_pool *pool, const ast_kernels *kernels) {
    ast_random random;
    forest f;
    ast_random_seed(&random, seed, 0);
    make(&f, &random);
    assert_int_equal(check_joins(&f, INFINITY, NULL, pool, kernels, seed), f.count - 1);
    free_forest(&f);
}

/* The sums of some clusters change; those that do not are known to be apart. */
static void check_moves(forest *f, double most, ast_pool *pool, const ast_kernels *kernels, ast_random *random,
                        uint64_t seed) {
    uint8_t *moved = ref_take(f->live, sizeof *moved);
    for (size_t k = 0; k < f->live; k++) {
        f->nodes[k] = (int32_t)k;
        moved[k] = ast_random_below(random, 4) == 0;
        for (size_t d = 0; moved[k] && d < f->dimension; d++)
            f->sums[k * f->dimension + d] += (int64_t)(0.3 * ast_random_normal(random) * unit / 8);
        if (moved[k])
            set_mean(f, k);
    }
    check_joins(f, most, moved, pool, kernels, seed);
    free(moved);
}

static void near_means_join_and_no_others(void **state) {
    (void)state;
    ast_pool *pool;
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    for (uint64_t seed = 1; seed <= ref_case_count(300); seed++) {
        ast_random random;
        forest f;
        ast_random_seed(&random, seed, 0);
        make(&f, &random);
        f.price = AST_PRICE_ANGLE;
        double most = 1 - cos(0.2 + 1.3 * ast_random_uniform(&random));
        check_joins(&f, most, NULL, pool, ast_kernels_choose(REF_FAST), seed);
        check_moves(&f, most, pool, ast_kernels_choose(REF_FAST), &random, seed);
        free_forest(&f);
    }
    ast_pool_close(pool);
}

/* So many of so many components that heads show which pairs are not near. */
static void heads_hide_no_near_pair(void **state) {
    (void)state;
    enum { COUNT = 1100, D = 130 };
    ast_pool *pool;
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    for (int axial = 0; axial < 2; axial++) {
        ast_random random;
        ast_random_seed(&random, 5, (uint64_t)axial);
        forest f = {.count = COUNT, .live = COUNT, .dimension = D, .axial = axial != 0, .price = AST_PRICE_ANGLE};
        f.sums = ref_take(COUNT * D, sizeof *f.sums);
        f.means = ref_take(COUNT * D, sizeof *f.means);
        f.nodes = ref_take(COUNT, sizeof *f.nodes);
        for (size_t k = 0; k < COUNT; k++) {
            f.nodes[k] = (int32_t)k;
            for (size_t d = 0; d < D; d++)
                f.sums[k * D + d] = (int64_t)(ast_random_normal(&random) * unit / (double)(8 * (1 + d)));
            set_mean(&f, k);
        }
        double most = 1 - cos(axial ? 0.24 : 0.26);
        size_t joins = check_joins(&f, most, NULL, pool, ast_kernels_choose(REF_FAST), 5);
        assert_true(joins >= 5 && joins <= 100);
        if (!axial)
            check_moves(&f, most * 0.5, pool, ast_kernels_choose(REF_FAST), &random, 5);
        free_forest(&f);
    }
    ast_pool_close(pool);
}

static void every_join_is_the_cheapest(void **state) {
    static const char *const names[] = {"base", REF_FAST};
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        ast_pool *pool;
        assert_int_equal(ast_pool_open(&pool, threads), AST_OK);
        for (size_t i = 0; i < 2; i++)
            for (uint64_t seed = 1; seed <= ref_case_count(300) && ref_has(names[i]); seed++)
                check_seed(seed * 7 + (uint64_t)threads, pool, ast_kernels_choose(names[i]));
        ast_pool_close(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_join_is_the_cheapest),
                                       cmocka_unit_test(near_means_join_and_no_others),
                                       cmocka_unit_test(heads_hide_no_near_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
