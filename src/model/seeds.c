/* SPDX-License-Identifier: MIT
 *
 * Starts for a fixed number of clusters: k-means++ on 1 - cosine.
 *
 * The part of a point in a draw is weight * distance, the distance from the nearest start so far; before the first
 * start all distances are equal. Rows are drawn in the order of their hashes (points/content.h): a random number below
 * the sum of all parts is the place of the next start in that order. So the starts depend on the rows and their weights
 * alone: not on the order of the rows, on rows of weight 0, or on threads, ranks and windows.
 *
 * Parts are integers, whose sums are exact. A sum is kept for each bucket of hashes, by their leading bits, and a point
 * that comes nearer to a start takes from it what it lost. A draw chooses the bucket by these sums, then looks at its
 * points. Several windows keep no hashes: there the points of the bucket are found by reading once more, and distances
 * stand where labels will.
 *
 * In many dimensions, a point whose first coordinates show that a new start is no nearer is left alone (seed_heads.h).
 * In three dimensions and for many starts, a new one is compared with the points of those cells only that it may be
 * nearest to: the draws are the same, and a start takes the less time the more there are. */
#include "seeds.h"

#include "inside.h"

#include "seed_heads.h"
#include "seed_rows.h"
#include "memory.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_BITS 10
#define BUCKETS ((size_t)1 << BUCKET_BITS)
#define STEP_BITS 9 /* of the 54 that are left, in each step within a bucket */
#define STEPS ((size_t)1 << STEP_BITS)

#define FARTHEST 2.0f /* before anything was measured: 1 - cosine at its largest */
#define NEAR 1e-5f    /* a row and its copies are nearer than this */

typedef struct seed_worker {
    int64_t lost[BUCKETS]; /* by points that came nearer to a start */
    ast_seed_rows found;
} seed_worker;

typedef struct seeding {
    ast_labelling *l;
    ast_content content;
    double scale;              /* of parts: all of them together do not overflow */
    float *mean;               /* (D) the latest start */
    uint64_t start;            /* its hash */
    float *distance;           /* (count) 1 - cosine to the nearest start so far; NULL: several windows */
    uint64_t *hash;            /* (count) NULL: several windows */
    uint32_t *member;          /* (count) the points, bucket by bucket; NULL: several windows */
    size_t first[BUCKETS + 1]; /* of the bucket in `member` */
    int64_t sum[BUCKETS];      /* of the parts of this rank's points */
    size_t bucket;             /* that was drawn */
    seed_worker *workers;
    ast_seed_rows drawn;
    ast_status status; /* of opening windows */
    ast_fault *fault;
    ast_cell_peaks peaks; /* of the distances; closed: every point is compared */
    ast_seed_heads heads; /* of the points; closed: they are compared in full */
} seeding;

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* A distance is no negative number, and as bits no label either. */
static float distance_of(const seeding *s, size_t i) {
    int32_t bits = s->l->labels[i];
    float distance = FARTHEST;
    if (!s->distance && bits >= 0)
        memcpy(&distance, &bits, sizeof bits);
    return s->distance ? s->distance[i] : distance;
}

static void set_distance(seeding *s, size_t i, float distance) {
    if (s->distance)
        s->distance[i] = distance;
    else
        memcpy(&s->l->labels[i], &distance, sizeof distance);
}

static int64_t part_at(const seeding *s, size_t i, float distance) {
    const double *weights = s->l->rows.weights;
    return (int64_t)((weights ? weights[i] : 1) * (double)distance * s->scale);
}

static uint64_t hash_of(const seeding *s, size_t i, int index) {
    return s->hash ? s->hash[i] : ast_seed_hash(s->l, &s->content, i, index);
}

static size_t bucket_of(uint64_t hash) {
    return hash >> (64 - BUCKET_BITS);
}

