/* SPDX-License-Identifier: MIT
 *
 * A stream from its bytes: a state, and the changes after it. Everything is checked, and put together in memory of its
 * own, before the stream changes. */
#include "state.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES INT32_MAX /* in changes: ages stay within their type */
#define GONE UINT32_MAX

typedef struct loading {
    const unsigned char *bytes; /* of the state */
    ast_state_header state;
    ast_state_parts parts;
    ast_changes_header last;    /* what came last: of the state, or of changes */
    const unsigned char *found; /* the last pairs and landmarks, */
    ast_state_parts found_parts;
    const unsigned char *known; /* and the last names, forbidden rows and pairs that never merge */
    ast_state_parts known_parts;
    ast_track_list list; /* all means, with those that are gone */
    uint32_t *since;     /* (capacity) frames after the state when the mean was saved; GONE */
} loading;

/* Which option differs, or NULL. */
static const char *other_option(const ast_state_header *a, const ast_state_header *b) {
    return a->dimension != b->dimension             ? "dimension"
           : a->method != b->method                 ? "method"
           : a->angle != b->angle                   ? "angle"
           : a->beta != b->beta                     ? "beta"
           : a->drift != b->drift                   ? "drift"
           : a->weight_update != b->weight_update   ? "weight update"
           : a->axial != b->axial                   ? "axial"
           : a->revive_near != b->revive_near       ? "rule of revival (revive_near)"
           : a->merge_tracked != b->merge_tracked   ? "rule of merging (merge_tracked)"
           : a->rigid != b->rigid                   ? "rule of turning (rigid)"
           : a->score != b->score                   ? "score"
           : a->exclusive != b->exclusive           ? "rule of frames (exclusive)"
           : a->born_after != b->born_after         ? "number of sightings (born_after)"
           : a->min_size != b->min_size             ? "smallest cluster (min_size)"
           : a->min_quality != b->min_quality       ? "least quality (min_quality)"
           : a->centered != b->centered             ? "centre"
           : a->lifetime != b->lifetime             ? "lifetime"
           : a->max_iterations != b->max_iterations ? "limit of iterations (max_iterations)"
           : a->max_clusters != b->max_clusters     ? "limit of clusters (max_clusters)"
                                                    : NULL;
}

/* The two values of an option that users set to a number; false: it is another one. */
static bool values_of(const char *option, const ast_state_header *a, const ast_state_header *b, double values[2]) {
    const struct {
        const char *option;
        double values[2];
    } numbers[] = {{"angle", {a->angle, b->angle}},
                   {"drift", {a->drift, b->drift}},
                   {"lifetime", {(double)a->lifetime, (double)b->lifetime}},
                   {"dimension", {(double)a->dimension, (double)b->dimension}}};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
        if (strcmp(option, numbers[n].option) != 0)
            continue;
        memcpy(values, numbers[n].values, sizeof numbers->values);
        return true;
    }
    return false;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static ast_status damaged(ast_stream *s, const char *why) {
    return ast_fail(s->fault, AST_BAD_DATA, "the state is damaged: %s", why);
}

static ast_status check_options(ast_stream *s, const unsigned char *bytes, size_t size, const ast_state_header *h) {
    ast_state_header mine = ast_state_describe(s);
    const char *other = other_option(h, &mine);
    double values[2];
    size_t centre = h->centered && !other ? h->dimension * sizeof(float) : 0;
    if (!other && centre && size >= sizeof *h + centre && memcmp(bytes + sizeof *h, s->input.center, centre) != 0)
        other = "centre";
    if (!other)
        return AST_OK;
    if (values_of(other, h, &mine, values))
        return ast_fail(s->fault, AST_BAD_DATA,
                        "the state was made with another %s, %.10g instead of %.10g; go on with the same one, or begin "
                        "a new state",
                        other, values[0], values[1]);
    return ast_fail(s->fault, AST_BAD_DATA,
                    "the state was made with another %s; go on with the same one, or begin a new state", other);
}

/* Whether each number is one that memory can have: their products do not overflow. */
static bool are_small(const ast_state_parts *p, size_t size) {
    return p->means <= size && p->gone <= size && p->pairs <= size && p->apart <= size && p->names <= size &&
           p->log <= size && p->barred <= size && p->landmarks <= 1;
}

