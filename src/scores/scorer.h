/* SPDX-License-Identifier: MIT
 *
 * Scores of points against means: for each point of a chunk the best mean of a table, its score and the second best
 * score. This room decides no label: scores are floats with a known error, and points that they do not decide are
 * marked.
 *
 * From the second pass on most points need no score at all. A mean that moved by m changes a score by at most m, since
 * points are unit vectors. So two bounds are kept for each point: a lower bound of its best score, which decreases by
 * the move of its own cluster, and an upper bound of all other scores, which increases by the largest move of the other
 * clusters. While the lower bound exceeds the upper bound and the threshold, the point keeps its label, and its
 * coordinates are not read.
 *
 *     scorer.c        which points of a chunk need scores, and memory
 *     small.c         dimensions 2..4: bounds per block of neighbours
 *     large.c         5 dimensions and more, dense or sparse: bounds per point
 *     heads.h         many means in many dimensions: which of them can be the best
 *     bounds.c        how far the means moved between two passes, and what that does to the bounds
 *     mean_table.c    tables of means that the kernels read
 *     cells*.c        very many clusters in three dimensions */
#pragma once

#include "heads.h"
#include "rowset.h"
#include "mean_table.h"

#define AST_MASK_BITS 32 /* sets of slots, modulo this */

static inline uint32_t ast_bit_of(int32_t slot) {
    return (uint32_t)1 << (slot & (AST_MASK_BITS - 1));
}

/* The largest of `least` and the numbers of the slots in the mask. */
static inline float ast_largest_in(uint32_t mask, const float of[AST_MASK_BITS], float least) {
    for (; mask; mask &= mask - 1) {
        float number = of[__builtin_ctz(mask)];
        least = number > least ? number : least;
    }
    return least;
}

/* A distance as a float that is no smaller, with an allowance for the errors of the numbers that it was computed
 * from. */
static inline float ast_round_up(double distance) {
    return distance > 0 ? (float)(distance * (1 + 0x1p-20)) + 0x1p-22f : 0;
}

/* A view of the clusters' means. Valid until a cluster is added. */
typedef struct ast_mean_list {
    size_t dimension, live, slots;
    const int32_t *order;          /* (live) slots in order of creation */
    const float *means;            /* (slots, D) */
    const float *moves;            /* (slots) distance that the mean moved at the last update, rounded up */
    const float *displacements;    /* small: (slots, D) new mean minus old mean */
    const uint8_t *alive;          /* (slots) */
    size_t tracked_slots;          /* slots below this number stay when their clusters lose all points */
    const uint8_t *uninstantiated; /* (tracked_slots) the cluster has no points now: it is in no table */
} ast_mean_list;

static inline bool ast_is_uninstantiated(const ast_mean_list *m, int32_t slot) {
    return (size_t)slot < m->tracked_slots && m->uninstantiated[slot];
}

/* From this score on, no uninstantiated cluster can win a point. */
typedef struct ast_unseen_bound {
    float all;               /* holds for every best mean */
    bool each;               /* every slot has its own bit, and `of` is valid */
    float of[AST_MASK_BITS]; /* holds if the best mean is that of the slot */
} ast_unseen_bound;

/* Bounds of a block of neighbouring points. Small: the gap of a point says how far it is from another label: it is the
 * lead of the best score over the second best or, if that is less, over the deciding score (ast_small_block). Gaps are
 * stored plus the `drift` that the block had at that time. So the stored gap minus the present drift is a lower bound
 * of the gap, and one comparison shows whether any point of the block can have changed. */
typedef struct ast_block {
    float drift;      /* small: sum of the moves of the means since the gaps were measured */
    float gap;        /* small: the smallest stored gap; -INFINITY: unknown */
    float least;      /* small: no point has a best score below this minus `drift`; -INFINITY: unknown */
    float gap_origin; /* small: the threshold that the gaps are measured from */
    bool attention;   /* the scores may leave a point open, or give it another label: the commit checks each point */
    uint32_t mask;    /* bit (slot mod 32) of every cluster with points in the block; 0: unknown */
} ast_block;

/* The largest moves of a set of clusters: by how much the score of another mean may have increased. */
typedef struct ast_largest_moves {
    float most[2];   /* the largest and the second largest move */
    int32_t fastest; /* the cluster with the largest move; -1: no cluster moved */
} ast_largest_moves;

/* Bounds that are kept from pass to pass. */
typedef struct ast_bounds {
    bool on;            /* skip points whose labels cannot change */
    bool invalid;       /* labels come from another run: no bound holds in the next pass */
    float *gaps;        /* small: (padded / AST_LANES) as in ast_small_block */
    ast_scores scores;  /* (padded) large: bounds; ids equal the labels between passes. Small: with AST_OIR only */
    float *fast_bound;  /* large: (padded) bounds of the fast clusters' scores; `scores.second` bounds the others' */
    size_t capacity;    /* points that scores and fast_bound have memory for */
    ast_block *blocks;  /* (padded / AST_BLOCK) */
    size_t *chunk_seen; /* (chunks) number of events of the last pass that all points of the chunk were compared with */
    size_t last_events; /* number of events of the last pass */
} ast_bounds;

