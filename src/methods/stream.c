/* SPDX-License-Identifier: MIT
 *
 * DDP-vMF-means (Straub et al., CVPR 2015, section 5): directions that drift, vanish and come back, frame by frame.
 *
 * A frame is DP-vMF-means in which the clusters of the frames before stand ready without points: each may be revived by
 * a point, at the price of dt Q for its age and of the way from where it was (tracks.c), and its mean then lies on the
 * great circle between where it was and where its points are. The frame climbs
 *     J = sum_born (|sum_k| + lambda) + sum_revived (f*_k - w_k - dt_k beta + dt_k Q).
 * closing.c turns what it found into what is remembered. */
#include "methods.h"
#include "stream.h"

#include "degree.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double lambda_of(const ast_stream *s) {
    return ast_cosine(s->options.angle) - 1;
}

double ast_stream_beta(const ast_stream *s) {
    if (!isnan(s->options.beta))
        return s->options.beta;
    double drift = s->options.drift * AST_DEGREE, phi = s->options.angle * AST_DEGREE;
    double spread = s->spread_num / s->spread_den; /* squared */
    double low = 9 * drift * drift, high = phi * phi;
    spread = spread < low ? low : spread;
    spread = spread > high ? high : spread;
    return spread / (drift * drift);
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
    for (size_t k = 0; k < s->count; k++) {
        memcpy(t->m + k * dimension, s->m + k * dimension, dimension * sizeof *t->m);
        t->w[k] = s->track[k].weight;
        t->dt[k] = s->track[k].dt;
        if (ast_clusters_add(&l->clusters, s->m + k * dimension, UINT32_MAX) < 0)
            return ast_fail_memory(s->fault);
    }
    t->beta = ast_stream_beta(s);
    t->candidates = s->options.lifetime > 0;
    t->q = t->candidates ? lambda_of(s) / (double)s->options.lifetime : 0;
    t->limit = l->limit;
    t->near_only = s->options.revive_near != 0;
    t->axial = l->axial;
    ast_tracks_begin(t);
    if (s->options.method == AST_STREAM_DDP)
        l->tracks = t;
    return AST_OK;
}

static bool reserve_prints(ast_stream *s, size_t count) {
    if (count < s->print_capacity)
        return true;
    size_t capacity = 2 * count + 64;
    uint64_t *prints = ast_grow(s->prints, s->print_capacity, capacity, sizeof *prints);
    if (prints) {
        s->prints = prints;
        s->print_capacity = capacity;
    }
    return prints != NULL;
}

/* Labels that were there before, in this frame, will be there again. */
static bool seen_before(const ast_stream *s, size_t passes, uint64_t print) {
    for (size_t p = 0; p < passes; p++)
        if (s->prints[p] == print)
            return true;
    return false;
}

static ast_status run_passes(ast_stream *s, ast_frame *report) {
    ast_labelling *l = &s->labelling;
    while (report->iterations < s->options.max_iterations && !report->converged) {
        ast_pass_result pass;
        ast_status status = ast_labelling_pass(l, s->options.parallel, &pass, s->fault);
        if (status == AST_OK)
            status = ast_labelling_update(l, s->fault);
        if (status != AST_OK)
            return status;
        size_t passes = (size_t)report->iterations++;
        if (!reserve_prints(s, passes))
            return ast_fail_memory(s->fault);
        uint64_t print = passes == 0 ? 0 : ast_labelling_print(l);
        report->converged = pass.changed == 0 || seen_before(s, passes, print);
        s->prints[passes] = print;
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
        if (!l->tracks || !ast_is_tracked(l, slot)) {
            sum += ast_clusters_part(&l->clusters, slot) + lambda;
        } else if (!ast_is_unseen(l, slot)) {
            double losses = ast_tracks_losses(l->tracks, &l->clusters, (size_t)slot, &length);
            sum += ast_clusters_part(&l->clusters, slot) - losses + (double)l->tracks->dt[slot] * l->tracks->q;
        }
    }
    return sum;
}

ast_status ast_stream_frame(ast_stream *s, const ast_points *points, ast_frame *report) {
    ast_labelling *l = &s->labelling;
    size_t missing;
    ast_status status = ast_labelling_load(l, s->kernels, s->pool, points, NULL, NULL, &missing, s->fault);
    if (status != AST_OK)
        return status;
    *report = (ast_frame){.frame = s->frame, .points = points->count, .missing = missing};
    l->bounds = s->options.bounds != 0;
    ast_labelling_set_axial(l, s->options.axial != 0);
    ast_labelling_set_angle(l, s->options.angle);
    if (s->options.method != AST_STREAM_DP)
        status = place_tracked(s);
    if (status == AST_OK && l->present > 0)
        status = run_passes(s, report);
    else
        report->converged = 1; /* nothing to do is done */
    if (status == AST_OK)
        report->objective = objective(s);
    return status;
}
