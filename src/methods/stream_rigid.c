/* SPDX-License-Identifier: MIT
 *
 * A camera that rotates in a fixed scene: between two frames all directions rotate alike. The rotation is fitted to the
 * clusters with points in both frames, smoothed as a rotation vector, and applied to all means before the next frame,
 * also to clusters without points. So a direction that comes back after a long rotation is where it is expected. */
#include "stream.h"

#include "degree.h"
#include "rotation.h"

#include <string.h>

#define NEW_PART 0.2            /* share of the last rotation in the smoothed one */
#define LEAST (20 * AST_DEGREE) /* least angle between two directions for a fit: less would magnify their noise */

void ast_stream_rotate_means(const ast_stream *s, float *m) {
    double rotation[9];
    ast_rotation_of_vector(s->rotation_step, rotation);
    for (size_t k = 0; k < s->count; k++) {
        double v[3] = {s->m[3 * k], s->m[3 * k + 1], s->m[3 * k + 2]};
        ast_rotation_apply(rotation, v, v);
        for (size_t d = 0; d < 3; d++)
            m[3 * k + d] = (float)v[d];
    }
}

/* The inverse variance of a direction: the noise of its points in both frames, and its own drift. */
static double trust(const ast_stream *s, size_t k, double count) {
    double drift = s->options.drift * AST_DEGREE, spread = ast_stream_squared_spread(s, &s->track[k].spread);
    return 1 / (spread * (1 / s->track[k].n_prev + 1 / count) + drift * drift);
}

/* Adds cluster k: the expected direction of its points, and that in this frame. Axial: on the same side. */
static void add_pair(const ast_stream *s, size_t k, ast_alignment *alignment) {
    const ast_cluster_list *c = s->v.clusters;
    const float *u = s->data_direction + 3 * k;
    const double from[3] = {u[0], u[1], u[2]};
    const int64_t *sum = c->sums + 3 * k;
    double raw = ast_sum_length(sum, 3), count = ast_clusters_weight(c, (int32_t)k), to[3], along = 0;
    if (c->members[k] == 0 || s->track[k].dt > 1 || raw / c->unit <= count * AST_ZERO_SUM)
        return;
    for (size_t d = 0; d < 3; d++) {
        to[d] = (double)sum[d] / raw;
        along += from[d] * to[d];
    }
    for (size_t d = 0; d < 3 && s->options.axial && along < 0; d++)
        to[d] = -to[d];
    ast_alignment_add(alignment, from, to, trust(s, k, count));
}

/* Without a fit the rotation fades: a camera that sees too little may have stopped. */
void ast_stream_learn_rotation_step(ast_stream *s) {
    ast_alignment alignment = {0};
    double expected[9], rest[9], rotation[9], step[3] = {0};
    ast_rotation_of_vector(s->rotation_step, expected);
    if (s->count)
        memcpy(s->m, s->tracks.m, s->count * 3 * sizeof *s->m);
    for (size_t k = 0; k < s->count; k++) {
        float *u = s->data_direction + 3 * k;
        double rotated[3] = {u[0], u[1], u[2]};
        ast_rotation_apply(expected, rotated, rotated);
        for (size_t d = 0; d < 3; d++)
            u[d] = (float)rotated[d];
        add_pair(s, k, &alignment);
    }
    if (ast_alignment_solve(&alignment, LEAST, rest)) {
        ast_rotation_product(rest, expected, rotation);
        ast_vector_of_rotation(rotation, step);
    }
    for (int d = 0; d < 3; d++)
        s->rotation_step[d] = NEW_PART * step[d] + (1 - NEW_PART) * s->rotation_step[d];
}
