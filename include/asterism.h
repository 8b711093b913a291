/* SPDX-License-Identifier: MIT
 *
 * asterism clusters directions and finds the number of clusters itself.
 *
 * A direction is a unit vector: a surface normal, a text, face or voice embedding, a quaternion, a geological pole.
 * You pass N directions and one angle. You get clusters, their mean directions and one label per point.
 *
 *     ast_context *context;
 *     if (ast_open(&context, 0) != AST_OK)                     // 0: one thread per processor
 *         return 1;
 *     ast_options options;
 *     ast_options_init(&options);
 *     options.angle = 25;                                      // degrees: largest angle from a point to its mean
 *     ast_points points = ast_points_f4(xyz, count, 3);        // a view: no copy is made
 *     ast_report report = {.size = sizeof report};
 *     if (ast_cluster(context, &points, &options, labels, &report) != AST_OK)
 *         fprintf(stderr, "%s\n", ast_message(context));
 *     ast_close(context);
 *
 * Determinism. The same input and options give the same labels, bit for bit, on any number of threads and on any
 * processor. (The mixtures and samplers use logarithms and exponentials of the C library, whose last bit may differ
 * between processors.)
 *
 * Memory. The caller owns every pointer it passes, and the library keeps none of them after the call, except where a
 * comment says so. The caller frees nothing that the library returns, except by the _close functions. The library never
 * prints, never exits and has no mutable global state.
 *
 * Structs. Later versions append fields to structs, so the library must know how large the caller's structs are:
 *
 * - A struct that the caller makes begins with `size_t size`, its sizeof. Its _init function sets the size and the
 *   defaults. A struct without an _init function is zero apart from its size:
 *   `ast_report report = {.size = sizeof report};`. A wrong size means that the struct was never initialised: the call
 *   returns AST_BAD_OPTION.
 * - A struct that the library makes has no `size`. Callbacks get a pointer to it. A function that returns an array,
 *   such as ast_cluster_records, takes the sizeof of the caller's record, which becomes the stride of the array. C
 *   programs call ast_clusters(context, &count), which passes it, and index the array as usual. If the library does
 *   not know the size, the function returns NULL and *count = 0.
 * - ast_camera, ast_tally_move and the groups within ast_options never grow.
 *
 * Pointers. NULL is allowed only where a comment says so, and for arrays of 0 elements. Everywhere else NULL gives
 * AST_BAD_OPTION.
 *
 * Threads and callbacks. A context, and the streams, depth converters and tallies opened on it, belong to one thread at
 * a time. Contexts are independent of each other. A callback must not call the library with the context that is calling
 * it: that gives AST_BAD_OPTION and changes nothing (a _close function does nothing). Allowed are ast_message,
 * ast_fault_row, ast_threads, ast_instruction_set and, in the progress callback of ast_cluster, ast_checkpoint.
 */
#ifndef ASTERISM_H
#define ASTERISM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AST_VERSION_MAJOR 0
#define AST_VERSION_MINOR 2
#define AST_VERSION_PATCH 0

#if defined(_WIN32) && !defined(AST_API) /* -DAST_API= for the static library; asterism::static has it */
#define AST_API __declspec(dllimport)
#elif !defined(AST_API)
#define AST_API __attribute__((visibility("default")))
#endif

/* The version of the library that is running, such as "0.2.0". */
AST_API const char *ast_version(void);

/* ---- Status and context ---------------------------------------------------------------------------------------- */

/* The result of a call. The values are fixed. "Did not converge" is not a failure: the report says so. */
typedef enum ast_status {
    AST_OK = 0,
    AST_BAD_OPTION = 1, /* an option or an argument is wrong, whatever the data */
    AST_BAD_DATA = 2,   /* the data cannot be used: an infinity, all weights zero, more clusters than points */
    AST_NO_MEMORY = 3,
    AST_CANCELLED = 4,  /* a callback asked to stop; labels and report were not written */
    AST_NO_THREADS = 5, /* the operating system did not start the threads */
    AST_BAD_STATE = 6,  /* a checkpoint cannot be written or read, is damaged, or belongs to another run */
    AST_NO_INPUT = 7    /* a callback of an ast_source or an ast_label_store failed */
} ast_status;

/* Threads, working memory, the last message and the last result. */
typedef struct ast_context ast_context;

/* Opens a context with `threads` threads, including the caller's (0: one per processor that the process may use; at
 * most 256). The threads sleep between calls. After a fork the child can use the context too, on one thread. On failure
 * *context is NULL and the status is AST_NO_THREADS, AST_NO_MEMORY or AST_BAD_OPTION. */
AST_API ast_status ast_open(ast_context **context, int threads);

/* Frees the context and everything it returned. NULL is allowed. */
AST_API void ast_close(ast_context *context);

/* One sentence about the last failure: what is wrong, where, and what would be right. "" after success. Valid until the
 * next call with this context. */
AST_API const char *ast_message(const ast_context *context);

/* The row of the points that the last failure is about, counting from 1; 0 if it is not about one row. */
AST_API size_t ast_fault_row(const ast_context *context);

/* Called on the caller's thread while a call is running. Non-zero cancels the call. */
typedef int ast_cancel(void *data);

/* Sets the function that can cancel any call with this context, or with a stream, depth converter or tally opened on
 * it. The library calls it about every 20 ms. A cancelled call returns AST_CANCELLED: labels, report and frame are not
 * written, and a stream or tally is as it was before the call. Arrays of normals, points and metres may be partly
 * written. `cancel` and `data` are kept until the next ast_set_cancel; NULL removes the function. */
AST_API ast_status ast_set_cancel(ast_context *context, ast_cancel *cancel, void *data);

/* The number of threads of the context. */
AST_API int ast_threads(const ast_context *context);

/* The instruction set in use: "base", "avx2" or "neon". The environment variable ASTERISM_ISA, which ast_open reads,
 * selects one. If the processor does not support it, the library uses base. */
AST_API const char *ast_instruction_set(const ast_context *context);

/* ---- Points ---------------------------------------------------------------------------------------------------- */

/* IEEE floats in the machine's byte order. AST_I1 and AST_U1: int8_t and uint8_t, as quantised embeddings are stored.
 * AST_B2: bfloat16, the upper half of a float. */
typedef enum ast_type { AST_F4 = 0, AST_F8 = 1, AST_F2 = 2, AST_I1 = 3, AST_U1 = 4, AST_B2 = 5 } ast_type;
typedef enum ast_index { AST_I4 = 0, AST_I8 = 1 } ast_index; /* int32_t, int64_t */

/* A view of the caller's points: `count` rows of `dimension` numbers. Rows need not be unit vectors. The library
 * normalises them (in double, rounded once to float), except rows whose squared length is within 2^-22 of 1. A row that
 * contains a NaN or has length zero is missing: its label is -1, and it does not take part in the clustering. Infinity
 * is an error.
 *
 * A late row, such as a pixel whose normal is uncertain, starts no cluster and does not count in sums, means and
 * weights. After the last pass it becomes a member of the cluster with the nearest mean. AST_DP, AST_DPMEANS and
 * streams give it the label -1 if that mean is farther away than the angle. In a stream, clusters without points in
 * this frame are candidates too, unless another cluster within the angle of their mean was seen later. ast_cluster and
 * ast_stream_step label late rows, ast_tune leaves them out, and all other calls treat them like other rows. */
typedef struct ast_points {
    size_t size;
    const void *data; /* element (i, d) is at data + i * row_stride + d * column_stride */
    ast_type type;
    size_t count;            /* N, below 2^31 */
    size_t dimension;        /* D, 2..4096; sparse rows: 2..2^31-1 */
    ptrdiff_t row_stride;    /* in bytes; Fortran order: row_stride = element size, column_stride = N elements */
    ptrdiff_t column_stride; /* in bytes */
    const double *weights;   /* (N) finite and not negative, or NULL: every point has weight 1. Only ratios of weights
                                matter. A point of weight 0 gets a label but does not take part in the clustering. */
    const void *starts;      /* NULL: dense rows, as above. Otherwise sparse rows, as below */
    const void *columns;
    ast_index index;     /* the type of starts and columns */
    const uint8_t *late; /* (N), or NULL: no row is late. A row i with late[i] != 0 is labelled after the last pass: see
                            above. For dense rows */
    const double *rotation; /* (D, D) row-major, or NULL. Streams replace every row x by R x, for example with the
                               rotation from a camera to the world. R may be mirrored. D = 3: a matrix that lost digits,
                               up to 1%, becomes the nearest rotation. Other calls refuse it */
} ast_points;

/* A view of a contiguous row-major array. */
static inline ast_points ast_points_dense(const void *data, ast_type type, size_t element, size_t count,
                                          size_t dimension) {
    ast_points points;
    memset(&points, 0, sizeof points);
    points.size = sizeof points;
    points.data = data;
    points.type = type;
    points.count = count;
    points.dimension = dimension;
    points.row_stride = (ptrdiff_t)(dimension * element);
    points.column_stride = (ptrdiff_t)element;
    return points;
}

static inline ast_points ast_points_f4(const float *data, size_t count, size_t dimension) {
    return ast_points_dense(data, AST_F4, sizeof *data, count, dimension);
}

static inline ast_points ast_points_f8(const double *data, size_t count, size_t dimension) {
    return ast_points_dense(data, AST_F8, sizeof *data, count, dimension);
}

/* A view of sparse rows in compressed row format (CSR): row i has the entries starts[i] .. starts[i + 1] - 1. Entry e
 * is the number data[e] in column columns[e]. All other components are 0. `starts` has N + 1 numbers that never
 * decrease. The columns of a row are within 0..D-1 and strictly increase; otherwise the call fails and names the row. D
 * is 2..2^31-1; strides are ignored. A row without entries, or with zeros only, is missing.
 *
 * These take sparse rows, without axial, centring and metric, and every other call refuses them:
 *
 * - ast_cluster with AST_DP, AST_SPKM and AST_MBSPKM; ast_similarity, ast_assign, ast_model_assign, ast_tally_draw,
 *   ast_tally_add; ast_silhouette with AST_COSINE
 * - ast_tune, up to 131072 columns
 * - ast_cluster with AST_MOVMF, ast_memberships, and models of mixtures, up to 65536 columns
 *
 * Means are dense. A call needs 4 bytes per entry (8 with AST_I8), about 40 bytes per point and about 40 K D
 * bytes. Labels, means and objective equal those of the same points given as dense rows, bit for bit. */
