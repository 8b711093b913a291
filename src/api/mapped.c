/* SPDX-License-Identifier: MIT
 *
 * ast_cluster with a metric: runs over mapped rows, between which the map is learned again within the clusters of the
 * run before. The last run is the result. */
#include "metric.h"

#include "call.h"
#include "measures.h"
#include "memory.h"

#include <math.h>
#include <string.h>

#define ROUNDS 2      /* of learning within clusters */
#define SETTLED 0.995 /* adjusted Rand index with the clusters of the run before */

typedef struct mapped_run {
    ast_context *context;
    const ast_points *points;
    const ast_options *options;
    ast_options plain; /* of every run */
    ast_centred rows;  /* mapped */
    int32_t *labels;   /* (N) of the last run */
    int32_t *before;   /* (N) of the run before, or NULL: there is one run only */
    int32_t *leaves;   /* (N), or NULL */
    ast_report report; /* of the last run */
    ast_fitted_metric fitted;
} mapped_run;

/* The caller's map becomes one of the result. */
static ast_status copy_map(mapped_run *m) {
    const ast_metric *given = m->options->map;
    ast_fitted_metric *fitted = &m->fitted;
    size_t dimension = m->points->dimension, row = dimension * sizeof(float);
    ast_status status = ast_check_metric(given, dimension, &m->context->fault);
    if (status != AST_OK)
        return status;
    if (!ast_replace_arrays(AST_REQUEST(fitted->center, dimension), AST_REQUEST(fitted->mapped_center, dimension),
                            AST_REQUEST(fitted->matrix, dimension * dimension)))
        return ast_fail_memory(&m->context->fault);
    memcpy(fitted->center, given->center, row);
    memcpy(fitted->mapped_center, given->mapped_center, row);
    memcpy(fitted->matrix, given->matrix, dimension * row);
    fitted->map = (ast_metric){sizeof fitted->map, dimension, fitted->center, fitted->matrix, fitted->mapped_center};
    return AST_OK;
}

static ast_status prepare(mapped_run *m) {
    size_t count = m->points->count;
    bool tree = m->options->merge.leaves != NULL;
    m->labels = ast_allocate(count, sizeof *m->labels);
    m->before = m->options->map ? NULL : ast_allocate(count, sizeof *m->before);
    m->leaves = tree ? ast_allocate(count, sizeof *m->leaves) : NULL;
    if (!m->labels || (!m->options->map && !m->before) || (tree && !m->leaves))
        return ast_fail_memory(&m->context->fault);
    m->plain = *m->options;
    m->plain.metric = AST_METRIC_PLAIN;
    m->plain.map = NULL;
    m->plain.center = 0;
    m->plain.merge.leaves = m->leaves;
    return m->options->map ? copy_map(m) : ast_metric_fit_local(m->context, m->points, NAN, &m->fitted);
}

static ast_status run(mapped_run *m) {
    m->report = (ast_report){.size = sizeof m->report};
    ast_status status = m->rows.rows ? ast_metric_map(m->context, m->points, &m->fitted.map, m->rows.rows)
                                     : ast_map_points(m->context, m->points, &m->fitted.map, &m->rows);
    return status == AST_OK ? ast_cluster_call(m->context, &m->rows.points, &m->plain, m->labels, &m->report) : status;
}

static ast_status compare(const mapped_run *m, bool *settled) {
    ast_agreement agreement = {.size = sizeof agreement};
    ast_status status = ast_agreement_of(&m->context->fault, NULL, m->before, m->labels, m->points->count, &agreement);
    *settled = agreement.ari >= SETTLED;
    return status;
}

/* Learns within the clusters, and runs again, until they stay the same. One cluster tells nothing new. */
static ast_status improve(mapped_run *m) {
    bool settled = m->report.clusters < 2;
    ast_status status = AST_OK;
    for (int round = 0; round < ROUNDS && !settled && status == AST_OK; round++) {
        memcpy(m->before, m->labels, m->points->count * sizeof *m->labels);
        status = ast_metric_fit_within(m->context, m->points, m->labels, NAN, &m->fitted);
        if (status == AST_OK)
            status = run(m);
        if (status == AST_OK)
            status = compare(m, &settled);
    }
    return status;
}

/* Cannot fail. */
static void hand_over(mapped_run *m, int32_t *labels, ast_report *report, double start) {
    ast_result *last = &m->context->last;
    size_t bytes = m->points->count * sizeof *labels;
    if (bytes)
        memcpy(labels, m->labels, bytes);
    if (m->leaves && bytes)
        memcpy(m->options->merge.leaves, m->leaves, bytes);
    last->metric = m->fitted;
    m->fitted = (ast_fitted_metric){0};
    last->report.metric = m->report.metric = &last->metric.map;
    *report = m->report;
    report->seconds = ast_seconds() - start;
}

ast_status ast_cluster_mapped(ast_context *context, const ast_points *points, const ast_options *options,
                              int32_t *labels, ast_report *report) {
    double start = ast_seconds();
    if (context->comm)
        return ast_fail(&context->fault, AST_BAD_OPTION, "a metric is for one rank");
    mapped_run m = {.context = context, .points = points, .options = options};
    ast_result before = context->last; /* stays if a run fails */
    context->last = (ast_result){0};
    context->learning = !options->map;
    ast_status status = prepare(&m);
    if (status == AST_OK)
        status = run(&m);
    if (status == AST_OK && !options->map)
        status = improve(&m);
    context->learning = false;
    if (status == AST_OK) {
        hand_over(&m, labels, report, start);
    } else {
        ast_result_free(&context->last);
        context->last = before;
        before = (ast_result){0};
    }
    ast_result_free(&before);
    ast_fitted_metric_free(&m.fitted);
    ast_centred_free(&m.rows);
    ast_free_all(m.labels, m.before, m.leaves);
    return status;
}
