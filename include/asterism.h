/* SPDX-License-Identifier: MIT
 *
 * asterism: clusters of directions, however many there are.
 *
 * A direction is a unit vector: a surface normal, a text, face or voice embedding, a quaternion, a geological pole.
 * You give N of them and one angle; you get clusters, their mean directions and a label for every point.
 *
 *     ast_context *context = ast_open(0);                      // 0: all processors
 *     ast_options options;
 *     ast_options_init(&options);
 *     options.angle = 25;                                      // degrees: how far a point may be from its mean
 *     ast_points points = ast_points_f4(xyz, count, 3);        // a view: nothing is copied, nothing is kept
 *     ast_report report;
 *     if (ast_cluster(context, &points, &options, labels, &report) != AST_OK)
 *         fprintf(stderr, "%s\n", ast_message(context));
 *     ast_close(context);
 *
 * The same input and options give the same labels, bit for bit, on any number of threads and on any processor. (The
 * mixtures and samplers use logarithms and exponentials of the C library, whose last bit may differ between processors.)
 *
 * Rules of the house. The caller owns every pointer it passes, and none is kept after the call. Nothing that is
 * returned needs freeing except the context itself. The library never prints, never exits and keeps no mutable global
 * state. One context belongs to one thread at a time; contexts are independent of each other.
 */
#ifndef ASTERISM_H
#define ASTERISM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AST_VERSION_MAJOR 0
#define AST_VERSION_MINOR 1
#define AST_VERSION_PATCH 0

#if defined(__GNUC__)
#define AST_API __attribute__((visibility("default")))
#else
#define AST_API
#endif

/* The version of the library that is running, such as "0.1.0". */
AST_API const char *ast_version(void);

/* ---- Status and context ---------------------------------------------------------------------------------------- */

/* What a call came to. The values are fixed. "Did not converge" is no failure: it stands in the report. */
typedef enum ast_status {
    AST_OK = 0,
    AST_BAD_OPTION = 1, /* an option or an argument is out of its range: the caller's mistake, whatever the data */
    AST_BAD_DATA = 2,   /* the data cannot be used: an infinity, all weights zero, more clusters than points */
    AST_NO_MEMORY = 3,
    AST_CANCELLED = 4,  /* the progress callback asked to stop; no labels and no report were written */
    AST_NO_THREADS = 5, /* the threads could not be started */
    AST_BAD_STATE = 6,  /* a checkpoint cannot be written or read, is damaged, or belongs to another run */
    AST_NO_INPUT = 7    /* a callback of an ast_source or an ast_label_store failed */
} ast_status;

/* Threads, working memory, the last message and the last result. */
typedef struct ast_context ast_context;

/* Opens a context that works on `threads` threads, the caller's own included (0: one for each processor that the
 * process may use; at most 256). The threads sleep between calls. A context opened before a fork works in the child
 * too, on the child's one thread. NULL if there is no memory or no thread to be had. */
AST_API ast_context *ast_open(int threads);

/* Frees the context and everything it returned. NULL is fine. */
AST_API void ast_close(ast_context *context);

/* One sentence on the last failure: what is wrong, where, and what would be right. "" after success. Valid until the
 * next call with this context. */
AST_API const char *ast_message(const ast_context *context);

/* The number of threads the context works on. */
AST_API int ast_threads(const ast_context *context);

/* The instruction set in use: "base" or "avx2". The environment variable ASTERISM_ISA (base, avx2), read by ast_open,
 * asks for one of them; a set that the processor lacks falls back to base. (ASTERISM_CELLS, for
 * tests, is the number of clusters from which on points of three dimensions are compared with means near them only.) */
AST_API const char *ast_instruction_set(const ast_context *context);

/* ---- Points ---------------------------------------------------------------------------------------------------- */

/* IEEE floats in the machine's byte order; AST_I1: int8_t, as embeddings are stored, a number as it is. */
typedef enum ast_type { AST_F4 = 0, AST_F8 = 1, AST_F2 = 2, AST_I1 = 3 } ast_type;
typedef enum ast_index { AST_I4 = 0, AST_I8 = 1 } ast_index; /* int32_t, int64_t */

