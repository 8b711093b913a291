/* SPDX-License-Identifier: MIT
 *
 * What a context is made of. */
#pragma once

#include "asterism.h"
#include "comm.h"
#include "components.h"
#include "fault.h"
#include "kdtree.h"
#include "kernels.h"
#include "lineage.h"
#include "edit.h"
#include "merge.h"
#include "pool.h"

/* A map that was learned (metric.h). Zeroed at first. */
typedef struct ast_fitted_metric {
    ast_metric map;       /* its arrays are the next three */
    float *center;        /* (D) */
    float *matrix;        /* (D, D) */
    float *mapped_center; /* (D) */
    float *mean;          /* (D) of u */
    double shrinkage;     /* s */
    double roundness;     /* of W: trace^2 / (D |W|^2), 1 if it is the same in all directions */
} ast_fitted_metric;

/* Numbers of the clusters as arrays, for a model. NULL until one is asked for. */
typedef struct ast_result_columns {
    uint64_t *counts;
    double *kappas, *shares, *lengths, *betas;
} ast_result_columns;

/* Whether the angle decides the number of clusters, and how far a point may be from its mean. */
static inline bool ast_is_by_angle(ast_method method) {
    return method == AST_DP || method == AST_DPMEANS;
}

/* The result of one restart; the context keeps that of the last call. */
typedef struct ast_result {
    int32_t *labels; /* (N) rows in memory; NULL: they went to the store or to the caller */
    ast_cluster_info *clusters;
    float *means;
    ast_components components; /* none where the method has none */
    double *posterior;         /* of the number of clusters: a sampler's; NULL otherwise */
    ast_tree_of_run tree;
    ast_report report;
    double evidence;          /* of AST_DP with several restarts */
    double effective;         /* ast_cluster_info.effective of all points with a label */
    float *center;            /* (D) of the report; NULL: rows were not centred */
    ast_fitted_metric metric; /* of the report; empty: rows were not mapped */
    size_t *representatives;  /* of all clusters, those of one behind those of the other; NULL: none */
    ast_method method;        /* of the options, as the next two */
    int axial;
    double angle;
    float *axes;       /* (K, 2, 3) of Kent components, or NULL */
    float *thresholds; /* (K) the similarity below which a row got no label; NULL: every row got one */
    float *fits;       /* (K) the same, where rows below it have a label nevertheless; NULL: not calibrated */
    ast_lineage_of_run lineage;
    ast_result_columns model;
} ast_result;
void ast_result_free(ast_result *result);

struct ast_context {
    ast_pool *pool;
    const ast_kernels *kernels;
    size_t cells_from; /* ASTERISM_CELLS, for tests: the number of clusters from which on points of three dimensions are
                      compared only with the means near them; 0: as measured */
    size_t heads;      /* ASTERISM_HEADS, for tests: points are compared with any number of means by so many coordinates
                          first; 0: as measured */
    size_t window;     /* points of a source whose labels are in memory, where tests say; 0: as planned */
    ast_fault fault;
    ast_labelling *labelling; /* working memory, kept from call to call */
    ast_result last;          /* without labels and leaves */
    struct ast_tuned *tuned;  /* the tables of the last ast_tune, or NULL (tune_call.h) */
    ast_kdtree tree;          /* of the last cloud whose normals were computed, for its planes */
    const ast_comm *comm;     /* NULL: alone */
    struct ast_call *call;    /* an ast_cluster that is under way (call.h) */
    ast_cancel *cancel;       /* of ast_set_cancel, or NULL */
    void *cancel_data;
    bool busy;          /* a call is under way: callbacks may not make another */
    bool learning;      /* a call is under way that learns a metric in several runs */
    bool checkpointing; /* an ast_checkpoint is under way */
};

/* Checks that all ranks have the same options. *offset becomes the number of points of the ranks before this one,
 * *total that of all ranks. status: of the check of this rank's arguments. A collective call. */
ast_status ast_ranks_agree(ast_context *context, const ast_points *points, const ast_options *options,
                           ast_status status, size_t *offset, size_t *total);

