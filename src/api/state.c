/* SPDX-License-Identifier: MIT
 *
 * A stream as bytes (saved.h): a head with the options and what was learned, the clusters, pairs of near clusters. */
#include "context.h"

#include "memory.h"
#include "saved.h"
#include "stream.h"

#include <math.h>
#include <string.h>

#define MAGIC 0x3154535f54534121u /* "!AST_ST1" in memory */
/* 2: with max_iterations; 3: axial; 4: revive_near; 5: another checksum; 6: spreads, pairs, rigid; 7: drift with beta
 * 8: score, likeness of points; 9: several means of an id, names, forbidden rows, the log
 * 10: qualities, sightings, centre; 11: who met whom, in lists of bounded size
 * 12: landmarks of the rotation; 13: their biases */
#define VERSION 13

typedef struct state_header {
    uint64_t magic, version, size;
    uint64_t dimension, method, weight_update, lifetime, max_iterations, max_clusters, axial, revive_near;
    uint64_t merge_tracked, rigid, score, exclusive, born_after, min_size, centered;
    double angle, drift, beta, min_quality;
    uint64_t frame, next_id, count, pairs;
    uint64_t names, barred, apart, log;
    ast_spread spread, likeness;
    double rotation_step[3];
    uint64_t landmarks; /* 1: their map is at the end */
} state_header;

/* The centre comes first, since its place is fixed. */
static uint64_t center_bytes(const state_header *h) {
    return h->centered ? h->dimension * sizeof(float) : 0;
}

/* Of a state with these numbers of clusters and so on, each below 2^31. */
static uint64_t state_bytes(const state_header *h) {
    uint64_t mean = h->dimension * sizeof(float), cluster = sizeof(ast_track) + mean + h->dimension * sizeof(double);
    return sizeof *h + center_bytes(h) + h->count * cluster + (h->pairs + h->apart) * sizeof(ast_near_pair) +
           h->names * sizeof(ast_stream_name_of) + h->barred * (sizeof(int32_t) + mean) +
           h->log * sizeof(ast_identity_change) + (h->landmarks ? sizeof(ast_landmark_map) : 0) + sizeof(uint64_t);
}

static state_header describe(const ast_stream *s) {
    const ast_stream_options *o = &s->options;
    return (state_header){.magic = MAGIC,
                          .version = VERSION,
                          .dimension = o->dimension,
                          .method = o->method,
                          .weight_update = ast_stream_weight_update(s),
                          .lifetime = o->lifetime,
                          .max_iterations = (uint64_t)o->max_iterations,
                          .max_clusters = o->max_clusters,
                          .axial = o->axial != 0,
                          .revive_near = o->revive_near != 0,
                          .merge_tracked = o->merge_tracked != 0,
                          .rigid = o->rigid != 0,
                          .score = ast_stream_scores_nearest(s) ? AST_SCORE_NEAREST : AST_SCORE_GEODESIC,
                          .exclusive = o->exclusive != 0,
                          .born_after = o->born_after,
                          .min_size = o->min_size,
                          .centered = s->input.center != NULL,
                          .min_quality = o->min_quality,
                          .angle = o->angle,
                          .drift = o->drift,
                          .beta = isnan(o->beta) ? -1 : o->beta,
                          .frame = s->frame,
                          .next_id = (uint64_t)s->next_id,
                          .count = s->count,
                          .pairs = s->joins.count,
                          .names = s->known.name_count,
                          .barred = s->known.barred_count,
                          .apart = s->known.apart_count,
                          .log = s->known.log_count,
                          .spread = s->spread,
                          .likeness = s->likeness,
                          .rotation_step = {s->rotation_step[0], s->rotation_step[1], s->rotation_step[2]},
                          .landmarks = ast_stream_finds_rotation(s)};
}

