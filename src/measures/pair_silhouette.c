/* SPDX-License-Identifier: MIT
 *
 * The mean silhouette from the dissimilarities of all pairs of points: the angle, the angle between axes, or
 * 1 - (x.y)^2 for axial clusters with too many second moments to store. Pairs cost O(N^2 D), so large sets are sampled.
 *
 * The main idea: the sample is sorted by cluster and stored transposed, in groups of AST_LANES rows. A point is
 * compared with a whole group at once, and nearly every group belongs to one cluster, to whose sum it adds one number.
 */
#include "measures.h"

#include "memory.h"
#include "partition.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>

#define BLOCK 8 /* points per task: they share a group while it is in the cache */

/* Angles up to this may be rounding only: the arc cosine of 1 - 2^-52 is 2e-8. */
#define NO_ANGLE 0x1p-24

#define PAIRS (AST_LANES / 2)
typedef double lane_pair __attribute__((vector_size(16))); /* every 64-bit processor has registers of this size */

typedef struct sweep {
    ast_dissimilarity dissimilarity;
    size_t count, groups, dimension;
    size_t clusters;  /* clusters with points in the sample */
    size_t first;     /* the first block that this rank computes */
    float *rows;      /* (count, D) the sample */
    int32_t *cluster; /* (count) their clusters in the partition */
    uint32_t *order;  /* (count) the sample sorted by cluster */
    int32_t *own;     /* (count) 0..clusters-1, in that order */
    size_t *sizes;    /* (clusters) */
    double *packed;   /* (groups, D, AST_LANES) unit vectors; zeros after the last */
    double *sums;     /* (threads, BLOCK, clusters) of dissimilarities */
    double *vectors;  /* (threads, BLOCK, D) */
    double *partial;  /* (blocks) sums of silhouettes */
} sweep;

static bool allocate(sweep *work, const ast_partition *partition);
static void gather_sample(sweep *work, const ast_measured *given, const ast_partition *partition, uint64_t seed);
static bool sort_sample(sweep *work, const ast_partition *partition, size_t threads);
static void pack(sweep *work);
static double add_up(sweep *work, ast_pool *pool, const ast_comm *comm);
static void score_block(void *data, size_t index, int worker);

/* With multiple ranks, each rank gets the whole sample and computes its share of the pairs. */
ast_status ast_pair_silhouette(ast_fault *fault, ast_pool *pool, const ast_measured *given,
                               const ast_partition *partition, ast_dissimilarity dissimilarity, uint64_t seed,
                               double *silhouette, size_t *sampled) {
    size_t count = partition->points < AST_SILHOUETTE_SAMPLE ? partition->points : AST_SILHOUETTE_SAMPLE;
    sweep work = {.dissimilarity = dissimilarity,
                  .count = count,
                  .groups = (count + AST_LANES - 1) / AST_LANES,
                  .dimension = given->rows->dimension};
    ast_status status = AST_OK;
    bool ready = ast_comm_first_rank(given->comm, !allocate(&work, partition)) < 0;
    if (ready) {
        gather_sample(&work, given, partition, seed);
        ready = ast_comm_first_rank(given->comm, !sort_sample(&work, partition, (size_t)ast_pool_threads(pool))) < 0;
    }
    if (!ready) {
        status = ast_fail_memory(fault);
    } else if (work.clusters < 2) {
        status = ast_fail(fault, AST_BAD_DATA,
                          "all %zu sampled points are in one cluster; use another seed, or the cosine", count);
    } else {
        pack(&work);
        *silhouette = add_up(&work, pool, given->comm) / (double)count;
        *sampled = count;
    }
    ast_free_all(work.rows, work.cluster, work.order, work.own, work.sizes, work.packed, work.sums, work.vectors,
                 work.partial);
    return status;
}

/* A double that one rank computed, and that is 0 on the others, can be added as an integer: the sum is exact. */
static double add_up(sweep *work, ast_pool *pool, const ast_comm *comm) {
    size_t blocks = (work->count + BLOCK - 1) / BLOCK, rank = (size_t)ast_comm_rank(comm);
    size_t size = (size_t)ast_comm_size(comm), end = blocks * (rank + 1) / size;
    double total = 0;
    work->first = blocks * rank / size;
    ast_pool_run_cancellable(pool, end - work->first, score_block, work);
    ast_comm_allreduce(comm, (uint64_t *)(void *)work->partial, blocks);
    for (size_t block = 0; block < blocks; block++)
        total += work->partial[block];
    return total;
}

