/* SPDX-License-Identifier: MIT
 *
 * Merging of tracked clusters: the passes do not join two clusters whose directions have become one. So at the close of
 * a frame two clusters with points are joined if their means were closer than half the angle in three frames in a row.
 * The older id stays, with the sum of the weights and the mean on the great circle between the two. Nearest pairs come
 * first, and a cluster takes part in at most one join per frame. */
#include "stream.h"

#include "degree.h"
#include "geodesic.h"
#include "memory.h"
#include "vectors.h"

#include <math.h>
#include <string.h>

#define JOIN_AFTER 3 /* frames in a row: clusters may pass each other */

double ast_stream_closeness(const ast_stream *s, const float *a, const float *b) {
    double cosine = ast_exact_score(a, b, s->options.dimension);
    return s->options.axial ? fabs(cosine) : cosine;
}

bool ast_stream_merges(const ast_stream *s) {
    return s->options.merge_tracked && !s->options.exclusive && s->options.method == AST_STREAM_DDP &&
           s->options.lifetime > 1;
}

static bool has_one_mean(const ast_stream *s, size_t k) {
    return s->track[k].part == 0 && ast_stream_end_of_id(s, k) == k + 1;
}

/* Whether users said that two slots are different ids, or that the younger one stays where it is. */
static bool are_apart(const ast_stream *s, int32_t a, int32_t b) {
    size_t one = (size_t)a, other = (size_t)b;
    return one < s->count && other < s->count &&
           (ast_stream_are_apart(s, one, other) || s->track[one > other ? one : other].flags & AST_LOCKED);
}

/* Lists the clusters with points that will be tracked, but for ids with several means, in order of id; clusters born in
 * this frame get the next ids. Returns their number. */
static size_t list_seen(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    int32_t next = s->next_id;
    size_t count = 0;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (c->members[slot] == 0 || ast_stream_too_small(s, slot))
            continue;
        bool born = (size_t)slot >= s->count;
        int32_t id = born ? next++ : s->track[slot].id;
        if (born ? ast_stream_has_direction(s, slot) : has_one_mean(s, (size_t)slot))
            s->joins.seen[count++] = (ast_sighting){slot, id};
    }
    return count;
}

/* The number of frames, up to the last one, in which the pair was near; at most JOIN_AFTER - 1. Pairs come in order of
 * their ids, so that *at passes through the list once. */
static uint32_t frames_before(const ast_joins *j, const ast_near_pair *pair, size_t *at) {
    while (*at < j->count && (j->pairs[*at].older < pair->older ||
                              (j->pairs[*at].older == pair->older && j->pairs[*at].younger < pair->younger)))
        ++*at;
    if (*at == j->count || j->pairs[*at].older != pair->older || j->pairs[*at].younger != pair->younger)
        return 0;
    return j->pairs[*at].frames < JOIN_AFTER ? j->pairs[*at].frames : JOIN_AFTER - 1;
}

static bool add_pair(ast_joins *j, ast_near_pair pair, double cosine) {
    size_t count = j->found_count;
    if (!ast_reserve(&j->found, &j->found_capacity, count, count + 1, sizeof *j->found) ||
        !ast_reserve(&j->cosines, &j->cosine_capacity, count, count + 1, sizeof *j->cosines))
        return false;
    j->found[count] = pair;
    j->cosines[count] = cosine;
    j->found_count++;
    return true;
}

/* The nearest pair that is ready to join, of equal ones the first; j->count if there is none. */
static size_t nearest_ready(const ast_joins *j) {
    size_t best = j->count;
    for (size_t p = 0; p < j->count; p++)
        if (j->pairs[p].frames >= JOIN_AFTER && j->cosines[p] > -2 &&
            (best == j->count || j->cosines[p] > j->cosines[best]))
            best = p;
    return best;
}

/* After a join: drops the pairs of the younger id; pairs of the older id wait for the next frame. */
static void drop_pairs_of(ast_joins *j, const ast_near_pair *joined) {
    size_t kept = 0;
    for (size_t p = 0; p < j->count; p++) {
        ast_near_pair pair = j->pairs[p];
        if (pair.older == joined->younger || pair.younger == joined->younger)
            continue;
        bool waits = pair.older == joined->older || pair.younger == joined->older;
        j->cosines[kept] = waits ? -4 : j->cosines[p];
        j->pairs[kept++] = pair;
    }
    j->count = kept;
}

