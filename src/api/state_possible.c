/* SPDX-License-Identifier: MIT
 *
 * Whether some stream can have what is in its bytes: a checksum protects from accidents, not from malice. */
#include "state.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 };

static const unsigned char *get(void *to, const unsigned char *from, size_t size) {
    memcpy(to, from, size);
    return from + size;
}

bool ast_state_is_spread(const ast_spread *spread) {
    return isfinite(spread->num) && isfinite(spread->den) && spread->den >= 0;
}

/* Whether the track is possible after `last`, whose id is -1 if there is none. */
static bool is_track(const ast_track *track, const ast_track *last, uint64_t next_id) {
    bool further =
        track->id == last->id && track->part == last->part + 1 && track->dt == last->dt && track->flags == last->flags;
    return (further || (track->id > last->id && track->part == 0)) && (uint64_t)track->id < next_id && track->dt >= 1 &&
           track->flags <= (AST_LOCKED | AST_KNOWN) && track->weight >= 0 && isfinite(track->weight) &&
           track->n_prev >= 0 && track->n_prev < 0x1p53 && track->rows >= 0 && isfinite(track->rows) &&
           track->sightings >= 1 && ast_state_is_spread(&track->spread) &&
           (track->met.count <= AST_MET || track->met.count == AST_MET_FILTER);
}

/* Whether all numbers are finite, whose squares have then a finite sum; in independent sums, for speed. */
static bool is_finite(const unsigned char *at, size_t count, double *squares) {
    double sums[LANES] = {0};
    float some[LANES];
    size_t d = 0;
    for (; d + LANES <= count; d += LANES) {
        memcpy(some, at + d * sizeof *some, sizeof some);
        for (size_t j = 0; j < LANES; j++)
            sums[j] += (double)some[j] * (double)some[j];
    }
    memcpy(some, at + d * sizeof *some, (count - d) * sizeof *some);
    for (size_t j = 0; d + j < count; j++)
        sums[j] += (double)some[j] * (double)some[j];
    *squares = 0;
    for (size_t j = 0; j < LANES; j++)
        *squares += sums[j];
    return isfinite(*squares);
}

static bool are_tracks(const unsigned char *bytes, const ast_state_parts *p) {
    const size_t vector = p->dimension * sizeof(float);
    ast_track last = {.id = -1}, track;
    double squares;
    bool good = true;
    for (size_t k = 0; k < p->means && good; k++) {
        memcpy(&track, bytes + p->at_tracks + k * sizeof track, sizeof track);
        good = is_track(&track, &last, p->next_id) && is_finite(bytes + p->at_m + k * vector, p->dimension, &squares) &&
               fabs(squares - 1) < 1e-3 && is_finite(bytes + p->at_u + k * vector, p->dimension, &squares);
        last = track;
    }
    return good;
}

static bool are_pairs(const unsigned char *at, uint64_t count, uint64_t next_id) {
    ast_near_pair before = {-1, -1, 0};
    bool good = true;
    for (size_t k = 0; k < count && good; k++) {
        ast_near_pair pair;
        at = get(&pair, at, sizeof pair);
        good = pair.older >= 0 && pair.older < pair.younger && (uint64_t)pair.younger < next_id &&
               (pair.older > before.older || (pair.older == before.older && pair.younger > before.younger));
        before = pair;
    }
    return good;
}

static bool are_names(const unsigned char *at, size_t count, uint64_t next_id) {
    ast_stream_name_of name;
    int32_t last = -1;
    bool good = true;
    for (size_t n = 0; n < count && good; n++) {
        at = get(&name, at, sizeof name);
        good = name.id > last && (uint64_t)name.id < next_id && memchr(name.text, 0, sizeof name.text);
        last = name.id;
    }
    return good;
}

static bool is_log(const unsigned char *at, size_t count) {
    bool good = true;
    for (size_t e = 0; e < count && good; e++) {
        ast_identity_change change;
        at = get(&change, at, sizeof change);
        good = (unsigned)change.kind <= AST_IDENTITY_SET && change.id >= -1 && change.other >= -1;
    }
    return good;
}

/* Ids in any order. */
static bool are_below(const unsigned char *at, size_t count, uint64_t next_id) {
    int32_t id;
    bool good = true;
    for (size_t g = 0; g < count && good; g++) {
        at = get(&id, at, sizeof id);
        good = id >= 0 && (uint64_t)id < next_id;
    }
    return good;
}

/* Ids of forbidden rows, in order. */
static bool are_ids(const unsigned char *at, size_t count, uint64_t next_id) {
    int32_t last = -1, id;
    bool good = true;
    for (size_t b = 0; b < count && good; b++) {
        at = get(&id, at, sizeof id);
        good = id >= 0 && id >= last && (uint64_t)id < next_id;
        last = id;
    }
    return good;
}

static bool are_rows(const unsigned char *at, size_t numbers) {
    float component;
    bool good = true;
    for (size_t d = 0; d < numbers && good; d++) {
        at = get(&component, at, sizeof component);
        good = fabsf(component) <= 1.001f;
    }
    return good;
}

bool ast_state_is_possible(const unsigned char *bytes, const ast_state_parts *p) {
    ast_landmark_map map;
    bool good =
        p->next_id <= INT32_MAX && are_tracks(bytes, p) && are_below(bytes + p->at_gone, p->gone, p->next_id) &&
        are_pairs(bytes + p->at_pairs, p->pairs, p->next_id) && are_pairs(bytes + p->at_apart, p->apart, p->next_id) &&
        are_names(bytes + p->at_names, p->names, p->next_id) && is_log(bytes + p->at_log, p->log) &&
        are_ids(bytes + p->at_barred, p->barred, p->next_id) && are_rows(bytes + p->at_rows, p->barred * p->dimension);
    if (good && p->landmarks) {
        memcpy(&map, bytes + p->at_landmarks, sizeof map);
        good = ast_landmarks_are_possible(&map);
    }
    return good;
}