/* A view of the caller's points: `count` rows of `dimension` numbers. Rows need not be unit vectors: they are
 * normalised on the way in (in double, rounded once to float), and one whose squared length is within 2^-22 of 1 is
 * taken as it is. A row that holds a NaN or has length zero is missing: its label is -1 and it takes part in nothing.
 * Infinity is an error. */
typedef struct ast_points {
    const void *data;        /* element (i, d) is at data + i * row_stride + d * column_stride */
    ast_type type;
    size_t count;            /* N, below 2^31 */
    size_t dimension;        /* D, 2..4096; sparse rows: 2..2^31-1 */
    ptrdiff_t row_stride;    /* in bytes; Fortran order is row_stride = element size, column_stride = N elements */
    ptrdiff_t column_stride; /* in bytes */
    const double *weights;   /* (N) finite and not negative, or NULL: every point counts 1. Weights matter relative to
                                each other. A point of weight 0 gets a label but takes no part in the clustering. */
    const void *starts;      /* NULL: dense rows, as above. Otherwise sparse rows, as below */
    const void *columns;
    ast_index index;         /* the type of both */
} ast_points;

/* A view of a tight row-major array. */
AST_API ast_points ast_points_f4(const float *data, size_t count, size_t dimension);
AST_API ast_points ast_points_f8(const double *data, size_t count, size_t dimension);

/* A view of sparse rows, compressed by rows (CSR): row i holds the entries starts[i] .. starts[i + 1] - 1, entry e the
 * number data[e] in column columns[e]; every other component is 0. `starts` has N + 1 numbers that do not fall; the
 * columns of a row are 0..D-1 and increase, so that none occurs twice (an error that names the row otherwise). D is
 * 2..2^31-1 here; strides play no part. A row without entries, or with zeros only, is missing.
 *
 * Sparse rows are for AST_DP, AST_SPKM, AST_MBSPKM, ast_assign and ast_silhouette by cosine, none of them axial: everything else
 * refuses them. Means are dense. The memory needed is 4 bytes an entry (8 with AST_I8), some 40 a point, and some 40 K D;
 * labels, means and objective are those of the same points given densely, bit for bit. */
AST_API ast_points ast_points_csr(const void *data, ast_type type, const void *starts, const void *columns,
                                  ast_index index, size_t count, size_t dimension);

/* ---- Clustering ------------------------------------------------------------------------------------------------ */

typedef enum ast_method {
    AST_DP = 0,     /* DP-vMF-means: as many clusters as the angle asks for */
    AST_SPKM = 1,   /* spherical k-means: as many as `clusters` says */
    AST_MOVMF = 2,  /* a mixture of `clusters` von Mises-Fisher distributions, by expectation maximisation */
    AST_FSD = 3,    /* Gibbs sampling of such a mixture with a finite symmetric Dirichlet prior on its weights */
    AST_CRP = 4,    /* Gibbs sampling of one with a Dirichlet process prior: any number of clusters */
    AST_OSPKM = 5,  /* online spherical k-means (Zhong): a step of the nearest mean for each point */
    AST_DPMEANS = 6, /* DP-means in the space around the sphere: the means are no directions */
    AST_MBSPKM = 7   /* mini-batch spherical k-means: means learned from batches, then one assignment of all points */
} ast_method;

/* How one labelling pass is run. The labels are the same; only the time differs. */
typedef enum ast_parallel {
    AST_ORDERED = 0, /* blocks are scored in parallel and committed in order; no work is repeated */
    AST_OIR = 1,     /* the paper's optimistic iterated restarts: the rest is scored again after each new cluster */
    AST_SERIAL = 2   /* one point after the other, as the definition reads */
} ast_parallel;

/* Where the methods with a number of clusters start. */
typedef enum ast_start {
    AST_PLUSPLUS = 0, /* k-means++ on 1 - cosine, seeded */
    AST_RANDOM = 1,   /* distinct random points, seeded */
    AST_GIVEN = 2     /* `means`; for DP-vMF-means these are clusters without points that the first pass may fill */
} ast_start;

