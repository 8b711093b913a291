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
    size_t capacity = count + count / 16 + 16, dimension = s->options.dimension;
    float *m = ast_allocate(capacity, dimension * sizeof *m);
    bool grown = m && ast_grow_array(&s->track, s->count, capacity, sizeof *s->track) &&
                 ast_grow_array(&s->data_direction, s->count, capacity, dimension * sizeof *s->data_direction);
    if (!grown) {
        ast_free_all(m);
        return false;
    }
    if (s->count)
        memcpy(m, s->m, s->count * dimension * sizeof *m);
    for (size_t r = 0; r < s->records.count && s->m; r++) { /* of the last frame: their means move along */
        ast_tracked *record = &s->records.list[r];
        if (record->mean >= s->m && record->mean < s->m + s->capacity * dimension)
            record->mean = m + (record->mean - s->m);
    }
    ast_free_all(s->m);
    s->m = m;
    s->capacity = capacity;
    return true;
}

bool ast_stream_reserve_record_list(ast_stream *s, size_t count) {
    ast_record_list *r = &s->records;
    const size_t capacity = count + count / 8 + 16;
    if (count <= r->capacity)
        return true;
    bool grown = ast_grow_array(&r->list, r->count, capacity, sizeof *r->list) &&
                 ast_grow_array(&r->hidden, r->count, capacity, sizeof *r->hidden);
    r->capacity = grown ? capacity : r->capacity;
    return grown;
}

static bool is_copy(const ast_stream *s, const float *mean) {
    const ast_record_list *r = &s->records;
    return r->means && mean >= r->means && mean < r->means + r->mean_capacity * s->options.dimension;
}

/* The records of the last frame stay, also if memory runs out. */
bool ast_stream_reserve_records(ast_stream *s, size_t count) {
    ast_record_list *r = &s->records;
    const size_t capacity = 2 * count + 16, dimension = s->options.dimension;
    if (!ast_stream_reserve_record_list(s, count))
        return false;
    if (count <= r->mean_capacity)
        return true;
    float *grown = ast_allocate(capacity, dimension * sizeof *grown);
    if (!grown)
        return false;
    if (r->mean_count)
        memcpy(grown, r->means, r->mean_count * dimension * sizeof *grown);
    for (size_t k = 0; k < r->count; k++)
        if (is_copy(s, r->list[k].mean))
            r->list[k].mean = grown + (r->list[k].mean - r->means);
    ast_free_all(r->means);
    r->means = grown;
    r->mean_capacity = capacity;
    return true;
}

void ast_stream_copy_record_mean(ast_stream *s, ast_tracked *record) {
    ast_record_list *r = &s->records;
    const size_t dimension = s->options.dimension;
    if (!is_copy(s, record->mean))
        record->mean = memcpy(r->means + r->mean_count++ * dimension, record->mean, dimension * sizeof *r->means);
}

void ast_stream_set_record_mean(ast_stream *s, ast_tracked *record, const float *mean) {
    ast_record_list *r = &s->records;
    const size_t dimension = s->options.dimension;
    if (is_copy(s, record->mean))
        memcpy(r->means + (record->mean - r->means), mean, dimension * sizeof *mean);
    else
        record->mean = mean;
}

bool ast_stream_has_direction(const ast_stream *s, int32_t slot) {
    return ast_clusters_length(s->v.clusters, slot) > ast_clusters_weight(s->v.clusters, slot) * AST_ZERO_SUM;
}

/* `of` is the mean whose spread counts. */
static void fill_record(ast_stream *s, ast_event event, const ast_track *track, const ast_track *of, double weight,
                        const float *mean, double count, double present) {
    ast_record_list *records = &s->records;
    records->hidden[records->count] = !ast_stream_is_shown(s, track);
    records->list[records->count++] =
        (ast_tracked){.id = track->id,
                      .event = event,
                      .age = track->dt - 1,
                      .count = (size_t)count,
                      .share = present > 0 ? count / present : 0,
                      .weight = weight,
                      .mean = mean,
                      .spread = sqrt(ast_stream_squared_spread(s, &of->spread)) / AST_DEGREE,
                      .into = -1};
}

void ast_stream_add_record(ast_stream *s, ast_event event, const ast_track *track, const float *mean, double count,
                           double present) {
    ast_record_list *records = &s->records;
    const size_t dimension = s->options.dimension;
    float *copy = memcpy(records->means + records->mean_count++ * dimension, mean, dimension * sizeof *mean);
    fill_record(s, event, track, track, track->weight, copy, count, present);
}

