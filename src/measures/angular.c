/* SPDX-License-Identifier: MIT
 *
 * The mean silhouette with the angle as dissimilarity, between directions or between axes: O(N^2 D), so a seeded sample
 * of larger sets. For axes also with 1 - (x.y)^2, where their second moments would be too many numbers.
 *
 * The one idea: the sample is sorted by cluster and transposed in groups of LANES rows, so that a point meets a group
 * at once, and nearly every group belongs to one cluster, to whose sum it adds one number. */
#include "angular.h"

#include "lanes.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK 8 /* points of one task: they meet a group while it is in the cache */

/* Angles up to this may be nothing but rounding: the arc cosine of 1 - 2^-52 is 2e-8. */
#define NO_ANGLE 0x1p-24

typedef struct sweep {
    ast_dissimilarity dissimilarity;
    size_t count, groups, dimension;
    size_t clusters;  /* that the sample met */
    size_t first;     /* several ranks: the first block of this one's share */
    uint32_t *chosen; /* (count) rows of the input, sorted by cluster */
    int32_t *own;     /* (count) 0..clusters-1 */
    size_t *sizes;    /* (clusters) */
    double *packed;   /* (groups, D, LANES) unit vectors; zeros beyond the last */
    double *sums;     /* (threads, BLOCK, clusters) of dissimilarities */
    double *vectors;  /* (threads, BLOCK, D) */
    double *partial;  /* (blocks) sums of silhouettes */
} sweep;

static bool allocate(sweep *work, const ast_partition *partition);
static bool allocate_scratch(sweep *work, size_t threads);
static void release(sweep *work);
static bool choose(sweep *work, const ast_partition *partition, size_t rows, uint64_t seed);
static bool pack(sweep *work, const ast_rows *rows);
static double add_up(sweep *work, ast_pool *pool, const ast_comm *comm);
static void score_block(void *data, size_t index, int worker);

static ast_status measure(ast_fault *fault, ast_pool *pool, const ast_rows *rows, const ast_partition *partition,
                          ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled);

/* Several ranks: each of them gets the whole sample, and meets its share of the pairs. */
ast_status ast_pair_silhouette(ast_fault *fault, ast_pool *pool, const ast_rows *rows, const ast_partition *partition,
                               ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled) {
    if (!ast_comm_many(rows->comm))
        return measure(fault, pool, rows, partition, dissimilarity, seed, silhouette, sampled);
    ast_gathered sample;
    ast_status status = ast_gather_sample(fault, rows, partition, seed, &sample);
    if (status == AST_OK)
        status = measure(fault, pool, &sample.rows, &sample.partition, dissimilarity, seed, silhouette, sampled);
    ast_gathered_free(&sample);
    return status;
}

static ast_status measure(ast_fault *fault, ast_pool *pool, const ast_rows *rows, const ast_partition *partition,
                          ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled) {
    size_t count = partition->points < AST_SILHOUETTE_SAMPLE ? partition->points : AST_SILHOUETTE_SAMPLE;
    sweep work = {.dissimilarity = dissimilarity,
                  .count = count,
                  .groups = (count + LANES - 1) / LANES,
                  .dimension = rows->dimension};
    ast_status status = AST_OK;
    bool ready = allocate(&work, partition) && choose(&work, partition, rows->count, seed) && pack(&work, rows) &&
                 allocate_scratch(&work, (size_t)ast_pool_threads(pool));
    if (ast_comm_lowest(rows->comm, !ready) >= 0) {
        status = ast_fail_memory(fault);
    } else if (work.clusters < 2) {
        status = ast_fail(fault, AST_BAD_DATA,
                          "all of the %zu sampled points are in one cluster: take another seed, or the cosine", count);
    } else {
        *silhouette = add_up(&work, pool, rows->comm) / (double)count;
        *sampled = count;
    }
    release(&work);
    return status;
}

/* Doubles that one rank knows, and the others have as 0, are added up as integers: exact. */
static double add_up(sweep *work, ast_pool *pool, const ast_comm *comm) {
    size_t blocks = (work->count + BLOCK - 1) / BLOCK, rank = (size_t)ast_comm_rank(comm);
    size_t size = (size_t)ast_comm_size(comm), end = blocks * (rank + 1) / size;
    double total = 0;
    work->first = blocks * rank / size;
    ast_pool_try(pool, end - work->first, score_block, work);
    ast_comm_sum(comm, (uint64_t *)(void *)work->partial, blocks);
    for (size_t block = 0; block < blocks; block++)
        total += work->partial[block];
    return total;
}

