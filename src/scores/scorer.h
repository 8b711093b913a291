/* SPDX-License-Identifier: MIT
 *
 * Who is nearest: for the points of a chunk the best mean of a table, its score and the second best score. Nothing here
 * decides a label; scores are floats with a known error, and points that they do not decide are marked.
 *
 * From the second pass on most points need no score at all. A mean that moved by m changes a score by at most m, since
 * points are unit vectors. So for each point the best score and an upper bound of all others are kept; the first sinks
 * by the move of the point's own cluster and the second rises by the largest move of the others. As long as they do not
 * meet, and the first stays above the threshold, the point stays where it is without a look at its coordinates.
 *
 *     scorer.c        which points of a chunk need scores, and memory
 *     small.c         dimensions 2..4: bounds per block of neighbours
 *     large.c         5 dimensions and more, dense or sparse: bounds per point
 *     heads.h         many means in many dimensions: which of them can be the best
 *     bounds.c        how far the means moved between two passes, and what that does to the bounds
 *     mean_table.c         tables of means that the kernels read
 *     cells*.c        very many clusters in three dimensions */
#ifndef AST_SCORER_H
#define AST_SCORER_H

#include "heads.h"
#include "rowset.h"
#include "mean_table.h"

#define AST_MASK_BITS 32 /* sets of slots, modulo this */

static inline uint32_t ast_bit_of(int32_t slot) {
    return (uint32_t)1 << (slot & (AST_MASK_BITS - 1));
}

/* A distance as a float that is no smaller, with an allowance for what it was computed from. */
static inline float ast_round_up(double distance) {
    return distance > 0 ? (float)(distance * (1 + 0x1p-20)) + 0x1p-22f : 0;
}

/* A view of the clusters' means. Valid until a cluster is added. */
typedef struct ast_mean_list {
    size_t dimension, live, slots;
    const int32_t *order;          /* (live) slots in order of creation */
    const float *means;            /* (slots, D) */
    const float *moves;            /* (slots) how far the mean went at the last update, rounded up */
    const float *displacements;    /* small: (slots, D) where to */
    const uint8_t *alive;          /* (slots) */
    size_t tracked_slots;          /* slots below outlive their points, */
    const uint8_t *uninstantiated; /* (tracked_slots) and have none now: they are in no table */
} ast_mean_list;

static inline bool ast_is_uninstantiated(const ast_mean_list *m, int32_t slot) {
    return (size_t)slot < m->tracked_slots && m->uninstantiated[slot];
}

/* From which score on no candidate beside the means can win a point. */
typedef struct ast_unseen_bound {
    float all;               /* whatever its best mean is */
    bool each;               /* every slot has a bit of its own, and `of` is known */
    float of[AST_MASK_BITS]; /* where that is the mean of the slot */
} ast_unseen_bound;

/* What is known of a block of neighbours. Small: a gap is stored plus the block's `drift` at that time, so gap - drift
 * is a bound of it now, and one comparison tells whether any point of the block can have changed. */
typedef struct ast_block {
    float drift;    /* small: how far the means have moved since its gaps were first measured */
    float gap;      /* small: the smallest gap of the block as stored; -INFINITY: not known */
    float least;    /* small: no point's best score is below this minus `drift`; -INFINITY: not known */
    float fit;      /* small: the score that its gaps are measured from */
    bool attention; /* has points for the commit to look at */
    uint32_t mask;  /* bit (slot mod 32) of every cluster with points here; 0: not known */
} ast_block;

/* By how much the score of a rival may have risen. */
typedef struct ast_largest_moves {
    float most[2];   /* the largest and the second largest move */
    int32_t fastest; /* the cluster with the largest; -1: none moved */
} ast_largest_moves;

/* What is known of points from pass to pass. */
typedef struct ast_bounds {
    bool on;           /* points that cannot change are skipped */
    bool invalid;      /* labels come from another run: no bound holds in the next pass */
    float *gaps;       /* small: (padded / AST_LANES) as in ast_small_block */
    ast_scores scores; /* (padded) large: bounds, and the ids equal the labels between passes; small: AST_OIR only */
    float *fast_bound; /* large: (padded) bounds of the fast clusters' scores; `scores.second` bounds the others' */
    size_t capacity;   /* points that scores and fast_bound have memory for */
    ast_block *blocks; /* (padded / AST_BLOCK) */
    size_t
        *chunk_seen; /* (chunks) the number of events of its last pass that all points of a chunk were compared with */
    size_t last_events; /* events of the pass before */
} ast_bounds;

