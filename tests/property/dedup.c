/* SPDX-License-Identifier: MIT
 *
 * Near-duplicates against a double loop over all pairs: pairs, cosines, groups and kept rows, bit for bit, for random
 * and adversarial rows, in every way to run. */
#include "reference/harness.h"

#include "kernels.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ANY, COPIES, NEAR, CONE, TIES, KINDS };

typedef struct dedup_case {
    size_t count, others, dimension;
    double cosine;
    float *rows, *against; /* unit vectors as the library makes them; NaN: missing */
    double *rank;
    ast_dedup_mode mode;
    ast_dedup_keep keep;
} dedup_case;

/* What the definition says. */
typedef struct expected {
    uint8_t *near; /* (count, count) */
    int32_t *groups;
    uint8_t *kept;
    uint64_t pairs;
    size_t kept_count;
} expected;

typedef struct told {
    const dedup_case *c;
    size_t count;
    uint64_t hash;
    size_t last_i, last_j;
} told;

/* ---- Cases ------------------------------------------------------------------------------------------------------- */

static void normalise(float *row, size_t dimension) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++)
        square += (double)row[d] * (double)row[d];
    for (size_t d = 0; d < dimension && fabs(square - 1) > 0x1p-22; d++)
        row[d] = (float)((double)row[d] / sqrt(square));
}

static void draw_row(ast_random *random, int kind, const float *rows, size_t i, const dedup_case *c, float *to) {
    size_t dimension = c->dimension;
    const float *earlier = i ? rows + ast_random_below(random, i) * dimension : NULL;
    for (size_t d = 0; d < dimension; d++)
        to[d] = (float)(ast_random_normal(random) * pow((double)(d + 1), -0.6) + (kind == CONE ? 1.5 : 0));
    if (kind == TIES) /* few values: many equal rows and equal cosines */
        for (size_t d = 0; d < dimension; d++)
            to[d] = (float)((double)ast_random_below(random, 3) - 1);
    if (kind == TIES && to[0] == 0)
        to[0] = 1;
    if (earlier && ((kind == COPIES && i % 2) || (kind == NEAR && i % 3))) {
        double step = kind == COPIES ? 0 : 0.4 * ast_random_uniform(random) / sqrt((double)dimension);
        for (size_t d = 0; d < dimension; d++)
            to[d] = earlier[d] + (float)(step * ast_random_normal(random));
    }
    normalise(to, dimension);
    if (ast_random_below(random, 40) == 0)
        to[0] = NAN;
}

static dedup_case make_case(uint64_t seed, size_t most) {
    static const size_t dimensions[] = {2, 3, 4, 5, 8, 16, 17, 33, 64, 100, 130};
    static const double cosines[] = {0.9, 0.95, 0.5, 0.99, 1, 0, -0.3, -1};
    ast_random random;
    ast_random_seed(&random, seed, 5);
    dedup_case c = {.dimension = dimensions[seed % 11], .cosine = cosines[ast_random_below(&random, 8)]};
    c.count = 1 + ast_random_below(&random, most);
    c.others = ast_random_below(&random, 3) ? 0 : 1 + ast_random_below(&random, most / 2);
    c.mode = ast_random_below(&random, 2) ? AST_STAR : AST_CONNECTED;
    c.keep = (ast_dedup_keep)ast_random_below(&random, 3);
    c.rows = ref_take((c.count + c.others) * c.dimension, sizeof *c.rows);
    c.rank = ref_take(c.count, sizeof *c.rank);
    c.against = c.rows + c.count * c.dimension;
    int kind = (int)ast_random_below(&random, KINDS);
    for (size_t i = 0; i < c.count + c.others; i++)
        draw_row(&random, kind, c.rows, i, &c, c.rows + i * c.dimension);
    for (size_t i = 0; i < c.count; i++)
        c.rank[i] = (double)ast_random_below(&random, 5);
    if (ast_random_below(&random, 2) && c.count > 1 && c.cosine > 0) /* a pair that is exactly at the threshold */
        c.cosine = fmin(1, fabs(ast_exact_score(c.rows, c.rows + c.dimension, c.dimension)) + 0x1p-20);
    c.cosine = isnan(c.cosine) ? 0.9 : c.cosine;
    return c;
}

