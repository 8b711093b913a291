/* SPDX-License-Identifier: MIT
 *
 * The clusters: an ordered list of slots, each with a mean, the exact sum of its members and their number. Sums are
 * fixed-point integers, so they do not depend on the order of additions, and a point that moves is subtracted and added
 * without drift. Labels are slots while a run lasts; a slot keeps its number until its cluster dies. */
#pragma once

#include "scorer.h"

#include <assert.h>

#define AST_INITIAL_SLOTS 4  /* slots that long means have memory for at first */
#define AST_ZERO_SUM 0x1p-20 /* a sum below this fraction of the members' weight has no meaningful direction */

typedef struct ast_cluster_list {
    size_t dimension;
    size_t live, slots, capacity; /* clusters alive; slots ever in use; slots there is memory for */
    double unit;                  /* sums are in units of 1 / unit, a power of two */
    double weight_unit;           /* the same for weights: unit, or 1 if every point weighs 1 */
    int32_t *order;               /* (live) slots in order of creation; of equal scores the first wins */
    int32_t *free_slots;          /* (free_count) slots of clusters that died before this pass, to be used again */
    size_t free_count;
    size_t tracked_slots;      /* lower slots belong to tracked clusters, and are not used again when these die */
    uint8_t *uninstantiated;   /* (tracked_slots) the tracked cluster has no points now; the rule's array. NULL: such
                                  a cluster is a candidate with its old mean, and dies if it stays empty */
    bool fixed;                /* the number of clusters is given: none is born, none dies, singletons do not matter */
    uint32_t singleton_bits;   /* bits of the clusters with one member; 0 if `fixed` */
    bool axial;                /* x and -x are the same */
    uint64_t version;          /* number of changes of the order */
    float *means;              /* (slots, D) */
    int64_t *sums;             /* (slots, D) */
    int64_t *weights;          /* (slots) sum of the members' weights */
    int64_t *members;          /* (slots) number of members */
    uint64_t *keys;            /* (slots) sum of the members' keys */
    uint32_t *singleton_point; /* (slots) the point whose row is the mean, if it was the only member when the mean was
                                  set; UINT32_MAX: none. It saves a search if it is the only member again */
    float *moves;              /* (slots) distance that the mean moved at the last update, rounded up */
    float *shifts;             /* small: (slots, D) that move */
    uint8_t *touched;          /* (slots) the sum has changed since the last update */
    uint8_t *alive;            /* (slots) */
    uint64_t *born;            /* (slots) the version at birth: increases along the order */
} ast_cluster_list;

static inline float *ast_clusters_mean(const ast_cluster_list *c, int32_t slot) {
    assert(slot >= 0 && (size_t)slot < c->slots);
    return c->means + (size_t)slot * c->dimension;
}

/* The clusters as the scores room sees them. */
static inline ast_mean_list ast_clusters_means(const ast_cluster_list *c) {
    return (ast_mean_list){c->dimension,     c->live,  c->slots,
                           c->order,         c->means, c->moves,
                           c->shifts,        c->alive, c->uninstantiated ? c->tracked_slots : 0,
                           c->uninstantiated};
}

/* Fills a table with the means of all clusters but uninstantiated ones, in order. false: no memory. */
bool ast_clusters_fill_table(const ast_cluster_list *clusters, ast_mean_table *table);

/* Whether the cluster stays without points; whether it has none now. */
static inline bool ast_clusters_is_tracked(const ast_cluster_list *c, int32_t slot) {
    return c->uninstantiated && slot >= 0 && (size_t)slot < c->tracked_slots;
}

static inline bool ast_clusters_is_uninstantiated(const ast_cluster_list *c, int32_t slot) {
    return ast_clusters_is_tracked(c, slot) && c->uninstantiated[slot];
}

/* Whether the cluster has come to have one point since the last update: that point becomes its mean. */
static inline bool ast_clusters_is_new_singleton(const ast_cluster_list *c, int32_t slot) {
    return c->touched[slot] && c->alive[slot] && c->members[slot] == 1;
}

/* Whether a point with this label is the only member of its cluster, so that the cluster is no candidate for it. */
static inline bool ast_clusters_is_singleton(const ast_cluster_list *c, int32_t label) {
    return !c->fixed && label >= 0 && c->members[label] == 1;
}

/* Counts a member that moves from cluster `from` to cluster `to`. Returns the number of members that `from` still has.
 * Without members `from` becomes uninstantiated if it is tracked, and dies otherwise, unless the number of clusters is
 * fixed. */
int64_t ast_clusters_move_member(ast_cluster_list *clusters, int32_t from, int32_t to);

/* Sets singleton_bits, at the start of a pass. */
void ast_clusters_find_singletons(ast_cluster_list *clusters);

void ast_clusters_free(ast_cluster_list *clusters);
/* Removes all clusters and keeps the memory: the dimension must not change. */
void ast_clusters_clear(ast_cluster_list *clusters, size_t dimension);

/* Memory for so many slots. false: no memory. */
bool ast_clusters_reserve(ast_cluster_list *clusters, size_t slots);

/* Adds a cluster without points at the end of the order; singleton_point: the point that is its mean, or UINT32_MAX.
 * Returns its slot, -1 if there is no memory. */
int32_t ast_clusters_add(ast_cluster_list *clusters, const float *mean, uint32_t singleton_point);
void ast_clusters_clear_slot(ast_cluster_list *clusters, int32_t slot); /* no points yet; the mean stays */

/* Adds means (count, D) as clusters without points. false: no memory. */
bool ast_clusters_add_means(ast_cluster_list *clusters, const float *means, size_t count);

/* Removes a cluster from the order. Its slot is used again only after ast_clusters_list_free_slots. */
void ast_clusters_kill(ast_cluster_list *clusters, int32_t slot);
void ast_clusters_list_free_slots(ast_cluster_list *clusters);

/* The same in two steps, for many clusters: marks each, then removes all of them from the order. */
void ast_clusters_mark_dead(ast_cluster_list *clusters, int32_t slot);
void ast_clusters_remove_dead(ast_cluster_list *clusters);
void ast_clusters_drop_empty(ast_cluster_list *clusters); /* all clusters without points that are not tracked */

/* The length of a sum (D) of integers. */
double ast_sum_length(const int64_t *sum, size_t dimension);

/* |sum|, in units of a point of weight 1. */
double ast_clusters_length(const ast_cluster_list *clusters, int32_t slot);

/* The sum of the members' weights, in units of the smallest weight. */
double ast_clusters_weight(const ast_cluster_list *clusters, int32_t slot);

/* Each of these notes how far the mean of a cluster moves in an update. ast_clusters_update_mean sets it to the
 * direction of the sum, normalised in double and rounded once; it does nothing if the sum is (nearly) zero.
 * ast_clusters_note_mean_stays notes that it does not move. */
void ast_clusters_update_mean(ast_cluster_list *clusters, int32_t slot);
void ast_clusters_note_mean_stays(ast_cluster_list *clusters, int32_t slot);
void ast_clusters_set_mean(ast_cluster_list *clusters, int32_t slot, const float *mean);

/* The term of a cluster in the objective: |sum|, or the product of sum and mean if the sum is (nearly) zero. And the
 * sum of all terms. */
double ast_clusters_objective_of(const ast_cluster_list *clusters, int32_t slot);
double ast_clusters_objective(const ast_cluster_list *clusters);

/* A hash of the labels of all points, given the order (live) of the clusters: equal labels have equal hashes. It is
 * linear in the keys, so a change of the keys gives the change of the hash. */
uint64_t ast_clusters_label_hash(const ast_cluster_list *clusters, const int32_t *order, size_t live);
