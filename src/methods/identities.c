/* SPDX-License-Identifier: MIT
 *
 * The corrections that users made to ids, and how frames respect them: forbidden rows, and ids that never merge. A row
 * is barred from an id if it is nearer to one of the id's forbidden rows than to its means. To be comparable, the
 * cosine with a forbidden row is divided by the reliability of one row, and that with a mean by the reliability of this
 * mean (reliability.c). */
#include "stream.h"

#include "memory.h"

#include <string.h>

size_t ast_stream_end_of_id(const ast_stream *s, size_t first) {
    size_t end = first + 1;
    while (end < s->count && s->track[end].id == s->track[first].id)
        end++;
    return end;
}

size_t ast_stream_find_id(const ast_stream *s, int32_t id) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->track[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->track[low].id == id ? low : s->count;
}

/* ---- Rows that are not an id ------------------------------------------------------------------------------------- */

static double reliability(const ast_stream *s, double rows) {
    return ast_stream_scores_nearest(s) && rows > 0 ? ast_stream_reliability(s, rows) : 1;
}

/* The largest cosine with a forbidden row of the id; -4: it has none. */
static double nearest_barred(const ast_stream *s, int32_t id, const float *row) {
    const ast_identities *known = &s->known;
    double most = -4;
    for (size_t b = 0; b < known->barred_count && known->barred[b] <= id; b++) {
        double cosine =
            known->barred[b] < id ? -4 : ast_stream_closeness(s, row, known->barred_rows + b * s->options.dimension);
        most = cosine > most ? cosine : most;
    }
    return most;
}

bool ast_stream_is_barred(const ast_stream *s, size_t k, const float *row) {
    if (s->known.barred_count == 0)
        return false;
    const int32_t id = s->track[k].id;
    double barred = nearest_barred(s, id, row), own = -4;
    if (barred < -1)
        return false;
    for (size_t first = ast_stream_find_id(s, id), end = ast_stream_end_of_id(s, first); first < end; first++) {
        double cosine = ast_stream_closeness(s, row, s->m + first * s->options.dimension);
        cosine /= reliability(s, s->track[first].rows);
        own = cosine > own ? cosine : own;
    }
    return barred / reliability(s, 1) >= own;
}

/* The nearest cluster that the row fits and that it is not known not to be, of equal ones the first; AST_NOBODY: none.
 */
static int32_t nearest_allowed(const ast_stream *s, const float *row) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    const ast_cluster_list *c = v.clusters;
    int32_t best = AST_NOBODY;
    double most = -4;
    for (size_t e = 0; e < c->live; e++) {
        int32_t slot = c->order[e];
        bool tracked = (size_t)slot < s->count;
        const float *mean = c->means + (size_t)slot * c->dimension;
        bool unseen = tracked && s->tracks.unseen[slot];
        double score = unseen ? ast_tracks_score(&s->tracks, (size_t)slot, row) : ast_stream_closeness(s, row, mean);
        if (score <= most || (unseen && !s->tracks.unseen_may_win) ||
            (tracked && ast_stream_is_barred(s, (size_t)slot, row)))
            continue;
        best = slot;
        most = score;
    }
    double limit = best >= 0 && (size_t)best < s->count ? s->tracks.limits[best] : v.limit;
    return most >= limit ? best : AST_NOBODY;
}

/* Rows that have another label now, if there are any: the sums and means of all clusters anew. */
static ast_status count_again(ast_stream *s) {
    const ast_cluster_list *c = ast_view_of(s->labelling).clusters;
    ast_status status = ast_labelling_recount(s->labelling, s->fault);
    for (size_t k = 0; k < s->tracks.count && status == AST_OK; k++)
        s->tracks.unseen[k] = c->members[k] == 0;
    return status == AST_OK ? ast_labelling_update(s->labelling, s->fault) : status;
}

