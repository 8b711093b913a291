/* SPDX-License-Identifier: MIT
 *
 * The sweeps of a sampler, and what they say together: how often each number of clusters occurred, how many independent
 * samples the sweeps are worth, and whether the second half of them agrees with the first. */
#pragma once

#include "methods.h"

typedef struct ast_chain {
    size_t sweeps;
    double *joint;    /* log joint density after each sweep */
    double *clusters; /* clusters that have points */
} ast_chain;

/* Memory for so many sweeps. Free it in any case. */
ast_status ast_chain_open(ast_chain *chain, size_t sweeps, ast_fault *fault);
void ast_chain_free(ast_chain *chain);

void ast_chain_add(ast_chain *chain, double joint, size_t clusters);

/* Leaves out the burn-in of the options, 0: the first fifth. The rest goes to the fields of the run that are a
 * sampler's. */
ast_status ast_chain_finish(const ast_chain *chain, ast_run *run, ast_fault *fault);
