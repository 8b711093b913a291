/* SPDX-License-Identifier: MIT
 *
 * Starts for a fixed number of clusters: k-means++ on 1 - cosine.
 *
 * The part of a point in a draw is weight * distance, where distance is that from the nearest start so far; before the
 * first start all distances are equal. Rows are ordered by their hashes (points/content.h), and a random number below
 * the sum of all parts gives the place of the next start in that order. So the starts depend only on the rows and their
 * weights, not on the order of the rows, on rows of weight 0, or on threads, ranks and windows.
 *
 * Parts are integers, so their sums are exact. There is one sum for each bucket of hashes with the same leading bits.
 * If the distance of a point becomes smaller, the sum of its bucket is reduced. A draw chooses a bucket by these sums,
 * and then searches its points. With several windows there is no memory for hashes and distances: the search reads all
 * points again, and distances are stored in the label array.
 *
 * Two shortcuts save comparisons with a new start and do not change the draws. In many dimensions, the heads of most
 * points show that the start is not nearer (point_heads.h). In three dimensions, a start is compared only with points
 * of cells that it may be nearest to; so the more starts there are, the less time the next one takes. */
#include "seeds.h"

#include "inside.h"

#include "point_heads.h"
#include "seed_rows.h"
#include "memory.h"
#include "weights.h"

#include <math.h>
#include <string.h>

#define BUCKET_BITS 10
#define BUCKETS ((size_t)1 << BUCKET_BITS)
#define STEP_BITS 9 /* of the 54 that are left, in each step within a bucket */
#define STEPS ((size_t)1 << STEP_BITS)

#define FARTHEST 2.0f /* the largest 1 - cosine: the distance before the first start */
#define NEAR 1e-5f    /* copies of a row are nearer than this */

/* Heads are used from so many dimensions and starts on. */
enum { AXES = 128, LEAST_DIMENSION = 256, LEAST_STARTS = 256, SAMPLE = 1024 };

typedef struct seeding {
    ast_seed_search search;
    double scale;              /* of parts: the sum of all parts does not overflow */
    float *mean;               /* (D) the last start */
    uint64_t start;            /* its hash */
    float *distance;           /* (count) 1 - cosine to the nearest start so far; NULL: several windows */
    uint64_t *hash;            /* (count) NULL: several windows */
    uint32_t *member;          /* (count) the points, bucket by bucket; NULL: several windows */
    size_t first[BUCKETS + 1]; /* where a bucket starts in `member` */
    int64_t sum[BUCKETS];      /* of the parts of this rank's points */
    int64_t *lost;             /* (threads, BUCKETS) to be subtracted from `sum` */
    size_t bucket;             /* the bucket that was drawn */
    ast_status status;         /* of opening windows */
    ast_cell_maxima maxima;    /* the largest distance of each cell; closed: every point is compared */
    ast_point_heads heads;     /* closed: points are compared in full */
    float start_head[AXES], start_tail;
} seeding;

/* ---- Points ------------------------------------------------------------------------------------------------------ */

/* Distances in the label array: their bits are not negative, unlike labels of points without a distance. */
static float distance_of(const seeding *s, size_t i) {
    int32_t bits = s->search.l->labels[i];
    float distance = FARTHEST;
    if (!s->distance && bits >= 0)
        memcpy(&distance, &bits, sizeof bits);
    return s->distance ? s->distance[i] : distance;
}

static void set_distance(seeding *s, size_t i, float distance) {
    if (s->distance)
        s->distance[i] = distance;
    else
        memcpy(&s->search.l->labels[i], &distance, sizeof distance);
}

static int64_t part_at(const seeding *s, size_t i, float distance) {
    const double *weights = s->search.l->rows.weights;
    return (int64_t)((weights ? weights[i] : 1) * (double)distance * s->scale);
}

static uint64_t hash_of(const seeding *s, size_t i, int index) {
    return s->hash ? s->hash[i] : ast_seed_hash(&s->search, i, index);
}

