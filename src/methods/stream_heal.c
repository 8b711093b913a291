/* SPDX-License-Identifier: MIT
 *
 * Pieces of one person, in exclusive frames: a row that was too noisy started an id, and both ids grew. They are hardly
 * ever in view together, so that no number of frames in a row tells. Two ids are pieces of one if
 *
 *     m_a . m_b >= cos(0.9 angle) r_a r_b,
 *
 * r as in reliability.c: the means of n_a and n_b points of one person have the cosine r_a r_b. The rows that start a
 * piece are the noisy ones, which are farther away (docs/trackers.md has the choice of 0.9). Two ids that were seen
 * in one frame are two people, and never become one. A pair is looked at when one of the two is in view, so that only
 * ids in view are compared with the others. The nearest pair comes first; an id takes part in one join per frame. */
#include "stream.h"

#include "mean_table.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGREE 0.9 /* of the angle */

bool ast_stream_heals(const ast_stream *s) {
    return s->options.merge_tracked && s->options.exclusive && s->options.lifetime > 1;
}

bool ast_stream_agree(const ast_stream *s, size_t a, size_t b, double cosine) {
    const double agree = ast_cosine(s->options.angle * AGREE), own = ast_stream_reliability(s, s->track[a].rows);
    return cosine >= agree * own * ast_stream_reliability(s, s->track[b].rows);
}

static int compare_pairs(const void *a, const void *b) {
    const ast_near_pair *x = a, *y = b;
    if (x->older != y->older)
        return x->older < y->older ? -1 : 1;
    return (x->younger > y->younger) - (x->younger < y->younger);
}

static bool were_together(const ast_joins *j, int32_t a, int32_t b) {
    ast_near_pair pair = {a < b ? a : b, a < b ? b : a, 0};
    return j->count && bsearch(&pair, j->pairs, j->count, sizeof *j->pairs, compare_pairs);
}

/* Sorts the pairs, and keeps one of equal ones. */
static void sort_pairs(ast_joins *j) {
    size_t kept = 0;
    if (j->count)
        qsort(j->pairs, j->count, sizeof *j->pairs, compare_pairs);
    for (size_t p = 0; p < j->count; p++)
        if (kept == 0 || compare_pairs(&j->pairs[kept - 1], &j->pairs[p]) != 0)
            j->pairs[kept++] = j->pairs[p];
    j->count = kept;
}

/* Memory for all pairs of this frame, and for the pairs that may join: each id in view with each other. */
bool ast_stream_note_together(ast_stream *s) {
    ast_joins *j = &s->joins;
    size_t live = s->v.clusters->live, seen = 0;
    if (!ast_stream_heals(s))
        return true;
    for (size_t k = 0; k < live; k++)
        seen += s->v.clusters->members[s->v.clusters->order[k]] > 0;
    size_t found = seen + 1; /* of a mean in view, only the nearest partner is kept */
    for (size_t k = 0; k < s->count; k++)
        found += s->track[k].part > 0; /* is in view if another mean of its id is */
    if (!ast_stream_reserve_scores(s, s->count + live + (s->near.taken ? s->near.others.count : 0)))
        return false;
    if (!ast_reserve(&j->pairs, &j->capacity, j->count, j->count + seen * seen, sizeof *j->pairs) ||
        !ast_reserve(&j->found, &j->found_capacity, 0, found, sizeof *j->found))
        return false;
    return ast_reserve(&j->cosines, &j->cosine_capacity, 0, found, sizeof *j->cosines);
}

/* Whether this is the first mean of an id with points. */
static bool is_in_view(const ast_stream *s, size_t k) {
    return s->track[k].dt == 1 && s->track[k].part == 0;
}

static void add_together(ast_stream *s) {
    ast_joins *j = &s->joins;
    size_t before = j->count;
    ast_joins known = {.pairs = j->pairs, .count = before};
    for (size_t a = 0; a < s->count; a++)
        for (size_t b = a + 1; b < s->count && is_in_view(s, a); b++) {
            int32_t older = s->track[a].id, younger = s->track[b].id;
            if (is_in_view(s, b) && !were_together(&known, older, younger))
                j->pairs[j->count++] = (ast_near_pair){older, younger, 1};
        }
    if (j->count > before)
        sort_pairs(j);
}

