/* SPDX-License-Identifier: MIT
 *
 * The primitives of the model room, against plain loops: the nearest mean of all points and of some, before and after a
 * pass and without any cluster; sums by any labels; a snapshot that takes a pass back; labels that are adopted. */
#include "edit.h"

#include "methods.h"
#include "reference/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400, WIDEST = 24, CLUSTERS = 12 };

typedef struct scene {
    size_t count, dimension, clusters;
    bool axial;
    float x[MOST * WIDEST], means[CLUSTERS * WIDEST];
    ast_labelling *labelling;
    ast_fault fault;
} scene;

static void draw_row(ast_random *random, size_t dimension, float *row) {
    double squared = 0;
    for (size_t d = 0; d < dimension; d++) {
        row[d] = (float)ast_random_normal(random);
        squared += (double)row[d] * (double)row[d];
    }
    for (size_t d = 0; d < dimension; d++)
        row[d] = (float)((double)row[d] / sqrt(squared));
}

static void open_scene(scene *s, ast_random *random, ast_pool *pool, size_t clusters) {
    s->count = 1 + ast_random_below(random, MOST);
    s->dimension = ast_random_below(random, 2) ? 3 : 5 + ast_random_below(random, WIDEST - 4);
    s->axial = ast_random_below(random, 2);
    s->clusters = clusters;
    for (size_t i = 0; i < s->count; i++) {
        draw_row(random, s->dimension, s->x + i * s->dimension);
        if (ast_random_below(random, 15) == 0)
            s->x[i * s->dimension] = NAN;
    }
    for (size_t k = 0; k < clusters; k++)
        draw_row(random, s->dimension, s->means + k * s->dimension);
    ast_points points = ast_points_f4(s->x, s->count, s->dimension);
    ast_labelling_input input = {
        .kernels = ast_kernels_choose("base"), .pool = pool, .points = &points, .axial = s->axial};
    s->labelling = ast_labelling_new();
    assert_non_null(s->labelling);
    assert_int_equal(ast_labelling_load(s->labelling, &input, &s->fault), AST_OK);
    ast_labelling_set_rule(s->labelling, &ast_dp_rule, 55);
    assert_int_equal(ast_labelling_add_means(s->labelling, s->means, clusters, &s->fault), AST_OK);
}

/* The first cluster of the largest exact score among those that are allowed; AST_NOBODY if it does not fit. */
static int32_t nearest_of(const ast_labelling_view *v, size_t i, const uint8_t *left_out, double *score) {
    float row[WIDEST];
    const float *x = ast_rowset_row(v->rows, i, row);
    int32_t best = AST_NOBODY;
    *score = -INFINITY;
    for (size_t k = 0; k < v->clusters->live; k++) {
        int32_t slot = v->clusters->order[k];
        double cosine = ast_exact_score(x, v->clusters->means + (size_t)slot * v->rows->dimension, v->rows->dimension);
        cosine = v->rows->axial ? fabs(cosine) : cosine;
        if (!(left_out && left_out[slot]) && cosine > *score) {
            *score = cosine;
            best = slot;
        }
    }
    return *score >= v->limit ? best : AST_NOBODY;
}

static void check_all(scene *s, uint64_t seed) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    int32_t *labels = malloc(v.rows->padded * sizeof *labels);
    float scores[MOST];
    ast_nearest_query query = {.labels = labels, .scores = scores};
    assert_int_equal(ast_labelling_nearest(s->labelling, &query, &s->fault), AST_OK);
    for (size_t i = 0; i < v.rows->count; i++) {
        double score = NAN;
        int32_t want = v.labels[i] == AST_MISSING ? AST_MISSING : nearest_of(&v, i, NULL, &score);
        if (labels[i] != want)
            fail_msg("seed %llu: point %zu is %d instead of %d", (unsigned long long)seed, i, labels[i], want);
        if (v.clusters->live && v.labels[i] != AST_MISSING)
            assert_true(scores[i] == (float)score);
        else
            assert_true(isnan(scores[i]));
    }
    free(labels);
}

static void check_some(scene *s, ast_random *random) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    uint8_t *rows = calloc(v.rows->padded, 1), *left_out = calloc(v.clusters->slots + 1, 1);
    int32_t *labels = malloc(v.rows->padded * sizeof *labels);
    ast_mean_table table = {0};
    ast_mean_table_clear(&table, v.rows->dimension, v.rows->axial);
    for (size_t k = 0; k < v.clusters->live; k++) {
        int32_t slot = v.clusters->order[k];
        left_out[slot] = ast_random_below(random, 2) == 0;
        if (!left_out[slot])
            assert_true(ast_mean_table_append(&table, v.clusters->means + (size_t)slot * v.rows->dimension, slot));
    }
    for (size_t i = 0; i < v.rows->count; i++)
        rows[i] = v.labels[i] != AST_MISSING && ast_random_below(random, 2);
    ast_nearest_query query = {.labels = labels, .rows = rows, .means = &table};
    assert_int_equal(ast_labelling_nearest(s->labelling, &query, &s->fault), AST_OK);
    for (size_t i = 0; i < v.rows->count; i++) {
        double score;
        if (rows[i])
            assert_int_equal(labels[i], nearest_of(&v, i, left_out, &score));
    }
    ast_mean_table_free(&table);
    free(rows);
    free(left_out);
    free(labels);
}