/* Called after every pass, on the caller's thread. Before the first pass k-means++ reads all points once for each of
 * its K starts: it calls after each of them, with iteration 0, `clusters` the starts drawn so far, and no objective. */
typedef struct ast_progress {
    int restart;           /* 0.. */
    int iteration;         /* 1.. within the restart; 0: a start was drawn */
    size_t clusters;       /* alive now */
    size_t changed;        /* points that changed cluster in this pass, before empty ones were filled (spkm) */
    uint64_t scored;       /* points that were compared with all clusters in this pass: the rest was skipped */
    double objective;      /* after this pass; as in ast_report. AST_MBSPKM: what the batch makes one expect */
    double seconds;        /* this pass alone */
    const int32_t *labels; /* AST_FSD, AST_CRP: (N) a sample, if this sweep is one: 0.. or -1 for missing rows, as they
                              are after this sweep; valid during the call. NULL otherwise */
    int last;              /* AST_DP, AST_SPKM: 1 after the last pass of this restart; 0 otherwise */
    size_t left;           /* ast_cluster_source: points of this pass that are still to be visited, where it calls within
                              a pass: `changed` and `scored` count what was visited, `objective` is NaN. 0 otherwise */
} ast_progress;

/* Where a checkpoint is: a file, or memory. Both functions move `size` bytes at `offset` and return 0, or anything else
 * where they cannot; they are called on the caller's thread. Only one of them is needed at a time. */
typedef struct ast_medium {
    uint64_t size; /* for reading: how many bytes there are */
    int (*read)(uint64_t offset, void *bytes, size_t size, void *data);
    int (*write)(uint64_t offset, const void *bytes, size_t size, void *data);
    void *data;
} ast_medium;

typedef struct ast_options {
    ast_method method;     /* AST_DP */
    double angle;          /* AST_DP, AST_DPMEANS: degrees, 0..180. The larger, the fewer clusters. NaN (the default): not set */
    size_t clusters;       /* all others: K, 1..N. 0 (the default): not set, or with AST_GIVEN as many as `means` has.
                              AST_FSD: the most there can be. AST_CRP: how many to start from, 1 if not set */
    int max_iterations;    /* 100. Passes before the run stops unconverged; at least 1. The number of sweeps for AST_FSD
                              and AST_CRP, of rounds over the points for AST_OSPKM, of batches for AST_MBSPKM */
    int restarts;          /* 1. Runs, each with another order (dp) or another start (spkm); the best objective is kept */
    int shuffle;           /* 0. Visit the points in a seeded random order instead of the given one (dp) */
    uint64_t seed;         /* 1. Of shuffles and of random starts */
    ast_parallel parallel; /* AST_ORDERED */
    int bounds;            /* 1. Skip the points that provably cannot change and, in three dimensions and with very many
                              clusters, the means that provably cannot win; 0 compares all, for measurement */
    int axial;             /* 0. 1: x and -x are the same (undirected normals, poles, lines, quaternions); scores are
                              |x . mu|, and means are returned with their component of largest magnitude positive */
    ast_start start;       /* AST_PLUSPLUS; what AST_DP knows is AST_GIVEN or nothing */
    const float *means;    /* AST_GIVEN: (means_count, D) row-major; normalised on the way in */
    size_t means_count;
    double kappa;          /* AST_MOVMF, AST_FSD, AST_CRP: the concentration of every cluster, 0 or more. NaN (the default): one is
                              estimated for each */
    int hard;              /* 0. AST_MOVMF: every point belongs to its most probable component alone */
    double tolerance;      /* 1e-6. AST_MOVMF: converged once a pass raises the log-likelihood by no more than so many
                              nats a point; hard: once no point changes */
    double concentration;  /* 1. AST_FSD, AST_CRP: alpha of the Dirichlet (process) prior, more than 0: the larger, the
                              more clusters */
    double kappa_median;   /* AST_FSD, AST_CRP, where kappa is not known: its prior median s, with the density
                              s / (kappa + s)^2. 0 (the default): 10 D */
    double prior_kappa;    /* 0. AST_FSD, AST_CRP: the means have the prior vMF(prior_mean, prior_kappa); 0: uniform */
    const float *prior_mean; /* (D), normalised on the way in; NULL (the default) with a prior_kappa of 0 */
    int burn_in;           /* 0. AST_FSD, AST_CRP: sweeps before the first sample that `progress` gets */
    int sample_every;      /* 0. AST_FSD, AST_CRP: after that, labels of every n-th sweep go to `progress`; 0: none do */
    size_t sample;         /* 0. AST_DP: find the clusters among so many points, drawn by the seed, then visit all points
                              once. 0, or as many as there are: among all */
    size_t batch;          /* 0. AST_MBSPKM: points in a batch. 0: 1024, or 10 K if that is more */
    size_t start_points;   /* 0. AST_SPKM, AST_MBSPKM: k-means++ draws among so many points, drawn by the seed; at least
                              K. 0: among all; AST_MBSPKM: among as many as a batch has, or 10 K if that is more */
    double learning_rate;  /* 1. AST_OSPKM: the length of a step at the start, more than 0, ... */
    double learning_rate_end; /* 0.01. ... and at the end; in between it falls exponentially */
    int (*progress)(const ast_progress *state, void *data); /* NULL, or called as above; non-zero cancels */
    void *progress_data;
    const ast_medium *resume; /* NULL, or a checkpoint of ast_checkpoint to go on from (AST_DP, AST_SPKM) */
} ast_options;

