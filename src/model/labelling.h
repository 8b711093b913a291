/* SPDX-License-Identifier: MIT
 *
 * One labelling pass over all points, exactly as if they were visited one after the other.
 *
 * The one idea (the paper's optimistic concurrency, without its restarts): chunks of points are scored in parallel
 * against the clusters as they were when the chunk was taken, and committed in order. What happened to the list of
 * clusters in between, the *events* (a cluster was born, died, or had its mean reset), is caught up with at the commit:
 * every point of the chunk is compared with the few clusters concerned, and the few points that the scores do not
 * decide are visited by the definition, in double. Nothing is ever scored twice for someone else's birth.
 *
 * From the second pass on, most points need no score at all: see propose.c.
 *
 *     propose.c   scores for a chunk, out of turn; small.c and large.c by dimension, sparse.c for sparse rows
 *     commit.c    the sequential rule, in turn
 *     sums.c      from labels to sums
 *     passes.c    ordered, optimistic with restarts, serial; and what closes a pass
 *     ranked.c    a pass over the points of several processes; exchange.c what they tell each other in it
 *     windows.c   a pass over points that are read as they are needed; fetch.c reads them
 *     moves.c     how far the means went, and which of them the next pass compares every point with
 *     restore.c   labels of a run before, taken over */
#ifndef AST_LABELLING_H
#define AST_LABELLING_H

#include "asterism.h"
#include "clusters.h"
#include "cloud.h"
#include "comm.h"
#include "pool.h"
#include "tracks.h"

#include <stdatomic.h>

#define AST_MASK_BITS 32 /* sets of slots, modulo this */
#define AST_SLOTS 4096   /* that one task updates */

static inline uint32_t ast_bit_of(int32_t slot) {
    return (uint32_t)1 << (slot & (AST_MASK_BITS - 1));
}

/* What is known of a block of neighbours. Small: a gap is stored plus the block's `run` at that time, so gap - run is a
 * bound of it now, and one comparison tells whether any point of the block can have changed. */
typedef struct ast_block {
    float run;      /* small: how far the means have moved since its gaps were first measured */
    float gap;      /* small: the smallest gap of the block as stored; -INFINITY: not known */
    bool attention; /* has points for the commit to look at */
    uint32_t mask;  /* bit (slot mod 32) of every cluster with points here; 0: not known */
} ast_block;

/* By how much the score of a rival may have risen. */
typedef struct ast_gain {
    float most[2];   /* the largest and the second largest move */
    int32_t fastest; /* whose the largest is; -1: nobody moved */
} ast_gain;

typedef struct ast_change {
    uint32_t point;
    int32_t from, to;        /* slots; from may be AST_UNLABELLED */
    bool was_turned, turned; /* axial: the signs before and after */
} ast_change;

/* Of a source (fetch.c): what a thread has of the chunk at hand. */
typedef struct ast_hold {
    size_t first;   /* the first row, of all; SIZE_MAX: nothing */
    bool whole;     /* every row is here */
    uint8_t *have;  /* large: (chunk) the row is in row_memory */
    void *raw;      /* (chunk, D) as they were read, where they are not floats that can be used as they are */
    int32_t *kinds; /* small: (chunk) AST_MISSING for rows that are */
    ast_cloud part; /* small: its columns */
} ast_hold;

