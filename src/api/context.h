/* SPDX-License-Identifier: MIT
 *
 * What a context is made of. */
#ifndef AST_CONTEXT_H
#define AST_CONTEXT_H

#include "asterism.h"
#include "comm.h"
#include "components.h"
#include "fault.h"
#include "kernels.h"
#include "labelling.h"
#include "pool.h"

struct ast_context {
    ast_pool *pool;
    const ast_kernels *kernels;
    size_t crowd;  /* clusters from which on cells are used, where the environment says (tests do); 0: as measured */
    size_t window; /* points of a source whose labels are in memory, where tests say; 0: as planned */
    ast_fault fault;
    ast_labelling labelling;    /* working memory, kept from call to call */
    ast_cluster_info *clusters; /* of the last result */
    float *means;
    size_t cluster_count;
    ast_components components; /* of the last result; none where its method has none */
    const ast_comm *comm;      /* NULL: alone */
    struct ast_call *call;     /* an ast_cluster that is under way (call.h) */
};

/* One of several ranks begins to cluster: whether they want the same, and where this one's points are among all. A
 * collective call; `status` is what this rank has found wrong with its own arguments. */
ast_status ast_ranks_meet(ast_context *context, const ast_points *points, const ast_options *options, ast_status status,
                          size_t *offset, size_t *total);

/* Checks a view of points; AST_OK or the reason. */
ast_status ast_check_points(const ast_points *points, ast_fault *fault);

/* AST_OK unless the rows are sparse, which `what` (the subject of the sentence) cannot work with. */
ast_status ast_refuse_sparse(const ast_points *points, const char *what, ast_fault *fault);

/* What ast_cluster and ast_cluster_source share (cluster.c): whether there are points enough; what is known of a
 * cluster by its sums; and a result becomes the context's, which owns it then. */
ast_status ast_check_counts(const ast_options *options, size_t present, ast_fault *fault);
void ast_describe_cluster(const ast_labelling *labelling, int32_t slot, ast_cluster_info *info);
void ast_keep_clusters(ast_context *context, ast_cluster_info *clusters, float *means, size_t count,
                       ast_components *components);

/* What ast_assign and ast_assign_source are given. */
ast_status ast_check_means(const float *means, size_t count, double angle, ast_fault *fault);

/* Starts a call: the message is that of the call before no longer. */
void ast_begin(ast_context *context);

#endif
