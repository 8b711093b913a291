/* SPDX-License-Identifier: MIT
 *
 * A stream as bytes (saved.h): a head with the options and what was learned, the clusters, pairs of near clusters. */
#include "state.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x3154535f54534121u /* "!AST_ST1" in memory */
/* 2: with max_iterations; 3: axial; 4: revive_near; 5: another checksum; 6: spreads, pairs, rigid; 7: drift with beta
 * 8: score, pair cosine; 9: several means of an id, names, forbidden rows, the log
 * 10: qualities, sightings, centre; 11: who met whom, in lists of bounded size
 * 12: landmarks of the rotation; 13: their biases; 14: directions of the last points as floats */
#define VERSION 14

const ast_saved_format ast_state_format = {.magic = MAGIC,
                                           .version = VERSION,
                                           .head = sizeof(ast_state_header),
                                           .unit = 1,
                                           .name = "state",
                                           .no_magic = "this is no state of a stream",
                                           .on_version = ", so start the stream anew"};

/* The parts follow each other from `at` on, whose places are set here. */
static void place_parts(ast_state_parts *p, size_t at) {
    const size_t mean = p->dimension * sizeof(float);
    p->at_tracks = at;
    p->at_m = p->at_tracks + p->means * sizeof(ast_track);
    p->at_u = p->at_m + p->means * mean;
    p->at_gone = p->at_u + p->means * mean;
    p->at_pairs = p->at_gone + p->gone * sizeof(int32_t);
    p->at_apart = p->at_pairs + p->pairs * sizeof(ast_near_pair);
    p->at_names = p->at_apart + p->apart * sizeof(ast_near_pair);
    p->at_log = p->at_names + p->names * sizeof(ast_stream_name_of);
    p->at_barred = p->at_log + p->log * sizeof(ast_identity_change);
    p->at_rows = p->at_barred + p->barred * sizeof(int32_t);
    p->at_landmarks = p->at_rows + p->barred * mean;
    p->size = p->at_landmarks + p->landmarks * sizeof(ast_landmark_map) + sizeof(uint64_t);
}

/* The centre comes first, since its place is fixed. */
ast_state_parts ast_state_lay_out(const ast_state_header *h) {
    ast_state_parts parts = {.dimension = h->dimension,
                             .next_id = h->next_id,
                             .means = h->count,
                             .pairs = h->pairs,
                             .apart = h->apart,
                             .names = h->names,
                             .log = h->log,
                             .barred = h->barred,
                             .landmarks = h->landmarks};
    place_parts(&parts, sizeof *h + (h->centered ? h->dimension * sizeof(float) : 0));
    return parts;
}

ast_state_parts ast_changes_lay_out(const ast_changes_header *h) {
    ast_state_parts parts = {.dimension = h->dimension,
                             .next_id = h->next_id,
                             .means = h->means,
                             .gone = h->gone,
                             .pairs = h->pairs,
                             .apart = h->apart,
                             .names = h->names,
                             .barred = h->barred,
                             .landmarks = h->landmarks};
    place_parts(&parts, sizeof *h);
    return parts;
}