/* Keeps the direction of the points of a slot, from which the next frame learns spread and rotation. */
static void set_data_direction(const ast_stream *s, int32_t slot, float *u) {
    const ast_cluster_list *c = s->v.clusters;
    const int64_t *sum = c->sums + (size_t)slot * c->dimension;
    double raw = ast_clusters_length(c, slot) * c->unit;
    bool known = ast_stream_has_direction(s, slot);
    for (size_t d = 0; d < c->dimension && known; d++)
        u[d] = (float)((double)sum[d] / raw);
}

/* The mean of a tracked cluster after the frame. `seen`: its id has points, which may be those of other means. */
static void close_mean(ast_stream *s, size_t k, bool seen) {
    const ast_cluster_list *c = s->v.clusters;
    ast_track *track = &s->track[k];
    const size_t dimension = s->options.dimension;
    const double length = ast_clusters_length(c, (int32_t)k), count = ast_clusters_weight(c, (int32_t)k);
    track->sightings += seen;
    if (c->members[k] > 0) {
        track->weight = s->options.method == AST_STREAM_DDP ? ast_stream_next_weight(s, k, length) : length;
        track->rows = ast_stream_rows_after_frame(s, k, count);
        track->n_prev = ast_stream_has_direction(s, (int32_t)k) ? count : track->n_prev;
        set_data_direction(s, (int32_t)k, s->data_direction + k * dimension);
        memmove(s->m + k * dimension, c->means + k * dimension, dimension * sizeof *s->m);
    } else if (seen) { /* as sure as it is after a frame without points */
        track->rows = ast_stream_rows_after_frame(s, k, 0);
        track->weight = ast_stream_weight_update(s) == AST_POSTERIOR ? ast_stream_next_weight(s, k, 0) : track->weight;
    }
    track->dt = seen ? 1 : track->dt + 1;
}

/* Of the tracks first..end-1 of an id: the one with most points, of equal ones that of the largest weight. */
static size_t main_track(const ast_stream *s, size_t first, size_t end, const int64_t *members) {
    size_t shown = first;
    for (size_t k = first + 1; k < end; k++) {
        int64_t one = members ? members[k] : 0, other = members ? members[shown] : 0;
        shown = one > other || (one == other && s->track[k].weight > s->track[shown].weight) ? k : shown;
    }
    return shown;
}

/* Adds the record of the id that has the tracks first..end-1. */
static void record_id(ast_stream *s, size_t first, size_t end, ast_event event, const int64_t *members, double count,
                      double present) {
    const size_t shown = main_track(s, first, end, members);
    ast_track track = s->track[shown];
    for (size_t k = first; k < end; k++)
        track.weight += k == shown ? 0 : s->track[k].weight;
    ast_stream_add_record(s, event, &track, s->m + shown * s->options.dimension, count, present);
}

/* The same for records whose means are those of the stream. */
static void record_in_place(ast_stream *s, size_t first, size_t end, ast_event event, double count, double present) {
    const size_t shown = main_track(s, first, end, NULL);
    double weight = s->track[first].weight;
    for (size_t k = first + 1; k < end; k++)
        weight += s->track[k].weight;
    fill_record(s, event, &s->track[first], &s->track[shown], weight, s->m + shown * s->options.dimension, count,
                present);
}

void ast_stream_record_unseen(ast_stream *s, size_t first, size_t end, bool lives) {
    record_in_place(s, first, end, lives ? AST_UNSEEN : AST_DIED, 0, 1);
    if (!lives)
        ast_stream_copy_record_mean(s, &s->records.list[s->records.count - 1]);
}

/* The means of records that are not copies are where the stream has them now. */
static void point_to_means(ast_stream *s) {
    for (size_t r = 0, k = 0; r < s->records.count; r++) {
        ast_tracked *record = &s->records.list[r];
        while (k < s->count && s->track[k].id < record->id)
            k++;
        if (!is_copy(s, record->mean))
            record->mean = s->m + main_track(s, k, ast_stream_end_of_id(s, k), NULL) * s->options.dimension;
    }
}

void ast_stream_list_records(ast_stream *s) {
    double all = 0;
    for (size_t k = 0; k < s->count; k++)
        all += s->track[k].dt == 1 ? s->track[k].n_prev : 0;
    s->records.count = s->records.mean_count = 0;
    s->records.stale = false;
    for (size_t k = 0, end; k < s->count; k = end) {
        double count = 0;
        end = ast_stream_end_of_id(s, k);
        for (size_t e = k; e < end && s->track[k].dt == 1; e++)
            count += s->track[e].n_prev;
        record_in_place(s, k, end, s->track[k].dt == 1 ? AST_SEEN : AST_UNSEEN, count, all);
    }
    ast_stream_drop_hidden_records(s);
}

