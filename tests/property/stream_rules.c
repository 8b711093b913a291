/* SPDX-License-Identifier: MIT
 *
 * What a stream promises, whatever the reference says: identity over absences, lifetimes, states as bytes, rotation,
 * reset, the limit on clusters, and input that cannot be used. */
#include "reference/harness.h"

#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 }; /* points a frame */

/* ---- Small things ---------------------------------------------------------------------------------------------- */

static ast_context *context_of_two(void) {
    return ref_context("avx2", 2);
}

static ast_stream_options options_of(size_t dimension, double angle, uint32_t lifetime) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = dimension;
    options.angle = angle;
    options.lifetime = lifetime;
    return options;
}

static ast_stream *open_stream(const ast_stream_options *options) {
    ast_stream *stream = ast_stream_open(context_of_two(), options);
    if (!stream)
        fail_msg("%s", ast_message(context_of_two()));
    return stream;
}

/* One frame of tight rows; the frame must be taken. */
static ast_frame feed(ast_stream *stream, const float *x, size_t count, size_t dimension, int32_t *labels) {
    ast_frame frame;
    ast_points points = ast_points_f4(x, count, dimension);
    int32_t own[MOST];
    assert_true(count <= MOST);
    ast_status status = ast_stream_step(stream, &points, labels ? labels : own, &frame);
    if (status != AST_OK)
        fail_msg("status %d, %s", status, ast_message(context_of_two()));
    return frame;
}

static const ast_tracked *record_of(ast_stream *stream, int32_t id) {
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    for (size_t k = 0; k < count; k++)
        if (clusters[k].id == id)
            return &clusters[k];
    return NULL;
}

static void check_event(ast_stream *stream, int frame, int32_t id, ast_event event, uint32_t age) {
    const ast_tracked *record = record_of(stream, id);
    if (!record)
        fail_msg("frame %d: no record of id %d", frame, id);
    if (record->event != event || record->age != age)
        fail_msg("frame %d: id %d has event %d, age %u; should be %d, %u", frame, id, record->event, record->age, event,
                 age);
}

/* The state, copied: the library's own bytes last only until the next call. */
typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static bytes saved(ast_stream *stream) {
    bytes copy = {NULL, 0};
    const void *state = ast_stream_save(stream, &copy.size);
    assert_non_null(state);
    copy.data = ref_take(copy.size, 1);
    memcpy(copy.data, state, copy.size);
    return copy;
}

static void check_state(ast_stream *stream, const bytes *expected, const char *when) {
    bytes now = saved(stream);
    if (now.size != expected->size || memcmp(now.data, expected->data, now.size) != 0)
        fail_msg("the state changed %s", when);
    free(now.data);
}

/* `each` points around the chosen axes of five dimensions, all of whose angles are right ones. */
static size_t axes_frame(float *x, const int *axes, size_t count, size_t each, double noise, ast_random *random) {
    for (size_t i = 0; i < count * each; i++)
        for (size_t d = 0; d < 5; d++)
            x[i * 5 + d] = (float)((axes[i % count] == (int)d) + noise * ast_random_normal(random));
    return count * each;
}

/* A stream with something in it: five clusters, three of them unseen for some frames. */
static ast_stream *used_stream(const ast_stream_options *options, uint64_t seed) {
    static const int all[] = {0, 1, 2, 3, 4}, two[] = {0, 3};
    float x[MOST * 5];
    ast_random random;
    ast_random_seed(&random, seed, 7);
    ast_stream *stream = open_stream(options);
    for (int t = 0; t < 8; t++)
        feed(stream, x, axes_frame(x, t < 5 ? all : two, t < 5 ? 5 : 2, 4, 0.05, &random), 5, NULL);
    return stream;
}

/* ---- Identity -------------------------------------------------------------------------------------------------- */

/* Axes 1, 2 and 4 vanish for `absence` frames after the fifth frame. With noise nobody comes back in the last frame of
 * its life: 1 + dt Q is cos(angle) then, before any loss. */
