/* SPDX-License-Identifier: MIT
 *
 * Streams of many identities and frames of few rows leave the identities out that no row may join. What comes out is
 * the same, to the bit, as if all took part (bounds 0): labels, reports, records and states, with births, deaths,
 * merging, several means, forbidden rows and locked means. And ids that met never merge, however many they met. */
#include "stream_helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PEOPLE = 300, FRAMES = 40, ROWS = 12, SEEDS = 12, WIDEST = 40 };

typedef struct pair {
    ast_stream *fast, *slow;
    size_t dimension;
    uint64_t seed;
} pair;

static void draw(ast_random *random, const float *around, size_t dimension, double noise, float *x) {
    for (size_t d = 0; d < dimension; d++)
        x[d] = (float)((around ? (double)around[d] : 0) + noise * ast_random_normal(random));
}

static void check_records(const pair *p, int frame) {
    size_t one, other;
    const ast_tracked *a = ast_stream_clusters(p->fast, &one), *b = ast_stream_clusters(p->slow, &other);
    if (one != other)
        fail_msg("seed %llu, frame %d: %zu and %zu records", (unsigned long long)p->seed, frame, one, other);
    for (size_t r = 0; r < one; r++) {
        bool same = a[r].id == b[r].id && a[r].event == b[r].event && a[r].age == b[r].age &&
                    a[r].count == b[r].count && a[r].into == b[r].into && a[r].share == b[r].share &&
                    a[r].weight == b[r].weight && a[r].spread == b[r].spread;
        if (!same || memcmp(a[r].mean, b[r].mean, p->dimension * sizeof(float)) != 0)
            fail_msg("seed %llu, frame %d: the records of id %d differ", (unsigned long long)p->seed, frame, a[r].id);
    }
}

static void feed(pair *p, const float *x, const double *weights, size_t count, int frame) {
    int32_t labels[2][ROWS];
    ast_frame reports[2];
    for (int k = 0; k < 2; k++) {
        ast_points points = ast_points_f4(x, count, p->dimension);
        points.weights = weights;
        reports[k] = (ast_frame){.size = sizeof *reports};
        assert_int_equal(ast_stream_step(k ? p->slow : p->fast, &points, labels[k], &reports[k]), AST_OK);
        reports[k].seconds = 0;
    }
    assert_memory_equal(labels[0], labels[1], count * sizeof(int32_t));
    assert_memory_equal(&reports[0], &reports[1], sizeof *reports);
    check_records(p, frame);
    rules_bytes a = rules_save(p->fast), b = rules_save(p->slow);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    free(a.data);
    free(b.data);
}

static void change(const pair *p, ast_random *random, const float *people) {
    float x[3 * WIDEST];
    size_t count = 1 + ast_random_below(random, 3), ids;
    const float *who = people + ast_random_below(random, PEOPLE) * p->dimension;
    for (size_t i = 0; i < count; i++)
        draw(random, who, p->dimension, 0.4, x + i * p->dimension);
    uint64_t what = ast_random_below(random, 5), number = ast_random_below(random, 1000);
    for (int k = 0; k < 2; k++) {
        ast_stream *s = k ? p->slow : p->fast;
        ast_points points = ast_points_f4(x, count, p->dimension);
        const ast_identity *list = ast_stream_list(s, sizeof *list, &ids);
        int32_t id = list[number % ids].id, born = -1;
        ast_status status = what == 0   ? ast_stream_enroll(s, &points, NULL, &born)
                            : what == 1 ? ast_stream_enroll(s, &points, NULL, &id)
                            : what == 2 ? ast_stream_forbid(s, id, &points)
                            : what == 3 ? ast_stream_lock(s, id)
                                        : ast_stream_split(s, id, &points, 0, &born);
        assert_int_equal(status, AST_OK);
    }
}

