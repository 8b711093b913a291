/* SPDX-License-Identifier: MIT
 *
 * Rows of different quality in streams: weights, late rows, rows of low quality, ids after several sightings, small
 * clusters, rows without their common direction. Each is compared with the same stream fed in another way. */
#include "degree.h"
#include "stream_helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 12, PEOPLE = 8, FRAMES = 60 };

typedef struct frame {
    size_t count;
    float x[PEOPLE * D];
    double weights[PEOPLE];
    uint8_t late[PEOPLE];
} frame;

typedef struct story {
    frame frames[FRAMES];
} story;

/* Some of the people in each frame, with noise that is larger where the quality is low. */
static story *draw_story(uint64_t seed) {
    story *s = ref_take(1, sizeof *s);
    ast_random random;
    float people[PEOPLE * D];
    ast_random_seed(&random, seed, 130);
    for (size_t k = 0; k < PEOPLE * D; k++)
        people[k] = (float)ast_random_normal(&random);
    for (int t = 0; t < FRAMES; t++) {
        frame *f = &s->frames[t];
        f->count = 0;
        for (size_t k = 0; k < PEOPLE; k++) {
            if (ast_random_below(&random, 3))
                continue;
            double quality = (double)(ast_random_below(&random, 9)) / 8;
            for (size_t d = 0; d < D; d++)
                f->x[f->count * D + d] = people[k * D + d] + (float)((1.2 - quality) * ast_random_normal(&random));
            f->weights[f->count] = quality;
            f->late[f->count++] = quality < 0.3;
        }
    }
    return s;
}

static ast_stream_options options_for(bool exclusive) {
    ast_stream_options options = rules_options(D, 50, 30);
    options.exclusive = options.merge_tracked = exclusive;
    return options;
}

static ast_frame feed(ast_stream *stream, const frame *f, const double *weights, const uint8_t *late, int32_t *labels) {
    ast_frame report = {.size = sizeof report};
    ast_points points = ast_points_f4(f->x, f->count, D);
    points.weights = weights;
    points.late = late;
    if (ast_stream_step(stream, &points, labels, &report) != AST_OK)
        fail_msg("%s", ast_message(rules_context()));
    return report;
}

/* Saves and loads, into a new stream with the same options. */
static ast_stream *hop(ast_stream *stream, const ast_stream_options *options) {
    rules_bytes saved = rules_save(stream);
    ast_stream_close(stream);
    stream = rules_open(options);
    assert_int_equal(ast_stream_load(stream, saved.data, saved.size), AST_OK);
    rules_check_state(stream, &saved, "by loading it");
    free(saved.data);
    return stream;
}

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

static void weights_of_one_are_no_weights(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        story *s = draw_story(seed);
        ast_stream_options options = options_for(seed % 2);
        ast_stream *one = rules_open(&options), *other = rules_open(&options);
        double ones[PEOPLE];
        int32_t a[PEOPLE], b[PEOPLE];
        for (size_t i = 0; i < PEOPLE; i++)
            ones[i] = 1;
        for (int t = 0; t < FRAMES; t++) {
            feed(one, &s->frames[t], NULL, NULL, a);
            feed(other, &s->frames[t], ones, NULL, b);
            assert_memory_equal(a, b, s->frames[t].count * sizeof *a);
        }
        ast_stream_close(one);
        ast_stream_close(other);
        free(s);
    }
}

/* The mean of a new cluster, and how many rows it stands for. */
static void weights_move_the_mean(void **state) {
    (void)state;
    ast_stream_options options = rules_options(3, 60, 400);
    ast_stream *stream = rules_open(&options);
    const float x[] = {1, 0, 0, 0.8f, 0.6f, 0};
    const double weights[] = {3, 1};
    int32_t labels[2];
    ast_frame report = {.size = sizeof report};
    ast_points points = ast_points_f4(x, 2, 3);
    points.weights = weights;
    assert_int_equal(ast_stream_step(stream, &points, labels, &report), AST_OK);
    assert_true(labels[0] == 0 && labels[1] == 0);
    const ast_tracked *record = rules_record(stream, 0);
    double length = sqrt(3.8 * 3.8 + 0.6 * 0.6);
    assert_true(fabs((double)record->mean[0] - 3.8 / length) < 1e-6);
    assert_true(fabs((double)record->mean[1] - 0.6 / length) < 1e-6);
    assert_true(fabs(record->weight - length) < 1e-6);
    assert_int_equal(record->count, 2);
    ast_stream_close(stream);
}