/* Marks in near.in the means that may agree with one in view, by float products with all of those; all of them if there
 * is no memory for a table, or if rows are short. */
static void mark_candidates(ast_stream *s) {
    ast_near_set *near = &s->near;
    const size_t dimension = s->options.dimension;
    const double agree = ast_cosine(s->options.angle * AGREE), slack = ast_stream_score_slack(s);
    bool known = dimension > AST_SMALL && agree > 0;
    double least = 1;
    ast_mean_table_clear(&near->table, dimension, false);
    for (size_t k = 0; k < s->count && known; k++) {
        if (s->track[k].dt != 1)
            continue;
        double own = ast_stream_reliability(s, s->track[k].rows);
        least = own < least ? own : least;
        known = ast_mean_table_append(&near->table, s->m + k * dimension, (int32_t)k);
    }
    if (known)
        ast_stream_best_scores(s);
    for (size_t k = 0; k < s->count; k++) {
        double limit = known ? agree * least * ast_stream_reliability(s, s->track[k].rows) : 0;
        near->in[k] = !known || (double)near->best[k] + slack >= limit;
    }
}

/* The piece that agrees best with the id at `a`, which is in view; keeps the pair. */
static void find_piece(ast_stream *s, size_t a) {
    ast_joins *j = &s->joins;
    size_t dimension = s->options.dimension, best = s->count;
    const double agree = ast_cosine(s->options.angle * AGREE), own = ast_stream_reliability(s, s->track[a].rows);
    double most = -2;
    for (size_t b = 0; b < s->count; b++) {
        if (!s->near.in[b] || s->track[b].id == s->track[a].id || (b < a && s->track[b].dt == 1))
            continue;
        double least = agree * own * ast_stream_reliability(s, s->track[b].rows);
        double cosine = ast_exact_score(s->m + a * dimension, s->m + b * dimension, dimension);
        if (cosine < least || cosine <= most || were_together(j, s->track[a].id, s->track[b].id) ||
            ast_stream_are_apart(s, a, b) || s->track[a > b ? a : b].flags & AST_LOCKED)
            continue;
        best = b;
        most = cosine;
    }
    if (best == s->count)
        return;
    int32_t one = s->track[a].id, other = s->track[best].id;
    j->found[j->found_count] = (ast_near_pair){one < other ? one : other, one < other ? other : one, 1};
    j->cosines[j->found_count++] = most;
}

/* Who was seen with `from` was seen with `into`. The pairs of an id that is not tracked are dropped, and so are pairs
 * of near ids, which count frames. */
void ast_stream_rename_pairs(ast_stream *s, int32_t from, int32_t into) {
    ast_joins *j = &s->joins;
    size_t kept = 0;
    for (size_t p = 0; p < j->count; p++) {
        ast_near_pair pair = j->pairs[p];
        int32_t a = pair.older == from ? into : pair.older, b = pair.younger == from ? into : pair.younger;
        bool mine = pair.older == from || pair.younger == from;
        if (a == b || (mine && (into < 0 || !s->options.exclusive)))
            continue;
        j->pairs[kept++] = mine ? (ast_near_pair){a < b ? a : b, a < b ? b : a, 1} : pair;
    }
    j->count = kept;
    sort_pairs(j);
}

static bool shares_an_id(const ast_near_pair *a, const ast_near_pair *b) {
    return a->older == b->older || a->older == b->younger || a->younger == b->older || a->younger == b->younger;
}

void ast_stream_heal(ast_stream *s) {
    ast_joins *j = &s->joins;
    j->found_count = 0;
    if (!ast_stream_heals(s))
        return;
    add_together(s);
    mark_candidates(s);
    for (size_t a = 0; a < s->count; a++)
        if (s->track[a].dt == 1)
            find_piece(s, a);
    for (;;) {
        size_t best = j->found_count;
        for (size_t p = 0; p < j->found_count; p++)
            if (j->cosines[p] > -2 && (best == j->found_count || j->cosines[p] > j->cosines[best]))
                best = p;
        if (best == j->found_count)
            return;
        ast_near_pair pair = j->found[best];
        for (size_t p = 0; p < j->found_count; p++)
            if (shares_an_id(&pair, &j->found[p]))
                j->cosines[p] = -4;
        ast_stream_join_pair(s, &pair);
        ast_stream_rename_pairs(s, pair.younger, pair.older);
    }
}
