/* SPDX-License-Identifier: MIT
 *
 * Inside the model room: the struct of a labelling, and the functions that its files share. No other room includes this
 * header (tests may).
 *
 * The main idea (the paper's optimistic concurrency, without its restarts): threads score chunks of points in parallel
 * against the clusters at that moment, and commit the chunks in order. Meanwhile other chunks may have changed the list
 * of clusters: these *events* are births, deaths and means that were reset. The commit compares every point of the
 * chunk with the few clusters concerned, and gives the few points that the scores do not decide to the method's rule. A
 * birth never makes another chunk score all its points again.
 *
 *     labelling.c      memory; loading points; the state before the first pass; the view
 *     edit.c           labels and clusters that a method sets by itself
 *     pass.c           begins and ends every pass; the schedules of points in memory: ordered, oir, serial
 *     commit.c         commits one chunk: visits the points that scores do not decide
 *     worker_tables.c  the means of a thread, up to the last event
 *     sums.c           from labels to sums; sparse_sums.c the same for sparse points
 *     label_hash.c     a hash of all labels
 *     update.c         from sums to means
 *     nearest.c        the nearest mean of points, without a pass
 *     snapshot.c       the result at a moment, and the way back to it
 *     cells_pass.c     a pass where clusters are very many, in three dimensions
 *     ranked.c         the schedule of points on several processes; exchange.c their messages
 *     row_windows.c    the schedule of points that are read from a source
 *     empty.c          k-means: empty clusters take points
 *     seeds.c          starts of k-means: k-means++; seeds_random.c random rows; seed_rows.c rows to choose from;
 *                      seed_heads.c which points a new start may be near to; point_heads.c first coordinates of points
 *     checkpoint_labels.c  labels of an earlier run, taken over
 *     late.c           rows that are labelled after the last pass
 *     invariants.c     what holds at the end of a pass */
#ifndef AST_INSIDE_H
#define AST_INSIDE_H

#include "cells.h"
#include "edit.h"
#include "labelling.h"
#include "row_windows.h"

#include <stdatomic.h>

#define AST_SLOTS_PER_TASK 4096 /* that one task updates */

/* Changes of the list of clusters in this pass, in order: the slot of a cluster with a new mean, or ~slot of a cluster
 * whose old scores are invalid. */
typedef struct ast_events {
    int32_t *list;
    size_t count, capacity;
    ast_unseen_bound unseen_bound; /* as in ast_scorer, as of the last event */
} ast_events;

/* Very many clusters in three dimensions (cells_pass.c). */
typedef struct ast_cell_mode {
    size_t min_clusters; /* from so many clusters on points are labelled by cells */
    ast_cells *cells;    /* NULL until then */
} ast_cell_mode;

typedef struct ast_change {
    uint32_t point;
    int32_t from, to;          /* slots; from may be AST_UNLABELLED */
    bool was_flipped, flipped; /* axial: the signs before and after */
} ast_change;

/* Fingerprints of labels are told relative to those after the first pass, so that the first pass need not count any. */
typedef struct ast_label_hash_base {
    int32_t *order; /* (live) the order of the clusters after the first pass */
    size_t live, capacity;
    uint64_t version; /* of the clusters then */
    uint64_t first;   /* fingerprint of the labels after the first pass; 0 while `due` */
    bool due;         /* that is not known: the clusters' keys say what changed since */
} ast_label_hash_base;

/* Several ranks (ranked.c). Clusters, their sums and their members are those of all ranks, and the same on each. */
typedef struct ast_ranks {
    const ast_comm *comm;     /* NULL: alone */
    bool speculative;         /* the pass is tried as if nothing happened to the list of clusters */
    _Atomic bool conflict;    /* something would have happened */
    bool in_turn;             /* something did: the ranks committed in turn */
    ast_status pending;       /* a failure that the others are told of in the next pass */
    uint8_t *proposed_full;   /* (chunks) chunk.full as it was proposed */
    uint32_t *proposed_fresh; /* (padded / AST_BLOCK) chunk.scored_groups */
    size_t state_capacity;    /* points that these have memory for */
    uint64_t *packet;         /* what is added up over the ranks */
    size_t packet_capacity;
} ast_ranks;

/* The cluster whose sum contains each point. Sparse points and ranks update sums later than labels. */
typedef struct ast_summed {
    int32_t *slots; /* (padded) below 0: in none */
    uint8_t *signs; /* (padded / AST_LANES) */
} ast_summed;

