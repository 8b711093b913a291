/* SPDX-License-Identifier: MIT
 *
 * Pairs of tracked clusters that may be pieces of one: both have points, and their means are closer than half the
 * angle. The rule that makes one of them is in stream_joins.c. */
#ifndef AST_JOINS_H
#define AST_JOINS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ast_near_pair {
    int32_t older, younger; /* ids */
    uint32_t frames;        /* in a row that they are near; counted up to the number at which they are joined */
} ast_near_pair;

/* A cluster with points, in the frame that is being closed. */
typedef struct ast_sighting {
    int32_t slot, id;
} ast_sighting;

typedef struct ast_joins {
    ast_near_pair *pairs; /* (count) after the last frame, in order of the ids */
    size_t count, capacity;
    ast_near_pair *found; /* (found_count) in the frame that is being closed */
    double *cosines;      /* (found_count) of their means */
    size_t found_count, found_capacity, cosine_capacity;
    ast_sighting *seen;
    size_t seen_capacity;
    int32_t *host; /* (slots) the cluster that has the points of this one: mostly itself */
    size_t host_capacity;
} ast_joins;

#endif