/* ---- The definition ---------------------------------------------------------------------------------------------- */

static bool is_missing(const dedup_case *c, size_t i) {
    return isnan(c->rows[i * c->dimension]);
}

static double score_of(const dedup_case *c, size_t i, size_t j) {
    return ast_exact_score(c->rows + i * c->dimension, c->rows + j * c->dimension, c->dimension);
}

static bool are_near(const dedup_case *c, size_t i, size_t j) {
    return !is_missing(c, i) && !is_missing(c, j) && score_of(c, i, j) >= c->cosine - 0x1p-20;
}

/* The rows near a row of `against` join the nearest; the others get -2. */
static void match_rows(const dedup_case *c, expected *e) {
    for (size_t i = 0; i < c->count; i++) {
        double best = -2;
        e->groups[i] = is_missing(c, i) ? -1 : -2;
        for (size_t j = c->count; j < c->count + c->others; j++)
            if (are_near(c, i, j)) {
                e->pairs++;
                if (score_of(c, i, j) > best) {
                    best = score_of(c, i, j);
                    e->groups[i] = (int32_t)(j - c->count);
                }
            }
    }
}

static void connect_rows(const dedup_case *c, const expected *e, int32_t *leader) {
    for (size_t i = 0; i < c->count; i++)
        leader[i] = e->groups[i] == -2 ? (int32_t)i : -1;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < c->count; i++)
            for (size_t j = 0; j < c->count; j++)
                if (e->near[i * c->count + j] && leader[j] < leader[i]) {
                    leader[i] = leader[j];
                    changed = true;
                }
    }
}

/* The value by which star visits a row: a larger one first. Rows that are equal bit for bit are near each other, and
 * are visited with the best of them. */
static double visit_rank(const dedup_case *c, const expected *e, size_t i) {
    double rank = 0;
    if (c->keep == AST_KEEP_FIRST)
        return 0;
    for (size_t j = 0; j < c->count; j++) {
        bool same = memcmp(c->rows + i * c->dimension, c->rows + j * c->dimension, c->dimension * 4) == 0;
        if (c->keep == AST_KEEP_CENTRAL)
            rank += e->near[i * c->count + j];
        else if (same && c->rank[j] > rank)
            rank = c->rank[j];
    }
    return rank;
}

static size_t first_equal(const dedup_case *c, size_t i) {
    size_t j = 0;
    while (memcmp(c->rows + i * c->dimension, c->rows + j * c->dimension, c->dimension * 4) != 0)
        j++;
    return j;
}

static void star_rows(const dedup_case *c, const expected *e, int32_t *leader) {
    double *rank = ref_take(c->count, sizeof *rank);
    bool *visited = ref_take(c->count, sizeof *visited);
    memset(visited, 0, c->count);
    for (size_t i = 0; i < c->count; i++) {
        leader[i] = -1;
        rank[i] = visit_rank(c, e, i);
    }
    for (size_t round = 0; round < c->count; round++) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < c->count; i++)
            if (e->groups[i] == -2 && leader[i] < 0 && !visited[i] && first_equal(c, i) == i &&
                (next == SIZE_MAX || rank[i] > rank[next]))
                next = i;
        if (next == SIZE_MAX)
            break;
        visited[next] = true;
        for (size_t j = 0; j < c->count; j++)
            if (e->groups[j] == -2 && leader[j] < 0 && e->near[next * c->count + j])
                leader[j] = (int32_t)next;
    }
    free(rank);
    free(visited);
}