static inline ast_points ast_points_csr(const void *data, ast_type type, const void *starts, const void *columns,
                                        ast_index index, size_t count, size_t dimension) {
    ast_points points = ast_points_dense(data, type, 0, count, dimension);
    points.row_stride = 0;
    points.starts = starts;
    points.columns = columns;
    points.index = index;
    return points;
}

/* ---- Neighbours and the metric ---------------------------------------------------------------------------------- */

/* The k nearest neighbours of every row among the other rows, by cosine: exact, equal to comparing all pairs.
 * `neighbours` (N, k) receives row numbers from 0, nearest first, equal cosines in order of rows; `cosines` (N, k) the
 * products of the normalised rows, in double. If there are fewer than k other rows, the rest is -1 and NaN. A missing
 * row is no neighbour, and has only -1 and NaN itself. Weights are ignored. Takes up to 8 N D bytes. k is at least
 * 1. Not for sparse rows. */
AST_API ast_status ast_neighbours(ast_context *context, const ast_points *points, size_t k, int32_t *neighbours,
                                  double *cosines);

/* How rows are compared. Embeddings share a common direction, and their clusters are long in some directions and short
 * in others; docs/metric.md has the rule. */
typedef enum ast_metric_kind {
    AST_METRIC_PLAIN = 0, /* as they are */
    AST_METRIC_LOCAL = 1, /* after a linear map, learned from the rows, that makes clusters round */
    AST_METRIC_AUTO = 2 /* ast_tune: AST_METRIC_LOCAL for dense rows with more than 8 components whose neighbours do not
                           scatter equally in all directions, unless they are axial or centred */
} ast_metric_kind;

/* A map of rows: z = normalise(A normalise(x / |x| - c1) - c2). Whoever makes the struct owns its arrays. */
typedef struct ast_metric {
    size_t size;
    size_t dimension;           /* D */
    const float *center;        /* (D) c1 */
    const float *matrix;        /* (D, D) A: symmetric, its largest eigenvalue is 1 */
    const float *mapped_center; /* (D) c2 */
} ast_metric;

/* Maps the points: `rows` (N, D) receives unit vectors, NaN for missing rows and for rows within 2^-20 of a centre.
 * The same bits on any machine. Not for sparse rows. */
AST_API ast_status ast_metric_apply(ast_context *context, const ast_points *points, const ast_metric *metric,
                                    float *rows);

/* ---- Clustering ------------------------------------------------------------------------------------------------ */

typedef enum ast_method {
    AST_DP = 0,      /* DP-vMF-means: the angle determines the number of clusters */
    AST_SPKM = 1,    /* spherical k-means with `clusters` clusters */
    AST_MOVMF = 2,   /* mixture of `clusters` von Mises-Fisher distributions, by expectation maximisation */
    AST_FSD = 3,     /* Gibbs sampling of such a mixture with a finite symmetric Dirichlet prior on its weights */
    AST_CRP = 4,     /* Gibbs sampling of such a mixture with a Dirichlet process prior: any number of clusters */
    AST_OSPKM = 5,   /* online spherical k-means (Zhong): one step of the nearest mean per point */
    AST_DPMEANS = 6, /* Euclidean DP-means; ignores the sphere, and its means are not unit vectors */
    AST_MBSPKM = 7   /* mini-batch spherical k-means: learns means from batches, then assigns all points once */
} ast_method;

/* The schedule of one labelling pass. It changes the time, never the labels. */
typedef enum ast_parallel {
    AST_ORDERED = 0, /* score blocks in parallel, commit them in order; no work is repeated */
    AST_OIR = 1,     /* the paper's optimistic iterated restarts: score the rest again after each new cluster */
    AST_SERIAL = 2   /* one point after the other, as in the definition */
} ast_parallel;

/* Starting means of the methods with a given number of clusters. */
typedef enum ast_start {
    AST_PLUSPLUS = 0, /* k-means++ on weight * (1 - cosine), seeded; does not depend on the order of the rows */
    AST_RANDOM = 1,   /* distinct random rows, seeded; does not depend on the order of the rows */
    AST_GIVEN = 2     /* `start.means`; for AST_DP these are clusters without points, which the first pass may fill */
} ast_start;

/* The shape of the components of AST_MOVMF. */
typedef enum ast_component_shape {
    AST_COMPONENT_ROUND = 0, /* von Mises-Fisher; axial: Watson */
    AST_COMPONENT_KENT = 1   /* Kent: elliptical */
} ast_component_shape;

/* The order in which AST_DP and AST_DPMEANS visit the points. The result depends on it. */
typedef enum ast_order {
    AST_ORDER_GIVEN = 0,   /* row by row: the paper's order */
    AST_ORDER_CONTENT = 1, /* by a seeded hash of the rows: permuted rows get permuted labels, bit for bit */
    AST_ORDER_RANDOM = 2   /* by a seeded permutation of the row numbers */
} ast_order;

/* Which clusters become one after the run has converged. Then points move: with AST_MERGE_ANGLE to the nearest mean,
 * until nothing changes; with the others to the cluster that explains them best, while the evidence rises, so that a
 * label is not always that of the nearest mean. No cluster is born, and a cluster that loses all points is dropped.
 * After a merge a point may be farther than the angle from its mean. */
typedef enum ast_merge {
    AST_MERGE_NONE = 0,
    AST_MERGE_EVIDENCE = 1, /* the level of the tree of joins (ast_tree) with the best evidence (docs/merging.md) */
    AST_MERGE_ANGLE = 2,    /* nearest means first, while two are closer than `merge.angle` degrees */
    AST_MERGE_COUNT = 3     /* the level of the tree with `merge.count` clusters */
} ast_merge;

/* The state of a run, given to the progress callback after every pass, on the caller's thread. Before the first pass
 * k-means++ reads all points for each of its K starts and calls after each of them, with iteration 0, `clusters` the
 * number of starts drawn so far, and no objective. */
typedef struct ast_progress {
    int restart;           /* from 0 */
    int iteration;         /* from 1 within the restart; 0: k-means++ drew a start */
    size_t clusters;       /* clusters alive now */
    size_t changed;        /* points that changed cluster in this pass, before empty clusters were filled (AST_SPKM) */
    uint64_t scored;       /* points that were compared with all clusters in this pass; the others were skipped */
    double objective;      /* after this pass, as in ast_report. AST_MBSPKM: estimate from the batch */
    double seconds;        /* of this pass */
    const int32_t *labels; /* AST_FSD, AST_CRP: (N) labels after this sweep if it is a sample, -1 for missing rows;
                              valid during the call. NULL otherwise */
    int last;              /* AST_DP, AST_SPKM: 1 after the last pass of this restart before any merge; 0 otherwise */
    int merging;           /* 1: a pass after a merge, in which no cluster is born */
    uint64_t products;     /* scores of one point with one mean that this pass computed over all components */
    size_t left; /* ast_cluster_source calls within a pass too: points that this pass has not visited yet. Then
                    `changed` and `scored` count the visited points, and `objective` is NaN. 0 otherwise */
    int joining; /* 1: not after a pass: a merge is joining many clusters, and `clusters` are left. 0 otherwise */
} ast_progress;

/* Storage of a checkpoint: a file, or memory. Both functions transfer `size` bytes at `offset` and return 0, or
 * non-zero on failure. The library calls them on the caller's thread. ast_checkpoint needs only `write`, resume only
 * `read`. */
typedef struct ast_storage {
    size_t size;
    uint64_t bytes; /* for reading: the length of the checkpoint */
    int (*read)(uint64_t offset, void *bytes, size_t size, void *data);
    int (*write)(uint64_t offset, const void *bytes, size_t size, void *data);
    void *data;
} ast_storage;

/* What an earlier run has found. Exactly one of `model`, `means` and `labels` is set. */
typedef struct ast_previous {
    size_t size;
    const struct ast_model *model; /* NULL. Of this context. AST_DP, without resume: the model centres or maps the rows
                                      as those of its own run. Rows that fit none of its clusters (below `thresholds`,
                                      else `fits`, else farther than `angle` of ast_model_info) are clustered among
                                      themselves with these options. Then every row joins the nearest mean, old or new.
                                      Old means stay */
    const float *means; /* NULL. (means_count, D) row-major; the library normalises them. New means keep the ids of
                           those that they are near */
    size_t means_count;
    double angle;          /* NaN: the options' angle, or 90 without one. Of means: the farthest that one may move */
    const int32_t *labels; /* NULL. (N) of the same rows, -1: none. Clusters keep the ids of those that they overlap */
    const int32_t *ids;    /* NULL: 0, 1, ... The ids of `means`: (means_count), increasing */
    int32_t next_id;       /* 0: above all ids. New clusters get ids from here on */
} ast_previous;

/* What every method reads comes first, then one group for each method or concern: a run of AST_DP needs the first
 * fields, `dp` and `merge`. Fields of other methods than the chosen one are ignored, except where ast_options_problem
 * refuses them. Each comment begins with the default. */
