/* SPDX-License-Identifier: MIT
 *
 * Entry points of streams: check, call, translate. The state as bytes is in state.c. */
#include "context.h"

#include "degree.h"
#include "memory.h"
#include "stream.h"
#include "stream_input.h"
#include "stream_rotated.h"
#include "vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *ast_stream_options_problem(const ast_stream_options *o) {
    if (ast_size_problem(o, sizeof *o))
        return ast_size_problem(o, sizeof *o);
    return ast_problem_of(
        {o->dimension < 2 || o->dimension > AST_MOST_DIMENSION, "the dimension must be between 2 and 4096"},
        {o->method != AST_STREAM_DDP && o->method != AST_STREAM_SDP && o->method != AST_STREAM_DP,
         "the method must be AST_STREAM_DDP, AST_STREAM_SDP or AST_STREAM_DP"},
        {!(o->angle >= 0 && o->angle <= 180), "the angle must be set, between 0 and 180 degrees"},
        {isnan(o->beta) && !(o->drift > 0 && o->drift <= 180),
         "the drift must be more than 0 and at most 180 degrees a frame"},
        {!isnan(o->beta) && !(o->beta >= 0), "beta must be 0 or more"},
        {o->weight_update != AST_UPDATE_OF_TRACKER && o->weight_update != AST_POSTERIOR &&
             o->weight_update != AST_PAPER,
         "weight_update must be AST_UPDATE_OF_TRACKER, AST_POSTERIOR or AST_PAPER"},
        {o->score != AST_SCORE_OF_TRACKER && o->score != AST_SCORE_NEAREST && o->score != AST_SCORE_GEODESIC,
         "score must be AST_SCORE_OF_TRACKER, AST_SCORE_NEAREST or AST_SCORE_GEODESIC"},
        {o->max_iterations < 1, "max_iterations must be at least 1"},
        {o->parallel != AST_ORDERED && o->parallel != AST_OIR && o->parallel != AST_SERIAL,
         "parallel must be AST_ORDERED, AST_OIR or AST_SERIAL"},
        {o->exclusive && (o->method != AST_STREAM_DDP || !ast_options_score_nearest(o)),
         "exclusive is for AST_STREAM_DDP with AST_SCORE_NEAREST"},
        {o->exclusive && o->axial, "exclusive is not for axial points"},
        {o->exclusive && o->min_size > 1, "min_size is not for exclusive frames, in which a cluster has one point"},
        {!(o->min_quality >= 0 && o->min_quality <= AST_MAX_QUALITY),
         "min_quality must be 0 or more, and at most 1048576"},
        {o->min_size < 1, "min_size must be at least 1"}, {o->born_after < 1, "born_after must be at least 1"},
        {o->born_after > 1 && o->method != AST_STREAM_DDP, "born_after is for AST_STREAM_DDP"},
        {o->center && o->axial, "axial points cannot be centred: x and -x would differ"},
        {o->rigid && o->method != AST_STREAM_DDP, "rigid is for AST_STREAM_DDP"},
        {o->rigid && o->dimension != 3, "rigid is for directions of 3 dimensions"});
}

/* Forgets all clusters. The spread starts at a third of the angle. */
static void forget(ast_stream *s) {
    double phi = s->options.angle * AST_DEGREE;
    s->count = s->records.count = s->joins.count = 0;
    s->records.stale = false;
    ast_identities_clear(&s->known);
    s->changes.whole = true;
    s->spread = (ast_spread){phi / 3 * (phi / 3), 1};
    s->pair_cosine = ast_first_pair_cosine(s->options.angle);
    memset(s->rotation_step, 0, sizeof s->rotation_step);
    ast_landmarks_start(&s->landmarks);
}

ast_status ast_stream_open(ast_stream **opened, ast_context *context, const ast_stream_options *options) {
    const char *problem = opened ? ast_stream_options_problem(options) : "stream: the pointer is NULL";
    ast_status status = ast_open_handle(opened, sizeof **opened, context, problem);
    if (status != AST_OK)
        return status;
    ast_stream *s = *opened;
    s->context = context;
    s->fault = &context->fault;
    s->kernels = context->kernels;
    s->pool = context->pool;
    s->options = *options;
    s->labelling = ast_labelling_new();
    status = s->labelling ? ast_stream_keep_center(s, options->center) : ast_fail_memory(s->fault);
    if (status != AST_OK) {
        *opened = NULL;
        ast_labelling_free(s->labelling);
        ast_free(s);
        return status;
    }
    forget(s);
    return AST_OK;
}