/* calloc for the groups matters: the lanes beyond the last row stay zero, a right angle from everything. */
static bool allocate(sweep *work, const ast_partition *partition) {
    size_t most = partition->clusters < work->count ? partition->clusters : work->count;
    work->chosen = calloc(work->count, sizeof *work->chosen);
    work->own = malloc(work->count * sizeof *work->own);
    work->sizes = calloc(most, sizeof *work->sizes);
    work->packed = calloc(work->groups * LANES, work->dimension * sizeof *work->packed);
    work->partial = calloc((work->count + BLOCK - 1) / BLOCK, sizeof *work->partial);
    return work->chosen && work->own && work->sizes && work->packed && work->partial;
}

static bool allocate_scratch(sweep *work, size_t threads) {
    work->sums = malloc(threads * BLOCK * work->clusters * sizeof *work->sums);
    work->vectors = malloc(threads * BLOCK * work->dimension * sizeof *work->vectors);
    return work->sums && work->vectors;
}

static void release(sweep *work) {
    free(work->chosen);
    free(work->own);
    free(work->sizes);
    free(work->packed);
    free(work->sums);
    free(work->vectors);
    free(work->partial);
}

/* ---- The sample ------------------------------------------------------------------------------------------------ */

void ast_selection_open(ast_selection *s, const ast_partition *partition, uint64_t seed) {
    *s = (ast_selection){.left = partition->points};
    s->wanted = partition->points < AST_SILHOUETTE_SAMPLE ? partition->points : AST_SILHOUETTE_SAMPLE;
    ast_random_seed(&s->random, seed, 0);
}

size_t ast_select_rows(ast_selection *s, const int32_t *cluster, size_t rows, uint32_t *chosen) {
    size_t taken = 0;
    for (size_t i = 0; i < rows && s->wanted > 0; i++)
        if (cluster[i] >= 0 && ast_random_below(&s->random, s->left--) < s->wanted) {
            chosen[taken++] = (uint32_t)i;
            s->wanted--;
        }
    return taken;
}

/* Selects, sorts by cluster (counting sort) and numbers the clusters that were met. */
static bool choose(sweep *work, const ast_partition *partition, size_t rows, uint64_t seed) {
    uint32_t *selected = calloc(work->count, sizeof *selected);
    size_t *ends = calloc(partition->clusters + 1, sizeof *ends);
    bool ready = selected && ends;
    if (ready) {
        ast_selection selection;
        ast_selection_open(&selection, partition, seed);
        ast_select_rows(&selection, partition->cluster, rows, selected);
        for (size_t i = 0; i < work->count; i++)
            ends[partition->cluster[selected[i]] + 1]++;
        for (size_t k = 0; k < partition->clusters; k++)
            ends[k + 1] += ends[k];
        for (size_t i = 0; i < work->count; i++)
            work->chosen[ends[partition->cluster[selected[i]]]++] = selected[i];
        for (size_t i = 0; i < work->count; i++) {
            if (i == 0 || partition->cluster[work->chosen[i]] != partition->cluster[work->chosen[i - 1]])
                work->clusters++;
            work->own[i] = (int32_t)work->clusters - 1;
            work->sizes[work->own[i]]++;
        }
    }
    free(selected);
    free(ends);
    return ready;
}

static bool pack(sweep *work, const ast_rows *rows) {
    float *row = malloc(work->dimension * sizeof *row);
    for (size_t i = 0; row && i < work->count; i++) {
        rows->read(rows->data, work->chosen[i], 1, row);
        double square = 0;
        for (size_t d = 0; d < work->dimension; d++)
            square += (double)row[d] * row[d];
        double *group = work->packed + i / LANES * LANES * work->dimension + i % LANES;
        for (size_t d = 0; d < work->dimension; d++)
            group[d * LANES] = row[d] / sqrt(square);
    }
    free(row);
    return row != NULL;
}

/* ---- Angles ---------------------------------------------------------------------------------------------------- */

/* Arc cosines: 2 asin(sqrt(h)) with h = (1 - |c|) / 2, mirrored for c < 0. asin(sqrt(h)) / sqrt(h) is a polynomial on
 * 0..1/2, the Chebyshev fit of degree 10, good to 6.5e-11: less than what rounding the points to float does. */