static double central_sum(const dedup_case *c, const int32_t *groups, size_t i) {
    double *sum = ref_take(c->dimension, sizeof *sum), product = 0;
    memset(sum, 0, c->dimension * sizeof *sum);
    for (size_t j = 0; j < c->count; j++)
        for (size_t d = 0; groups[j] == groups[i] && d < c->dimension; d++)
            sum[d] += (double)c->rows[j * c->dimension + d];
    for (size_t d = 0; d < c->dimension; d++)
        product += (double)c->rows[i * c->dimension + d] * sum[d];
    free(sum);
    return product;
}

static bool is_better(const dedup_case *c, const expected *e, const int32_t *leader, size_t a, size_t b, size_t n) {
    if (c->mode == AST_STAR) {
        bool mine = first_equal(c, a) == (size_t)leader[a], yours = first_equal(c, b) == (size_t)leader[b];
        return mine != yours ? mine : mine && c->keep == AST_KEEP_RANKED && c->rank[a] > c->rank[b];
    }
    if (c->keep == AST_KEEP_CENTRAL)
        return n > 2 && central_sum(c, e->groups, a) > central_sum(c, e->groups, b);
    return c->keep == AST_KEEP_RANKED && c->rank[a] > c->rank[b];
}

static void keep_rows(const dedup_case *c, expected *e, const int32_t *leader, int32_t group) {
    size_t best = SIZE_MAX, n = 0;
    for (size_t i = 0; i < c->count; i++)
        n += e->groups[i] == group;
    for (size_t i = 0; i < c->count; i++)
        if (e->groups[i] == group && (best == SIZE_MAX || is_better(c, e, leader, i, best, n)))
            best = i;
    e->kept[best] = 1;
    e->kept_count++;
}

static expected expect(const dedup_case *c) {
    expected e = {ref_take(c->count * c->count, 1), ref_take(c->count, sizeof *e.groups), ref_take(c->count, 1), 0, 0};
    int32_t *leader = ref_take(c->count, sizeof *leader), next = (int32_t)c->others;
    memset(e.kept, 0, c->count);
    match_rows(c, &e);
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->count; j++) {
            e.near[i * c->count + j] = e.groups[i] == -2 && e.groups[j] == -2 && are_near(c, i, j);
            e.pairs += i < j && e.near[i * c->count + j];
        }
    if (c->mode == AST_STAR)
        star_rows(c, &e, leader);
    else
        connect_rows(c, &e, leader);
    for (size_t i = 0; i < c->count; i++) {
        if (e.groups[i] != -2)
            continue;
        for (size_t j = i; j < c->count; j++)
            if (leader[j] == leader[i] && e.groups[j] == -2)
                e.groups[j] = next;
        keep_rows(c, &e, leader, next++);
    }
    free(leader);
    return e;
}

/* ---- The library ------------------------------------------------------------------------------------------------- */

static int take_pair(size_t i, size_t j, double cosine, void *data) {
    told *t = data;
    bool in_order = t->count == 0 || i > t->last_i || (i == t->last_i && j > t->last_j);
    uint64_t bits;
    assert_true(i < j && in_order && are_near(t->c, i, j));
    assert_true(fabs(cosine - score_of(t->c, i, j)) <= 0);
    memcpy(&bits, &cosine, sizeof bits);
    t->hash = ast_mix64(t->hash ^ bits ^ i ^ (uint64_t)j << 32);
    t->count++;
    t->last_i = i;
    t->last_j = j;
    return 0;
}

