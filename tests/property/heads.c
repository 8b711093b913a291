/* SPDX-License-Identifier: MIT
 *
 * Heads and tails: the reach of a mean is never below its exact score, whatever the rows and however good the axes; the
 * kernels find the mean of the largest reach and list every rival, on every instruction set. Whole runs with heads are
 * compared with the reference by property/batch_heads and its like. */
#include "reference/harness.h"

#include "heads.h"
#include "labelling.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, MEANS = 70, ROOM = 80 };

/* Rows of a case: one below the other, points first. */
typedef struct scene {
    size_t dimension;
    float *rows; /* (ROWS + MEANS, D) unit vectors */
    const float *row[ROWS + MEANS];
    ast_heads heads;
    ast_table table;
    float *points; /* (ROWS, second) heads */
} scene;

enum { ANY, FEW_AXES, ONE_CONE, COPIES, COORDINATES, KINDS };

static void draw(ast_random *random, int kind, const float *earlier, size_t dimension, float *to) {
    double x[AST_MOST_AXES + 64];
    ref_random_direction(random, x, dimension);
    for (size_t d = 0; d < dimension; d++) {
        if (kind == FEW_AXES)
            x[d] *= pow(0.7, (double)d);
        else if (kind == ONE_CONE)
            x[d] = 1 + 1e-3 * x[d];
        else if (kind == COPIES)
            x[d] = (double)earlier[d] + 1e-7 * x[d];
        else if (kind == COORDINATES)
            x[d] = 0;
    }
    if (kind == COORDINATES)
        x[ast_random_below(random, dimension)] = ast_random_below(random, 2) ? 1 : -1;
    ref_make_unit(x, dimension);
    for (size_t d = 0; d < dimension; d++)
        to[d] = (float)x[d];
}

static void open_scene(scene *s, uint64_t seed, const ast_kernels *kernels, bool axial) {
    ast_random random;
    ast_random_seed(&random, seed, 3);
    memset(s, 0, sizeof *s);
    size_t dimension = s->dimension = 5 + (size_t)ast_random_below(&random, seed % 4 ? 60 : 300);
    int kind = (int)ast_random_below(&random, KINDS);
    s->rows = ref_take((ROWS + MEANS) * dimension, sizeof *s->rows);
    for (size_t i = 0; i < ROWS + MEANS; i++) {
        bool first = i == 0 || ast_random_below(&random, 4) == 0;
        const float *earlier = i ? s->rows + ast_random_below(&random, i) * dimension : s->rows;
        draw(&random, first && kind == COPIES ? ANY : kind, earlier, dimension, s->rows + i * dimension);
        s->row[i] = s->rows + i * dimension;
    }
    size_t most = dimension < AST_MOST_AXES ? dimension : AST_MOST_AXES;
    most = most < AST_PANEL ? AST_PANEL : most / AST_PANEL * AST_PANEL;
    assert_true(ast_basis_find(&s->heads.axes, kernels, s->row + ROWS, MEANS, dimension, most));
    s->heads.version = 1;
    s->heads.second = AST_PANEL * (1 + (size_t)ast_random_below(&random, most / AST_PANEL));
    s->heads.first = 4 * (1 + (size_t)ast_random_below(&random, s->heads.second / 4));
    s->heads.slack = ast_score_error(most) + (float)s->heads.axes.skew + 0x1p-20f;
    ast_table_clear(&s->table, dimension, axial);
    for (size_t k = 0; k < MEANS; k++)
        assert_true(ast_table_append(&s->table, s->row[ROWS + k], (int32_t)(3 * k)));
    assert_true(ast_mean_heads_sync(&s->heads, kernels, &s->table));
    s->points = ref_take(ROWS * s->heads.second, sizeof *s->points);
    ast_heads_project(&s->heads.axes, kernels, s->row, ROWS, s->heads.second, s->points);
}

static void close_scene(scene *s) {
    ast_heads_free(&s->heads);
    ast_table_free(&s->table);
    free(s->rows);
    free(s->points);
}

static double exact(const scene *s, size_t i, size_t k) {
    double score = ast_exact_score(s->row[i], s->row[ROWS + k], s->dimension);
    return s->table.axial ? fabs(score) : score;
}

