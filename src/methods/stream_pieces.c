/* SPDX-License-Identifier: MIT
 *
 * Pieces: clusters that are part of another cluster at the end of the passes (merge_tracked). A stray point far from
 * every mean may start or revive a cluster, or be its last point. The passes then move its mean into the surface that
 * the point came from, so that two ids share one surface, or the wrong id has it. Two directions do not come that near
 * each other by themselves: points within the angle of a mean join it, and directions do not jump. So a cluster whose
 * mean is closer than half the angle to another cluster is a piece of that cluster in two cases:
 *
 * - it was born in this frame, and the other cluster was born before it or is tracked;
 * - it is tracked, and it moved by more than a quarter of the angle or had no points in the frame before; and the other
 *   cluster had points in the frame before.
 *
 * The other cluster has up to two positions, of which the nearer one counts: the mean that was expected in this frame,
 * if it had points in the frame before; and its mean now, if it has points and did not jump away from the former.
 *
 * The points of a piece become points of the other cluster. A piece that was born in this frame gets no id; a tracked
 * piece has no points in this frame. A piece gets no points from other pieces. The nearest pair is joined first and its
 * mean is computed again, until no piece is left. */
#include "stream.h"

#include "memory.h"

typedef struct piece {
    int32_t slot, into;
    double cosine;
} piece;

static bool has_direction(const ast_stream *s, int32_t slot) {
    return s->v.clusters->members[slot] > 0 && ast_stream_has_direction(s, slot);
}

static bool is_tracked(const ast_stream *s, int32_t slot) {
    return (size_t)slot < s->count;
}

/* Where a tracked cluster was expected in this frame. */
static const float *start_of(const ast_stream *s, int32_t slot) {
    return s->tracks.m + (size_t)slot * s->options.dimension;
}

static const float *mean_of(const ast_stream *s, int32_t slot) {
    return s->v.clusters->means + (size_t)slot * s->options.dimension;
}

/* Whether a tracked cluster was seen in the frame before. */
static bool was_seen(const ast_stream *s, int32_t slot) {
    return is_tracked(s, slot) && s->track[slot].dt == 1;
}

static bool jumped(const ast_stream *s, int32_t slot) {
    return ast_stream_closeness(s, start_of(s, slot), mean_of(s, slot)) < ast_cosine(s->options.angle / 4);
}

/* How near the mean of a piece is to a cluster; -2: the cluster is nowhere. */
static double nearness(const ast_stream *s, int32_t slot, int32_t into) {
    double start = -2, now = -2;
    bool seen = was_seen(s, into);
    if (seen)
        start = ast_stream_closeness(s, start_of(s, into), mean_of(s, slot));
    if (has_direction(s, into) && !(seen && jumped(s, into)))
        now = ast_stream_closeness(s, mean_of(s, into), mean_of(s, slot));
    return start > now ? start : now;
}

/* The nearest pair of a piece and its cluster, of equal ones the first in order of the pieces; slot -1: there is none.
 * In the order of clusters, those born come last. */
static piece nearest_piece(const ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    piece best = {-1, -1, ast_cosine(s->options.angle / 2)};
    for (size_t b = 0; b < c->live; b++) {
        int32_t slot = c->order[b];
        bool tracked = is_tracked(s, slot);
        bool candidate = has_direction(s, slot) && (!was_seen(s, slot) || jumped(s, slot));
        for (size_t a = 0; candidate && a < (tracked ? c->live : b); a++) {
            int32_t into = c->order[a];
            if (a == b || s->joins.host[into] != into || (tracked && !was_seen(s, into)))
                continue;
            double cosine = nearness(s, slot, into);
            if (cosine > best.cosine)
                best = (piece){slot, into, cosine};
        }
    }
    return best;
}

/* The sums are integers: that of both is the sum over all points, as if they had joined the other one. */
static void add_piece(ast_stream *s, const piece *p) {
    const ast_cluster_list *c = s->v.clusters;
    float mean[AST_MAX_DIMENSION];
    ast_labelling_move_sums(s->labelling, p->slot, p->into);
    if (!is_tracked(s, p->into))
        return;
    bool moved = ast_tracks_mean(&s->tracks, c, (size_t)p->into, mean);
    ast_labelling_set_mean(s->labelling, p->into, moved ? mean : start_of(s, p->into));
}

bool ast_stream_absorb_pieces(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    ast_joins *j = &s->joins;
    if (!ast_reserve(&j->host, &j->host_capacity, 0, c->slots + 1, sizeof *j->host))
        return false;
    for (size_t slot = 0; slot < c->slots; slot++)
        j->host[slot] = (int32_t)slot;
    if (!ast_stream_merges(s))
        return true;
    for (piece p = nearest_piece(s); p.slot >= 0; p = nearest_piece(s)) {
        add_piece(s, &p);
        for (size_t slot = 0; slot < c->slots; slot++)
            if (j->host[slot] == p.slot)
                j->host[slot] = p.into;
    }
    return true;
}
