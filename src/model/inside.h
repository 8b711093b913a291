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
 *     pass.c           what every pass begins and ends with
 *     local.c          the schedule of one process: serial and oir passes; ordered.c: ordered passes
 *     ranked.c         the schedule of several processes; exchange.c: their messages
 *     row_windows.c    windows of points that are read from a source
 *     commit.c         commits one chunk; visit.c: visits one point that the scores leave open
 *     worker_tables.c  the table of means of a thread, up to the last event
 *     sums.c           from labels to sums; update.c: from sums to means
 *     label_hash.c     a hash of all labels
 *     nearest.c        the nearest mean of points, without a pass
 *     snapshot.c       the result at a moment, and the way back to it
 *     cells_pass.c     a pass with very many clusters in three dimensions
 *     empty.c          k-means: empty clusters take points
 *     seeds.c          starts of k-means: k-means++; seeds_random.c: random rows; seed_rows.c: rows to choose from
 *     point_heads.c    the first coordinates of all points along principal axes
 *     checkpoint_labels.c  labels of an earlier run
 *     late.c           rows that are labelled after the last pass
 *     invariants.c     what holds at the end of a pass */
#pragma once

#include "cells.h"
#include "edit.h"
#include "labelling.h"
#include "memory.h"
#include "row_windows.h"

#include <math.h>
#include <stdatomic.h>

#define AST_SLOTS_PER_TASK 4096 /* one task updates so many */

/* Changes of the list of clusters in this pass, in order: `slot` for a cluster with a new mean, ~slot for a cluster
 * whose old scores are invalid. */
typedef struct ast_events {
    int32_t *list;
    size_t count, capacity;
    ast_unseen_bound unseen_bound; /* as in ast_scorer, after the last event */
} ast_events;

typedef struct ast_change {
    uint32_t point;
    int32_t from, to;          /* slots; from may be AST_UNLABELLED */
    bool was_flipped, flipped; /* axial: the signs before and after */
} ast_change;

/* The hash of labels is relative to that of the first pass, so that the first pass need not compute keys. */
typedef struct ast_label_hash_base {
    int32_t *order; /* (live) the order of the clusters after the first pass */
    size_t live, capacity;
    uint64_t version; /* of the clusters then */
    uint64_t first;   /* hash of the labels after the first pass; 0 while `due` */
    bool due;         /* `first` is not known: the keys of the clusters are the changes since then */
} ast_label_hash_base;

/* Several ranks (ranked.c). Clusters, their sums and their members are those of all ranks, and the same on each. */
typedef struct ast_ranks {
    const ast_comm *comm;    /* NULL: one process */
    bool speculative;        /* the ranks try the pass in parallel, as if there were no events */
    _Atomic bool conflict;   /* a point of this rank would have caused an event */
    bool in_turn;            /* there were events in the last pass: the ranks committed in turn */
    ast_status pending;      /* a failure that the next pass reports to the other ranks */
    uint8_t *chunk_full;     /* (chunks) `full` of the chunk when it was scored */
    uint32_t *scored_groups; /* (padded / AST_BLOCK) as in ast_chunk */
    size_t state_capacity;   /* blocks that these have memory for */
    uint64_t *packet;        /* the numbers that are summed over the ranks */
    size_t packet_capacity;
} ast_ranks;

/* The memory of one thread. */
typedef struct ast_worker {
    ast_chunk chunk;      /* the chunk that the thread works on */
    ast_mean_table table; /* the means after `seen` events of pass `pass`; unused if that is not this pass */
    uint64_t pass;
    size_t seen;
    ast_unseen_bound unseen_bound; /* as in ast_scorer, after these events */
    ast_mean_table changed_means;  /* the clusters of some events, which a chunk is compared with */
    double *exact;                 /* (exact_capacity) scores of one point */
    size_t exact_capacity;
    ast_change *changes; /* (chunk) of this chunk */
    size_t change_count;
    ast_change *undo_log; /* several ranks: the changes of the pass so far, to undo them */
    size_t undo_count, undo_capacity;
    ast_bins bins; /* sums of its chunks, not yet in those of the clusters; large: (slots, D + 1); sparse: (slots) */
    int64_t *bin_memory;
    uint64_t *key_memory;
    int64_t *joined;            /* (slots) change of the number of members, if no visit and no bin counts it */
    uint8_t *used;              /* (slots) large: the sum is not zero */
    size_t changed;             /* points that changed cluster in this pass */
    char apart[AST_CACHE_LINE]; /* threads must not write to a line that another one reads */
} ast_worker;

