/* SPDX-License-Identifier: MIT
 *
 * The spread of clusters: how far members lie from the direction of their cluster. beta of the tracker is
 * (spread / drift)^2: the smaller the spread, the less the old direction counts.
 *
 * Every cluster has a spread of its own: with one for all, a broad cluster would make the mean of a tight one lag. The
 * spread of a cluster with few points is shrunk to the pooled one, which counts as one point. */
#include "stream.h"

#include "degree.h"
#include "vectors.h"

#include <math.h>

#define MEMORY 0.9 /* factor of the sums of earlier frames in the next one */
#define PRIOR 1    /* points that the pooled spread counts as; measured in docs/trackers.md */

double ast_stream_squared_spread(const ast_stream *s, const ast_spread *own) {
    double pooled = s->spread.num / s->spread.den, spread = (own->num + PRIOR * pooled) / (own->den + PRIOR);
    return spread > 0 ? spread : 0; /* |sum| may exceed n by rounding */
}

double ast_stream_beta(const ast_stream *s, const ast_spread *own) {
    if (!isnan(s->options.beta))
        return s->options.beta;
    double drift = s->options.drift * AST_DEGREE, phi = s->options.angle * AST_DEGREE;
    double spread = ast_stream_squared_spread(s, own); /* squared */
    double low = 9 * drift * drift, high = phi * phi;
    spread = spread < low ? low : spread;
    spread = spread > high ? high : spread;
    return spread / (drift * drift);
}

/* From the distances of the members; of a single member, from its distance to the expected direction. */
ast_spread ast_stream_spread_of(const ast_stream *s, int32_t slot) {
    double count = (double)s->v.clusters->members[slot];
    double length = ast_clusters_length(s->v.clusters, slot) * (count / ast_clusters_weight(s->v.clusters, slot));
    if (count >= 2) /* with weights of 1 in the mean */
        return (ast_spread){2 * (count - length), count - 1};
    if ((size_t)slot >= s->count)
        return (ast_spread){0, 0};
    const ast_track *before = &s->track[slot];
    const float *u = s->data_direction + (size_t)slot * s->options.dimension;
    double drift = s->options.drift * AST_DEGREE;
    float row[AST_MAX_DIMENSION];
    size_t i = 0;
    while (s->v.labels[i] < 0 || s->joins.host[s->v.labels[i]] != slot)
        i++;
    double along = ast_exact_score(ast_rowset_row(s->v.rows, i, row), u, s->options.dimension);
    along = s->options.axial ? fabs(along) : along;
    double apart = 2 * (1 - along) - (double)before->dt * drift * drift;
    return (ast_spread){(apart > 0 ? apart : 0) / (1 + 1 / before->n_prev), 1};
}

static void add(ast_spread *to, const ast_spread *of) {
    if (of->den > 0) {
        to->num = MEMORY * to->num + of->num;
        to->den = MEMORY * to->den + of->den;
    }
}

void ast_stream_learn_spreads(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    ast_spread all = {0, 0};
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (c->members[slot] == 0)
            continue;
        ast_spread of = ast_stream_spread_of(s, slot);
        all.num += of.num;
        all.den += of.den;
        if ((size_t)slot < s->count)
            add(&s->track[slot].spread, &of);
    }
    add(&s->spread, &all);
}
