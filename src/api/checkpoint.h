/* SPDX-License-Identifier: MIT
 *
 * A checkpoint as bytes. In this order:
 *     the head below,
 *     label_hashes (label_hash_count), 8 bytes each,
 *     means of the run (live, D), 4 bytes each,
 *     the results of the restarts before this one (restart): a record each, then five doubles per cluster and the means
 *     of all of them together (earlier_clusters, D),
 *     a checksum over all of that;
 *     records, one per point: 4 bytes for the run under way, and 4 for each result before it;
 *     a checksum over the records, to which every point adds its own, so that ranks can write and read their parts.
 * Every part is padded to 8 bytes. Numbers are as the machine has them; the magic number tells another byte order. */
#pragma once

#include "call.h"

#define AST_CHECKPOINT_MAGIC 0x31504b435f545341u /* "AST_CKP1" in memory */
#define AST_CHECKPOINT_VERSION 4

/* One of the restarts before this one. */
typedef struct ast_checkpoint_result {
    uint64_t clusters, iterations, converged, oir_restarts, merged, outliers;
    double objective, silhouette;
} ast_checkpoint_result;

typedef struct ast_checkpoint_head {
    uint64_t magic, version, size, head_size; /* of everything; up to the records */
    uint64_t points, dimension, digest;       /* what it belongs to, ... */
    uint64_t method, clusters, seed, order, merge, axial, start, means, max_iterations;
    double angle;
    uint64_t restart, iterations, converged, oir_restarts, label_hash_count, live; /* ... and where it stands */
    double objective;
    uint64_t earlier_clusters; /* of the restarts before this one, together */
} ast_checkpoint_head;

/* What is kept of a cluster of a result, besides its mean. */
typedef struct ast_checkpoint_cluster {
    double size, weight, resultant, kappa, effective;
} ast_checkpoint_cluster;

/* Where the parts are, in bytes from the start. */
typedef struct ast_checkpoint_layout {
    size_t label_hashes, means, results, clusters, earlier_means, checksum, records;
    size_t width; /* numbers in a record: 1, and 1 for each result */
    uint64_t records_checksum;
} ast_checkpoint_layout;

/* false: numbers that no checkpoint has. */
bool ast_checkpoint_lay_out(const ast_checkpoint_head *head, ast_checkpoint_layout *layout);

/* The head of a checkpoint of this call: options and shape; the rest is zero. */
ast_checkpoint_head ast_checkpoint_describe(const ast_call *call);

/* The digest of the points of all ranks, computed once per call. A collective call. */
uint64_t ast_checkpoint_digest(ast_call *call);

/* What the record of point number `i` of all points adds to the checksum of the records. */
uint64_t ast_checkpoint_record_checksum(uint64_t i, const uint32_t *record, size_t width);