/* Moves tracks first..end-1 to the places from `to` on. */
static void move_tracks(ast_stream *s, size_t first, size_t end, size_t to) {
    size_t dimension = s->options.dimension, count = end - first;
    if (to == first)
        return;
    memmove(s->track + to, s->track + first, count * sizeof *s->track);
    memmove(s->m + to * dimension, s->m + first * dimension, count * dimension * sizeof *s->m);
    memmove(s->data_direction + to * dimension, s->data_direction + first * dimension,
            count * dimension * sizeof *s->data_direction);
}

/* Closes the id that has the tracks first..end-1; their new places begin at `to` <= first. Returns how many stay
 * tracked: all or none. */
static size_t close_id(ast_stream *s, size_t first, size_t end, size_t to) {
    const ast_cluster_list *c = s->v.clusters;
    size_t count = 0;
    bool alive = false;
    ast_event event = s->track[first].dt > 1 ? AST_REVIVED : AST_SEEN;
    for (size_t k = first; k < end; k++) {
        count += (size_t)c->members[k];
        alive = alive || c->alive[k];
    }
    for (size_t k = first; k < end; k++)
        close_mean(s, k, count > 0);
    bool lives = s->options.method == AST_STREAM_DDP
                     ? s->track[first].dt <= s->options.lifetime && s->options.lifetime > 1
                     : alive && count > 0;
    event = count > 0 ? event : lives ? AST_UNSEEN : AST_DIED;
    if (count > 0 && s->options.born_after > 1 && s->track[first].sightings == s->options.born_after)
        event = AST_BORN;
    record_id(s, first, end, event, c->members, (double)count, (double)s->v.present);
    s->track[first].flags |= count > 0 ? AST_TOUCHED : 0;
    if (lives)
        move_tracks(s, first, end, to);
    return lives ? end - first : 0;
}

bool ast_stream_is_shown(const ast_stream *s, const ast_track *track) {
    return track->sightings >= s->options.born_after || track->flags & AST_KNOWN;
}

bool ast_stream_too_small(const ast_stream *s, int32_t slot) {
    return (size_t)slot >= s->count && (size_t)s->v.clusters->members[slot] < s->options.min_size;
}