static void run(uint64_t seed) {
    ast_random random;
    ast_random_seed(&random, seed, 77);
    pair p = {.dimension = 5 + ast_random_below(&random, WIDEST - 4), .seed = seed};
    double angle = 30 + (double)ast_random_below(&random, 50);
    ast_stream_options options = rules_options(p.dimension, angle, 2 + (uint32_t)ast_random_below(&random, 60));
    options.exclusive = seed % 2;
    options.merge_tracked = seed / 2 % 2;
    options.max_clusters = seed % 5 == 4 ? 250 : 0;
    options.born_after = seed % 3 == 2 ? 3 : 1;
    options.min_quality = seed % 4 == 3 ? 0.5 : 0;
    assert_int_equal(ast_stream_open(&p.fast, ref_context(REF_FAST, 3), &options), AST_OK);
    options.bounds = 0;
    assert_int_equal(ast_stream_open(&p.slow, ref_context("base", 1), &options), AST_OK);
    float *people = malloc(PEOPLE * WIDEST * sizeof *people), x[ROWS * WIDEST];
    for (size_t k = 0; k < PEOPLE; k++) {
        draw(&random, k % 7 == 6 ? people + (k - 1) * p.dimension : NULL, p.dimension, k % 7 == 6 ? 0.5 : 1,
             people + k * p.dimension);
        for (int s = 0; s < 2; s++) {
            int32_t id = -1;
            ast_points points = ast_points_f4(people + k * p.dimension, 1, p.dimension);
            assert_int_equal(ast_stream_enroll(s ? p.slow : p.fast, &points, NULL, &id), AST_OK);
        }
    }
    double weights[ROWS];
    for (int t = 0; t < FRAMES; t++) {
        size_t count = ast_random_below(&random, ROWS + 1);
        for (size_t i = 0; i < count; i++) {
            weights[i] = (double)ast_random_below(&random, 5) / 4;
            draw(&random, people + ast_random_below(&random, PEOPLE) * p.dimension, p.dimension, 0.5,
                 x + i * p.dimension);
            if (ast_random_below(&random, 20) == 0)
                x[i * p.dimension] = NAN;
        }
        feed(&p, x, seed % 4 == 3 ? weights : NULL, count, t);
        size_t ids;
        ast_stream_list(p.fast, sizeof(ast_identity), &ids);
        if (ids && ast_random_below(&random, 3) == 0)
            change(&p, &random, people);
    }
    ast_stream_close(p.fast);
    ast_stream_close(p.slow);
    free(people);
}

static void who_is_left_out_changes_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run(seed);
}

/* ---- Who met whom ------------------------------------------------------------------------------------------------ */

enum { CROWD = 70, PLACES = 20, MOMENTS = 150, IDS = 4000, SIDE = 12 };

/* Everybody meets more people than a list of ids holds. Pairs are alike, and rows are noisy, so that pieces come up and
 * heal. met (IDS, IDS): a slow record of who was in one frame with whom. Returns how many merged. */
static size_t watch_crowd(uint64_t seed, unsigned char *met) {
    ast_stream_options options = rules_options(SIDE, 65, 60);
    options.exclusive = options.merge_tracked = 1;
    ast_stream *stream = rules_open(&options);
    ast_random random;
    float people[CROWD * SIDE], x[CROWD * SIDE];
    int32_t labels[CROWD];
    size_t merged = 0, count;
    ast_random_seed(&random, seed, 78);
    memset(met, 0, (size_t)IDS * IDS);
    for (size_t k = 0; k < CROWD; k++)
        draw(&random, k % 2 ? people + (k - 1) * SIDE : NULL, SIDE, k % 2 ? 0.3 : 1, people + k * SIDE);
    for (int t = 0; t < MOMENTS; t++) {
        size_t rows = 0;
        for (size_t k = 0; k < CROWD; k++)
            if (ast_random_below(&random, CROWD) < PLACES)
                draw(&random, people + k * SIDE, SIDE, 0.6, x + rows++ * SIDE);
        rules_feed(stream, x, rows, SIDE, labels);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < rows; j++)
                met[labels[i] * IDS + labels[j]] = i != j;
        const ast_tracked *records = ast_stream_clusters(stream, &count);
        for (size_t r = 0; r < count; r++) {
            if (records[r].event != AST_MERGED)
                continue;
            int32_t from = records[r].id, into = records[r].into;
            if (met[from * IDS + into])
                fail_msg("seed %llu, frame %d: ids %d and %d met", (unsigned long long)seed, t, from, into);
            for (int32_t c = 0; c < IDS; c++)
                if (met[from * IDS + c])
                    met[into * IDS + c] = met[c * IDS + into] = 1;
            merged++;
        }
    }
    ast_stream_close(stream);
    return merged;
}

static void ids_that_met_never_merge(void **state) {
    (void)state;
    unsigned char *met = malloc((size_t)IDS * IDS);
    size_t merged = 0;
    assert_non_null(met);
    for (uint64_t seed = 1; seed <= 4; seed++)
        merged += watch_crowd(seed, met);
    assert_true(merged > 20);
    free(met);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_left_out_changes_nothing),
                                       cmocka_unit_test(ids_that_met_never_merge)};
    return cmocka_run_group_tests_name("streams of many identities", tests, NULL, ref_contexts_end);
}
