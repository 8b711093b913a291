/* SPDX-License-Identifier: MIT
 *
 * The mean silhouette with the cosine dissimilarity 1 - x.y, exact in O(N K D); the angle's is in angular.c.
 *
 * The one idea: the mean dissimilarity of x to a cluster is 1 - x.m, m the arithmetic mean of the cluster, so the
 * points meet K means and not each other. To its own cluster of n points, itself left out, it is (1 - x.m) n / (n-1).
 *
 * Axial points do the same one floor up: (x.y)^2 is the dot product of the matrices x x' and y y', whose mean over a
 * cluster is its matrix of second moments. What is called a feature here is x, or the upper half of x x'.
 *
 * Every number of threads gives the same bits: sums are integers, and the silhouettes of a block are added in order,
 * then the blocks' sums in theirs. */
#include "angular.h"

#include "lanes.h"

#include <math.h>
#include <stdlib.h>

/* A copy for each call: the dimension is a constant in one of them, and the loops over it unroll. */
#define COPIED static inline __attribute__((always_inline))

#define CHUNK 32            /* clusters that LANES points meet at a time */
#define MAX_PARTS 64        /* of the sum, each with K x D integers of its own ... */
#define PART_ROOM (1 << 22) /* ... of which there are no more than this in all, unless one part has */

#define MOST_MOMENTS ((size_t)1 << 20) /* numbers in all matrices of second moments; beyond, pairs of a sample */

typedef struct job {
    const ast_rows *rows;
    const ast_partition *partition;
    bool axial;
    size_t features; /* F: D, or D (D + 1) / 2 of axial points */
    size_t block_rows, blocks, parts;
    double scale;    /* of the integer sums */
    int64_t *sums;   /* (parts, K, F) */
    int64_t *sizes;  /* (parts, K); part 0 becomes the total */
    double *means;   /* (K, F), not unit vectors */
    double *without; /* (K) n / (n - 1): leaves the point itself out of its cluster's mean; 0 if it is alone */
    double *partial; /* (blocks) sums of silhouettes */
    float *buffers;  /* (threads, block_rows, D) */
    double *tiles;   /* (threads, F, LANES) */
} job;

static ast_status cosine_silhouette(ast_fault *fault, ast_pool *pool, const ast_rows *rows,
                                    const ast_partition *partition, bool axial, double *silhouette);
static bool has_means(const ast_partition *partition, size_t dimension, ast_dissimilarity dissimilarity);
static bool allocate(job *work, size_t threads);
static void release(job *work);
static void sum_part(void *data, size_t part, int worker);
static void average(job *work);
static void score_block(void *data, size_t block, int worker);

ast_status ast_silhouette_of(ast_fault *fault, ast_pool *pool, const ast_rows *rows, const int32_t *labels,
                             ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled) {
    ast_partition partition = {0};
    ast_status status = ast_partition_make(fault, labels, rows->count, &partition);
    size_t used = partition.points;
    if (status == AST_OK && partition.clusters < 2)
        status = ast_fail(fault, AST_BAD_DATA, "a silhouette needs points in at least two clusters; here %s",
                          partition.clusters == 1 ? "all are in one" : "no point has a label");
    else if (status == AST_OK && has_means(&partition, rows->dimension, dissimilarity))
        status = cosine_silhouette(fault, pool, rows, &partition, dissimilarity == AST_AXIAL_COSINE, silhouette);
    else if (status == AST_OK)
        status = ast_pair_silhouette(fault, pool, rows, &partition, dissimilarity, seed, silhouette, &used);
    ast_partition_free(&partition);
    if (status == AST_OK && sampled)
        *sampled = used;
    return status;
}

static size_t moments_of(size_t dimension) {
    return dimension * (dimension + 1) / 2;
}