static void check_run(const dedup_case *c, const expected *e, const char *isa, int threads, uint64_t seed) {
    ast_context *context = ref_context(isa, threads);
    ast_points points = ast_points_f4(c->rows, c->count, c->dimension);
    ast_points against = ast_points_f4(c->against, c->others, c->dimension);
    ast_dedup_options options;
    ast_dedup_report report = {.size = sizeof report};
    told heard = {.c = c};
    int32_t *groups = ref_take(c->count, sizeof *groups);
    uint8_t *kept = ref_take(c->count, 1);
    ast_dedup_options_init(&options);
    options.cosine = c->cosine;
    options.mode = c->mode;
    options.keep = c->keep;
    options.rank = c->rank;
    options.against = c->others ? &against : NULL;
    options.pair = seed % 2 ? take_pair : NULL;
    options.pair_data = &heard;
    options.memory = seed % 3 ? 0 : 1;
    if (ast_dedup(context, &points, &options, groups, kept, &report) != AST_OK)
        fail_msg("AST_TEST_SEED=%llu: %s", (unsigned long long)seed, ast_message(context));
    if (memcmp(groups, e->groups, c->count * sizeof *groups) != 0 || memcmp(kept, e->kept, c->count) != 0 ||
        report.pairs != e->pairs || report.kept != e->kept_count || (options.pair && heard.count != e->pairs))
        fail_msg("AST_TEST_SEED=%llu, %s, %d threads: %zu x %zu, cosine %g, mode %d, keep %d, %zu others: "
                 "pairs %llu for %llu, kept %zu for %zu, groups %s",
                 (unsigned long long)seed, isa, threads, c->count, c->dimension, c->cosine, (int)c->mode, (int)c->keep,
                 c->others, (unsigned long long)report.pairs, (unsigned long long)e->pairs, report.kept, e->kept_count,
                 memcmp(groups, e->groups, c->count * sizeof *groups) ? "differ" : "agree");
    free(groups);
    free(kept);
}

static void check_seed(uint64_t seed, size_t most) {
    dedup_case c = make_case(seed, most);
    expected e = expect(&c);
    static const int threads[] = {1, 2, 3, 8};
    check_run(&c, &e, seed % 4 ? REF_FAST : "base", threads[seed / 4 % 4], seed);
    check_run(&c, &e, seed % 4 ? "base" : REF_FAST, threads[seed / 16 % 4], seed);
    free(e.near);
    free(e.groups);
    free(e.kept);
    free(c.rows);
    free(c.rank);
}

static void equals_all_pairs(void **state) {
    (void)state;
    const char *given = getenv("AST_TEST_SEED");
    size_t cases = ref_case_count(400);
    for (uint64_t seed = given ? strtoull(given, NULL, 10) : 1; seed <= cases || given; seed++) {
        check_seed(seed, seed % 20 ? 90 : seed % 100 ? 700 : 3000);
        if (given)
            break;
    }
}

static size_t leader_of(uint32_t *parent, size_t i) {
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* 20,000 rows around 300 centres, one in ten a near copy: several cells and hundreds of blocks. */
static void equals_the_product_of_many_rows(void **state) {
    enum { COUNT = 20000, DIMENSION = 24 };
    (void)state;
    ast_random random;
    ast_random_seed(&random, 3, 0);
    const dedup_case c = {.dimension = DIMENSION};
    float *rows = ref_take((size_t)COUNT * DIMENSION, sizeof *rows);
    int32_t *groups = ref_take(COUNT, sizeof *groups), next = 0;
    uint32_t *parent = ref_take(COUNT, sizeof *parent), *number = ref_take(COUNT, sizeof *number);
    uint64_t pairs = 0;
    for (size_t i = 0; i < COUNT; i++) {
        int kind = i < 300 ? ANY : NEAR;
        draw_row(&random, kind, rows, i < 300 ? i : 299, &c, rows + i * DIMENSION);
        parent[i] = (uint32_t)i;
        number[i] = UINT32_MAX;
    }
    const ast_kernels *kernels = ast_kernels_choose(NULL);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = i + 1; j < COUNT && !isnan(rows[i * DIMENSION]); j++) {
            const float *x = rows + i * DIMENSION, *y = rows + j * DIMENSION;
            if (isnan(y[0]) || kernels->dot(x, y, DIMENSION) < 0.899f ||
                ast_exact_score(x, y, DIMENSION) < 0.9 - 0x1p-20)
                continue;
            pairs++;
            size_t a = leader_of(parent, i), b = leader_of(parent, j);
            parent[a > b ? a : b] = (uint32_t)(a > b ? b : a);
        }
    ast_points points = ast_points_f4(rows, COUNT, DIMENSION);
    ast_dedup_options options;
    ast_dedup_options_init(&options);
    options.cosine = 0.9;
    ast_dedup_report report = {.size = sizeof report};
    assert_int_equal(ast_dedup(ref_context(REF_FAST, 3), &points, &options, groups, NULL, &report), AST_OK);
    assert_int_equal(report.pairs, pairs);
    assert_true(pairs > 10000);
    for (size_t i = 0; i < COUNT; i++) {
        size_t own = leader_of(parent, i);
        if (!isnan(rows[i * DIMENSION]) && number[own] == UINT32_MAX)
            number[own] = (uint32_t)next++;
        assert_int_equal(groups[i], isnan(rows[i * DIMENSION]) ? -1 : (int32_t)number[own]);
    }
    free(rows);
    free(groups);
    free(parent);
    free(number);
}

