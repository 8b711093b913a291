/* SPDX-License-Identifier: MIT
 *
 * A camera that turns in a scene that does not: between two frames all directions turn by one rotation. It is fitted to
 * the clusters that had points in both, smoothed as a rotation vector, and applied to all means before the next frame,
 * those that are out of sight included. So a direction that comes back after a long turn is where it is expected. */
#include "stream.h"

#include "degree.h"
#include "rotation.h"

#include <math.h>
#include <string.h>

#define NEW_PART 0.2            /* of the last turn in the smoothed one */
#define LEAST (20 * AST_DEGREE) /* between two directions that are not parallel: less would magnify their noise */

void ast_stream_rotate_means(const ast_stream *s, float *m) {
    double rotation[9];
    ast_rotation_of_vector(s->turn, rotation);
    for (size_t k = 0; k < s->count; k++) {
        double v[3] = {s->m[3 * k], s->m[3 * k + 1], s->m[3 * k + 2]};
        ast_rotation_apply(rotation, v, v);
        for (size_t d = 0; d < 3; d++)
            m[3 * k + d] = (float)v[d];
    }
}

/* A direction is known up to the noise of its points in both frames, and moves by itself as `drift` says. */
static double trust(const ast_stream *s, size_t k, double count) {
    double drift = s->options.drift * AST_DEGREE, spread = ast_stream_spread(s, &s->track[k].spread);
    return 1 / (spread * (1 / s->track[k].n_prev + 1 / count) + drift * drift);
}

/* Cluster k: its last data, turned as expected, became those of this frame. Axial: on the same side. */
static void add_pair(const ast_stream *s, size_t k, ast_alignment *alignment) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    const ast_cluster_list *c = v.clusters;
    const double *from = s->u + 3 * k;
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

/* Without a fit the turn fades: a camera that sees too little may have stopped. */
void ast_stream_learn_rotation(ast_stream *s) {
    ast_alignment alignment = {0};
    double expected[9], rest[9], whole[9], turn[3] = {0};
    ast_rotation_of_vector(s->turn, expected);
    if (s->count)
        memcpy(s->m, s->tracks.m, s->count * 3 * sizeof *s->m);
    for (size_t k = 0; k < s->count; k++) {
        ast_rotation_apply(expected, s->u + 3 * k, s->u + 3 * k);
        add_pair(s, k, &alignment);
    }
    if (ast_alignment_solve(&alignment, LEAST, rest)) {
        ast_rotation_product(rest, expected, whole);
        ast_vector_of_rotation(whole, turn);
    }
    for (int d = 0; d < 3; d++)
        s->turn[d] = NEW_PART * turn[d] + (1 - NEW_PART) * s->turn[d];
}
