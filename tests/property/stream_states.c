/* SPDX-License-Identifier: MIT
 *
 * States as bytes: those that are damaged, of another version or made with other options are refused with a sentence,
 * and change nothing. (That a stream goes on from its state to the bit is shown in stream.c, at every frame.) */
#include "stream_helpers.h"

#include "checksum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- States ---------------------------------------------------------------------------------------------------- */

/* A stream that is offered a state it must refuse, and must not be changed by. Returns what it said. */
static const char *check_refused(ast_stream *stream, const void *data, size_t size, const rules_bytes *before,
                                 const char *what, size_t where) {
    static char message[300];
    ast_status status = ast_stream_load(stream, data, size);
    snprintf(message, sizeof message, "%s", ast_message(rules_context()));
    if (status != AST_BAD_DATA || strlen(message) < 10)
        fail_msg("%s at %zu: status %d, \"%s\"", what, where, status, message);
    rules_check_state(stream, before, what);
    return message;
}

static void damaged_states_are_refused(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1), *other = rules_used(&options, 2);
    rules_bytes good = rules_save(stream), before = rules_save(other);
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
    rules_check_state(other, &good, "by being loaded");
    free(good.data);
    free(before.data);
    ast_stream_close(stream);
    ast_stream_close(other);
}

static void check_other(const ast_stream_options *options, const rules_bytes *good, const char *name) {
    ast_stream *other = rules_open(options);
    rules_bytes before = rules_save(other);
    const char *message = check_refused(other, good->data, good->size, &before, name, 0);
    if (!strstr(message, name))
        fail_msg("another %s: \"%s\" does not name it", name, message);
    free(before.data);
    ast_stream_close(other);
}

static void states_of_other_options_are_refused(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20), o;
    ast_stream *stream = rules_used(&options, 1);
    rules_bytes good = rules_save(stream);
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
    check_other(&o, &good, "weight update");
    o = options, o.lifetime = 21;
    check_other(&o, &good, "lifetime");
    o = options, o.max_iterations = 99;
    check_other(&o, &good, "max_iterations");
    o = options, o.max_clusters = 9;
    check_other(&o, &good, "max_clusters");
    free(good.data);
    ast_stream_close(stream);
}

/* The same with the paper's tracker, whose own update of the weights is the paper's. */
static void states_of_other_trackers_are_refused(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20), o;
    options.beta = 100;
    ast_stream *stream = rules_used(&options, 1);
    rules_bytes good = rules_save(stream);
    o = options, o.beta = NAN;
    check_other(&o, &good, "beta");
    o = options, o.beta = INFINITY;
    check_other(&o, &good, "beta");
    o = options, o.weight_update = AST_POSTERIOR;
    check_other(&o, &good, "weight update");
    free(good.data);
    ast_stream_close(stream);
}

/* What changes no label, or says the same in other words. */
static void states_of_like_options_are_taken(void **state) {
    (void)state;
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1);
    rules_bytes good = rules_save(stream);
    options.parallel = AST_SERIAL;
    options.bounds = 0;
    options.weight_update = AST_POSTERIOR;
    ast_stream *same = rules_open(&options);
    assert_int_equal(ast_stream_load(same, good.data, good.size), AST_OK);
    rules_check_state(same, &good, "by being loaded");
    free(good.data);
    ast_stream_close(same);
    ast_stream_close(stream);
}

/* Records of a loaded state are those of the last step, without the clusters that ended in it. */
static void check_records(const ast_stream *stream, const ast_stream *loaded, size_t dimension) {
    size_t count, remembered, k = 0;
    const ast_tracked *all = ast_stream_clusters(stream, &count), *some = ast_stream_clusters(loaded, &remembered);
    double points = 0;
    for (size_t i = 0; i < count; i++)
        points += all[i].event != AST_DIED && all[i].event != AST_MERGED ? (double)all[i].count : 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].event == AST_DIED || all[i].event == AST_MERGED)
            continue;
        assert_true(k < remembered);
        assert_int_equal(some[k].id, all[i].id);
        assert_int_equal(some[k].event, all[i].count ? AST_SEEN : AST_UNSEEN);
        assert_int_equal(some[k].age, all[i].age);
        assert_int_equal(some[k].count, all[i].count);
        assert_float_equal(some[k].share, points > 0 ? (double)all[i].count / points : 0, 1e-12);
        assert_float_equal(some[k].weight, all[i].weight, 0);
        assert_float_equal(some[k].spread, all[i].spread, 0);
        assert_memory_equal(some[k].mean, all[i].mean, dimension * sizeof *all[i].mean);
        k++;
    }
    assert_int_equal(k, remembered);
}

static void check_saved(const ast_stream_options *options) {
    ast_stream *stream = rules_used(options, 3), *loaded = NULL;
    rules_bytes state = rules_save(stream);
    ast_stream_options found;
    ast_stream_options_init(&found);
    assert_int_equal(ast_stream_saved(rules_context(), state.data, state.size, &found), AST_OK);
    assert_int_equal(ast_stream_open(&loaded, rules_context(), &found), AST_OK);
    assert_int_equal(ast_stream_load(loaded, state.data, state.size), AST_OK);
    rules_check_state(loaded, &state, "by options that were read from it");
    check_records(stream, loaded, options->dimension);
    for (size_t i = 0; i < state.size; i += 7) {
        ast_stream_options kept = found;
        state.data[i] ^= 0x10;
        assert_int_equal(ast_stream_saved(rules_context(), state.data, state.size, &found), AST_BAD_DATA);
        assert_memory_equal(&kept, &found, sizeof kept);
        state.data[i] ^= 0x10;
    }
    free(state.data);
    ast_stream_close(stream);
    ast_stream_close(loaded);
}

