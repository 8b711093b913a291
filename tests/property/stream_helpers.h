/* SPDX-License-Identifier: MIT
 *
 * What the tests of the rules of streams share: a stream with something in it, a frame that must be taken, the record
 * of an id, a state as bytes. A failure fails the running cmocka test. */
#ifndef STREAM_RULES_H
#define STREAM_RULES_H

#include "reference/harness.h"

#include "random.h"

enum { MOST = 400 }; /* points a frame */

ast_context *rules_context(void); /* of two threads */
ast_stream_options rules_options(size_t dimension, double angle, uint32_t lifetime);
ast_stream *rules_open(const ast_stream_options *options);

/* One frame of tight rows; the frame must be taken. labels: (count), or NULL. */
ast_frame rules_feed(ast_stream *stream, const float *x, size_t count, size_t dimension, int32_t *labels);

const ast_tracked *rules_record(ast_stream *stream, int32_t id); /* NULL: there is none */
void rules_check_event(ast_stream *stream, int frame, int32_t id, ast_event event, uint32_t age);

/* The state, copied: the library's own bytes last only until the next call. */
typedef struct rules_bytes {
    unsigned char *data; /* the caller's to free */
    size_t size;
} rules_bytes;

rules_bytes rules_save(ast_stream *stream);
void rules_check_state(ast_stream *stream, const rules_bytes *expected, const char *when);

/* `each` points around the chosen axes of five dimensions, all of whose angles are right ones. */
size_t rules_axes(float *x, const int *axes, size_t count, size_t each, double noise, ast_random *random);

/* A stream of five dimensions with something in it: five clusters, three of them unseen for some frames. */
ast_stream *rules_used(const ast_stream_options *options, uint64_t seed);

#endif