/* ---- Two clusters become one ------------------------------------------------------------------------------------- */

/* The mean of the older one moves towards that of the younger (section 5 with no step in between). */
static void join_means(const ast_stream *s, size_t older, size_t younger) {
    size_t dimension = s->options.dimension;
    float *m = s->m + older * dimension, mean[AST_MAX_DIMENSION];
    const float *other = s->m + younger * dimension;
    double u[AST_MAX_DIMENSION];
    double side = s->options.axial && ast_exact_score(m, other, dimension) < 0 ? -1 : 1;
    if (!(s->track[younger].weight > 0) || s->track[older].flags & AST_LOCKED)
        return;
    for (size_t d = 0; d < dimension; d++)
        u[d] = side * (double)other[d];
    ast_normalise(u, dimension);
    ast_geodesic g;
    double zeta = ast_angle_from(u, m, dimension);
    ast_geodesic_solve(zeta, s->track[older].weight, 0, 0, s->track[younger].weight, &g);
    ast_geodesic_mean(dimension, u, m, g.eta, zeta, mean);
    memcpy(m, mean, dimension * sizeof *m);
}

/* The direction of the last points of both. */
static void join_data(const ast_stream *s, size_t older, size_t younger) {
    size_t dimension = s->options.dimension;
    float *u = s->data_direction + older * dimension;
    const float *other = s->data_direction + younger * dimension;
    double sum[AST_MAX_DIMENSION];
    double n = s->track[older].n_prev, added = s->track[younger].n_prev;
    added = s->options.axial && ast_exact_score(u, other, dimension) < 0 ? -added : added;
    for (size_t d = 0; d < dimension; d++)
        sum[d] = n * (double)u[d] + added * (double)other[d];
    double length = ast_normalise(sum, dimension);
    for (size_t d = 0; d < dimension && length > 0; d++)
        u[d] = (float)sum[d];
}

void ast_stream_join_tracks(ast_stream *s, size_t older, size_t younger) {
    ast_track *into = &s->track[older], *from = &s->track[younger];
    join_means(s, older, younger);
    join_data(s, older, younger);
    into->weight += from->weight;
    into->n_prev += from->n_prev;
    into->rows += from->rows;
    into->spread.num += from->spread.num;
    into->spread.den += from->spread.den;
    ast_stream_remove(s, younger);
}

/* Moves track k behind the last mean of the id, and gives it this id. */
static void add_mean(ast_stream *s, size_t k, int32_t id) {
    const size_t dimension = s->options.dimension, first = ast_stream_find_id(s, id);
    size_t to = ast_stream_end_of_id(s, first);
    ast_track track = s->track[k];
    float m[AST_MAX_DIMENSION], u[AST_MAX_DIMENSION];
    track.id = id;
    track.part = (uint32_t)(to - first);
    track.flags = s->track[first].flags;
    track.dt = s->track[first].dt;
    track.met = (ast_met){0};
    memcpy(m, s->m + k * dimension, dimension * sizeof *m);
    memcpy(u, s->data_direction + k * dimension, dimension * sizeof *u);
    ast_stream_remove(s, k);
    to -= k < to;
    ast_stream_insert(s, to, &track, m, u);
}

/* The track of the id that is nearest to track k, if they agree; the number of tracks if none does. */
static size_t agreeing(const ast_stream *s, size_t k, int32_t id) {
    const size_t dimension = s->options.dimension, first = ast_stream_find_id(s, id);
    size_t best = s->count;
    double most = -2;
    for (size_t e = first; e < ast_stream_end_of_id(s, first); e++) {
        double cosine = ast_stream_closeness(s, s->m + e * dimension, s->m + k * dimension);
        if (cosine <= most || !ast_stream_means_agree(s, e, k, cosine))
            continue;
        best = e;
        most = cosine;
    }
    return best;
}

void ast_stream_retire_id(ast_stream *s, int32_t from, int32_t into) {
    ast_joins *j = &s->joins;
    size_t kept = 0;
    for (size_t p = 0; p < j->count; p++)
        if (j->pairs[p].older != from && j->pairs[p].younger != from)
            j->pairs[kept++] = j->pairs[p];
    j->count = kept;
    if (into >= 0)
        ast_stream_merge_met(s, from, into);
}