static void check_absence(uint32_t lifetime, int absence, double noise) {
    static const int all[] = {0, 1, 2, 3, 4}, two[] = {0, 3};
    ast_stream_options options = options_of(5, 40, lifetime);
    ast_stream *stream = open_stream(&options);
    ast_random random;
    float x[MOST * 5];
    int32_t labels[MOST];
    ast_random_seed(&random, (uint64_t)absence, 8);
    for (int t = 0; t < 5 + absence + 3; t++) {
        int away = t - 4, here = t < 5 || t >= 5 + absence, dead = absence >= (int)lifetime;
        size_t count = axes_frame(x, here ? all : two, here ? 5 : 2, 30, noise, &random);
        feed(stream, x, count, 5, labels);
        for (size_t i = 0; i < count; i++) {
            int32_t axis = here ? all[i % 5] : two[i % 2];
            int32_t id = t >= 5 + absence && dead && axis != 0 && axis != 3 ? axis == 4 ? 7 : 4 + axis : axis;
            if (labels[i] != id)
                fail_msg("absence %d, frame %d: point %zu of axis %d has id %d", absence, t, i, axis, labels[i]);
        }
        for (int32_t id = 0; id < 5; id++) {
            int stays = id == 0 || id == 3;
            if (here && !(t >= 5 + absence && dead && !stays))
                check_event(stream, t, id, t == 0 ? AST_BORN : t == 5 + absence && !stays ? AST_REVIVED : AST_SEEN, 0);
            else if (stays)
                check_event(stream, t, id, AST_SEEN, 0);
            else if (away < (int)lifetime)
                check_event(stream, t, id, AST_UNSEEN, (uint32_t)away);
            else if (away == (int)lifetime)
                check_event(stream, t, id, AST_DIED, (uint32_t)away);
            else
                assert_null(record_of(stream, id));
        }
    }
    ast_stream_close(stream);
}

static void the_vanished_return_under_their_ids(void **state) {
    (void)state;
    check_absence(20, 1, 0.05);
    check_absence(20, 10, 0.05);
    check_absence(20, 19, 0);
    check_absence(20, 20, 0.05);
    check_absence(20, 25, 0.05);
    check_absence(2, 1, 0);
    check_absence(2, 2, 0);
}

/* The same x again after dt frames scores 1 + dt Q = 1 - dt / 10: 1/2 at the lifetime, which fits, and no more. */
static void the_lifetime_is_exact(void **state) {
    (void)state;
    static const float x[3] = {0, 0, 1};
    for (uint32_t gap = 0; gap < 7; gap++) {
        ast_stream_options options = options_of(3, 60, 5);
        ast_stream *stream = open_stream(&options);
        int32_t label;
        feed(stream, x, 1, 3, &label);
        assert_int_equal(label, 0);
        for (uint32_t t = 0; t < gap; t++)
            feed(stream, NULL, 0, 3, NULL);
        ast_frame frame = feed(stream, x, 1, 3, &label);
        if (label != (gap < 5 ? 0 : 1))
            fail_msg("after %u empty frames the id is %d", gap, label);
        double objective = gap < 5 ? 1 - 0.1 * (gap + 1) : 0.5;
        if (fabs(frame.objective - objective) > 1e-9)
            fail_msg("after %u empty frames the objective is %.17g, should be %.17g", gap, frame.objective, objective);
        ast_stream_close(stream);
    }
}

/* ---- Against the batch ----------------------------------------------------------------------------------------- */