void ast_stream_close(ast_stream *s) {
    if (!s || ast_in_callback(s->context, __func__))
        return;
    ast_free_all(s->track, s->m, s->data_direction, s->id_of, s->records.list, s->records.means, s->records.hidden,
                 s->late.names, s->late.counts, s->state, s->input.center, s->input.late, s->input.rows,
                 s->input.partner);
    ast_free_all(s->joins.pairs, s->joins.found, s->joins.cosines, s->joins.seen, s->joins.host, s->joins.view,
                 s->joins.partners);
    ast_stream_free_rotation(s);
    ast_free_all(s->rotated, s->changes.gone);
    ast_tracks_free(&s->tracks);
    ast_identities_free(&s->known);
    ast_near_set_free(&s->near);
    ast_history_free(&s->history);
    ast_labelling_free(s->labelling);
    ast_free(s);
}

static ast_status check_frame(ast_stream *s, const ast_points *points, const int32_t *labels) {
    ast_status status = ast_check_points(points, s->fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", s->fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "a stream", s->fault);
    if (status != AST_OK)
        return status;
    if (points->dimension != s->options.dimension)
        return ast_fail(s->fault, AST_BAD_DATA, "frame %llu has %zu components a point; the stream has %zu",
                        (unsigned long long)s->frame, points->dimension, s->options.dimension);
    if (s->options.exclusive && points->count > AST_MAX_EXCLUSIVE)
        return ast_fail(s->fault, AST_BAD_DATA, "frame %llu has %zu points; an exclusive frame has at most %d",
                        (unsigned long long)s->frame, points->count, AST_MAX_EXCLUSIVE);
    if ((size_t)(INT32_MAX - s->next_id) < points->count)
        return ast_fail(s->fault, AST_BAD_DATA, "the stream has used up its ids; reset does not help, open a new one");
    return AST_OK;
}

#define NAME_BLOCK                                                                                                     \
    4096 /* a chunk of the labelling, whose labels are in the cache of the thread that has its number                  \
          */

typedef struct naming {
    ast_stream *stream;
    const ast_points *points;
    size_t ahead; /* blocks before the first block of points; block 0 finds the rotation, meanwhile others are named */
    int32_t *labels;
    bool same;      /* slots are ids */
    ast_late *late; /* late rows, which get their labels now, or NULL */
} naming;

enum { NEIGHBOURS = 16 };

/* 16 neighbours at a time, since most of them have the same slot. */
static void name_points(const int32_t *slots, const int32_t *id_of, size_t count, int32_t *labels) {
    size_t i = 0;
    for (; i + NEIGHBOURS <= count; i += NEIGHBOURS) {
        int32_t slot = slots[i], id = slot < 0 ? -1 : id_of[slot], differ = 0;
        for (size_t j = 0; j < NEIGHBOURS; j++)
            differ |= slots[i + j] ^ slot;
        for (size_t j = 0; j < NEIGHBOURS; j++)
            labels[i + j] = id;
        for (size_t j = 0; j < NEIGHBOURS && differ; j++)
            labels[i + j] = slots[i + j] < 0 ? -1 : id_of[slots[i + j]];
    }
    for (; i < count; i++)
        labels[i] = slots[i] < 0 ? -1 : id_of[slots[i]];
}

/* Slots to ids; then late rows, while the labels are in the cache. */
static void name_block(void *data, size_t block, int worker) {
    const naming *n = data;
    (void)worker;
    if (block == 0)
        ast_stream_find_rotation(n->stream, n->points);
    if (block < n->ahead)
        return;
    size_t first = (block - n->ahead) * NAME_BLOCK, left = n->points->count - first;
    size_t last = left < NAME_BLOCK ? n->points->count : first + NAME_BLOCK;
    const int32_t *slots = n->stream->v.labels, *id_of = n->stream->id_of;
    if (n->same)
        memcpy(n->labels + first, slots + first, (last - first) * sizeof *slots);
    else
        name_points(slots + first, id_of, last - first, n->labels + first);
    if (n->late)
        ast_late_label_rows(n->late, first, last);
}

/* A young stream has lost no cluster yet: its slots are its ids. */
static bool slots_are_ids(const ast_stream *s) {
    const ast_cluster_list *c = s->v.clusters;
    for (size_t k = 0; k < c->live; k++)
        if (s->id_of[c->order[k]] != c->order[k])
            return false;
    return true;
}

static ast_status step(ast_stream *s, const ast_points *points, int32_t *labels, ast_frame *frame) {
    double start = ast_seconds();
    ast_frame report = {0};
    ast_points view, taken;
    ast_status status = ast_stream_rotate_points(s, &points, &view);
    if (status == AST_OK)
        status = check_frame(s, points, labels);
    if (status == AST_OK)
        status = ast_check_struct(frame, sizeof *frame, "frame", s->fault);
    if (status != AST_OK)
        return status;
    status = ast_stream_prepare_points(s, points, true, &taken);
    points = &taken;
    if (status == AST_OK && !ast_stream_reserve_rotation(s))
        status = ast_fail_memory(s->fault);
    if (status == AST_OK)
        status = ast_stream_frame(s, points, &report);
    if (status == AST_OK)
        status = ast_check_cancelled(s->context);
    if (status == AST_OK && !ast_stream_close_frame(s))
        status = ast_fail_memory(s->fault);
    if (status != AST_OK) {
        ast_stream_cancel_selection(s);
        ast_labelling_clear(s->labelling);
        return status;
    }
    ast_late late;
    size_t threads = (size_t)ast_pool_threads(s->pool), blocks = (points->count + NAME_BLOCK - 1) / NAME_BLOCK;
    naming n = {s, points, threads, labels, slots_are_ids(s), points->late && !s->options.exclusive ? &late : NULL};
    if (n.late)
        ast_stream_begin_late(s, points, labels, &late);
    ast_pool_run_in_order(s->pool, 0, threads + blocks, name_block, &n);
    if (n.late)
        ast_stream_end_late(s, &late, &report);
    else if (points->late)
        ast_stream_label_exclusive_late(s, points, labels, &report);
    ast_stream_drop_hidden_records(s);
    report.unborn = s->unborn;
    for (size_t r = 0; r < s->records.count; r++) {
        report.clusters += s->records.list[r].count > 0;
        report.merged += s->records.list[r].event == AST_MERGED;
    }
    report.size = sizeof report;
    report.seconds = ast_seconds() - start;
    *frame = report;
    return AST_OK;
}

ast_status ast_stream_step(ast_stream *s, const ast_points *points, int32_t *labels, ast_frame *frame) {
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, step(s, points, labels, frame)) : AST_BAD_OPTION;
}

