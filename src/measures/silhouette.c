/* SPDX-License-Identifier: MIT
 *
 * The mean silhouette with the cosine dissimilarity 1 - x.y, exact in O(N K D). pair_silhouette.c has the other
 * dissimilarities.
 *
 * The main idea: the mean dissimilarity of x to a cluster is 1 - x.m, where m is the arithmetic mean of the cluster. So
 * points are compared with K means, not with each other. For the cluster of x itself, with n points and x left out, it
 * is (1 - x.m) n / (n-1).
 *
 * The same works for axial points: (x.y)^2 is the dot product of the matrices x x' and y y', whose mean over a cluster
 * is its matrix of second moments. A "feature" below is a component of x, or of the upper half of x x'.
 *
 * Every number of threads and every instruction set gives the same bits: sums are integers; the silhouettes of a block
 * are added in AST_LANES sums, each in order, then these sums in order, then the blocks in order. The same holds for
 * every number of ranks: blocks are blocks of all rows, and if a block spans several ranks, each rank continues with
 * the sums of the rank before it. */
#include "measures.h"

#include "memory.h"
#include "partition.h"
#include "silhouette_kernels.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARTS 64        /* parts of the sum, each with its own K x D integers ... */
#define PART_ROOM (1 << 22) /* ... and at most this many integers in all, unless there is one part only */

#define MOST_MOMENTS ((size_t)1 << 20) /* numbers in all second moments; with more, pairs are used */

typedef struct job {
    const ast_measured *given;
    const ast_rowset *rows;
    const ast_partition *partition;
    const ast_silhouette_kernels *loops;
    const int32_t *own; /* (count) clusters; negative for the rows of other ranks, which come first */
    int32_t *shifted;   /* the same, owned, if there are such rows */
    size_t lead, count; /* number of such rows in the first block; rows including them */
    bool axial;
    bool small;      /* the rows have columns, which are the features */
    size_t features; /* F: D, or D (D + 1) / 2 for axial points */
    size_t block_rows, blocks, parts;
    double scale;          /* of the integer sums */
    int64_t *sums;         /* (parts, K, F) */
    int64_t *sizes;        /* (parts, K); part 0 becomes the total */
    double *means;         /* (K, F), not unit vectors */
    double *leave_one_out; /* (K) n / (n - 1): leaves the point out of the mean of its cluster; 0 for a singleton */
    double *partial;       /* (blocks) sums of silhouettes */
    float *buffers;        /* (threads, block_rows, D); none if small */
    double *tiles;         /* (threads, block_rows, F) in tiles of AST_LANES: the features; also in fixed point */
} job;

static ast_status cosine_silhouette(ast_fault *fault, ast_pool *pool, const ast_measured *given,
                                    const ast_partition *partition, bool axial, double *silhouette);
static bool has_means(const ast_partition *partition, size_t dimension, ast_dissimilarity dissimilarity);
static bool allocate(job *work, size_t threads);
static void release(job *work);
static void sum_part(void *data, size_t part, int worker);
static void average(job *work);
static void score_block(void *data, size_t block, int worker);
static double add_up(const job *work);

ast_status ast_silhouette_of(ast_fault *fault, ast_pool *pool, const ast_measured *given, const int32_t *labels,
                             ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled) {
    ast_partition partition = {0};
    ast_status status = ast_partition_make(fault, given->comm, labels, given->rows->count, &partition);
    size_t used = partition.points;
    if (status == AST_OK && partition.clusters < 2)
        status = ast_fail(fault, AST_BAD_DATA, "a silhouette needs points in at least two clusters; here %s",
                          partition.clusters == 1 ? "all are in one" : "no point has a label");
    else if (status == AST_OK && has_means(&partition, given->rows->dimension, dissimilarity))
        status = cosine_silhouette(fault, pool, given, &partition, dissimilarity == AST_AXIAL_COSINE, silhouette);
    else if (status == AST_OK)
        status = ast_pair_silhouette(fault, pool, given, &partition, dissimilarity, seed, silhouette, &used);
    ast_partition_free(&partition);
    if (status == AST_OK && sampled)
        *sampled = used;
    return status;
}

static size_t moments_of(size_t dimension) {
    return dimension * (dimension + 1) / 2;
}