/* The order in which chunks are committed. */
typedef struct ast_queue {
    char apart[AST_CACHE_LINE]; /* as in ast_worker */
    _Atomic size_t turn;        /* the chunk that is committed next */
    char behind[AST_CACHE_LINE];
    _Atomic size_t stop;     /* chunks from this one on are labelled by cells */
    _Atomic uint8_t *parked; /* (chunks) whether a chunk waits for its turn without a thread */
    size_t capacity;         /* chunks that there is memory for */
    bool parks;              /* chunks may be parked in this pass */
} ast_queue;

struct ast_worst;

/* How a pass visits the points: on one process, or on several ranks. All schedules give the same labels. */
typedef struct ast_schedule {
    ast_status (*pass)(struct ast_labelling *labelling, ast_parallel how, ast_pass_result *result, ast_fault *fault);
    /* Sets the mean of every cluster that came to have one point to that point. All other means are up to date. */
    ast_status (*update_singletons)(struct ast_labelling *labelling, ast_fault *fault);
    /* Moves the point that fits its cluster worst to the empty cluster `slot` (empty.c). */
    ast_status (*move_worst)(struct ast_labelling *labelling, struct ast_worst *worst, int32_t slot, ast_fault *fault);
} ast_schedule;

struct ast_labelling {
    ast_labelling_input input; /* as loaded */
    ast_pool *pool;
    ast_rowset rows;
    ast_scorer scorer;
    ast_cluster_list clusters;
    ast_rule rule;
    const ast_schedule *schedule;
    int32_t *labels;     /* (padded) slots */
    uint8_t *signs;      /* (padded / AST_LANES) as in ast_scorer */
    int32_t *summed;     /* sparse: (padded) the cluster whose sum contains the point; below 0: none */
    size_t capacity;     /* points that these have memory for */
    size_t present;      /* points of this rank that take part */
    size_t everyone;     /* points of all ranks that take part */
    double least_weight; /* of these, as given; 1 without weights */
    uint64_t pass;       /* 1.. */
    bool first;          /* this pass, or the next one, is the first */
    bool last_was_first; /* the last pass was the first */
    ast_events events;
    ast_label_hash_base label_hash_base;
    ast_queue queue;
    _Atomic bool failed; /* no memory within a pass, a row that cannot be read, or cancelled */
    ast_worker *workers;
    int worker_count;
    ast_ranks ranks;
    size_t cells_from;   /* a pass uses cells if there are at least so many clusters (cells_pass.c) */
    ast_cells *cells;    /* NULL until then */
    ast_windows windows; /* the points are those of the open window; rows in memory are one window */
};

/* ---- Functions that the files of this room share ---------------------------------------------------------------- */

extern const ast_schedule ast_local_schedule, ast_ranked_schedule;

/* Whether this process has all points, in memory. */
static inline bool ast_is_resident(const ast_labelling *l) {
    return !l->rows.reader && !ast_comm_many(l->ranks.comm);
}

/* One component of point i as it is added to a sum: an integer number of units. */
static inline int64_t ast_units(const ast_labelling *l, size_t i, float value) {
    return l->rows.weights ? llrint((double)value * (l->rows.weights[i] * l->clusters.unit)) : lrintf(value * 0x1p30f);
}

/* Events of this pass that the table of the worker has; 0: it uses the shared table. */
static inline size_t ast_events_seen(const ast_labelling *l, const ast_worker *worker) {
    return worker->pass == l->pass ? worker->seen : 0;
}