static ast_status save(ast_stream *s, size_t *size) {
    state_header header = describe(s);
    const ast_identities *known = &s->known;
    size_t dimension = s->options.dimension;
    header.size = state_bytes(&header);
    ast_status status = ast_check_pointer(size, "size", s->fault);
    if (status != AST_OK)
        return status;
    if (!ast_reserve(&s->state, &s->state_capacity, 0, header.size, 1))
        return ast_fail_memory(s->fault);
    unsigned char *at = ast_saved_put(s->state, &header, sizeof header);
    at = ast_saved_put(at, s->input.center, s->input.center ? dimension * sizeof *s->input.center : 0);
    at = ast_saved_put(at, s->track, s->count * sizeof *s->track);
    at = ast_saved_put(at, s->m, s->count * dimension * sizeof *s->m);
    at = ast_saved_put(at, s->data_direction, s->count * dimension * sizeof *s->data_direction);
    at = ast_saved_put(at, s->joins.pairs, s->joins.count * sizeof *s->joins.pairs);
    at = ast_saved_put(at, known->apart, known->apart_count * sizeof *known->apart);
    at = ast_saved_put(at, known->names, known->name_count * sizeof *known->names);
    at = ast_saved_put(at, known->log, known->log_count * sizeof *known->log);
    at = ast_saved_put(at, known->barred, known->barred_count * sizeof *known->barred);
    at = ast_saved_put(at, known->barred_rows, known->barred_count * dimension * sizeof *known->barred_rows);
    if (header.landmarks)
        at = ast_saved_put(at, &s->landmarks, sizeof s->landmarks);
    ast_saved_close(s->state, at);
    *size = header.size;
    return AST_OK;
}

const void *ast_stream_save(ast_stream *s, size_t *size) {
    if (!ast_enter(s ? s->context : NULL))
        return NULL;
    return ast_leave(s->context, save(s, size)) == AST_OK ? s->state : NULL;
}