/* Moves of the means between the last pass and the next. */
typedef struct ast_moves {
    float *of_slot;                /* large: (slots) */
    float *start_means;            /* large: (slots, D) means at the start of the pass */
    size_t capacity;               /* slots that both have memory for */
    ast_largest_moves all;         /* moves of all clusters */
    ast_largest_moves quick, slow; /* large: moves of the fast clusters, and of the other clusters */
    uint8_t *fast;                 /* large: (fast_capacity) 1 for a fast cluster */
    size_t fast_capacity;
    ast_mean_table fast_table;  /* large: means of the fast clusters at the start of the next pass */
    bool regrouped;             /* large: the set of fast clusters has changed */
    float fast_failed_move;     /* large: the largest move in a pass in which comparisons with the fast clusters decided
                              almost no point; 0: they decide points */
    bool compare_pairs;         /* there are few clusters: each pair is compared */
    bool distinct;              /* small: every slot has its own bit */
    size_t born[AST_MASK_BITS]; /* small: 1 + the last event of the last pass that gave a slot of this bit a new mean;
                                   0: there was none */
    float bit_step[AST_MASK_BITS]; /* small: the most by which gaps of points of these slots can have decreased */
} ast_moves;

typedef struct ast_scorer {
    const ast_kernels *kernels;
    ast_pool *pool; /* may be cancelled */
    ast_rowset *rows;
    int32_t *labels; /* (padded) slot of each point; owned by the model */
    uint8_t *signs;  /* (padded / AST_LANES) axial: one bit per point; set if the point is added to the sum as -x */
    double fit_threshold;          /* lowest exact score that fits: cos(angle) - 2^-20; -INFINITY: every score fits */
    float fit, margin;             /* a float score that decides: best >= fit, best - second > margin */
    ast_unseen_bound unseen_bound; /* at the start of the pass */
    bool keeps_scores;             /* the scores of all chunks of this pass are kept */
    ast_mean_table table;          /* the means at the start of the pass */
    ast_bounds bounds;
    ast_moves moves;
    ast_heads heads;
} ast_scorer;

/* The exact result for a point that float scores do not decide, for the means of its chunk's table. */
typedef struct ast_close_call {
    uint32_t at;    /* index in the chunk */
    bool singleton; /* the point's own cluster is left out: the point seems to be its only member */
    int32_t slot;   /* the best mean, the first of equal ones; AST_NOBODY: no mean is close */
    double score;   /* by definition */
    double second;  /* upper bound of the scores of all other means */
} ast_close_call;

/* Buffers of one thread for scoring points by heads (candidates.c). */
typedef struct ast_candidate_buffer {
    ast_close_call *calls; /* (chunk) of the current chunk, in order of points */
    size_t call_count;
    size_t events_seen;                     /* events of the pass that the chunk's table includes, as in ast_worker */
    ast_mean_candidate *list;               /* (tile, room) */
    float *upper_bounds;                    /* (tile, room) */
    float *heads;                           /* (tile, width) the heads of all rows, then their bytes */
    uint8_t *bytes;                         /* (tile, bytes) within `heads` */
    size_t room;                            /* most candidates of a point */
    size_t width;                           /* floats per row */
    uint64_t products;                      /* full scores computed in this pass */
    uint64_t compared_fast, undecided_fast; /* points compared with the fast clusters in this pass, and points that the
                                               comparison did not decide */
} ast_candidate_buffer;

/* The chunk that one thread works on. */
typedef struct ast_chunk {
    size_t base;                   /* its first point */
    ast_mean_table *table;         /* the means to score with */
    ast_unseen_bound unseen_bound; /* as in ast_scorer, for these means */
    bool unlabelled;               /* its points have no labels yet */
    bool full;                     /* every point was scored in this pass */
    bool added_early;      /* points were labelled and added to sums while they were scored, maybe before an event that
                              concerns them */
    bool labels_saved;     /* `early_labels` holds these labels */
    int32_t *early_labels; /* (chunk) */
    uint8_t *early_signs;  /* (chunk / AST_LANES) */
    ast_scores scores;     /* (chunk) scores of the points: `own`, or the scorer's memory */
    ast_scores own;        /* (chunk) */
    ast_scores other;      /* (chunk) scores against another table */
    ast_scores compact;    /* (chunk) scores of listed points */
    float *fast_bound;     /* as in ast_bounds; NULL if scores are not kept */
    uint32_t *list;        /* (2 chunks) */
    uint32_t *scored_groups; /* small: (blocks of a chunk) one bit per group that was scored */
    const float **picked;    /* large: (chunk) rows of listed points */
    float *scratch;          /* large: AST_ROW_SCRATCH */
    uint64_t scored;         /* points compared with every mean in this pass */
    ast_candidate_buffer candidates;
    ast_row_buffer rows;
    int worker; /* the thread's number in the pool */
} ast_chunk;