/* What one thread needs. */
typedef struct ast_worker {
    ast_table table; /* the clusters as of event number `seen` of pass `pass`, where that differs from the shared one */
    uint64_t pass;
    size_t seen;
    float safe;              /* from this score on no tracked cluster without points can win, as of that event */
    ast_table dirty;         /* clusters to compare with: those of some events */
    ast_scores other;        /* (chunk) scores against them */
    uint32_t *list;          /* (chunk) */
    ast_scores compact;      /* (chunk) scores of listed points */
    const float **rows;      /* large: (chunk) every point of the chunk, where rows_loaded */
    const float **picked;    /* large: (chunk) the listed ones */
    float *row_memory;       /* large, where rows are not in place: (chunk, D) */
    ast_hold hold;           /* what was read of a source */
    ast_sparse_row *entries; /* sparse: (chunk) the listed ones */
    float *row;              /* (D) */
    float *upright;          /* (D) */
    float *row_scratch;      /* AST_ROW_SCRATCH */
    double *exact;           /* (exact_capacity) scores of one point */
    size_t exact_capacity;
    ast_change *changes; /* (chunk) of the chunk at hand */
    size_t change_count;
    ast_change *log; /* several ranks: what the pass changed so far, to take it back */
    size_t log_count, log_capacity;
    ast_bins bins; /* what is to be added to the clusters' sums; large: sums (slots, D + 1); sparse: weights (slots) */
    int64_t *bin_memory;
    uint64_t *key_memory;
    int64_t *joined; /* (slots) first pass with weights: how many points joined */
    uint8_t *used;   /* (slots) large: the sum is not zero */
    size_t changed;  /* points that changed cluster in this pass */
    uint64_t scored; /* points compared with every cluster in this pass */
    /* The chunk at hand. */
    size_t base;       /* its first point */
    ast_scores scores; /* (chunk) of its points: `own`, or where the labelling keeps them */
    ast_scores own;    /* (chunk) */
    float *third;      /* large, where scores are kept: (chunk) bounds of the fast clusters' scores; `second` bounds the
                          others' */
    uint32_t *fresh;   /* (blocks of a chunk) small: one bit for each group that was scored */
    int32_t *hasty; /* (chunk) small: labels as they were when the points were added, which may have been too early */
    bool full;      /* every point of the chunk at hand was scored in this pass */
    uint8_t *hasty_signs; /* (chunk / AST_LANES) the same */
    bool added;           /* its points have labels and were added to the sums at once, ... */
    bool noted;           /* ... and `hasty` says where */
    bool rows_loaded;
} ast_worker;

typedef struct ast_labelling {
    const ast_kernels *kernels;
    ast_pool *pool;
    ast_cloud cloud;
    ast_cluster_list clusters;
    double limit;       /* a score fits from here: cos(angle) - 2^-20; -INFINITY: always */
    float fit, margin;  /* a float score that decides: best >= fit, best - second > margin */
    ast_tracks *tracks; /* a stream's clusters of the frames before, or NULL: those without points are candidates too */
    float safe;         /* from this score on none of them can win, as of the start of the pass: out of turn */
    float safe_now;     /* the same as of the last event: in turn */
    float rise;         /* of `safe` since the pass before: gaps are measured from it */
    bool axial;         /* x and -x are the same (docs/axial.md) */
    bool fixed;         /* the number of clusters is given: none is born, none dies, nobody is alone */
    bool bounds;        /* skip what cannot change */
    size_t crowd;       /* from so many clusters on points are labelled by cells: cells.h */
    struct ast_cells *cells; /* NULL until then */
    size_t present;          /* points that take part */
    const double *weights;   /* (count) in order of visit, divided by the smallest; NULL: all 1 */

    int32_t *labels;       /* (padded) slots */
    int32_t *summed;       /* sparse, several ranks: (padded) the slot in whose sum the point is; below 0: in none */
    uint8_t *summed_signs; /* several ranks: (padded / AST_LANES) the signs that go with it */
    uint8_t *signs;    /* (padded / AST_LANES) axial: a bit for each point on the other side of its mean, added as -x */
    float *gaps;       /* small: (padded / AST_LANES) as in ast_small_block */
    ast_scores scores; /* (padded) large: bounds, and the ids equal the labels between passes; small: AST_OIR only */
    float *third;      /* large: (padded) */
    size_t score_capacity;
    ast_block *blocks;
    size_t chunk, chunks; /* points in one; how many */

    uint64_t pass;          /* 1.. */
    bool first, first_done; /* the pass that labels points for the first time; it was the last one */
    bool blind;             /* labels were taken over from another run: no score is known, and no bound holds */
    bool keys_due;          /* the keys of the first pass are not known: the clusters' say what changed since */
    int32_t *first_order;   /* (first_live) the order of the clusters after the first pass */
    size_t first_live, first_capacity;
    uint64_t first_version;
    uint64_t first_print; /* fingerprint of the labels after the first pass; 0 while the keys are due */
    ast_table table;      /* the clusters at the start of the pass */
    float *start_means;   /* large: (slots, D) the same by slot */
    size_t start_capacity;
    int32_t *events; /* slots, in order of happening */
    size_t event_count, event_capacity;
    ast_gain everybody; /* moves of all clusters */
    uint8_t *fast;      /* large: (fast_capacity) slots that have a bound of their own */
    size_t fast_capacity;
    ast_table carry;      /* large: those, as the next pass finds them */
    ast_gain quick, slow; /* large: their moves, and those of the others */
    bool regrouped;       /* large: they are others than in the pass before */
    size_t last_events;   /* of the pass before */
    size_t *chunk_seen;   /* (chunks) how many events of its last pass all points of a chunk were compared with */
    bool few;             /* few enough clusters to look at each pair of them */
    float bit_step[AST_MASK_BITS]; /* small: how much smaller the gaps of points of the slots of that bit may be now */
    float *move_of;                /* large: (slots) */
    uint32_t lone;                 /* bits of the clusters with one member */

    _Atomic size_t turn;
    _Atomic size_t stop; /* the chunk from which on clusters are so many that points are labelled by cells */
    _Atomic bool failed; /* no memory in mid-pass */
    bool kept;           /* the scores of this pass are kept from chunk to chunk */
    ast_worker *workers;
    int worker_count;
    size_t capacity; /* points that the arrays have memory for */

    struct ast_windows *windows; /* NULL: the points are in memory; otherwise windows.h */

    /* Several ranks, or windows: here are points offset..offset+count of all. Clusters, their sums and their members
     * are those of all ranks, and the same on each. */
    const ast_comm *comm; /* NULL: alone */
    size_t offset;
    size_t everyone;       /* points that take part, of all ranks */
    bool trial;            /* the pass is tried as if nothing happened to the list of clusters */
    _Atomic bool trouble;  /* something would have happened */
    bool in_turn;          /* something did: the ranks committed in turn */
    ast_status pending;    /* a failure that the others are told of in the next pass */
    uint8_t *chunk_full;   /* (chunks) worker.full of the chunk as it was proposed */
    uint32_t *block_fresh; /* (padded / AST_BLOCK) worker.fresh */
    size_t state_capacity; /* points that these have memory for */
    uint64_t *packet;      /* what is added up over the ranks */
    size_t packet_capacity;
} ast_labelling;