/* Which option differs, or NULL. */
static const char *other_option(const state_header *a, const state_header *b) {
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

static const ast_saved_format format = {.magic = MAGIC,
                                        .version = VERSION,
                                        .head = sizeof(state_header),
                                        .unit = 1,
                                        .name = "state",
                                        .no_magic = "this is no state of a stream",
                                        .on_version = ", so start the stream anew"};

static const unsigned char *get(void *to, const unsigned char *from, size_t size) {
    if (size)
        memcpy(to, from, size);
    return from + size;
}

static bool is_spread(const ast_spread *spread) {
    return isfinite(spread->num) && isfinite(spread->den) && spread->den >= 0;
}

/* Whether the track is possible after `last`, whose id is -1 if there is none. */
static bool is_track(const ast_track *track, const ast_track *last, uint64_t next_id) {
    bool further =
        track->id == last->id && track->part == last->part + 1 && track->dt == last->dt && track->flags == last->flags;
    return (further || (track->id > last->id && track->part == 0)) && (uint64_t)track->id < next_id && track->dt >= 1 &&
           track->flags <= (AST_LOCKED | AST_KNOWN) && track->weight >= 0 && isfinite(track->weight) &&
           track->n_prev >= 0 && track->n_prev < 0x1p53 && track->rows >= 0 && isfinite(track->rows) &&
           track->sightings >= 1 && is_spread(&track->spread) &&
           (track->met.count <= AST_MET || track->met.count == AST_MET_FILTER);
}

/* Whether m is a unit vector, and u one that can be added up. */
static bool are_vectors(const unsigned char *m, const unsigned char *u, size_t dimension) {
    double length = 0;
    bool finite = true;
    for (size_t d = 0; d < dimension; d++) {
        float component;
        double drift;
        memcpy(&component, m + d * sizeof component, sizeof component);
        memcpy(&drift, u + d * sizeof drift, sizeof drift);
        length += (double)component * (double)component;
        finite = finite && isfinite(drift);
    }
    return finite && fabs(length - 1) < 1e-3;
}

static bool are_tracks(const unsigned char *state, const state_header *header) {
    size_t count = (size_t)header->count, dimension = (size_t)header->dimension;
    const unsigned char *tracks = state + sizeof *header + center_bytes(header),
                        *m = tracks + count * sizeof(ast_track);
    const unsigned char *u = m + count * dimension * sizeof(float);
    ast_track last = {.id = -1};
    bool good = true;
    for (size_t k = 0; k < count && good; k++) {
        ast_track track;
        get(&track, tracks + k * sizeof track, sizeof track);
        good = is_track(&track, &last, header->next_id) &&
               are_vectors(m + k * dimension * sizeof(float), u + k * dimension * sizeof(double), dimension);
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

/* Names, then the log, the ids of forbidden rows, and these rows. */
static bool are_words(const unsigned char *at, const state_header *header) {
    bool good = true;
    int32_t last = -1, id;
    for (size_t n = 0; n < header->names && good; n++) {
        ast_stream_name_of name;
        at = get(&name, at, sizeof name);
        good = name.id > last && (uint64_t)name.id < header->next_id && memchr(name.text, 0, sizeof name.text);
        last = name.id;
    }
    for (size_t e = 0; e < header->log && good; e++) {
        ast_identity_change change;
        at = get(&change, at, sizeof change);
        good = (unsigned)change.kind <= AST_IDENTITY_SET && change.id >= -1 && change.other >= -1;
    }
    last = -1;
    for (size_t b = 0; b < header->barred && good; b++) {
        at = get(&id, at, sizeof id);
        good = id >= last && id >= 0 && (uint64_t)id < header->next_id;
        last = id;
    }
    for (size_t d = 0; d < header->barred * header->dimension && good; d++) {
        float component;
        at = get(&component, at, sizeof component);
        good = fabsf(component) <= 1.001f;
    }
    return good;
}

/* Whether some stream can have these clusters and pairs: a checksum protects from accidents, not from malice. */
static bool is_possible(const unsigned char *state, const state_header *header) {
    size_t count = (size_t)header->count, dimension = (size_t)header->dimension;
    const unsigned char *pairs = state + sizeof *header + center_bytes(header) + count * sizeof(ast_track) +
                                 count * dimension * (sizeof(float) + sizeof(double));
    const unsigned char *apart = pairs + header->pairs * sizeof(ast_near_pair);
    bool good = header->next_id <= INT32_MAX && is_spread(&header->spread) && header->spread.den > 0 &&
                is_spread(&header->likeness) && header->likeness.den > 0;
    for (int d = 0; d < 3; d++)
        good = good && isfinite(header->rotation_step[d]);
    ast_landmark_map map;
    if (good && header->landmarks) {
        get(&map, state + header->size - sizeof(uint64_t) - sizeof map, sizeof map);
        good = ast_landmarks_are_possible(&map);
    }
    return good && are_tracks(state, header) && are_pairs(pairs, header->pairs, header->next_id) &&
           are_pairs(apart, header->apart, header->next_id) &&
           are_words(apart + header->apart * sizeof(ast_near_pair), header);
}

static ast_status check(ast_stream *s, const unsigned char *state, size_t size, state_header *header) {
    state_header mine = describe(s);
    ast_status status = ast_saved_check(&format, state, size, s->fault);
    if (status != AST_OK)
        return status;
    memcpy(header, state, sizeof *header);
    const char *other = other_option(header, &mine);
    if (other)
        return ast_fail(s->fault, AST_BAD_DATA,
                        "the state was made with another %s; go on with the same one, or begin a new state", other);
    if (header->centered && size >= sizeof *header + center_bytes(header) &&
        memcmp(state + sizeof *header, s->input.center, (size_t)center_bytes(header)) != 0)
        return ast_fail(s->fault, AST_BAD_DATA,
                        "the state was made with another centre; go on with the same one, or "
                        "begin a new state");
    bool small = header->count <= size && header->pairs <= size && header->names <= size && header->barred <= size &&
                 header->apart <= size && header->log <= size && header->landmarks <= 1;
    if (!small || size != state_bytes(header))
        return ast_fail(s->fault, AST_BAD_DATA, "the state is damaged: its size does not match its clusters");
    if (!is_possible(state, header))
        return ast_fail(s->fault, AST_BAD_DATA, "the state is damaged: no stream leaves such clusters");
    return AST_OK;
}

static bool reserve(ast_stream *s, const state_header *h) {
    ast_identities *known = &s->known;
    size_t row = s->options.dimension * sizeof *known->barred_rows;
    return ast_stream_reserve(s, h->count) && ast_stream_reserve_list(s, h->count + 1) &&
           ast_reserve(&s->joins.pairs, &s->joins.capacity, s->joins.count, h->pairs, sizeof *s->joins.pairs) &&
           ast_reserve(&known->apart, &known->apart_capacity, known->apart_count, h->apart, sizeof *known->apart) &&
           ast_reserve(&known->names, &known->name_capacity, known->name_count, h->names, sizeof *known->names) &&
           ast_reserve(&known->log, &known->log_capacity, known->log_count, h->log, sizeof *known->log) &&
           ast_reserve(&known->barred, &known->barred_capacity, known->barred_count, h->barred,
                       sizeof *known->barred) &&
           ast_reserve(&known->barred_rows, &known->barred_row_capacity, known->barred_count, h->barred, row);
}

static ast_status load(ast_stream *s, const void *state, size_t size) {
    state_header header;
    ast_status status = ast_check_pointer(state, "state", s->fault);
    if (status == AST_OK)
        status = check(s, state, size, &header);
    if (status == AST_OK && !reserve(s, &header))
        status = ast_fail_memory(s->fault);
    if (status != AST_OK)
        return status;
    ast_identities *known = &s->known;
    size_t dimension = s->options.dimension, count = (size_t)header.count;
    const unsigned char *at = (const unsigned char *)state + sizeof header + center_bytes(&header);
    at = get(s->track, at, count * sizeof *s->track);
    at = get(s->m, at, count * dimension * sizeof *s->m);
    at = get(s->data_direction, at, count * dimension * sizeof *s->data_direction);
    at = get(s->joins.pairs, at, header.pairs * sizeof *s->joins.pairs);
    at = get(known->apart, at, header.apart * sizeof *known->apart);
    at = get(known->names, at, header.names * sizeof *known->names);
    at = get(known->log, at, header.log * sizeof *known->log);
    at = get(known->barred, at, header.barred * sizeof *known->barred);
    at = get(known->barred_rows, at, header.barred * dimension * sizeof *known->barred_rows);
    ast_landmarks_start(&s->landmarks);
    if (header.landmarks)
        get(&s->landmarks, at, sizeof s->landmarks);
    s->count = count;
    s->joins.count = header.pairs;
    known->apart_count = header.apart;
    known->name_count = header.names;
    known->log_count = header.log;
    known->barred_count = header.barred;
    s->frame = header.frame;
    s->next_id = (int32_t)header.next_id;
    s->spread = header.spread;
    s->likeness = header.likeness;
    memcpy(s->rotation_step, header.rotation_step, sizeof s->rotation_step);
    ast_stream_list_records(s);
    return AST_OK;
}

ast_status ast_stream_load(ast_stream *s, const void *state, size_t size) {
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, load(s, state, size)) : AST_BAD_OPTION;
}

/* ---- The options of a state -------------------------------------------------------------------------------------- */

static void copy_options(const state_header *header, ast_stream_options *options) {
    options->dimension = (size_t)header->dimension;
    options->method = (ast_stream_method)header->method;
    options->angle = header->angle;
    options->drift = header->drift;
    options->beta = header->beta < 0 ? NAN : header->beta;
    options->weight_update = (ast_weight_update)header->weight_update;
    options->lifetime = (uint32_t)header->lifetime;
    options->max_iterations = (int)header->max_iterations;
    options->max_clusters = (size_t)header->max_clusters;
    options->axial = header->axial != 0;
    options->revive_near = header->revive_near != 0;
    options->merge_tracked = header->merge_tracked != 0;
    options->rigid = header->rigid != 0;
    options->exclusive = header->exclusive != 0;
    options->score = (ast_stream_score)header->score;
    options->born_after = (uint32_t)header->born_after;
    options->min_size = (size_t)header->min_size;
    options->min_quality = header->min_quality;
    options->center = NULL;
}

static ast_status read_options(ast_fault *fault, const void *state, size_t size, ast_stream_options *options) {
    state_header header;
    ast_status status = ast_check_pointer(state, "state", fault);
    const char *problem = ast_size_problem(options, sizeof *options);
    if (status == AST_OK && problem)
        return ast_fail(fault, AST_BAD_OPTION, "%s", problem);
    if (status == AST_OK)
        status = ast_saved_check(&format, state, size, fault);
    if (status != AST_OK)
        return status;
    memcpy(&header, state, sizeof header);
    ast_stream_options taken = *options;
    copy_options(&header, &taken);
    if (header.centered && taken.dimension <= (size - sizeof header) / sizeof(float))
        taken.center = (const float *)(const void *)((const unsigned char *)state + sizeof header);
    problem = ast_stream_options_problem(&taken);
    if (problem)
        return ast_fail(fault, AST_BAD_DATA, "the state is damaged: %s", problem);
    *options = taken;
    return AST_OK;
}

ast_status ast_stream_saved(ast_context *context, const void *state, size_t size, ast_stream_options *options) {
    return ast_enter(context) ? ast_leave(context, read_options(&context->fault, state, size, options))
                              : AST_BAD_OPTION;
}
