/* SPDX-License-Identifier: MIT
 *
 * The rows of a frame under the rotation that comes with them (ast_points.rotation), in memory of the stream. */
#include "stream_rotated.h"

#include "memory.h"
#include "rotation.h"
#include "rowset.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

#define ROWS 4096  /* of a task */
#define SAME 1e-6  /* how far products of rows may be from those of a rotation */
#define PLAIN 1e15 /* components up to here, and not all below its inverse, are rotated as they are */

static const char not_one[] = "the matrix is no rotation: its rows must be orthogonal unit vectors";

const char *ast_mend_rotation(const double *given, size_t dimension, double *mended) {
    if (dimension == 3)
        return ast_rotation_mend(given, mended) ? NULL : not_one;
    for (size_t i = 0; i < dimension; i++)
        for (size_t j = 0; j <= i; j++)
            if (!(fabs(ast_dot(given + i * dimension, given + j * dimension, dimension) - (i == j)) < SAME))
                return not_one;
    return NULL;
}

typedef struct turning {
    const ast_points *points;
    const double *rotation;
    float *rows;
} turning;

/* Any row: normalised first. A row without a direction becomes NaN, an infinite one stays infinite. */
static void turn_row(const turning *t, size_t i, float *out) {
    float row[AST_MAX_DIMENSION];
    size_t dimension = t->points->dimension;
    ast_row_kind kind = ast_read_row(t->points, i, row);
    for (size_t d = 0; d < dimension; d++) {
        const double *r = t->rotation + d * dimension;
        double sum = 0;
        for (size_t e = 0; e < dimension; e++)
            sum += r[e] * (double)row[e];
        out[d] = kind == AST_ROW_MISSING ? NAN : kind == AST_ROW_INFINITE ? INFINITY : (float)sum;
    }
}

/* The normals of an image. */
static void turn_floats(const turning *t, size_t first, size_t last) {
    const double *r = t->rotation;
    for (size_t i = first; i < last; i++) {
        const float *x = (const void *)((const char *)t->points->data + (ptrdiff_t)i * t->points->row_stride);
        double a = (double)x[0], b = (double)x[1], c = (double)x[2], size = fabs(a) + fabs(b) + fabs(c);
        float *out = t->rows + 3 * i;
        if (size > 1 / PLAIN && size < PLAIN) {
            out[0] = (float)(r[0] * a + r[1] * b + r[2] * c);
            out[1] = (float)(r[3] * a + r[4] * b + r[5] * c);
            out[2] = (float)(r[6] * a + r[7] * b + r[8] * c);
        } else {
            turn_row(t, i, out);
        }
    }
}

static void turn_rows(void *data, size_t first, size_t last) {
    const turning *t = data;
    const ast_points *points = t->points;
    bool floats = points->type == AST_F4 && points->dimension == 3 && points->column_stride == sizeof(float) &&
                  points->row_stride % (ptrdiff_t)sizeof(float) == 0;
    if (floats) {
        turn_floats(t, first, last);
        return;
    }
    for (size_t i = first; i < last; i++)
        turn_row(t, i, t->rows + i * points->dimension);
}

static ast_status turn(ast_stream *s, const ast_points *points, ast_points *view) {
    double mended[9];
    ast_points plain = *points;
    plain.rotation = NULL;
    ast_status status = ast_check_points(&plain, s->fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "a stream", s->fault);
    if (status != AST_OK)
        return status;
    const char *problem = ast_mend_rotation(points->rotation, points->dimension, mended);
    if (problem)
        return ast_fail_option(problem, s->fault);
    size_t numbers = points->count * points->dimension;
    if (!ast_ensure_arrays(&s->rotated_capacity, numbers, AST_REQUEST(s->rotated, numbers)))
        return ast_fail_memory(s->fault);
    turning t = {&plain, points->dimension == 3 ? mended : points->rotation, s->rotated};
    ast_pool_ranges(s->pool, points->count, ROWS, turn_rows, &t);
    *view = ast_points_f4(s->rotated, points->count, points->dimension);
    view->weights = points->weights;
    view->late = points->late;
    return AST_OK;
}

ast_status ast_stream_rotate_points(ast_stream *s, const ast_points **points, ast_points *view) {
    if (!*points || (*points)->size != sizeof **points || !(*points)->rotation)
        return AST_OK;
    ast_status status = turn(s, *points, view);
    *points = view;
    return status;
}