const ast_tracked *ast_stream_records(const ast_stream *s, size_t record, size_t *count) {
    if (s && s->records.stale)
        ast_stream_list_records((ast_stream *)(uintptr_t)s); /* what the caller sees stays the same */
    return ast_records_of_size(s ? s->records.list : NULL, s ? s->records.count : 0, sizeof(ast_tracked), record,
                               count);
}

/* Track k, unless the point is known not to be its id: then the nearest other one within the angle, or the number of
 * tracks. */
static size_t allowed(const ast_stream *s, const ast_points *points, size_t i, size_t k) {
    float x[AST_MAX_DIMENSION];
    ast_read_row(points, i, x);
    if (!ast_stream_is_barred(s, k, x))
        return k;
    size_t best = s->count;
    double most = ast_least_score(s->options.angle);
    for (size_t t = 0; t < s->count; t++) {
        double cosine = ast_stream_closeness(s, x, s->m + t * s->options.dimension);
        if (cosine < most || (cosine == most && best < s->count) || ast_stream_is_barred(s, t, x))
            continue;
        best = t;
        most = cosine;
    }
    return best;
}

ast_status ast_stream_predict(ast_stream *s, const ast_points *points, int32_t *labels) {
    if (!ast_enter(s ? s->context : NULL))
        return AST_BAD_OPTION;
    ast_points view, taken;
    ast_status status = ast_stream_rotate_points(s, &points, &view);
    if (status == AST_OK)
        status = check_frame(s, points, labels);
    if (status == AST_OK)
        status = ast_stream_prepare_points(s, points, false, &taken);
    ast_assign_options known = ast_assign_to(s->m, s->count);
    known.angle = s->options.angle;
    known.axial = s->options.axial;
    if (status == AST_OK && s->count)
        status = ast_assign_call(s->context, &taken, &known, labels, NULL);
    for (size_t i = 0; status == AST_OK && i < points->count; i++) {
        size_t k = s->count == 0 || labels[i] < 0 ? s->count : (size_t)labels[i];
        if (k < s->count && s->known.barred_count)
            k = allowed(s, &taken, i, k);
        labels[i] = k < s->count && ast_stream_is_shown(s, &s->track[k]) ? s->track[k].id : -1;
    }
    return ast_leave(s->context, status);
}