/* Whether the mean dissimilarity to a cluster follows from something like a mean, of affordable size. */
static bool has_means(const ast_partition *partition, size_t dimension, ast_dissimilarity dissimilarity) {
    if (dissimilarity == AST_AXIAL_COSINE)
        return partition->clusters <= MOST_MOMENTS / moments_of(dimension);
    return dissimilarity == AST_COSINE;
}

static ast_status cosine_silhouette(ast_fault *fault, ast_pool *pool, const ast_rows *rows,
                                    const ast_partition *partition, bool axial, double *silhouette) {
    job work = {.rows = rows, .partition = partition, .axial = axial};
    work.features = axial ? moments_of(rows->dimension) : rows->dimension;
    size_t per_part = partition->clusters * work.features, block_rows = 32768 / rows->dimension / LANES * LANES;
    work.block_rows = block_rows < LANES ? LANES : block_rows > 1024 ? 1024 : block_rows;
    work.blocks = (rows->count + work.block_rows - 1) / work.block_rows;
    work.parts = PART_ROOM / per_part;
    work.parts = work.parts < 1 ? 1 : work.parts > MAX_PARTS ? MAX_PARTS : work.parts;
    work.parts = work.parts > work.blocks ? work.blocks : work.parts;
    /* |feature| <= 1 + 2^-22, so count * scale <= 2^61 cannot overflow; 2^50 is finer than the points themselves. */
    work.scale = fmin(0x1p50, exp2(floor(61 - log2((double)rows->count))));
    if (!allocate(&work, (size_t)ast_pool_threads(pool))) {
        release(&work);
        return ast_fail_memory(fault);
    }
    ast_pool_run(pool, work.parts, sum_part, &work);
    average(&work);
    ast_pool_run(pool, work.blocks, score_block, &work);
    double total = 0;
    for (size_t block = 0; block < work.blocks; block++)
        total += work.partial[block];
    *silhouette = total / (double)partition->points;
    release(&work);
    return AST_OK;
}

static bool allocate(job *work, size_t threads) {
    size_t clusters = work->partition->clusters, dimension = work->rows->dimension, features = work->features;
    work->sums = calloc(work->parts * clusters, features * sizeof *work->sums);
    work->sizes = calloc(work->parts, clusters * sizeof *work->sizes);
    work->means = malloc(clusters * features * sizeof *work->means);
    work->without = malloc(clusters * sizeof *work->without);
    work->partial = malloc(work->blocks * sizeof *work->partial);
    work->buffers = malloc(threads * work->block_rows * dimension * sizeof *work->buffers);
    work->tiles = malloc(threads * features * LANES * sizeof *work->tiles);
    return work->sums && work->sizes && work->means && work->without && work->partial && work->buffers && work->tiles;
}

static void release(job *work) {
    free(work->sums);
    free(work->sizes);
    free(work->means);
    free(work->without);
    free(work->partial);
    free(work->buffers);
    free(work->tiles);
}

static float *read_block(const job *work, size_t block, int worker, size_t *count) {
    size_t first = block * work->block_rows, left = work->rows->count - first;
    float *rows = work->buffers + (size_t)worker * work->block_rows * work->rows->dimension;
    *count = left < work->block_rows ? left : work->block_rows;
    work->rows->read(work->rows->data, first, *count, rows);
    return rows;
}

/* 1 / |x| for a row that is a unit vector up to float rounding: one Newton step from 1 is exact to 3e-14. Without it,
 * that rounding would be all there is to see in tight clusters. */
COPIED double inverse_length(const float *x, size_t dimension) {
    double square = 0;
    for (size_t d = 0; d < dimension; d++)
        square += (double)x[d] * x[d];
    return 1.5 - 0.5 * square;
}

/* The matrix x x' of a unit vector as D (D + 1) / 2 numbers, `step` apart: the diagonal and above, where the latter
 * count twice in a dot product and so are multiplied by the root of 2. */