void ast_stream_join_ids(ast_stream *s, int32_t from, int32_t into) {
    size_t first = ast_stream_find_id(s, into), end = ast_stream_end_of_id(s, first), k;
    uint32_t flags = s->track[first].flags | (s->track[ast_stream_find_id(s, from)].flags & AST_KNOWN);
    uint32_t dt = s->track[ast_stream_find_id(s, from)].dt;
    dt = dt < s->track[first].dt ? dt : s->track[first].dt;
    uint64_t sightings = s->track[first].sightings + s->track[ast_stream_find_id(s, from)].sightings;
    for (; first < end; first++) {
        s->track[first].flags = flags;
        s->track[first].dt = dt;
    }
    while ((k = ast_stream_find_id(s, from)) < s->count) {
        size_t near = agreeing(s, k, into);
        if (near < s->count)
            ast_stream_join_tracks(s, near, k);
        else
            add_mean(s, k, into);
    }
    for (k = ast_stream_find_id(s, into); k < s->count && s->track[k].id == into; k++)
        s->track[k].sightings = sightings;
    s->track[ast_stream_find_id(s, into)].flags |= AST_TOUCHED;
    ast_identities_rename(s, from, into);
}

void ast_stream_join_pair(ast_stream *s, const ast_near_pair *pair) {
    ast_stream_copy_record_mean(s, ast_stream_record(s, pair->younger));
    ast_stream_join_ids(s, pair->younger, pair->older);
    size_t shown = ast_stream_find_id(s, pair->older);
    const ast_track *into = &s->track[shown];
    ast_tracked *gone = ast_stream_record(s, pair->younger), *stays = ast_stream_record(s, pair->older);
    gone->event = AST_MERGED;
    gone->into = pair->older;
    stays->weight = 0;
    for (size_t k = shown; k < ast_stream_end_of_id(s, shown); k++)
        stays->weight += s->track[k].weight;
    uint8_t *hidden = &s->records.hidden[stays - s->records.list];
    if (*hidden && ast_stream_is_shown(s, into)) {
        *hidden = 0;
        stays->event = AST_BORN;
    }
    stays->spread = sqrt(ast_stream_squared_spread(s, &into->spread)) / AST_DEGREE;
    ast_stream_set_record_mean(s, stays, s->m + shown * s->options.dimension);
}

/* ---- The frame ----------------------------------------------------------------------------------------------------
 */

bool ast_stream_find_near(ast_stream *s) {
    ast_joins *j = &s->joins;
    const ast_cluster_list *c = s->v.clusters;
    const double limit = ast_cosine(s->options.angle / 2);
    size_t at = 0;
    j->found_count = 0;
    if (s->options.exclusive)
        return ast_stream_reserve_agreeing(s);
    if (!ast_stream_merges(s))
        return true;
    if (!ast_reserve(&j->seen, &j->seen_capacity, 0, c->live + 1, sizeof *j->seen))
        return false;
    size_t seen = list_seen(s);
    for (size_t a = 0; a < seen; a++) {
        for (size_t b = a + 1; b < seen; b++) {
            double cosine = ast_stream_closeness(s, c->means + (size_t)j->seen[a].slot * c->dimension,
                                                 c->means + (size_t)j->seen[b].slot * c->dimension);
            ast_near_pair pair = {j->seen[a].id, j->seen[b].id, 1};
            if (!(cosine > limit) || are_apart(s, j->seen[a].slot, j->seen[b].slot))
                continue;
            pair.frames += frames_before(j, &pair, &at);
            if (!add_pair(j, pair, cosine))
                return false;
        }
    }
    return true;
}

void ast_stream_join_near(ast_stream *s) {
    ast_joins *j = &s->joins;
    if (s->options.exclusive) {
        ast_stream_join_agreeing(s);
        return;
    }
    ast_joins before = *j;
    size_t best;
    j->pairs = before.found;
    j->count = before.found_count;
    j->capacity = before.found_capacity;
    j->found = before.pairs;
    j->found_capacity = before.capacity;
    while ((best = nearest_ready(j)) < j->count) {
        ast_near_pair pair = j->pairs[best];
        ast_stream_join_pair(s, &pair);
        drop_pairs_of(j, &pair);
    }
}