/* Whether means or second moments, of affordable size, give the mean dissimilarity to a cluster. */
static bool has_means(const ast_partition *partition, size_t dimension, ast_dissimilarity dissimilarity) {
    if (dissimilarity == AST_AXIAL_COSINE)
        return partition->clusters <= MOST_MOMENTS / moments_of(dimension);
    return dissimilarity == AST_COSINE;
}

static ast_status cosine_silhouette(ast_fault *fault, ast_pool *pool, const ast_measured *given,
                                    const ast_partition *partition, bool axial, double *silhouette) {
    const ast_rowset *rows = given->rows;
    job work = {
        .given = given, .rows = rows, .partition = partition, .loops = rows->kernels->silhouette, .axial = axial};
    work.features = axial ? moments_of(rows->dimension) : rows->dimension;
    size_t per_part = partition->clusters * work.features, block_rows = 32768 / work.features / AST_LANES * AST_LANES;
    work.block_rows = block_rows < AST_LANES ? AST_LANES : block_rows > 512 ? 512 : block_rows;
    work.lead = given->before % work.block_rows;
    work.count = work.lead + rows->count;
    work.small = rows->small && !axial && work.lead == 0;
    work.blocks = (work.count + work.block_rows - 1) / work.block_rows;
    work.parts = PART_ROOM / per_part < MAX_PARTS ? PART_ROOM / per_part : MAX_PARTS;
    work.parts = work.parts > work.blocks ? work.blocks : work.parts;
    work.parts = work.parts < 1 ? 1 : work.parts;
    assert(work.block_rows % AST_LANES == 0 && partition->clusters >= 2);
    /* |feature| <= 1 + 2^-22, so count * scale <= 2^61 cannot overflow; 2^50 is finer than the points themselves. */
    work.scale = fmin(0x1p50, exp2(floor(61 - log2((double)(given->comm ? given->all : rows->count)))));
    if (ast_comm_first_rank(given->comm, !allocate(&work, (size_t)ast_pool_threads(pool))) >= 0) {
        release(&work);
        return ast_fail_memory(fault);
    }
    ast_pool_run_cancellable(pool, work.parts, sum_part, &work);
    average(&work);
    ast_pool_run_cancellable(pool, work.blocks, score_block, &work);
    *silhouette = add_up(&work) / (double)partition->points;
    release(&work);
    return AST_OK;
}

/* The clusters of the rows, after -1 for the rows of other ranks. */
static bool prepare_clusters(job *work) {
    work->own = work->partition->cluster;
    if (work->lead == 0)
        return true;
    work->own = work->shifted = ast_allocate(work->count, sizeof *work->shifted);
    for (size_t i = 0; work->shifted && i < work->count; i++)
        work->shifted[i] = i < work->lead ? -1 : work->partition->cluster[i - work->lead];
    return work->shifted != NULL;
}

static bool allocate(job *work, size_t threads) {
    size_t clusters = work->partition->clusters, dimension = work->rows->dimension, features = work->features;
    size_t buffered = work->small ? 0 : threads * work->block_rows * dimension;
    work->sums = ast_allocate_zero(work->parts * clusters, features * sizeof *work->sums);
    work->sizes = ast_allocate_zero(work->parts, clusters * sizeof *work->sizes);
    work->partial = ast_allocate_zero(work->blocks, sizeof *work->partial);
    return prepare_clusters(work) && work->sums && work->sizes && work->partial &&
           ast_replace_arrays(AST_REQUEST(work->means, clusters * features), AST_REQUEST(work->leave_one_out, clusters),
                              AST_REQUEST(work->buffers, buffered),
                              AST_REQUEST(work->tiles, threads * work->block_rows * features));
}

static void release(job *work) {
    ast_free_all(work->shifted, work->sums, work->sizes, work->means, work->leave_one_out, work->partial, work->buffers,
                 work->tiles);
}

/* ---- Tiles ----------------------------------------------------------------------------------------------------- */

/* 1 / |x| for a row that is a unit vector up to float rounding: one Newton step from 1 is accurate to 3e-14. Without
 * it, rounding would dominate in tight clusters. */
static double inverse_length(const float *x, size_t dimension) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++)
        square += (double)x[d] * x[d];
    return 1.5 - 0.5 * square;
}

/* The matrix x x' of a unit vector as D (D + 1) / 2 numbers, AST_LANES apart: the diagonal and the elements above it.
 * The latter count twice in a dot product and so are multiplied by sqrt(2). */