static inline void arc_cosines(double *values) {
    static const double c[] = {0.168327667790645106,   -0.274530531552789017, 0.244573734056915854,
                               -0.0956791179102952054, 0.0491727470198938957, 0.0165863058744029523,
                               0.0310269556868699174,  0.0446014208836035629, 0.0750013519241522628,
                               0.166666649606127169,   1.00000000003531527};
    double h[LANES] __attribute__((aligned(16))), series[LANES] __attribute__((aligned(16)));
    for (int lane = 0; lane < LANES; lane++) {
        double near = 0.5 - 0.5 * fabs(values[lane]);
        h[lane] = near > 0 ? near : 0;
    }
    const lane_pair *x = (const lane_pair *)h;
    lane_pair *y = (lane_pair *)series, p = x[0] * c[0], q = x[1] * c[0], r = x[2] * c[0], s = x[3] * c[0];
    for (size_t j = 1; j < sizeof c / sizeof *c - 1; j++) { /* four chains: one alone would wait for itself */
        p = (p + c[j]) * x[0];
        q = (q + c[j]) * x[1];
        r = (r + c[j]) * x[2];
        s = (s + c[j]) * x[3];
    }
    y[0] = p + c[10];
    y[1] = q + c[10];
    y[2] = r + c[10];
    y[3] = s + c[10];
    for (int lane = 0; lane < LANES; lane++)
        h[lane] = sqrt(h[lane]);
    for (int lane = 0; lane < LANES; lane++) /* mirrored without a branch to guess */
        values[lane] = M_PI_2 - copysign(M_PI_2 - 2 * h[lane] * series[lane], values[lane]);
}

/* From dot products to dissimilarities. */
static inline void take_apart(ast_dissimilarity dissimilarity, double *values) {
    if (dissimilarity == AST_AXIAL_COSINE) {
        for (int lane = 0; lane < LANES; lane++)
            values[lane] = 1 - values[lane] * values[lane];
        return;
    }
    for (int lane = 0; lane < LANES && dissimilarity == AST_AXIAL_ANGLE; lane++)
        values[lane] = fabs(values[lane]);
    arc_cosines(values);
}

/* Adds what is between point i and the rows of a group to its clusters' sums, the one to itself left out. */
static inline void meet_group(const sweep *work, const double *x, size_t i, size_t group, size_t dimension,
                              double *sums) {
    double v[LANES] __attribute__((aligned(16)));
    lanes_dot(work->packed + group * LANES * dimension, x, dimension, v);
    take_apart(work->dissimilarity, v);
    if (i / LANES == group)
        v[i % LANES] = 0;
    size_t first = group * LANES, end = first + LANES;
    if (end <= work->count && work->own[first] == work->own[end - 1])
        sums[work->own[first]] += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    else
        for (size_t j = first; j < end && j < work->count; j++)
            sums[work->own[j]] += v[j - first];
}

static double silhouette_of(const sweep *work, size_t i, const double *sums) {
    size_t own = (size_t)work->own[i];
    if (work->sizes[own] == 1)
        return 0;
    double a = sums[own] / (double)(work->sizes[own] - 1), b = INFINITY;
    for (size_t k = 0; k < work->clusters; k++)
        if (k != own)
            b = fmin(b, sums[k] / (double)work->sizes[k]);
    return ast_silhouette_value(a, b, work->dissimilarity == AST_AXIAL_COSINE ? AST_NO_DISSIMILARITY : NO_ANGLE);
}

static void score_block(void *data, size_t index, int worker) {
    const sweep *work = data;
    size_t block = work->first + index, first = block * BLOCK, dimension = work->dimension;
    size_t some = work->count - first < BLOCK ? work->count - first : BLOCK;
    double *sums = work->sums + (size_t)worker * BLOCK * work->clusters, total = 0;
    double *x = work->vectors + (size_t)worker * BLOCK * dimension;
    for (size_t i = 0; i < some * work->clusters; i++)
        sums[i] = 0;
    for (size_t i = 0; i < some; i++)
        for (size_t d = 0; d < dimension; d++)
            x[i * dimension + d] = work->packed[((first + i) / LANES * dimension + d) * LANES + (first + i) % LANES];
    for (size_t group = 0; group < work->groups; group++)
        for (size_t i = 0; i < some; i++)
            if (work->sizes[work->own[first + i]] > 1) /* a point alone in its cluster counts 0 unseen */
                meet_group(work, x + i * dimension, first + i, group, dimension, sums + i * work->clusters);
    for (size_t i = 0; i < some; i++)
        total += silhouette_of(work, first + i, sums + i * work->clusters);
    work->partial[block] = total;
}
