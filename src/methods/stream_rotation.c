/* SPDX-License-Identifier: MIT
 *
 * The rotation of the camera over the frames of a stream. At most 8,192 rows of a frame take part, evenly spaced, and
 * consecutive equal rows count as one: they are pixels of one plane. */
#include "stream.h"

#include "memory.h"
#include "rowset.h"

#include <string.h>

bool ast_stream_finds_rotation(const ast_stream *s) {
    const ast_stream_options *o = &s->options;
    return o->rotation && o->dimension == 3 && o->method == AST_STREAM_DDP && !o->axial && !o->exclusive;
}

bool ast_stream_reserve_rotation(ast_stream *s) {
    ast_stream_sample *sample = &s->sample;
    return !ast_stream_finds_rotation(s) ||
           ast_ensure_arrays(&sample->capacity, AST_ROTATION_ROWS, AST_REQUEST(sample->x, AST_ROTATION_ROWS),
                             AST_REQUEST(sample->weight, AST_ROTATION_ROWS),
                             AST_REQUEST(sample->nearest, AST_ROTATION_ROWS),
                             AST_REQUEST(sample->list, AST_ROTATION_ROWS));
}

void ast_stream_free_rotation(ast_stream *s) {
    ast_free_all(s->sample.x, s->sample.weight, s->sample.nearest, s->sample.list);
}

/* Adds a row, or counts it with the one before. */
static size_t add_row(ast_stream_sample *sample, size_t count, const float *row) {
    double x[3] = {(double)row[0], (double)row[1], (double)row[2]};
    const double *before = count > 0 ? sample->x[count - 1] : NULL;
    if (before && before[0] == x[0] && before[1] == x[1] && before[2] == x[2]) {
        sample->weight[count - 1] += 1;
        return count;
    }
    memcpy(sample->x[count], x, sizeof x);
    sample->weight[count] = 1;
    return count + 1;
}

void ast_stream_find_rotation(ast_stream *s, const ast_points *points) {
    ast_stream_sample *sample = &s->sample;
    size_t count = 0, step = points->count / AST_ROTATION_ROWS + 1;
    float row[3];
    if (!ast_stream_finds_rotation(s))
        return;
    for (size_t i = 0; i < points->count; i += step) {
        bool late = points->late && points->late[i];
        ast_row_kind kind = late ? AST_ROW_MISSING : ast_read_row(points, i, row);
        if (kind != AST_ROW_MISSING && kind != AST_ROW_INFINITE)
            count = add_row(sample, count, row);
    }
    ast_landmarks_step(&s->landmarks, &(ast_direction_sample){(const double(*)[3])sample->x, sample->weight,
                                                              sample->nearest, sample->list, count});
}