/* `packed` must be zeroed: the lanes after the last row stay zero, orthogonal to every point. */
static bool allocate(sweep *work, const ast_partition *partition) {
    size_t most = partition->clusters < work->count ? partition->clusters : work->count;
    work->sizes = ast_allocate_zero(most, sizeof *work->sizes);
    work->packed = ast_allocate_zero(work->groups * AST_LANES, work->dimension * sizeof *work->packed);
    work->partial = ast_allocate_zero((work->count + BLOCK - 1) / BLOCK, sizeof *work->partial);
    return work->sizes && work->packed && work->partial &&
           ast_replace_arrays(AST_REQUEST(work->rows, work->count * work->dimension),
                              AST_REQUEST(work->cluster, work->count), AST_REQUEST(work->order, work->count),
                              AST_REQUEST(work->own, work->count));
}

/* ---- The sample ------------------------------------------------------------------------------------------------ */

/* Selection sampling (Knuth 3.4.2, algorithm S): every subset of the wanted size is equally likely. */
typedef struct selection {
    ast_random random;
    size_t left, wanted; /* labelled rows to come, and how many of them to take */
} selection;

static void select_rows(sweep *work, const ast_rowset *rows, const int32_t *cluster, selection *s) {
    for (size_t i = 0; i < rows->count && s->wanted > 0; i++)
        if (cluster[i] >= 0 && ast_random_below(&s->random, s->left--) < s->wanted) {
            size_t at = work->count - s->wanted--;
            ast_rowset_copy(rows, i, 1, work->rows + at * work->dimension);
            work->cluster[at] = cluster[i];
        }
}

/* Draws the sample that one process would draw: ranks select in turn, each continues where the one before stopped and
 * sends its rows to all others. */
static void gather_sample(sweep *work, const ast_measured *given, const ast_partition *partition, uint64_t seed) {
    selection s = {.left = partition->points, .wanted = work->count};
    ast_random_seed(&s.random, seed, 0);
    for (int sender = 0; sender < ast_comm_size(given->comm); sender++) {
        size_t at = work->count - s.wanted, dimension = work->dimension;
        if (sender == ast_comm_rank(given->comm))
            select_rows(work, given->rows, partition->cluster, &s);
        ast_comm_broadcast(given->comm, &s, sizeof s, sender);
        size_t taken = work->count - s.wanted - at;
        ast_comm_broadcast(given->comm, work->rows + at * dimension, taken * dimension * sizeof *work->rows, sender);
        ast_comm_broadcast(given->comm, work->cluster + at, taken * sizeof *work->cluster, sender);
    }
}

/* Sorts by cluster (counting sort), numbers the clusters in the sample, and allocates the memory that depends on their
 * number. */
static bool sort_sample(sweep *work, const ast_partition *partition, size_t threads) {
    size_t *ends = ast_allocate_zero(partition->clusters + 1, sizeof *ends);
    if (!ends)
        return false;
    for (size_t i = 0; i < work->count; i++)
        ends[work->cluster[i] + 1]++;
    for (size_t k = 0; k < partition->clusters; k++)
        ends[k + 1] += ends[k];
    for (size_t i = 0; i < work->count; i++)
        work->order[ends[work->cluster[i]]++] = (uint32_t)i;
    ast_free(ends);
    for (size_t i = 0; i < work->count; i++) {
        if (i == 0 || work->cluster[work->order[i]] != work->cluster[work->order[i - 1]])
            work->clusters++;
        work->own[i] = (int32_t)work->clusters - 1;
        work->sizes[work->own[i]]++;
    }
    return ast_replace_arrays(AST_REQUEST(work->sums, threads * BLOCK * work->clusters),
                              AST_REQUEST(work->vectors, threads * BLOCK * work->dimension));
}

static void pack(sweep *work) {
    for (size_t i = 0; i < work->count; i++) {
        const float *row = work->rows + work->order[i] * work->dimension;
        double square = 0;
        for (size_t d = 0; d < work->dimension; d++)
            square += (double)row[d] * row[d];
        double *group = work->packed + i / AST_LANES * AST_LANES * work->dimension + i % AST_LANES;
        for (size_t d = 0; d < work->dimension; d++)
            group[d * AST_LANES] = row[d] / sqrt(square);
    }
}

/* ---- Dissimilarities ------------------------------------------------------------------------------------------- */

/* The dot products of one vector with the points of a group, components in order. */
static inline void dot_group(const double *group, const double *vector, size_t dimension, double *dots) {
    const lane_pair *x = __builtin_assume_aligned(group, 16);
    lane_pair *out = __builtin_assume_aligned(dots, 16), sum[PAIRS];
    for (int p = 0; p < PAIRS; p++)
        sum[p] = x[p] * vector[0];
    for (size_t d = 1; d < dimension; d++)
        for (int p = 0; p < PAIRS; p++)
            sum[p] += x[d * PAIRS + (size_t)p] * vector[d];
    for (int p = 0; p < PAIRS; p++)
        out[p] = sum[p];
}

