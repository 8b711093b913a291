/* SPDX-License-Identifier: MIT
 *
 * Many clusters in many dimensions: W5 (embeddings of 768 dimensions) and W6 (word vectors of 100) by spherical
 * k-means with and without bounds, W7 by DP-vMF-means with thousands of births, W8 by ast_assign. Not part of `all`: a
 * run takes minutes. */
#ifndef BENCH_EMBEDDINGS_H
#define BENCH_EMBEDDINGS_H

#include "goals.h"

#include <json.h>

enum {
    BENCH_W5_COMMON,
    BENCH_W5_CENTRED,
    BENCH_W5_UNIFORM,
    BENCH_W6,
    BENCH_W7,
    BENCH_W8,
    BENCH_EMBEDDINGS, /* number of point sets */
    BENCH_EMBEDDING_PASSES = 25,
    BENCH_EMBEDDING_RESULTS = 2 * BENCH_EMBEDDINGS /* a set has up to two numbers of clusters */
};

/* ---- Points ------------------------------------------------------------------------------------------------------ */

typedef struct bench_embedding_points {
    int set;
    const char *name;
    int whole; /* 0: fewer points than the workload has */
    size_t count, dimension;
    float *points; /* (count, dimension) unit vectors in random order; but for W7, fewer are a prefix of more */
    float *means;  /* W7: (clusters, dimension) of the truth; W8: the means to assign to. NULL otherwise */
    size_t means_count;
    size_t clusters[2]; /* W5, W6: the numbers of clusters; 0: none */
    int iterations;     /* W5, W6 */
} bench_embedding_points;

const char *bench_embedding_name(int set);
int bench_embedding_wanted(int set, const char *workload); /* by the name of the set or of its workload */

/* `rows` 0: the number of points of the workload. Fewer clusters if a cluster would have fewer than four points. */
void bench_embedding_make(bench_embedding_points *points, int set, size_t rows, int threads);
void bench_embedding_free(bench_embedding_points *points);

/* The points to start spherical k-means from: (clusters, dimension); release with free(). */
float *bench_embedding_start(const bench_embedding_points *points, size_t clusters);

/* Writes DIR/W6.npy and DIR/W6_start_1000.npy for each number of clusters, or DIR/W8_means.npy. */
void bench_embedding_write(const bench_embedding_points *points, const char *folder);

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

/* One call of the library, in a process of its own. */
typedef struct bench_embedding_run {
    double seconds;   /* of the call; 0: not run */
    double processor; /* seconds of all threads together */
    int passes;
    double pass_seconds[BENCH_EMBEDDING_PASSES]; /* of the first passes */
    double scores;                               /* exact scores per point and pass; 0: unknown */
    double objective;
    size_t clusters;
    uint64_t labels_hash;
    size_t peak, before; /* bytes: VmHWM at the end of the process, resident at its start (the points) */
} bench_embedding_run;

typedef struct bench_embedding_result {
    int set;
    int whole; /* all points of the workload */
    size_t count, dimension, clusters;
    bench_embedding_run bounds, brute; /* W7: brute is one pass over the true means. W8: brute is empty */
    double bare, bare_processor;       /* W7, W8: seconds of the bare pass, and of all threads together; 0 otherwise */
    size_t differing;                  /* W8: labels that differ from those of the bare pass */
} bench_embedding_result;

typedef struct bench_embeddings {
    int threads, result_count;
    bench_embedding_result result[BENCH_EMBEDDING_RESULTS];
} bench_embeddings;

void bench_embeddings_run(bench_embeddings *embeddings, int set, size_t rows, int threads, int repetitions);
void bench_embeddings_goals(const bench_embeddings *embeddings, bench_goals *goals);
int bench_embeddings_agree(const bench_embeddings *embeddings); /* labels and objectives with bounds and without */
void bench_embeddings_print(const bench_embeddings *embeddings);
void bench_embeddings_write(const bench_embeddings *embeddings, ast_text *json);

#endif
