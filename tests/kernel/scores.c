/* SPDX-License-Identifier: MIT
 *
 * Scores against means: within the promised error of double ones, the right id wherever the promise allows to tell, and
 * therefore the same decisions from every table. */
#include "common.h"
#include "reference/harness.h"

#include "sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MEANS 100
#define ODD_BASE 1000 /* ids are no indices: 1000, 1007, .. */

static const size_t mean_counts[] = {0, 1, 2, 15, 16, 17, 33, 100};
#define MEAN_COUNTS (sizeof mean_counts / sizeof *mean_counts)

/* Points, means and what the scores of all pairs are. */
typedef struct scene {
    size_t dimension;
    float *points;  /* (MOST_POINTS, D) */
    float *means;   /* (MOST_MEANS, D) */
    double *scores; /* (MOST_POINTS, MOST_MEANS) */
} scene;

static int32_t id_of(size_t k) {
    return ODD_BASE + 7 * (int32_t)k;
}

/* Every fifth mean repeats an earlier one, so that many points have two best ones exactly; every fourth point is a mean
 * and every eighth lies halfway between two: scores near 1, and margins near the error. */
static void open_scene(scene *s, size_t dimension) {
    ast_random random;
    ast_random_seed(&random, 11, dimension);
    *s = (scene){dimension, malloc(MOST_POINTS * dimension * sizeof(float)),
                 malloc(MOST_MEANS * dimension * sizeof(float)), malloc(MOST_POINTS * MOST_MEANS * sizeof(double))};
    assert_true(s->points && s->means && s->scores);
    for (size_t k = 0; k < MOST_MEANS; k++) {
        random_unit(&random, s->means + k * dimension, dimension);
        if (k % 5 == 4)
            memcpy(s->means + k * dimension, s->means + ast_random_below(&random, k) * dimension,
                   dimension * sizeof(float));
    }
    for (size_t i = 0; i < MOST_POINTS; i++) {
        float *x = s->points + i * dimension;
        const float *a = s->means + i % 17 * dimension, *b = s->means + i % 15 * dimension;
        random_unit(&random, x, dimension);
        if (i % 4 == 1)
            memcpy(x, a, dimension * sizeof *x);
        double length = 0;
        for (size_t d = 0; d < dimension; d++)
            length += ((double)a[d] + b[d]) * ((double)a[d] + b[d]);
        for (size_t d = 0; i % 8 == 2 && length > 0.01 && d < dimension; d++)
            x[d] = (float)(((double)a[d] + b[d]) / sqrt(length));
    }
    for (size_t i = 0; i < MOST_POINTS; i++)
        for (size_t k = 0; k < MOST_MEANS; k++) {
            double sum = 0;
            for (size_t d = 0; d < dimension; d++)
                sum += (double)s->points[i * dimension + d] * (double)s->means[k * dimension + d];
            s->scores[i * MOST_MEANS + k] = sum;
        }
}

static void close_scene(scene *s) {
    free(s->points);
    free(s->means);
    free(s->scores);
}

/* The first `count` means in the layout that the header describes, guarded and no longer than it says. */
static ast_mean_table make_table(const scene *s, size_t count) {
    size_t capacity = (count + AST_PANEL - 1) / AST_PANEL * AST_PANEL, dimension = s->dimension;
    bool small = dimension <= AST_SMALL;
    ast_mean_table table = {dimension,
                            count,
                            capacity,
                            guarded_ints(NULL, capacity),
                            guarded_floats(NULL, capacity * dimension),
                            guarded_floats(NULL, small ? 0 : capacity),
                            false,
                            NULL};
    for (size_t k = 0; k < capacity; k++) {
        bool used = k < count;
        table.ids[k] = used ? id_of(k) : AST_NOBODY;
        if (!small)
            table.bias[k] = used ? 0 : AST_NO_SCORE;
        for (size_t d = 0; d < dimension; d++) {
            size_t at = small ? d * capacity + k : (k / AST_PANEL * dimension + d) * AST_PANEL + k % AST_PANEL;
            if (used || !small) /* nobody looks at unused columns of a small table */
                table.means[at] = used ? s->means[k * dimension + d] : 0;
        }
    }
    return table;
}

typedef struct answer {
    double best, second;
    size_t mean; /* the first best */
} answer;

static answer oracle(const scene *s, size_t i, size_t count) {
    answer a = {AST_NO_SCORE, AST_NO_SCORE, SIZE_MAX};
    for (size_t k = 0; k < count; k++) {
        double score = s->scores[i * MOST_MEANS + k];
        if (score > a.best || a.mean == SIZE_MAX) {
            a.second = a.best;
            a.best = score;
            a.mean = k;
        } else if (score > a.second) {
            a.second = score;
        }
    }
    return a;
}