typedef struct ast_options {
    size_t size;
    ast_method method;  /* AST_DP */
    double angle;       /* NaN: not set. AST_DP, AST_DPMEANS: degrees, 0..180. A larger angle gives fewer clusters */
    size_t clusters;    /* 0: not set. K, 1..N, for the methods that need a number; with AST_GIVEN the number of means
                           may stand in for it. AST_FSD: the largest number of clusters, 0: twice as many as it starts
                           from, at least 20. AST_CRP: the number to start from. AST_FSD always, and AST_CRP if this is
                           0, start from the clusters of AST_DP, merged by evidence */
    int max_iterations; /* 100. Passes after which the run stops without convergence; at least 1. AST_FSD, AST_CRP: the
                           number of sweeps. AST_OSPKM: rounds over the points. AST_MBSPKM: batches */
    int restarts;       /* 1. Runs, each with another start. AST_DP, AST_DPMEANS: run r, from 1 on, visits the points by
                           content with seed + r. AST_DP keeps the run with the best silhouette or, if a run found one
                           cluster, with the best evidence; the other methods keep the best objective */
    uint64_t seed;      /* 1. Seed of orders and of random starts */
    int axial;          /* 0. 1: x and -x are the same (undirected normals, poles, lines, quaternions). Scores are
                           |x . mu|, and the component of largest magnitude of every returned mean is positive. AST_DP,
                           AST_SPKM, AST_MBSPKM, and AST_MOVMF: components are Watson distributions, D at most 100 */
    int center; /* 0. 1: cluster the rows without their common direction: unit vectors minus their weighted mean,
                   normalised again. A row within 2^-20 of the mean is missing then. Takes 4 N D bytes. Means and
                   everything else in the result are those of the centred rows. Not for axial or sparse rows */
    ast_metric_kind metric; /* AST_METRIC_PLAIN. AST_METRIC_LOCAL: learn a map from nearest neighbours, cluster the
                               mapped rows, learn the map again within these clusters, and so on until the clusters stay
                               the same, twice at most (docs/metric.md). Means, angles and everything else in the result
                               are those of the mapped rows; `center` has no effect. AST_DP, AST_SPKM, AST_MBSPKM,
                               AST_MOVMF, for dense rows; without late rows. Takes up to 12 N D bytes; with a source
                               ast_plan says how much */
    const ast_metric *map;  /* NULL. AST_METRIC_LOCAL: use this map, and learn none */
    double outliers;        /* NaN: none. A share, 0 to 1: in every cluster that share of its members, the least similar
                               to their mean, are outliers, label -1. Infinity: rows that are no more similar to their own
                               cluster than rows are to clusters that they do not belong to, and rows far below the others of
                               their cluster. Means stay (docs/outliers.md) */
    size_t representatives; /* 0. For each cluster the numbers of so many rows that are nearest to its mean */
    int calibrate;          /* 0. 1: find `fits` of ast_model_info. Rows in memory, on one rank */
    const ast_previous *previous; /* NULL. Clusters keep the ids of an earlier run (ast_lineage_records). Not for
                                     mixtures, on one rank, for rows in memory */
    const int32_t *groups; /* NULL. (N) one number per row: rows of one group, such as the faces of one photo, never
                              share a cluster; below 0: a row of no group. AST_DP and AST_SPKM (the nearest cluster
                              that no row of the group has yet, in the order of visit), in merging and for rows of
                              weight 0. For dense rows in memory on one rank, not axial, without late rows, tree,
                              resume, sample, levels and a previous model */
    ast_parallel parallel; /* AST_ORDERED */
    int bounds;            /* 1. Skip points that provably cannot change cluster and, in three dimensions with very many
                              clusters, means that provably cannot win. 0 compares all, for measurements */
    /* NULL. Called after every pass; non-zero cancels the call. */
    int (*progress)(const ast_progress *state, void *data);
    void *progress_data;       /* NULL */
    const ast_storage *resume; /* NULL. AST_DP, AST_SPKM: continue from this checkpoint of ast_checkpoint */

    /* AST_DP, and `order` for AST_DPMEANS: which points the rule visits, in which order. */
    struct {
        ast_order order; /* AST_ORDER_GIVEN. Of the first run */
        size_t sample;   /* 0: all points. Otherwise find the clusters among this many points, drawn with the seed, then
                            visit all points once */
    } dp;

    /* AST_DP, AST_SPKM: what happens after convergence. */
    struct {
        ast_merge by;    /* AST_MERGE_NONE */
        double angle;    /* NaN. AST_MERGE_ANGLE: degrees, 0..180 */
        size_t count;    /* 0. AST_MERGE_COUNT: clusters that are left, at least 1 */
        double min_size; /* 0. Clusters of fewer points (by weight, if there are weights) are dissolved, all at once,
                            after merging. Their points join the nearest remaining mean, AST_DP: if it is within the
                            angle; otherwise they are outliers, label -1. Then the means are computed once more */
        int tree;        /* 0. 1: keep the tree of joins for ast_tree */
        int any_angle;   /* 0. AST_DP, 1: those points join the nearest remaining mean at any angle; for clusters that
                            were merged from far smaller ones */
        int32_t *leaves; /* NULL. With `tree`: (N) receives the leaf of every row, the label before any merge; -1 for
                            rows that are missing or have weight 0 */
    } merge;

    /* The means to start from: for the methods with a given number of clusters, and AST_GIVEN for AST_DP too. */
    struct {
        ast_start by;       /* AST_PLUSPLUS. AST_DP distinguishes only AST_GIVEN from the others */
        const float *means; /* NULL. AST_GIVEN: (means_count, D) row-major; the library normalises them */
        size_t means_count; /* 0 */
        size_t points;      /* 0: all points; AST_MBSPKM: the batch size, or 10 K if that is more. AST_SPKM, AST_MBSPKM:
                               k-means++ draws among this many points, drawn with the seed; at least K */
    } start;

    /* AST_MOVMF; `kappa` for AST_FSD and AST_CRP too. */
    struct {
        double kappa;      /* NaN: estimate one per cluster. Otherwise the concentration of every cluster, 0 or more */
        int hard;          /* 0. 1: assign every point to its most probable component alone */
        double tolerance;  /* 1e-6. A run has converged when a pass raises the log-likelihood by at most this many nats
                              per point; with `hard`, when no point changes */
        int auto_clusters; /* 0. 1: find the number of components by their evidence (docs/mixtures.md). `clusters` is
                              then the number to start from, 0: chosen. max_iterations limits the passes at each number
                              of components. Not with `hard` */
        int background;    /* 0. 1: one more component, uniform on the sphere. It is no cluster: points that most
                              probably belong to it have the label -1 and are outliers */
        /* AST_COMPONENT_ROUND. AST_COMPONENT_KENT: components are Kent distributions. D = 3, not axial */
        ast_component_shape shape;
    } mixture;

    /* AST_FSD, AST_CRP. */
    struct {
        double concentration;    /* 1. Alpha, above 0: of the Dirichlet process, or alpha / K of each of the K shares
                                    of AST_FSD. A larger value gives more clusters */
        double kappa_median;     /* 0: 10 D. Without `mixture.kappa`: the prior median s of kappa, whose density is
                                    s / (kappa + s)^2 */
        double prior_kappa;      /* 0: uniform. The prior of the means is vMF(prior_mean, prior_kappa) */
        const float *prior_mean; /* NULL. (D), with prior_kappa; the library normalises it */
        int burn_in;             /* 0. Sweeps before the first sample */
        int sample_every;        /* 0: never. After burn_in, `progress` gets the labels of every n-th sweep */
    } sampler;

    /* AST_MBSPKM. */
    struct {
        size_t points; /* 0: 1024, or 10 K if that is more. Points per batch */
    } minibatch;

    double rounding; /* NaN: found, if rows have two or three components, a twentieth of the rows are copies, and all
                        angles are multiples of 10, 5, 2, 1 or 0.5 degrees. 0: none. Otherwise the angles were rounded
                        to so many degrees, up to 45: for the evidence of clusters every copy counts, and stands for a
                        cell of that size */

    /* AST_SPKM. */
    struct {
        int levels; /* 1. 1..4. For very many clusters: with 2 or more, K^(1/levels) coarse clusters are found first,
                       and the K clusters within them (docs/methods.md). Not with start.means, start.points, resume */
    } kmeans;

    /* AST_OSPKM. */
    struct {
        double learning_rate;     /* 1. The length of the first step, above 0; it falls exponentially ... */
        double learning_rate_end; /* 0.01. ... to the length of the last step */
    } online;
} ast_options;

/* Sets `size` and the defaults. Call it first, then edit. */
static inline void ast_options_init(ast_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->angle = (double)NAN;
    options->max_iterations = 100;
    options->restarts = 1;
    options->seed = 1;
    options->bounds = 1;
    options->merge.angle = (double)NAN;
    options->outliers = (double)NAN;
    options->rounding = (double)NAN;
    options->mixture.kappa = (double)NAN;
    options->kmeans.levels = 1;
    options->mixture.tolerance = 1e-6;
    options->sampler.concentration = 1;
    options->online.learning_rate = 1;
    options->online.learning_rate_end = 0.01;
}

/* NULL if the options can be used, otherwise one sentence that says why not (a constant; do not free it). */
AST_API const char *ast_options_problem(const ast_options *options);

/* The result of a run. */
typedef struct ast_report {
    size_t size;
    size_t points;    /* N */
    size_t missing;   /* rows without a direction; their label is -1 */
    size_t dimension; /* D */
    size_t clusters;  /* K */
    /* What the method maximises.
     *
     * - AST_SPKM, AST_OSPKM, AST_MBSPKM: the sum over the clusters of |sum of the members|
     * - AST_DP: that plus (cos(angle) - 1) K
     * - AST_DPMEANS: minus the sum of squared distances, minus (2 - 2 cos(angle)) K
     * - AST_MOVMF: the log-likelihood; with `hard`, of points and labels; with `auto_clusters`, a lower bound of the
     *   log evidence relative to uniform points (docs/mixtures.md)
     * - AST_FSD, AST_CRP: log p(points, labels, means, kappas) of the last sample */
    double objective;
    double log_likelihood; /* sum of log p(x) over the points, in nats, with weights scaled to add up to the number of
                              points. NaN for methods without such a p */
    double bic;            /* -2 log_likelihood + (free parameters) log(points); smaller is better. NaN if
                              log_likelihood is */
    int iterations;        /* passes of the run that was kept */
    int converged;         /* 0 if it stopped at max_iterations. AST_FSD, AST_CRP: 0, see `settled` */
    uint64_t oir_restarts; /* AST_OIR: how often the remaining points were scored again */
    double seconds;        /* of the whole call */
    double improvement;    /* AST_MBSPKM, and AST_DP with dp.sample: what one more iteration over all points adds to the
                              objective, measured; several iterations would add at least that. NaN otherwise */
    size_t merged;         /* clusters before merging and before small clusters were dissolved */
    size_t outliers;       /* points of dissolved clusters that fit nowhere, and points of the background; their label
                              is -1 */
    double silhouette;     /* by cosine, of the run that was kept. AST_DP with several restarts; NaN if it was not
                              needed to choose among them, and for other runs */
    double stability;      /* the mean adjusted Rand index of the kept run and the other restarts: 1 if all agree. NaN
                              with one run */
    double rayleigh;       /* test of uniformity of all points: Rayleigh's statistic D n (R / n)^2; axial: Bingham's,
                              NaN above 16 dimensions, which does not see axes that are spread equally over
                              perpendicular directions. n as in ast_cluster_info.effective */
    double rayleigh_p;     /* the probability of such a statistic or a larger one if the points were uniform */
    double background;     /* the share of the background in the mixture, 0..1; NaN without one */
    double effective_samples; /* AST_FSD, AST_CRP: how many independent samples the chain is worth, by the log joint
                                 density and the number of clusters. This field, `settled` and `cluster_posterior`
                                 leave out the sweeps of the burn-in, or the first fifth if burn_in is 0. NaN for
                                 other methods */
    int settled;              /* AST_FSD, AST_CRP: 1 if the two halves of the chain agree */
    const double *cluster_posterior; /* AST_FSD, AST_CRP: element k is the share of sweeps with k clusters.
                                        auto_clusters: the probability of k components by the best bound of the evidence
                                        that the search met at each k. NULL otherwise. Valid until the next call with
                                        the context */
    size_t cluster_posterior_count;  /* elements: k = 0, 1, ... */
    const float *center; /* (D) the mean that options.center subtracted from the rows; NULL without it. Valid until the
                            next call with the context */
    const ast_metric *metric; /* the map of AST_METRIC_LOCAL; NULL without it. Valid until the next call with the
                                 context */
    double level_misplaced; /* AST_SPKM with kmeans.levels above 1: the share of 2000 points, drawn with the seed, whose
                               nearest mean is not that of their cluster. NaN otherwise */
    double level_loss; /* what the objective of these points would gain if each joined its nearest mean, relative to
                          that objective. NaN otherwise */
} ast_report;

