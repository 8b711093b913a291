/* SPDX-License-Identifier: MIT
 *
 * The close of a frame. Clusters born in it get ids, clusters with points get new means and weights, clusters without
 * points grow older, and clusters that are too old are removed. All memory is reserved first: a frame that cannot be
 * closed changes nothing. */
#include "stream.h"

#include "degree.h"
#include "memory.h"

#include <math.h>
#include <string.h>

bool ast_stream_reserve(ast_stream *s, size_t count) {
    if (count <= s->capacity)
        return true;
    size_t capacity = 2 * count + 16, dimension = s->options.dimension;
    bool grown = ast_grow_array(&s->track, s->count, capacity, sizeof *s->track) &&
                 ast_grow_array(&s->m, s->count, capacity, dimension * sizeof *s->m) &&
                 ast_grow_array(&s->data_direction, s->count, capacity, dimension * sizeof *s->data_direction);
    if (grown)
        s->capacity = capacity;
    return grown;
}

/* The records of the last frame stay, also if memory runs out. */
bool ast_stream_reserve_records(ast_stream *s, size_t count) {
    ast_record_list *r = &s->records;
    size_t capacity = 2 * count + 16, dimension = s->options.dimension;
    if (count <= r->capacity)
        return true;
    bool grown = ast_grow_array(&r->list, r->count, capacity, sizeof *r->list) &&
                 ast_grow_array(&r->means, r->count, capacity, dimension * sizeof *r->means);
    for (size_t k = 0; k < r->count; k++)
        r->list[k].mean = r->means + k * dimension;
    r->capacity = grown ? capacity : r->capacity;
    return grown;
}

bool ast_stream_has_direction(const ast_stream *s, int32_t slot) {
    return ast_clusters_length(s->v.clusters, slot) > ast_clusters_weight(s->v.clusters, slot) * AST_ZERO_SUM;
}

void ast_stream_add_record(ast_stream *s, ast_event event, const ast_track *track, const float *mean, double count,
                           double present) {
    size_t dimension = s->options.dimension;
    ast_record_list *records = &s->records;
    float *copy = memcpy(records->means + records->count * dimension, mean, dimension * sizeof *mean);
    records->list[records->count++] = (ast_tracked){.id = track->id,
                                                    .event = event,
                                                    .age = track->dt - 1,
                                                    .count = (size_t)count,
                                                    .share = present > 0 ? count / present : 0,
                                                    .weight = track->weight,
                                                    .mean = copy,
                                                    .spread = sqrt(ast_stream_spread(s, &track->spread)) / AST_DEGREE,
                                                    .into = -1};
}

/* Keeps the direction of the points of a slot, from which the next frame learns spread and rotation. */
static void set_data_direction(const ast_stream *s, int32_t slot, double *u) {
    const ast_cluster_list *c = s->v.clusters;
    const int64_t *sum = c->sums + (size_t)slot * c->dimension;
    double raw = ast_clusters_length(c, slot) * c->unit;
    bool known = ast_stream_has_direction(s, slot);
    for (size_t d = 0; d < c->dimension && known; d++)
        u[d] = (double)sum[d] / raw;
}

/* Closes tracked cluster k; its place in the new list is `to` <= k. Returns whether it stays tracked. */
static bool close_tracked(ast_stream *s, size_t k, size_t to) {
    const ast_cluster_list *c = s->v.clusters;
    size_t dimension = s->options.dimension, count = (size_t)c->members[k];
    bool alive = c->alive[k];
    ast_track track = s->track[k];
    double length = ast_clusters_length(c, (int32_t)k);
    ast_event event = track.dt > 1 ? AST_REVIVED : AST_SEEN;
    if (count > 0) {
        track.weight = s->options.method == AST_STREAM_DDP ? ast_stream_next_weight(s, k, length) : length;
        track.rows = ast_stream_next_rows(s, k, ast_clusters_weight(c, (int32_t)k));
        track.dt = 1;
        track.n_prev = ast_stream_has_direction(s, (int32_t)k) ? ast_clusters_weight(c, (int32_t)k) : track.n_prev;
        set_data_direction(s, (int32_t)k, s->data_direction + k * dimension);
    } else {
        track.dt++;
        event = AST_UNSEEN;
    }
    const float *mean = count > 0 ? c->means + k * dimension : s->m + k * dimension;
    bool lives = s->options.method == AST_STREAM_DDP ? track.dt <= s->options.lifetime && s->options.lifetime > 1
                                                     : alive && count > 0;
    ast_stream_add_record(s, lives || count > 0 ? event : AST_DIED, &track, mean, (double)count, (double)s->v.present);
    if (!lives)
        return false;
    s->track[to] = track;
    memmove(s->m + to * dimension, mean, dimension * sizeof *mean);
    memmove(s->data_direction + to * dimension, s->data_direction + k * dimension,
            dimension * sizeof *s->data_direction);
    return true;
}