static ast_status check_state(ast_stream *s, loading *in, size_t size) {
    ast_state_header *h = &in->state;
    ast_status status = ast_saved_check(&ast_state_format, in->bytes, size, s->fault);
    if (status != AST_OK)
        return status;
    memcpy(h, in->bytes, sizeof *h);
    status = check_options(s, in->bytes, size, h);
    if (status != AST_OK)
        return status;
    in->parts = ast_state_lay_out(h);
    if (!are_small(&in->parts, size) || in->parts.size != size)
        return damaged(s, "its size does not match its clusters");
    bool good = ast_state_is_spread(&h->spread) && h->spread.den > 0 && ast_state_is_spread(&h->pair_cosine) &&
                h->pair_cosine.den > 0;
    for (int d = 0; d < 3; d++)
        good = good && isfinite(h->rotation_step[d]);
    if (!good || !ast_state_is_possible(in->bytes, &in->parts))
        return damaged(s, "no stream leaves such clusters");
    in->last = (ast_changes_header){.frame = h->frame,
                                    .next_id = h->next_id,
                                    .count = h->count,
                                    .spread = h->spread,
                                    .pair_cosine = h->pair_cosine,
                                    .landmarks = h->landmarks};
    in->found = in->known = in->bytes;
    in->found_parts = in->known_parts = in->parts;
    return AST_OK;
}

static ast_status check_changes(ast_stream *s, loading *in, const unsigned char *bytes, size_t size) {
    ast_changes_header h;
    ast_status status = ast_saved_check(&ast_changes_format, bytes, size, s->fault);
    if (status != AST_OK)
        return status;
    memcpy(&h, bytes, sizeof h);
    if (h.dimension != s->options.dimension || h.since != in->last.frame)
        return damaged(s, "its changes are those of another one");
    ast_state_parts parts = ast_changes_lay_out(&h);
    if (!are_small(&parts, size) || parts.size != size)
        return damaged(s, "the size of its changes does not match what they change");
    bool good = h.frame >= h.since && h.frame - in->state.frame < MOST_FRAMES && h.next_id >= in->last.next_id &&
                h.known <= 1 && (h.known || h.names + h.barred + h.apart == 0) && h.landmarks == in->last.landmarks &&
                ast_state_is_spread(&h.spread) && h.spread.den > 0 && ast_state_is_spread(&h.pair_cosine) &&
                h.pair_cosine.den > 0 && s->options.method == AST_STREAM_DDP && s->options.lifetime > 1;
    if (!good || !ast_state_is_possible(bytes, &parts))
        return damaged(s, "no stream makes such changes");
    in->last = h;
    in->found = bytes;
    in->found_parts = parts;
    if (h.known) {
        in->known = bytes;
        in->known_parts = parts;
    }
    return AST_OK;
}

static ast_status check_all(ast_stream *s, loading *in, size_t size) {
    size_t first = ast_saved_size_of_first(in->bytes, size), at = first;
    ast_status status = check_state(s, in, first);
    while (status == AST_OK && at < size) {
        size_t next = ast_saved_size_of_first(in->bytes + at, size - at);
        status = check_changes(s, in, in->bytes + at, next);
        at += next;
    }
    return status;
}

/* ---- The means --------------------------------------------------------------------------------------------------- */

static bool grow(loading *in, size_t count) {
    ast_track_list *w = &in->list;
    const size_t dimension = in->parts.dimension, capacity = count + count / 16 + 16;
    if (count <= w->capacity)
        return true;
    bool grown = ast_grow_array(&w->track, w->count, capacity, sizeof *w->track) &&
                 ast_grow_array(&w->m, w->count, capacity, dimension * sizeof *w->m) &&
                 ast_grow_array(&w->data_direction, w->count, capacity, dimension * sizeof *w->data_direction) &&
                 ast_grow_array(&in->since, w->count, capacity, sizeof *in->since);
    w->capacity = grown ? capacity : w->capacity;
    return grown;
}