static bool same_mean(const scene *s, size_t a, size_t b) {
    size_t dimension = s->dimension;
    return memcmp(s->means + a * dimension, s->means + b * dimension, dimension * sizeof(float)) == 0;
}

/* The id is that of a mean whose exact score is the point's best one, as far as the error lets one tell. */
static bool plausible(const scene *s, size_t i, size_t count, int32_t id, double best, double error) {
    for (size_t k = 0; k < count; k++)
        if (id_of(k) == id)
            return s->scores[i * MOST_MEANS + k] >= best - 2 * error;
    return false;
}

static void check_point(const scene *s, size_t i, size_t count, ast_scores out, const char *name) {
    answer right = oracle(s, i, count);
    double error = ast_score_error(s->dimension), best = out.best[i], second = out.second[i];
    bool fine = fabs(best - right.best) <= error && fabs(second - right.second) <= error;
    if (count == 0)
        fine = out.best[i] == AST_NO_SCORE && out.second[i] == AST_NO_SCORE && out.id[i] == AST_NOBODY;
    else
        fine = fine && plausible(s, i, count, out.id[i], right.best, error);
    if (count == 1)
        fine = fine && out.second[i] == AST_NO_SCORE;
    if (count > 0 && (best - second > 2 * error || right.best - right.second > 2 * error))
        fine = fine && out.id[i] == id_of(right.mean); /* what a caller takes for certain, is */
    if (!fine)
        fail_msg("%s, D = %zu, K = %zu, point %zu: %.9g %.9g %d, not %.9g %.9g", name, s->dimension, count, i, best,
                 second, out.id[i], right.best, right.second);
}

/* Equal means have equal scores to the last bit: nobody may take such a best one for certain. */
static void check_ties(const scene *s, size_t i, size_t count, ast_scores out, bool first_wins) {
    for (size_t k = 0; k < count; k++)
        for (size_t j = 0; j < k; j++)
            if (same_mean(s, j, k) && (out.id[i] == id_of(j) || out.id[i] == id_of(k))) {
                assert_true(out.best[i] == out.second[i]);
                assert_false(first_wins && out.id[i] == id_of(k));
            }
}

static void check_all(const scene *s, size_t n, size_t count, ast_scores out, const char *name) {
    for (size_t i = 0; i < n; i++) {
        check_point(s, i, count, out, name);
        if (n == MOST_POINTS)
            check_ties(s, i, count, out, s->dimension <= AST_SMALL);
    }
}

static void test_score_columns(void **state) {
    (void)state;
    for (size_t dimension = 2; dimension <= AST_SMALL; dimension++) {
        scene s;
        open_scene(&s, dimension);
        for (size_t c = 0; c < MEAN_COUNTS; c++)
            for (size_t n = 0; n <= MOST_POINTS; n++)
                for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
                    const float *x[AST_SMALL];
                    guarded_columns(s.points, n, dimension, x);
                    ast_mean_table table = make_table(&s, mean_counts[c]);
                    ast_scores out = guarded_scores(n, true);
                    (*kernels)->score_columns[dimension](x, n, &table, out);
                    check_all(&s, n, table.count, out, (*kernels)->name);
                    release_all();
                }
        close_scene(&s);
    }
}