static void bad_weights_are_refused(void **state) {
    (void)state;
    ast_stream_options options = options_for(true);
    ast_stream *stream = rules_open(&options);
    const float x[2 * D] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    int32_t labels[2] = {-7, -7};
    double weights[2] = {1, -1};
    ast_frame report = {.size = sizeof report};
    ast_points points = ast_points_f4(x, 2, D);
    points.weights = weights;
    rules_bytes before = rules_save(stream);
    assert_int_equal(ast_stream_step(stream, &points, labels, &report), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(rules_context()), "weight 2"));
    weights[1] = 2e6;
    assert_int_equal(ast_stream_step(stream, &points, labels, &report), AST_BAD_DATA);
    assert_non_null(strstr(ast_message(rules_context()), "at most 1048576"));
    rules_check_state(stream, &before, "by weights that were refused");
    free(before.data);
    ast_stream_close(stream);
}

/* ---- Low quality ------------------------------------------------------------------------------------------------- */

/* Rows below min_quality are late rows, as are rows of weight 0. */
static void low_quality_is_late(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        story *s = draw_story(seed);
        ast_stream_options plain = options_for(seed % 2), gated = plain;
        gated.min_quality = 0.3;
        ast_stream *one = rules_open(&plain), *other = rules_open(&gated);
        int32_t a[PEOPLE], b[PEOPLE];
        for (int t = 0; t < FRAMES; t++) {
            ast_frame x = feed(one, &s->frames[t], s->frames[t].weights, s->frames[t].late, a);
            ast_frame y = feed(other, &s->frames[t], s->frames[t].weights, NULL, b);
            assert_memory_equal(a, b, s->frames[t].count * sizeof *a);
            assert_int_equal(x.late, y.late);
            assert_int_equal(x.unassigned, y.unassigned);
            if (t % 9 == 8)
                other = hop(other, &gated);
        }
        ast_stream_close(one);
        ast_stream_close(other);
        free(s);
    }
}

/* Late rows never change a cluster; in exclusive frames they take ids that no other row has, the best of all ways. */
static double best_sum(const float *cosines, size_t rows, size_t ids, const bool *open, double limit, size_t row,
                       unsigned taken) {
    if (row == rows)
        return 0;
    double best = best_sum(cosines, rows, ids, open, limit, row + 1, taken);
    for (size_t k = 0; k < ids; k++) {
        double cosine = (double)cosines[row * ids + k];
        if (!open[k] || (taken >> k & 1) || cosine < limit)
            continue;
        double sum = cosine - limit + best_sum(cosines, rows, ids, open, limit, row + 1, taken | 1U << k);
        best = sum > best ? sum : best;
    }
    return best;
}

