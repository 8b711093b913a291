/* SPDX-License-Identifier: MIT
 *
 * DDP-vMF-means (Straub et al., CVPR 2015, section 5): directions that drift, vanish and come back, frame by frame.
 *
 * A frame is DP-vMF-means that starts with the clusters of earlier frames, which have no points yet. A point may revive
 * one of them. The cost grows with the number dt of frames since the cluster last had points, and with the angle to its
 * last direction m_k (tracks.c). The new mean lies on the great circle between m_k and the points. A frame increases
 *
 *     J = sum_born (|s_k| + lambda) + sum_revived (f*_k - w_k - dt_k beta + dt_k Q),    Q = lambda / lifetime,
 *
 * with s_k the sum of the points of cluster k and f*_k the value of the best great circle (docs/rules.md). After the
 * frame stream_close.c updates the clusters that the stream remembers. */
#include "methods.h"
#include "stream.h"

#include <math.h>
#include <string.h>

/* ---- The rule ---------------------------------------------------------------------------------------------------- */

/* Tracked clusters without points are candidates too, with the score J_k. So is a tracked cluster whose only point is
 * this one: it has no points while the rule decides. Equal scores go to the older id. Returns whether one of them wins.
 */
static bool consider_unseen(const ast_tracks *t, const ast_candidates *c, ast_verdict *v) {
    int32_t own = c->alone && (size_t)c->own < t->count ? c->own : AST_NOBODY;
    double least = v->score > c->limit ? v->score : c->limit;
    bool revived = false;
    for (int32_t k = 0; t->candidates && (size_t)k < t->count; k++) {
        if ((!t->unseen[k] && k != own) || !ast_tracks_may_win(t, (size_t)k, c->row, least))
            continue;
        if (k != own && !ast_tracks_within(t, (size_t)k, c->row))
            continue;
        double score = ast_tracks_score(t, (size_t)k, c->row);
        bool older = v->to == AST_NOBODY || (size_t)v->to >= t->count || k < v->to;
        if (score < least || score < v->score || (score == v->score && !older))
            continue;
        v->second = revived ? v->second : v->score; /* of those with points */
        v->score = score;
        v->to = k;
        least = score;
        revived = true;
    }
    return revived;
}

/* The rule for a point: revive, join, or start a cluster. A tracked cluster that loses its only point is remembered, so
 * that only a cluster born in this frame keeps a point that fits nothing else. */
static ast_verdict decide(void *data, const ast_candidates *c) {
    const ast_tracks *t = data;
    bool tracked = c->own >= 0 && (size_t)c->own < t->count;
    ast_verdict v = ast_nearest_candidate(c);
    if (consider_unseen(t, c, &v))
        v.action = AST_REVIVE;
    else if (v.to != AST_NOBODY && v.score >= c->limit)
        v.action = AST_JOIN;
    else
        v.action = c->alone && !tracked ? AST_STAY : AST_START;
    return v;
}

