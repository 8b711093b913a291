/* SPDX-License-Identifier: MIT
 *
 * Section 4 of the specification, executed one point after the other. Read ref_stream_step first, then visit; the end
 * of a frame is in stream_close.c. */
#include "reference/stream_inside.h"

#include "geodesic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The list of clusters -------------------------------------------------------------------------------------- */

static ref_cluster *cluster_append(ref_stream *stream, role kind, const float *mean) {
    size_t dimension = stream->options.dimension;
    if (stream->count == stream->capacity) {
        size_t capacity = 2 * stream->capacity + 8;
        ref_cluster **list = ref_take(capacity, sizeof *list);
        if (stream->count > 0)
            memcpy(list, stream->list, stream->count * sizeof *list);
        free(stream->list);
        stream->list = list;
        stream->capacity = capacity;
    }
    ref_cluster *made = ref_take(1, sizeof *made);
    made->role = kind;
    made->id = -1;
    made->into = -1;
    made->m = ref_take(dimension, sizeof *made->m);
    made->mean = ref_take(dimension, sizeof *made->mean);
    made->raw = ref_take(dimension, sizeof *made->raw);
    made->sum = ref_take(dimension, sizeof *made->sum);
    memcpy(made->mean, mean, dimension * sizeof *mean);
    stream->list[stream->count++] = made;
    return made;
}

void ref_cluster_free(ref_cluster *cluster) {
    free(cluster->m);
    free(cluster->mean);
    free(cluster->raw);
    free(cluster->sum);
    free(cluster);
}

/* Takes the dead off the list, order of the others kept; those with an id wait for their record. The labels get the new
 * numbers. */
void ref_drop_dead(ref_stream *stream, int32_t *labels, size_t points) {
    int32_t *number = ref_take(stream->count, sizeof *number);
    size_t kept = 0;
    for (size_t k = 0; k < stream->count; k++) {
        ref_cluster *cluster = stream->list[k];
        if (cluster->dead && cluster->id >= 0) {
            cluster->next = stream->gone;
            stream->gone = cluster;
            continue;
        }
        if (cluster->dead) {
            ref_cluster_free(cluster);
            continue;
        }
        number[k] = (int32_t)kept;
        stream->list[kept++] = cluster;
    }
    stream->count = kept;
    for (size_t i = 0; i < points; i++)
        if (labels[i] >= 0)
            labels[i] = number[labels[i]];
    free(number);
}

/* ---- One pass, section 4 --------------------------------------------------------------------------------------- */

static int takes_part(const ref_points *points, size_t i) {
    return !points->missing[i]; /* frames have no weights */
}

/* x, on the side of m if the points are axial. For the caller to free. */
static float *towards(const setting *s, const float *x, const float *m) {
    float *turned = ref_take(s->dimension, sizeof *turned);
    memcpy(turned, x, s->dimension * sizeof *x);
    if (ref_sign(s->points->axial, x, m, s->dimension) < 0)
        ref_negate(turned, s->dimension);
    return turned;
}

/* J_k of a tracked cluster without points. */
static double revival_score(const setting *s, const ref_cluster *cluster, const float *given) {
    ast_geodesic g;
    float *x = towards(s, given, cluster->m);
    ast_geodesic_solve(ast_angle_between(x, cluster->m, s->dimension), cluster->weight, cluster->beta, cluster->dt, 1,
                       &g);
    free(x);
    return 1 + cluster->dt * s->q - g.loss;
}

/* The geodesic mean of x alone. */
static void revive(const setting *s, ref_cluster *cluster, const float *given) {
    ast_geodesic g;
    float *x = towards(s, given, cluster->m);
    double zeta = ast_angle_between(x, cluster->m, s->dimension), squares = 0;
    double *u = ref_take(s->dimension, sizeof *u);
    for (size_t d = 0; d < s->dimension; d++)
        squares += (double)x[d] * (double)x[d];
    for (size_t d = 0; d < s->dimension; d++)
        u[d] = (double)x[d] / sqrt(squares);
    ast_geodesic_solve(zeta, cluster->weight, cluster->beta, cluster->dt, 1, &g);
    ast_geodesic_mean(s->dimension, u, cluster->m, g.eta, zeta, cluster->mean);
    free(u);
    free(x);
}

/* The score of x against a cluster, of which x is a member if `own`. 0 if the cluster is no candidate for x, or cannot
 * score more than `beaten`: losses are never negative, so 1 + dt Q need not be solved for where that is too little. */