/* Compares a point with the latest start. That and its copies are at no distance, whatever rounding says. */
static void lower_distance(void *data, size_t i, int index) {
    seeding *s = data;
    ast_labelling *l = s->l;
    float before = distance_of(s, i);
    if (s->heads.points.rows && ast_seed_heads_upper_bound(&s->heads, l, i) < 1 - before - 0x1p-22f)
        return;
    double cosine = ast_rows_sequential_dot(&l->rows, &l->workers[index].chunk.rows, i, s->mean);
    float away = (float)fmax(0, 1 - (l->rows.axial ? fabs(cosine) : cosine));
    if (away < NEAR && before > 0 && hash_of(s, i, index) == s->start)
        away = 0;
    if (away >= before)
        return;
    s->workers[index].lost[bucket_of(hash_of(s, i, index))] += part_at(s, i, before) - part_at(s, i, away);
    set_distance(s, i, away);
}

/* Tells every point to a task, unless something failed before; `save`: the task sets distances. */
static ast_status visit_points(seeding *s, ast_seed_task *task, bool save) {
    if (s->status == AST_OK)
        s->status = ast_seed_visit(s->l, task, s, save, s->fault);
    return s->status;
}

/* The sums, without what points lost. */
static void subtract_lost(seeding *s) {
    for (int w = 0; w < s->l->worker_count; w++)
        for (size_t b = 0; b < BUCKETS; b++) {
            s->sum[b] -= s->workers[w].lost[b];
            s->workers[w].lost[b] = 0;
        }
}

/* ---- Before the first start -------------------------------------------------------------------------------------- */

static void begin_point(void *data, size_t i, int index) {
    seeding *s = data;
    uint64_t hash = ast_seed_hash(s->l, &s->content, i, index);
    if (s->hash)
        s->hash[i] = hash;
    set_distance(s, i, FARTHEST);
    s->workers[index].lost[bucket_of(hash)] -= part_at(s, i, FARTHEST);
}

static void list_members(seeding *s) {
    const ast_labelling *l = s->l;
    memset(s->first, 0, sizeof s->first);
    for (size_t i = 0; i < l->rows.count; i++)
        if (l->labels[i] != AST_MISSING)
            s->first[bucket_of(s->hash[i])]++;
    for (size_t b = 1; b <= BUCKETS; b++)
        s->first[b] += s->first[b - 1];
    for (size_t i = l->rows.count; i-- > 0;) /* first[b] falls from the end of bucket b to its start */
        if (l->labels[i] != AST_MISSING)
            s->member[--s->first[bucket_of(s->hash[i])]] = (uint32_t)i;
}