/* Fills in the defaults above. Call it first, then edit. */
AST_API void ast_options_init(ast_options *options);

/* NULL if the options can be used, otherwise one sentence on what is wrong with them (a constant; do not free). */
AST_API const char *ast_options_problem(const ast_options *options);

/* What a run came to. */
typedef struct ast_report {
    size_t points;         /* N */
    size_t missing;        /* rows without a direction; their label is -1 */
    size_t dimension;      /* D */
    size_t clusters;       /* K */
    double objective;      /* what the method climbs: the sum of |sum of the members| over clusters, for AST_DP plus
                              (cos(angle) - 1) K; AST_MOVMF: the log-likelihood, hard: that of points and labels;
                              AST_FSD, AST_CRP: log p(points, labels, means, kappas) of the last sample; AST_DPMEANS:
                              minus the squared distances and (2 - 2 cos(angle)) K */
    double log_likelihood; /* sum of log p(x) over the points, in nats: weights, if any, scaled to add up to their number.
                              NaN where the method has no such p */
    double bic;            /* -2 log_likelihood + (free parameters) log(points): the smaller, the better; or NaN */
    int iterations;        /* passes of the run that was kept */
    int converged;         /* 0 if it stopped at max_iterations */
    uint64_t oir_restarts; /* AST_OIR: how often the remaining points were scored again */
    double seconds;        /* the whole call */
    double improvement;    /* AST_MBSPKM, AST_DP with a sample: what one further iteration over all points would add to the
                              objective, measured. A run over all points that went on from here would gain that at least.
                              NaN where all points took part all the time */
} ast_report;

/* A cluster of the last result. */
typedef struct ast_cluster_info {
    size_t size;       /* points with this label */
    double weight;     /* the sum of their weights, as given; equals size without weights */
    double resultant;  /* |sum of w x| / sum of w, 0..1: 1 if all members are equal */
    double kappa;      /* concentration of a von Mises-Fisher distribution: that of the component, or, where the method
                          has none, of maximum likelihood for the members; NaN where undefined (fewer than two members,
                          or all of them equal) */
    const float *mean; /* (D) unit vector */
    double share;      /* the component's weight in the mixture, 0..1; NaN where the method has none */
} ast_cluster_info;

/* Clusters the points. `labels` (N): 0..K-1 in order of creation, -1 for missing rows. Without a single usable row there
 * are 0 clusters. On failure labels and report are untouched and ast_message says why. */
AST_API ast_status ast_cluster(ast_context *context, const ast_points *points, const ast_options *options,
                               int32_t *labels, ast_report *report);