/* Copies `count` means of the parts, from number `from` on, to place `to` of the list. */
static void copy_means(loading *in, size_t to, const unsigned char *bytes, const ast_state_parts *p, size_t from,
                       size_t count, uint32_t since) {
    const ast_track_list *w = &in->list;
    const size_t dimension = p->dimension, vector = dimension * sizeof(float);
    if (count == 0)
        return;
    memcpy(w->track + to, bytes + p->at_tracks + from * sizeof *w->track, count * sizeof *w->track);
    memcpy(w->m + to * dimension, bytes + p->at_m + from * vector, count * vector);
    memcpy(w->data_direction + to * dimension, bytes + p->at_u + from * vector, count * vector);
    for (size_t k = 0; k < count; k++)
        in->since[to + k] = since;
}

/* Moves the means from `from` on to `to`. */
static void shift_means(loading *in, size_t from, size_t to) {
    ast_track_list *w = &in->list;
    const size_t dimension = in->parts.dimension, count = w->count - from;
    memmove(w->track + to, w->track + from, count * sizeof *w->track);
    memmove(w->m + to * dimension, w->m + from * dimension, count * dimension * sizeof *w->m);
    memmove(w->data_direction + to * dimension, w->data_direction + from * dimension,
            count * dimension * sizeof *w->data_direction);
    memmove(in->since + to, in->since + from, count * sizeof *in->since);
    w->count = to + count;
}