static size_t bucket_of(uint64_t hash) {
    return hash >> (64 - BUCKET_BITS);
}

/* At least the cosine of point i and the last start; axial: its magnitude. */
static float upper_bound(const seeding *s, size_t i) {
    const ast_rowset *rows = &s->search.l->rows;
    float product = rows->kernels->dot(s->heads.rows + i * AXES, s->start_head, AXES);
    return (rows->axial ? fabsf(product) : product) + s->heads.tails[i] * s->start_tail + s->heads.slack;
}

/* Compares a point with the last start. The start and its copies get distance 0, whatever the rounding error. */
static void lower_distance(void *data, size_t i, int index) {
    seeding *s = data;
    ast_labelling *l = s->search.l;
    float before = distance_of(s, i);
    if (s->heads.rows && upper_bound(s, i) < 1 - before - 0x1p-22f)
        return;
    double cosine = ast_rows_in_order_dot(&l->rows, &l->workers[index].chunk.rows, i, s->mean);
    float away = (float)fmax(0, 1 - (l->rows.axial ? fabs(cosine) : cosine));
    if (away < NEAR && before > 0 && hash_of(s, i, index) == s->start)
        away = 0;
    if (away >= before)
        return;
    s->lost[(size_t)index * BUCKETS + bucket_of(hash_of(s, i, index))] += part_at(s, i, before) - part_at(s, i, away);
    set_distance(s, i, away);
}

/* Calls the task for every point, unless something failed before; `save`: the task sets distances. */
static ast_status visit_points(seeding *s, ast_seed_task *task, bool save) {
    if (s->status == AST_OK)
        s->status = ast_seed_visit(s->search.l, task, s, save, s->search.fault);
    return s->status;
}

static void subtract_lost(seeding *s) {
    for (size_t j = 0; j < (size_t)s->search.l->worker_count * BUCKETS; j++) {
        s->sum[j % BUCKETS] -= s->lost[j];
        s->lost[j] = 0;
    }
}

/* ---- Before the first start -------------------------------------------------------------------------------------- */

static void begin_point(void *data, size_t i, int index) {
    seeding *s = data;
    uint64_t hash = ast_seed_hash(&s->search, i, index);
    if (s->hash)
        s->hash[i] = hash;
    set_distance(s, i, FARTHEST);
    s->lost[(size_t)index * BUCKETS + bucket_of(hash)] -= part_at(s, i, FARTHEST);
}

static void list_members(seeding *s) {
    const ast_labelling *l = s->search.l;
    memset(s->first, 0, sizeof s->first);
    for (size_t i = 0; i < l->rows.count; i++)
        if (l->labels[i] != AST_MISSING)
            s->first[bucket_of(s->hash[i])]++;
    for (size_t b = 1; b <= BUCKETS; b++)
        s->first[b] += s->first[b - 1];
    for (size_t i = l->rows.count; i-- > 0;) /* first[b] goes from the end of bucket b to its start */
        if (l->labels[i] != AST_MISSING)
            s->member[--s->first[bucket_of(s->hash[i])]] = (uint32_t)i;
}