typedef struct ast_pass_result {
    size_t changed;
    uint64_t scored;
    uint64_t restarts;
} ast_pass_result;

/* Loads the points; no clusters yet. Starts from zeroed memory or from a labelling that was used before, whose memory
 * it takes over. After a failure only ast_labelling_free and another load may follow. `order` and `weights` (both in
 * order of visit, or NULL) must live as long; the weights are divided by the smallest. Points of weight 0 are left out
 * as if they were missing. */
ast_status ast_labelling_load(ast_labelling *labelling, const ast_kernels *kernels, ast_pool *pool,
                              const ast_points *points, const uint32_t *order, double *weights, size_t *missing,
                              ast_fault *fault);
void ast_labelling_free(ast_labelling *labelling);

/* What weights (in order of visit, divided by the smallest) that add up to `total` are counted in: the largest power of
 * two that cannot overflow. Points that were loaded without weights get theirs, in such a unit; 0 leaves a point out.
 */
double ast_weight_unit(double total);
void ast_labelling_weigh(ast_labelling *labelling, const double *weights, double unit);

/* The same for one rank of several, whose points are number `offset` and on of all; weights are there on all ranks or
 * on none. `*missing` counts those of all ranks. A collective call, as all that follow are. */
ast_status ast_labelling_load_rank(ast_labelling *labelling, const ast_kernels *kernels, ast_pool *pool,
                                   const ast_comm *comm, size_t offset, const ast_points *points, double *weights,
                                   size_t *missing, ast_fault *fault);

/* Whether x and -x are the same: before the angle is set. */
void ast_labelling_set_axial(ast_labelling *labelling, bool axial);

/* Sets what counts as fitting: an angle in degrees, or NaN for always (a fixed number of clusters). */
void ast_labelling_set_angle(ast_labelling *labelling, double angle);

/* cos of an angle in degrees, exact at 0, 60, 90, 120 and 180. */
double ast_cosine(double degrees);

/* Labels every point and gathers the sums. */
ast_status ast_labelling_pass(ast_labelling *labelling, ast_parallel how, ast_pass_result *result, ast_fault *fault);