/* Checks a view of points, and weights (count) or NULL; AST_OK or the reason. */
ast_status ast_check_points(const ast_points *points, ast_fault *fault);
ast_status ast_check_weights(const double *weights, size_t count, ast_fault *fault);

/* Rows in memory as the labelling of a context gets them. */
ast_labelling_input ast_resident_input(const ast_context *context, const ast_points *points, bool axial);

/* AST_OK unless the rows are sparse, which `what` (the subject of the sentence) does not take. */
ast_status ast_refuse_sparse(const ast_points *points, const char *what, ast_fault *fault);

/* A result becomes the context's last one; *result is empty then. */
void ast_keep_result(ast_context *context, ast_result *result);

/* Labels the points of weight 0, which took no part: with the cluster of the largest cosine, or the component of the
 * largest log density if there are components. *outliers grows by those whose best component is the background. */
ast_status ast_label_weightless(ast_labelling *labelling, const ast_components *components, const double *limits,
                                size_t *outliers, ast_fault *fault);

/* ast_assign within a call that is under way. */
ast_status ast_assign_call(ast_context *context, const ast_points *points, const ast_assign_options *options,
                           int32_t *labels, float *similarity);

/* ---- Beginning and end of a call --------------------------------------------------------------------------------- */

/* Every entry point begins with ast_enter, does its work if that returns true, and ends with `return ast_leave(context,
 * status)`. ast_enter refuses a context that is NULL or has a call under way: AST_BAD_OPTION. */
#define ast_enter(context) ast_enter_call(context, __func__)
bool ast_enter_call(ast_context *context, const char *function);
ast_status ast_leave(ast_context *context, ast_status status);

/* The common part of _open functions: the pointer at the address `handle` becomes that of `size` zeroed bytes, or NULL
 * on failure. problem: NULL, or a sentence about the options; there is one if handle is NULL. */
#define ast_open_handle(handle, size, context, problem) ast_allocate_handle(handle, size, context, problem, __func__)
ast_status ast_allocate_handle(void *handle, size_t size, ast_context *context, const char *problem,
                               const char *function);

/* Whether a call is under way: its callbacks cannot close objects of the context. Sets the message. */
bool ast_in_callback(ast_context *context, const char *function);

/* AST_CANCELLED if the caller asked to stop. Entry points check this before they write their results. */
ast_status ast_check_cancelled(ast_context *context);

/* Refuses a pointer that is NULL, and a struct of the caller whose size is not `size`. A version that appends fields
 * accepts the sizes of the versions before it, too. */
ast_status ast_check_pointer(const void *pointer, const char *name, ast_fault *fault);
ast_status ast_check_struct(const void *given, size_t size, const char *name, ast_fault *fault);

/* Three numbers a row, none of them infinite; `what` is the noun of the sentence. Faces: whether all vertices exist. */
ast_status ast_check_rows(ast_fault *fault, const float *rows, size_t count, const char *what);
ast_status ast_check_faces(ast_fault *fault, const int32_t *faces, size_t face_count, size_t vertex_count);

/* The sentence of the first requirement that is broken, or NULL: ast_problem_of({broken, "sentence"}, ...). */
typedef struct ast_requirement {
    bool broken;
    const char *problem;
} ast_requirement;
#define ast_problem_of(...)                                                                                            \
    ast_first_problem((const ast_requirement[]){__VA_ARGS__},                                                          \
                      sizeof((const ast_requirement[]){__VA_ARGS__}) / sizeof(ast_requirement))
const char *ast_first_problem(const ast_requirement *list, size_t count);

/* AST_OK if there is no problem (NULL), otherwise AST_BAD_OPTION with that sentence. */
ast_status ast_fail_option(const char *problem, ast_fault *fault);

/* The sentence about a struct that was never initialised, or NULL. */
const char *ast_size_problem(const void *given, size_t size);

/* For accessors of records: returns the array and its length if the caller's record has the size (asked) of the
 * library's (own), otherwise NULL and 0. A version that appends fields repacks the records for callers of earlier
 * versions. */
const void *ast_records_of_size(const void *array, size_t length, size_t own, size_t asked, size_t *count);