/* A cluster of the last result. */
typedef struct ast_cluster_info {
    size_t count;      /* points with this label */
    double weight;     /* the sum of their weights as given; equals `count` without weights */
    double resultant;  /* |sum of w x| / sum of w, 0..1: 1 if all members are equal */
    double kappa;      /* concentration of a von Mises-Fisher distribution: of the component or, for methods without
                          components, by maximum likelihood for the members. NaN if there are fewer than two members, or
                          if all are equal. AST_MOVMF: by maximum likelihood; with auto_clusters the most probable one
                          under the prior that all components share, which draws the kappas of few points together.
                          Axial AST_MOVMF: of a Watson distribution; below 0: a girdle, whose pole is the mean */
    const float *mean; /* (D) unit vector */
    double share;      /* the weight of the component in the mixture, 0..1; NaN for methods without components */
    double stability;  /* the mean over the other restarts of the Jaccard index with the most similar cluster there,
                          0..1; NaN with one run */
    /* How well the mean is known (docs/errors.md). Angles are in degrees. NaN if kappa is. */
    double effective; /* n, the number of points that weigh equally and tell as much: (sum w)^2 / sum w^2, `count`
                         without weights. AST_MOVMF: `share` times that of all points */
    double length;    /* R = n times the mean resultant length; AST_MOVMF: that of the component */
    double precision; /* kappa estimated from R alone. D = 3: Fisher's k = (n - 1) / (n - R). For few points in many
                         dimensions `kappa` is far too large, and this is not; it is on average too large by
                         (n - 1) / (n - 2). 0: R is as short as by chance */
    double standard_error; /* of the mean. D = 3: with 63% probability the true mean is within this angle */
    double alpha95;        /* the same with 95% probability: the confidence cone; 180 if the mean could be anywhere */
    double kappa_interval[2];      /* 95% confidence limits of kappa */
    const size_t *representatives; /* (representative_count) numbers of the rows with this label that are nearest to the
                                      mean, from 0, nearest first, equal ones in order; NULL if none were asked for */
    size_t representative_count;   /* options.representatives, or `count` if that is less */
    double beta;                   /* Kent: how elliptical the component is, 0 to kappa / 2; NaN otherwise */
    const float *axes;   /* Kent: (2, 3) the directions of its long and its short axis, across the mean; or NULL */
    double ellipse95[2]; /* Kent: half-axes of the 95% confidence ellipse of the mean along them, degrees; or NaN */
    size_t set; /* from 1: clusters with the same number are pieces of one set; 0: it is no piece. AST_DP without
                   merging in up to three dimensions: clusters nearer to each other than the angle that are
                   better explained by one. alpha95 then reaches to the mean of the set */
} ast_cluster_info;

/* Clusters the points. `labels` (N) receives 0..K-1 in order of creation, -1 for missing rows. If every row is missing
 * there are 0 clusters. On failure labels and report are not written. */
AST_API ast_status ast_cluster(ast_context *context, const ast_points *points, const ast_options *options,
                               int32_t *labels, ast_report *report);

/* Writes a checkpoint of a run of AST_DP or AST_SPKM without dp.sample, start.points and levels. Call it only from
 * `progress`, after a pass (iteration 1 or later). A later ast_cluster with `resume` continues from it, on any number
 * of threads and ranks, and gives exactly the labels, means and report of the uninterrupted run (except `seconds`, and
 * `oir_restarts` if only one of them used AST_OIR). A checkpoint of the last pass gives the result at once. Points,
 * weights and options must be the same, except `parallel`, `bounds`, `restarts` and, in the first restart,
 * `max_iterations`, which must be at least the number of passes already done. Otherwise, or if a byte is damaged,
 * ast_cluster returns AST_BAD_STATE.
 *
 * A checkpoint has 4 bytes per point (8 from the second restart on) plus the means. It is written sequentially. Several
 * ranks (asterism_ranks.h) call this function together, after the same pass: each writes its own part of one file,
 * whose layout does not depend on the number of ranks, and each reads only what it needs. The first checkpoint of a
 * call, and a call with `resume`, read all points once to compute their checksum. */
AST_API ast_status ast_checkpoint(ast_context *context, const ast_storage *storage);

/* The K clusters of the last successful ast_cluster or ast_cluster_source of this context, in order of label. NULL and
 * *count = 0 before the first. Valid until the next call with the context. */
AST_API const ast_cluster_info *ast_cluster_records(const ast_context *context, size_t record, size_t *count);
static inline const ast_cluster_info *ast_clusters(const ast_context *context, size_t *count) {
    return ast_cluster_records(context, sizeof(ast_cluster_info), count);
}

/* A join of the tree (options.tree): nodes 0..L-1 are its leaves, the clusters before any merge; join number t, from 0,
 * makes node L + t of nodes a < b. The pair that loses least of sum |sum of the members| joins first. */
typedef struct ast_tree_join {
    size_t a, b, into;
    double loss;  /* of that sum: |s_a| + |s_b| - |s_a + s_b| */
    double angle; /* between the means of a and b, in degrees */
    size_t count; /* points of the new node */
} ast_tree_join;

/* The L - 1 joins of the last successful ast_cluster of this context, in order. NULL and *count = 0 if no tree was
 * asked for. Valid until the next call with the context. */
AST_API const ast_tree_join *ast_tree_records(const ast_context *context, size_t record, size_t *count);
static inline const ast_tree_join *ast_tree(const ast_context *context, size_t *count) {
    return ast_tree_records(context, sizeof(ast_tree_join), count);
}

/* Cuts that tree: `labels` (count) receives 0..clusters-1, in order of appearance, for `leaves` (count) that the run
 * gave (ast_options.merge.leaves), -1 where the leaf is -1. Cuts with fewer clusters join clusters of cuts with more.
 * AST_BAD_OPTION if the tree does not have so many leaves, or none was asked for. */
AST_API ast_status ast_tree_cut(ast_context *context, const int32_t *leaves, size_t count, size_t clusters,
                                int32_t *labels);

/* With options.previous: what became of a cluster. */
typedef enum ast_lineage_event {
    AST_LINEAGE_KEPT = 0,   /* the cluster has the id of `from` */
    AST_LINEAGE_BORN = 1,   /* a new id */
    AST_LINEAGE_MERGED = 2, /* more than half of each of two or more old clusters, `from`, is in this one */
    AST_LINEAGE_SPLIT = 3,  /* this and other clusters are mostly of one old cluster, `from`, and cover most of it */
    AST_LINEAGE_DIED = 4    /* no cluster has the id of `from` any more */
} ast_lineage_event;

typedef struct ast_lineage {
    int32_t id;
    ast_lineage_event event;
    const int32_t *from; /* (from_count) old ids, increasing */
    size_t from_count;
} ast_lineage;

/* The clusters of the last successful ast_cluster with options.previous, and those that died, by id. Without `died`
 * record k is cluster k: its id is what a model of the result calls it. NULL and *count = 0 without options.previous.
 * Valid until the next call with the context. */
AST_API const ast_lineage *ast_lineage_records(const ast_context *context, size_t record, size_t *count);

/* The means of those clusters: (K, D) row-major, unit vectors. The records' `mean` pointers are its rows. NULL if there
 * are no clusters. Valid until the next call with the context. */
static inline const float *ast_means(const ast_context *context) {
    size_t count;
    const ast_cluster_info *clusters = ast_clusters(context, &count);
    return count ? clusters->mean : NULL;
}

/* How similar rows are to the means of the last successful ast_cluster of this context: `similarity` (N) receives the
 * cosine (|cosine| of axial rows) to the mean of the row's label, NaN for label -1 and for missing rows. The rows are
 * centred or mapped like those of the run. AST_BAD_DATA for a label that is no cluster. */
AST_API ast_status ast_similarity(ast_context *context, const ast_points *points, const int32_t *labels,
                                  float *similarity);

/* Evaluates the mixture of the last successful ast_cluster of this context at any points. `memberships` (N, K)
 * row-major receives the probability of each component given the point, `log_density` (N) the log density of the
 * mixture in nats. Either may be NULL. Missing rows get NaN. Weights are ignored. The points are centred or mapped like
 * those of the mixture. AST_BAD_OPTION if the last method had no components. */
AST_API ast_status ast_memberships(ast_context *context, const ast_points *points, float *memberships,
                                   double *log_density);

/* Known means to assign points to. */
typedef struct ast_assign_options {
    size_t size;
    const float *means; /* (means_count, D) row-major; the library normalises them */
    size_t means_count;
    double angle; /* NaN: no limit. Degrees, 0..180: a point farther than this from every mean gets the label -1 */
    int axial;    /* 0. 1: x and -x are the same, and similarities are |cosine| */
    const float *center; /* NULL. (D) ast_report.center of the run that found the means: rows are centred by it first.
                            Not with axial or sparse rows */
    const ast_metric *metric; /* NULL. ast_report.metric of that run: rows are mapped by it first. Not with axial or
                                 sparse rows */
} ast_assign_options;