static void check_batch(ast_stream *stream, const ast_stream_options *options, const float *x, size_t count,
                        uint64_t seed) {
    int32_t *ids = ref_take(count, sizeof *ids), *labels = ref_take(count, sizeof *labels), lowest = INT32_MAX;
    ast_points points = ast_points_f4(x, count, options->dimension);
    ast_options batch;
    ast_report report;
    ast_frame frame;
    ast_options_init(&batch);
    batch.angle = options->angle;
    assert_int_equal(ast_cluster(context_of_two(), &points, &batch, labels, &report), AST_OK);
    assert_int_equal(ast_stream_step(stream, &points, ids, &frame), AST_OK);
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= 0 && ids[i] < lowest)
            lowest = ids[i];
    for (size_t i = 0; i < count; i++)
        if (labels[i] != (ids[i] < 0 ? -1 : ids[i] - lowest))
            fail_msg("seed %llu, frame %llu: point %zu has id %d, the first is %d, its label in the batch is %d",
                     (unsigned long long)seed, (unsigned long long)frame.frame, i, ids[i], lowest, labels[i]);
    if (frame.clusters != report.clusters || (report.clusters > 0 && frame.iterations != report.iterations) ||
        frame.converged != report.converged || fabs(frame.objective - report.objective) > 1e-9 * (double)(count + 1))
        fail_msg("seed %llu, frame %llu: %zu clusters, %d passes, objective %.17g; the batch has %zu, %d, %.17g",
                 (unsigned long long)seed, (unsigned long long)frame.frame, frame.clusters, frame.iterations,
                 frame.objective, report.clusters, report.iterations, report.objective);
    free(ids);
    free(labels);
}

static void a_frame_alone_is_the_batch(void **state) {
    (void)state;
    static const size_t dimensions[] = {2, 3, 4, 20};
    for (uint64_t seed = 1; seed <= ref_case_count(200); seed++) {
        ast_random random;
        ast_random_seed(&random, seed, 9);
        size_t dimension = dimensions[seed % 4];
        ast_stream_options options = options_of(dimension, 15 + 100 * ast_random_uniform(&random), 0);
        if (seed % 3 == 0)
            options.lifetime = 1;
        if (seed % 3 == 1)
            options.method = AST_STREAM_DP;
        ast_stream *each = open_stream(&options);
        ast_stream_options tracking = options;
        tracking.lifetime = 20;
        tracking.method = AST_STREAM_DDP;
        for (int t = 0; t < 4; t++) {
            size_t count = (size_t)ast_random_below(&random, seed % 10 == 0 ? 6000 : 300);
            float *x = ref_take(count * dimension, sizeof *x);
            ref_fill_clustered(x, count, dimension, 1 + seed % 9, 0.2, 0.1, seed + 1000 * (uint64_t)t);
            if (count > 2)
                x[dimension] = NAN;
            check_batch(each, &options, x, count, seed);
            ast_stream *first = open_stream(&tracking);
            check_batch(first, &tracking, x, count, seed);
            ast_stream_close(first);
            free(x);
        }
        ast_stream_close(each);
    }
}

/* Two streams and a batch run take turns on one context: none notices the others. */
static void streams_share_a_context(void **state) {
    (void)state;
    enum { FRAMES = 12, COUNT = 120 };
    static int32_t alone[2][FRAMES][COUNT];
    static float x[2][FRAMES][COUNT * 3];
    ast_stream_options options[2] = {options_of(3, 30, 5), options_of(3, 70, 20)};
    ast_options batch;
    ast_report report;
    int32_t labels[COUNT];
    ast_options_init(&batch);
    batch.angle = 50;
    for (int s = 0; s < 2; s++) {
        ast_stream *stream = open_stream(&options[s]);
        for (int t = 0; t < FRAMES; t++) {
            ref_fill_clustered(x[s][t], COUNT, 3, 6, 0.1, 0.1, (uint64_t)(t / 3 + 50 * s));
            feed(stream, x[s][t], COUNT, 3, alone[s][t]);
        }
        ast_stream_close(stream);
    }
    ast_stream *streams[2] = {open_stream(&options[0]), open_stream(&options[1])};
    for (int t = 0; t < FRAMES; t++) {
        for (int s = 0; s < 2; s++) {
            ast_points points = ast_points_f4(x[1 - s][t], COUNT, 3);
            feed(streams[s], x[s][t], COUNT, 3, labels);
            assert_memory_equal(labels, alone[s][t], sizeof labels);
            assert_int_equal(ast_cluster(context_of_two(), &points, &batch, labels, &report), AST_OK);
        }
    }
    ast_stream_close(streams[0]);
    ast_stream_close(streams[1]);
}

/* ---- Frames without points ------------------------------------------------------------------------------------- */

