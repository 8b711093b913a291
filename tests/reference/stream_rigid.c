/* SPDX-License-Identifier: MIT
 *
 * Section 10, --rigid: one rotation is fitted to the clusters seen in two successive frames, smoothed as a rotation
 * vector, and applied to all clusters before the next frame. */
#include "reference/stream_inside.h"

#include "rotation.h"

#include <math.h>
#include <string.h>

/* Turns a direction. */
static void turned(const ref_stream *stream, const double *v, double *out) {
    double rotation[9];
    ast_rotation_of_vector(stream->turn, rotation);
    ast_rotation_apply(rotation, v, out);
}

void ref_turn_all(ref_stream *stream) {
    for (size_t k = 0; k < stream->count; k++) {
        ref_cluster *cluster = stream->list[k];
        double v[3] = {cluster->m[0], cluster->m[1], cluster->m[2]}, out[3];
        turned(stream, v, out);
        for (size_t d = 0; d < 3; d++)
            cluster->m[d] = (float)out[d];
        if (cluster->raw_count > 0) {
            turned(stream, cluster->raw, out);
            for (int d = 0; d < 3; d++)
                cluster->raw[d] = (double)(float)out[d];
        }
    }
}

/* The data of the frame before, turned as was expected, and those of this frame. */
static void add_pair(const ref_stream *stream, const setting *s, const ref_cluster *cluster, ast_alignment *pairs) {
    double to[3], dot = 0, squares = 0, drift = ref_radians(stream->options.drift);
    for (size_t d = 0; d < 3; d++)
        squares += (double)cluster->sum[d] * (double)cluster->sum[d];
    for (size_t d = 0; d < 3; d++) {
        to[d] = (double)cluster->sum[d] / sqrt(squares);
        dot += cluster->raw[d] * to[d];
    }
    for (size_t d = 0; d < 3 && s->points->axial && dot < 0; d++)
        to[d] = -to[d];
    double noise = ref_spread_square(stream, cluster) * (1 / cluster->raw_count + 1 / (double)cluster->members);
    ast_alignment_add(pairs, cluster->raw, to, 1 / (noise + drift * drift));
}

/* Two directions that are less than 20 degrees from parallel say nothing; without a fit the turn is taken for none. */
void ref_learn_turn(ref_stream *stream, const setting *s) {
    ast_alignment pairs = {0};
    double expected[9], rest[9], whole[9], turn[3] = {0, 0, 0};
    ast_rotation_of_vector(stream->turn, expected);
    for (size_t k = 0; k < stream->count; k++) {
        const ref_cluster *cluster = stream->list[k];
        if (cluster->role == TRACKED && cluster->members > 0 && cluster->dt == 1 && ref_has_direction(cluster))
            add_pair(stream, s, cluster, &pairs);
    }
    if (ast_alignment_solve(&pairs, ref_radians(20), rest)) {
        ast_rotation_product(rest, expected, whole);
        ast_vector_of_rotation(whole, turn);
    }
    for (int d = 0; d < 3; d++)
        stream->turn[d] = 0.2 * turn[d] + (1 - 0.2) * stream->turn[d];
}