static inline ast_assign_options ast_assign_to(const float *means, size_t means_count) {
    ast_assign_options options;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.means = means;
    options.means_count = means_count;
    options.angle = (double)NAN;
    return options;
}

/* Labels points with known means and learns nothing. A point gets the index of the mean with the largest cosine, the
 * lowest index if several are equal. `similarity` (N, or NULL) receives the cosine to that mean, NaN for missing rows.
 */
AST_API ast_status ast_assign(ast_context *context, const ast_points *points, const ast_assign_options *options,
                              int32_t *labels, float *similarity);

/* ast_assign, and how clear each label is: `runner_up` (N) receives the second largest cosine of every point with a
 * mean, `runner_up_label` (N) the index of that mean, the lowest of equal ones. NaN and -1: the row is missing, or
 * there is only one mean. Each of the last three arrays may be NULL. Takes a product of all rows and means. Not for
 * sparse rows. */
AST_API ast_status ast_assign_compare(ast_context *context, const ast_points *points, const ast_assign_options *options,
                                      int32_t *labels, float *similarity, float *runner_up, int32_t *runner_up_label);

/* ---- Models ---------------------------------------------------------------------------------------------------- */

/* Everything that labels new rows as a run labelled its own: means, and what the run did to rows before it compared
 * them. The means alone would give wrong labels if the rows were centred or the run was a mixture. */
typedef struct ast_model ast_model;

/* What a model holds. Arrays that a model does not need are NULL. */
typedef struct ast_model_info {
    size_t size;
    ast_method method;
    size_t dimension, clusters; /* D, K: at least 1 */
    int axial;
    double angle;           /* AST_DP, AST_DPMEANS: of the run, degrees; NaN otherwise */
    double background;      /* AST_MOVMF: the share of the background, 0..1; NaN without one */
    int32_t next_id;        /* no cluster ever had this id or a larger one */
    const float *means;     /* (K, D) unit vectors */
    const int32_t *ids;     /* (K) increasing, the labels that the model gives; NULL: 0..K-1 */
    const uint64_t *counts; /* (K) rows of the run in each cluster, or NULL */
    const double *kappas;   /* (K), or NULL; NaN where undefined. Mixtures: of the components; axial ones may be
                               below 0 */
    const double *shares;   /* (K) mixtures: the weights of the components. NULL: the nearest mean decides */
    const double *lengths;  /* (K) AST_DPMEANS: the lengths of its means, which lie within the sphere; NULL otherwise */
    const float *thresholds; /* (K) a row that is less similar to the mean is an outlier, label -1; NULL: none is */
    const float *center;     /* (D) ast_report.center, or c1 of an ast_metric; or NULL */
    const float *matrix;     /* (D, D) and (D): the rest of the ast_metric that maps rows, or NULL both */
    const float *mapped_center;
    const char *const *names; /* (K) UTF-8, "" without a name; or NULL */
    const float *fits; /* (K) a row that is less similar to the mean is on no topic of this model, for options.previous;
                          it has a label nevertheless. As `thresholds` of options.outliers = infinity; or NULL */
    const double *betas; /* (K) Kent: as in ast_cluster_info; or NULL */
    const float *axes;   /* (K, 2, 3) Kent; or NULL */
} ast_model_info;

/* The model of the last successful ast_cluster, ast_cluster_source or ast_tune of this context, to be edited: its
 * arrays are those of the context, valid until the next call with it. AST_BAD_DATA if the run found no cluster. */
AST_API ast_status ast_model_of_result(ast_context *context, ast_model_info *info);

/* Makes a model of a copy of the arrays. Close it before the context. On failure *model is NULL. */
AST_API ast_status ast_model_open(ast_model **model, ast_context *context, const ast_model_info *info);
AST_API void ast_model_close(ast_model *model); /* NULL is allowed */

/* What the model holds. The arrays are valid until it is closed. */
AST_API ast_status ast_model_view(const ast_model *model, ast_model_info *info);

/* The model as bytes, which are what a model file contains: a head, a JSON object that lists the arrays, the arrays,
 * and a checksum (docs/embeddings.md). The pointer is valid until the model is closed. NULL on failure. */
AST_API const void *ast_model_save(const ast_model *model, size_t *size);

/* Makes a model of such bytes. AST_BAD_DATA if they are damaged or have another version. */
AST_API ast_status ast_model_load(ast_model **model, ast_context *context, const void *bytes, size_t size);

/* Labels points and learns nothing. A point gets the id of the nearest mean or, where the run was a mixture, of the
 * most probable component; -1 where the run itself would have given it: below the threshold of the cluster, in the
 * background, or without a direction. angle: NaN, or degrees: a point farther than this from its mean gets -1, too.
 * `similarity` (N, or NULL) receives the cosine to that mean, also of points that get -1; NaN for missing rows. Rows
 * are those that the run got: the model centres them. Sparse rows as in ast_assign, not with mixtures. */
AST_API ast_status ast_model_assign(ast_model *model, const ast_points *points, double angle, int32_t *labels,
                                    float *similarity);

/* ---- Which angle ----------------------------------------------------------------------------------------------- */

/* What DP-vMF-means finds in the sample at one angle, in content order. */
typedef struct ast_tune_angle {
    double angle;             /* degrees */
    size_t clusters;          /* without merging */
    double silhouette;        /* by cosine; NaN with fewer than two clusters */
    double stability;         /* NMI with the labels of the next larger angle; NaN at the largest */
    double objective;         /* as in ast_report */
    size_t merged;            /* clusters with AST_MERGE_EVIDENCE */
    double merged_silhouette; /* NaN with fewer than two */
    double evidence;          /* log evidence of these clusters, not merged, minus that of one cluster, in nats */
} ast_tune_angle;

/* Each comment begins with the default. */
typedef struct ast_tune_options {
    size_t size;
    double from, to;     /* 120 and 5. The largest and the smallest angle of the sweep, degrees */
    double step;         /* 2.5. From one angle to the next, above 0 */
    size_t max_clusters; /* 0. No larger number of clusters is considered; at least 2, or 0: no limit */
    int axial;           /* 0. 1: x and -x are the same */
    int draws;           /* 5. Draws of one von Mises-Fisher distribution to compare with; at least 1. Of each other
                            distribution without clusters there are at most 3 */
    uint64_t seed; /* 1. Seed of the content order of the described run. The recommendation does not depend on it */
    int describe;  /* 1. 0: do not run the recommended options on all points; the report describes the sample */
    int (*progress)(double done, void *data); /* NULL. Called from time to time with 0..1; non-zero cancels */
    void *progress_data;
    int center; /* 0. 1: as in ast_options */
    /* NULL. Called with progress_data after every angle of the sweep, from large to small, on the caller's thread. */
    void (*angle_found)(const ast_tune_angle *angle, void *data);
    size_t min_clusters;    /* 2. No smaller number of clusters is considered; at least 2 */
    ast_metric_kind metric; /* AST_METRIC_AUTO. Not AST_METRIC_LOCAL with axial or sparse rows */
    double rounding;        /* NaN: found; as in ast_options */
} ast_tune_options;

static inline void ast_tune_options_init(ast_tune_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->from = 120;
    options->to = 5;
    options->step = 2.5;
    options->min_clusters = 2;
    options->draws = 5;
    options->seed = 1;
    options->describe = 1;
    options->metric = AST_METRIC_AUTO;
    options->rounding = (double)NAN;
}

/* A level of the tree of joins: the partition of the sample into so many clusters. */
typedef struct ast_tune_level {
    size_t clusters;
    double silhouette;
    double null;      /* the largest silhouette at this level of draws of one von Mises-Fisher distribution */
    double excess;    /* silhouette - null */
    int peak;         /* 1: no neighbouring level is better, and it is among the best */
    double stability; /* adjusted Rand index of the clusters that two random halves of the sample give all of it; NaN:
                         there are fewer than 40 different rows */
    int local_peak;   /* 1: no neighbouring level is better, and it stands out from the draws. Every peak is one unless
                         the result is weak */
    double null_any;  /* the largest silhouette of draws of any distribution without clusters: that one, one cluster in
                         uniform noise, circles, arcs. What stands out is above it */
} ast_tune_level;

/* The recommendation: AST_DP with `angle`, AST_ORDER_CONTENT, `metric`, `merge` and `merge_count`. */
typedef struct ast_tune_report {
    size_t size;
    double angle; /* degrees */
    ast_merge merge;
    size_t merge_count; /* AST_MERGE_COUNT: clusters that are left */
    size_t clusters;    /* that these options find in all points */
    double silhouette;  /* of that; NaN with one cluster */
    double excess;      /* of the chosen level over all draws (null_any); NaN where there was nothing to choose from */
    double evidence;    /* log evidence of the best level of the tree minus that of one cluster, in nats
                           (docs/merging.md); 0: one cluster is best */
    size_t limit;       /* clusters of that level: more are not recommended */
    int weak;           /* 1: nothing stands out, and the angle is only the least bad one */
    const char *reason; /* one sentence, without a full stop; valid until the next ast_tune with the context */
    double first, last; /* the largest and the smallest angle that find these clusters without merging; NaN: none */
    double leaf_angle;  /* where the tree of joins starts, degrees */
    size_t points;      /* the sample that was looked at */
    size_t missing;     /* rows without a direction */
    int cut;            /* 1: the sweep ended before `to`, since smaller angles find too many clusters */
    ast_metric_kind metric; /* of the recommended run: angles and silhouettes are those of mapped rows if it is local */
    double stability;       /* of the chosen level; NaN where there was nothing to choose from */
} ast_tune_report;

/* Finds options of AST_DP that suit the points (docs/tune.md has the rule), and runs them on all points: `labels` (N,
 * or NULL) receives the labels, and ast_clusters the clusters of that run, which ast_cluster with these options gives
 * again, bit for bit. With `describe` 0 neither changes. The recommendation does not depend on the order of the rows.
 * AST_BAD_DATA if every row is missing. Sparse rows have at most 131072 columns here. */
AST_API ast_status ast_tune(ast_context *context, const ast_points *points, const ast_tune_options *options,
                            int32_t *labels, ast_tune_report *report);

/* The angles of the last successful ast_tune of this context, from large to small. NULL and *count = 0 before the
 * first. Valid until the next ast_tune with the context. */