/* The memory of one thread. */
typedef struct ast_worker {
    ast_chunk chunk; /* the chunk at hand */
    ast_mean_table
        table; /* the clusters as of event number `seen` of pass `pass`, where that differs from the shared one */
    uint64_t pass;
    size_t seen;
    ast_unseen_bound unseen_bound; /* as in ast_scorer, as of that event */
    ast_mean_table dirty;          /* clusters to compare with: those of some events */
    double *exact;                 /* (exact_capacity) scores of one point */
    size_t exact_capacity;
    ast_change *changes; /* (chunk) of the chunk at hand */
    size_t change_count;
    ast_change *undo_log; /* several ranks: what the pass changed so far, to take it back */
    size_t undo_count, undo_capacity;
    ast_bins bins; /* what is to be added to the clusters' sums; large: sums (slots, D + 1); sparse: weights (slots) */
    int64_t *bin_memory;
    uint64_t *key_memory;
    int64_t *joined; /* (slots) first pass with weights: how many points joined */
    uint8_t *used;   /* (slots) large: the sum is not zero */
    size_t changed;  /* points that changed cluster in this pass */
} ast_worker;

/* The order in which chunks are committed. */
typedef struct ast_queue {
    _Atomic size_t turn;     /* the chunk whose commit is next */
    _Atomic size_t stop;     /* the chunk from which on points are labelled by cells */
    _Atomic uint8_t *parked; /* (chunks) whether a chunk waits for its turn without a thread */
    size_t capacity;         /* chunks that there is memory for */
    bool parks;              /* whether chunks may, in this pass */
} ast_queue;

struct ast_worst;

/* How a pass goes over the points: in memory, on ranks, from a source. All schedules give the same labels. */
typedef struct ast_schedule {
    ast_status (*pass)(struct ast_labelling *labelling, ast_parallel how, ast_pass_result *result, ast_fault *fault);
    /* The means of the clusters that came to have one point: that point. The others' means are up to date. */
    ast_status (*update_singletons)(struct ast_labelling *labelling, ast_fault *fault);
    /* Moves the point of all that fits its cluster worst to the empty cluster (empty.c). */
    ast_status (*fill)(struct ast_labelling *labelling, struct ast_worst *worst, int32_t slot, ast_fault *fault);
    bool forgets_singletons; /* a singleton_point is a cluster's only member; once it is not, nobody else is known to be
                              */
    bool catches_up;         /* ast_small_catch_up works: all points are in memory, and nobody else decides */
} ast_schedule;

struct ast_labelling {
    ast_pool *pool;
    ast_rowset rows;
    ast_scorer scorer;
    ast_cluster_list clusters;
    ast_rule rule;
    const ast_schedule *schedule;
    int32_t *labels; /* (padded) slots */
    uint8_t *signs;  /* (padded / AST_LANES) as in ast_scorer */
    ast_summed summed;
    size_t capacity; /* points that these have memory for */
    size_t present;  /* points that take part: of these rows, */
    size_t everyone; /* of all ranks */
    uint64_t pass;   /* 1.. */
    bool first;      /* the pass that labels points for the first time ... */
    bool first_done; /* ... was the last one */
    ast_events events;
    ast_label_hash_base label_hash_base;
    ast_queue queue;
    _Atomic bool failed; /* no memory in mid-pass, or a row that cannot be read, or cancelled */
    ast_worker *workers;
    int worker_count;
    ast_ranks ranks;
    ast_cell_mode cell_mode;
    ast_windows windows; /* whose points these are; rows in memory are one */
};

/* ---- Functions that the files of this room share ---------------------------------------------------------------- */

extern const ast_schedule ast_resident_schedule, ast_ranked_schedule, ast_windowed_schedule;

/* The means alone, where no pass follows: bounds are of no use any more, and after a checkpoint there are none. */
ast_status ast_labelling_last_update(ast_labelling *labelling, ast_fault *fault);

/* Every empty cluster, in order, takes the point that fits its own cluster worst (empty.c). */
ast_status ast_labelling_fill_empty(ast_labelling *labelling, ast_fault *fault);

/* Stands for the labels of all points, from the second pass on: equal labels, equal hashes. */
uint64_t ast_label_hash(const ast_labelling *labelling);

/* Memory for so many points, and workers; what points and passes start from. */
bool ast_labelling_reserve(ast_labelling *labelling, size_t padded);
void ast_labelling_reset(ast_labelling *labelling);

/* Rows that the first pass loads: loads the chunks from that one on, and counts; AST_OK if there is nothing
 * to do. */
ast_status ast_labelling_finish_load(ast_labelling *labelling, size_t chunk, ast_fault *fault);

void ast_labelling_fail(ast_labelling *labelling);
/* Whether the caller wants to stop; asked on worker 0, which is the caller's thread. */
bool ast_labelling_stopped(ast_labelling *labelling, int worker);
/* What a failure in mid-pass came to, AST_OK if there was none; and clears it. */
ast_status ast_labelling_trouble(ast_labelling *labelling, ast_fault *fault);

/* From which score on the rule has no candidate beside the means, now: into events.unseen_bound. */
void ast_find_unseen_bound(ast_labelling *labelling);