/* How far the means moved since the pass before. */
typedef struct ast_moves {
    float *of;                     /* large: (slots) */
    float *start_means;            /* large: (slots, D) the means at the start of the pass, by slot */
    size_t capacity;               /* slots that both have memory for */
    ast_largest_moves all;         /* moves of all clusters */
    ast_largest_moves quick, slow; /* large: moves of the fast clusters, and of the others */
    uint8_t *fast;                 /* large: (fast_capacity) slots that have a bound of their own */
    size_t fast_capacity;
    ast_mean_table fast_table;     /* large: the fast clusters, as the next pass finds them */
    bool regrouped;                /* large: the fast clusters are others than in the pass before */
    float futile_move;             /* large: the largest move when comparing points with the fast clusters settled next
                                 to none of them; 0: it is of use */
    bool few;                      /* few enough clusters to look at each pair of them */
    bool distinct;                 /* small: every slot has a bit of its own */
    size_t born[AST_MASK_BITS];    /* small: 1 + the last event of the pass before that gave the slots of that bit a new
                                      mean; 0: none did */
    float bit_step[AST_MASK_BITS]; /* small: how much smaller the gaps of points of the slots of that bit may be now */
} ast_moves;

typedef struct ast_scorer {
    const ast_kernels *kernels;
    ast_pool *pool; /* which may be cancelled */
    ast_rowset *rows;
    int32_t *labels;   /* (padded) slots: the model's */
    uint8_t *signs;    /* (padded / AST_LANES) axial: a bit for each point on the other side of its mean, added as -x */
    double limit;      /* a score fits from here: cos(angle) - 2^-20; -INFINITY: always */
    float fit, margin; /* a float score that decides: best >= fit, best - second > margin */
    ast_unseen_bound unseen_bound; /* at the start of the pass */
    bool kept;                     /* the scores of this pass are kept from chunk to chunk */
    ast_mean_table table;          /* the clusters at the start of the pass */
    ast_bounds bounds;
    ast_moves moves;
    ast_heads heads;
} ast_scorer;

/* The exact outcome for a point that float scores leave open, against the means of its chunk's table. */
typedef struct ast_close_call {
    uint32_t at;    /* in the chunk */
    bool singleton; /* without the point's own cluster, whose only member it seems to be */
    int32_t slot;   /* the best mean, the first of equal ones; AST_NOBODY: none came near */
    double score;   /* by definition */
    double second;  /* at least that of every other mean */
} ast_close_call;

/* What a thread needs to score points by heads (candidates.c). */
typedef struct ast_candidate_buffer {
    ast_close_call *calls; /* (chunk) of the chunk at hand, in order */
    size_t call_count;
    size_t events_seen;       /* events of the pass that the chunk's table has: as in ast_worker */
    ast_mean_candidate *list; /* (tile, room) */
    float *upper_bounds;      /* (tile, room) */
    float *heads;             /* (tile, width): heads, and behind those of all rows */
    uint8_t *bytes;           /* their bytes */
    size_t room;              /* candidates of a point */
    size_t width;             /* of a row, in floats */
    uint64_t products;        /* scores in full in this pass, of a point with a mean */
    uint64_t compared_fast,
        undecided_fast; /* points compared with the fast clusters in this pass, and those it did not settle */
} ast_candidate_buffer;

/* The chunk that one thread works on. */
typedef struct ast_chunk {
    size_t base;                   /* its first point */
    ast_mean_table *table;         /* the means to score with */
    ast_unseen_bound unseen_bound; /* as in ast_scorer, with these means */
    bool unlabelled;               /* its points have no labels yet */
    bool full;                     /* every point was scored in this pass */
    bool added_early;        /* its points have labels and were added to sums at once, which may have been too early, */
    bool labels_saved;       /* and `early_labels` has those labels */
    int32_t *early_labels;   /* (chunk) */
    uint8_t *early_signs;    /* (chunk / AST_LANES) */
    ast_scores scores;       /* (chunk) of its points: `own`, or where the scorer keeps them */
    ast_scores own;          /* (chunk) */
    ast_scores other;        /* (chunk) scores against some other table */
    ast_scores compact;      /* (chunk) scores of listed points */
    float *fast_bound;       /* as in ast_bounds; NULL where scores are not kept */
    uint32_t *list;          /* (2 chunks) */
    uint32_t *scored_groups; /* small: (blocks of a chunk) one bit for each group that was scored */
    const float **picked;    /* large: (chunk) rows of listed points */
    float *scratch;          /* large: AST_ROW_SCRATCH */
    uint64_t scored;         /* points compared with every mean in this pass */
    ast_candidate_buffer candidates;
    ast_row_buffer rows;
    int worker; /* the thread's number in the pool */
} ast_chunk;

