/* SPDX-License-Identifier: MIT
 *
 * What a tally is made of. */
#pragma once

#include "asterism_tally.h"

#include "clusters.h"
#include "context.h"
#include "methods.h"
#include "tally_sums.h"

struct ast_tally {
    ast_context *context;
    ast_fault *fault; /* of the context */
    ast_tally_options options;
    ast_cluster_list clusters; /* slot k is cluster k */
    ast_tally_sums all;        /* whose sums, weights and members are the clusters' */
    ast_tally_move *moves;
    unsigned char *bytes;
};

/* Adds a part; fails if there would be too many points or too large a weight. */
ast_status ast_tally_add_part(ast_tally *tally, const ast_tally_sums *part);
