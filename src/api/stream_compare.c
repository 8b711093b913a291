/* SPDX-License-Identifier: MIT
 *
 * How sure the labels of a frame are: each row against the mean of its own id and the nearest other one. */
#include "context.h"

#include "memory.h"
#include "stream.h"
#include "stream_input.h"
#include "stream_rotated.h"

#include <math.h>

#define ROWS 16 /* of a task */

typedef struct comparison {
    const ast_stream *stream;
    const ast_points *points;
    const int32_t *labels;
    float *similarity, *runner_up;
    int32_t *runner_up_id;
} comparison;

/* The mean that an id had in the last frame, if it died or was merged then; NULL: there is no such record. */
static const float *last_mean(const ast_stream *s, int32_t id) {
    if (id < 0 || s->records.count == 0)
        return NULL;
    const ast_tracked *record = ast_stream_record(s, id);
    return record->id == id ? record->mean : NULL;
}

/* The largest cosine with a mean of the id that has the tracks first..end-1. */
static double nearest_mean(const ast_stream *s, size_t first, size_t end, const float *x) {
    double most = -4;
    for (size_t k = first; k < end; k++) {
        double cosine = ast_stream_closeness(s, x, s->m + k * s->options.dimension);
        most = cosine > most ? cosine : most;
    }
    return most;
}

static void compare_row(const comparison *c, size_t i) {
    const ast_stream *s = c->stream;
    float x[AST_MAX_DIMENSION];
    double own = NAN, best = NAN;
    int32_t id = -1;
    ast_row_kind kind = ast_read_row(c->points, i, x);
    bool known = kind != AST_ROW_MISSING && kind != AST_ROW_INFINITE;
    for (size_t k = 0, end; known && k < s->count; k = end) {
        end = ast_stream_end_of_id(s, k);
        double cosine = nearest_mean(s, k, end, x);
        if (s->track[k].id == c->labels[i]) {
            own = cosine;
        } else if (!(cosine <= best)) {
            best = cosine;
            id = s->track[k].id;
        }
    }
    const float *mean = known && isnan(own) ? last_mean(s, c->labels[i]) : NULL;
    if (mean)
        own = ast_stream_closeness(s, x, mean);
    if (c->similarity)
        c->similarity[i] = (float)own;
    if (c->runner_up)
        c->runner_up[i] = (float)best;
    if (c->runner_up_id)
        c->runner_up_id[i] = id;
}

static void compare_rows(void *data, size_t first, size_t last) {
    for (size_t i = first; i < last; i++)
        compare_row(data, i);
}

static ast_status compare(ast_stream *s, const comparison *given) {
    comparison own = *given, *c = &own;
    ast_points view;
    ast_status status = ast_stream_rotated(s, &c->points, &view);
    if (status == AST_OK)
        status = ast_check_points(c->points, s->fault);
    if (status == AST_OK && c->points->count > 0)
        status = ast_check_pointer(c->labels, "labels", s->fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(c->points, "a stream", s->fault);
    if (status == AST_OK && c->points->dimension != s->options.dimension)
        status = ast_fail(s->fault, AST_BAD_DATA, "the points have %zu components; the stream has %zu",
                          c->points->dimension, s->options.dimension);
    ast_points taken;
    if (status == AST_OK)
        status = ast_stream_take(s, c->points, false, &taken);
    c->points = &taken;
    if (status == AST_OK)
        ast_pool_ranges(s->pool, taken.count, ROWS, compare_rows, c);
    return status;
}

ast_status ast_stream_compare(ast_stream *s, const ast_points *points, const int32_t *labels, float *similarity,
                              float *runner_up, int32_t *runner_up_id) {
    const comparison c = {s, points, labels, similarity, runner_up, runner_up_id};
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, compare(s, &c)) : AST_BAD_OPTION;
}
