/* SPDX-License-Identifier: MIT
 *
 * How certain the labels of a frame are: compares each row with the mean of its id and with the nearest mean of another
 * id. */
#include "context.h"

#include "memory.h"
#include "stream.h"
#include "stream_input.h"
#include "stream_rotated.h"

#include <assert.h>
#include <math.h>

enum {
    ROWS = 10, /* of a task */
    CANDIDATES = 32
};

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

/* A row, and the tracks of other ids that may be the nearest by a float product: exact ones decide. */
typedef struct compared {
    float x[AST_MAX_DIMENSION];
    bool known; /* has a direction */
    bool full;  /* too many candidates: all tracks are */
    float most;
    size_t candidates[CANDIDATES], count;
} compared;

/* Drops what a larger score has ruled out since. */
static void prune(compared *c, const float *scores, float slack, float *kept) {
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (scores[i] >= c->most - slack) {
            kept[count] = scores[i];
            c->candidates[count++] = c->candidates[i];
        }
    c->count = count;
    c->full = count == CANDIDATES;
}

static void find_candidates(const comparison *c, compared *rows, const int32_t *labels, size_t count) {
    const ast_stream *s = c->stream;
    const size_t dimension = s->options.dimension;
    const float slack = (float)ast_stream_score_slack(s);
    float scores[ROWS][CANDIDATES];
    for (size_t k = 0; k < s->count; k++)
        for (size_t i = 0; i < count; i++) {
            compared *row = &rows[i];
            if (!row->known || row->full || s->track[k].id == labels[i])
                continue;
            float score = s->kernels->dot(row->x, s->m + k * dimension, dimension);
            score = s->options.axial ? fabsf(score) : score;
            if (score < row->most - slack)
                continue;
            row->most = score > row->most ? score : row->most;
            if (row->count == CANDIDATES)
                prune(row, scores[i], slack, scores[i]);
            if (!row->full) {
                scores[i][row->count] = score;
                row->candidates[row->count++] = k;
            }
        }
}

/* The id with the largest cosine, of equal ones the first; -1: there is none. */
static int32_t runner_up(const ast_stream *s, const compared *row, int32_t own, double *cosine) {
    const size_t count = row->full ? s->count : row->count;
    int32_t id = -1;
    *cosine = NAN;
    for (size_t i = 0; i < count; i++) {
        size_t k = row->full ? i : row->candidates[i], first = k - s->track[k].part;
        double one = nearest_mean(s, first, ast_stream_end_of_id(s, first), row->x);
        if (s->track[k].id == own || one <= *cosine)
            continue;
        *cosine = one;
        id = s->track[k].id;
    }
    return id;
}

static void compare_row(const comparison *c, const compared *row, size_t i) {
    const ast_stream *s = c->stream;
    const int32_t label = c->labels[i];
    double own = NAN, best = NAN;
    int32_t id = row->known ? runner_up(s, row, label, &best) : -1;
    size_t first = ast_stream_find_id(s, label);
    const float *mean = row->known && first == s->count ? last_mean(s, label) : NULL;
    if (row->known && first < s->count)
        own = nearest_mean(s, first, ast_stream_end_of_id(s, first), row->x);
    if (mean)
        own = ast_stream_closeness(s, row->x, mean);
    if (c->similarity)
        c->similarity[i] = (float)own;
    if (c->runner_up)
        c->runner_up[i] = (float)best;
    if (c->runner_up_id)
        c->runner_up_id[i] = id;
}

/* As many rows as a task has, so that a mean is read once for all of them. */
static void compare_rows(void *data, size_t first, size_t last) {
    const comparison *c = data;
    compared rows[ROWS];
    assert(first < last && last - first <= ROWS);
    for (size_t i = first; i < last; i++) {
        compared *row = &rows[i - first];
        ast_row_kind kind = ast_read_row(c->points, i, row->x);
        row->known = kind != AST_ROW_MISSING && kind != AST_ROW_INFINITE;
        row->full = false;
        row->count = 0;
        row->most = -4;
    }
    find_candidates(c, rows, c->labels + first, last - first);
    for (size_t i = first; i < last; i++)
        compare_row(c, &rows[i - first], i);
}

static ast_status compare(ast_stream *s, const comparison *given) {
    comparison own = *given, *c = &own;
    ast_points view;
    ast_status status = ast_stream_rotate_points(s, &c->points, &view);
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
        status = ast_stream_prepare_points(s, c->points, false, &taken);
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