ast_status ast_stream_move_barred(ast_stream *s) {
    const size_t rows = ast_view_of(s->labelling).rows->count;
    float buffer[AST_MAX_DIMENSION];
    ast_status status = AST_OK;
    bool moved = false;
    for (size_t i = 0; i < rows && status == AST_OK; i++) {
        const ast_labelling_view v = ast_view_of(s->labelling);
        int32_t slot = v.labels[i];
        if (slot < 0 || (size_t)slot >= s->count)
            continue;
        const float *row = ast_rowset_row(v.rows, i, buffer);
        if (!ast_stream_is_barred(s, (size_t)slot, row))
            continue;
        int32_t to = nearest_allowed(s, row);
        if (to < 0) {
            to = (int32_t)v.clusters->slots;
            status = ast_labelling_add_means(s->labelling, row, 1, s->fault);
        }
        if (status == AST_OK && !ast_stream_note_barred(s, (size_t)slot, to))
            status = ast_fail_memory(s->fault);
        ast_labelling_labels(s->labelling)[i] = to;
        moved = true;
    }
    return status == AST_OK && moved ? count_again(s) : status;
}

/* ---- Ids that never merge ---------------------------------------------------------------------------------------- */

static int compare(const ast_near_pair *a, const ast_near_pair *b) {
    if (a->older != b->older)
        return a->older < b->older ? -1 : 1;
    return (a->younger > b->younger) - (a->younger < b->younger);
}

static ast_near_pair pair_of(int32_t a, int32_t b) {
    return (ast_near_pair){a < b ? a : b, a < b ? b : a, 1};
}

/* The place of the pair, or where it belongs. */
static size_t place_of(const ast_identities *known, const ast_near_pair *pair) {
    size_t low = 0, high = known->apart_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&known->apart[middle], pair) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_pair(const ast_identities *known, const ast_near_pair *pair) {
    size_t at = place_of(known, pair);
    return at < known->apart_count && compare(&known->apart[at], pair) == 0;
}

bool ast_stream_are_apart(const ast_stream *s, size_t a, size_t b) {
    if (s->track[a].flags & s->track[b].flags & AST_KNOWN)
        return true;
    if (s->track[a].flags & s->track[b].flags & AST_LOCKED)
        return true;
    ast_near_pair pair = pair_of(s->track[a].id, s->track[b].id);
    return s->known.apart_count > 0 && has_pair(&s->known, &pair);
}

bool ast_stream_reserve_apart(ast_stream *s, size_t more) {
    ast_identities *known = &s->known;
    size_t count = known->apart_count;
    return ast_reserve(&known->apart, &known->apart_capacity, count, count + more, sizeof *known->apart);
}

void ast_stream_keep_apart(ast_stream *s, int32_t one, int32_t other) {
    ast_identities *known = &s->known;
    ast_near_pair pair = pair_of(one, other);
    if (one == other || has_pair(known, &pair))
        return;
    size_t at = place_of(known, &pair);
    memmove(known->apart + at + 1, known->apart + at, (known->apart_count - at) * sizeof *known->apart);
    known->apart[at] = pair;
    known->apart_count++;
    s->changes.known = true;
}

bool ast_stream_note_barred(ast_stream *s, size_t k, int32_t slot) {
    ast_identities *known = &s->known;
    size_t count = known->redirected_count;
    if (!ast_reserve(&known->redirected, &known->redirected_capacity, count, count + 1, sizeof *known->redirected))
        return false;
    known->redirected[known->redirected_count++] = (ast_sighting){slot, s->track[k].id};
    return true;
}

void ast_stream_keep_barred_apart(ast_stream *s) {
    ast_identities *known = &s->known;
    for (size_t r = 0; r < known->redirected_count; r++) {
        int32_t id = s->id_of[known->redirected[r].slot];
        if (id >= 0 && ast_stream_find_id(s, id) < s->count)
            ast_stream_keep_apart(s, known->redirected[r].id, id);
    }
    known->redirected_count = 0;
}

/* ---- Ids that change --------------------------------------------------------------------------------------------- */