/* Writes where the run stands: for AST_DP and AST_SPKM (without `sample` and `start_points`), and only from within
 * `progress`, after a pass (iteration 1 and on). A later ast_cluster with `resume` goes on from there, on any number
 * of threads and ranks, and comes to exactly the labels, means and report of the run that was not interrupted
 * (`seconds` apart, and `oir_restarts` where one of the two was not AST_OIR); a checkpoint of the last pass is the
 * result at once. Points, weights and options must be the same, except `parallel`, `bounds`, `restarts` and, in the
 * first restart, `max_iterations`, which may not be below what was done already: otherwise, and where a byte is
 * damaged, it is refused with AST_BAD_STATE and a sentence.
 *
 * What is written is 4 bytes a point (8 from the second restart on) and the means, one piece behind the other. Several
 * ranks (asterism_ranks.h) call it together, after the same pass: each writes its own pieces, at offsets of one file
 * that does not depend on how many they are, and each reads what it needs. The first checkpoint of a call, and a call
 * with `resume`, read all points once, to know them again. */
AST_API ast_status ast_checkpoint(ast_context *context, const ast_medium *medium);

/* The K clusters of the last successful ast_cluster of this context, in order of label; valid until the next call with
 * the context. NULL and *count = 0 before the first. */
AST_API const ast_cluster_info *ast_clusters(const ast_context *context, size_t *count);

/* Their means: (K, D) row-major, unit vectors. Valid as long as ast_clusters. */
AST_API const float *ast_means(const ast_context *context);

/* How much points belong to each cluster of the last successful ast_cluster of this context, if that was a mixture:
 * `memberships` (N, K) row-major, the probabilities of the components given the point, and `log_density` (N) of the
 * mixture at the point, in nats. Either may be NULL. The points need not be those of the call; missing rows get NaN.
 * Weights play no part. AST_BAD_OPTION if the last method had no components. */
AST_API ast_status ast_memberships(ast_context *context, const ast_points *points, float *memberships,
                                   double *log_density);

/* Labels points with known means; learns nothing. `means`: (K, D) row-major, normalised on the way in. A point goes to
 * the mean with the largest cosine, equal ones to the lowest index; farther than `angle` degrees (NaN: no limit) from
 * every mean: -1. `similarity` (N, or NULL): the cosine to the best mean, NaN for missing rows. */
AST_API ast_status ast_assign(ast_context *context, const ast_points *points, const float *means, size_t means_count,
                              double angle, int32_t *labels, float *similarity);

/* The same for axial data, where x and -x are one: by |cosine|, and that is the similarity. */
AST_API ast_status ast_assign_axial(ast_context *context, const ast_points *points, const float *means,
                                    size_t means_count, double angle, int32_t *labels, float *similarity);

/* ---- Larger than memory ---------------------------------------------------------------------------------------- */

/* Points that are read as they are needed, a part at a time: of a file larger than memory, for example. The library
 * opens no files; what reads them is the caller's. Rows are as in ast_points: any length, missing where they hold a NaN
 * or are zero. They must be the same whenever they are read; a row that has turned into a missing one is noticed. */
typedef struct ast_source {
    size_t count;          /* N, below 2^31 */
    size_t dimension;      /* D, 2..4096 */
    ast_type type;
    const double *weights; /* (N) or NULL, as in ast_points: in memory, where they are copied once */
    /* Reads rows first..first+count-1, row-major without gaps, into `rows`, whose alignment is that of malloc. 0, or
     * anything else if that cannot be done: the call ends with AST_NO_INPUT. Called from several threads at once. */
    int (*read)(size_t first, size_t count, void *rows, void *data);
    /* NULL, or told which rows will be read soon, so that the disk can begin (posix_fadvise): on the caller's thread. */
    void (*expect)(size_t first, size_t count, void *data);
    void *data; /* for both */
} ast_source;