static void late_rows_are_exclusive_too(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        story *s = draw_story(seed);
        ast_stream_options options = options_for(true);
        options.merge_tracked = 0;
        options.angle = 75;
        ast_stream *one = rules_open(&options), *other = rules_open(&options);
        double limit = cos(options.angle * AST_DEGREE);
        for (int t = 0; t < FRAMES; t++) {
            const frame *f = &s->frames[t];
            float means[64 * D], cosines[PEOPLE * 64] = {0}, good[PEOPLE * D];
            bool open[64];
            size_t ids, rows = 0, count = 0;
            int32_t labels[PEOPLE], own[PEOPLE];
            const ast_tracked *before = ast_stream_clusters(one, &ids);
            assert_true(ids <= 20);
            int32_t numbers[64];
            for (size_t k = 0; k < ids; k++) {
                memcpy(means + k * D, before[k].mean, D * sizeof *means);
                numbers[k] = before[k].id;
                open[k] = before[k].event != AST_DIED && before[k].age + 2 <= options.lifetime;
            }
            feed(one, f, NULL, f->late, labels);
            for (size_t i = 0; i < f->count; i++) /* the same without late rows */
                if (!f->late[i])
                    memcpy(good + count++ * D, f->x + i * D, D * sizeof *good);
            rules_feed(other, good, count, D, own);
            double sum = 0;
            for (size_t i = 0, n = 0; i < f->count; i++) {
                for (size_t j = 0; j < i; j++)
                    assert_true(labels[i] < 0 || labels[i] != labels[j]);
                if (!f->late[i]) {
                    assert_int_equal(labels[i], own[n++]);
                    for (size_t k = 0; k < ids; k++)
                        open[k] = open[k] && numbers[k] != labels[i];
                    continue;
                }
                double length = 0;
                for (size_t d = 0; d < D; d++)
                    length += (double)f->x[i * D + d] * (double)f->x[i * D + d];
                for (size_t k = 0; k < ids; k++) {
                    double dot = 0;
                    for (size_t d = 0; d < D; d++)
                        dot += (double)f->x[i * D + d] * (double)means[k * D + d];
                    cosines[rows * ids + k] = (float)(dot / sqrt(length));
                    sum += labels[i] == numbers[k] ? dot / sqrt(length) - limit : 0;
                }
                rows++;
            }
            assert_true(fabs(sum - best_sum(cosines, rows, ids, open, limit, 0, 0)) < 1e-4);
        }
        rules_bytes end = rules_save(one);
        rules_check_state(other, &end, "by late rows");
        free(end.data);
        ast_stream_close(one);
        ast_stream_close(other);
        free(s);
    }
}

/* ---- Ids after several sightings --------------------------------------------------------------------------------- */

/* The stream is the same, but clusters with too few sightings are not shown. */
static void ids_are_shown_after_sightings(void **state) {
    (void)state;
    enum { AFTER = 3, MOST_IDS = 1000 };
    for (uint64_t seed = 1; seed <= 12; seed++) {
        story *s = draw_story(seed);
        ast_stream_options plain = options_for(seed % 2), slow;
        plain.merge_tracked = 0;
        slow = plain;
        slow.born_after = AFTER;
        ast_stream *one = rules_open(&plain), *other = rules_open(&slow);
        int sightings[MOST_IDS] = {0}, born[MOST_IDS] = {0};
        for (int t = 0; t < FRAMES; t++) {
            const frame *f = &s->frames[t];
            int32_t a[PEOPLE], b[PEOPLE];
            bool seen[MOST_IDS] = {false};
            size_t unborn = 0, count;
            feed(one, f, NULL, NULL, a);
            ast_frame report = feed(other, f, NULL, NULL, b);
            for (size_t i = 0; i < f->count; i++) {
                assert_true(a[i] < MOST_IDS);
                sightings[a[i]] += !seen[a[i]];
                seen[a[i]] = true;
            }
            for (size_t i = 0; i < f->count; i++) {
                assert_int_equal(b[i], sightings[a[i]] >= AFTER ? a[i] : -1);
                unborn += b[i] < 0;
            }
            assert_int_equal(report.unborn, unborn);
            const ast_tracked *records = ast_stream_clusters(other, &count);
            for (size_t r = 0; r < count; r++) {
                assert_true(sightings[records[r].id] >= AFTER);
                born[records[r].id] += records[r].event == AST_BORN;
                assert_int_equal(born[records[r].id], 1);
            }
            if (t % 9 == 8)
                other = hop(other, &slow);
        }
        ast_stream_close(one);
        ast_stream_close(other);
        free(s);
    }
}

