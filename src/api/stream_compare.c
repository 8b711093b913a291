/* SPDX-License-Identifier: MIT
 *
 * How sure the labels of a frame are: each row against the mean of its own id and the nearest other one. */
#include "context.h"

#include "memory.h"
#include "stream.h"

#include <math.h>

#define ROWS 16 /* of a task */

typedef struct comparison {
    const ast_stream *stream;
    const ast_points *points;
    const int32_t *labels;
    float *similarity, *runner_up;
    int32_t *runner_up_id;
} comparison;

static bool is_remembered(const ast_tracked *record) {
    return record->event != AST_DIED && record->event != AST_MERGED;
}

static void compare_row(const comparison *c, size_t i) {
    const ast_record_list *records = &c->stream->records;
    float x[AST_MAX_DIMENSION];
    double own = NAN, best = NAN;
    int32_t id = -1;
    ast_row_kind kind = ast_read_row(c->points, i, x);
    bool known = kind != AST_ROW_MISSING && kind != AST_ROW_INFINITE;
    for (size_t r = 0; known && r < records->count; r++) {
        const ast_tracked *record = &records->list[r];
        bool mine = record->id == c->labels[i];
        if (!mine && !is_remembered(record))
            continue;
        double cosine = ast_stream_closeness(c->stream, x, record->mean);
        if (mine) {
            own = cosine;
        } else if (!(cosine <= best)) {
            best = cosine;
            id = record->id;
        }
    }
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

static ast_status compare(ast_stream *s, comparison *c) {
    ast_status status = ast_check_points(c->points, s->fault);
    if (status == AST_OK && c->points->count > 0)
        status = ast_check_pointer(c->labels, "labels", s->fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(c->points, "a stream", s->fault);
    if (status == AST_OK && c->points->dimension != s->options.dimension)
        status = ast_fail(s->fault, AST_BAD_DATA, "the points have %zu components; the stream has %zu",
                          c->points->dimension, s->options.dimension);
    if (status == AST_OK)
        ast_pool_ranges(s->pool, c->points->count, ROWS, compare_rows, c);
    return status;
}

ast_status ast_stream_compare(ast_stream *s, const ast_points *points, const int32_t *labels, float *similarity,
                              float *runner_up, int32_t *runner_up_id) {
    comparison c = {s, points, labels, similarity, runner_up, runner_up_id};
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, compare(s, &c)) : AST_BAD_OPTION;
}
