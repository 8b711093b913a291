/* SPDX-License-Identifier: MIT
 *
 * What a sampler's chain of sweeps says: how often each number of clusters occurred, how many independent samples the
 * chain is worth, and whether its second half agrees with its first. */
#ifndef AST_CHAIN_H
#define AST_CHAIN_H

#include "fault.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ast_chain {
    size_t sweeps, room;
    double *joint;     /* (room) log joint density after each sweep */
    double *clusters;  /* (room) clusters that have points */
    double effective;  /* samples; NaN before ast_chain_finish */
    bool stationary;   /* the halves agree */
    double *posterior; /* (posterior_count) how often k clusters occurred, k from 0 */
    size_t posterior_count;
} ast_chain;

/* Room for so many sweeps; start with {0}, and free it in any case. */
ast_status ast_chain_open(ast_chain *chain, size_t room, ast_fault *fault);
void ast_chain_free(ast_chain *chain);

void ast_chain_add(ast_chain *chain, double joint, size_t clusters);

/* Leaves the sweeps of the burn-in out, 0: the first fifth, and finds the rest. */
ast_status ast_chain_finish(ast_chain *chain, size_t burn_in, ast_fault *fault);

/* The effective number of samples of n correlated numbers, 1..n: n / (1 + 2 sum of autocorrelations), the sum cut where
 * that of two neighbours is no longer positive (Geyer 1992). Numbers that are all equal count n. */
double ast_chain_effective(const double *values, size_t n);

#endif