static ast_status begin_points(seeding *s) {
    memset(s->sum, 0, sizeof s->sum);
    ast_cell_peaks_close(&s->peaks);
    ast_status status = visit_points(s, begin_point, true);
    subtract_lost(s);
    if (status == AST_OK && s->member)
        list_members(s);
    return ast_comm_agree(s->l->ranks.comm, status, s->fault);
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

/* Below so many starts each is near a large part of the points. */
#define FEW_STARTS 64

static bool wants_cells(const seeding *s, size_t starts) {
    const ast_labelling *l = s->l;
    return l->rows.small && l->rows.dimension == 3 && !l->rows.axial && !ast_comm_many(l->ranks.comm) &&
           !l->rows.reader && l->scorer.bounds.on &&
           starts >= (l->cell_mode.min_clusters < FEW_STARTS ? l->cell_mode.min_clusters : FEW_STARTS);
}

static float lower_in_cell(void *data, size_t i) {
    seeding *s = data;
    lower_distance(s, i, 0);
    return s->distance[i];
}

/* Compares every point with the latest start: as long as there is one to come. */
static ast_status measure_distances(seeding *s) {
    ast_labelling *l = s->l;
    if (!s->peaks.peak && wants_cells(s, l->clusters.live) &&
        !(ast_cells_load(&l->cell_mode.cells, &l->scorer, l->pool) &&
          ast_cell_peaks_open(&s->peaks, l->cell_mode.cells)))
        return ast_fail_memory(s->fault);
    if (s->heads.points.rows)
        ast_seed_heads_start(&s->heads, l->rows.kernels, s->mean);
    if (s->peaks.peak)
        ast_cell_peaks_lower(&s->peaks, s->mean, lower_in_cell, s);
    else
        visit_points(s, lower_distance, true);
    subtract_lost(s);
    if (s->status == AST_OK && ast_pool_poll(l->pool))
        s->status = ast_fail_cancelled(s->fault);
    return s->status;
}

/* ---- A draw ------------------------------------------------------------------------------------------------------ */

static void find_candidate(void *data, size_t i, int index) {
    seeding *s = data;
    float distance = distance_of(s, i);
    uint64_t hash = distance > 0 ? hash_of(s, i, index) : 0;
    int64_t part = part_at(s, i, distance);
    if (part > 0 && bucket_of(hash) == s->bucket)
        ast_seed_rows_add(&s->workers[index].found, (ast_seed_row){hash, (uint64_t)part, s->l->windows.first + i});
}

/* The points of the bucket that was drawn. */
static ast_status find_candidates(seeding *s) {
    ast_labelling *l = s->l;
    s->drawn.count = 0;
    if (s->member)
        for (size_t m = s->first[s->bucket]; m < s->first[s->bucket + 1]; m++)
            find_candidate(s, s->member[m], 0);
    else
        visit_points(s, find_candidate, false);
    for (int w = 0; w < l->worker_count; w++)
        ast_seed_rows_take(&s->drawn, &s->workers[w].found);
    if (s->status == AST_OK && s->drawn.failed)
        s->status = ast_fail_memory(s->fault);
    return ast_comm_agree(l->ranks.comm, s->status, s->fault);
}

/* The one of the sums that number *at falls into; *at becomes its place there. */
static size_t pick(const uint64_t *sums, uint64_t *at) {
    size_t chosen = 0;
    while (*at >= sums[chosen])
        *at -= sums[chosen++];
    return chosen;
}

/* Leaves those of the candidates that have the hash that number `at` falls into; its bits are drawn step by step. */
static void narrow(seeding *s, uint64_t at) {
    ast_seed_rows *c = &s->drawn;
    uint64_t sums[STEPS];
    s->start = s->bucket;
    for (int shift = 64 - BUCKET_BITS - STEP_BITS; shift >= 0; shift -= STEP_BITS) {
        size_t left = 0;
        memset(sums, 0, sizeof sums);
        for (size_t j = 0; j < c->count; j++)
            sums[c->list[j].hash >> shift & (STEPS - 1)] += c->list[j].part;
        ast_comm_allreduce(s->l->ranks.comm, sums, STEPS);
        s->start = s->start << STEP_BITS | pick(sums, &at);
        for (size_t j = 0; j < c->count; j++)
            if (c->list[j].hash >> shift == s->start)
                c->list[left++] = c->list[j];
        c->count = left;
    }
}

/* The sums of all ranks together; returns their total. */
static uint64_t share_sums(const seeding *s, uint64_t *sums) {
    uint64_t total = 0;
    memcpy(sums, s->sum, sizeof s->sum);
    ast_comm_allreduce(s->l->ranks.comm, sums, BUCKETS);
    for (size_t b = 0; b < BUCKETS; b++)
        total += sums[b];
    return total;
}

/* Draws a row in proportion to its part: `drawn` has the points that are this row. Where all distances are zero every
 * row is a start already, and drawing begins again. */
static ast_status draw(seeding *s, ast_random *random) {
    uint64_t sums[BUCKETS], total = share_sums(s, sums);
    ast_status status = AST_OK;
    if (total == 0) {
        status = begin_points(s);
        total = share_sums(s, sums);
    }
    if (status != AST_OK)
        return status;
    uint64_t at = ast_random_below(random, total);
    s->bucket = pick(sums, &at);
    status = find_candidates(s);
    if (status == AST_OK)
        narrow(s, at);
    return status;
}

/* ---- k-means++ --------------------------------------------------------------------------------------------------- */

/* Adds the start that is drawn next to the clusters. */
static ast_status add_start(seeding *s, ast_random *random) {
    ast_labelling *l = s->l;
    ast_status status = draw(s, random);
    if (status != AST_OK)
        return status;
    size_t point = s->drawn.count ? s->drawn.list[0].point : SIZE_MAX;
    if (l->windows.count > 1)
        status = ast_labelling_open_window(l, point / l->windows.rows, s->fault);
    if (status == AST_OK)
        status = ast_seed_share_row(l, point, s->mean, s->fault);
    if (status == AST_OK)
        status = ast_windows_save(l, s->fault);
    bool added = status == AST_OK && ast_clusters_add(&l->clusters, s->mean, UINT32_MAX) >= 0;
    return status == AST_OK ? ast_comm_agree(l->ranks.comm, added ? AST_OK : ast_fail_memory(s->fault), s->fault)
                            : status;
}

static ast_status open_seeding(seeding *s, ast_random *random) {
    ast_labelling *l = s->l;
    bool apart = l->windows.count == 1;
    s->scale = (l->rows.weights ? l->clusters.weight_unit : ast_weight_unit_for_total((double)l->everyone)) / FARTHEST;
    s->distance = apart ? ast_allocate(l->rows.count, sizeof *s->distance) : NULL;
    s->hash = apart ? ast_allocate(l->rows.count, sizeof *s->hash) : NULL;
    s->member = apart ? ast_allocate(l->rows.count, sizeof *s->member) : NULL;
    s->mean = ast_allocate(l->rows.dimension, sizeof *s->mean);
    s->workers = ast_allocate_zero((size_t)l->worker_count, sizeof *s->workers);
    s->drawn.most = SIZE_MAX;
    for (int w = 0; s->workers && w < l->worker_count; w++)
        s->workers[w].found.most = SIZE_MAX;
    bool ready = ast_seed_content_open(l, &s->content, ast_random_u64(random)) && s->mean && s->workers &&
                 (!apart || (s->distance && s->hash && s->member));
    return ast_comm_agree(l->ranks.comm, ready ? AST_OK : ast_fail_memory(s->fault), s->fault);
}

static void close_seeding(seeding *s) {
    for (int w = 0; s->workers && w < s->l->worker_count; w++)
        free(s->workers[w].found.list);
    ast_free_all(s->mean, s->distance, s->hash, s->member, s->workers, s->drawn.list);
    ast_content_close(&s->content);
    ast_cell_peaks_close(&s->peaks);
    ast_point_heads_close(&s->heads.points);
}

/* Several windows: labels stand where they belong again. */
static void clear_label(void *data, size_t i, int index) {
    seeding *s = data;
    (void)index;
    s->l->labels[i] = AST_UNLABELLED;
}

ast_status ast_seed_plusplus(ast_labelling *l, size_t clusters, ast_random *random, ast_seed_progress *tell_caller,
                             const void *data, ast_fault *fault) {
    seeding s = {.l = l, .fault = fault};
    ast_status status = open_seeding(&s, random);
    l->windows.plain = true;
    if (status == AST_OK)
        status = begin_points(&s);
    if (status == AST_OK)
        ast_seed_heads_open(&s.heads, l, clusters);
    for (size_t k = 0; status == AST_OK && k < clusters; k++) {
        status = add_start(&s, random);
        if (status != AST_OK || k + 1 == clusters)
            break;
        double began = ast_seconds();
        status = measure_distances(&s);
        if (status == AST_OK)
            status = tell_caller(data, ast_seconds() - began, l->clusters.live, l->everyone, fault);
        status = ast_comm_agree(l->ranks.comm, status, fault);
    }
    if (status == AST_OK && !s.distance)
        status = visit_points(&s, clear_label, true);
    l->windows.plain = false;
    close_seeding(&s);
    return status;
}
