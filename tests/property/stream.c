/* SPDX-License-Identifier: MIT
 *
 * Streams against the reference, frame by frame: ids, events, ages, counts and means to the bit, in every mode, on
 * every number of threads, with either instruction set, and handed from stream to stream as saved states. A failure
 * prints AST_TEST_SEED=...: with that in the environment the program runs the one stream, in all 48 ways. */
#include "reference/harness.h"
#include "reference/stream.h"
#include "stream_scenes.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNTOUCHED -77
#define EPS 0x1p-20

/* ---- What the reference says ----------------------------------------------------------------------------------- */

typedef struct answer {
    ref_frame *frames;
    int32_t **predicted; /* where the deed was to predict */
    size_t *missed;
} answer;

static void do_deed(ref_stream *stream, const scene *s, size_t t, const ref_points *points, answer *expected) {
    if (s->deeds[t] == RESET)
        ref_stream_reset(stream);
    if (s->deeds[t] == ROTATE)
        ref_stream_rotate(stream, s->rotation);
    if (s->deeds[t] == PREDICT) {
        expected->predicted[t] = ref_take(s->counts[t], sizeof(int32_t));
        ref_stream_predict(stream, points, expected->predicted[t]);
    }
}

static void answer_make(answer *expected, const scene *s) {
    ref_stream stream;
    ref_stream_open(&stream, &s->options);
    expected->frames = ref_take(s->frames, sizeof *expected->frames);
    expected->predicted = ref_take(s->frames, sizeof *expected->predicted);
    expected->missed = ref_take(s->frames, sizeof *expected->missed);
    for (size_t t = 0; t < s->frames; t++) {
        ref_points points;
        ast_points view = scene_points(s, t);
        ref_points_read(&points, &view);
        if (s->options.axial)
            ref_points_turn(&points);
        do_deed(&stream, s, t, &points, expected);
        ref_stream_step(&stream, &points, &expected->frames[t]);
        expected->missed[t] = points.missed;
        ref_points_free(&points);
    }
    ref_stream_close(&stream);
}

static void answer_free(answer *expected, const scene *s) {
    for (size_t t = 0; t < s->frames; t++) {
        ref_frame_free(&expected->frames[t]);
        free(expected->predicted[t]);
    }
    free(expected->frames);
    free(expected->predicted);
    free(expected->missed);
}

/* ---- Comparing ------------------------------------------------------------------------------------------------- */

/* Where a comparison stands, for its message. */
typedef struct place {
    const scene *s;
    const ref_setup *setup;
    int hop;
    size_t frame;
} place;

static const char *where(const place *at) {
    static char text[600];
    snprintf(text, sizeof text, "AST_TEST_SEED=%llu, frame %zu of %zu points (%s; %s%s)",
             (unsigned long long)at->s->seed, at->frame, at->s->counts[at->frame], at->s->text,
             ref_setup_text(at->setup), at->hop ? ", saved and loaded" : "");
    return text;
}

static void check_labels(const place *at, const char *what, const int32_t *labels, const int32_t *expected) {
    size_t count = at->s->counts[at->frame];
    for (size_t i = 0; i < count; i++)
        if (labels[i] != expected[i])
            fail_msg("%s: %s of point %zu is %d, should be %d", where(at), what, i, labels[i], expected[i]);
    if (labels[count] != UNTOUCHED)
        fail_msg("%s: wrote past the end of labels", where(at));
}

static void check_record(const place *at, const ast_tracked *got, const ref_record *should, size_t used) {
    size_t dimension = at->s->options.dimension;
    if (got->into != should->into || !(fabs(got->spread - should->spread) <= 1e-9 * should->spread))
        fail_msg("%s: id %d, event %d is part of %d, spread %.17g; should be %d, %.17g", where(at), got->id, got->event,
                 got->into, got->spread, should->into, should->spread);
    if (got->id != should->id || got->event != should->event || got->age != should->age || got->count != should->count)
        fail_msg("%s: id %d, event %d, age %u, %zu points; should be id %d, event %d, age %u, %zu points", where(at),
                 got->id, got->event, got->age, got->count, should->id, should->event, should->age, should->count);
    double share = used > 0 ? (double)should->count / (double)used : 0;
    if (!(fabs(got->share - share) <= 1e-12))
        fail_msg("%s: id %d has share %.17g, should be %.17g", where(at), got->id, got->share, share);
    if (!(fabs(got->weight - should->weight) <= 1e-12 * fabs(should->weight)))
        fail_msg("%s: id %d has weight %.17g, should be %.17g", where(at), got->id, got->weight, should->weight);
    for (size_t d = 0; d < dimension; d++)
        if (memcmp(&got->mean[d], &should->mean[d], sizeof(float)) != 0)
            fail_msg("%s: component %zu of the mean of id %d is %.9g, should be %.9g", where(at), d, got->id,
                     (double)got->mean[d], (double)should->mean[d]);
}