/* Rotates a vector, and makes it a unit vector again. */
static void rotate(const double *rotation, size_t dimension, float *x) {
    double old[AST_MAX_DIMENSION], rotated[AST_MAX_DIMENSION];
    for (size_t d = 0; d < dimension; d++)
        old[d] = (double)x[d];
    for (size_t d = 0; d < dimension; d++)
        rotated[d] = ast_dot(rotation + d * dimension, old, dimension);
    bool good = ast_normalise(rotated, dimension) > 0;
    for (size_t d = 0; d < dimension && good; d++)
        x[d] = (float)rotated[d];
}

ast_status ast_stream_rotate(ast_stream *s, const double *rotation) {
    if (!ast_enter(s ? s->context : NULL))
        return AST_BAD_OPTION;
    size_t dimension = s->options.dimension;
    double mended[9];
    const char *problem = rotation ? ast_mend_rotation(rotation, dimension, mended) : "rotation: the pointer is NULL";
    if (problem)
        return ast_leave(s->context, ast_fail_option(problem, s->fault));
    rotation = dimension == 3 ? mended : rotation;
    if (ast_stream_finds_rotation(s))
        ast_landmarks_expect_rotation(&s->landmarks, rotation);
    for (size_t k = 0; k < s->count; k++) {
        rotate(rotation, dimension, s->m + k * dimension);
        rotate(rotation, dimension, s->data_direction + k * dimension);
    }
    s->changes.whole = true;
    return ast_leave(s->context, AST_OK);
}

static ast_status check_rotations(const ast_stream *s) {
    return ast_stream_finds_rotation(s)
               ? AST_OK
               : ast_fail(s->fault, AST_BAD_OPTION,
                          "rotation and axes are found with options.rotation, AST_STREAM_DDP and 3 dimensions, not "
                          "axial and not exclusive");
}

static ast_status rotation_of(ast_stream *s, double *rotation, double *covariance, int *rank) {
    ast_status status = check_rotations(s);
    if (status != AST_OK)
        return status;
    if (rotation)
        memcpy(rotation, s->landmarks.rotation, sizeof s->landmarks.rotation);
    if (covariance)
        memcpy(covariance, s->landmarks.covariance, sizeof s->landmarks.covariance);
    if (rank)
        *rank = (int)s->landmarks.rank;
    return AST_OK;
}

ast_status ast_stream_rotation(ast_stream *s, double *rotation, double *covariance, int *rank) {
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, rotation_of(s, rotation, covariance, rank))
                                            : AST_BAD_OPTION;
}

static ast_status axes_of(ast_stream *s, ast_world_axes *axes) {
    const ast_landmark_map *map = &s->landmarks;
    ast_world_axes found = {.size = sizeof found, .kind = (ast_axes_kind)map->axes_kind};
    ast_status status = check_rotations(s);
    if (status == AST_OK)
        status = ast_check_struct(axes, sizeof *axes, "axes", s->fault);
    if (status != AST_OK)
        return status;
    const double *r = map->rotation;
    found.count = found.kind == AST_AXES_NONE ? 0 : (size_t)map->building.count;
    for (size_t a = 0; a < found.count; a++) {
        const double *d = map->building.directions[a];
        for (int c = 0; c < 3; c++)
            found.directions[a][c] = r[c] * d[0] + r[3 + c] * d[1] + r[6 + c] * d[2];
        found.shares[a] = map->building.shares[a];
    }
    *axes = found;
    return AST_OK;
}

ast_status ast_stream_axes(ast_stream *s, ast_world_axes *axes) {
    return ast_enter(s ? s->context : NULL) ? ast_leave(s->context, axes_of(s, axes)) : AST_BAD_OPTION;
}

ast_status ast_stream_reset(ast_stream *s) {
    if (!ast_enter(s ? s->context : NULL))
        return AST_BAD_OPTION;
    forget(s);
    return ast_leave(s->context, AST_OK);
}
