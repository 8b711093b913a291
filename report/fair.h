/* SPDX-License-Identifier: MIT
 *
 * Fair samples: of more points than can be drawn, each has the same chance. The same seed gives the same sample. */
#ifndef ASTERISM_REPORT_FAIR_H
#define ASTERISM_REPORT_FAIR_H

#include <stddef.h>
#include <stdint.h>

typedef struct ast_fair {
    uint64_t state;
} ast_fair;

/* A whole number below `limit`, which is not 0. */
size_t ast_fair_below(ast_fair *fair, size_t limit);

/* Picks `wanted` of `count` items, or all if there are fewer, one item after the other: whether the next one is taken.
 * left: items from this one on; open: how many are still to be taken. */
int ast_fair_takes(ast_fair *fair, size_t left, size_t open);

#endif