static void check_frame(const place *at, const ast_frame *got, const ref_frame *should, size_t missed) {
    if (got->frame != at->frame || got->points != at->s->counts[at->frame] || got->missing != missed ||
        got->clusters != should->clusters || got->merged != should->merged)
        fail_msg("%s: reported as frame %llu of %zu points, %zu missing, %zu clusters, %zu merged; "
                 "%zu are missing, %zu clusters, %zu merged",
                 where(at), (unsigned long long)got->frame, got->points, got->missing, got->clusters, got->merged,
                 missed, should->clusters, should->merged);
    if (got->converged != should->converged || (should->points > 0 && got->iterations != should->iterations))
        fail_msg("%s: %d passes, converged %d; should be %d, %d", where(at), got->iterations, got->converged,
                 should->iterations, should->converged);
    if (!(fabs(got->objective - should->objective) <= 1e-9 * fmax(1, fmax(should->total, fabs(should->objective)))))
        fail_msg("%s: objective %.17g, should be %.17g", where(at), got->objective, should->objective);
}

static void check_step(const place *at, ast_stream *stream, int32_t *labels, const answer *expected) {
    ast_frame frame = {.size = sizeof frame};
    const ref_frame *should = &expected->frames[at->frame];
    ast_points points = scene_points(at->s, at->frame);
    ast_context *context = ref_context(at->setup->isa, at->setup->threads);
    labels[points.count] = UNTOUCHED;
    ast_status status = ast_stream_step(stream, &points, labels, &frame);
    if (status != AST_OK)
        fail_msg("%s: status %d, %s", where(at), status, ast_message(context));
    check_labels(at, "label", labels, should->labels);
    check_frame(at, &frame, should, expected->missed[at->frame]);
    size_t count = 99;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    for (size_t k = 0; k < count && k < should->records_count; k++)
        check_record(at, &clusters[k], &should->records[k], points.count - expected->missed[at->frame]);
    if (count != should->records_count)
        fail_msg("%s: %zu records, should be %zu", where(at), count, should->records_count);
}

/* What is done before a frame. */
static void check_deed(const place *at, ast_stream *stream, int32_t *labels, const answer *expected) {
    ast_points points = scene_points(at->s, at->frame);
    switch (at->s->deeds[at->frame]) {
    case RESET:
        ast_stream_reset(stream);
        break;
    case ROTATE:
        assert_int_equal(ast_stream_rotate(stream, at->s->rotation), AST_OK);
        break;
    case PREDICT:
        labels[points.count] = UNTOUCHED;
        assert_int_equal(ast_stream_predict(stream, &points, labels), AST_OK);
        check_labels(at, "predicted id", labels, expected->predicted[at->frame]);
        break;
    default:
        break;
    }
}

/* A new stream that goes on where the old one stopped, on other threads. */
static ast_stream *hop_over(const place *at, ast_stream *old, const ast_stream_options *options, ref_setup *setup) {
    size_t size = 0;
    const void *state = ast_stream_save(old, &size);
    assert_non_null(state);
    void *copy = ref_take(size, 1);
    memcpy(copy, state, size);
    ast_stream_close(old);
    *setup = ref_setup_number(at->frame * 7 % REF_SETUPS);
    ast_stream_options changed = *options;
    changed.parallel = setup->parallel;
    changed.bounds = setup->bounds;
    ast_context *context = ref_context(setup->isa, setup->threads);
    ast_stream *next;
    ast_stream_open(&next, context, &changed);
    assert_non_null(next);
    if (ast_stream_load(next, copy, size) != AST_OK)
        fail_msg("%s: its own state is refused: %s", where(at), ast_message(context));
    free(copy);
    return next;
}

static void check_way(const scene *s, const answer *expected, const ref_setup *way, int hop) {
    ref_setup setup = *way;
    ast_stream_options options = s->options;
    place at = {s, &setup, hop, 0};
    size_t most = 0;
    for (size_t t = 0; t < s->frames; t++)
        most = s->counts[t] > most ? s->counts[t] : most;
    int32_t *labels = ref_take(most + 1, sizeof *labels);
    options.parallel = setup.parallel;
    options.bounds = setup.bounds;
    ast_context *context = ref_context(setup.isa, setup.threads);
    ast_stream *stream;
    ast_stream_open(&stream, context, &options);
    if (!stream)
        fail_msg("%s: %s", where(&at), ast_message(context));
    for (size_t t = 0; t < s->frames; t++) {
        at.frame = t;
        if (hop)
            stream = hop_over(&at, stream, &options, &setup);
        check_deed(&at, stream, labels, expected);
        check_step(&at, stream, labels, expected);
    }
    ast_stream_close(stream);
    free(labels);
}

