/* SPDX-License-Identifier: MIT
 *
 * The bytes of a stream: one state, and after it any number of changes (state_changes.c), each with a head, a version
 * and a checksum of its own. state.c has the state, state_read.c puts both together. */
#pragma once

#include "context.h"

#include "checksum.h"
#include "saved.h"
#include "stream.h"

typedef struct ast_state_header {
    uint64_t magic, version, size;
    uint64_t dimension, method, weight_update, lifetime, max_iterations, max_clusters, axial, revive_near;
    uint64_t merge_tracked, rigid, score, exclusive, born_after, min_size, centered;
    double angle, drift, beta, min_quality;
    uint64_t frame, next_id, count, pairs;
    uint64_t names, barred, apart, log;
    ast_spread spread, pair_cosine;
    double rotation_step[3];
    uint64_t landmarks; /* 1: their map is at the end */
} ast_state_header;

/* The head of changes: what happened from frame number `since` up to, without, frame number `frame`. Ids in the changes
 * replace the same ids of the state. All other ids age by the difference of the two numbers, and end if they are older
 * than the lifetime then. */
typedef struct ast_changes_header {
    uint64_t magic, version, size;
    uint64_t dimension, since, frame, next_id;
    uint64_t count; /* of all means afterwards */
    uint64_t means, gone, pairs;
    uint64_t known; /* 1: with all names, forbidden rows and pairs that never merge */
    uint64_t names, barred, apart;
    ast_spread spread, pair_cosine;
    uint64_t landmarks;
} ast_changes_header;

extern const ast_saved_format ast_state_format, ast_changes_format;

/* Where the bytes of a state go, one after the other: memory or a function of the caller. */
typedef struct ast_state_sink {
    unsigned char *at; /* NULL: write() */
    ast_state_write *write;
    void *data;
    ast_checksum_parts sum;
    bool failed;
} ast_state_sink;

void ast_state_put(ast_state_sink *sink, const void *bytes, size_t size);
void ast_state_put_sum(ast_state_sink *sink);

/* The stream's own buffer, of at least `size` bytes. NULL: no memory. */
unsigned char *ast_state_buffer(ast_stream *stream, size_t size);

/* Copies bytes, and returns where they end. */
const unsigned char *ast_state_get(void *to, const unsigned char *from, size_t size);

/* The number of entries of each part, and where the part begins. Numbers are below 2^31. */
typedef struct ast_state_parts {
    size_t dimension;
    uint64_t next_id;
    size_t means, gone, pairs, apart, names, log, barred, landmarks;
    size_t at_tracks, at_m, at_u, at_gone, at_pairs, at_apart, at_names, at_log, at_barred, at_rows, at_landmarks;
    size_t size; /* of everything, if the numbers in the head are true */
} ast_state_parts;

ast_state_parts ast_state_lay_out(const ast_state_header *header);
ast_state_parts ast_changes_lay_out(const ast_changes_header *header);

/* state_possible.c. Whether numbers that were read are a spread; whether parts that were read are those of a stream. */
bool ast_state_is_spread(const ast_spread *spread);
bool ast_state_is_possible(const unsigned char *bytes, const ast_state_parts *parts);

/* The head of a stream as it is now, without `size`. */
ast_state_header ast_state_describe(const ast_stream *stream);