static int candidate(const setting *s, const ref_cluster *cluster, const float *x, int own, double beaten,
                     double *score) {
    size_t others = cluster->members - (own ? 1 : 0); /* counts without x itself */
    if (cluster->dead)
        return 0;
    if (others > 0 || (cluster->role == GIVEN && !own)) {
        *score = ref_closeness(s->points->axial, x, cluster->mean, s->dimension);
        return 1;
    }
    if (cluster->role != TRACKED || s->lifetime == 0 || 1 + cluster->dt * s->q <= beaten)
        return 0;
    if (s->nearest) {
        *score = ref_closeness(s->points->axial, x, cluster->m, s->dimension) + cluster->dt * s->q;
        return 1;
    }
    double where_it_was = ref_closeness(s->points->axial, x, cluster->m, s->dimension);
    if (s->revive_needs_fit && !own && !ref_fits(where_it_was, s->angle))
        return 0;
    *score = revival_score(s, cluster, x);
    return 1;
}

/* Section 11: a mean of few points is farther from the true direction. */
static int fits_cluster(const setting *s, const ref_cluster *cluster, double score) {
    double cosine = ref_cosine(s->angle);
    if (!s->nearest || cluster->role != TRACKED || cosine <= 0)
        return ref_fits(score, s->angle);
    return score >= cosine - EPS - cosine * (1 - ref_reliability(cluster->rows, s->rho_square));
}

/* One point. Returns its label. */
static int32_t visit(ref_stream *stream, const setting *s, const float *x, int32_t label) {
    ref_cluster *before = label >= 0 ? stream->list[label] : NULL;
    int alone = before && before->members == 1;
    ptrdiff_t best = -1;
    double best_score = -INFINITY, score;
    for (size_t k = 0; k < stream->count; k++) {
        if (candidate(s, stream->list[k], x, label == (int32_t)k, best_score, &score) && score > best_score) {
            best = (ptrdiff_t)k;
            best_score = score;
        }
    }
    int fits = best >= 0 && fits_cluster(s, stream->list[best], best_score);
    if (!fits && alone && before->role != TRACKED) { /* it keeps its cluster, whose mean becomes x at once */
        memcpy(before->mean, x, s->dimension * sizeof *x);
        return label;
    }
    if (!fits) {
        cluster_append(stream, BORN, x);
        best = (ptrdiff_t)stream->count - 1;
    }
    ref_cluster *target = stream->list[best];
    if (target->role == TRACKED && target->members - (target == before ? 1 : 0) == 0)
        revive(s, target, x);
    if (target == before)
        return label;
    target->members++;
    if (before && --before->members == 0) {
        if (before->role == TRACKED)
            memcpy(before->mean, before->m, s->dimension * sizeof *x);
        else
            before->dead = 1;
    }
    return (int32_t)best;
}

/* The exact sums of the clusters. labels (N), and behind them the signs (N). */
static void sum_up(ref_stream *stream, const setting *s, const int32_t *labels) {
    const ref_points *points = s->points;
    for (size_t k = 0; k < stream->count; k++) {
        ref_cluster *cluster = stream->list[k];
        memset(cluster->sum, 0, s->dimension * sizeof *cluster->sum);
    }
    for (size_t i = 0; i < points->count; i++) {
        if (!takes_part(points, i))
            continue;
        ref_cluster *own = stream->list[labels[i]];
        own->last = points->x + i * s->dimension;
        for (size_t d = 0; d < s->dimension; d++)
            own->sum[d] += labels[points->count + i] * llrint((double)own->last[d] * SCALE);
    }
}

/* What f* has of the walk: dt beta, of which nothing is left where directions do not move at all. */
static double walk(const ref_cluster *cluster) {
    return isinf(cluster->beta) ? 0 : cluster->dt * cluster->beta;
}

/* A tracked cluster's mean between where it was and where its points are. */
static void update_tracked(const setting *s, ref_cluster *cluster, const double *u) {
    ast_geodesic g;
    double zeta = ast_angle_from(u, cluster->m, s->dimension);
    ast_geodesic_solve(zeta, cluster->weight, cluster->beta, cluster->dt, cluster->length, &g);
    ast_geodesic_mean(s->dimension, u, cluster->m, g.eta, zeta, cluster->mean);
    cluster->value = cluster->length - g.loss + cluster->dt * s->q;
    cluster->f = cluster->weight + walk(cluster) + cluster->length - g.loss;
}

/* The sum is too short to have a direction: the old mean stays, and f has the data's part at the old mean. */
static void update_without_direction(const setting *s, ref_cluster *cluster) {
    double dot = 0;
    if (cluster->role == TRACKED)
        memcpy(cluster->mean, cluster->m, s->dimension * sizeof *cluster->m);
    else if (cluster->members == 1)
        memcpy(cluster->mean, cluster->last, s->dimension * sizeof *cluster->last);
    for (size_t d = 0; d < s->dimension; d++)
        dot += (double)cluster->sum[d] * (double)cluster->mean[d];
    dot /= SCALE;
    cluster->value = dot + (cluster->role == TRACKED ? cluster->dt * s->q : s->lambda);
    cluster->f = cluster->weight + walk(cluster) + dot;
}