/* The objective of a frame may fall by rounding alone. The score of the nearest does not increase it. */
static void check_objectives(const scene *s, const answer *expected) {
    bool nearest = s->options.score == AST_SCORE_NEAREST ||
                   (s->options.score == AST_SCORE_OF_TRACKER && isnan(s->options.beta) && s->options.revive_near);
    for (size_t t = 0; t < s->frames; t++) {
        const ref_frame *frame = &expected->frames[t];
        for (int pass = 1; pass < frame->iterations; pass++)
            if (!nearest && frame->objectives[pass] < frame->objectives[pass - 1] - frame->total * EPS - 1e-9)
                fail_msg("AST_TEST_SEED=%llu, frame %zu (%s): the objective falls from %.17g to %.17g in pass %d",
                         (unsigned long long)s->seed, t, s->text, frame->objectives[pass - 1], frame->objectives[pass],
                         pass + 1);
    }
}

static size_t merges; /* clusters that became part of others, in the random streams so far */

static void check_ways(scene made, uint64_t seed, size_t ways) {
    scene s = made;
    answer expected;
    ast_random random;
    s.options.revive_near = seed % 3 == 0;
    s.options.score = (ast_stream_score)(seed / 2 % 3);
    s.options.rigid = s.options.dimension == 3 && s.options.method == AST_STREAM_DDP && seed % 5 < 2;
    answer_make(&expected, &s);
    check_objectives(&s, &expected);
    for (size_t t = 0; t < s.frames; t++)
        merges += expected.frames[t].merged;
    ast_random_seed(&random, seed, 42);
    for (size_t way = 0; way < ways; way++) {
        ref_setup setup = ref_setup_of_way(&random, way, ways);
        check_way(&s, &expected, &setup, way == 0);
    }
    answer_free(&expected, &s);
    scene_free(&s);
}

static void check_either(uint64_t seed, ref_size size, size_t ways, int axial) {
    scene s;
    scene_make(&s, seed, size);
    s.options.axial = axial;
    s.options.merge_tracked = seed % 2 == 0;
    check_ways(s, seed, ways);
}

static void check_meeting(uint64_t seed, ref_size size, size_t ways) {
    scene s;
    (void)size;
    scene_make_meeting(&s, seed);
    s.options.axial = seed % 4 == 0;
    check_ways(s, seed, ways);
}

static void check_scene(uint64_t seed, ref_size size, size_t ways) {
    check_either(seed, size, ways, 0);
}

static void check_axial_scene(uint64_t seed, ref_size size, size_t ways) {
    check_either(seed, size, ways, 1);
}

static void small_streams_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_scene, REF_SMALL, 800, 3);
}

static void meetings_equal_the_reference(void **state) {
    (void)state;
    merges = 0;
    ref_check_seeds(check_meeting, REF_SMALL, 800, 3);
    if (ref_case_only() == 0 && merges < ref_case_count(800) / 32)
        fail_msg("only %zu clusters were merged", merges);
}

static void large_streams_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_scene, REF_LARGE, 6, 4);
}

static void axial_streams_equal_the_reference(void **state) {
    (void)state;
    ref_check_seeds(check_axial_scene, REF_SMALL, 600, 3);
    ref_check_seeds(check_axial_scene, REF_LARGE, 4, 4);
}

static void rooms_equal_the_reference(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= ref_case_count(8); seed++) {
        scene s;
        answer expected;
        if (ref_case_only() > 0 && ref_case_only() != seed)
            continue;
        scene_make_room(&s, seed);
        s.options.axial = seed % 2 == 0;
        s.options.revive_near = seed % 4 < 2;
        s.options.merge_tracked = seed % 3 > 0;
        s.options.score = (ast_stream_score)(1 + seed / 2 % 2);
        s.options.rigid = seed % 5 < 2;
        answer_make(&expected, &s);
        check_objectives(&s, &expected);
        for (size_t way = 0; way < 4; way++) { /* the ordered path on 1 to 8 threads */
            ref_setup setup = ref_setup_number(seed % 2 + 2 * way + (way < 3 ? 24 : 0));
            check_way(&s, &expected, &setup, 0);
        }
        answer_free(&expected, &s);
        scene_free(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_streams_equal_the_reference), cmocka_unit_test(large_streams_equal_the_reference),
        cmocka_unit_test(meetings_equal_the_reference),      cmocka_unit_test(axial_streams_equal_the_reference),
        cmocka_unit_test(rooms_equal_the_reference),
    };
    return cmocka_run_group_tests_name("streams", tests, NULL, ref_contexts_end);
}