static bool close_born(ast_stream *s, int32_t slot, size_t to) {
    const ast_cluster_list *c = s->v.clusters;
    size_t dimension = s->options.dimension;
    ast_track track = {.id = s->next_id++,
                       .dt = 1,
                       .weight = ast_clusters_length(c, slot),
                       .n_prev = ast_clusters_weight(c, slot),
                       .rows = ast_clusters_weight(c, slot),
                       .spread = ast_stream_spread_of(s, slot)};
    s->id_of[slot] = track.id;
    ast_stream_add_record(s, AST_BORN, &track, c->means + (size_t)slot * dimension, (double)c->members[slot],
                          (double)s->v.present);
    bool ddp = s->options.method == AST_STREAM_DDP;
    if (s->options.method == AST_STREAM_DP || (ddp && (!ast_stream_has_direction(s, slot) || s->options.lifetime <= 1)))
        return false;
    s->track[to] = track;
    memcpy(s->m + to * dimension, c->means + (size_t)slot * dimension, dimension * sizeof *s->m);
    memset(s->data_direction + to * dimension, 0, dimension * sizeof *s->data_direction);
    set_data_direction(s, slot, s->data_direction + to * dimension);
    return true;
}

/* Whether a is removed before b if there are too many: the longer unseen, then the lighter, then the younger. */
static bool goes_first(const ast_track *a, const ast_track *b) {
    if (a->dt != b->dt)
        return a->dt > b->dt;
    if (a->weight != b->weight)
        return a->weight < b->weight;
    return a->id > b->id;
}

void ast_stream_forget(ast_stream *s, size_t index) {
    size_t dimension = s->options.dimension, after = s->count - index - 1;
    memmove(s->track + index, s->track + index + 1, after * sizeof *s->track);
    memmove(s->m + index * dimension, s->m + (index + 1) * dimension, after * dimension * sizeof *s->m);
    memmove(s->data_direction + index * dimension, s->data_direction + (index + 1) * dimension,
            after * dimension * sizeof *s->data_direction);
    s->count--;
}

ast_tracked *ast_stream_record(ast_stream *s, int32_t id) {
    size_t low = 0, high = s->records.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->records.list[middle].id <= id)
            low = middle;
        else
            high = middle;
    }
    return &s->records.list[low];
}

static void drop_surplus(ast_stream *s) {
    while (s->options.max_clusters && s->count > s->options.max_clusters) {
        size_t goes = 0;
        for (size_t k = 1; k < s->count; k++)
            if (goes_first(&s->track[k], &s->track[goes]))
                goes = k;
        ast_stream_record(s, s->track[goes].id)->event = AST_DIED;
        ast_stream_forget(s, goes);
    }
}

/* Axial: a mean stays on its side; that of a new cluster is flipped as in a batch. */
static void choose_sides(ast_stream *s, size_t before) {
    const ast_cluster_list *c = s->v.clusters;
    size_t dimension = s->options.dimension;
    float mean[AST_MAX_DIMENSION];
    for (size_t k = 0; k < c->live; k++) {
        size_t slot = (size_t)c->order[k];
        memcpy(mean, c->means + slot * dimension, dimension * sizeof *mean);
        if (slot >= before)
            ast_mean_make_largest_positive(mean, dimension);
        else if (ast_exact_score(mean, s->m + slot * dimension, dimension) < 0)
            ast_negate(mean, dimension);
        ast_labelling_set_mean(s->labelling, (int32_t)slot, mean);
    }
}

bool ast_stream_close_frame(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    size_t before = s->options.method == AST_STREAM_DP ? 0 : s->count, all = before + c->live;
    bool ids = ast_reserve(&s->id_of, &s->id_capacity, 0, c->slots + 1, sizeof *s->id_of);
    if (!ids || !ast_stream_reserve_records(s, all) || !ast_stream_reserve(s, all) ||
        !ast_stream_reserve_late(s, all) || !ast_stream_absorb_pieces(s) || !ast_stream_find_near(s))
        return false;
    s->records.count = 0;
    if (s->options.rigid)
        ast_stream_learn_rotation(s);
    ast_stream_learn_spreads(s);
    if (ast_stream_scores_nearest(s))
        ast_stream_learn_likeness(s);
    if (s->options.axial)
        choose_sides(s, before);
    size_t to = 0;
    for (size_t k = 0; k < before; k++) {
        s->id_of[k] = s->track[k].id;
        to += close_tracked(s, k, to);
    }
    for (size_t k = 0; k < c->live; k++)
        if ((size_t)c->order[k] >= before && c->members[c->order[k]] > 0)
            to += close_born(s, c->order[k], to);
    for (size_t slot = 0; slot < c->slots; slot++) /* a piece has the id of its cluster */
        s->id_of[slot] = s->id_of[s->joins.host[slot]];
    s->count = to;
    s->frame++;
    ast_stream_join(s);
    drop_surplus(s);
    return true;
}