static void an_empty_frame_only_ages(void **state) {
    (void)state;
    ast_stream_options options = options_of(5, 40, 20);
    ast_stream *stream = used_stream(&options, 1);
    float holes[15];
    ast_tracked before[16];
    float means[16][5];
    size_t count, after;
    for (int i = 0; i < 15; i++)
        holes[i] = i < 10 ? 0 : NAN; /* two rows of zeros and one of NaN */
    for (int t = 0; t < 4; t++) {
        const ast_tracked *clusters = ast_stream_clusters(stream, &count);
        assert_int_equal(count, 5);
        for (size_t k = 0; k < count; k++) {
            before[k] = clusters[k];
            memcpy(means[k], clusters[k].mean, sizeof means[k]);
        }
        int32_t labels[3] = {9, 9, 9};
        ast_frame frame = feed(stream, holes, t % 2 ? 3 : 0, 5, labels);
        assert_int_equal(labels[0], t % 2 ? -1 : 9);
        assert_int_equal(frame.clusters, 0);
        assert_int_equal(frame.converged, 1);
        assert_int_equal(frame.missing, t % 2 ? 3 : 0);
        assert_true(frame.objective == 0);
        clusters = ast_stream_clusters(stream, &after);
        assert_int_equal(after, count);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(clusters[k].id, before[k].id);
            assert_int_equal(clusters[k].event, AST_UNSEEN);
            assert_int_equal(clusters[k].age, before[k].age + 1);
            assert_int_equal(clusters[k].count, 0);
            assert_true(clusters[k].share == 0 && clusters[k].weight == before[k].weight);
            assert_memory_equal(clusters[k].mean, means[k], sizeof means[k]);
        }
    }
    ast_stream_close(stream);
}

/* ---- States ---------------------------------------------------------------------------------------------------- */

/* A stream that is offered a state it must refuse, and must not be changed by. Returns what it said. */
static const char *check_refused(ast_stream *stream, const void *data, size_t size, const bytes *before,
                                 const char *what, size_t where) {
    static char message[300];
    ast_status status = ast_stream_load(stream, data, size);
    snprintf(message, sizeof message, "%s", ast_message(context_of_two()));
    if (status != AST_BAD_DATA || strlen(message) < 10)
        fail_msg("%s at %zu: status %d, \"%s\"", what, where, status, message);
    check_state(stream, before, what);
    return message;
}

static void damaged_states_are_refused(void **state) {
    (void)state;
    ast_stream_options options = options_of(5, 40, 20);
    ast_stream *stream = used_stream(&options, 1), *other = used_stream(&options, 2);
    bytes good = saved(stream), before = saved(other);
    assert_true(good.size != before.size || memcmp(good.data, before.data, good.size) != 0);
    for (size_t i = 0; i < good.size; i++) {
        static const unsigned char flips[] = {0x01, 0x80, 0xff};
        for (size_t f = 0; f < 3; f++) {
            good.data[i] ^= flips[f];
            check_refused(other, good.data, good.size, &before, "a flipped byte", i);
            good.data[i] ^= flips[f];
        }
    }
    for (size_t size = 0; size < good.size; size++) {
        unsigned char *cut = ref_take(size, 1); /* of its own size, so that reading past its end is seen */
        memcpy(cut, good.data, size);
        check_refused(other, cut, size, &before, "a truncated state", size);
        free(cut);
    }
    unsigned char *longer = ref_take(2 * good.size, 1);
    memcpy(longer, good.data, good.size);
    check_refused(other, longer, good.size + 1, &before, "a longer state", good.size + 1);
    memcpy(longer + good.size, good.data, good.size);
    check_refused(other, longer, 2 * good.size, &before, "a state twice", good.size);
    free(longer);
    assert_int_equal(ast_stream_load(other, good.data, good.size), AST_OK);
    check_state(other, &good, "by being loaded");
    free(good.data);
    free(before.data);
    ast_stream_close(stream);
    ast_stream_close(other);
}

