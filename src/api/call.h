/* SPDX-License-Identifier: MIT
 *
 * An ast_cluster that is under way, and the checkpoint that it goes on from, if there is one. */
#ifndef AST_CALL_H
#define AST_CALL_H

#include "context.h"
#include "methods.h"
#include "windows.h"

/* What a call works with, and the best result so far. */
typedef struct ast_call {
    ast_context *context;
    const ast_options *options;
    const ast_points *points;      /* rows in memory, or NULL: */
    const ast_source *source;      /* rows that are read as they are needed, */
    const ast_label_store *store;  /* where their labels go, */
    ast_plan plan;                 /* and how they keep to the memory there is */
    ast_windows windows;
    const double *given_weights;   /* the caller's, or NULL */
    uint32_t *order;               /* of this restart, or NULL */
    double *weights;               /* in that order, or NULL */
    int32_t *labels;               /* (N) rows in memory: of the best restart so far */
    ast_report report;             /* of the best */
    ast_cluster_info *clusters;
    float *means;
    ast_components components;
    size_t offset, total;        /* of several ranks: points before this one's; of all */
    const ast_run *run;          /* under way */
    size_t missing;              /* points of all ranks */
    bool digested;               /* `digest` is known, ... */
    uint64_t digest;             /* ... that of all points (digest.h) */
    struct ast_resume *resume; /* what to go on from; NULL: nothing, or it was taken over */
} ast_call;

/* Reads what options->resume has to tell of the run; the call goes on from restart *restart. A collective call. */
ast_status ast_resume_open(ast_call *call, int *restart, ast_fault *fault);

/* The labelling is loaded with the points of that restart: the rest is read, and the labelling, the run and the best
 * result so far become those of the checkpoint. A collective call. */
ast_status ast_resume_take(ast_call *call, ast_labelling *labelling, ast_run *run, ast_fault *fault);
void ast_resume_free(ast_call *call);

/* Turns the labelling into the call's result: labels go to the caller or to the store, records to the call. */
ast_status ast_call_result(ast_call *call, ast_labelling *labelling, ast_fault *fault);

#endif
