/* SPDX-License-Identifier: MIT
 *
 * Saving only what a frame has changed, because a stream may have very many identities. The ids that the frame touched
 * are saved as they are now; the ages of all others follow from the number of frames. */
#include "state.h"

#include <string.h>

#define MAGIC 0x3143534f54534121u /* "!ASTOSC1" in memory */
#define VERSION 1

const ast_saved_format ast_changes_format = {.magic = MAGIC,
                                             .version = VERSION,
                                             .head = sizeof(ast_changes_header),
                                             .unit = 1,
                                             .name = "change of the state",
                                             .no_magic = "behind the state are bytes that are no change of it",
                                             .on_version = ", so start the stream anew"};

static bool is_touched(const ast_stream *s, size_t first, size_t end) {
    bool touched = false;
    for (size_t k = first; k < end; k++)
        touched = touched || (s->track[k].flags & AST_TOUCHED);
    return touched;
}

/* All means of a touched id get the mark; returns how many there are. */
static size_t mark_ids(const ast_stream *s) {
    size_t count = 0;
    for (size_t k = 0, end; k < s->count; k = end) {
        end = ast_stream_end_of_id(s, k);
        if (!is_touched(s, k, end))
            continue;
        for (size_t e = k; e < end; e++)
            s->track[e].flags |= AST_TOUCHED;
        count += end - k;
    }
    return count;
}

static ast_changes_header describe(const ast_stream *s) {
    const ast_identities *known = &s->known;
    const bool all = s->changes.known;
    return (ast_changes_header){.magic = MAGIC,
                                .version = VERSION,
                                .dimension = s->options.dimension,
                                .since = s->changes.frame,
                                .frame = s->frame,
                                .next_id = (uint64_t)s->next_id,
                                .count = s->count,
                                .means = mark_ids(s),
                                .gone = s->changes.count,
                                .pairs = s->joins.count,
                                .known = all,
                                .names = all ? known->name_count : 0,
                                .barred = all ? known->barred_count : 0,
                                .apart = all ? known->apart_count : 0,
                                .spread = s->spread,
                                .pair_cosine = s->pair_cosine,
                                .landmarks = ast_stream_finds_rotation(s)};
}

static void put_means(const ast_stream *s, ast_state_sink *sink) {
    const size_t dimension = s->options.dimension, vector = dimension * sizeof(float);
    for (size_t k = 0; k < s->count; k++) {
        ast_track track = s->track[k];
        track.flags &= ~AST_TOUCHED;
        ast_state_put(sink, &track, s->track[k].flags & AST_TOUCHED ? sizeof track : 0);
    }
    for (size_t k = 0; k < s->count; k++)
        ast_state_put(sink, s->m + k * dimension, s->track[k].flags & AST_TOUCHED ? vector : 0);
    for (size_t k = 0; k < s->count; k++)
        ast_state_put(sink, s->data_direction + k * dimension, s->track[k].flags & AST_TOUCHED ? vector : 0);
}

static void put(const ast_stream *s, const ast_changes_header *h, ast_state_sink *sink) {
    const ast_identities *known = &s->known;
    ast_checksum_begin(&sink->sum, h->size - sizeof(uint64_t));
    ast_state_put(sink, h, sizeof *h);
    put_means(s, sink);
    ast_state_put(sink, s->changes.gone, h->gone * sizeof *s->changes.gone);
    ast_state_put(sink, s->joins.pairs, h->pairs * sizeof *s->joins.pairs);
    ast_state_put(sink, known->apart, h->apart * sizeof *known->apart);
    ast_state_put(sink, known->names, h->names * sizeof *known->names);
    ast_state_put(sink, known->barred, h->barred * sizeof *known->barred);
    ast_state_put(sink, known->barred_rows, h->barred * s->options.dimension * sizeof *known->barred_rows);
    ast_state_put(sink, &s->landmarks, h->landmarks ? sizeof s->landmarks : 0);
    ast_state_put_sum(sink);
}

static ast_status save_changes(ast_stream *s, size_t *size) {
    ast_status status = ast_check_pointer(size, "size", s->fault);
    if (status != AST_OK)
        return status;
    *size = 0;
    if (s->changes.whole || s->options.lifetime < 2 || s->frame - s->changes.frame >= INT32_MAX)
        return AST_OK;
    ast_changes_header header = describe(s);
    header.size = ast_changes_lay_out(&header).size;
    ast_state_sink sink = {.at = ast_state_buffer(s, header.size)};
    if (!sink.at)
        return ast_fail_memory(s->fault);
    put(s, &header, &sink);
    ast_stream_mark_saved(s);
    *size = header.size;
    return AST_OK;
}

const void *ast_stream_save_changes(ast_stream *s, size_t *size) {
    if (!ast_enter(s ? s->context : NULL))
        return NULL;
    return ast_leave(s->context, save_changes(s, size)) == AST_OK && *size ? s->state : NULL;
}