static void check_other(const ast_stream_options *options, const bytes *good, const char *name) {
    ast_stream *other = open_stream(options);
    bytes before = saved(other);
    const char *message = check_refused(other, good->data, good->size, &before, name, 0);
    if (!strstr(message, name))
        fail_msg("another %s: \"%s\" does not name it", name, message);
    free(before.data);
    ast_stream_close(other);
}

static void states_of_other_options_are_refused(void **state) {
    (void)state;
    ast_stream_options options = options_of(5, 40, 20), o;
    ast_stream *stream = used_stream(&options, 1);
    bytes good = saved(stream);
    o = options, o.dimension = 6;
    check_other(&o, &good, "dimension");
    o = options, o.method = AST_STREAM_SDP;
    check_other(&o, &good, "method");
    o = options, o.angle = 41;
    check_other(&o, &good, "angle");
    o = options, o.drift = 2;
    check_other(&o, &good, "drift");
    o = options, o.beta = 100;
    check_other(&o, &good, "beta");
    o = options, o.weight_update = AST_PAPER;
    check_other(&o, &good, "weight");
    o = options, o.lifetime = 21;
    check_other(&o, &good, "lifetime");
    o = options, o.max_clusters = 9;
    check_other(&o, &good, "clusters");
    o = options, o.parallel = AST_SERIAL, o.bounds = 0; /* these change no label */
    ast_stream *same = open_stream(&o);
    assert_int_equal(ast_stream_load(same, good.data, good.size), AST_OK);
    ast_stream_close(same);
    free(good.data);
    ast_stream_close(stream);
}

/* ---- Rotation, reset, the limit -------------------------------------------------------------------------------- */