AST_API const ast_tune_angle *ast_tune_angle_records(const ast_context *context, size_t record, size_t *count);
static inline const ast_tune_angle *ast_tune_angles(const ast_context *context, size_t *count) {
    return ast_tune_angle_records(context, sizeof(ast_tune_angle), count);
}

/* The levels that it looked at, from few to many clusters: none if one cluster is best. Valid like the angles. */
AST_API const ast_tune_level *ast_tune_level_records(const ast_context *context, size_t record, size_t *count);
static inline const ast_tune_level *ast_tune_levels(const ast_context *context, size_t *count) {
    return ast_tune_level_records(context, sizeof(ast_tune_level), count);
}

/* ---- Near-duplicates ------------------------------------------------------------------------------------------- */

/* Which rows are one group. Two rows are near if their score is at least `cosine` - 2^-20. */
typedef enum ast_dedup_mode {
    AST_CONNECTED = 0, /* rows that a chain of near rows connects */
    AST_STAR = 1       /* a row and the rows near it: rows are visited in the order of `keep`, and a row that is near a
                          kept row joins the group of the first such one; another row is kept */
} ast_dedup_mode;

/* Which row of a group is kept. Among equal ones it is the first. */
typedef enum ast_dedup_keep {
    AST_KEEP_FIRST = 0,
    AST_KEEP_CENTRAL = 1, /* AST_CONNECTED: the row with the largest sum of cosines with the rows of its group.
                             AST_STAR: rows with more near rows come first */
    AST_KEEP_RANKED = 2   /* the row with the largest `rank` */
} ast_dedup_keep;

/* Each comment begins with the default. */
typedef struct ast_dedup_options {
    size_t size;
    double cosine;             /* NaN: not set. -1..1 */
    ast_dedup_mode mode;       /* AST_CONNECTED */
    ast_dedup_keep keep;       /* AST_KEEP_FIRST */
    const double *rank;        /* NULL. (N) for AST_KEEP_RANKED */
    const ast_points *against; /* NULL. M rows that are kept already. A row near one of them is dropped, and its group
                                  is the number of the nearest, the first of equal ones; the other rows are grouped
                                  among themselves, from group M on. Dropped rows connect nothing */
    size_t memory; /* 0. Rows that are not unit vectors in floats are copied if that takes at most so many bytes, 0:
                      any; otherwise they are normalised whenever they are read, which is slower */
    /* NULL. Called after the last step that can fail, with every near pair, i < j, in order of i and j; j - N is a row
     * of `against`. Non-zero cancels the call. With it the call keeps the pairs of different rows in memory. */
    int (*pair)(size_t i, size_t j, double cosine, void *data);
    void *pair_data;
    int (*progress)(double done, void *data); /* NULL. Called from time to time with 0..1; non-zero cancels */
    void *progress_data;
} ast_dedup_options;

static inline void ast_dedup_options_init(ast_dedup_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->cosine = (double)NAN;
}

typedef struct ast_dedup_report {
    size_t size;
    size_t rows, missing; /* N, and rows without a direction */
    size_t kept;          /* rows that are kept */
    size_t groups;        /* groups of the rows that are not near `against`: as many as kept rows */
    size_t duplicates;    /* groups of two and more rows */
    size_t matched;       /* rows that are near a row of `against` */
    uint64_t pairs;       /* near pairs: with rows of `against`, and among the rows that are not near those */
    double seconds;
} ast_dedup_report;

/* Finds all near pairs of rows, exactly, and groups the rows. `groups` (N) receives 0..G-1 in order of the first row,
 * -1 for missing rows; `kept` (N, or NULL) 1 for rows that are kept and 0 for others. Needs about 300 bytes per row
 * besides the rows; the number of pairs does not matter. Dense rows; weights and late rows are ignored. */
AST_API ast_status ast_dedup(ast_context *context, const ast_points *points, const ast_dedup_options *options,
                             int32_t *groups, uint8_t *kept, ast_dedup_report *report);

/* ---- Larger than memory ---------------------------------------------------------------------------------------- */

/* Points that the library reads in parts, for example from a file larger than memory. The caller supplies the function
 * that reads. Rows are as in ast_points. They must be the same whenever they are read. */
typedef struct ast_source {
    size_t size;
    size_t count;     /* N, below 2^31 */
    size_t dimension; /* D, 2..4096 */
    ast_type type;
    const double *weights; /* (N) or NULL, as in ast_points; in memory, and the library makes one copy */
    /* Reads rows first..first+count-1, row-major without gaps, into `rows`, which is aligned like malloc. Returns 0, or
     * non-zero on failure: the call then ends with AST_NO_INPUT. Called from several threads at once. */
    int (*read)(size_t first, size_t count, void *rows, void *data);
    /* NULL, or announces rows that will be read soon (for posix_fadvise). Called on the caller's thread. */
    void (*expect)(size_t first, size_t count, void *data);
    void *data; /* for both */
} ast_source;

/* Receives the labels, and stores them during the run if they do not fit in memory. */
typedef struct ast_label_store {
    size_t size;
    /* Stores labels first..first+count-1; `read` returns what was stored last. Both return 0, or non-zero on failure.
     * During a run the library stores numbers of its own; the labels are there when the call returns AST_OK. If
     * ast_plan.rows is N the library never calls `read`, and writes the labels once, in order, after the last step that
     * can fail. Called from several threads at once, each with other labels. */
    int (*write)(size_t first, size_t count, const int32_t *labels, void *data);
    int (*read)(size_t first, size_t count, int32_t *labels, void *data); /* may be NULL if ast_plan.rows is N */
    void *data;                                                           /* for both */
} ast_label_store;

/* How a call will use its memory. */
typedef struct ast_plan {
    size_t size;
    size_t memory;        /* peak of the call in bytes, in addition to what the caller and the context already use */
    size_t least;         /* the smallest memory budget in bytes that is enough */
    size_t rows;          /* rows whose labels are in memory at a time */
    size_t clusters;      /* the largest number of clusters: AST_NO_MEMORY if AST_DP finds more */
    int bounds;           /* 1 if a pass can skip reading points that provably cannot change cluster */
    uint64_t pass_bytes;  /* bytes that a pass reads from the source, at most */
    uint64_t label_bytes; /* bytes that a pass reads from and writes to the label store */
    int heads;            /* 1 if there is memory to compare points with many means by a part of their coordinates */
} ast_plan;

/* Plans a run with a budget of `memory` bytes. The run must be AST_DP or AST_SPKM with restarts 1, AST_ORDER_GIVEN and
 * AST_ORDERED, without dp.sample, start.points and resume: AST_BAD_OPTION otherwise. With AST_METRIC_LOCAL rows are
 * mapped whenever they are read, and a map that is learned takes two passes more. Merging by the evidence or to a count
 * holds 25 bytes a row, merge.leaves 4, and needs `rounding` as a number in up to three dimensions. AST_NO_MEMORY if
 * the budget is below `least`; `least` is filled in then too. */
AST_API ast_status ast_plan_source(ast_context *context, const ast_source *source, const ast_options *options,
                                   size_t memory, ast_plan *plan);

/* Clusters points that are larger than memory, according to that plan. Labels, means and report equal those of
 * ast_cluster on the same points, bit for bit. `progress` is also called within a pass: see ast_progress.left. On
 * failure the report is not written, and the content of the store is undefined. */
AST_API ast_status ast_cluster_source(ast_context *context, const ast_source *source, const ast_options *options,
                                      size_t memory, const ast_label_store *labels, ast_report *report);

/* Where ast_assign_source delivers its results. `write` gets the labels and similarities of rows first..first+count-1,
 * in order, on the caller's thread; the arrays are valid during the call. It returns 0, or non-zero to cancel. */
typedef struct ast_label_sink {
    size_t size;
    int (*write)(size_t first, size_t count, const int32_t *labels, const float *similarity, void *data);
    void *data;
} ast_label_sink;

/* ast_assign in parts. It reads the source once and uses about 64 MiB plus what the means need. */
AST_API ast_status ast_assign_source(ast_context *context, const ast_source *source, const ast_assign_options *options,
                                     const ast_label_sink *sink);

/* ast_model_assign in parts, the same. */
AST_API ast_status ast_model_assign_source(ast_model *model, const ast_source *source, double angle,
                                           const ast_label_sink *sink);

/* ---- Streams --------------------------------------------------------------------------------------------------- */

/* A stream of frames in which directions drift, disappear and return. Every cluster keeps its id. Frames may differ in
 * size, be empty, or contain only missing rows. */
typedef struct ast_stream ast_stream;

typedef enum ast_stream_method {
    AST_STREAM_DDP = 0, /* DDP-vMF-means: clusters move, disappear and are revived under the same id */
    AST_STREAM_SDP = 1, /* each frame starts from the means of the one before; a cluster without points dies at once */
    AST_STREAM_DP = 2   /* each frame by itself; every cluster gets a new id */
} ast_stream_method;

typedef enum ast_weight_update {
    AST_UPDATE_OF_TRACKER = 0, /* AST_POSTERIOR with drift, AST_PAPER with beta */
    AST_POSTERIOR = 1,         /* w = 1 / (1/w + dt/beta) + |sum|, as in a Kalman filter; bounded */
    AST_PAPER = 2 /* w = f*, as in the paper; grows without bound. Infinite beta: without the term dt beta */
} ast_weight_update;

typedef enum ast_stream_score {
    AST_SCORE_OF_TRACKER = 0, /* AST_SCORE_NEAREST, but AST_SCORE_GEODESIC with beta or without revive_near */
    AST_SCORE_NEAREST = 1,    /* the cosine with the mean, less for every frame of absence. The fewer points a mean is
                                 known from, the larger the angle up to which a point fits it */
    AST_SCORE_GEODESIC = 2    /* the paper's: the mean of a cluster without points may move to meet the point */
} ast_stream_score;