/* The most that a score can be, by the definition. */
static double reach(const scene *s, size_t i, size_t k, size_t width) {
    const float *a = s->points + i * s->heads.second, *b = s->table.heads->rows + k * s->heads.second;
    double product = 0;
    for (size_t d = 0; d < width; d++)
        product += (double)a[d] * (double)b[d];
    product = s->table.axial ? fabs(product) : product;
    return product +
           (double)ast_tail_length(&s->heads.axes, a, width) * (double)ast_tail_length(&s->heads.axes, b, width);
}

static void check_reach(const scene *s, uint64_t seed) {
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < MEANS; k++)
            for (size_t width = 4; width <= s->heads.second; width += 4)
                if (reach(s, i, k, width) + (double)s->heads.slack < exact(s, i, k))
                    fail_msg("seed %llu, D = %zu: the reach of mean %zu from row %zu over %zu coordinates is %.9g, its "
                             "score %.9g",
                             (unsigned long long)seed, s->dimension, k, i, width, reach(s, i, k, width),
                             exact(s, i, k));
}

/* Kernels: rounding may tell either way only within the slack. */
static void check_kernels(scene *s, const ast_kernels *kernels, uint64_t seed) {
    ast_rival *rivals = ref_take(ROWS * ROOM, sizeof *rivals);
    float *scratch = aligned_alloc(64, AST_ROW_SCRATCH * sizeof *scratch);
    float tails[ROWS], limits[ROWS], passed[ROWS], best[ROWS + 8], second[ROWS + 8];
    int32_t id[ROWS + 8];
    size_t counts[ROWS], width = s->heads.first;
    const float *rows[ROWS];
    double slack = (double)s->heads.slack;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = s->points + i * s->heads.second;
        tails[i] = ast_tail_length(&s->heads.axes, rows[i], width);
        limits[i] = (float)reach(s, i, (i * 7) % MEANS, width) - 1e-3f;
    }
    ast_head_tile tile = {rows,   tails,  ROWS,   width, &s->table.heads->panels, s->table.heads->tails[0],
                          limits, rivals, counts, ROOM};
    kernels->heads.best(&tile, (ast_scores){best, second, id}, scratch);
    kernels->heads.rivals(&tile, passed, scratch);
    for (size_t i = 0; i < ROWS; i++) {
        double most = -4;
        size_t listed = 0;
        for (size_t k = 0; k < MEANS; k++) {
            double r = reach(s, i, k, width);
            bool is_listed = listed < counts[i] && rivals[i * ROOM + listed].mean == k;
            listed += is_listed;
            most = fmax(most, r);
            if ((r > (double)limits[i] + slack && !is_listed) || (r < (double)limits[i] - slack && is_listed))
                fail_msg("seed %llu, %s: mean %zu of row %zu reaches %.9g, the limit is %.9g, listed %d",
                         (unsigned long long)seed, kernels->name, k, i, r, (double)limits[i], is_listed);
            if (!is_listed && (double)passed[i] < r - slack)
                fail_msg("seed %llu, %s: mean %zu of row %zu reaches %.9g and was passed with %.9g",
                         (unsigned long long)seed, kernels->name, k, i, r, (double)passed[i]);
        }
        assert_int_equal(listed, counts[i]);
        assert_true(reach(s, i, (size_t)id[i], width) >= most - slack);
    }
    free(rivals);
    free(scratch);
}

static void heads_bound_scores(void **state) {
    (void)state;
    const char *const sets[] = {"base", REF_FAST};
    for (uint64_t seed = 1; seed <= ref_case_count(400); seed++) {
        scene s;
        const ast_kernels *kernels = ast_kernels_choose(sets[seed % 2]);
        open_scene(&s, seed, kernels, seed % 3 == 0);
        check_reach(&s, seed);
        check_kernels(&s, kernels, seed);
        close_scene(&s);
    }
}