static void states_tell_their_options_and_clusters(void **state) {
    (void)state;
    ast_stream_options o = rules_options(5, 40, 20);
    check_saved(&o);
    o.beta = 2, o.lifetime = 3, o.max_clusters = 4, o.max_iterations = 7;
    check_saved(&o);
    o = rules_options(5, 50, 2), o.axial = 1, o.revive_near = 0;
    check_saved(&o);
    o = rules_options(5, 30, 5), o.merge_tracked = 1, o.weight_update = AST_PAPER;
    check_saved(&o);
    o = rules_options(5, 60, 5), o.score = AST_SCORE_GEODESIC;
    check_saved(&o);
    o = rules_options(5, 60, 5), o.exclusive = o.merge_tracked = 1;
    check_saved(&o);
    o = rules_options(5, 60, 5), o.method = AST_STREAM_SDP, o.beta = INFINITY;
    check_saved(&o);
}

/* An empty state of version 1 was shorter than any of today's; it is told by its version all the same. */
static void states_of_other_versions_are_refused(void **state) {
    (void)state;
    static const uint64_t versions[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, UINT64_MAX};
    ast_stream_options options = rules_options(5, 40, 20);
    ast_stream *stream = rules_used(&options, 1), *other = rules_open(&options);
    rules_bytes good = rules_save(stream), before = rules_save(other);
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
        memcpy(good.data + sizeof(uint64_t), &versions[v], sizeof versions[v]); /* behind the magic number */
        for (int brief = 0; brief < 2; brief++) {
            const char *message = check_refused(other, good.data, brief ? 136 : good.size, &before, "a version", v);
            char expected[60];
            snprintf(expected, sizeof expected, "version %llu;", (unsigned long long)versions[v]);
            if (!strstr(message, expected))
                fail_msg("\"%s\" does not say \"%s\"", message, expected);
        }
    }
    free(good.data);
    free(before.data);
    ast_stream_close(stream);
    ast_stream_close(other);
}

/* States whose checksum fits, but which no stream leaves: every number of every cluster is replaced by others in turn.
 * Whatever is taken can be stepped on. */
static void impossible_states_do_no_harm(void **state) {
    (void)state;
    static const uint64_t odd[] = {0,
                                   1,
                                   9,
                                   UINT32_MAX,
                                   INT32_MAX,
                                   UINT64_MAX,
                                   0x7ff0000000000000u,
                                   0x7ff8000000000000u,
                                   0x7e37e43c8800759cu,
                                   0xbff0000000000000u,
                                   0x3f8000003f800000u};
    static const int axes[] = {0, 1, 2, 3, 4};
    ast_stream_options options = rules_options(5, 40, 20);
    options.merge_tracked = 1;
    ast_stream *stream = rules_used(&options, 1);
    rules_bytes good = rules_save(stream);
    float x[MOST * 5];
    int32_t labels[MOST];
    ast_random random;
    ast_random_seed(&random, 5, 5);
    ast_points points = ast_points_f4(x, rules_axes(x, axes, 5, 4, 0.05, &random), 5);
    size_t taken = 0, refused = 0, first = 18 * sizeof(uint64_t); /* behind the options that are whole numbers */
    unsigned char *bytes = ref_take(good.size, 1);
    for (size_t at = first; at + 2 * sizeof(uint64_t) <= good.size; at += 4) {
        for (size_t v = 0; v < sizeof odd / sizeof *odd; v++) {
            memcpy(bytes, good.data, good.size);
            memcpy(bytes + at, &odd[v], at % 8 ? 4 : 8);
            uint64_t sum = ast_checksum(bytes, good.size - sizeof sum);
            memcpy(bytes + good.size - sizeof sum, &sum, sizeof sum);
            ast_stream *other = rules_open(&options);
            if (ast_stream_load(other, bytes, good.size) == AST_OK) {
                for (int t = 0; t < 4; t++) /* ids may come to an end */
                    (void)ast_stream_step(other, &points, labels, &(ast_frame){.size = sizeof(ast_frame)});
                taken++;
            } else {
                refused++;
            }
            ast_stream_close(other);
        }
    }
    assert_true(taken > 20 && refused > 200);
    free(bytes);
    free(good.data);
    ast_stream_close(stream);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(states_of_other_options_are_refused),
        cmocka_unit_test(states_of_other_trackers_are_refused),
        cmocka_unit_test(states_of_like_options_are_taken),
        cmocka_unit_test(states_of_other_versions_are_refused),
        cmocka_unit_test(impossible_states_do_no_harm),
        cmocka_unit_test(states_tell_their_options_and_clusters),
    };
    return cmocka_run_group_tests_name("states of streams", tests, NULL, ref_contexts_end);
}
