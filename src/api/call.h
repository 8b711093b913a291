/* SPDX-License-Identifier: MIT
 *
 * A call of ast_cluster or ast_cluster_source, in the files that it runs through: cluster.c, resume.c, result.c,
 * representatives.c, restarts.c. */
#pragma once

#include "context.h"
#include "methods.h"

typedef struct ast_call {
    ast_context *context;
    ast_fault *fault;
    ast_labelling *l;     /* of the context */
    ast_labelling_view v; /* of it, after loading and again after the run */
    const ast_options *options;
    const ast_points *points;     /* the rows; of a source: shape and weights, without data */
    ast_labelling_input input;    /* the same rows as the labelling gets them, with order and weights of this restart */
    const ast_label_store *store; /* where labels go at the end; NULL: to `labels` */
    int32_t *labels;              /* (N) the caller's, for rows in memory */
    size_t total;                 /* points of all ranks */
    uint32_t *order;              /* of this restart, or NULL */
    ast_groups groups;            /* in that order, if the options have some */
    double *weights;              /* in that order, or NULL */
    ast_result *results;          /* (restarts) of the restarts that are over */
    int best;                     /* the restart to keep, of those that are over */
    const ast_run *run;           /* under way */
    bool digested;                /* `digest` is known */
    uint64_t digest;              /* of all points (ast_digest) */
    double uniformity, uniformity_p; /* rayleigh and rayleigh_p of the report */
    struct ast_resume *resume;       /* the checkpoint to continue from; NULL: none, or it was read */
    ast_family family;               /* of a mixture; its rows are features of `given` unless it is AST_FAMILY_VMF */
    const ast_points *given;         /* the rows of a mixture before they became features */
    struct ast_transformed_rows *centred; /* the rows without their mean (center.h); NULL: as they are */
} ast_call;

/* ast_cluster within a call that is under way. */
ast_status ast_cluster_call(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                            ast_report *report);

/* ast_cluster_source with a plan, within a call that is under way. */
ast_status ast_cluster_planned(ast_context *context, const ast_source *source, const ast_options *options,
                               const ast_plan *plan, const ast_label_store *labels, ast_report *report);

/* Reads the head of options->resume; the call goes on from restart *restart. A collective call. */
ast_status ast_resume_open(ast_call *call, int *restart);

/* After the points of that restart are loaded: reads the rest of the checkpoint, and restores the labelling, the run
 * and the best result so far. A collective call. */
ast_status ast_resume_restore(ast_call *call, ast_run *run);
void ast_resume_free(ast_call *call);

/* The report of a run; without its silhouette and stability. */
ast_report ast_call_report(const ast_call *call, const ast_run *run);

/* Turns the labelling into a result, whose components and tree are set; labels go to result->labels or to the store. */
ast_status ast_call_result(const ast_call *call, ast_result *result);

/* pieces.c: finds clusters that are pieces of one set, and enlarges the errors of their means to those of the mean of
 * the set. ast_pieces_open allocates memory, before any result is written; *pieces is NULL if there are no pieces to
 * find. false: no memory. */
typedef struct ast_pieces ast_pieces;
bool ast_pieces_open(const ast_call *call, size_t clusters, ast_pieces **pieces);
void ast_pieces_enlarge_errors(ast_pieces *pieces, ast_cluster_info *clusters);
void ast_pieces_close(ast_pieces *pieces);

/* representatives.c: the rows of each cluster that are nearest to its mean, among those visited so far. */
typedef struct ast_representatives {
    size_t each; /* wanted for a cluster */
    size_t clusters;
    size_t *starts; /* (clusters + 1) where the rows of a cluster begin; the next start is where their memory ends */
    size_t *counts; /* (clusters) found so far */
    struct ast_near_row *found;
    double *scores; /* (padded rows of a window) */
} ast_representatives;
ast_status ast_representatives_open(ast_representatives *nearest, const ast_call *call, ast_result *result);
ast_status ast_representatives_add(ast_representatives *nearest, const ast_call *call, const int32_t *labels);
/* Moves those of all ranks into the result. A collective call. */
ast_status ast_representatives_hand_over(ast_representatives *nearest, const ast_call *call, ast_result *result);
void ast_representatives_free(ast_representatives *nearest);

/* Fills in the fields of the record about the error of its mean, from its effective number of points and its kappa. */
void ast_cluster_errors(ast_cluster_info *info, size_t dimension, double resultant);

/* restarts.c. ast_restart_measure measures the result of one restart. At the end, ast_restarts_choose chooses the
 * result to keep, and computes how well the others agree with it. */
ast_status ast_restart_measure(const ast_call *call, ast_result *result);
ast_status ast_restarts_choose(ast_call *call);