/* Memory for n scores. false: no memory; free them in any case. */
bool ast_scores_open(ast_scores *scores, size_t n);
void ast_scores_free(ast_scores *scores);

/* Memory for chunks, for blocks and gaps of so many points, and for scores that are kept. false: no memory. */
bool ast_chunk_open(ast_chunk *chunk, const ast_rowset *rows);
void ast_chunk_free(ast_chunk *chunk);
bool ast_scorer_reserve(ast_scorer *scorer, size_t padded);
bool ast_scorer_keep(ast_scorer *scorer);
void ast_scorer_free(ast_scorer *scorer);

/* What counts as fitting: an angle in degrees, or NaN for always. The rows must be loaded. */
void ast_scorer_set_angle(ast_scorer *scorer, double angle);

/* The lowest score that fits an angle in degrees; -infinity for NaN. */
double ast_least_score(double angle);

/* cos of an angle in degrees, exact at 0, 60, 90, 120 and 180. */
double ast_cosine(double degrees);

/* Makes a chunk the one at hand; its table, `unseen_bound` and `unlabelled` are the caller's to set. */
void ast_chunk_begin(const ast_scorer *scorer, ast_chunk *chunk, size_t number);

/* Scores the points of the chunk at hand that may have changed. `bins` (or NULL): points without labels get their label
 * and are added to these sums at once, where that is right for nearly all of them. */
void ast_propose(ast_scorer *scorer, ast_chunk *chunk, ast_bins *bins);

/* Scores every point of the chunk at hand; points first..first+n of it against another table, into chunk->other. */
void ast_score_chunk(ast_scorer *scorer, ast_chunk *chunk);
void ast_score_against(ast_scorer *scorer, ast_chunk *chunk, const ast_mean_table *table, size_t first, size_t n);

/* The points from `first` on of the chunk at hand were added at once, before these events (as ast_events has them),
 * which gave some clusters a mean; the chunk's table has them. Scores the blocks that this may concern again, and has
 * them looked at. false: it cannot tell, and did nothing. */
bool ast_small_catch_up(ast_scorer *scorer, ast_chunk *chunk, const int32_t *events, size_t count, size_t first);

/* Keeps the labels of points that were added at once, before any of them changes. */
void ast_chunk_save_labels(const ast_scorer *scorer, ast_chunk *chunk);

/* The gaps of points first..last, or everything known of all points, does not hold any more. */
void ast_forget_gaps(ast_scorer *scorer, size_t first, size_t last);
void ast_forget_blocks(ast_scorer *scorer);

/* Before a pass: copies the means by slot, which bounds are measured from. After an update: what the next pass must
 * know of how far the means went; events (count): slots that were born or reset, as ast_events has them. false: no
 * memory. */
bool ast_bounds_save_means(ast_scorer *scorer, const ast_mean_list *means);
bool ast_bounds_after_update(ast_scorer *scorer, const ast_mean_list *means, const int32_t *events, size_t count,
                             float unseen_bound);

/* Before that: of so many points that were compared with the fast clusters in the pass, so many were not settled. */
void ast_bounds_learn(ast_scorer *scorer, uint64_t compared_fast, uint64_t undecided_fast);

/* Before a pass over the points against scorer->table: decides whether and how heads are used (stages.c). `floor`:
 * scores below do not matter; AST_NO_SCORE: all do. */
void ast_heads_begin_pass(ast_scorer *scorer, ast_chunk *scratch, float floor);

/* The outcome for point `at` of the chunk at hand, or NULL. */
const ast_close_call *ast_close_call_of(const ast_chunk *chunk, size_t at);

/* A score that decides, for points of the clusters whose bits are in the mask; of any cluster if it is 0: it fits, and
 * no candidate beside the means can beat it. */
static inline float ast_deciding_score_for_labels(const ast_scorer *s, const ast_unseen_bound *unseen_bound,
                                                  uint32_t mask) {
    float score = unseen_bound->all;
    if (unseen_bound->each && mask)
        for (score = AST_NO_SCORE; mask; mask &= mask - 1) {
            float own = unseen_bound->of[__builtin_ctz(mask)];
            score = own > score ? own : score;
        }
    return score > s->fit ? score : s->fit;
}

/* Axial: whether a point is added as -x. */
static inline bool ast_is_flipped(const uint8_t *signs, size_t i) {
    return signs[i / AST_LANES] >> i % AST_LANES & 1;
}

static inline void ast_set_flipped(uint8_t *signs, size_t i, bool flipped) {
    uint8_t bit = (uint8_t)(1u << i % AST_LANES);
    signs[i / AST_LANES] = flipped ? signs[i / AST_LANES] | bit : signs[i / AST_LANES] & (uint8_t)~bit;
}

#endif
