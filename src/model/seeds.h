/* SPDX-License-Identifier: MIT
 *
 * Points that a fixed number of clusters starts from, added as clusters without points. Collective on several ranks. */
#ifndef AST_SEEDS_H
#define AST_SEEDS_H

#include "labelling.h"
#include "random.h"

/* Told after each start but the last; AST_CANCELLED ends the drawing. */
typedef ast_status ast_seed_progress(const void *data, double seconds, size_t clusters, uint64_t scored,
                                     ast_fault *fault);

/* k-means++ on 1 - cosine (Arthur and Vassilvitskii 2007), with weights. The starts of both functions depend on the
 * rows and their weights alone, not on their order. */
ast_status ast_seed_plusplus(ast_labelling *labelling, size_t clusters, ast_random *random, ast_seed_progress *tell,
                             const void *data, ast_fault *fault);

/* Different random rows, as far as there are any, all equally likely. */
ast_status ast_seed_random(ast_labelling *labelling, size_t clusters, ast_random *random, ast_fault *fault);

#endif
