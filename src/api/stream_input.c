/* SPDX-License-Identifier: MIT
 *
 * Prepares the rows of a frame for the stream: subtracts the common direction, and marks rows as late whose quality is
 * too low to start a cluster or to move a mean. */
#include "stream_input.h"

#include "center.h"
#include "memory.h"

#include <string.h>

#define LEAST_WEIGHT 0x1p-20 /* of a row that moves a mean: sums are integers */
#define ROWS 16              /* of a task */

ast_status ast_stream_keep_center(ast_stream *s, const float *center) {
    size_t dimension = s->options.dimension;
    s->options.center = NULL; /* the caller's */
    if (!center)
        return AST_OK;
    for (size_t d = 0; d < dimension; d++)
        if (!isfinite(center[d]))
            return ast_fail(s->fault, AST_BAD_OPTION, "component %zu (counting from 1) of the centre is not finite",
                            d + 1);
    s->input.center = ast_allocate(dimension, sizeof *center);
    if (!s->input.center)
        return ast_fail_memory(s->fault);
    memcpy(s->input.center, center, dimension * sizeof *center);
    return AST_OK;
}

typedef struct centring {
    const ast_points *points;
    const float *center;
    float *rows; /* (N, D) */
} centring;

static void centre_row(void *data, size_t i) {
    const centring *c = data;
    ast_center_row(c->points, i, c->center, c->rows + i * c->points->dimension);
}

static ast_status centre(ast_stream *s, const ast_points *given, ast_points *taken) {
    ast_stream_input *in = &s->input;
    size_t numbers = given->count * given->dimension;
    if (!ast_reserve(&in->rows, &in->row_capacity, 0, numbers + 1, sizeof *in->rows))
        return ast_fail_memory(s->fault);
    centring c = {given, in->center, in->rows};
    ast_pool_each(s->pool, given->count, ROWS, centre_row, &c);
    *taken = ast_points_f4(in->rows, given->count, given->dimension);
    taken->weights = given->weights;
    taken->late = given->late;
    return AST_OK;
}

/* Late rows: those of the caller, and those of low quality. Adds up the weights of the others. */
static ast_status sort_by_quality(ast_stream *s, const ast_points *given, ast_points *taken) {
    ast_stream_input *in = &s->input;
    const double *weights = given->weights;
    double least = s->options.min_quality > LEAST_WEIGHT ? s->options.min_quality : LEAST_WEIGHT;
    size_t late = 0;
    in->total = 0;
    if (!weights)
        return AST_OK;
    if (!ast_reserve(&in->late, &in->late_capacity, 0, given->count + 1, 1))
        return ast_fail_memory(s->fault);
    for (size_t i = 0; i < given->count; i++) {
        if (weights[i] > AST_MAX_QUALITY)
            return ast_fail(s->fault, AST_BAD_DATA,
                            "weight %zu (counting from 1) is %g; in a stream weights are at most 1048576", i + 1,
                            weights[i]);
        in->late[i] = (given->late && given->late[i]) || weights[i] < least;
        late += in->late[i];
        in->total += in->late[i] ? 0 : weights[i];
    }
    taken->late = late ? in->late : NULL;
    return AST_OK;
}

ast_status ast_stream_prepare_points(ast_stream *s, const ast_points *given, bool qualities, ast_points *taken) {
    *taken = *given;
    ast_status status = s->input.center ? centre(s, given, taken) : AST_OK;
    if (status == AST_OK && qualities)
        status = sort_by_quality(s, given, taken);
    if (!qualities)
        taken->weights = NULL;
    return status;
}