/* Stands for the labels of all points, from the second pass on: equal labels, equal value; those of the first pass are
 * 0. */
uint64_t ast_labelling_print(const ast_labelling *labelling);

/* Moves one point to another cluster (k-means fills an empty one so). false: no memory. */
bool ast_labelling_move(ast_labelling *labelling, size_t point, int32_t slot);

/* Gives every cluster the mean of its members. */
ast_status ast_labelling_update(ast_labelling *labelling, ast_fault *fault);

/* Several ranks: the same for the point of whichever rank; `point` matters on that one. */
bool ast_ranked_move(ast_labelling *labelling, int owner, size_t point, int32_t slot);

/* The rows (D) of some points, `mine` being one of this rank's or NULL: every rank gets the row of the one that has it.
 * rows: (count, D). false: no memory, on all ranks. */
bool ast_ranked_rows(ast_labelling *labelling, const float *const *mine, size_t count, float *rows);

/* ---- between the files of this room ---- */

/* What opens and closes a pass (passes.c). false: no memory. */
bool ast_prepare_pass(ast_labelling *labelling);
bool ast_save_order(ast_labelling *labelling);
/* The first chunks on one thread, `most` of them; returns how many, and whether the last one brought nothing. */
size_t ast_run_head(ast_labelling *labelling, size_t most, bool *quiet);
void ast_run_rest(ast_labelling *labelling, size_t first_chunk);          /* the others on all of them */
void ast_run_chunks(ast_labelling *labelling, size_t first, size_t last); /* the same up to the last; in order */
void ast_gather_sums(ast_labelling *labelling);                           /* and ends the pass */
void ast_end_pass(ast_labelling *labelling);

/* Several ranks (ranked.c). */
ast_status ast_ranked_pass(ast_labelling *labelling, ast_pass_result *result, ast_fault *fault);

/* exchange.c: what the ranks add up in a pass ... */
enum { AST_FAILURES, AST_TROUBLES, AST_CHANGED, AST_SCORED, AST_PACKET_HEAD };
bool ast_reserve_packet(ast_labelling *labelling, size_t numbers); /* false: no memory, on all ranks */
bool ast_exchange(ast_labelling *labelling, uint64_t head[AST_PACKET_HEAD], bool *lonely); /* false: the same */
/* ... what one of them did to the list of clusters (false: it failed, on all ranks) ... */
bool ast_share_events(ast_labelling *labelling, int from, size_t before);
/* ... and the means of clusters of one point. */
void ast_update_singles(ast_labelling *labelling);

void ast_propose(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_propose_all(ast_labelling *labelling, ast_worker *worker, size_t chunk); /* no bounds */

/* Commits the points from `first` on; returns the number of events, and with `stop` the point after the first one. */
size_t ast_commit(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t first, bool stop);
/* Its two halves: the events from number `seen` on, and then the points. */
void ast_meet(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t seen);
size_t ast_commit_met(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t first, bool stop, size_t seen);
bool ast_visit(ast_labelling *labelling, ast_worker *worker, size_t i); /* true: an event */

/* Makes a chunk the one at hand, before anything is known of it. */
void ast_begin_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);

/* Scores every point of the chunk at hand. */
void ast_score_chunk(ast_labelling *labelling, ast_worker *worker);

/* The gaps of points first..last do not hold any more. */
void ast_forget_gaps(ast_labelling *labelling, size_t first, size_t last);

/* Before labels change of points that are added already. */
void ast_note_hasty(ast_labelling *labelling, ast_worker *worker);

/* Adds what the chunk changed to the worker's sums. */
void ast_settle(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_add_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk); /* all of its points */
void ast_add_change(ast_labelling *labelling, ast_worker *worker, const ast_change *change);
void ast_merge_sums(ast_labelling *labelling, ast_worker *workers, int count); /* of some, and clears them */

/* Where sums are added to: the clusters, or elsewhere. Arrays (slots), sums (slots, D). */
typedef struct ast_sink {
    int64_t *sums, *weights, *members;
    uint64_t *keys;
    uint8_t *touched;
} ast_sink;
void ast_merge_into(ast_labelling *labelling, ast_worker *workers, int count, const ast_sink *sink);

