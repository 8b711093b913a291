/* SPDX-License-Identifier: MIT
 *
 * The rotation of the camera over the frames of a stream. At most 8,192 rows of a frame take part, evenly spaced, and
 * consecutive equal rows count as one: they are pixels of one plane. */
#include "stream.h"

#include "memory.h"
#include "rowset.h"

#define AHEAD 24 /* rows that are asked for before they are read */

bool ast_stream_finds_rotation(const ast_stream *s) {
    const ast_stream_options *o = &s->options;
    return o->rotation && o->dimension == 3 && o->method == AST_STREAM_DDP && !o->axial && !o->exclusive;
}

/* Four columns from `memory` on; returns what is behind them. */
static float *set_columns(ast_weighted_directions *rows, float *memory) {
    for (int d = 0; d < 3; d++, memory += AST_ROTATION_PITCH)
        rows->x[d] = memory;
    rows->weight = memory;
    return memory + AST_ROTATION_PITCH;
}

bool ast_stream_reserve_rotation(ast_stream *s) {
    ast_stream_sample *sample = &s->sample;
    ast_frame_directions *directions = &sample->directions;
    if (!ast_stream_finds_rotation(s))
        return true;
    if (!ast_ensure_arrays(&sample->capacity, AST_ROTATION_ROWS, AST_REQUEST(sample->columns, 8 * AST_ROTATION_PITCH),
                           AST_REQUEST(directions->nearest, AST_ROTATION_ROWS)))
        return false;
    directions->kernels = s->kernels->directions;
    set_columns(&directions->parts, set_columns(&directions->rows, sample->columns));
    return true;
}

void ast_stream_free_rotation(ast_stream *s) {
    ast_free_all(s->sample.columns, s->sample.directions.nearest);
}

/* Row i of any type. */
static ast_row_kind read_other(const ast_points *points, size_t i, float *row) {
    float read[3] = {0}; /* apart from `row`, which stays in registers */
    ast_row_kind kind = ast_read_row(points, i, read);
    for (int d = 0; d < 3; d++)
        row[d] = read[d];
    return kind;
}

/* Takes every step-th row. If all are unit vectors in adjacent floats, no branch depends on a row: `weight` counts a
 * row and its equals before it, and the last of them is stored last. */
static void take_rows(const ast_points *points, size_t step, ast_frame_directions *sample) {
    const ast_weighted_directions rows = sample->rows;
    const ast_points view = *points;
    bool tight = ast_has_tight_floats(&view);
    float before[3] = {0}, weight = 0, row[3];
    size_t count = 0, taken = 0;
    for (size_t i = 0; i < view.count; i += step) {
        size_t next = i + AHEAD * step < view.count ? i + AHEAD * step : i;
        __builtin_prefetch((const char *)view.data + (ptrdiff_t)next * view.row_stride);
        if (view.late && view.late[i])
            continue;
        ast_row_kind kind = tight ? ast_read_tight_row(&view, i, row) : read_other(points, i, row);
        if (kind == AST_ROW_MISSING || kind == AST_ROW_INFINITE)
            continue;
        bool same = (row[0] == before[0]) & (row[1] == before[1]) & (row[2] == before[2]);
        weight = same ? weight + 1 : 1;
        count += !same;
        taken++;
        for (int d = 0; d < 3; d++)
            rows.x[d][count - 1] = before[d] = row[d];
        rows.weight[count - 1] = weight;
    }
    sample->rows.count = count;
    sample->total = (double)taken;
}

void ast_stream_find_rotation(ast_stream *s, const ast_points *points) {
    ast_frame_directions *sample = &s->sample.directions;
    if (!ast_stream_finds_rotation(s))
        return;
    take_rows(points, points->count / AST_ROTATION_ROWS + 1, sample);
    ast_landmarks_step(&s->landmarks, sample);
}