/* Memory for n scores. false: no memory; call ast_scores_free in any case. */
bool ast_scores_open(ast_scores *scores, size_t n);
void ast_scores_free(ast_scores *scores);

/* ast_chunk_open allocates a chunk, ast_scorer_reserve the blocks and gaps of `padded` points, and
 * ast_scorer_reserve_scores the scores that are kept from pass to pass. false: no memory. */
bool ast_chunk_open(ast_chunk *chunk, const ast_rowset *rows);
void ast_chunk_free(ast_chunk *chunk);
bool ast_scorer_reserve(ast_scorer *scorer, size_t padded);
bool ast_scorer_reserve_scores(ast_scorer *scorer);
void ast_scorer_free(ast_scorer *scorer);

/* Sets the largest angle at which a point fits a mean, in degrees; NaN: every point fits. The rows must be loaded. */
void ast_scorer_set_angle(ast_scorer *scorer, double angle);

/* The lowest score that fits an angle in degrees; -infinity for NaN. */
double ast_least_score(double angle);

/* cos of an angle in degrees, exact at 0, 60, 90, 120 and 180. */
double ast_cosine(double degrees);

/* Makes chunk `number` the current one. The caller sets its table, `unseen_bound` and `unlabelled`. */
void ast_chunk_begin(const ast_scorer *scorer, ast_chunk *chunk, size_t number);

/* Scores the points of the current chunk that may have changed. With `bins` (or NULL), points without labels are
 * labelled and added to these sums at once; for nearly all of them this is final. */
void ast_chunk_score_needed(ast_scorer *scorer, ast_chunk *chunk, ast_bins *bins);

/* ast_chunk_score_all scores every point of the current chunk. ast_chunk_score_against scores points first..first+n of
 * it against another table, into chunk->other. */
void ast_chunk_score_all(ast_scorer *scorer, ast_chunk *chunk);
void ast_chunk_score_against(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table, size_t first, size_t n);

/* Points of the current chunk, from `first` on, were labelled and added early, before these events (as in ast_events),
 * which gave some clusters a new mean. The chunk's table includes the events. Scores the blocks again that the events
 * may concern, and marks them for attention. false: the slots are too many to tell; nothing was done. */
bool ast_small_rescore_changed(ast_scorer *scorer, ast_chunk *chunk, const int32_t *events, size_t count, size_t first);

/* Saves the labels of points that were added early, before any of them changes. */
void ast_chunk_save_labels(const ast_scorer *scorer, ast_chunk *chunk);

/* ast_forget_gaps invalidates the gaps of points first..last-1; ast_forget_bounds all bounds of all points. */
void ast_forget_gaps(ast_scorer *scorer, size_t first, size_t last);
void ast_forget_bounds(ast_scorer *scorer);

/* ast_bounds_save_means copies the means before a pass; bounds refer to them. ast_bounds_after_update measures the
 * moves of the means for the next pass; events (count): slots that were born or reset, as in ast_events. false: no
 * memory. */
bool ast_bounds_save_means(ast_scorer *scorer, const ast_mean_list *means);
bool ast_bounds_after_update(ast_scorer *scorer, const ast_mean_list *means, const int32_t *events, size_t count,
                             float unseen_bound);

/* To be called before ast_bounds_after_update: tells how many points were compared with the means of the fast clusters
 * in the pass, and how many of them this did not decide. */
void ast_bounds_note_fast_means(ast_scorer *scorer, uint64_t compared_fast, uint64_t undecided_fast);

/* Before a pass against scorer->table: decides whether and how heads are used (stages.c). Scores below `floor` do not
 * matter; AST_NO_SCORE: all scores matter. */
void ast_heads_begin_pass(ast_scorer *scorer, ast_chunk *scratch, float floor);

/* The exact result for point `at` of the current chunk, or NULL. */
const ast_close_call *ast_close_call_of(const ast_chunk *chunk, size_t at);

/* From this score on a best mean decides the label: it fits, and no uninstantiated cluster can beat it. Holds for
 * points of the clusters whose bits are in the mask; mask 0: of any cluster. */
static inline float ast_deciding_score_for_labels(const ast_scorer *s, const ast_unseen_bound *unseen_bound,
                                                  uint32_t mask) {
    if (unseen_bound->each && mask)
        return ast_largest_in(mask, unseen_bound->of, s->fit);
    return unseen_bound->all > s->fit ? unseen_bound->all : s->fit;
}

/* Axial: whether a point is added as -x. */
static inline bool ast_is_flipped(const uint8_t *signs, size_t i) {
    return signs[i / AST_LANES] >> i % AST_LANES & 1;
}

static inline void ast_set_flipped(uint8_t *signs, size_t i, bool flipped) {
    uint8_t bit = (uint8_t)(1u << i % AST_LANES);
    signs[i / AST_LANES] = flipped ? signs[i / AST_LANES] | bit : signs[i / AST_LANES] & (uint8_t)~bit;
}