ast_state_header ast_state_describe(const ast_stream *s) {
    const ast_stream_options *o = &s->options;
    return (ast_state_header){.magic = MAGIC,
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
                              .pair_cosine = s->pair_cosine,
                              .rotation_step = {s->rotation_step[0], s->rotation_step[1], s->rotation_step[2]},
                              .landmarks = ast_stream_finds_rotation(s)};
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

void ast_state_put(ast_state_sink *sink, const void *bytes, size_t size) {
    if (size == 0 || sink->failed)
        return;
    ast_checksum_part(&sink->sum, bytes, size);
    if (sink->at)
        sink->at = ast_saved_put(sink->at, bytes, size);
    else
        sink->failed = sink->write(sink->data, bytes, size) != 0;
}

void ast_state_put_sum(ast_state_sink *sink) {
    uint64_t sum = ast_checksum_end(&sink->sum);
    ast_state_put(sink, &sum, sizeof sum);
}

unsigned char *ast_state_buffer(ast_stream *s, size_t size) {
    if (size > s->state_capacity || size < s->state_capacity / 4) {
        ast_free(s->state);
        s->state = ast_allocate(size, 1);
        s->state_capacity = s->state ? size : 0;
    }
    return s->state;
}

static void put(const ast_stream *s, const ast_state_header *header, ast_state_sink *sink) {
    const ast_identities *known = &s->known;
    const size_t dimension = s->options.dimension, vectors = s->count * dimension * sizeof *s->m;
    ast_checksum_begin(&sink->sum, header->size - sizeof(uint64_t));
    ast_state_put(sink, header, sizeof *header);
    ast_state_put(sink, s->input.center, s->input.center ? dimension * sizeof *s->input.center : 0);
    ast_state_put(sink, s->track, s->count * sizeof *s->track);
    ast_state_put(sink, s->m, vectors);
    ast_state_put(sink, s->data_direction, vectors);
    ast_state_put(sink, s->joins.pairs, s->joins.count * sizeof *s->joins.pairs);
    ast_state_put(sink, known->apart, known->apart_count * sizeof *known->apart);
    ast_state_put(sink, known->names, known->name_count * sizeof *known->names);
    ast_state_put(sink, known->log, known->log_count * sizeof *known->log);
    ast_state_put(sink, known->barred, known->barred_count * sizeof *known->barred);
    ast_state_put(sink, known->barred_rows, known->barred_count * dimension * sizeof *known->barred_rows);
    ast_state_put(sink, &s->landmarks, header->landmarks ? sizeof s->landmarks : 0);
    ast_state_put_sum(sink);
}

static ast_status save(ast_stream *s, size_t *size) {
    ast_state_header header = ast_state_describe(s);
    ast_status status = ast_check_pointer(size, "size", s->fault);
    if (status != AST_OK)
        return status;
    header.size = ast_state_lay_out(&header).size;
    ast_state_sink sink = {.at = ast_state_buffer(s, header.size)};
    if (!sink.at)
        return ast_fail_memory(s->fault);
    ast_stream_mark_saved(s);
    put(s, &header, &sink);
    *size = header.size;
    return AST_OK;
}

const void *ast_stream_save(ast_stream *s, size_t *size) {
    if (!ast_enter(s ? s->context : NULL))
        return NULL;
    return ast_leave(s->context, save(s, size)) == AST_OK ? s->state : NULL;
}

static ast_status write_state(ast_stream *s, ast_state_write *write, void *data) {
    ast_state_header header = ast_state_describe(s);
    ast_state_sink sink = {.write = write, .data = data};
    if (!write)
        return ast_check_pointer(NULL, "write", s->fault);
    header.size = ast_state_lay_out(&header).size;
    ast_stream_mark_saved(s);
    put(s, &header, &sink);
    s->changes.whole = sink.failed;
    return sink.failed ? ast_fail(s->fault, AST_CANCELLED, "the state was not written: write() stopped it") : AST_OK;
}

ast_status ast_stream_write(ast_stream *s, ast_state_write *write, void *data) {
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, write_state(s, write, data)) : AST_BAD_OPTION;
}

/* ---- The options of a state -------------------------------------------------------------------------------------- */

static void copy_options(const ast_state_header *header, ast_stream_options *options) {
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
    ast_state_header header;
    ast_status status = ast_check_pointer(state, "state", fault);
    const char *problem = ast_size_problem(options, sizeof *options);
    if (status == AST_OK && problem)
        return ast_fail(fault, AST_BAD_OPTION, "%s", problem);
    size = status == AST_OK ? ast_saved_size_of_first(state, size) : size;
    if (status == AST_OK)
        status = ast_saved_check(&ast_state_format, state, size, fault);
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