/* Prepares tables and bounds (false: no memory); ends a pass when all labels are known. */
bool ast_prepare_pass(ast_labelling *labelling);
void ast_gather_sums(ast_labelling *labelling); /* adds up what workers have, then ast_end_pass */
void ast_end_pass(ast_labelling *labelling);
void ast_check_pass(ast_labelling *labelling); /* asserts what must hold now (invariants.c) */

/* Runs the task for chunks first..last-1 on all threads. */
typedef void ast_chunk_task(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_each_chunk(ast_labelling *labelling, size_t first, size_t last, ast_chunk_task *task);

/* Ordered passes: runs the first chunks on one thread, `most` of them; returns how many, and whether the last one
 * brought nothing. ast_ordered_chunk is the task for the others. */
size_t ast_run_first_chunks(ast_labelling *labelling, size_t most, bool *quiet);
void ast_ordered_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);

/* Makes a chunk the one at hand; and proposes: what may have changed, or everything. */
void ast_begin_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_propose_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_score_every_point(ast_labelling *labelling, ast_worker *worker, size_t chunk);

/* Commits the points from `first` on; returns the number of events, and with `stop` the point after the first one. */
size_t ast_commit(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t first, bool stop);
/* Its two halves: the events from number `seen` on, and then the points. */
void ast_rescore_changed(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t seen);
size_t ast_commit_rescored(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t first, bool stop,
                           size_t seen);
bool ast_visit(ast_labelling *labelling, ast_worker *worker, size_t i); /* true: an event */
bool ast_push_event(ast_labelling *labelling, int32_t event);           /* false: no memory */
bool ast_sync_table(ast_labelling *labelling, ast_worker *worker);      /* the worker's table, up to the last event */

/* Moves one point to another cluster. false: no memory. */
bool ast_move_point(ast_labelling *labelling, size_t point, int32_t slot);

/* sums.c: memory for the slots there are; what the chunk changed, all of its points, one change; and what some workers
 * have gathered, into the clusters' sums. */
bool ast_worker_reserve(ast_labelling *labelling, ast_worker *worker);
bool ast_workers_reserve(ast_labelling *labelling);
void ast_add_changes(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_add_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_add_all(ast_labelling *labelling); /* every point of every chunk, on all threads */
void ast_add_change(ast_labelling *labelling, ast_worker *worker, const ast_change *change);
void ast_merge_sums(ast_labelling *labelling, ast_worker *workers, int count);

/* Where sums are added to: the clusters, or elsewhere. Arrays (slots), sums (slots, D). */
typedef struct ast_sum_arrays {
    int64_t *sums, *weights, *members;
    uint64_t *keys;
    uint8_t *touched;
} ast_sum_arrays;
void ast_merge_into(ast_labelling *labelling, ast_worker *workers, int count, const ast_sum_arrays *sink);

/* sparse_sums.c: brings the clusters' sums in line with the labels; of all points, or of one. */
void ast_sparse_sum(ast_labelling *labelling);
void ast_sparse_sum_point(ast_labelling *labelling, size_t i);

/* prints.c: before the second pass, and once the list of clusters has changed since the first. */
bool ast_save_order(ast_labelling *labelling); /* false: no memory */
void ast_gather_keys(ast_labelling *labelling);
/* Adds the keys of the labels there are to `keys` (slots), and drops what workers have gathered. false: no memory. */
bool ast_sum_keys(ast_labelling *labelling, uint64_t *keys);
uint64_t ast_key_of(size_t point, bool flipped); /* of all points */

/* cells_pass.c. */
bool ast_cells_wanted(const ast_labelling *labelling);
void ast_cells_pass(ast_labelling *labelling, size_t from); /* points before `from` have their labels */

/* empty.c: the point that fits worst, chunk by chunk. */
typedef struct ast_worst {
    const float *means; /* (slots, D) that the labels were found with */
    double *score;      /* (chunks) the smallest score in the chunk, when it was last looked at */
    size_t *point;      /* (chunks) whose it is */
    bool looked;        /* at all of them */
} ast_worst;
size_t ast_find_worst(ast_labelling *labelling, ast_worst *worst, double *score); /* the chunk; infinite: none */

/* exchange.c: what the ranks add up in a pass ... */
enum { AST_FAILURES, AST_CONFLICTS, AST_CHANGED, AST_SCORED, AST_PACKET_HEAD };
bool ast_exchange(ast_labelling *labelling, uint64_t head[AST_PACKET_HEAD],
                  bool *had_singletons); /* false: no memory */
/* ... what one of them did to the list of clusters (false: it failed, on all ranks) ... */
bool ast_share_events(ast_labelling *labelling, int from, size_t before);
/* ... the rows (D) of some points, `mine` being one of this rank's or NULL: every rank gets the row of the one that has
 * it. rows: (count, D). false: no memory, on all ranks. */
bool ast_ranked_rows(ast_labelling *labelling, const float *const *mine, size_t count, float *rows);
ast_status ast_update_ranked_singletons(ast_labelling *labelling, ast_fault *fault);

#endif