static void rotation_turns_the_means(void **state) {
    (void)state;
    static const double quarter[25] = {0, -1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    ast_stream_options options = options_of(5, 40, 20);
    ast_stream *stream = used_stream(&options, 1);
    ast_random random;
    float x[25 * 5], turned[25 * 5];
    int32_t before[25], after[25], none[25];
    ast_random_seed(&random, 1, 10);
    static const int all[] = {0, 1, 2, 3, 4};
    size_t count = axes_frame(x, all, 5, 5, 0.05, &random);
    for (size_t i = 0; i < count; i++) {
        memcpy(turned + i * 5, x + i * 5, 5 * sizeof *x);
        turned[i * 5] = -x[i * 5 + 1];
        turned[i * 5 + 1] = x[i * 5];
    }
    ast_points points = ast_points_f4(x, count, 5), turned_points = ast_points_f4(turned, count, 5);
    assert_int_equal(ast_stream_predict(stream, &points, before), AST_OK);
    assert_int_equal(ast_stream_rotate(stream, quarter), AST_OK);
    assert_int_equal(ast_stream_predict(stream, &turned_points, after), AST_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(before[i], (int32_t)(i % 5));
        assert_int_equal(after[i], before[i]);
    }
    assert_int_equal(ast_stream_predict(stream, &points, none), AST_OK); /* axis 0 is nobody's now, 1 is what 0 was */
    assert_int_equal(none[0], -1);
    assert_int_equal(none[1], 0);
    feed(stream, turned, count, 5, after);
    assert_memory_equal(after, before, sizeof before);
    for (int quarters = 0; quarters < 4; quarters++)
        assert_int_equal(ast_stream_rotate(stream, quarter), AST_OK);
    feed(stream, turned, count, 5, after);
    assert_memory_equal(after, before, sizeof before);
    ast_stream_close(stream);
}

static void reset_forgets_but_ids_go_on(void **state) {
    (void)state;
    static const int all[] = {0, 1, 2, 3, 4};
    ast_stream_options options = options_of(5, 40, 20);
    ast_stream *stream = used_stream(&options, 1), *fresh = open_stream(&options);
    ast_random random;
    float x[MOST * 5];
    int32_t labels[MOST], expected[MOST];
    size_t count;
    ast_random_seed(&random, 3, 11);
    ast_stream_reset(stream);
    ast_points points = ast_points_f4(x, axes_frame(x, all, 5, 5, 0.05, &random), 5);
    assert_int_equal(ast_stream_predict(stream, &points, labels), AST_OK);
    for (size_t i = 0; i < points.count; i++)
        assert_int_equal(labels[i], -1);
    ast_stream_clusters(stream, &count);
    for (int t = 0; t < 6; t++) { /* from here on as a new stream, but for the ids */
        size_t n = axes_frame(x, all, 5, 1 + (size_t)t % 2, 0.05, &random);
        feed(stream, x, n, 5, labels);
        feed(fresh, x, n, 5, expected);
        size_t a, b;
        const ast_tracked *mine = ast_stream_clusters(stream, &a), *fresh_ones = ast_stream_clusters(fresh, &b);
        assert_int_equal(a, b);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(labels[i], expected[i] + 5);
        for (size_t k = 0; k < a; k++) {
            assert_int_equal(mine[k].id, fresh_ones[k].id + 5);
            assert_int_equal(mine[k].event, fresh_ones[k].event);
            assert_true(mine[k].weight == fresh_ones[k].weight);
            assert_memory_equal(mine[k].mean, fresh_ones[k].mean, 5 * sizeof(float));
        }
    }
    ast_stream_close(stream);
    ast_stream_close(fresh);
}

/* Axis by axis, with more points each time: ids 0..4, last seen in frames 0..4. Then three at once with 1, 3, 3 points:
 * the longest unseen go first, then the lightest, then the youngest. */
static void the_limit_takes_the_longest_unseen(void **state) {
    (void)state;
    ast_stream_options options = options_of(5, 40, 20);
    options.max_clusters = 2;
    ast_stream *stream = open_stream(&options);
    static const float axis[3][5] = {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 0}};
    float x[7 * 5];
    size_t count;
    for (int t = 0; t < 2; t++)
        feed(stream, axis[t], 1, 5, NULL);
    feed(stream, axis[2], 1, 5, NULL); /* id 0 is the longest unseen */
    check_event(stream, 2, 0, AST_DIED, 2);
    check_event(stream, 2, 1, AST_UNSEEN, 1);
    check_event(stream, 2, 2, AST_BORN, 0);
    ast_stream_reset(stream);
    for (size_t i = 0; i < 7; i++) /* ids 3 (one point), 4 and 5 (three each) */
        memcpy(x + i * 5, axis[i == 0 ? 0 : 1 + i % 2], sizeof axis[0]);
    ast_frame frame = feed(stream, x, 7, 5, NULL);
    assert_int_equal(frame.clusters, 3);
    check_event(stream, 3, 3, AST_DIED, 0);
    check_event(stream, 3, 4, AST_BORN, 0);
    check_event(stream, 3, 5, AST_BORN, 0);
    options.max_clusters = 1;
    ast_stream *one = open_stream(&options);
    feed(one, x + 5, 6, 5, NULL); /* equal weights: the younger one goes */
    check_event(one, 0, 0, AST_BORN, 0);
    check_event(one, 0, 1, AST_DIED, 0);
    feed(one, NULL, 0, 5, NULL);
    ast_stream_clusters(one, &count);
    assert_int_equal(count, 1);
    ast_stream_close(one);
    ast_stream_close(stream);
}

/* ---- Input that cannot be used --------------------------------------------------------------------------------- */

static void check_bad_frame(ast_stream *stream, const ast_points *points, ast_status expected, const char *word) {
    int32_t labels[4] = {9, 9, 9, 9};
    ast_frame frame;
    memset(&frame, 0x5a, sizeof frame);
    unsigned char untouched[sizeof frame];
    memset(untouched, 0x5a, sizeof untouched);
    bytes before = saved(stream);
    ast_status status = ast_stream_step(stream, points, labels, &frame);
    if (status != expected || !strstr(ast_message(context_of_two()), word))
        fail_msg("status %d, \"%s\"; should be %d and say \"%s\"", status, ast_message(context_of_two()), expected,
                 word);
    for (int i = 0; i < 4; i++)
        assert_int_equal(labels[i], 9);
    assert_memory_equal(&frame, untouched, sizeof frame);
    check_state(stream, &before, "by a frame that failed");
    assert_int_equal(ast_stream_predict(stream, points, labels), expected);
    free(before.data);
}