static bool close_born(ast_stream *s, int32_t slot, size_t to) {
    const ast_cluster_list *c = s->v.clusters;
    size_t dimension = s->options.dimension;
    if (ast_stream_too_small(s, slot)) {
        s->id_of[slot] = -1;
        return false;
    }
    ast_track track = {.id = s->next_id++,
                       .sightings = 1,
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
    track.flags = AST_TOUCHED;
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

void ast_stream_insert(ast_stream *s, size_t index, const ast_track *track, const float *m, const float *u) {
    size_t dimension = s->options.dimension, after = s->count - index;
    float *mean = s->m + index * dimension;
    float *direction = s->data_direction + index * dimension;
    memmove(s->track + index + 1, s->track + index, after * sizeof *s->track);
    memmove(mean + dimension, mean, after * dimension * sizeof *mean);
    memmove(direction + dimension, direction, after * dimension * sizeof *direction);
    s->track[index] = *track;
    s->track[index].flags |= AST_TOUCHED;
    memcpy(mean, m, dimension * sizeof *mean);
    memcpy(direction, u, dimension * sizeof *direction);
    s->count++;
}

/* An id has lost its last mean. */
static void note_gone(ast_stream *s, int32_t id) {
    ast_changes *c = &s->changes;
    c->whole = c->whole || c->count == c->capacity;
    if (!c->whole)
        c->gone[c->count++] = id;
}

/* Memory for so many more; a stream that is not saved any more does not keep them. */
static bool reserve_gone(ast_stream *s, size_t more) {
    ast_changes *c = &s->changes;
    c->whole = c->whole || c->count > 1024 + s->count;
    return c->whole || ast_reserve(&c->gone, &c->capacity, c->count, c->count + more, sizeof *c->gone);
}

void ast_stream_mark_saved(ast_stream *s) {
    for (size_t k = 0; k < s->count; k++)
        s->track[k].flags &= ~AST_TOUCHED;
    s->changes.whole = s->changes.known = false;
    s->changes.count = 0;
    s->changes.frame = s->frame;
}

void ast_stream_remove(ast_stream *s, size_t index) {
    size_t dimension = s->options.dimension, after = s->count - index - 1;
    const int32_t id = s->track[index].id;
    const bool before = index > 0 && s->track[index - 1].id == id;
    const bool behind = index + 1 < s->count && s->track[index + 1].id == id;
    if (behind && !before)
        s->track[index + 1].met = s->track[index].met;
    for (size_t k = index + 1; k < s->count && s->track[k].id == id; k++)
        s->track[k].part--;
    s->track[before ? index - 1 : behind ? index + 1 : index].flags |= AST_TOUCHED;
    if (!before && !behind)
        note_gone(s, id);
    memmove(s->track + index, s->track + index + 1, after * sizeof *s->track);
    memmove(s->m + index * dimension, s->m + (index + 1) * dimension, after * dimension * sizeof *s->m);
    memmove(s->data_direction + index * dimension, s->data_direction + (index + 1) * dimension,
            after * dimension * sizeof *s->data_direction);
    s->count--;
    memset(s->m + s->count * dimension, 0, dimension * sizeof *s->m); /* somebody may have to be forgotten */
    memset(s->data_direction + s->count * dimension, 0, dimension * sizeof *s->data_direction);
}

ast_tracked *ast_stream_record(const ast_stream *s, int32_t id) {
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
        const int32_t id = s->track[goes].id;
        ast_stream_record(s, id)->event = AST_DIED;
        ast_stream_copy_record_mean(s, ast_stream_record(s, id));
        for (size_t k = ast_stream_find_id(s, id); k < s->count && s->track[k].id == id;)
            ast_stream_remove(s, k);
    }
}

/* The id of a slot for the caller: the same; of a piece that was never shown, that of its cluster; -1: not yet. */
static int32_t shown_id(ast_stream *s, int32_t id) {
    if (id < 0)
        return -1;
    const ast_tracked *record = ast_stream_record(s, id);
    if (s->records.hidden[record - s->records.list] && record->event == AST_MERGED)
        record = ast_stream_record(s, record->into);
    return s->records.hidden[record - s->records.list] ? -1 : record->id;
}

/* Points of clusters without id get the label -1. */
static void hide_ids(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    s->unborn = 0;
    if (s->options.born_after <= 1 && s->options.min_size <= 1)
        return;
    for (size_t slot = 0; slot < c->slots; slot++)
        s->id_of[slot] = shown_id(s, s->id_of[slot]);
    for (size_t k = 0; k < c->live; k++)
        s->unborn += s->id_of[c->order[k]] < 0 ? (size_t)c->members[c->order[k]] : 0;
}

void ast_stream_drop_hidden_records(ast_stream *s) {
    ast_record_list *records = &s->records;
    size_t kept = 0;
    for (size_t r = 0; r < records->count; r++) {
        if (records->hidden[r])
            continue;
        records->hidden[kept] = 0;
        records->list[kept++] = records->list[r];
    }
    records->count = kept;
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

static size_t count_died(const ast_stream *s) {
    size_t count = 0;
    for (size_t r = 0; r < s->records.count; r++)
        count += s->records.list[r].event == AST_DIED;
    return count;
}

bool ast_stream_close_frame(ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    size_t before = s->options.method == AST_STREAM_DP ? 0 : s->count, all = before + c->live;
    size_t everyone = all + (s->near.selected ? s->near.others.count : 0);
    bool ids = ast_reserve(&s->id_of, &s->id_capacity, 0, c->slots + 1, sizeof *s->id_of);
    if (!ids || !ast_stream_reserve_records(s, all) || !ast_stream_reserve(s, all) ||
        !ast_stream_reserve_late(s, everyone) || !ast_stream_reserve_apart(s, s->known.redirected_count) ||
        !ast_stream_reserve_unselected(s, c->live) || !reserve_gone(s, 2 * c->live + 1) ||
        !ast_stream_absorb_pieces(s) || !ast_stream_find_near(s))
        return false;
    s->records.count = s->records.mean_count = 0;
    s->records.stale = false;
    s->changes.whole = s->changes.whole || s->options.rigid || s->options.method != AST_STREAM_DDP;
    if (s->options.rigid)
        ast_stream_learn_rotation_step(s);
    ast_stream_learn_spreads(s);
    if (ast_stream_scores_nearest(s))
        ast_stream_learn_pair_cosine(s);
    if (s->options.axial)
        choose_sides(s, before);
    size_t to = 0;
    for (size_t k = 0; k < before; k++)
        s->id_of[k] = s->track[k].id;
    for (size_t k = 0, end; k < before; k = end) {
        end = ast_stream_end_of_id(s, k);
        to += close_id(s, k, end, to);
    }
    for (size_t k = 0; k < c->live; k++)
        if ((size_t)c->order[k] >= before && c->members[c->order[k]] > 0)
            to += close_born(s, c->order[k], to);
    for (size_t slot = 0; slot < c->slots; slot++) /* a piece has the id of its cluster */
        s->id_of[slot] = s->id_of[s->joins.host[slot]];
    s->count = to;
    s->frame++;
    ast_stream_add_unselected(s);
    bool lost = to < before || count_died(s) > 0;
    to = s->count;
    ast_stream_keep_barred_apart(s);
    ast_stream_divide_shared(s);
    ast_stream_join_near(s);
    drop_surplus(s);
    if (lost || s->count < to)
        ast_identities_prune(s);
    hide_ids(s);
    point_to_means(s);
    return true;
}
