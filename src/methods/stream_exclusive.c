/* SPDX-License-Identifier: MIT
 *
 * Exclusive frames: two points of one frame never share a cluster, since two faces of one picture are two people. The
 * points of a frame are assigned to tracked clusters that they fit so that the sum of the scores x . m_k + dt_k Q is as
 * large as possible (assignment.c). A point without partner counts cos(angle) r_1, the least that fits a cluster of one
 * point, and starts a cluster. There is one assignment per frame, and no iteration: in a second one, a point would be
 * compared with a mean that has moved towards the point itself. */
#include "assignment.h"
#include "memory.h"
#include "stream.h"

#include <math.h>
#include <stdlib.h>

#define UNITS 0x1p40 /* scores are counted in this part of 1: sums are exact, and equal sums are equal */

typedef struct pair_list {
    ast_gain *list;
    size_t count, capacity;
} pair_list;

/* The mean of an id (tracks first..end-1) that scores best of those that the point fits; end: it fits none. */
static size_t best_mean(const ast_tracks *t, size_t first, size_t end, const float *x, double *score) {
    size_t best = end;
    for (size_t k = first; k < end; k++) {
        if (!ast_tracks_may_win(t, k, x, t->limits[k]))
            continue;
        double one = ast_tracks_score(t, k, x);
        if (one < t->limits[k] || (best < end && one <= *score))
            continue;
        best = k;
        *score = one;
    }
    return best;
}

/* Adds the pairs of a point and the ids that it fits, each as the first of their tracks. false: no memory. */
static bool add_pairs(const ast_stream *s, const float *x, int32_t row, double alone, pair_list *pairs) {
    const ast_tracks *t = &s->tracks;
    for (size_t k = 0, end; k < t->count && t->unseen_may_win; k = end) {
        double score = 0;
        end = ast_stream_end_of_id(s, k);
        if (best_mean(t, k, end, x, &score) == end || ast_stream_is_barred(s, k, x))
            continue;
        if (!ast_reserve(&pairs->list, &pairs->capacity, pairs->count, pairs->count + 1, sizeof *pairs->list))
            return false;
        pairs->list[pairs->count++] = (ast_gain){row, (int32_t)k, llrint((score - alone) * UNITS)};
    }
    return true;
}

static bool find_partners(const ast_stream *s, int32_t *partner) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    float buffer[AST_MAX_DIMENSION];
    pair_list pairs = {0};
    double alone = ast_stream_fit_limit(s, 1);
    bool good = true;
    for (size_t i = 0; good && i < v.rows->count; i++)
        if (v.labels[i] != AST_MISSING)
            good = add_pairs(s, ast_rowset_row(v.rows, i, buffer), (int32_t)i, alone, &pairs);
    good = good && ast_best_assignment(pairs.list, pairs.count, v.rows->count, s->tracks.count, partner);
    ast_free(pairs.list);
    return good;
}

/* The mean of its partner that a point fits best. */
static int32_t slot_of(const ast_stream *s, const float *x, int32_t partner) {
    size_t first = (size_t)partner;
    double score = 0;
    return (int32_t)best_mean(&s->tracks, first, ast_stream_end_of_id(s, first), x, &score);
}

/* Notes of which ids that it fits the point is known not to be. false: no memory. */
static bool note_barred(ast_stream *s, const float *x, int32_t slot) {
    const ast_tracks *t = &s->tracks;
    bool good = true;
    for (size_t k = 0, end; k < t->count && good && s->known.barred_count; k = end) {
        double score = 0;
        end = ast_stream_end_of_id(s, k);
        if (best_mean(t, k, end, x, &score) < end && ast_stream_is_barred(s, k, x))
            good = ast_stream_note_barred(s, k, slot);
    }
    return good;
}

/* Late rows are compared with the clusters without points alone, by their cosine. */
static bool add_late_pairs(const ast_stream *s, const float *x, int32_t row, pair_list *pairs) {
    const ast_tracks *t = &s->tracks;
    double limit = ast_least_score(s->options.angle);
    for (size_t k = 0, end; k < t->count; k = end) {
        double score = -2;
        bool dies = s->options.lifetime <= 1 || t->dt[k] >= s->options.lifetime, unseen = true;
        end = ast_stream_end_of_id(s, k);
        for (size_t e = k; e < end; e++) {
            double one = ast_exact_score(x, t->m + e * t->dimension, t->dimension);
            score = one > score ? one : score;
            unseen = unseen && t->unseen[e];
        }
        if (!unseen || dies || score < limit || !ast_stream_is_shown(s, &s->track[k]) || ast_stream_is_barred(s, k, x))
            continue;
        if (!ast_reserve(&pairs->list, &pairs->capacity, pairs->count, pairs->count + 1, sizeof *pairs->list))
            return false;
        pairs->list[pairs->count++] = (ast_gain){row, (int32_t)k, llrint((score - limit) * UNITS)};
    }
    return true;
}

ast_status ast_stream_match_exclusive_late(ast_stream *s, const ast_points *points) {
    pair_list pairs = {0};
    float x[AST_MAX_DIMENSION];
    size_t count = points->count;
    bool good = ast_reserve(&s->input.partner, &s->input.partner_capacity, 0, count + 1, sizeof *s->input.partner);
    for (size_t i = 0; i < count && good; i++)
        if (points->late[i] && ast_read_row(points, i, x) != AST_ROW_MISSING)
            good = add_late_pairs(s, x, (int32_t)i, &pairs);
    good = good && ast_best_assignment(pairs.list, pairs.count, count, s->tracks.count, s->input.partner);
    ast_free(pairs.list);
    return good ? AST_OK : ast_fail_memory(s->fault);
}

/* Points with a partner get its slot; every other point starts a cluster, in order of the points. */
static ast_status set_labels(ast_stream *s, const int32_t *partner) {
    const ast_labelling_view v = ast_view_of(s->labelling);
    int32_t *labels = ast_labelling_labels(s->labelling), next = (int32_t)s->tracks.count;
    float buffer[AST_MAX_DIMENSION];
    ast_status status = AST_OK;
    for (size_t i = 0; status == AST_OK && i < v.rows->count; i++) {
        if (labels[i] == AST_MISSING)
            continue;
        const float *row = ast_rowset_row(v.rows, i, buffer);
        labels[i] = partner[i] >= 0 ? slot_of(s, row, partner[i]) : next++;
        if (partner[i] >= 0)
            s->tracks.unseen[labels[i]] = 0;
        else
            status = ast_labelling_add_means(s->labelling, row, 1, s->fault);
        if (status == AST_OK && !note_barred(s, row, labels[i]))
            status = ast_fail_memory(s->fault);
    }
    return status == AST_OK ? ast_labelling_recount(s->labelling, s->fault) : status;
}

static void set_means(ast_stream *s) {
    const ast_cluster_list *c = ast_view_of(s->labelling).clusters;
    float mean[AST_MAX_DIMENSION];
    for (size_t k = 0; k < s->tracks.count; k++)
        if (!s->tracks.unseen[k] && ast_tracks_mean(&s->tracks, c, k, mean))
            ast_labelling_set_mean(s->labelling, (int32_t)k, mean);
}

ast_status ast_stream_assign_exclusive(ast_stream *s) {
    size_t count = ast_view_of(s->labelling).rows->count;
    int32_t *partner = ast_allocate(count + 1, sizeof *partner);
    bool found = partner && find_partners(s, partner);
    ast_status status = found ? set_labels(s, partner) : ast_fail_memory(s->fault);
    if (status == AST_OK)
        set_means(s);
    ast_free(partner);
    return status;
}
