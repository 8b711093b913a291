/* SPDX-License-Identifier: MIT
 *
 * What a stream learns of the spread of its clusters: how far members lie from the direction of their cluster. beta of
 * the tracker is (spread / drift)^2: the more a direction is known from its points, the less the old one counts.
 *
 * Every cluster has a spread of its own, since a broad one would otherwise make the mean of a tight one lag. A cluster
 * that has seen few points borrows from the others: its spread is shrunk to the pooled one, which counts as one point.
 */
#include "stream.h"

#include "degree.h"

#include <math.h>

#define MEMORY 0.9 /* share of what was learned that the next frame keeps */
#define PRIOR 1    /* point that the pooled spread counts as (docs/trackers.md has the measurements) */

double ast_stream_spread(const ast_stream *s, const ast_spread *own) {
    double pooled = s->spread.num / s->spread.den, spread = (own->num + PRIOR * pooled) / (own->den + PRIOR);
    return spread > 0 ? spread : 0; /* |sum| may exceed n by rounding */
}

double ast_stream_beta(const ast_stream *s, const ast_spread *own) {
    if (!isnan(s->options.beta))
        return s->options.beta;
    double drift = s->options.drift * AST_DEGREE, phi = s->options.angle * AST_DEGREE;
    double spread = ast_stream_spread(s, own); /* squared */
    double low = 9 * drift * drift, high = phi * phi;
    spread = spread < low ? low : spread;
    spread = spread > high ? high : spread;
    return spread / (drift * drift);
}

/* How far apart the members of one cluster are, or one member from where it was expected. */
ast_spread ast_stream_spread_of(const ast_stream *s, int32_t slot) {
    const ast_labelling *l = s->labelling;
    const ast_labelling_view v = ast_view_of(l);
    double count = ast_clusters_weight(v.clusters, slot), length = ast_clusters_length(v.clusters, slot);
    if (count >= 2)
        return (ast_spread){2 * (count - length), count - 1};
    if ((size_t)slot >= s->count)
        return (ast_spread){0, 0};
    const ast_track *before = &s->track[slot];
    const double *u = s->u + (size_t)slot * s->options.dimension;
    double drift = s->options.drift * AST_DEGREE, along = 0;
    float row[AST_MAX_DIMENSION];
    size_t i = 0;
    while (v.labels[i] < 0 || s->joins.host[v.labels[i]] != slot)
        i++;
    const float *x = ast_rowset_row(v.rows, i, row);
    for (size_t d = 0; d < s->options.dimension; d++)
        along += u[d] * (double)x[d];
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
    const ast_labelling_view v = ast_view_of(s->labelling);
    const ast_cluster_list *c = v.clusters;
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