static void square_up(const float *x, size_t dimension, double *moments, size_t step) {
    double length = inverse_length(x, dimension), square = length * length;
    for (size_t c = 0; c < dimension; c++) {
        *moments = square * ((double)x[c] * x[c]);
        moments += step;
        for (size_t d = c + 1; d < dimension; d++, moments += step)
            *moments = M_SQRT2 * square * ((double)x[c] * x[d]);
    }
}

/* ---- Means ----------------------------------------------------------------------------------------------------- */

/* Truncation rather than rounding: it is one instruction, and the scale leaves digits to spare. */
COPIED void add_rows(const float *rows, const int32_t *cluster, size_t count, size_t dimension, double scale,
                     int64_t *sums, int64_t *sizes) {
    for (size_t i = 0; i < count; i++) {
        if (cluster[i] < 0)
            continue;
        const float *x = rows + i * dimension;
        double factor = scale * inverse_length(x, dimension);
        int64_t *sum = sums + (size_t)cluster[i] * dimension;
        for (size_t d = 0; d < dimension; d++)
            sum[d] += (int64_t)(factor * x[d]);
        sizes[cluster[i]]++;
    }
}

/* The same of their matrices; `moments` is scratch for one. */
static void add_squares(const job *work, const float *rows, const int32_t *cluster, size_t count, double *moments,
                        int64_t *sums, int64_t *sizes) {
    size_t dimension = work->rows->dimension, features = work->features;
    for (size_t i = 0; i < count; i++) {
        if (cluster[i] < 0)
            continue;
        int64_t *sum = sums + (size_t)cluster[i] * features;
        square_up(rows + i * dimension, dimension, moments, 1);
        for (size_t f = 0; f < features; f++)
            sum[f] += (int64_t)(work->scale * moments[f]);
        sizes[cluster[i]]++;
    }
}