/* labelling.c: memory for so many points, and the workers (false: no memory); the state before the first pass. */
bool ast_labelling_reserve(ast_labelling *labelling, size_t padded);
void ast_labelling_reset_pass_state(ast_labelling *labelling);

/* Loads the rows of the chunks from `chunk` on that the first pass has not loaded, and counts the points. Does nothing
 * if all rows are loaded. */
ast_status ast_labelling_finish_load(ast_labelling *labelling, size_t chunk, ast_fault *fault);

/* Notes a failure within a pass. */
void ast_labelling_fail(ast_labelling *labelling);

/* Whether there was a failure, or the caller wants to stop; worker 0 asks the caller, on the caller's thread. */
bool ast_labelling_stopped(ast_labelling *labelling, int worker);

/* Returns the status of the failure, with its sentence, and clears it; AST_OK if there was none. */
ast_status ast_labelling_trouble(ast_labelling *labelling, ast_fault *fault);

/* pass.c: prepares tables and bounds (false: no memory); ends a pass when labels and sums are known. */
bool ast_prepare_pass(ast_labelling *labelling);
void ast_end_pass(ast_labelling *labelling);
void ast_check_pass(ast_labelling *labelling); /* asserts what must hold then (invariants.c) */

/* Adds the work of the pass so far to the result. */
void ast_count_work(const ast_labelling *labelling, ast_pass_result *result);

/* Sets events.unseen_bound: from which score on no uninstantiated cluster can win a point, at this moment. */
void ast_find_unseen_bound(ast_labelling *labelling);

/* Runs the task for chunks first..last-1 on all threads. ast_each_chunk_by_segment: for all chunks of the open window
 * from `first` on, a segment at a time, with a report to the caller after each. */
typedef void ast_chunk_task(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_each_chunk(ast_labelling *labelling, size_t first, size_t last, ast_chunk_task *task);
ast_status ast_each_chunk_by_segment(ast_labelling *labelling, size_t first, ast_chunk_task *task, ast_fault *fault);

/* ordered.c: an ordered pass over all windows. */
ast_status ast_ordered_pass(ast_labelling *labelling, ast_fault *fault);

/* Its two parts. Labels the first chunks, at most `most`, on one thread, until a chunk brings no event (`quiet`);
 * returns their number. Labels one of the other chunks, on any thread. */
size_t ast_run_first_chunks(ast_labelling *labelling, size_t most, bool *quiet);
void ast_ordered_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);