static ast_status sum_labels(scene *s, const int32_t *labels, const uint8_t *signs, ast_sums *of) {
    ast_status status = ast_labelling_sums_begin(s->labelling, of, &s->fault);
    if (status == AST_OK)
        status = ast_labelling_sums_add(s->labelling, labels, signs, of, &s->fault);
    return ast_labelling_sums_end(s->labelling, of, status, &s->fault);
}

/* Sums by random labels, and the clusters are as they were. */
static void check_sums(scene *s, ast_random *random) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    size_t dimension = v.rows->dimension, slots = v.clusters->slots;
    int32_t *labels = malloc(v.rows->padded * sizeof *labels);
    int64_t *sums = calloc(slots * dimension + 1, sizeof *sums), *members = calloc(slots + 1, sizeof *members);
    int64_t *before = malloc((slots * dimension + 1) * sizeof *before);
    memcpy(before, v.clusters->sums, slots * dimension * sizeof *before);
    for (size_t i = 0; i < v.rows->padded; i++) {
        bool counts = i < v.rows->count && v.labels[i] != AST_MISSING && slots && ast_random_below(random, 4);
        labels[i] = counts ? (int32_t)ast_random_below(random, slots) : AST_MISSING;
        if (!counts)
            continue;
        float row[WIDEST];
        const float *x = ast_rowset_row(v.rows, i, row);
        bool flipped = v.rows->axial && ast_is_flipped(v.signs, i);
        members[labels[i]]++;
        for (size_t d = 0; d < dimension; d++)
            sums[(size_t)labels[i] * dimension + d] += (flipped ? -1 : 1) * llrint((double)x[d] * AST_SUMS_UNIT);
    }
    ast_sums of = {0};
    if (slots)
        assert_int_equal(sum_labels(s, labels, v.signs, &of), AST_OK);
    for (size_t k = 0; k < slots; k++) {
        assert_int_equal(of.members[k], members[k]);
        assert_memory_equal(of.sums + k * dimension, sums + k * dimension, dimension * sizeof *sums);
    }
    assert_memory_equal(before, v.clusters->sums, slots * dimension * sizeof *before);
    ast_sums_free(&of);
    free(labels);
    free(sums);
    free(members);
    free(before);
}

/* A pass more, and back. */
static void check_snapshot(scene *s) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    size_t live = v.clusters->live, count = v.rows->count;
    int32_t *labels = malloc(v.rows->padded * sizeof *labels);
    float *means = malloc((v.clusters->slots * v.rows->dimension + 1) * sizeof *means);
    size_t bytes = v.clusters->slots * v.rows->dimension * sizeof *means;
    memcpy(labels, v.labels, count * sizeof *labels);
    memcpy(means, v.clusters->means, bytes);
    ast_pass_result pass;
    ast_snapshot *snapshot = ast_labelling_snapshot(s->labelling);
    assert_non_null(snapshot);
    assert_int_equal(ast_labelling_pass(s->labelling, AST_ORDERED, &pass, &s->fault), AST_OK);
    assert_int_equal(ast_labelling_update(s->labelling, &s->fault), AST_OK);
    ast_labelling_restore(s->labelling, snapshot);
    free(snapshot);
    assert_int_equal(v.clusters->live, live);
    assert_memory_equal(labels, v.labels, count * sizeof *labels);
    assert_memory_equal(means, v.clusters->means, bytes);
    free(labels);
    free(means);
}

static void primitives_equal_plain_loops(void **state) {
    (void)state;
    ast_pool *pool;
    assert_int_equal(ast_pool_open(&pool, 3), AST_OK);
    for (uint64_t seed = 1; seed <= ref_case_count(150); seed++) {
        scene s;
        ast_random random;
        ast_pass_result pass;
        ast_random_seed(&random, seed, 0);
        open_scene(&s, &random, pool, seed % 5 == 0 ? 0 : 1 + ast_random_below(&random, CLUSTERS));
        check_all(&s, seed);
        assert_int_equal(ast_labelling_pass(s.labelling, AST_ORDERED, &pass, &s.fault), AST_OK);
        assert_int_equal(ast_labelling_update(s.labelling, &s.fault), AST_OK);
        check_all(&s, seed); /* points have labels now */
        check_some(&s, &random);
        check_sums(&s, &random);
        check_snapshot(&s);
        ast_labelling_free(s.labelling);
    }
    ast_pool_close(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(primitives_equal_plain_loops)};
    return cmocka_run_group_tests_name("seam", tests, NULL, NULL);
}