int ref_has_direction(const ref_cluster *cluster) {
    return cluster->length > (double)cluster->members * EPS;
}

/* The axial sum of a tracked cluster, on the side of m. */
static void turn_sum(const setting *s, ref_cluster *cluster) {
    double dot = 0;
    for (size_t d = 0; d < s->dimension; d++)
        dot += (double)cluster->sum[d] * (double)cluster->m[d];
    for (size_t d = 0; d < s->dimension && dot < 0; d++)
        cluster->sum[d] = -cluster->sum[d];
}

void ref_update_mean(const setting *s, ref_cluster *cluster) {
    double squares = 0;
    double *u = ref_take(s->dimension, sizeof *u);
    if (s->points->axial && cluster->role == TRACKED)
        turn_sum(s, cluster);
    for (size_t d = 0; d < s->dimension; d++)
        squares += (double)cluster->sum[d] * (double)cluster->sum[d];
    cluster->length = sqrt(squares) / SCALE;
    for (size_t d = 0; d < s->dimension; d++)
        u[d] = (double)cluster->sum[d] / sqrt(squares);
    if (!ref_has_direction(cluster)) {
        update_without_direction(s, cluster);
    } else if (cluster->role == TRACKED) {
        update_tracked(s, cluster, u);
    } else {
        for (size_t d = 0; d < s->dimension; d++)
            cluster->mean[d] = cluster->members == 1 ? cluster->last[d] : (float)u[d];
        cluster->value = cluster->length + s->lambda;
    }
    free(u);
}

/* Visits every point. Returns the number of points that changed cluster or sign. */
static size_t visit_all(ref_stream *stream, const setting *s, int32_t *labels, int32_t *signs) {
    const ref_points *points = s->points;
    size_t changed = 0;
    for (size_t i = 0; i < points->count; i++) {
        const float *x = points->x + i * s->dimension;
        if (!takes_part(points, i))
            continue;
        int32_t label = visit(stream, s, x, labels[i]);
        int32_t sign = ref_sign(points->axial, x, stream->list[label]->mean, s->dimension);
        changed += label != labels[i] || sign != signs[i];
        labels[i] = label;
        signs[i] = sign;
    }
    return changed;
}

/* A pass and what follows it. Returns the number of points that changed; *objective as after the pass. */
static size_t one_pass(ref_stream *stream, const setting *s, int32_t *labels, double *objective) {
    const ref_points *points = s->points;
    size_t changed = visit_all(stream, s, labels, labels + points->count);
    for (size_t k = 0; k < stream->count; k++) /* given clusters that found no point */
        if (stream->list[k]->members == 0 && stream->list[k]->role != TRACKED)
            stream->list[k]->dead = 1;
    *objective = 0;
    ref_drop_dead(stream, labels, points->count);
    sum_up(stream, s, labels);
    for (size_t k = 0; k < stream->count; k++) {
        if (stream->list[k]->members == 0)
            continue;
        ref_update_mean(s, stream->list[k]);
        *objective += stream->list[k]->value;
    }
    return changed;
}

/* ---- A frame --------------------------------------------------------------------------------------------------- */

/* Every cluster of an earlier frame starts without points. */
static void start_frame(ref_stream *stream, const ref_points *points, setting *s) {
    const ast_stream_options *options = &stream->options;
    s->points = points;
    s->dimension = options->dimension;
    s->angle = options->angle;
    s->lambda = ref_cosine(options->angle) - 1;
    s->lifetime = options->lifetime;
    s->q = options->lifetime > 0 ? s->lambda / options->lifetime : 0;
    s->revive_needs_fit = options->revive_near;
    s->nearest = ref_nearest(options);
    s->rho_square = ref_rho_square(stream);
    if (options->rigid)
        ref_turn_all(stream);
    for (size_t k = 0; k < stream->count; k++) {
        ref_cluster *cluster = stream->list[k];
        cluster->role = options->method == AST_STREAM_DDP ? TRACKED : GIVEN;
        cluster->members = 0;
        cluster->beta = ref_current_beta(stream, cluster);
        memcpy(cluster->mean, cluster->m, s->dimension * sizeof *cluster->m);
    }
}

static void *grown(void *old, size_t old_bytes, size_t new_bytes) {
    void *block = ref_take(new_bytes, 1);
    if (old_bytes > 0)
        memcpy(block, old, old_bytes);
    free(old);
    return block;
}

/* Labels and signs after every pass so far, kept whole, so that no hash can lie. Returns whether these were seen
 * before.
 */