/* Each comment begins with the default. */
typedef struct ast_stream_options {
    size_t size;
    size_t dimension;         /* 0: not set. D of every frame, 2..4096 */
    ast_stream_method method; /* AST_STREAM_DDP */
    double angle;             /* NaN: not set. Degrees, 0..180 */
    double drift;             /* 1. Degrees that a direction moves per frame, above 0 */
    double beta;              /* NaN: not set, the tracker uses `drift`. 0 or more: the paper's tracker, and drift
                                 is ignored. Infinity: directions do not move, and a mean is the mean of all points
                                 that the cluster ever had */
    ast_weight_update weight_update; /* AST_UPDATE_OF_TRACKER */
    uint32_t lifetime;      /* 400. A cluster dies after this many consecutive frames without points. With 0 or 1
                               every cluster ends with the frame in which it was born */
    int max_iterations;     /* 100. Passes per frame at most; a small number keeps a deadline */
    size_t max_clusters;    /* 0: no limit. If more clusters are left after a frame, the library drops those that
                               were unseen for longest, of these the lightest, of these those with the largest
                               id */
    ast_parallel parallel;  /* AST_ORDERED */
    int bounds;             /* 1 */
    int axial;              /* 0. 1: x and -x are the same */
    int revive_near;        /* 1: a point revives a cluster only within `angle` of the cluster's last direction. 0: any
                               cluster that explains it, as in the paper. Then, in data with little noise, a cluster
                               that was unseen for long may be assigned to any new surface (docs/rules.md) */
    int merge_tracked;      /* 0. 1: two clusters with points whose means are closer than half the angle in three
                               successive frames become one, under the older id. For directions that may share a frame
                               and be the same, as surface normals; AST_STREAM_DDP only */
    int rigid;              /* 0. 1: all directions turn together, as a camera sees a scene that does not move. The turn
                               is learned from the clusters in view and applied to all. D = 3, AST_STREAM_DDP only */
    ast_stream_score score; /* AST_SCORE_OF_TRACKER */
    int exclusive;          /* 0. 1: two points of one frame never have the same id, as faces of one picture: of all
                               assignments of points to ids that they fit, the one with the largest sum of scores.
                               Frames have at most 10^4 points. Only with AST_SCORE_NEAREST, not axial. With
                               merge_tracked, two ids that were never seen in one frame become one when their means
                               agree */
    double min_quality;     /* 0. Points of a smaller weight are late: they get an id, but start no cluster and do not
                               count in means */
    uint32_t born_after; /* 1. A cluster gets its id to show after so many frames with points that are not late. Until
                            then its points have the label -1, and its number is reserved */
    size_t min_size;     /* 1. A cluster is born only with so many points of one frame; the points of a smaller one
                            have the label -1. Not with exclusive */
    const float *center; /* NULL. (D) the mean of earlier points as unit vectors, such as ast_report.center: the stream
                            subtracts it from every row and normalises the row again. Copied. Means are those of centred
                            rows. Not for axial points */
    int rotation;        /* 1: ast_stream_rotation. Without effect unless D = 3, AST_STREAM_DDP, not axial and not
                            exclusive */
} ast_stream_options;

static inline void ast_stream_options_init(ast_stream_options *options) {
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
    options->angle = (double)NAN;
    options->drift = 1;
    options->beta = (double)NAN;
    options->lifetime = 400;
    options->max_iterations = 100;
    options->bounds = 1;
    options->revive_near = 1;
    options->born_after = 1;
    options->min_size = 1;
    options->rotation = 1;
}
AST_API const char *ast_stream_options_problem(const ast_stream_options *options); /* NULL, or one sentence */

/* What happened to a cluster in the last frame. AST_DIED and AST_MERGED are last records. A cluster that the stream
 * does not remember (lifetime 0 or 1, AST_STREAM_DP, or points that cancel out) has one record, AST_BORN, and ends with
 * its frame. */
typedef enum ast_event {
    AST_BORN = 0,
    AST_REVIVED = 1, /* has points that are not late, and had none in the frame before */
    AST_SEEN = 2,
    AST_UNSEEN = 3,
    AST_DIED = 4,  /* unseen for too long (AST_STREAM_SDP: unseen), or dropped because of max_clusters */
    AST_MERGED = 5 /* has points, and is from now on part of cluster `into` (merge_tracked) */
} ast_event;

typedef struct ast_tracked {
    int32_t id; /* from 0; never used again */
    ast_event event;
    uint32_t age;      /* frames since it last had points that were not late: 0 if it has some now */
    size_t count;      /* its points in this frame, with late rows. If all are late, the event is AST_UNSEEN */
    double share;      /* its share of the frame's points that are not missing */
    double weight;     /* confidence of the tracker in the mean, in points */
    const float *mean; /* (D) */
    double spread;     /* degrees that its points lie from the mean, root mean square, as learned so far: shrunk to
                          the spread of all clusters while it has few points */
    int32_t into; /* AST_MERGED: the id that stays, whose record has the mean and the weight of both. Otherwise -1 */
} ast_tracked;

/* The result of a step. */
typedef struct ast_frame {
    size_t size;
    uint64_t frame; /* number of the frame, from 0 */
    size_t points, missing;
    int iterations, converged;
    double objective;
    double seconds;
    size_t clusters;       /* clusters with points */
    uint64_t oir_restarts; /* AST_OIR: how often the remaining points were scored again */
    size_t late;           /* late rows (ast_points) that got a label */
    size_t unassigned;     /* late rows that no cluster takes (ast_points); `missing` includes them */
    size_t merged;         /* clusters whose last record this is: they became part of others */
    size_t unborn;         /* points without id whose cluster was not seen often enough (born_after) or is too small
                              (min_size) */
} ast_frame;

/* Opens a stream on the context's threads. Close it before the context. On failure *stream is NULL. */
AST_API ast_status ast_stream_open(ast_stream **stream, ast_context *context, const ast_stream_options *options);
AST_API void ast_stream_close(ast_stream *stream); /* NULL is allowed */

/* Processes the next frame. `labels` (N) receives ids, -1 for missing rows. After a failure (ast_message of the
 * context) the stream is as it was before the call. In the steady state it allocates nothing. Weights, 0 to 2^20, say
 * how much a point moves its mean, in points: it is the quality of a row. A point of weight below 2^-20 is late. In
 * exclusive frames late points take ids that no other point of the frame has. */
AST_API ast_status ast_stream_step(ast_stream *stream, const ast_points *points, int32_t *labels, ast_frame *frame);

/* The clusters after the last step, in order of id, including clusters that died or were merged in it. After
 * ast_stream_load, the clusters that the state remembers: AST_SEEN if they had points in the last frame, otherwise
 * AST_UNSEEN; the shares are those among the remembered clusters. Valid until the next call with the stream. */
AST_API const ast_tracked *ast_stream_records(const ast_stream *stream, size_t record, size_t *count);
static inline const ast_tracked *ast_stream_clusters(const ast_stream *stream, size_t *count) {
    return ast_stream_records(stream, sizeof(ast_tracked), count);
}

/* Labels points with the ids of the nearest tracked means; -1 if all are farther than the stream's angle. Learns
 * nothing. */
AST_API ast_status ast_stream_predict(ast_stream *stream, const ast_points *points, int32_t *labels);

/* How sure the labels of the last step are: for every point the cosine with the mean of its own id (NaN: it has none),
 * and the largest cosine with another id and that id (NaN and -1: there is none). Each array (N) may be NULL. Died and
 * merged ids do not count, except as a point's own. */
AST_API ast_status ast_stream_compare(ast_stream *stream, const ast_points *points, const int32_t *labels,
                                      float *similarity, float *runner_up, int32_t *runner_up_id);

/* Rotates every tracked mean: (D, D) row-major, new = R old. For the rotation that an IMU measures between two frames.
 */
AST_API ast_status ast_stream_rotate(ast_stream *stream, const double *rotation);

/* The rotation of a camera that sees directions of the world, such as the normals of a room, after the last step.
 * rotation: (3, 3) row-major, from the camera to the first frame: x_first = R x. It is found from all directions that
 * the stream has seen, which are landmarks that do not move, so that it does not drift while some of them stay in view.
 * covariance: (3, 3), radians squared, of the small rotation about the axes of the first frame that would correct it;
 * where no direction determines it, it grows from frame to frame. rank: how many degrees of freedom the directions of
 * the last frame determine: 0, 2 (one direction: the rotation about it is not seen) or 3. Each may be NULL.
 * AST_BAD_OPTION if the options do not allow it. */
AST_API ast_status ast_stream_rotation(ast_stream *stream, double *rotation, double *covariance, int *rank);

/* The axes of a building, for the normals of its surfaces. */
typedef enum ast_axes_kind {
    AST_AXES_NONE = 0,      /* the directions of the frame have no such axes */
    AST_AXES_MANHATTAN = 1, /* three axes at right angles */
    AST_AXES_ATLANTA = 2    /* a vertical, and two or more horizontal directions at other angles */
} ast_axes_kind;

#define AST_MAX_AXES 8

typedef struct ast_world_axes {
    size_t size;
    ast_axes_kind kind;
    size_t count;                       /* axes: 0, 3, or up to AST_MAX_AXES */
    double directions[AST_MAX_AXES][3]; /* unit vectors, in the coordinates of the frame's rows. The first is the
                                           vertical. An axis keeps its place and its sign from frame to frame */
    double shares[AST_MAX_AXES]; /* of the frame's rows that face along the axis or against it, within 12 degrees */
} ast_world_axes;

/* The axes that the directions of the last step support, found from the same landmarks as the rotation; the same
 * conditions. The vertical is the direction with most rows along it and at right angles to it. Axes are reported if
 * they have 70 percent of all rows near landmarks, and a fifth of the frame. */
AST_API ast_status ast_stream_axes(ast_stream *stream, ast_world_axes *axes);

/* Forgets every cluster. The ids continue, so that none is used twice. */
AST_API ast_status ast_stream_reset(ast_stream *stream);

/* The state as bytes, with a version and a checksum: everything that later frames depend on. The pointer is valid until
 * the next call with the stream. NULL on failure (ast_message of the context). */
AST_API const void *ast_stream_save(ast_stream *stream, size_t *size);

/* Like ast_stream_save, without a copy of the state in memory: `write` gets the bytes in parts, in order, and returns
 * 0, or non-zero to cancel. It must not call the library with this stream. */
typedef int ast_state_write(void *data, const void *bytes, size_t size);
AST_API ast_status ast_stream_write(ast_stream *stream, ast_state_write *write, void *data);

/* What has changed since the state or changes were last saved, as bytes to be appended to the saved ones: a frame of
 * ten points costs ten means, however many the stream has. Returns NULL and sets *size to 0 if only a whole state can
 * be saved, as at first and after each call that is no frame: then call ast_stream_save or ast_stream_write. Without
 * memory it fails like ast_stream_save. Valid until the next call with the stream. */