static void second_moments(const float *x, size_t dimension, double *moments) {
    double length = inverse_length(x, dimension), square = length * length;
    for (size_t c = 0; c < dimension; c++) {
        *moments = square * ((double)x[c] * x[c]);
        moments += AST_LANES;
        for (size_t d = c + 1; d < dimension; d++, moments += AST_LANES)
            *moments = M_SQRT2 * square * ((double)x[c] * x[d]);
    }
}

/* Stores one row as a lane of a tile; zeros if it has no label. */
static void fill_lane(const job *work, const float *x, int32_t own, double *lane) {
    size_t dimension = work->rows->dimension;
    if (own < 0) {
        for (size_t f = 0; f < work->features; f++)
            lane[f * AST_LANES] = 0;
    } else if (work->axial) {
        second_moments(x, dimension, lane);
    } else {
        double factor = inverse_length(x, dimension);
        for (size_t d = 0; d < dimension; d++)
            lane[d * AST_LANES] = factor * x[d];
    }
}

/* Columns of points from a row on. */
typedef struct columns {
    const float *x[AST_SMALL];
} columns;

static columns columns_at(const job *work, size_t first) {
    columns from = {{NULL}};
    for (size_t d = 0; d < work->rows->dimension; d++)
        from.x[d] = work->rows->column[d] + first;
    return from;
}

static size_t block_count(const job *work, size_t block) {
    size_t left = work->count - block * work->block_rows;
    return left < work->block_rows ? left : work->block_rows;
}

static double *tiles_of(const job *work, int worker) {
    return work->tiles + (size_t)worker * work->block_rows * work->features;
}

/* The tiles of a block; zeros after the last row. */
static double *fill_tiles(const job *work, size_t block, int worker) {
    const ast_rowset *rows = work->rows;
    size_t first = block * work->block_rows, count = block_count(work, block), dimension = rows->dimension;
    double *tiles = tiles_of(work, worker);
    float *buffer = work->buffers + (size_t)worker * work->block_rows * dimension;
    size_t others = block == 0 ? work->lead : 0;
    const int32_t *own = work->own + first;
    ast_rowset_copy(rows, first + others - work->lead, count - others, buffer + others * dimension);
    for (size_t i = 0; i < (count + AST_LANES - 1) / AST_LANES * AST_LANES; i++)
        fill_lane(work, buffer + i * dimension, i < count ? own[i] : -1,
                  tiles + i / AST_LANES * AST_LANES * work->features + i % AST_LANES);
    return tiles;
}

/* ---- Means ----------------------------------------------------------------------------------------------------- */

/* The tiles of a block in fixed point, stored in the memory of the tiles. */
static const int64_t *fix_tiles(const job *work, size_t block, int worker) {
    size_t count = (block_count(work, block) + AST_LANES - 1) / AST_LANES * AST_LANES, features = work->features;
    double *tiles = work->small ? tiles_of(work, worker) : fill_tiles(work, block, worker);
    int64_t *fixed = (int64_t *)(void *)tiles;
    if (work->small) {
        columns from = columns_at(work, block * work->block_rows);
        work->loops->to_fixed_columns(from.x, count, features, work->scale, fixed);
        return fixed;
    }
    for (size_t i = 0; i < count * features; i++) {
        int64_t rounded = ast_to_fixed(tiles[i], work->scale);
        memcpy(&tiles[i], &rounded, sizeof rounded);
    }
    return fixed;
}

static inline __attribute__((always_inline)) void add_lanes(const int64_t *fixed, const int32_t *cluster, size_t count,
                                                            size_t features, int64_t *sums, int64_t *sizes) {
    for (size_t i = 0; i < count; i++) {
        if (cluster[i] < 0)
            continue;
        const int64_t *lane = fixed + i / AST_LANES * AST_LANES * features + i % AST_LANES;
        int64_t *sum = sums + (size_t)cluster[i] * features;
        for (size_t f = 0; f < features; f++)
            sum[f] += lane[f * AST_LANES];
        sizes[cluster[i]]++;
    }
}

