/* SPDX-License-Identifier: MIT
 *
 * States as bytes: those that are damaged, of another version or made with other options are refused with a sentence,
 * and change nothing. (That a stream goes on from its state to the bit is shown in stream.c, at every frame.) */
#include "stream_helpers.h"

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

/* An empty state of version 1 was shorter than any of today's; it is told by its version all the same. */
static void states_of_other_versions_are_refused(void **state) {
    (void)state;
    static const uint64_t versions[] = {0, 1, 2, 3, 4, 5, 7, UINT64_MAX};
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_states_are_refused),           cmocka_unit_test(states_of_other_options_are_refused),
        cmocka_unit_test(states_of_other_trackers_are_refused), cmocka_unit_test(states_of_like_options_are_taken),
        cmocka_unit_test(states_of_other_versions_are_refused),
    };
    return cmocka_run_group_tests_name("states of streams", tests, NULL, ref_contexts_end);
}