/* A mean that is nobody is no rival; one that was replaced has the head of the other. */
static void heads_follow_their_table(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(60); seed++) {
        scene s;
        const ast_kernels *kernels = ast_kernels_choose(NULL);
        open_scene(&s, seed, kernels, false);
        size_t k = seed % MEANS, other = (seed * 13 + 1) % MEANS;
        ast_table_replace(&s.table, k, s.row[ROWS + other]);
        assert_true(ast_mean_heads_sync(&s.heads, kernels, &s.table));
        assert_memory_equal(s.table.heads->rows + k * s.heads.second, s.table.heads->rows + other * s.heads.second,
                            s.heads.second * sizeof(float));
        ast_table_vacate(&s.table, k);
        assert_true(s.table.heads->panels.bias[k] <= AST_NO_SCORE);
        assert_int_equal(s.table.heads->count, MEANS);
        ast_table_clear(&s.table, s.dimension, false);
        assert_int_equal(s.table.heads->count, 0);
        close_scene(&s);
    }
}

/* ---- Bounds that a pass leaves behind -----------------------------------------------------------------------------
 */

static ast_verdict nearest(void *unused, const ast_candidates *candidates) {
    (void)unused;
    return ast_nearest_candidate(candidates);
}

static ast_verdict nearest_or_new(void *unused, const ast_candidates *candidates) {
    ast_verdict v = nearest(unused, candidates);
    v.action = v.score >= candidates->limit ? AST_JOIN : candidates->alone ? AST_STAY : AST_START;
    return v;
}

/* Means of which many are nearly equally far from a point: most contests are close. */
static void make_close(ast_random *random, size_t count, size_t dimension, double middle, float *rows) {
    for (size_t i = 0; i < count; i++) {
        double x[64];
        ref_random_direction(random, x, dimension);
        for (size_t d = 0; d < dimension; d++)
            x[d] = middle + (middle > 0 ? pow(10, -1 - (double)(i % 7)) : 1) * x[d];
        ref_make_unit(x, dimension);
        for (size_t d = 0; d < dimension; d++)
            rows[i * dimension + d] = (float)x[d];
    }
}

/* The second score of every point is at least that of every given mean but its own: later passes rely on it. */
static void check_bounds(const ast_labelling *l, const float *rows, size_t count, size_t given, uint64_t seed) {
    size_t dimension = l->rows.dimension;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < given; k++) {
            double score = ast_exact_score(rows + i * dimension, l->clusters.means + k * dimension, dimension);
            double bound = (double)l->scorer.bounds.scores.second[i] + (double)ast_score_error(dimension);
            if (l->labels[i] != (int32_t)k && score > bound)
                fail_msg("seed %llu: point %zu scores %.9g with mean %zu, and its bound is %.9g",
                         (unsigned long long)seed, i, score, k, bound);
        }
}

static void passes_leave_bounds(void **state) {
    enum { N = 300, K = 50, D = 40 };
    static float rows[N * D], means[K * D];
    static const ast_rule rules[] = {{.decide = nearest}, {.decide = nearest_or_new, .far_starts = true}};
    ast_pool *pool;
    (void)state;
    assert_int_equal(ast_pool_open(&pool, 2), AST_OK);
    for (uint64_t seed = 1; seed <= ref_case_count(40); seed++) {
        ast_random random;
        ast_labelling l = {0};
        ast_fault fault;
        ast_pass_result result;
        ast_random_seed(&random, seed, 5);
        bool births = seed % 2; /* about half of the points fit no mean, most of these nearly */
        make_close(&random, N, D, births ? 0 : 1, rows);
        make_close(&random, K, D, births ? 0 : 1, means);
        ast_points points = ast_points_f4(rows, N, D);
        ast_input input = {
            .kernels = ast_kernels_choose(NULL), .pool = pool, .points = &points, .heads = 4 + seed % 12};
        assert_int_equal(ast_labelling_load(&l, &input, &fault), AST_OK);
        ast_labelling_set_rule(&l, &rules[births], births ? 68 : NAN);
        assert_true(ast_clusters_add_means(&l.clusters, means, K));
        assert_int_equal(ast_labelling_pass(&l, AST_ORDERED, &result, &fault), AST_OK);
        assert_true(l.scorer.heads.on);
        check_bounds(&l, rows, N, K, seed);
        ast_labelling_free(&l);
    }
    ast_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(heads_bound_scores), cmocka_unit_test(heads_follow_their_table),
                                       cmocka_unit_test(passes_leave_bounds)};
    return cmocka_run_group_tests(tests, NULL, ref_contexts_end);
}
