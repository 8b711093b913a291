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
 * with s_k the sum of the points of cluster k and f*_k the value of the best great circle (docs/rules.md). Three steps:
 *
 *     label      the rule below, for every point (ast_labelling_pass)
 *     parameter  the mean of a revived cluster: the end of the best great circle from m_k to s_k
 *     weight     after the frame: w_k = f*_k (the paper), or the Kalman update 1 / (1/w_k + dt_k/beta_k) + |s_k|
 *
 * The first two repeat as in batch.c. Then stream_close.c updates ids, ages and weights, and removes clusters that have
 * been without points for too long. */
#include "stream.h"

#include "weights.h"

#include <math.h>
#include <string.h>

/* ---- The rule ---------------------------------------------------------------------------------------------------- */

/* Tracked clusters without points are candidates too, with the score J_k. So is a tracked cluster whose only point is
 * this one: it has no points while the rule decides. Equal scores go to the older id. Returns whether one of them wins.
 */
static bool consider_unseen(const ast_tracks *t, const ast_candidates *c, ast_verdict *v) {
    int32_t own = c->singleton && (size_t)c->own < t->count ? c->own : AST_NOBODY;
    double least = v->score > c->limit ? v->score : c->limit;
    bool revived = false;
    for (int32_t k = 0; t->unseen_may_win && (size_t)k < t->count; k++) {
        if ((!t->unseen[k] && k != own) || !ast_tracks_may_win(t, (size_t)k, c->row, least))
            continue;
        if (k != own && !ast_tracks_may_revive(t, (size_t)k, c->row))
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

/* The same if scores are cosines: the nearest cluster decides, also if the point does not fit it. Otherwise points near
 * a well-known cluster would join a farther one, whose mean is less certain and which therefore takes more. */
static bool consider_unseen_nearest(const ast_tracks *t, const ast_candidates *c, ast_verdict *v) {
    int32_t own = c->singleton && (size_t)c->own < t->count ? c->own : AST_NOBODY;
    bool revived = false;
    for (int32_t k = 0; t->unseen_may_win && (size_t)k < t->count; k++) {
        if ((!t->unseen[k] && k != own) || !ast_tracks_may_win(t, (size_t)k, c->row, v->score))
            continue;
        double score = ast_tracks_score(t, (size_t)k, c->row);
        bool older = v->to == AST_NOBODY || (size_t)v->to >= t->count || k < v->to;
        if (score < v->score || (score == v->score && !older))
            continue;
        v->second = revived ? v->second : v->score; /* of those with points */
        v->score = score;
        v->to = k;
        revived = true;
    }
    return revived;
}

static ast_verdict decide_nearest(const ast_tracks *t, const ast_candidates *c, bool tracked) {
    ast_verdict v = ast_nearest_candidate(c);
    ast_action action = consider_unseen_nearest(t, c, &v) ? AST_REVIVE : AST_JOIN;
    double limit = v.to >= 0 && (size_t)v.to < t->count ? t->limits[v.to] : c->limit;
    bool fits = v.to != AST_NOBODY && v.score >= limit;
    v.action = fits ? action : c->singleton && !tracked ? AST_STAY_SINGLETON : AST_START;
    return v;
}

/* The rule for a point: revive, join, or start a cluster. A tracked cluster that loses its only point is remembered, so
 * that only a cluster born in this frame keeps a point that fits nothing else. */
static ast_verdict decide(void *data, const ast_candidates *c) {
    const ast_tracks *t = data;
    bool tracked = c->own >= 0 && (size_t)c->own < t->count;
    if (t->nearest)
        return decide_nearest(t, c, tracked);
    ast_verdict v = ast_nearest_candidate(c);
    if (consider_unseen(t, c, &v))
        v.action = AST_REVIVE;
    else if (v.to != AST_NOBODY && v.score >= c->limit)
        v.action = AST_JOIN;
    else
        v.action = c->singleton && !tracked ? AST_STAY_SINGLETON : AST_START;
    return v;
}

/* ---- The parameter update ---------------------------------------------------------------------------------------- */

/* The mean of a revived cluster. Points that cancel out leave it where it was. */
static void mean_of(void *data, const ast_cluster_list *clusters, int32_t slot, float *mean) {
    const ast_tracks *t = data;
    if (!ast_tracks_mean(t, clusters, (size_t)slot, mean))
        memcpy(mean, t->m + (size_t)slot * t->dimension, t->dimension * sizeof *mean);
}

/* ---- The weight update ------------------------------------------------------------------------------------------- */

ast_weight_update ast_stream_weight_update(const ast_stream *s) {
    if (s->options.weight_update != AST_UPDATE_OF_TRACKER)
        return s->options.weight_update;
    return isnan(s->options.beta) ? AST_POSTERIOR : AST_PAPER;
}

/* The Kalman update in units of tau, or the paper's f*, of which an infinite beta leaves the finite part. */
double ast_stream_next_weight(const ast_stream *s, size_t k, double length) {
    const ast_cluster_list *c = s->v.clusters;
    const ast_tracks *t = &s->tracks;
    double steps = (double)t->dt[k], unused;
    if (ast_stream_weight_update(s) == AST_POSTERIOR) {
        double before = t->w[k] > 0 && t->beta[k] > 0 ? 1 / (1 / t->w[k] + steps / t->beta[k]) : 0;
        return before + length;
    }
    double losses = ast_tracks_geodesic_losses(t, c, k, &unused);
    return t->w[k] + (isinf(t->beta[k]) ? 0 : steps * t->beta[k]) + ast_clusters_objective_of(c, (int32_t)k) - losses;
}

/* ---- A frame ----------------------------------------------------------------------------------------------------- */

static double lambda_of(const ast_stream *s) {
    return ast_cosine(s->options.angle) - 1;
}

/* The tracked clusters take the slots 0..count-1. Those of DDP are unseen until a point revives them; those of the
 * sequential DP-vMF-means are clusters that just have no points yet. */
static ast_status place_tracked(ast_stream *s) {
    ast_tracks *t = &s->tracks;
    size_t dimension = s->options.dimension;
    if (!ast_tracks_reserve(t, s->count, dimension))
        return ast_fail_memory(s->fault);
    t->count = s->count;
    if (s->options.rigid)
        ast_stream_rotate_means(s, t->m);
    else if (s->count)
        memcpy(t->m, s->m, s->count * dimension * sizeof *t->m);
    for (size_t k = 0; k < s->count; k++) {
        t->w[k] = s->track[k].weight;
        t->dt[k] = s->track[k].dt;
        t->beta[k] = ast_stream_beta(s, &s->track[k].spread);
        t->locked[k] = (s->track[k].flags & AST_LOCKED) != 0;
    }
    t->nearest = ast_stream_scores_nearest(s);
    t->unseen_may_win = s->options.lifetime > 0;
    t->q = t->unseen_may_win ? lambda_of(s) / (double)s->options.lifetime : 0;
    t->limit = ast_view_of(s->labelling).limit;
    t->revive_needs_fit = s->options.revive_near != 0;
    t->axial = s->options.axial != 0;
    for (size_t k = 0; k < s->count; k++)
        t->limits[k] = ast_stream_fit_limit(s, s->track[k].rows);
    ast_tracks_begin(t);
    ast_labelling_set_tracked(s->labelling, s->count, s->options.method == AST_STREAM_DDP ? t->unseen : NULL);
    return ast_labelling_add_means(s->labelling, t->m, s->count, s->fault);
}

static double objective(const ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    const double lambda = lambda_of(s);
    double sum = 0, length;
    for (size_t k = 0; k < c->live; k++) {
        int32_t slot = c->order[k];
        if (c->members[slot] == 0)
            continue;
        if (!ast_clusters_is_tracked(c, slot)) {
            sum += ast_clusters_objective_of(c, slot) + lambda;
        } else if (!ast_clusters_is_uninstantiated(c, slot)) {
            double losses = ast_tracks_geodesic_losses(&s->tracks, c, (size_t)slot, &length);
            sum += ast_clusters_objective_of(c, slot) - losses + (double)s->tracks.dt[slot] * s->tracks.q;
        }
    }
    return sum;
}

static ast_status load_frame(ast_stream *s, const ast_points *points) {
    ast_labelling_input input = {.kernels = s->kernels,
                                 .pool = s->pool,
                                 .points = points,
                                 .late = points->late,
                                 .axial = s->options.axial != 0,
                                 .load_in_pass = !s->options.exclusive && !points->weights,
                                 .unbounded = s->options.bounds == 0,
                                 .headless = s->options.bounds == 0};
    ast_status status = ast_labelling_load(s->labelling, &input, s->fault);
    if (status == AST_OK && points->weights && s->input.total > 0)
        ast_labelling_weigh(s->labelling, points->weights, ast_weight_unit_for_total(s->input.total));
    ast_rule rule = {.decide = decide,
                     .unseen_bound = ast_tracks_unseen_bound,
                     .unseen_can_win = ast_tracks_unseen_can_win,
                     .unseen_bound_of = ast_tracks_unseen_bound_of,
                     .revive = ast_tracks_revive,
                     .mean = mean_of,
                     .data = &s->tracks};
    if (status == AST_OK)
        ast_labelling_set_rule(s->labelling, s->options.method == AST_STREAM_DDP ? &rule : &ast_dp_rule,
                               s->options.angle);
    return status == AST_OK && s->options.method != AST_STREAM_DP ? place_tracked(s) : status;
}

ast_status ast_stream_frame(ast_stream *s, const ast_points *points, ast_frame *report) {
    ast_run run = {.parallel = s->options.parallel, .max_iterations = s->options.max_iterations, .history = s->history};
    run.history.count = 0;
    *report = (ast_frame){.frame = s->frame, .points = points->count};
    s->known.redirected_count = 0;
    ast_status status = ast_stream_select_near(s, points);
    if (status == AST_OK)
        status = load_frame(s, points);
    if (status != AST_OK)
        return status;
    if (s->options.exclusive) {
        status = ast_stream_assign_exclusive(s);
        if (status == AST_OK && points->late)
            status = ast_stream_match_exclusive_late(s, points);
        run.converged = run.iterations = 1;
    } else if (ast_view_of(s->labelling).present > 0) {
        status = ast_iterate(s->labelling, &run, 0, s->fault);
        if (status == AST_OK && s->known.barred_count)
            status = ast_stream_move_barred(s);
    } else {
        run.converged = 1;
    }
    s->v = ast_view_of(s->labelling);
    if (s->v.present == 0) /* the first pass, which loads the rows, found that all are missing */
        run.iterations = 0;
    s->history = run.history;
    report->iterations = run.iterations;
    report->converged = run.converged || s->v.present == 0;
    report->oir_restarts = run.oir_restarts;
    report->missing = s->v.missing;
    if (status == AST_OK)
        report->objective = objective(s);
    return status;
}