AST_API const void *ast_stream_save_changes(ast_stream *stream, size_t *size);

/* Replaces the state by a saved one: a state, or a state and changes in the order in which they were saved.
 * AST_BAD_DATA, and nothing changes, if the bytes are damaged, have another version, or come from a stream with other
 * options (except `parallel` and `bounds`); the sentence names the option. */
AST_API ast_status ast_stream_load(ast_stream *stream, const void *state, size_t size);

/* The options of the stream that saved these bytes, so that ast_stream_open gives a stream that can load them:
 * `parallel` and `bounds`, which a state does not have, stay as they are. `options` comes from ast_stream_options_init.
 * `center` points into the bytes, which start at a multiple of 4.
 * AST_BAD_DATA as above. */
AST_API ast_status ast_stream_saved(ast_context *context, const void *state, size_t size, ast_stream_options *options);

/* ---- Identities ------------------------------------------------------------------------------------------------ */

/* The people, voices or objects that a stream of AST_STREAM_DDP with a lifetime of 2 or more remembers, and what its
 * users say about them. An identity is an id with one or more means, such as a face and its profile; its score is the
 * best of them. Between two frames the calls below change one identity each. No call changes another identity or gives
 * it another id, and an id is never used for somebody else. Every change is an entry of the log. After a failure the
 * stream is as it was before the call. A state keeps all of it. */
#define AST_NAME_BYTES 124

typedef struct ast_identity {
    int32_t id;
    size_t means;      /* 1 or more */
    const float *mean; /* (means, D) */
    uint32_t age;      /* frames since it last had points */
    double weight;     /* confidence of the tracker in the means, in points */
    int locked;        /* 1: its means do not move */
    size_t forbidden;  /* rows that ast_stream_forbid has given */
    const char *name;  /* NULL: it has none */
} ast_identity;

/* In order of id. The pointers are valid until the next call with the stream. NULL and 0 if there is no memory. */
AST_API const ast_identity *ast_stream_list(ast_stream *stream, size_t record, size_t *count);

/* Names an identity; NULL or "" takes its name away. A name has fewer than AST_NAME_BYTES bytes, no control
 * characters, and belongs to one identity. Two identities that have a name or were enrolled are two people: a stream
 * does not merge them by itself. */
AST_API ast_status ast_stream_name(ast_stream *stream, int32_t id, const char *name);

/* A person who is known from these rows. *id -1: a new identity with this name (NULL: none), whose id *id receives.
 * *id 0 or more: further rows of that identity; the name is NULL then. A row that fits a mean of the identity is
 * added to this mean, and any other row becomes a further mean. The rows may be close to other identities. */
AST_API ast_status ast_stream_enroll(ast_stream *stream, const ast_points *rows, const char *name, int32_t *id);

/* Identities `from` and `into` are one person, who keeps the id `into`. Means that agree become one. */
AST_API ast_status ast_stream_join(ast_stream *stream, int32_t from, int32_t into);

/* These rows are somebody else: they become a new identity, and leave the means of `id`, unless it is locked. Or, with
 * rows NULL, mean number `mean` of several becomes a new identity. *born receives its id. The two never merge by
 * themselves. */
AST_API ast_status ast_stream_split(ast_stream *stream, int32_t id, const ast_points *rows, size_t mean, int32_t *born);

/* Removes everything that the stream knows about a person: means, name, forbidden rows that fit it. The entries of the
 * log stay, without rows or names. */
AST_API ast_status ast_stream_forget(ast_stream *stream, int32_t id);

/* These rows are not `id`. From now on no row gets this id that is nearer to one of them than to the means of the id
 * (the cosines divided by the reliability of a mean of one row and of those means). An id that gets such a row
 * instead never merges with `id`. Not with `rigid`. */
AST_API ast_status ast_stream_forbid(ast_stream *stream, int32_t id, const ast_points *rows);

/* The means of a locked identity do not move, and frames add no further means. */
AST_API ast_status ast_stream_lock(ast_stream *stream, int32_t id);
AST_API ast_status ast_stream_unlock(ast_stream *stream, int32_t id);

/* Changes angle, lifetime and drift of the stream to those of `options`. Other fields do not count. */
AST_API ast_status ast_stream_set(ast_stream *stream, const ast_stream_options *options);

typedef enum ast_identity_event {
    AST_IDENTITY_NAMED = 0,
    AST_IDENTITY_ENROLLED = 1,
    AST_IDENTITY_JOINED = 2, /* other: the id that stays */
    AST_IDENTITY_SPLIT = 3,  /* other: the new id */
    AST_IDENTITY_FORGOTTEN = 4,
    AST_IDENTITY_FORBIDDEN = 5,
    AST_IDENTITY_LOCKED = 6,
    AST_IDENTITY_UNLOCKED = 7,
    AST_IDENTITY_SET = 8 /* id -1 */
} ast_identity_event;

typedef struct ast_identity_change {
    uint64_t frame; /* the number of the frame that came next */
    ast_identity_event kind;
    int32_t id, other; /* other: -1 except as above */
    uint32_t rows;     /* that the change was made with */
} ast_identity_change;

/* The log: all changes since the stream was opened, the earliest first. Valid until the next call with the stream. */
AST_API const ast_identity_change *ast_stream_changes(const ast_stream *stream, size_t record, size_t *count);

/* ---- Measures -------------------------------------------------------------------------------------------------- */

/* Agreement of two labellings, from 0 (none) to 1 (the same partition). Points with a negative label in either are left
 * out. */
typedef struct ast_agreement {
    size_t size;
    double nmi;              /* mutual information over the geometric mean of the entropies (Strehl and Ghosh) */
    double ari;              /* adjusted Rand index; may be slightly negative */
    size_t points;           /* points that were compared */
    size_t clusters, truths; /* number of distinct labels in `labels` and in `truth` */
} ast_agreement;

/* Compares `labels` (count) with `truth` (count). */
AST_API ast_status ast_compare(ast_context *context, const int32_t *labels, const int32_t *truth, size_t count,
                               ast_agreement *agreement);

typedef enum ast_dissimilarity {
    AST_COSINE = 0,       /* 1 - x.y: exact, in O(N K D) */
    AST_ANGLE = 1,        /* the angle: O(N^2 D), so that above AST_SILHOUETTE_SAMPLE points a seeded sample is used */
    AST_AXIAL_COSINE = 2, /* axial data: 1 - (x.y)^2, exact in O(N K D^2) from second moments. If those are more than
                             2^20 numbers, K D (D + 1) / 2, by pairs like AST_ANGLE */
    AST_AXIAL_ANGLE = 3   /* axial data: the angle between axes, 0 to 90 degrees; like AST_ANGLE */
} ast_dissimilarity;

#define AST_SILHOUETTE_SAMPLE 20000

/* The mean silhouette over the points with a label of 0 or more. A point that is alone in its cluster counts 0.
 * AST_BAD_DATA with fewer than two clusters. `sampled` (or NULL) receives the number of points used. */
AST_API ast_status ast_silhouette(ast_context *context, const ast_points *points, const int32_t *labels,
                                  ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled);

/* ---- The von Mises-Fisher distribution ------------------------------------------------------------------------- */

/* Log density at a point with this cosine to the mean: D = 2..4096, kappa 0..1e6 and more. */
AST_API double ast_vmf_log_density(size_t dimension, double kappa, double cosine);

/* The maximum-likelihood kappa of points with this mean resultant length. 0 at 0, infinity at 1, NaN outside. */
AST_API double ast_vmf_kappa(size_t dimension, double resultant);

/* The expected resultant length: A_D(kappa) = I_{D/2}(kappa) / I_{D/2-1}(kappa). */
AST_API double ast_vmf_resultant(size_t dimension, double kappa);

/* Log densities of the other components of mixtures. Watson: at a cosine to the axis, D = 2..100, any finite kappa.
 * Kent: at a cosine to the mean, and with the difference of the squared cosines to its long and its short axis. */
AST_API double ast_watson_log_density(size_t dimension, double kappa, double cosine);
AST_API double ast_kent_log_density(double kappa, double beta, double cosine, double difference);

/* Distributions of clusters that are drawn. mu is the mean, axis or pole, t = mu . x; densities up to a factor. */
typedef enum ast_distribution {
    AST_VON_MISES_FISHER = 0, /* exp(kappa t) */
    AST_WATSON = 1,           /* exp(kappa t^2): an axis; below 0 a girdle, the great circle about mu */
    AST_KENT = 2,             /* D = 3: exp(kappa t + beta ((u . x)^2 - (v . x)^2)), u and v across mu: an ellipse */
    AST_BINGHAM = 3,          /* exp(kappa t^2 + beta (u . x)^2): an axis with an elliptical cluster */
    AST_SMALL_CIRCLE = 4      /* D >= 3: exp(-kappa (t - cos radius)^2) */
} ast_distribution;

/* A mixture of distributions with known labels. */
typedef struct ast_mixture {
    size_t size;
    size_t points, dimension, clusters;
    double kappa;      /* of every cluster; 0 is uniform; below 0 for AST_WATSON alone */
    double separation; /* smallest angle between two means in degrees; 0 for any */
    double noise;      /* share of uniform points, 0..1, labelled -1 */
    int axial;         /* 1: every row has a random sign, and the separation, at most 90, is between axes */
    uint64_t seed;
    int (*progress)(size_t drawn, void *data); /* NULL, or called from time to time with the number of points drawn so
                                                  far; non-zero cancels, and the content of the arrays is undefined */
    void *progress_data;
    ast_distribution distribution; /* of every cluster. The separation is between axes for AST_WATSON, AST_BINGHAM */
    double beta;                   /* AST_KENT: 0..kappa / 2. AST_BINGHAM: 0..kappa. The directions u are random */
    double radius;                 /* AST_SMALL_CIRCLE: degrees, 0..180 */
} ast_mixture;

/* Draws the points, (N, D) row-major floats, and their labels (N, or NULL), in random order. `means` (K, D, or NULL)
 * receives the true means. AST_BAD_DATA if no means with that separation are found. */
AST_API ast_status ast_sample_mixture(ast_context *context, const ast_mixture *mixture, float *points, int32_t *labels,
                                      float *means);

#ifdef __cplusplus
}
#endif

#endif