static const float **guarded_rows(const scene *s, size_t n) {
    const float **rows = guarded(n * sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = guarded_floats(s->points + i * s->dimension, s->dimension);
    return rows;
}

static void score_some_rows(const scene *s, size_t n, size_t count, const ast_kernels *kernels) {
    const float **rows = guarded_rows(s, n);
    ast_mean_table table = make_table(s, count);
    ast_scores out = guarded_scores(n, false);
    float *scratch = guarded_floats(NULL, AST_ROW_SCRATCH);
    assert_true((uintptr_t)scratch % 32 == 0);
    kernels->score_rows(rows, n, &table, out, scratch);
    check_all(s, n, count, out, kernels->name);
    release_all();
}

/* Every n for the dimensions where it costs little; for others, n around a group of rows and around the tiles. */
static bool skipped(size_t dimension, size_t n) {
    bool near_tile = n % 96 <= 1 || n % 96 == 95 || n == MOST_POINTS || (n % 6 <= 1 && n <= 25);
    return dimension > 100 && n > 14 && !near_tile;
}

static void test_score_rows(void **state) {
    (void)state;
    static const size_t dimensions[] = {5, 7, 8, 15, 16, 17, 33, 100, 300, 4096};
    for (size_t j = 0; j < sizeof dimensions / sizeof *dimensions; j++) {
        scene s;
        open_scene(&s, dimensions[j]);
        for (size_t c = 0; c < MEAN_COUNTS; c++)
            for (size_t n = 0; n <= MOST_POINTS; n++)
                for (const ast_kernels *const *kernels = all_tables; *kernels && !skipped(s.dimension, n); kernels++)
                    score_some_rows(&s, n, mean_counts[c], *kernels);
        close_scene(&s);
    }
}

/* Negative scores only: unused columns must not win, and nobody's score stays below. */
static void test_opposite_means(void **state) {
    (void)state;
    for (size_t dimension = 2; dimension <= 20; dimension++) {
        scene s;
        open_scene(&s, dimension);
        for (size_t i = 0; i < MOST_POINTS * dimension; i++)
            s.points[i] = -s.means[i % dimension];
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++) {
            ast_mean_table table = make_table(&s, 1);
            ast_scores out = guarded_scores(9, true);
            const float *x[AST_SMALL];
            if (dimension <= AST_SMALL) {
                guarded_columns(s.points, 9, dimension, x);
                (*kernels)->score_columns[dimension](x, 9, &table, out);
            } else {
                (*kernels)->score_rows(guarded_rows(&s, 9), 9, &table, out, guarded_floats(NULL, AST_ROW_SCRATCH));
            }
            for (size_t i = 0; i < 9; i++) {
                assert_true(fabsf(out.best[i] + 1) <= ast_score_error(dimension) + 0x1p-22f);
                assert_int_equal(out.id[i], id_of(0));
            }
            release_all();
        }
        close_scene(&s);
    }
}

/* Takes most components away, all of every ninth point's, and scores anew. */
static void thin_out(scene *s) {
    ast_random random;
    ast_random_seed(&random, 12, s->dimension);
    for (size_t i = 0; i < MOST_POINTS * s->dimension; i++)
        if (ast_random_below(&random, 10) < 7 || i / s->dimension % 9 == 0)
            s->points[i] = 0;
    for (size_t i = 0; i < MOST_POINTS; i++)
        for (size_t k = 0; k < MOST_MEANS; k++)
            s->scores[i * MOST_MEANS + k] =
                ast_exact_score(s->points + i * s->dimension, s->means + k * s->dimension, s->dimension);
}

/* A point's components that are not zero, guarded. */
static ast_sparse_row guarded_sparse(const scene *s, size_t i) {
    const float *x = s->points + i * s->dimension;
    size_t count = 0, at = 0;
    for (size_t d = 0; d < s->dimension; d++)
        count += x[d] != 0;
    float *values = guarded_floats(NULL, count);
    int32_t *columns = guarded_ints(NULL, count);
    for (size_t d = 0; d < s->dimension; d++)
        if (x[d] != 0) {
            values[at] = x[d];
            columns[at++] = (int32_t)d;
        }
    return (ast_sparse_row){values, columns, count};
}

