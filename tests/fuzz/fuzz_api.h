/* SPDX-License-Identifier: MIT
 *
 * The C interface as a state machine: an input is a program of calls, in any order, with arguments that are sensible
 * most of the time and wild otherwise. What the parts share: the objects that are open, and arguments from bytes. */
#ifndef ASTERISM_TESTS_FUZZ_API_H
#define ASTERISM_TESTS_FUZZ_API_H

#include "fuzz.h"

#include <asterism.h>
#include <asterism_depth.h>
#include <asterism_tally.h>

enum { MOST_ROWS = 24, MOST_DIMENSION = 6, UNTOUCHED = 0x5a5a5a5a };

typedef struct machine {
    const uint8_t *at, *end; /* the program that is left */
    ast_context *context;
    ast_stream *stream;
    ast_model *model;
    ast_tally *tally;
    ast_depth *depth;
    ast_depth_frame *frame;
    ast_plane_map *map;
    ast_points points;
    size_t stream_dimension;
    float rows[MOST_ROWS * MOST_DIMENSION];
    double weights[MOST_ROWS], rotation[MOST_DIMENSION * MOST_DIMENSION];
    uint8_t late[MOST_ROWS];
    int32_t starts[MOST_ROWS + 1], columns[MOST_ROWS * MOST_DIMENSION], groups[MOST_ROWS];
    float means[MOST_ROWS * MOST_DIMENSION];
    ast_options options; /* of the last run */
    int32_t labels[MOST_ROWS];
    size_t labelled; /* rows of the last run that succeeded */
} machine;

/* The next byte below `below`; 0 behind the end. */
static inline unsigned pick(machine *m, unsigned below) {
    return m->at < m->end ? *m->at++ % below : 0;
}

static inline bool now_and_then(machine *m) {
    return pick(m, 8) == 7;
}

/* One of ten numbers that are usual for an angle, and with a byte of 240 and more anything. */
static inline double real(machine *m) {
    static const double usual[] = {20, 40, 60, 90, 5, 1, 0.5, 0, 180, 10};
    static const double wild[] = {-1, 1e300, -1e300, 1e-310, (double)INFINITY, -(double)INFINITY, (double)NAN, 181};
    unsigned byte = pick(m, 256);
    return byte >= 240 ? wild[byte % 8] : usual[byte % 10];
}

static inline size_t count(machine *m) {
    unsigned byte = pick(m, 256);
    return byte >= 252 ? SIZE_MAX >> (byte - 252) * 16 : byte % 7;
}

static inline int whole(machine *m) {
    unsigned byte = pick(m, 256);
    return byte >= 250 ? (byte % 2 ? INT32_MAX : INT32_MIN) : (int)(byte % 8) - (byte >= 240);
}

/* A status has its sentence, and only a failure has one. */
static inline bool outcome(const machine *m, ast_status status) {
    const char *message = ast_message(m->context);
    require(status >= AST_OK && status <= AST_NO_INPUT);
    require((status == AST_OK) == (*message == 0) && !strchr(message, '\n'));
    return status == AST_OK;
}

/* Labels after a call: of clusters, or as they were. */
static inline void check_labels(const int32_t *labels, size_t rows, bool good, int32_t clusters) {
    for (size_t i = 0; i < rows; i++)
        require(good ? labels[i] >= -1 && labels[i] < clusters : labels[i] == UNTOUCHED);
}

static inline void untouch(int32_t *labels) {
    for (size_t i = 0; i < MOST_ROWS; i++)
        labels[i] = UNTOUCHED;
}

#endif