/* Where labels go, and where they are kept while there is no memory for them. */
typedef struct ast_label_store {
    /* Takes labels number first..first+count-1; read gives back what was written last. 0, or anything else if that
     * cannot be done. What is written in the course of a run are the library's own numbers; the labels are there when
     * the call returns AST_OK. Where `read` is never called (ast_plan.rows is N) only the labels are written, once, in
     * order, when nothing else can fail any more. From several threads at once, each with labels of its own. */
    int (*write)(size_t first, size_t count, const int32_t *labels, void *data);
    int (*read)(size_t first, size_t count, int32_t *labels, void *data); /* NULL if ast_plan.rows is N */
    void *data; /* for both */
} ast_label_store;

/* How a call will keep to the memory it may use. */
typedef struct ast_plan {
    size_t memory;       /* bytes: its peak, beyond what the caller and the context have before the call */
    size_t least;        /* that there is a plan for at all */
    size_t rows;         /* whose labels are in memory at a time */
    size_t clusters;     /* for so many at most there is memory: AST_NO_MEMORY if AST_DP finds more */
    int bounds;          /* whether it can be known of points that they need not be read in a pass */
    uint64_t pass_bytes; /* that a pass reads of the source, at most */
    uint64_t label_bytes; /* that it reads and writes of the store */
} ast_plan;

/* The plan for a run of AST_DP or AST_SPKM with `memory` bytes, for one run (restarts 1, no resume) in the given order
 * (shuffle 0, AST_ORDERED): AST_BAD_OPTION otherwise. AST_NO_MEMORY if it is less than `least`, which is filled in then too. */
AST_API ast_status ast_plan_source(ast_context *context, const ast_source *source, const ast_options *options,
                                   size_t memory, ast_plan *plan);

/* Clusters points that are larger than memory, as that plan says. Labels, means and report are those of ast_cluster on
 * the same points, bit for bit. `progress` is called within a pass too: see ast_progress.left. On failure the report is
 * untouched, and what the store holds is of no use. */
AST_API ast_status ast_cluster_source(ast_context *context, const ast_source *source, const ast_options *options,
                                      size_t memory, const ast_label_store *labels, ast_report *report);

/* Who takes labels and similarities in parts: those of rows first..first+count-1, in order, on the caller's thread. 0, or
 * anything else to stop with AST_CANCELLED. */
typedef struct ast_taker {
    int (*take)(size_t first, size_t count, const int32_t *labels, const float *similarity, void *data);
    void *data;
} ast_taker;

/* What ast_assign (or, with axial 1, ast_assign_axial) gives, in parts: the source is read once. It takes some 64 MiB and
 * what the means need. */
AST_API ast_status ast_assign_source(ast_context *context, const ast_source *source, const float *means,
                                     size_t means_count, double angle, int axial, const ast_taker *taker);

/* ---- Streams --------------------------------------------------------------------------------------------------- */

/* A stream of frames in which directions drift, vanish and come back; every cluster keeps its id. Open one, give it the
 * frames in order with ast_stream_step, close it. Frames may differ in size, be empty, or be all missing. */
typedef struct ast_stream ast_stream;

typedef enum ast_stream_method {
    AST_STREAM_DDP = 0, /* DDP-vMF-means: clusters move, vanish and are revived under the same id */
    AST_STREAM_SDP = 1, /* each frame starts from the means of the one before; who has no points dies at once */
    AST_STREAM_DP = 2   /* each frame by itself, every cluster with a new id */
} ast_stream_method;

typedef enum ast_weight_update {
    AST_UPDATE_OF_TRACKER = 0, /* AST_POSTERIOR with drift, AST_PAPER with beta */
    AST_POSTERIOR = 1,         /* w = 1 / (1/w + dt/beta) + |sum|: a Kalman filter's, bounded */
    AST_PAPER = 2              /* w = f*, as in the paper: grows without bound; without dt beta where that is infinite */
} ast_weight_update;