/* commit.c: gives a chunk to the worker; the same, and scores the points that may have changed, or every point. */
void ast_begin_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_score_needed_points(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_score_every_point(ast_labelling *labelling, ast_worker *worker, size_t chunk);

/* Commits the points of the chunk from `first` on. Returns the end of the chunk; with `stop` the point after the first
 * event, if there is one. The other two functions are its halves: the first brings the scores up to date with the
 * events from number `seen` on, the second visits the points that the scores leave open. */
size_t ast_commit(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t first, bool stop);
void ast_rescore_changed(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t seen);
size_t ast_visit_undecided(ast_labelling *labelling, ast_worker *worker, size_t chunk, size_t first, bool stop);
bool ast_push_event(ast_labelling *labelling, int32_t event); /* false: no memory */

/* visit.c: decides the cluster of a point of the worker's chunk, and moves it there. */
typedef enum ast_visit_result {
    AST_NO_EVENT,
    AST_LEFT_ONE_MEMBER, /* a cluster has one member left, which needs a visit */
    AST_EVENT
} ast_visit_result;
ast_visit_result ast_visit(ast_labelling *labelling, ast_worker *worker, size_t i);

/* worker_tables.c: brings the worker's table up to the last event. false: no memory. */
bool ast_sync_table(ast_labelling *labelling, ast_worker *worker);

/* update.c: updates the means alone, if no pass follows. Moves one point to another cluster (false: no memory). */
ast_status ast_labelling_last_update(ast_labelling *labelling, ast_fault *fault);
bool ast_move_point(ast_labelling *labelling, size_t point, int32_t slot);

/* sums.c: memory for the sums of all slots, of one worker or of all workers. false: no memory. */
bool ast_worker_reserve(ast_labelling *labelling, ast_worker *worker);
bool ast_workers_reserve(ast_labelling *labelling);

/* Adds to the sums of a worker the changes of its chunk, all points of a chunk, or one change; adds all points of all
 * chunks, on all threads. */
void ast_add_changes(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_add_chunk(ast_labelling *labelling, ast_worker *worker, size_t chunk);
void ast_add_change(ast_labelling *labelling, ast_worker *worker, const ast_change *change);
void ast_add_all(ast_labelling *labelling);

/* Moves the sums of `count` workers to `sums`; those of all workers, and sparse points, to the clusters. */
void ast_merge_into(ast_labelling *labelling, ast_worker *workers, int count, const ast_sums *to);
void ast_gather_sums(ast_labelling *labelling);
void ast_drop_sums(ast_labelling *labelling); /* of all workers */

/* Computes the sums of all points of all ranks by their labels, from zero. The next pass is then not the first. */
ast_status ast_recount(ast_labelling *labelling, ast_fault *fault);

/* Brings the sum of its cluster in line with the label of a sparse point. */
void ast_sparse_sum_point(ast_labelling *labelling, size_t i);

/* The arrays of the clusters as sums. */
static inline ast_sums ast_cluster_sums(const ast_cluster_list *c) {
    return (ast_sums){c->slots, c->sums, c->weights, c->members, c->keys, c->touched};
}

/* label_hash.c: a hash that stands for the labels of all points, from the second pass on. */
uint64_t ast_key_of(size_t point, bool flipped);       /* the key of point number `point` of all */
bool ast_save_hash_base(ast_labelling *labelling);     /* before the second pass; false: no memory */
void ast_compute_first_hash(ast_labelling *labelling); /* the keys of all labels and the hash of the first pass */
void ast_add_window_keys(ast_labelling *labelling);    /* first pass: adds the keys of the open window */

/* cells_pass.c: labels the points from `from` on; those before have their labels. */
bool ast_cells_wanted(const ast_labelling *labelling);
void ast_cells_pass(ast_labelling *labelling, size_t from);

/* empty.c: every empty cluster, in order, takes the point that fits its own cluster worst. */
ast_status ast_labelling_fill_empty(ast_labelling *labelling, ast_fault *fault);
typedef struct ast_worst {
    ast_labelling *l;
    const float *means; /* (slots, D) that the labels were found with */
    double *score;      /* (chunks) the smallest score of the chunk at the last search */
    size_t *point;      /* (chunks) the point with that score */
    bool looked;        /* all chunks were searched */
} ast_worst;
size_t ast_find_worst_chunk(ast_worst *worst, double *score); /* returns the chunk; infinite score: there is none */

/* exchange.c: adds up sums and counts over the ranks (false: no memory, on all ranks). */
enum { AST_FAILURES, AST_CONFLICTS, AST_CHANGED, AST_SCORED, AST_PACKET_HEAD };
bool ast_allreduce_sums(ast_labelling *labelling, uint64_t head[AST_PACKET_HEAD], bool *had_singletons);

/* Tells all ranks the events of rank `from` after the first `before`. false: a rank failed, and all ranks know. */
bool ast_share_events(ast_labelling *labelling, int from, size_t before);

/* Gives rows to all ranks: reserve memory for `count` rows (false: no memory, on all ranks), put the rows of this rank,
 * share them, and get each row (D). */
bool ast_reserve_rows(ast_labelling *labelling, size_t count);
void ast_put_row(ast_labelling *labelling, size_t j, const float *row);
void ast_share_rows(ast_labelling *labelling, size_t count);
void ast_get_row(const ast_labelling *labelling, size_t j, float *row);
ast_status ast_update_ranked_singletons(ast_labelling *labelling, ast_fault *fault);