static void sum_part(void *data, size_t part, int worker) {
    const job *work = data;
    size_t clusters = work->partition->clusters, dimension = work->rows->dimension;
    int64_t *sums = work->sums + part * clusters * work->features, *sizes = work->sizes + part * clusters;
    double *scratch = work->tiles + (size_t)worker * work->features * LANES;
    for (size_t block = work->blocks * part / work->parts; block < work->blocks * (part + 1) / work->parts; block++) {
        size_t count;
        const float *rows = read_block(work, block, worker, &count);
        const int32_t *cluster = work->partition->cluster + block * work->block_rows;
        if (work->axial)
            add_squares(work, rows, cluster, count, scratch, sums, sizes);
        else if (dimension == 3) /* the compiler unrolls a constant */
            add_rows(rows, cluster, count, 3, work->scale, sums, sizes);
        else
            add_rows(rows, cluster, count, dimension, work->scale, sums, sizes);
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
    for (size_t k = 0; k < clusters; k++) {
        double n = (double)work->sizes[k];
        work->without[k] = n > 1 ? n / (n - 1) : 0;
        for (size_t f = 0; f < features; f++)
            work->means[k * features + f] = (double)work->sums[k * features + f] / (work->scale * n);
    }
}

/* ---- Silhouettes ----------------------------------------------------------------------------------------------- */

/* tile (D, LANES): rows as unit vectors, transposed; zeros where there is no labelled row. */
COPIED void fill_tile(const float *rows, const int32_t *own, size_t count, size_t dimension, double *tile) {
    for (size_t lane = 0; lane < LANES; lane++) {
        bool used = lane < count && own[lane] >= 0;
        const float *x = rows + lane * dimension;
        for (size_t d = 0; !used && d < dimension; d++)
            tile[d * LANES + lane] = 0;
        if (!used)
            continue;
        double factor = inverse_length(x, dimension);
        tile[lane] = factor * x[0]; /* two by hand: what remains of three dimensions is no loop at all */
        tile[LANES + lane] = factor * x[1];
        for (size_t d = 2; d < dimension; d++)
            tile[d * LANES + lane] = factor * x[d];
    }
}

/* tile (F, LANES) of their matrices. */
static void fill_squares(const job *work, const float *rows, const int32_t *own, size_t count, double *tile) {
    for (size_t lane = 0; lane < LANES; lane++) {
        if (lane < count && own[lane] >= 0)
            square_up(rows + lane * work->rows->dimension, work->rows->dimension, tile + lane, LANES);
        else
            for (size_t f = 0; f < work->features; f++)
                tile[f * LANES + lane] = 0;
    }
}

/* best (4) becomes the largest of itself and its column of dots (rows, LANES). Four at a time stay in registers. */
COPIED void raise_four(const double *dots, size_t rows, double *best) {
    double a = best[0], b = best[1], c = best[2], d = best[3];
    for (size_t k = 0; k < rows; k++, dots += LANES) {
        a = dots[0] > a ? dots[0] : a;
        b = dots[1] > b ? dots[1] : b;
        c = dots[2] > c ? dots[2] : c;
        d = dots[3] > d ? dots[3] : d;
    }
    best[0] = a;
    best[1] = b;
    best[2] = c;
    best[3] = d;
}

/* For every lane the cosine to the own mean and the largest one to another. The own one is struck out of the table
 * before the maximum is taken, which costs nothing per cluster. */
COPIED void meet_all(const job *work, const double *tile, const int32_t *own, size_t count, size_t features,
                     double *own_cosine, double *other_cosine) {
    size_t clusters = work->partition->clusters;
    double dots[CHUNK][LANES] __attribute__((aligned(16)));
    for (size_t lane = 0; lane < LANES; lane++)
        other_cosine[lane] = -INFINITY;
    for (size_t first = 0; first < clusters; first += CHUNK) {
        size_t some = clusters - first < CHUNK ? clusters - first : CHUNK;
        for (size_t k = 0; k < some; k++)
            lanes_dot(tile, work->means + (first + k) * features, features, dots[k]);
        for (size_t lane = 0; lane < count; lane++) {
            size_t k = (size_t)own[lane] - first; /* huge for labels below 0 and for earlier chunks */
            if (k < some) {
                own_cosine[lane] = dots[k][lane];
                dots[k][lane] = -INFINITY;
            }
        }
        for (size_t lane = 0; lane < LANES; lane += 4)
            raise_four(&dots[0][lane], some, other_cosine + lane);
    }
}

COPIED double score_rows(const job *work, const float *rows, const int32_t *own, size_t count, size_t dimension,
                         bool axial, double *tile) {
    double total = 0, own_cosine[LANES] = {0}, other_cosine[LANES];
    for (size_t i = 0; i < count; i += LANES) {
        size_t some = count - i < LANES ? count - i : LANES;
        if (axial)
            fill_squares(work, rows + i * dimension, own + i, some, tile);
        else
            fill_tile(rows + i * dimension, own + i, some, dimension, tile);
        meet_all(work, tile, own + i, some, axial ? work->features : dimension, own_cosine, other_cosine);
        for (size_t lane = 0; lane < some; lane++) {
            double without = own[i + lane] < 0 ? 0 : work->without[own[i + lane]];
            if (without > 0)
                total += ast_silhouette_value(without * (1 - own_cosine[lane]), 1 - other_cosine[lane],
                                              AST_NO_DISSIMILARITY);
        }
    }
    return total;
}

static void score_block(void *data, size_t block, int worker) {
    const job *work = data;
    size_t count, dimension = work->rows->dimension;
    const float *rows = read_block(work, block, worker, &count);
    const int32_t *own = work->partition->cluster + block * work->block_rows;
    double *tile = work->tiles + (size_t)worker * work->features * LANES;
    if (work->axial)
        work->partial[block] = score_rows(work, rows, own, count, dimension, true, tile);
    else if (dimension == 3)
        work->partial[block] = score_rows(work, rows, own, count, 3, false, tile);
    else
        work->partial[block] = score_rows(work, rows, own, count, dimension, false, tile);
}