static int seen_before(int32_t **history, int passes, const int32_t *labels, size_t count) {
    int seen = 0;
    for (int t = 0; t < passes; t++)
        seen |= memcmp(history[t], labels, 2 * count * sizeof *labels) == 0;
    history[passes] = ref_take(2 * count, sizeof *labels);
    memcpy(history[passes], labels, 2 * count * sizeof *labels);
    return seen;
}

void ref_stream_step(ref_stream *stream, const ref_points *points, ref_frame *frame) {
    setting s;
    start_frame(stream, points, &s);
    int32_t **history = ref_take((size_t)stream->options.max_iterations, sizeof *history);
    memset(frame, 0, sizeof *frame);
    frame->points = points->used;
    frame->total = points->total;
    frame->labels = ref_take(2 * points->count, sizeof *frame->labels); /* and behind them the signs */
    for (size_t i = 0; i < points->count; i++)
        frame->labels[i] = -1;

    while (!frame->converged && frame->iterations < stream->options.max_iterations) {
        size_t changed = one_pass(stream, &s, frame->labels, &frame->objective), t = (size_t)frame->iterations;
        frame->converged = seen_before(history, frame->iterations, frame->labels, points->count) || changed == 0;
        frame->objectives = grown(frame->objectives, t * sizeof(double), (t + 1) * sizeof(double));
        frame->objectives[t] = frame->objective;
        frame->iterations++;
    }

    for (int t = 0; t < frame->iterations; t++)
        free(history[t]);
    free(history);
    ref_close_frame(stream, &s, frame);
}

void ref_frame_free(ref_frame *frame) {
    for (size_t k = 0; k < frame->records_count; k++)
        free(frame->records[k].mean);
    free(frame->records);
    free(frame->labels);
    free(frame->objectives);
    memset(frame, 0, sizeof *frame);
}

/* ---- The rest -------------------------------------------------------------------------------------------------- */

void ref_stream_open(ref_stream *stream, const ast_stream_options *options) {
    memset(stream, 0, sizeof *stream);
    stream->options = *options;
    ref_stream_reset(stream);
}

void ref_stream_reset(ref_stream *stream) {
    double third = ref_radians(stream->options.angle) / 3;
    for (size_t k = 0; k < stream->count; k++)
        ref_cluster_free(stream->list[k]);
    stream->count = stream->near_count = 0;
    stream->num = third * third;
    stream->den = 1;
    stream->like_num = 10 * ref_cosine(stream->options.angle * 2 / 3) * ref_cosine(stream->options.angle * 2 / 3);
    stream->like_den = 10;
    memset(stream->turn, 0, sizeof stream->turn);
}

void ref_stream_close(ref_stream *stream) {
    ref_stream_reset(stream);
    free(stream->list);
    free(stream->near);
    memset(stream, 0, sizeof *stream);
}

void ref_stream_predict(const ref_stream *stream, const ref_points *points, int32_t *labels) {
    size_t dimension = stream->options.dimension;
    for (size_t i = 0; i < points->count; i++) {
        double best = 0;
        labels[i] = -1;
        for (size_t k = 0; k < stream->count && !points->missing[i]; k++) {
            double score = ref_closeness(points->axial, points->x + i * dimension, stream->list[k]->m, dimension);
            if (ref_fits(score, stream->options.angle) && (labels[i] < 0 || score > best)) {
                labels[i] = stream->list[k]->id;
                best = score;
            }
        }
    }
}

/* Turns a vector and makes it a unit vector again. */
static void turn(const double *rotation, const double *v, size_t dimension, double *turned) {
    double squares = 0;
    for (size_t r = 0; r < dimension; r++) {
        turned[r] = 0;
        for (size_t d = 0; d < dimension; d++)
            turned[r] += rotation[r * dimension + d] * v[d];
        squares += turned[r] * turned[r];
    }
    for (size_t r = 0; r < dimension; r++)
        turned[r] /= sqrt(squares);
}

/* The last data turn with the mean: what is learnt from them compares them with the next. */
void ref_stream_rotate(ref_stream *stream, const double *rotation) {
    size_t dimension = stream->options.dimension;
    double *v = ref_take(dimension, sizeof *v), *turned = ref_take(dimension, sizeof *turned);
    for (size_t k = 0; k < stream->count; k++) {
        ref_cluster *cluster = stream->list[k];
        for (size_t d = 0; d < dimension; d++)
            v[d] = cluster->m[d];
        turn(rotation, v, dimension, turned);
        for (size_t d = 0; d < dimension; d++)
            cluster->m[d] = (float)turned[d];
        if (cluster->raw_count > 0) {
            turn(rotation, cluster->raw, dimension, turned);
            for (size_t d = 0; d < dimension; d++)
                cluster->raw[d] = (double)(float)turned[d];
        }
    }
    free(v);
    free(turned);
}