typedef struct ast_stream_options {
    size_t dimension;                /* D, 2..4096: of every frame. 0 (the default): not set */
    ast_stream_method method;        /* AST_STREAM_DDP */
    double angle;                    /* degrees, 0..180. NaN (the default): not set */
    double drift;                    /* 1. Degrees that a direction moves in a frame, more than 0: the tracker follows it */
    double beta;                     /* NaN. Set (0 or more): the paper's tracker, and drift is not used. Infinity:
                                        directions do not move, a mean is that of all points the cluster ever had */
    ast_weight_update weight_update; /* AST_UPDATE_OF_TRACKER */
    uint32_t lifetime;               /* 400. After so many frames in a row without points a cluster dies; with 0 or 1
                                        every cluster ends with the frame it is born in */
    int max_iterations;              /* 100. Passes a frame at most: a small number keeps a deadline */
    size_t max_clusters;             /* 0: no limit. Otherwise, when a frame closes with more, the longest unseen go first,
                                        among those the lightest, among those the youngest id */
    ast_parallel parallel;           /* AST_ORDERED */
    int bounds;                      /* 1 */
    int axial;                       /* 0. 1: x and -x are the same */
    int revive_near;                 /* 0. 1: a point revives a cluster only if it is within the angle of where that one
                                        was. Where there is little noise a cluster long unseen is soon so unsure of its
                                        place that, without this, it takes whatever comes into view (docs/rules.md) */
} ast_stream_options;

AST_API void ast_stream_options_init(ast_stream_options *options);
AST_API const char *ast_stream_options_problem(const ast_stream_options *options); /* NULL, or one sentence */

/* What happened to a cluster in the last frame. AST_DIED is the last record of a cluster that was remembered, or that
 * max_clusters left no room for. Nothing is remembered with a lifetime of 0 or 1 and with AST_STREAM_DP, nor of points
 * that cancel out: such a cluster has one record, AST_BORN, and ends with its frame. */
typedef enum ast_event {
    AST_BORN = 0,
    AST_REVIVED = 1, /* has points, and had none in the frame before */
    AST_SEEN = 2,
    AST_UNSEEN = 3,
    AST_DIED = 4 /* unseen for too long (AST_STREAM_SDP: unseen), or one too many: this is its last record */
} ast_event;

typedef struct ast_tracked {
    int32_t id;        /* 0.., never used again */
    ast_event event;
    uint32_t age;      /* frames since it last had points: 0 if it has some now */
    size_t count;      /* its points in this frame */
    double share;      /* of the frame's points that are not missing */
    double weight;     /* how sure the tracker is of the mean, in points */
    const float *mean; /* (D) */
} ast_tracked;

typedef struct ast_frame {
    uint64_t frame; /* 0.. : the number of steps before */
    size_t points, missing;
    int iterations, converged;
    double objective;
    double seconds;
    size_t clusters; /* with points */
} ast_frame;

/* Opens a stream that works on the context's threads; the context must be closed after it. NULL: ast_message. */
AST_API ast_stream *ast_stream_open(ast_context *context, const ast_stream_options *options);
AST_API void ast_stream_close(ast_stream *stream); /* NULL is fine */

/* Takes the next frame. labels (N): ids, -1 for missing rows. After a failure (ast_message of the context) the stream is
 * as it was before the call. In the steady state nothing is allocated. Frames have no weights: AST_BAD_OPTION. */
AST_API ast_status ast_stream_step(ast_stream *stream, const ast_points *points, int32_t *labels, ast_frame *frame);

/* The clusters after the last step, in order of id, those that died in it included. Valid until the next call with the
 * stream. */
AST_API const ast_tracked *ast_stream_clusters(const ast_stream *stream, size_t *count);

/* Labels points with the ids of the tracked means, nearest first; farther than the stream's angle from all: -1. Learns
 * nothing. */
AST_API ast_status ast_stream_predict(ast_stream *stream, const ast_points *points, int32_t *labels);

/* Turns every tracked mean by a rotation: (D, D) row-major, as new = R old. For an IMU between two frames. */
AST_API ast_status ast_stream_rotate(ast_stream *stream, const double *rotation);

/* Forgets every cluster and starts over; ids go on, so that none is used twice. */
AST_API void ast_stream_reset(ast_stream *stream);

