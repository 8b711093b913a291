/* SPDX-License-Identifier: MIT
 *
 * Exclusive frames: joins pairs of ids whose means agree. A row that was too noisy started a second id of one identity,
 * and both ids grew. The two are hardly ever in one frame, so no count of successive frames shows that they are one.
 * They are one if their means agree:
 *
 *     m_a . m_b >= cos(0.9 angle) r_a r_b,
 *
 * with r as in reliability.c: the means of n_a and n_b points of one identity have the cosine r_a r_b. The factor 0.9
 * allows for less, because the rows that start a second id are the noisy ones (docs/trackers.md has its choice). Two
 * ids that were seen in one frame are two identities and are never joined (stream_met.c). A pair is compared when one
 * of the two is in view. The nearest pair is joined first; an id takes part in at most one join per frame. */
#include "stream.h"

#include "mean_table.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGREE 0.9 /* of the angle */

bool ast_stream_joins_agreeing(const ast_stream *s) {
    return s->options.merge_tracked && s->options.exclusive && s->options.lifetime > 1;
}

bool ast_stream_means_agree(const ast_stream *s, size_t a, size_t b, double cosine) {
    const double agree = ast_cosine(s->options.angle * AGREE), own = ast_stream_reliability(s, s->track[a].rows);
    return cosine >= agree * own * ast_stream_reliability(s, s->track[b].rows);
}

static size_t first_mean(const ast_stream *s, size_t k) {
    return k - s->track[k].part;
}

/* Memory for the pairs that may join: each id in view with one other. */
bool ast_stream_reserve_agreeing(ast_stream *s) {
    ast_joins *j = &s->joins;
    size_t live = s->v.clusters->live, seen = 0;
    if (!ast_stream_joins_agreeing(s))
        return true;
    for (size_t k = 0; k < live; k++)
        seen += s->v.clusters->members[s->v.clusters->order[k]] > 0;
    size_t found = seen + 1; /* of a mean in view, only the nearest partner is kept */
    for (size_t k = 0; k < s->count; k++)
        found += s->track[k].part > 0; /* is in view if another mean of its id is */
    size_t all = s->count + live + (s->near.selected ? s->near.others.count : 0);
    return ast_stream_reserve_mean_scores(s, all) &&
           ast_reserve(&j->found, &j->found_capacity, 0, found, sizeof *j->found) &&
           ast_reserve(&j->cosines, &j->cosine_capacity, 0, found, sizeof *j->cosines) &&
           ast_reserve(&j->view, &j->view_capacity, 0, found, sizeof *j->view) &&
           ast_reserve(&j->partners, &j->partner_capacity, 0, all, sizeof *j->partners);
}

static void list_view(ast_stream *s) {
    ast_joins *j = &s->joins;
    j->view_count = 0;
    for (size_t k = 0; k < s->count; k++)
        if (s->track[k].dt == 1)
            j->view[j->view_count++] = (uint32_t)k;
}

/* Marks in near.in the means that an id in view may become one with: two known ids never do. Returns whether there are
 * any. */
static bool mark_partners(ast_stream *s) {
    const ast_joins *j = &s->joins;
    bool strangers = false, any = false;
    for (size_t i = 0; i < j->view_count; i++)
        strangers = strangers || !(s->track[j->view[i]].flags & AST_KNOWN);
    for (size_t k = 0; k < s->count; k++) {
        s->near.in[k] = strangers || !(s->track[k].flags & AST_KNOWN);
        any = any || s->near.in[k];
    }
    return any;
}

/* Copies the means in view to near.rows; false: no memory. Their least reliability. */
static bool copy_view(ast_stream *s, double *least) {
    const ast_joins *j = &s->joins;
    ast_near_set *near = &s->near;
    const size_t dimension = s->options.dimension;
    *least = 1;
    near->count = 0;
    if (!ast_reserve(&near->rows, &near->row_capacity, 0, j->view_count, dimension * sizeof *near->rows))
        return false;
    for (size_t i = 0; i < j->view_count; i++) {
        double own = ast_stream_reliability(s, s->track[j->view[i]].rows);
        *least = own < *least ? own : *least;
        memcpy(near->rows + near->count++ * dimension, s->m + j->view[i] * dimension, dimension * sizeof *near->rows);
    }
    return true;
}

/* Unmarks the means that agree with none in view, by float products with all of those: not if there is no memory for
 * that, or if rows are short. */
static void unmark_far(ast_stream *s) {
    ast_near_set *near = &s->near;
    const double agree = ast_cosine(s->options.angle * AGREE), slack = ast_stream_score_slack(s);
    double least;
    if (s->options.dimension <= AST_SMALL || agree <= 0 || !copy_view(s, &least) ||
        !ast_stream_score_means(s, near->in))
        return;
    const double any_limit = agree * least * ast_stream_reliability(s, 1);
    for (size_t k = 0; k < s->count; k++) {
        double best = near->in[k] ? (double)near->best[k] + slack : -2;
        near->in[k] = best >= any_limit && best >= agree * least * ast_stream_reliability(s, s->track[k].rows);
    }
}

static void list_partners(ast_stream *s) {
    ast_joins *j = &s->joins;
    j->partner_count = 0;
    if (!mark_partners(s))
        return;
    unmark_far(s);
    for (size_t k = 0; k < s->count; k++)
        if (s->near.in[k])
            j->partners[j->partner_count++] = (uint32_t)k;
}

/* The piece that agrees best with the id at `a`, which is in view; keeps the pair. */
static void find_piece(ast_stream *s, size_t a) {
    ast_joins *j = &s->joins;
    size_t dimension = s->options.dimension, best = s->count;
    const double agree = ast_cosine(s->options.angle * AGREE), own = ast_stream_reliability(s, s->track[a].rows);
    double most = -2;
    for (size_t p = 0; p < j->partner_count; p++) {
        const size_t b = j->partners[p];
        if (s->track[b].id == s->track[a].id || (b < a && s->track[b].dt == 1))
            continue;
        double least = agree * own * ast_stream_reliability(s, s->track[b].rows);
        double cosine = ast_exact_score(s->m + a * dimension, s->m + b * dimension, dimension);
        if (cosine < least || cosine <= most || ast_stream_may_have_met(s, first_mean(s, a), first_mean(s, b)) ||
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

static bool shares_an_id(const ast_near_pair *a, const ast_near_pair *b) {
    return a->older == b->older || a->older == b->younger || a->younger == b->older || a->younger == b->younger;
}

void ast_stream_join_agreeing(ast_stream *s) {
    ast_joins *j = &s->joins;
    j->found_count = 0;
    if (!ast_stream_joins_agreeing(s))
        return;
    list_view(s);
    ast_stream_note_met(s, j->view, j->view_count);
    list_partners(s);
    for (size_t i = 0; i < j->view_count; i++)
        find_piece(s, j->view[i]);
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
        ast_stream_merge_met(s, pair.younger, pair.older);
        ast_stream_join_pair(s, &pair);
    }
}
