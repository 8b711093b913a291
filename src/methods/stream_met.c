/* SPDX-License-Identifier: MIT
 *
 * Which ids have met, that is, were in one exclusive frame: they are different identities, and the stream never joins
 * them. A table of all pairs of K ids would have K^2 / 2 entries. So every id has a list of bounded size; when the list
 * is full of ids that are still tracked, it becomes a Bloom filter of 768 bits, two for each id. Two ids have met only
 * if each is in the list of the other. A filter contains all ids that were added, and sometimes one that was not: then
 * two ids that could be joined stay apart. This is rare, because one of two such ids is usually new, and its list is
 * short and exact. */
#include "stream.h"

#include <string.h>

enum { BITS = AST_MET * 32 };

/* The two bits of an id. */
static void bits_of(int32_t id, uint32_t at[2]) {
    uint64_t hash = ((uint64_t)(uint32_t)id + 1) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    at[0] = (uint32_t)((hash >> 32) * BITS >> 32);
    at[1] = (uint32_t)((hash & UINT32_MAX) * BITS >> 32);
}

static void set_bits(ast_met *met, int32_t id) {
    uint32_t at[2];
    bits_of(id, at);
    for (int b = 0; b < 2; b++)
        met->words[at[b] / 32] |= 1U << at[b] % 32;
}

static bool has(const ast_met *met, int32_t id) {
    uint32_t at[2];
    if (met->count == AST_MET_FILTER) {
        bits_of(id, at);
        return (met->words[at[0] / 32] >> at[0] % 32 & 1) && (met->words[at[1] / 32] >> at[1] % 32 & 1);
    }
    for (uint32_t e = 0; e < met->count; e++)
        if (met->words[e] == (uint32_t)id)
            return true;
    return false;
}

/* Ids that are not tracked any more leave the list. */
static void drop_gone(const ast_stream *s, ast_met *met) {
    uint32_t kept = 0;
    for (uint32_t e = 0; e < met->count; e++)
        if (ast_stream_find_id(s, (int32_t)met->words[e]) < s->count)
            met->words[kept++] = met->words[e];
    met->count = kept;
}

/* The id of track k met another. */
static void add(const ast_stream *s, size_t k, int32_t id) {
    ast_met *met = &s->track[k].met;
    uint32_t words[AST_MET];
    if (has(met, id))
        return;
    s->track[k].flags |= AST_TOUCHED;
    if (met->count == AST_MET)
        drop_gone(s, met);
    if (met->count == AST_MET) {
        memcpy(words, met->words, sizeof words);
        *met = (ast_met){.count = AST_MET_FILTER};
        for (size_t e = 0; e < AST_MET; e++)
            set_bits(met, (int32_t)words[e]);
    }
    if (met->count == AST_MET_FILTER)
        set_bits(met, id);
    else
        met->words[met->count++] = (uint32_t)id;
}

bool ast_stream_may_have_met(const ast_stream *s, size_t a, size_t b) {
    return has(&s->track[a].met, s->track[b].id) && has(&s->track[b].met, s->track[a].id);
}

void ast_stream_note_met(ast_stream *s, const uint32_t *view, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const size_t a = view[i], b = view[j];
            if (s->track[a].part > 0 || s->track[b].part > 0)
                continue;
            add(s, a, s->track[b].id);
            add(s, b, s->track[a].id);
        }
}

void ast_stream_merge_met(ast_stream *s, int32_t from, int32_t into) {
    const size_t a = ast_stream_find_id(s, from), b = ast_stream_find_id(s, into);
    for (size_t c = 0; c < s->count && s->track[a].met.count > 0; c++) {
        if (s->track[c].part > 0 || c == a || c == b || !ast_stream_may_have_met(s, a, c))
            continue;
        add(s, b, s->track[c].id);
        add(s, c, into);
    }
}