/* The table to score with: the shared one until this worker has seen an event of this pass. */
const ast_table *ast_current_table(const ast_labelling *labelling, const ast_worker *worker);
bool ast_sync_table(ast_labelling *labelling, ast_worker *worker);

/* Scores of points first..first+n of the chunk against the table, into worker->other. */
void ast_score_others(ast_labelling *labelling, ast_worker *worker, const ast_table *table, size_t first, size_t n);

void ast_gather_keys(ast_labelling *labelling); /* those of the first pass, and its fingerprint */

/* Adds those of the labels there are to `keys` (slots), and drops what workers have gathered of keys. false: no memory.
 */
bool ast_count_keys(ast_labelling *labelling, uint64_t *keys);
uint64_t ast_key_of(size_t point, bool turned); /* of all points */

/* What the next pass must know of how far the means went (moves.c). false: no memory. */
bool ast_note_moves(ast_labelling *labelling);

/* The point as a row; axial: on the side from which it is looked at, in the worker's memory. */
const float *ast_upright_row(ast_labelling *labelling, ast_worker *worker, size_t i);

/* The point as a row, wherever it is, and its scores, for those who look at many in order; and before points of a chunk
 * are looked at, so that those of a source are read together: all of them, or the n listed ones (fetch.c). */
const float *ast_point_row(ast_labelling *labelling, ast_worker *worker, size_t i);
double ast_point_steady_dot(ast_labelling *labelling, ast_worker *worker, size_t i, const float *mean);
double ast_point_exact_score(ast_labelling *labelling, ast_worker *worker, size_t i, const float *mean);
ast_row_kind ast_fetch_kind(ast_labelling *labelling, ast_worker *worker, size_t i); /* of a source: into worker->row */
void ast_fetch_begin(ast_labelling *labelling, ast_worker *worker);
void ast_fetch_chunk(ast_labelling *labelling, ast_worker *worker);
void ast_fetch_listed(ast_labelling *labelling, ast_worker *worker, size_t n);

/* Small: component d of points i and on, in the chunk at hand, which was fetched. */
static inline const float *ast_column(const ast_labelling *l, const ast_worker *worker, size_t d, size_t i) {
    return l->windows ? worker->hold.part.column[d] + (i - worker->base) : l->cloud.column[d] + i;
}

/* Axial: whether a point is added as -x. */
static inline bool ast_is_turned(const uint8_t *signs, size_t i) {
    return signs[i / AST_LANES] >> i % AST_LANES & 1;
}

/* Whether a slot is a tracked cluster that has no points: it stands in the order, but not in tables. */
static inline bool ast_is_unseen(const ast_labelling *l, int32_t slot) {
    return l->tracks && (size_t)slot < l->tracks->count && l->tracks->unseen[slot];
}

static inline bool ast_is_tracked(const ast_labelling *l, int32_t slot) {
    return l->tracks && slot >= 0 && (size_t)slot < l->tracks->count;
}

size_t ast_chunk_size(size_t dimension);
bool ast_labelling_reserve(ast_labelling *labelling, size_t padded); /* memory for so many points, and workers */
void ast_labelling_reset(ast_labelling *labelling);                  /* what points and passes start from */
void ast_labelling_forget(ast_labelling *labelling);                 /* what is known of blocks */

/* What the weights of the points that are there come to. */
typedef struct ast_weight_range {
    double smallest, largest, total; /* smallest: of the positive ones; total: in units of it */
    bool zeros;
} ast_weight_range;
void ast_weights_range(const ast_labelling *labelling, const double *weights, ast_weight_range *range);
void ast_weights_total(const ast_labelling *labelling, const double *weights, ast_weight_range *range);
/* The unit of the sums, 0 where it is as if there were no weights; and then the points of weight 0 are left out and the
 * others' weights are divided by the smallest. */
ast_status ast_weights_unit(const ast_weight_range *range, double *unit, ast_fault *fault);
void ast_weights_apply(ast_labelling *labelling, double *weights, const ast_weight_range *range, double unit);

bool ast_labelling_keep_scores(ast_labelling *labelling); /* memory for them; false: there is none */
bool ast_worker_reserve(ast_labelling *labelling, ast_worker *worker);
void ast_labelling_fail(ast_labelling *labelling);
bool ast_labelling_event(ast_labelling *labelling, int32_t event); /* false: no memory */

#endif
