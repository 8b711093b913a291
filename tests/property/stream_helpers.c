/* SPDX-License-Identifier: MIT */
#include "stream_helpers.h"

#include <stdlib.h>
#include <string.h>

ast_context *rules_context(void) {
    return ref_context(REF_FAST, 2);
}

ast_stream_options rules_options(size_t dimension, double angle, uint32_t lifetime) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    options.dimension = dimension;
    options.angle = angle;
    options.lifetime = lifetime;
    return options;
}

ast_stream *rules_open(const ast_stream_options *options) {
    ast_stream *stream;
    ast_stream_open(&stream, rules_context(), options);
    if (!stream)
        fail_msg("%s", ast_message(rules_context()));
    return stream;
}

ast_frame rules_feed(ast_stream *stream, const float *x, size_t count, size_t dimension, int32_t *labels) {
    ast_frame frame = {.size = sizeof frame};
    ast_points points = ast_points_f4(x, count, dimension);
    int32_t own[MOST];
    assert_true(count <= MOST);
    ast_status status = ast_stream_step(stream, &points, labels ? labels : own, &frame);
    if (status != AST_OK)
        fail_msg("status %d, %s", status, ast_message(rules_context()));
    return frame;
}

const ast_tracked *rules_record(ast_stream *stream, int32_t id) {
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(stream, &count);
    for (size_t k = 0; k < count; k++)
        if (clusters[k].id == id)
            return &clusters[k];
    return NULL;
}

void rules_check_event(ast_stream *stream, int frame, int32_t id, ast_event event, uint32_t age) {
    const ast_tracked *record = rules_record(stream, id);
    if (!record)
        fail_msg("frame %d: no record of id %d", frame, id);
    if (record->event != event || record->age != age)
        fail_msg("frame %d: id %d has event %d, age %u; should be %d, %u", frame, id, record->event, record->age, event,
                 age);
}

rules_bytes rules_save(ast_stream *stream) {
    rules_bytes copy = {NULL, 0};
    const void *state = ast_stream_save(stream, &copy.size);
    assert_non_null(state);
    copy.data = ref_take(copy.size, 1);
    memcpy(copy.data, state, copy.size);
    return copy;
}

void rules_check_state(ast_stream *stream, const rules_bytes *expected, const char *when) {
    rules_bytes now = rules_save(stream);
    if (now.size != expected->size || memcmp(now.data, expected->data, now.size) != 0)
        fail_msg("the state changed %s", when);
    free(now.data);
}

size_t rules_axes(float *x, const int *axes, size_t count, size_t each, double noise, ast_random *random) {
    for (size_t i = 0; i < count * each; i++)
        for (size_t d = 0; d < 5; d++)
            x[i * 5 + d] = (float)((axes[i % count] == (int)d) + noise * ast_random_normal(random));
    return count * each;
}

ast_stream *rules_used(const ast_stream_options *options, uint64_t seed) {
    static const int all[] = {0, 1, 2, 3, 4}, two[] = {0, 3};
    float x[MOST * 5];
    ast_random random;
    ast_random_seed(&random, seed, 7);
    ast_stream *stream = rules_open(options);
    for (int t = 0; t < 8; t++)
        rules_feed(stream, x, rules_axes(x, t < 5 ? all : two, t < 5 ? 5 : 2, 4, 0.05, &random), 5, NULL);
    return stream;
}