/* The first mean of an id that is not below `id`. */
static size_t place_of(const ast_track_list *w, int32_t id) {
    size_t low = 0, high = w->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->track[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t end_of(const ast_track_list *w, size_t first, int32_t id) {
    while (first < w->count && w->track[first].id == id)
        first++;
    return first;
}

/* Puts means from..end-1 of the parts, which are those of one id, in the place of those that it had. */
static bool replace_id(loading *in, const unsigned char *bytes, const ast_state_parts *p, size_t from, size_t end,
                       int32_t id, uint32_t since) {
    const size_t first = place_of(&in->list, id), count = end - from, old = end_of(&in->list, first, id) - first;
    if (!grow(in, in->list.count + count))
        return false;
    if (count != old)
        shift_means(in, first + old, first + count);
    copy_means(in, first, bytes, p, from, count, since);
    return true;
}

static int32_t id_at(const unsigned char *bytes, const ast_state_parts *p, size_t k) {
    ast_track track;
    memcpy(&track, bytes + p->at_tracks + k * sizeof track, sizeof track);
    return track.id;
}

static bool apply(loading *in, const unsigned char *bytes) {
    ast_changes_header h;
    memcpy(&h, bytes, sizeof h);
    const ast_state_parts p = ast_changes_lay_out(&h);
    bool good = true;
    for (size_t g = 0; g < p.gone; g++) {
        int32_t id;
        memcpy(&id, bytes + p.at_gone + g * sizeof id, sizeof id);
        for (size_t k = place_of(&in->list, id); k < in->list.count && in->list.track[k].id == id; k++)
            in->since[k] = GONE;
    }
    for (size_t k = 0, end; k < p.means && good; k = end) {
        int32_t id = id_at(bytes, &p, k);
        for (end = k + 1; end < p.means && id_at(bytes, &p, end) == id; end++)
            ;
        good = replace_id(in, bytes, &p, k, end, id, (uint32_t)(h.frame - in->state.frame));
    }
    return good;
}

/* After all changes: ages, and the end of ids that are gone or too old. */
static void age_all(loading *in) {
    ast_track_list *w = &in->list;
    const size_t dimension = in->parts.dimension;
    const uint64_t now = in->last.frame - in->state.frame;
    size_t kept = 0;
    for (size_t k = 0; k < w->count; k++) {
        uint64_t passed = now - in->since[k], age = w->track[k].dt + passed;
        if (in->since[k] == GONE || (passed > 0 && age > in->state.lifetime))
            continue;
        w->track[k].dt = (uint32_t)age;
        if (kept < k) {
            w->track[kept] = w->track[k];
            memcpy(w->m + kept * dimension, w->m + k * dimension, dimension * sizeof *w->m);
            memcpy(w->data_direction + kept * dimension, w->data_direction + k * dimension,
                   dimension * sizeof *w->data_direction);
        }
        kept++;
    }
    w->count = kept;
}

static ast_status build(ast_stream *s, loading *in, size_t size) {
    if (!grow(in, in->parts.means))
        return ast_fail_memory(s->fault);
    in->list.count = in->parts.means;
    copy_means(in, 0, in->bytes, &in->parts, 0, in->parts.means, 0);
    for (size_t at = in->parts.size; at < size; at += ast_saved_size_of_first(in->bytes + at, size - at))
        if (!apply(in, in->bytes + at))
            return ast_fail_memory(s->fault);
    age_all(in);
    return in->list.count == in->last.count ? AST_OK
                                            : damaged(s, "its changes do not lead to as many clusters as they say");
}

/* ---- The stream -------------------------------------------------------------------------------------------------- */

static bool reserve(ast_stream *s, const loading *in) {
    const ast_state_parts *k = &in->known_parts;
    ast_identities *known = &s->known;
    size_t row = s->options.dimension * sizeof *known->barred_rows;
    return ast_stream_reserve_record_list(s, in->list.count + 1) &&
           ast_reserve(&s->joins.pairs, &s->joins.capacity, s->joins.count, in->found_parts.pairs,
                       sizeof *s->joins.pairs) &&
           ast_reserve(&known->apart, &known->apart_capacity, known->apart_count, k->apart, sizeof *known->apart) &&
           ast_reserve(&known->names, &known->name_capacity, known->name_count, k->names, sizeof *known->names) &&
           ast_reserve(&known->log, &known->log_capacity, known->log_count, in->parts.log, sizeof *known->log) &&
           ast_reserve(&known->barred, &known->barred_capacity, known->barred_count, k->barred,
                       sizeof *known->barred) &&
           ast_reserve(&known->barred_rows, &known->barred_row_capacity, known->barred_count, k->barred, row);
}

static size_t get(void *to, const unsigned char *from, size_t count, size_t size) {
    if (count)
        memcpy(to, from, count * size);
    return count;
}

static void take_known(ast_stream *s, const loading *in) {
    ast_identities *known = &s->known;
    const ast_state_parts *k = &in->known_parts;
    const size_t row = s->options.dimension * sizeof *known->barred_rows;
    known->apart_count = get(known->apart, in->known + k->at_apart, k->apart, sizeof *known->apart);
    known->name_count = get(known->names, in->known + k->at_names, k->names, sizeof *known->names);
    known->barred_count = get(known->barred, in->known + k->at_barred, k->barred, sizeof *known->barred);
    get(known->barred_rows, in->known + k->at_rows, k->barred, row);
    known->log_count = get(known->log, in->bytes + in->parts.at_log, in->parts.log, sizeof *known->log);
}

static void take_over(ast_stream *s, loading *in) {
    const ast_state_parts *found = &in->found_parts;
    ast_free_all(s->track, s->m, s->data_direction);
    s->track = in->list.track;
    s->m = in->list.m;
    s->data_direction = in->list.data_direction;
    s->count = in->list.count;
    s->capacity = in->list.capacity;
    in->list = (ast_track_list){0};
    take_known(s, in);
    s->joins.count = get(s->joins.pairs, in->found + found->at_pairs, found->pairs, sizeof *s->joins.pairs);
    ast_landmarks_start(&s->landmarks);
    get(&s->landmarks, in->found + found->at_landmarks, found->landmarks, sizeof s->landmarks);
    s->frame = in->last.frame;
    s->next_id = (int32_t)in->last.next_id;
    s->spread = in->last.spread;
    s->pair_cosine = in->last.pair_cosine;
    memcpy(s->rotation_step, in->state.rotation_step, sizeof s->rotation_step);
    ast_stream_mark_saved(s);
    s->changes.whole = in->last.landmarks != (uint64_t)ast_stream_finds_rotation(s);
    s->records.count = 0;
    s->records.stale = true;
}

static ast_status load(ast_stream *s, const void *state, size_t size) {
    loading in = {.bytes = state};
    ast_status status = ast_check_pointer(state, "state", s->fault);
    if (status == AST_OK)
        status = check_all(s, &in, size);
    if (status == AST_OK)
        status = build(s, &in, size);
    if (status == AST_OK && !reserve(s, &in))
        status = ast_fail_memory(s->fault);
    if (status == AST_OK)
        take_over(s, &in);
    ast_free_all(in.list.track, in.list.m, in.list.data_direction, in.since);
    return status;
}

ast_status ast_stream_load(ast_stream *s, const void *state, size_t size) {
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, load(s, state, size)) : AST_BAD_OPTION;
}