/* Arc cosines: 2 asin(sqrt(h)) with h = (1 - |c|) / 2, mirrored for c < 0. asin(sqrt(h)) / sqrt(h) is a polynomial on
 * 0..1/2, the Chebyshev fit of degree 10, with an error below 6.5e-11: less than the rounding of the points to float.
 */
static inline void arc_cosines(double *values) {
    static const double c[] = {0.168327667790645106,   -0.274530531552789017, 0.244573734056915854,
                               -0.0956791179102952054, 0.0491727470198938957, 0.0165863058744029523,
                               0.0310269556868699174,  0.0446014208836035629, 0.0750013519241522628,
                               0.166666649606127169,   1.00000000003531527};
    double h[AST_LANES] __attribute__((aligned(16))), series[AST_LANES] __attribute__((aligned(16)));
    for (int lane = 0; lane < AST_LANES; lane++) {
        double near = 0.5 - 0.5 * fabs(values[lane]);
        h[lane] = near > 0 ? near : 0;
    }
    const lane_pair *x = (const lane_pair *)h;
    lane_pair *y = (lane_pair *)series, sum[PAIRS];
    for (int p = 0; p < PAIRS; p++)
        sum[p] = x[p] * c[0];
    for (size_t j = 1; j < sizeof c / sizeof *c - 1; j++)
        for (int p = 0; p < PAIRS; p++)
            sum[p] = (sum[p] + c[j]) * x[p];
    for (int p = 0; p < PAIRS; p++)
        y[p] = sum[p] + c[10];
    for (int lane = 0; lane < AST_LANES; lane++)
        h[lane] = sqrt(h[lane]);
    for (int lane = 0; lane < AST_LANES; lane++) /* mirrored without a branch */
        values[lane] = M_PI_2 - copysign(M_PI_2 - 2 * h[lane] * series[lane], values[lane]);
}

/* From dot products to dissimilarities. */
static inline void to_dissimilarities(ast_dissimilarity dissimilarity, double *values) {
    if (dissimilarity == AST_AXIAL_COSINE) {
        for (int lane = 0; lane < AST_LANES; lane++)
            values[lane] = 1 - values[lane] * values[lane];
        return;
    }
    for (int lane = 0; lane < AST_LANES && dissimilarity == AST_AXIAL_ANGLE; lane++)
        values[lane] = fabs(values[lane]);
    arc_cosines(values);
}

/* Adds the dissimilarities between point i and the rows of a group to the sums of their clusters, except to itself. */
static inline void add_group(const sweep *work, const double *x, size_t i, size_t group, size_t dimension,
                             double *sums) {
    double v[AST_LANES] __attribute__((aligned(16)));
    dot_group(work->packed + group * AST_LANES * dimension, x, dimension, v);
    to_dissimilarities(work->dissimilarity, v);
    if (i / AST_LANES == group)
        v[i % AST_LANES] = 0;
    size_t first = group * AST_LANES, end = first + AST_LANES;
    if (end <= work->count && work->own[first] == work->own[end - 1])
        sums[work->own[first]] += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    else
        for (size_t j = first; j < end && j < work->count; j++)
            sums[work->own[j]] += v[j - first];
}

/* (b - a) / max(a, b); 0 if both may be rounding only. */
static double silhouette_of(const sweep *work, size_t i, const double *sums) {
    size_t own = (size_t)work->own[i];
    if (work->sizes[own] == 1)
        return 0;
    double a = sums[own] / (double)(work->sizes[own] - 1), b = INFINITY;
    for (size_t k = 0; k < work->clusters; k++)
        if (k != own)
            b = fmin(b, sums[k] / (double)work->sizes[k]);
    a = a > 0 ? a : 0;
    b = b > 0 ? b : 0;
    double larger = a > b ? a : b;
    return larger > (work->dissimilarity == AST_AXIAL_COSINE ? AST_NO_DISSIMILARITY : NO_ANGLE) ? (b - a) / larger : 0;
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
            x[i * dimension + d] =
                work->packed[((first + i) / AST_LANES * dimension + d) * AST_LANES + (first + i) % AST_LANES];
    for (size_t group = 0; group < work->groups; group++)
        for (size_t i = 0; i < some; i++)
            if (work->sizes[work->own[first + i]] > 1) /* a singleton has silhouette 0 */
                add_group(work, x + i * dimension, first + i, group, dimension, sums + i * work->clusters);
    for (size_t i = 0; i < some; i++)
        total += silhouette_of(work, first + i, sums + i * work->clusters);
    work->partial[block] = total;
}