/* The state as bytes: everything that the next frames depend on, with a version and a checksum. The pointer is valid
 * until the next call with the stream; NULL if there is no memory. */
AST_API const void *ast_stream_save(ast_stream *stream, size_t *size);

/* Takes a saved state over. AST_BAD_DATA, and nothing changes, if the bytes are damaged, of another version, or saved by
 * a stream with other options, `parallel` and `bounds` apart: the sentence names which. */
AST_API ast_status ast_stream_load(ast_stream *stream, const void *state, size_t size);

/* ---- Measures -------------------------------------------------------------------------------------------------- */

/* Agreement of two labellings of N points, between 0 (none) and 1 (the same partition). Points labelled below 0 in
 * either are left out. */
typedef struct ast_agreement {
    double nmi;              /* mutual information over the geometric mean of the entropies (Strehl and Ghosh) */
    double ari;              /* adjusted Rand index; may be slightly negative */
    size_t points;           /* that took part */
    size_t clusters, truths; /* distinct labels in either */
} ast_agreement;

AST_API ast_status ast_compare(ast_context *context, const int32_t *labels, const int32_t *truth, size_t count,
                               ast_agreement *agreement);

typedef enum ast_dissimilarity {
    AST_COSINE = 0,       /* 1 - x.y: exact, in O(N K D) */
    AST_ANGLE = 1,        /* the angle: O(N^2 D), so a seeded sample of AST_SILHOUETTE_SAMPLE points above that size */
    AST_AXIAL_COSINE = 2, /* axial data: 1 - (x.y)^2, exact in O(N K D^2) from second moments; where those are more
                             than 2^20 numbers, K D (D + 1) / 2, by pairs as the angle */
    AST_AXIAL_ANGLE = 3   /* axial data: the angle between axes, 0 to 90 degrees; as AST_ANGLE */
} ast_dissimilarity;

#define AST_SILHOUETTE_SAMPLE 20000

/* The mean silhouette over the points labelled 0 or more. A point alone in its cluster counts 0; with fewer than two
 * clusters it is undefined: AST_BAD_DATA. `sampled` (or NULL) becomes the number of points used. */
AST_API ast_status ast_silhouette(ast_context *context, const ast_points *points, const int32_t *labels,
                                  ast_dissimilarity dissimilarity, uint64_t seed, double *silhouette, size_t *sampled);

/* ---- The von Mises-Fisher distribution ------------------------------------------------------------------------- */

/* log of the density at a point whose cosine to the mean is `cosine`: D = 2..4096, kappa 0..1e6 and beyond. */
AST_API double ast_vmf_log_density(size_t dimension, double kappa, double cosine);

/* The maximum-likelihood kappa of points whose mean resultant length is `resultant`. 0 at 0, infinity at 1, NaN outside. */
AST_API double ast_vmf_kappa(size_t dimension, double resultant);

/* A_D(kappa) = I_{D/2}(kappa) / I_{D/2-1}(kappa): the expected resultant length. */
AST_API double ast_vmf_resultant(size_t dimension, double kappa);

/* A mixture of vMF distributions with known labels. */
typedef struct ast_mixture {
    size_t points, dimension, clusters;
    double kappa;      /* of every cluster; 0 is uniform */
    double separation; /* degrees that the means are apart at least; 0 for any */
    double noise;      /* share of uniform points, 0..1, labelled -1 */
    int axial;         /* 1: every row has a random sign, and the separation, at most 90, is that of axes */
    uint64_t seed;
    int (*progress)(size_t drawn, void *data); /* NULL, or called now and then with the number of points that are there;
                                                  non-zero cancels, and what was drawn so far is of no use */
    void *progress_data;
} ast_mixture;

/* Draws the points, (N, D) row-major floats, and their labels (N, or NULL), in random order. AST_BAD_DATA if the means
 * cannot be placed that far apart. `means` (K, D) receives the true means, or NULL. */
AST_API ast_status ast_sample_mixture(ast_context *context, const ast_mixture *mixture, float *points, int32_t *labels,
                                      float *means);

#ifdef __cplusplus
}
#endif

#endif