static void score_some_sparse(const scene *s, size_t n, size_t count, const ast_kernels *kernels) {
    ast_sparse_row *rows = guarded(n * sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = guarded_sparse(s, i);
    ast_mean_table table = make_table(s, count);
    ast_scores out = guarded_scores(n, false);
    kernels->score_sparse(rows, n, &table, out, guarded_floats(NULL, AST_ROW_SCRATCH));
    check_all(s, n, count, out, kernels->name);
    release_all();
}

static void test_score_sparse(void **state) {
    (void)state;
    static const size_t dimensions[] = {5, 17, 100, 1000}, numbers[] = {0, 1, 2, 7, 95, 96, 97, 130};
    for (size_t j = 0; j < sizeof dimensions / sizeof *dimensions; j++) {
        scene s;
        open_scene(&s, dimensions[j]);
        thin_out(&s);
        for (size_t c = 0; c < MEAN_COUNTS; c++)
            for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
                for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
                    score_some_sparse(&s, numbers[n], mean_counts[c], *kernels);
        close_scene(&s);
    }
}

/* What adds in order has the bits of the dense rows. */
static void test_exact_sparse(void **state) {
    (void)state;
    for (size_t dimension = 5; dimension <= 1000; dimension = 3 * dimension + 1) {
        scene s;
        open_scene(&s, dimension);
        thin_out(&s);
        for (size_t i = 0; i < MOST_POINTS; i += 5) {
            ast_sparse_row row = guarded_sparse(&s, i);
            ast_mean_table table = make_table(&s, 33);
            double *scores = guarded(table.capacity * sizeof *scores);
            ast_sparse_exact_scores(&row, &table, scores);
            for (size_t k = 0; k < table.count; k++) {
                const float *mean = guarded_floats(s.means + k * dimension, dimension);
                double expected = s.scores[i * MOST_MEANS + k], one = ast_sparse_exact_score(&row, mean);
                double steady = all_tables[0]->reproducible_dot(s.points + i * dimension, mean, dimension);
                assert_true(one == expected && scores[k] == expected);
                assert_true(ast_sparse_reproducible_dot(&row, mean) == steady);
                assert_true(fabs((double)ast_sparse_dot(&row, mean) - expected) <= ast_score_error(row.count));
            }
            release_all();
        }
        close_scene(&s);
    }
}

static void test_exact_scores(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 3, 4, 5, 8, 17, 100, 300};
    for (size_t j = 0; j < sizeof dimensions / sizeof *dimensions; j++) {
        scene s;
        open_scene(&s, dimensions[j]);
        for (size_t c = 0; c < MEAN_COUNTS; c++) {
            ast_mean_table table = make_table(&s, mean_counts[c]);
            const float *x = guarded_floats(s.points, s.dimension);
            double *scores = guarded(table.capacity * sizeof *scores);
            ast_exact_scores(x, &table, scores);
            for (size_t k = 0; k < table.count; k++) {
                double one = ast_exact_score(x, guarded_floats(s.means + k * s.dimension, s.dimension), s.dimension);
                assert_memory_equal(&scores[k], &one, sizeof one);
                assert_memory_equal(&scores[k], &s.scores[k], sizeof one);
            }
            release_all();
        }
        close_scene(&s);
    }
}

/* Scores against two tables, joined, are those against the table of both; equal ones stay mine. */
static void merge_and_check(ast_random *random, size_t n, const ast_kernels *kernels) {
    ast_scores mine = guarded_scores(n, true), other = guarded_scores(n, true);
    float best[MOST_POINTS], second[MOST_POINTS];
    int32_t id[MOST_POINTS];
    for (size_t i = 0; i < n; i++) {
        float v[4]; /* few values, so that many are equal */
        for (int j = 0; j < 4; j++)
            v[j] = ast_random_below(random, 9) == 0 ? AST_NO_SCORE : (float)ast_random_below(random, 5) / 4 - 0.5f;
        mine.best[i] = fmaxf(v[0], v[1]), mine.second[i] = fminf(v[0], v[1]);
        other.best[i] = fmaxf(v[2], v[3]), other.second[i] = fminf(v[2], v[3]);
        mine.id[i] = (int32_t)i, other.id[i] = (int32_t)(i + 500);
        bool loses = other.best[i] > mine.best[i];
        id[i] = loses ? other.id[i] : mine.id[i];
        best[i] = loses ? other.best[i] : mine.best[i];
        second[i] = loses ? fmaxf(mine.best[i], other.second[i]) : fmaxf(other.best[i], mine.second[i]);
    }
    kernels->merge(mine, other, n);
    for (size_t i = 0; i < n; i++) {
        assert_true(mine.best[i] == best[i] && mine.second[i] == second[i]);
        assert_int_equal(mine.id[i], id[i]);
    }
    release_all();
}

static void test_merge(void **state) {
    (void)state;
    ast_random random;
    ast_random_seed(&random, 12, 0);
    for (size_t n = 0; n <= MOST_POINTS; n++)
        for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
            merge_and_check(&random, n, *kernels);
}

static void test_choice(void **state) {
    (void)state;
    const ast_kernels *fastest = all_tables[1] ? all_tables[1] : all_tables[0];
    assert_ptr_equal(ast_kernels_choose("base"), all_tables[0]);
    assert_ptr_equal(ast_kernels_choose("nonsense"), all_tables[0]);
    assert_ptr_equal(ast_kernels_choose(NULL), fastest);
    assert_ptr_equal(ast_kernels_choose(""), fastest);
    assert_ptr_equal(ast_kernels_choose(REF_FAST), fastest);
    for (const ast_kernels *const *kernels = all_tables; *kernels; kernels++)
        assert_ptr_equal(ast_kernels_choose((*kernels)->name), *kernels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),       cmocka_unit_test(test_score_columns),
        cmocka_unit_test(test_score_rows),   cmocka_unit_test(test_opposite_means),
        cmocka_unit_test(test_score_sparse), cmocka_unit_test(test_exact_sparse),
        cmocka_unit_test(test_exact_scores), cmocka_unit_test(test_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