static void bad_frames_change_nothing(void **state) {
    (void)state;
    static const float x[4 * 5] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
    static const double weights[4] = {1, 2, 1, 2};
    ast_stream_options options = options_of(5, 40, 20);
    ast_stream *stream = used_stream(&options, 1), *twin = used_stream(&options, 1);
    ast_points points = ast_points_f4(x, 4, 4);
    check_bad_frame(stream, &points, AST_BAD_DATA, "frame 8");
    float infinite[20];
    memcpy(infinite, x, sizeof x);
    infinite[2 * 5 + 3] = -INFINITY;
    points = ast_points_f4(infinite, 4, 5);
    check_bad_frame(stream, &points, AST_BAD_DATA, "row 3");
    points = ast_points_f4(x, 4, 5);
    points.weights = weights;
    check_bad_frame(stream, &points, AST_BAD_OPTION, "weights");
    int32_t labels[4], expected[4];
    feed(stream, x, 4, 5, labels);
    feed(twin, x, 4, 5, expected);
    assert_memory_equal(labels, expected, sizeof labels);
    bytes now = saved(twin);
    check_state(stream, &now, "by frames that failed");
    free(now.data);
    ast_stream_close(stream);
    ast_stream_close(twin);
    ast_stream_close(NULL);
}

static void check_bad_options(const ast_stream_options *options, const char *word) {
    const char *problem = ast_stream_options_problem(options);
    if (!problem || !strstr(problem, word))
        fail_msg("options with a bad %s: \"%s\"", word, problem ? problem : "no problem");
    assert_null(ast_stream_open(context_of_two(), options));
    if (!strstr(ast_message(context_of_two()), word))
        fail_msg("opened with a bad %s: \"%s\"", word, ast_message(context_of_two()));
}

static void bad_options_are_named(void **state) {
    (void)state;
    static const double bad_numbers[] = {-1, INFINITY, -INFINITY, 181};
    ast_stream_options good = options_of(5, 40, 20), o;
    assert_null(ast_stream_options_problem(&good));
    ast_stream_options_init(&o);
    check_bad_options(&o, "dimension");
    o = good, o.dimension = 1;
    check_bad_options(&o, "dimension");
    o = good, o.dimension = 4097;
    check_bad_options(&o, "dimension");
    o = good, o.angle = NAN;
    check_bad_options(&o, "angle");
    for (int i = 0; i < 4; i++) {
        o = good, o.angle = bad_numbers[i];
        check_bad_options(&o, "angle");
    }
    o = good, o.drift = 0;
    check_bad_options(&o, "drift");
    o = good, o.drift = NAN;
    check_bad_options(&o, "drift");
    o = good, o.drift = -1;
    check_bad_options(&o, "drift");
    o = good, o.beta = -1;
    check_bad_options(&o, "beta");
    o = good, o.max_iterations = 0;
    check_bad_options(&o, "iterations");
    o = good, o.method = (ast_stream_method)7;
    check_bad_options(&o, "method");
    o = good, o.weight_update = (ast_weight_update)3;
    check_bad_options(&o, "weight");
    o = good, o.parallel = (ast_parallel)3;
    check_bad_options(&o, "parallel");
    o = good, o.drift = NAN, o.beta = 5; /* not used then */
    assert_null(ast_stream_options_problem(&o));
}

static int close_contexts(void **state) {
    (void)state;
    ref_contexts_close();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vanished_return_under_their_ids),
        cmocka_unit_test(the_lifetime_is_exact),
        cmocka_unit_test(a_frame_alone_is_the_batch),
        cmocka_unit_test(streams_share_a_context),
        cmocka_unit_test(an_empty_frame_only_ages),
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(states_of_other_options_are_refused),
        cmocka_unit_test(rotation_turns_the_means),
        cmocka_unit_test(reset_forgets_but_ids_go_on),
        cmocka_unit_test(the_limit_takes_the_longest_unseen),
        cmocka_unit_test(bad_frames_change_nothing),
        cmocka_unit_test(bad_options_are_named),
    };
    return cmocka_run_group_tests_name("stream rules", tests, NULL, close_contexts);
}