static ast_status begin_points(seeding *s) {
    memset(s->sum, 0, sizeof s->sum);
    ast_cell_maxima_close(&s->maxima);
    ast_status status = visit_points(s, begin_point, true);
    subtract_lost(s);
    if (status == AST_OK && s->member)
        list_members(s);
    return ast_comm_agree(s->search.l->ranks.comm, status, s->search.fault);
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

/* With fewer starts, each is near a large part of the points. */
#define FEW_STARTS 64

static bool wants_cells(const seeding *s, size_t starts) {
    const ast_labelling *l = s->search.l;
    return l->rows.small && l->rows.dimension == 3 && !l->rows.axial && ast_is_resident(l) && l->scorer.bounds.on &&
           starts >= (l->cells_from < FEW_STARTS ? l->cells_from : FEW_STARTS);
}

static float lower_in_cell(void *data, size_t i) {
    seeding *s = data;
    lower_distance(s, i, 0);
    return s->distance[i];
}

/* Compares every point with the last start. */
static ast_status measure_distances(seeding *s) {
    ast_labelling *l = s->search.l;
    if (!s->maxima.largest && wants_cells(s, l->clusters.live) &&
        !(ast_cells_load(&l->cells, &l->scorer, l->pool) && ast_cell_maxima_open(&s->maxima, l->cells)))
        return ast_fail_memory(s->search.fault);
    if (s->heads.rows)
        s->start_tail = ast_point_heads_of(&s->heads, l->rows.kernels, s->mean, s->start_head);
    if (s->maxima.largest)
        ast_cell_maxima_lower(&s->maxima, s->mean, lower_in_cell, s);
    else
        visit_points(s, lower_distance, true);
    subtract_lost(s);
    if (s->status == AST_OK && ast_pool_poll(l->pool))
        s->status = ast_fail_cancelled(s->search.fault);
    return s->status;
}

/* ---- A draw ------------------------------------------------------------------------------------------------------ */

static void find_candidate(void *data, size_t i, int index) {
    seeding *s = data;
    float distance = distance_of(s, i);
    uint64_t hash = distance > 0 ? hash_of(s, i, index) : 0;
    int64_t part = part_at(s, i, distance);
    if (part > 0 && bucket_of(hash) == s->bucket)
        ast_seed_found(&s->search, i, hash, (uint64_t)part, index);
}

/* Lists the points of the bucket that was drawn. */
static ast_status find_candidates(seeding *s) {
    if (s->member)
        for (size_t m = s->first[s->bucket]; m < s->first[s->bucket + 1]; m++)
            find_candidate(s, s->member[m], 0);
    else
        visit_points(s, find_candidate, false);
    return s->status = ast_seed_merge_found(&s->search, s->status);
}

/* The first index at which the running total of the sums exceeds *at; *at becomes its place within that sum. */
static size_t pick(const uint64_t *sums, uint64_t *at) {
    size_t chosen = 0;
    while (*at >= sums[chosen])
        *at -= sums[chosen++];
    return chosen;
}

/* Chooses the hash at place `at` of the bucket, some bits at a time, and keeps only the candidates with that hash. */
static void narrow(seeding *s, uint64_t at) {
    ast_seed_rows *c = &s->search.candidates;
    uint64_t sums[STEPS];
    s->start = s->bucket;
    for (int shift = 64 - BUCKET_BITS - STEP_BITS; shift >= 0; shift -= STEP_BITS) {
        size_t left = 0;
        memset(sums, 0, sizeof sums);
        for (size_t j = 0; j < c->count; j++)
            sums[c->list[j].hash >> shift & (STEPS - 1)] += c->list[j].part;
        ast_comm_allreduce(s->search.l->ranks.comm, sums, STEPS);
        s->start = s->start << STEP_BITS | pick(sums, &at);
        for (size_t j = 0; j < c->count; j++)
            if (c->list[j].hash >> shift == s->start)
                c->list[left++] = c->list[j];
        c->count = left;
    }
}

/* Adds up the sums of all ranks; returns their total. */
static uint64_t share_sums(const seeding *s, uint64_t *sums) {
    uint64_t total = 0;
    memcpy(sums, s->sum, sizeof s->sum);
    ast_comm_allreduce(s->search.l->ranks.comm, sums, BUCKETS);
    for (size_t b = 0; b < BUCKETS; b++)
        total += sums[b];
    return total;
}

/* Draws a row with a probability in proportion to its part; `candidates` are then its copies. If all distances are
 * zero, every row is a start already, and all distances are reset. */
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

/* Draws the next start and adds it to the clusters. */
static ast_status add_start(seeding *s, ast_random *random) {
    ast_labelling *l = s->search.l;
    ast_status status = draw(s, random);
    if (status != AST_OK)
        return status;
    size_t point = s->search.candidates.count ? s->search.candidates.list[0].point : SIZE_MAX;
    if (l->windows.count > 1)
        status = ast_labelling_open_window(l, point / l->windows.rows, s->search.fault);
    if (status == AST_OK)
        status = ast_seed_share_row(l, point, s->mean, s->search.fault);
    if (status == AST_OK)
        status = ast_windows_save(l, s->search.fault);
    bool added = status == AST_OK && ast_clusters_add(&l->clusters, s->mean, UINT32_MAX) >= 0;
    return status == AST_OK
               ? ast_comm_agree(l->ranks.comm, added ? AST_OK : ast_fail_memory(s->search.fault), s->search.fault)
               : status;
}

static ast_status open_seeding(seeding *s, ast_random *random) {
    ast_labelling *l = s->search.l;
    size_t threads = (size_t)l->worker_count;
    s->scale = (l->rows.weights ? l->clusters.weight_unit : ast_weight_unit_for_total((double)l->everyone)) / FARTHEST;
    ast_status status = ast_seed_search_open(&s->search, SIZE_MAX, random);
    s->mean = ast_allocate(l->rows.dimension, sizeof *s->mean);
    s->lost = ast_allocate_zero(threads * BUCKETS, sizeof *s->lost);
    bool ready = s->mean && s->lost;
    if (l->windows.count == 1)
        ready = ast_replace_arrays(AST_REQUEST(s->distance, l->rows.count), AST_REQUEST(s->hash, l->rows.count),
                                   AST_REQUEST(s->member, l->rows.count)) &&
                ready;
    return ast_comm_agree(l->ranks.comm, ready ? status : ast_fail_memory(s->search.fault), s->search.fault);
}

/* Opens the heads of all points, along the axes of a sample of the points, if that pays for so many starts. */
static void open_heads(seeding *s, size_t starts) {
    ast_labelling *l = s->search.l;
    size_t dimension = l->rows.dimension, step = l->rows.count / SAMPLE + 1, taken = 0;
    bool enough = dimension >= LEAST_DIMENSION && starts >= LEAST_STARTS && l->rows.count > 4 * SAMPLE;
    if (!ast_point_heads_pay(l, enough))
        return;
    float *sample = ast_allocate(SAMPLE * dimension, sizeof *sample);
    const float **rows = ast_allocate(SAMPLE, sizeof *rows);
    for (size_t i = 0; sample && rows && i < l->rows.count && taken < SAMPLE; i += step) {
        if (l->labels[i] == AST_MISSING)
            continue;
        const float *row = ast_rows_at(&l->rows, &l->workers[0].chunk.rows, i);
        rows[taken] = memcpy(sample + taken * dimension, row, dimension * sizeof *sample);
        taken++;
    }
    if (taken > 0)
        ast_point_heads_open(&s->heads, l, rows, taken, AXES);
    ast_free_all(sample, rows);
}

/* Several windows: the label array holds labels again. */
static void clear_label(void *data, size_t i, int index) {
    seeding *s = data;
    (void)index;
    s->search.l->labels[i] = AST_UNLABELLED;
}

ast_status ast_seed_plusplus(ast_labelling *l, size_t clusters, ast_random *random, ast_seed_progress *tell_caller,
                             const void *data, ast_fault *fault) {
    seeding s = {.search = {.l = l, .fault = fault}};
    ast_status status = open_seeding(&s, random);
    l->windows.plain = true;
    if (status == AST_OK)
        status = begin_points(&s);
    if (status == AST_OK)
        open_heads(&s, clusters);
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
    ast_seed_search_close(&s.search);
    ast_free_all(s.mean, s.distance, s.hash, s.member, s.lost);
    ast_cell_maxima_close(&s.maxima);
    ast_point_heads_close(&s.heads);
    return status;
}