static void small_clusters_are_not_born(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        ast_stream_options options = rules_options(3, 35, 5);
        options.min_size = 4;
        options.merge_tracked = seed % 2;
        ast_stream *stream = rules_open(&options);
        ast_random random;
        ast_random_seed(&random, seed, 131);
        for (int t = 0; t < 40; t++) {
            float x[3 * 60];
            int32_t labels[60];
            size_t unborn = 0, count, points = ast_random_below(&random, 60);
            for (size_t i = 0; i < 3 * points; i++)
                x[i] = (float)ast_random_normal(&random);
            ast_frame report = rules_feed(stream, x, points, 3, labels);
            for (size_t i = 0; i < points; i++)
                unborn += labels[i] < 0;
            assert_int_equal(report.unborn, unborn);
            const ast_tracked *records = ast_stream_clusters(stream, &count);
            for (size_t r = 0; r < count; r++)
                assert_true(records[r].event != AST_BORN || records[r].count >= 4);
            if (t % 9 == 8)
                stream = hop(stream, &options);
        }
        ast_stream_close(stream);
    }
}

/* ---- The common direction ---------------------------------------------------------------------------------------- */

static void centre_is_subtracted(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        story *s = draw_story(seed);
        ast_stream_options plain = options_for(true), centred;
        float center[D];
        for (size_t d = 0; d < D; d++)
            center[d] = d == 3 ? 0.5f : 0.01f * (float)d;
        centred = plain;
        centred.center = center;
        ast_stream *one = rules_open(&plain), *other = rules_open(&centred);
        int32_t a[PEOPLE], b[PEOPLE];
        for (int t = 0; t < FRAMES; t++) {
            frame f = s->frames[t];
            for (size_t i = 0; i < f.count; i++) {
                double squares = 0, rest[D];
                float unit[D];
                for (size_t d = 0; d < D; d++)
                    squares += (double)f.x[i * D + d] * (double)f.x[i * D + d];
                for (size_t d = 0; d < D; d++)
                    unit[d] = (float)((double)f.x[i * D + d] / sqrt(squares));
                squares = 0;
                for (size_t d = 0; d < D; d++) {
                    rest[d] = (double)unit[d] - (double)center[d];
                    squares += rest[d] * rest[d];
                }
                for (size_t d = 0; d < D; d++)
                    f.x[i * D + d] = (float)(rest[d] / sqrt(squares));
            }
            feed(one, &f, NULL, NULL, a);
            feed(other, &s->frames[t], NULL, NULL, b);
            assert_memory_equal(a, b, f.count * sizeof *a);
            if (t % 9 == 8)
                other = hop(other, &centred);
        }
        rules_bytes saved = rules_save(other);
        ast_stream_options found;
        ast_stream_options_init(&found);
        assert_int_equal(ast_stream_saved(rules_context(), saved.data, saved.size, &found), AST_OK);
        assert_memory_equal(found.center, center, sizeof center);
        assert_int_equal(ast_stream_load(one, saved.data, saved.size), AST_BAD_DATA);
        center[0] += 0.25f;
        ast_stream *third = rules_open(&centred);
        assert_int_equal(ast_stream_load(third, saved.data, saved.size), AST_BAD_DATA);
        assert_non_null(strstr(ast_message(rules_context()), "another centre"));
        free(saved.data);
        ast_stream_close(one);
        ast_stream_close(other);
        ast_stream_close(third);
        free(s);
    }
}

static void what_is_out_of_range_is_refused(void **state) {
    (void)state;
    ast_stream_options options = options_for(true);
    assert_null(ast_stream_options_problem(&options));
    options.min_quality = -1;
    assert_non_null(ast_stream_options_problem(&options));
    options.min_quality = (double)NAN;
    assert_non_null(ast_stream_options_problem(&options));
    options.min_quality = 0;
    options.min_size = 2;
    assert_non_null(ast_stream_options_problem(&options));
    options.min_size = 0;
    assert_non_null(ast_stream_options_problem(&options));
    options.min_size = 1;
    options.born_after = 0;
    assert_non_null(ast_stream_options_problem(&options));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_one_are_no_weights),   cmocka_unit_test(weights_move_the_mean),
        cmocka_unit_test(bad_weights_are_refused),         cmocka_unit_test(low_quality_is_late),
        cmocka_unit_test(late_rows_are_exclusive_too),     cmocka_unit_test(ids_are_shown_after_sightings),
        cmocka_unit_test(small_clusters_are_not_born),     cmocka_unit_test(centre_is_subtracted),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests_name("quality of rows in streams", tests, NULL, ref_contexts_end);
}