/* Whether it has any. The rows of `from` go behind those of `into`, or to where it belongs. */
static bool rename_rows(ast_stream *s, int32_t from, int32_t into) {
    ast_identities *known = &s->known;
    const size_t dimension = s->options.dimension;
    float row[AST_MAX_DIMENSION];
    bool any = false;
    for (size_t b = 0; b < known->barred_count; b++) {
        any = any || known->barred[b] == from;
        known->barred[b] = known->barred[b] == from ? into : known->barred[b];
    }
    for (size_t b = 1; b < known->barred_count; b++) { /* by insertion, which keeps the order of equal ids */
        int32_t id = known->barred[b];
        size_t to = b;
        while (to > 0 && known->barred[to - 1] > id)
            to--;
        memcpy(row, known->barred_rows + b * dimension, dimension * sizeof *row);
        memmove(known->barred + to + 1, known->barred + to, (b - to) * sizeof *known->barred);
        memmove(known->barred_rows + (to + 1) * dimension, known->barred_rows + to * dimension,
                (b - to) * dimension * sizeof *row);
        memcpy(known->barred_rows + to * dimension, row, dimension * sizeof *row);
        known->barred[to] = id;
    }
    return any;
}

/* The name of `from` becomes that of `into`, which keeps its own if it has one. Whether that changes anything. */
static bool rename_name(ast_identities *known, int32_t from, int32_t into) {
    size_t at = known->name_count, after = 0;
    for (size_t n = 0; n < known->name_count; n++) {
        if (known->names[n].id == into)
            return false;
        at = known->names[n].id == from ? n : at;
        after += known->names[n].id < into && known->names[n].id != from;
    }
    if (at == known->name_count)
        return false;
    ast_stream_name_of name = known->names[at];
    name.id = into;
    memmove(known->names + at, known->names + at + 1, (known->name_count - at - 1) * sizeof name);
    memmove(known->names + after + 1, known->names + after, (known->name_count - 1 - after) * sizeof name);
    known->names[after] = name;
    return true;
}

void ast_identities_rename(ast_stream *s, int32_t from, int32_t into) {
    ast_identities *known = &s->known;
    bool named = rename_name(known, from, into), barred = rename_rows(s, from, into);
    s->changes.known = s->changes.known || named || barred;
    for (size_t p = 0; p < known->apart_count; p++) {
        ast_near_pair pair = known->apart[p];
        if (pair.older != from && pair.younger != from)
            continue;
        memmove(known->apart + p, known->apart + p + 1, (known->apart_count - p - 1) * sizeof pair);
        known->apart_count--;
        s->changes.known = true;
        ast_stream_keep_apart(s, into, pair.older == from ? pair.younger : pair.older);
        p = SIZE_MAX; /* the list has changed: from its beginning */
    }
}

static bool is_tracked(const ast_stream *s, int32_t id) {
    return ast_stream_find_id(s, id) < s->count;
}

void ast_identities_prune(ast_stream *s) {
    ast_identities *known = &s->known;
    const size_t dimension = s->options.dimension;
    size_t names = 0, rows = 0, pairs = 0;
    for (size_t n = 0; n < known->name_count; n++)
        if (is_tracked(s, known->names[n].id))
            known->names[names++] = known->names[n];
    for (size_t b = 0; b < known->barred_count; b++) {
        if (!is_tracked(s, known->barred[b]))
            continue;
        memmove(known->barred_rows + rows * dimension, known->barred_rows + b * dimension,
                dimension * sizeof *known->barred_rows);
        known->barred[rows++] = known->barred[b];
    }
    for (size_t p = 0; p < known->apart_count; p++)
        if (is_tracked(s, known->apart[p].older) && is_tracked(s, known->apart[p].younger))
            known->apart[pairs++] = known->apart[p];
    bool same = names == known->name_count && rows == known->barred_count && pairs == known->apart_count;
    s->changes.known = s->changes.known || !same;
    known->name_count = names;
    known->barred_count = rows;
    known->apart_count = pairs;
}

void ast_identities_clear(ast_identities *known) {
    known->name_count = known->barred_count = known->apart_count = known->redirected_count = 0;
}

void ast_identities_free(ast_identities *known) {
    ast_free_all(known->names, known->barred, known->barred_rows, known->apart, known->log, known->redirected,
                 known->list);
    *known = (ast_identities){0};
}
