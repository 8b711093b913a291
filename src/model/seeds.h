/* SPDX-License-Identifier: MIT
 *
 * The starts of a fixed number of clusters, added as clusters without points. The starts depend only on the rows and
 * their weights, not on the order of the rows. Both functions are collective calls. */
#pragma once

#include "labelling.h"
#include "random.h"

/* Called after each start but the last; AST_CANCELLED ends the drawing. */
typedef ast_status ast_seed_progress(const void *data, double seconds, size_t clusters, uint64_t scored,
                                     ast_fault *fault);

/* k-means++ on 1 - cosine (Arthur and Vassilvitskii 2007), with weights. */
ast_status ast_seed_plusplus(ast_labelling *labelling, size_t clusters, ast_random *random, ast_seed_progress *tell,
                             const void *data, ast_fault *fault);

/* Random rows, all equally likely, without repetition as long as there are enough different rows. */
ast_status ast_seed_random(ast_labelling *labelling, size_t clusters, ast_random *random, ast_fault *fault);