static void sum_part(void *data, size_t part, int worker) {
    const job *work = data;
    size_t clusters = work->partition->clusters, features = work->features;
    int64_t *sums = work->sums + part * clusters * features, *sizes = work->sizes + part * clusters;
    for (size_t block = work->blocks * part / work->parts; block < work->blocks * (part + 1) / work->parts; block++) {
        size_t count = block_count(work, block);
        const int64_t *fixed = fix_tiles(work, block, worker);
        const int32_t *cluster = work->own + block * work->block_rows;
        if (features == 3) /* the compiler unrolls a constant */
            add_lanes(fixed, cluster, count, 3, sums, sizes);
        else
            add_lanes(fixed, cluster, count, features, sums, sizes);
    }
}

static void average(job *work) {
    size_t clusters = work->partition->clusters, features = work->features, all = clusters * features;
    for (size_t part = 1; part < work->parts; part++) {
        for (size_t i = 0; i < all; i++)
            work->sums[i] += work->sums[part * all + i];
        for (size_t k = 0; k < clusters; k++)
            work->sizes[k] += work->sizes[part * clusters + k];
    }
    ast_comm_allreduce(work->given->comm, (uint64_t *)work->sums, all);
    ast_comm_allreduce(work->given->comm, (uint64_t *)work->sizes, clusters);
    for (size_t k = 0; k < clusters; k++) {
        double n = (double)work->sizes[k];
        work->leave_one_out[k] = n > 1 ? n / (n - 1) : 0;
        for (size_t f = 0; f < features; f++)
            work->means[k * features + f] = (double)work->sums[k * features + f] / (work->scale * n);
    }
}

/* ---- Silhouettes ----------------------------------------------------------------------------------------------- */

/* Adds the silhouettes of n points, a multiple of AST_LANES, from the i-th of a block on. */
static void add_silhouettes(const job *work, size_t block, const double *tiles, size_t i, size_t n, const int32_t *own,
                            double *totals) {
    ast_silhouette_means targets = {work->means, work->partition->clusters, work->features, work->leave_one_out,
                                    AST_NO_DISSIMILARITY};
    if (work->small)
        work->loops->add_columns(columns_at(work, block * work->block_rows + i).x, n, &targets, own, totals);
    else
        work->loops->add_tiles(tiles + i * work->features, n, &targets, own, totals);
}

/* Adds the silhouettes of a block to the totals of its lanes. */
static void add_block(const job *work, size_t block, int worker, double totals[AST_LANES]) {
    size_t count = block_count(work, block), full = count / AST_LANES * AST_LANES;
    const double *tiles = work->small ? NULL : fill_tiles(work, block, worker);
    const int32_t *own = work->own + block * work->block_rows;
    int32_t last[AST_LANES];
    add_silhouettes(work, block, tiles, 0, full, own, totals);
    for (size_t lane = 0; lane < AST_LANES; lane++)
        last[lane] = full + lane < count ? own[full + lane] : -1;
    if (full < count)
        add_silhouettes(work, block, tiles, full, AST_LANES, last, totals);
}

static double fold(const double totals[AST_LANES]) {
    double total = 0;
    for (size_t lane = 0; lane < AST_LANES; lane++)
        total += totals[lane];
    return total;
}

static void score_block(void *data, size_t block, int worker) {
    const job *work = data;
    double totals[AST_LANES] = {0};
    add_block(work, block, worker, totals);
    work->partial[block] = fold(totals);
}

/* What a rank sends to the next: the total so far, and the lanes of an unfinished block. */
typedef struct running_sum {
    double total, open[AST_LANES];
} running_sum;

static void add_own_blocks(const job *work, running_sum *sum) {
    const ast_measured *given = work->given;
    size_t base = given->before - work->lead, end = given->before + given->rows->count;
    for (size_t block = 0; block < work->blocks; block++) {
        size_t last = base + (block + 1) * work->block_rows;
        bool begun = block == 0 && work->lead > 0, ends = end >= (last < given->all ? last : given->all);
        if (begun || !ends)
            add_block(work, block, 0, sum->open);
        if (ends) {
            sum->total += begun ? fold(sum->open) : work->partial[block];
            memset(sum->open, 0, sizeof sum->open);
        }
    }
}

static double add_up(const job *work) {
    const ast_comm *comm = work->given->comm;
    running_sum sum = {0};
    for (size_t block = 0; !comm && block < work->blocks; block++)
        sum.total += work->partial[block];
    for (int sender = 0; comm && sender < comm->ranks; sender++) {
        if (sender == comm->rank)
            add_own_blocks(work, &sum);
        ast_comm_broadcast(comm, &sum, sizeof sum, sender);
    }
    return sum.total;
}