/* Equal rows: 2e8 pairs that are counted, not looked at. */
static void counts_equal_rows(void **state) {
    enum { COUNT = 20000, DIMENSION = 24 };
    (void)state;
    float *rows = ref_take((size_t)COUNT * DIMENSION, sizeof *rows);
    int32_t *groups = ref_take(COUNT, sizeof *groups);
    for (size_t i = 0; i < (size_t)COUNT * DIMENSION; i++)
        rows[i] = (float)(i % DIMENSION + 1);
    ast_points points = ast_points_f4(rows, COUNT, DIMENSION);
    ast_dedup_options options;
    ast_dedup_options_init(&options);
    options.cosine = 1;
    ast_dedup_report report = {.size = sizeof report};
    for (int mode = 0; mode < 2; mode++) {
        options.mode = (ast_dedup_mode)mode;
        assert_int_equal(ast_dedup(ref_context(REF_FAST, 2), &points, &options, groups, NULL, &report), AST_OK);
        assert_int_equal(report.pairs, (uint64_t)COUNT * (COUNT - 1) / 2);
        assert_int_equal(report.kept, 1);
        assert_int_equal(report.duplicates, 1);
    }
    free(rows);
    free(groups);
}

static int stop(double done, void *data) {
    (void)data;
    assert_true(done >= 0 && done <= 1);
    return 1;
}

static void refuse(ast_dedup_options options, const ast_points *points, const char *sentence) {
    ast_context *context = ref_context(REF_FAST, 2);
    ast_dedup_report report = {.size = sizeof report};
    int32_t groups[4] = {7, 7, 7, 7};
    assert_int_not_equal(ast_dedup(context, points, &options, groups, NULL, &report), AST_OK);
    assert_non_null(strstr(ast_message(context), sentence));
    assert_int_equal(groups[0], 7);
}

static void refuses_bad_arguments(void **state) {
    (void)state;
    static const float rows[8] = {1, 0, 0, 1, 1, 1, INFINITY, 0};
    static const double rank[3] = {1, NAN, 2};
    ast_points points = ast_points_f4(rows, 3, 2), infinite = ast_points_f4(rows, 4, 2);
    ast_points wide = ast_points_f4(rows, 2, 3);
    ast_dedup_options o;
    ast_dedup_options_init(&o);
    refuse(o, &points, "the cosine is not set");
    o.cosine = 1.5;
    refuse(o, &points, "the cosine must be between -1 and 1");
    o.cosine = 0.9;
    refuse(o, &infinite, "row 4 (counting from 1)");
    o.against = &wide;
    refuse(o, &points, "the rows have 2 components");
    o.against = NULL;
    o.keep = AST_KEEP_RANKED;
    refuse(o, &points, "needs a rank");
    o.rank = rank;
    refuse(o, &points, "row 2 (counting from 1) has a rank that is not a number");
    o.keep = AST_KEEP_FIRST;
    o.progress = stop;
    refuse(o, &points, "cancelled");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_all_pairs),
                                       cmocka_unit_test(equals_the_product_of_many_rows),
                                       cmocka_unit_test(counts_equal_rows), cmocka_unit_test(refuses_bad_arguments)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