/* Points that cancel out leave the mean where it was. */
static void mean_of(void *data, const ast_cluster_list *clusters, int32_t slot, float *mean) {
    const ast_tracks *t = data;
    if (!ast_tracks_mean(t, clusters, (size_t)slot, mean))
        memcpy(mean, t->m + (size_t)slot * t->dimension, t->dimension * sizeof *mean);
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

static double lambda_of(const ast_stream *s) {
    return ast_cosine(s->options.angle) - 1;
}

/* The tracked clusters take the slots 0..count-1. Those of DDP are unseen until a point revives them; those of the
 * sequential DP-vMF-means are clusters that just have no points yet. */
static ast_status place_tracked(ast_stream *s) {
    ast_labelling *l = &s->labelling;
    ast_tracks *t = &s->tracks;
    size_t dimension = s->options.dimension;
    if (!ast_tracks_reserve(t, s->count, dimension))
        return ast_fail_memory(s->fault);
    t->count = l->clusters.reserved = s->count;
    if (s->options.rigid)
        ast_stream_turn_means(s, t->m);
    else if (s->count)
        memcpy(t->m, s->m, s->count * dimension * sizeof *t->m);
    for (size_t k = 0; k < s->count; k++) {
        t->w[k] = s->track[k].weight;
        t->dt[k] = s->track[k].dt;
        t->beta[k] = ast_stream_beta(s, &s->track[k].spread);
        if (ast_clusters_add(&l->clusters, t->m + k * dimension, UINT32_MAX) < 0)
            return ast_fail_memory(s->fault);
    }
    t->candidates = s->options.lifetime > 0;
    t->q = t->candidates ? lambda_of(s) / (double)s->options.lifetime : 0;
    t->limit = l->scorer.limit;
    t->near_only = s->options.revive_near != 0;
    t->axial = l->rows.axial;
    ast_tracks_begin(t);
    if (s->options.method == AST_STREAM_DDP)
        l->clusters.hidden = t->unseen;
    return AST_OK;
}

/* The loop of batch.c: label by the rule, update the means, until no label changes or the labels repeat. */
static ast_status run_passes(ast_stream *s, ast_frame *report) {
    ast_labelling *l = &s->labelling;
    s->history.count = 0;
    while (report->iterations < s->options.max_iterations && !report->converged) {
        ast_pass_result pass;
        bool repeats;
        ast_status status = ast_labelling_pass(l, s->options.parallel, &pass, s->fault);
        if (status == AST_OK)
            status = ast_labelling_update(l, s->fault);
        uint64_t print = report->iterations++ == 0 ? 0 : ast_labelling_print(l);
        if (status == AST_OK)
            status = ast_history_add(&s->history, print, &repeats, s->fault);
        if (status != AST_OK)
            return status;
        report->oir_restarts += pass.restarts;
        report->converged = pass.changed == 0 || repeats;
    }
    return AST_OK;
}

static double objective(const ast_stream *s) {
    const ast_labelling *l = &s->labelling;
    const double lambda = lambda_of(s);
    double sum = 0, length;
    for (size_t k = 0; k < l->clusters.live; k++) {
        int32_t slot = l->clusters.order[k];
        if (l->clusters.members[slot] == 0)
            continue;
        if (!ast_clusters_lasts(&l->clusters, slot)) {
            sum += ast_clusters_part(&l->clusters, slot) + lambda;
        } else if (!ast_clusters_hides(&l->clusters, slot)) {
            double losses = ast_tracks_losses(&s->tracks, &l->clusters, (size_t)slot, &length);
            sum += ast_clusters_part(&l->clusters, slot) - losses + (double)s->tracks.dt[slot] * s->tracks.q;
        }
    }
    return sum;
}

ast_status ast_stream_frame(ast_stream *s, const ast_points *points, ast_frame *report) {
    ast_labelling *l = &s->labelling;
    ast_input input = {.kernels = s->kernels,
                       .pool = s->pool,
                       .points = points,
                       .late = points->late,
                       .axial = s->options.axial != 0,
                       .fused = true,
                       .unbounded = s->options.bounds == 0,
                       .headless = s->options.bounds == 0};
    ast_status status = ast_labelling_load(l, &input, s->fault);
    if (status != AST_OK)
        return status;
    *report = (ast_frame){.frame = s->frame, .points = points->count};
    ast_rule rule = {decide,     ast_tracks_safe, ast_tracks_threaten, ast_tracks_revive, mean_of,
                     &s->tracks, false,           ast_tracks_safe_of};
    ast_labelling_set_rule(l, s->options.method == AST_STREAM_DDP ? &rule : &ast_dp_rule, s->options.angle);
    if (s->options.method != AST_STREAM_DP)
        status = place_tracked(s);
    if (status == AST_OK && l->present > 0)
        status = run_passes(s, report);
    if (l->present == 0) {
        report->converged = 1; /* nothing to do is done */
        report->iterations = 0;
    }
    report->missing = ast_labelling_missing(l);
    if (status == AST_OK)
        report->objective = objective(s);
    return status;
}
