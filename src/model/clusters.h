/* SPDX-License-Identifier: MIT
 *
 * The clusters: an ordered list of slots, each with a mean, the exact sum of its members and their number. Sums are
 * fixed-point integers, so they do not depend on the order of additions, and a point that moves is subtracted and added
 * without drift. Labels are slots while a run lasts; a slot keeps its number until its cluster dies. */
#ifndef AST_CLUSTERS_H
#define AST_CLUSTERS_H

#include "scorer.h"

#define AST_INITIAL_SLOTS 4  /* there is memory for at first, where means are long */
#define AST_ZERO_SUM 0x1p-20 /* of the members' weight: a shorter sum has no direction worth the name */

/* Slots to use again, after the pass in which they died. */
typedef struct ast_free_slots {
    int32_t *slots;
    size_t count;
} ast_free_slots;

typedef struct ast_cluster_list {
    size_t dimension;
    size_t live, slots, capacity; /* clusters alive; slots ever in use; slots there is memory for */
    double unit;                  /* sums are in units of 1 / unit, a power of two */
    double weight_unit;           /* the same for weights: unit, or 1 if every point weighs 1 */
    int32_t *order;               /* (live) slots in order of creation: equal scores go to the first */
    ast_free_slots free;
    size_t tracked_slots;    /* slots below are not used again when their cluster dies */
    uint8_t *uninstantiated; /* NULL, or (tracked_slots): tracked_slots slots outlive their points, and these have none
                                now. The rule's */
    bool fixed;              /* the number of clusters is given: none is born, none dies, no point is alone */
    uint32_t singleton_bits; /* bits of the clusters with one member; 0 where that does not matter */
    bool axial;              /* x and -x are the same */
    uint64_t version;        /* counts what happened to the order */
    float *means;            /* (slots, D) */
    int64_t *sums;           /* (slots, D) */
    int64_t *weights;        /* (slots) of the members together */
    int64_t *members;        /* (slots) points that count */
    uint64_t *keys;          /* (slots) sum of the members' keys */
    uint32_t *singleton_point; /* (slots) the point that was last known to be the only member */
    float *moves;              /* (slots) how far the mean went at the last update, rounded up */
    float *shifts;             /* small: (slots, D) where to */
    uint8_t *touched;          /* (slots) the sum has changed since the last update */
    uint8_t *alive;            /* (slots) */
    uint64_t *born;            /* (slots) the version at birth: increases along the order */
} ast_cluster_list;

/* The clusters as the scores room sees them. */
static inline ast_mean_list ast_clusters_means(const ast_cluster_list *c) {
    return (ast_mean_list){c->dimension,     c->live,  c->slots,
                           c->order,         c->means, c->moves,
                           c->shifts,        c->alive, c->uninstantiated ? c->tracked_slots : 0,
                           c->uninstantiated};
}

/* Fills a table with the means of the clusters that are not uninstantiated, in order. false: no memory. */
bool ast_clusters_fill_table(const ast_cluster_list *clusters, ast_mean_table *table);

/* Whether the cluster outlives its points; whether it has none and waits for one. */
static inline bool ast_clusters_is_tracked(const ast_cluster_list *c, int32_t slot) {
    return c->uninstantiated && slot >= 0 && (size_t)slot < c->tracked_slots;
}

static inline bool ast_clusters_is_uninstantiated(const ast_cluster_list *c, int32_t slot) {
    return ast_clusters_is_tracked(c, slot) && c->uninstantiated[slot];
}

/* Whether the cluster came to have one point since the last update: that point becomes its mean. */
static inline bool ast_clusters_is_new_singleton(const ast_cluster_list *c, int32_t slot) {
    return c->touched[slot] && c->alive[slot] && c->members[slot] == 1;
}

/* Whether a point with this label is the only member of its cluster, so that the cluster is no candidate for it. */
static inline bool ast_clusters_is_singleton(const ast_cluster_list *c, int32_t label) {
    return !c->fixed && label >= 0 && c->members[label] == 1;
}

/* One member came to cluster `to` and left cluster `from`. Returns the number that `from` has left; a cluster that
 * lost its last one is uninstantiated, or taken out of the order, unless their number is fixed. */
int64_t ast_clusters_move_member(ast_cluster_list *clusters, int32_t from, int32_t to);

/* Finds the clusters with one member, at the start of a pass. */
void ast_clusters_find_singletons(ast_cluster_list *clusters);

void ast_clusters_free(ast_cluster_list *clusters);
void ast_clusters_clear(ast_cluster_list *clusters, size_t dimension); /* keeps the memory: the dimension is for ever */

/* Memory for so many slots. */
bool ast_clusters_reserve(ast_cluster_list *clusters, size_t slots);

/* A new cluster at the end of the order. Its slot, or -1 if there is no memory. */
int32_t ast_clusters_add(ast_cluster_list *clusters, const float *mean, uint32_t singleton_point);

/* Means (count, D) as clusters without points. false: no memory. */
bool ast_clusters_add_means(ast_cluster_list *clusters, const float *means, size_t count);

/* Takes the cluster out of the order. Its slot is used again only after ast_clusters_list_free_slots. */
void ast_clusters_kill(ast_cluster_list *clusters, int32_t slot);
void ast_clusters_list_free_slots(ast_cluster_list *clusters);

/* The same for many: each stays in the order until they are swept out together. */
void ast_clusters_mark_dead(ast_cluster_list *clusters, int32_t slot);
void ast_clusters_remove_dead(ast_cluster_list *clusters);
void ast_clusters_drop_empty(ast_cluster_list *clusters); /* those without points, unless they outlive them */

/* The length of a sum (D) of integers. */
double ast_sum_length(const int64_t *sum, size_t dimension);

/* |sum|, in units of a point of weight 1. */
double ast_clusters_length(const ast_cluster_list *clusters, int32_t slot);

/* The members' weights, in units of the smallest. */
double ast_clusters_weight(const ast_cluster_list *clusters, int32_t slot);

/* The mean by the sum: normalised in double, rounded once. Unchanged where the sum is (nearly) zero. */
void ast_clusters_update_mean(ast_cluster_list *clusters, int32_t slot);

/* The mean stays where it is. */
void ast_clusters_keep_mean(ast_cluster_list *clusters, int32_t slot);

/* Sets the mean and notes how far it moved. */
void ast_clusters_set_mean(ast_cluster_list *clusters, int32_t slot, const float *mean);

/* What a cluster adds to the objective: |sum|, or its product with the mean where the sum is (nearly) zero; and that of
 * all of them. */
double ast_clusters_objective_of(const ast_cluster_list *clusters, int32_t slot);
double ast_clusters_objective(const ast_cluster_list *clusters);

/* Stands for the labels 0..live-1 of all points, given the order of the clusters: equal labels, equal value. It is
 * linear in the keys, so what changes in the keys says by how much it changes. */
uint64_t ast_clusters_label_hash(const ast_cluster_list *clusters, const int32_t *order, size_t live);

#endif
