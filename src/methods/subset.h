/* SPDX-License-Identifier: MIT
 *
 * Some of the points of a labelling as a labelling of their own, in the order of visit; and how to draw them. */
#pragma once

#include "edit.h"
#include "random.h"

typedef struct ast_subset {
    ast_labelling *labelling;
    uint32_t *order;                 /* numbers of the caller's rows; not used for sparse points, which are copied */
    double *weights;                 /* if the points have weights */
    void *values, *starts, *columns; /* sparse: the copy */
    size_t capacity, entry_capacity;
} ast_subset;

/* Loads points number members[0] < members[1] < ... of `all`, none of them missing. Start with a zeroed subset; loading
 * it again reuses its memory. Weights and unit are those of all points. */
ast_status ast_subset_load(ast_subset *subset, const ast_labelling *all, const uint32_t *members, size_t count,
                           ast_fault *fault);
void ast_subset_free(ast_subset *subset);

/* Adds the means of other clusters, as clusters without points. */
ast_status ast_subset_add_means_of(ast_labelling *labelling, const ast_cluster_list *from, ast_fault *fault);

/* The streams of random numbers of a restart, besides those of the methods. */
enum { AST_DRAW_SAMPLE = -1, AST_DRAW_START = -2, AST_DRAW_BATCH = -3, AST_DRAW_LOOKED = -4 };
static inline uint64_t ast_draw_stream(int restart, int purpose) {
    return (uint64_t)restart << 32 | (uint32_t)purpose;
}

/* Draws `most` of the points that take part, or all if there are fewer, each set of them as likely as any other, from
 * that stream. members: (most) receives their numbers, in order. Returns how many. */
size_t ast_subset_draw(const ast_labelling *all, uint64_t seed, uint64_t stream, size_t most, uint32_t *members);

/* Loads `count` of the points that take part, each set of them as likely as any other, drawn from that stream. */
ast_status ast_subset_load_drawn(ast_subset *subset, const ast_labelling *all, uint64_t seed, uint64_t stream,
                                 size_t count, ast_fault *fault);
