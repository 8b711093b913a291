/* SPDX-License-Identifier: MIT
 *
 * ast_cluster with a metric: runs over mapped rows, between which the map is learned again within the clusters of the
 * run before. The last run is the result. */
#include "metric.h"

#include "call.h"
#include "measures.h"
#include "memory.h"
#include "plan.h"

#include <math.h>
#include <string.h>

#define PART ((size_t)1 << 20) /* labels that are written at a time */
#define ROUNDS 2               /* of learning within clusters */
#define SETTLED 0.995          /* adjusted Rand index with the clusters of the run before */

typedef struct mapped_run {
    ast_context *context;
    ast_fault *fault;
    ast_map_input input;
    const ast_plan *plan; /* of a source, or NULL */
    const ast_label_store *store;
    const ast_options *options;
    ast_options plain;         /* of every run */
    ast_transformed_rows rows; /* mapped */
    int32_t *labels;           /* (N) of the last run; NULL: they are in the store */
    ast_row_sample sample;     /* what the map is learned from, unless one is given */
    int32_t *drawn, *before;   /* (sample) labels of the last run, and of the one before */
    int32_t *leaves;           /* (N), or NULL */
    ast_report report;         /* of the last run */
    ast_fitted_metric fitted;
} mapped_run;

static bool learns(const mapped_run *m) {
    return !m->options->map;
}

/* ---- The map ----------------------------------------------------------------------------------------------------- */

/* The caller's map becomes one of the result. */
static ast_status copy_map(mapped_run *m) {
    const ast_metric *given = m->options->map;
    ast_fitted_metric *fitted = &m->fitted;
    size_t dimension = m->input.points->dimension, row = dimension * sizeof(float);
    ast_status status = ast_check_metric(given, dimension, m->fault);
    if (status == AST_OK)
        status = ast_fitted_metric_open(fitted, dimension, m->fault);
    if (status != AST_OK)
        return status;
    memcpy(fitted->center, given->center, row);
    memcpy(fitted->mapped_center, given->mapped_center, row);
    memcpy(fitted->matrix, given->matrix, dimension * row);
    memset(fitted->mean, 0, row);
    return AST_OK;
}

static ast_status learn(mapped_run *m) {
    ast_status status = ast_metric_learn(&m->input, NAN, &m->sample, &m->fitted);
    if (status != AST_OK)
        return status;
    bool ready = ast_replace_arrays(AST_REQUEST(m->drawn, m->sample.count), AST_REQUEST(m->before, m->sample.count));
    return ast_comm_agree(m->context->comm, ready ? AST_OK : ast_fail_memory(m->fault), m->fault);
}

/* A source has its labels here if its plan has all of them in memory, and there is more than one run. */
static ast_status prepare(mapped_run *m) {
    size_t count = m->input.points->count;
    bool tree = m->options->merge.leaves != NULL, windows = m->plan && m->plan->rows < count;
    m->plain = *m->options;
    m->plain.metric = AST_METRIC_PLAIN;
    m->plain.map = NULL;
    m->plain.center = 0;
    m->labels = m->plan && (windows || !learns(m)) ? NULL : ast_allocate(count, sizeof *m->labels);
    m->plain.merge.leaves = m->leaves = tree ? ast_allocate(count, sizeof *m->leaves) : NULL;
    bool ready = (m->labels || m->plan) && (m->labels || windows || !learns(m)) && (m->leaves || !tree);
    ast_status status = ready ? AST_OK : ast_fail_memory(m->fault);
    if (status == AST_OK && !learns(m))
        status = copy_map(m);
    status = ast_comm_agree(m->context->comm, status, m->fault);
    return status == AST_OK && learns(m) ? learn(m) : status;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static int keep_labels(size_t first, size_t count, const int32_t *labels, void *data) {
    memcpy((int32_t *)data + first, labels, count * sizeof *labels);
    return 0;
}

static ast_status run_source(mapped_run *m) {
    const ast_label_store kept = {.size = sizeof kept, .write = keep_labels, .data = m->labels};
    ast_transformed_rows_free(&m->rows);
    ast_status status = ast_map_source(m->context, m->input.source, &m->fitted.map, &m->rows);
    return status == AST_OK ? ast_cluster_planned(m->context, &m->rows.source, &m->plain, m->plan,
                                                  m->labels ? &kept : m->store, &m->report)
                            : status;
}

static ast_status run_points(mapped_run *m) {
    const ast_points *points = m->input.points;
    ast_status status = m->rows.rows ? ast_metric_map(m->context, points, &m->fitted.map, m->rows.rows)
                                     : ast_map_points(m->context, points, &m->fitted.map, &m->rows);
    status = ast_comm_agree(m->context->comm, status, m->fault);
    return status == AST_OK ? ast_cluster_call(m->context, &m->rows.points, &m->plain, m->labels, &m->report) : status;
}

/* The labels of the drawn rows. */
static ast_status take_drawn(mapped_run *m) {
    if (m->labels)
        ast_drawn_labels(&m->input, &m->sample, m->labels, m->drawn);
    for (size_t i = 0; !m->labels && i < m->sample.count; i++)
        if (m->store->read(m->sample.drawn[i].number, 1, &m->drawn[i], m->store->data) != 0)
            return ast_fail(m->fault, AST_NO_INPUT, "the label of row %zu (counting from 1) could not be read",
                            (size_t)m->sample.drawn[i].number + 1);
    return AST_OK;
}

static ast_status run(mapped_run *m) {
    m->report = (ast_report){.size = sizeof m->report};
    ast_status status = m->plan ? run_source(m) : run_points(m);
    return status == AST_OK && learns(m) ? take_drawn(m) : status;
}

static ast_status compare(const mapped_run *m, bool *settled) {
    ast_agreement agreement = {.size = sizeof agreement};
    ast_status status = ast_agreement_of(m->fault, NULL, m->before, m->drawn, m->sample.count, &agreement);
    *settled = agreement.ari >= SETTLED;
    return ast_comm_agree(m->context->comm, status, m->fault);
}

/* Learns within the clusters, and runs again, until they stay the same. One cluster tells nothing new. */
static ast_status improve(mapped_run *m) {
    bool settled = m->report.clusters < 2;
    ast_status status = AST_OK;
    for (int round = 0; round < ROUNDS && !settled && status == AST_OK; round++) {
        int32_t *labels = m->drawn;
        m->drawn = m->before;
        m->before = labels;
        status = ast_metric_learn_within(m->context, &m->sample, labels, NAN, &m->fitted);
        if (status == AST_OK)
            status = run(m);
        if (status == AST_OK)
            status = compare(m, &settled);
    }
    return status;
}

/* ---- The calls --------------------------------------------------------------------------------------------------- */

/* Labels of a source that are kept here go to the store, in order. */
static ast_status write_labels(const mapped_run *m) {
    size_t count = m->input.points->count;
    for (size_t first = 0; m->plan && m->labels && first < count; first += PART) {
        size_t n = count - first < PART ? count - first : PART;
        if (m->store->write(first, n, m->labels + first, m->store->data) != 0)
            return ast_fail(m->fault, AST_NO_INPUT, "the labels from row %zu (counting from 1) on could not be written",
                            first + 1);
    }
    return AST_OK;
}

/* Cannot fail. `labels`: the caller's, for rows in memory. */
static void hand_over(mapped_run *m, int32_t *labels, ast_report *report, double start) {
    ast_result *last = &m->context->last;
    size_t bytes = m->plan ? 0 : m->input.points->count * sizeof *labels;
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

static ast_status cluster(mapped_run *m, int32_t *labels, ast_report *report) {
    double start = ast_seconds();
    ast_context *context = m->context;
    ast_result before = context->last; /* stays if a run fails */
    context->last = (ast_result){0};
    context->learning = learns(m);
    ast_status status = prepare(m);
    if (status == AST_OK)
        status = run(m);
    if (status == AST_OK && learns(m))
        status = improve(m);
    context->learning = false;
    if (status == AST_OK)
        status = write_labels(m);
    if (status == AST_OK) {
        hand_over(m, labels, report, start);
    } else {
        ast_result_free(&context->last);
        context->last = before;
        before = (ast_result){0};
    }
    ast_result_free(&before);
    ast_fitted_metric_free(&m->fitted);
    ast_transformed_rows_free(&m->rows);
    ast_row_sample_free(&m->sample);
    ast_free_all(m->labels, m->drawn, m->before, m->leaves);
    return status;
}

ast_status ast_cluster_mapped(const ast_map_input *input, const ast_options *options, int32_t *labels,
                              ast_report *report) {
    mapped_run m = {.context = input->context, .fault = &input->context->fault, .input = *input, .options = options};
    return cluster(&m, labels, report);
}

ast_status ast_cluster_mapped_source(ast_context *context, const ast_source *source, const ast_options *options,
                                     const ast_plan *plan, const ast_label_store *store, ast_report *report) {
    const ast_points shape = ast_source_shape(source);
    mapped_run m = {.context = context,
                    .fault = &context->fault,
                    .input = {context, &shape, source, 0, source->count},
                    .plan = plan,
                    .store = store,
                    .options = options};
    return cluster(&m, NULL, report);
}

double ast_mapped_bytes(const ast_source *source, const ast_options *options, int threads, double *learning) {
    double row = (double)source->dimension, sample = fmin((double)source->count, AST_METRIC_SAMPLE);
    double map = row * row * (sizeof(double) + sizeof(float)) + threads * AST_MAP_TILE * 2 * row * sizeof(double);
    double drawn = ast_row_sample_bytes(source->dimension, source->count) + 2 * sizeof(int32_t) * sample;
    double passes = threads * (double)AST_CENTER_BLOCK * (source->type == AST_F4 ? 1 : 2);
    double search = sample * (2 * row * sizeof(float) + 128) + 2 * row * (4096 + row) * sizeof(float);
    double scatter = row * row * 3 * sizeof(double) + 256 * 20 * row;
    *learning = options->map ? 0 : map + drawn + fmax(passes, search + scatter);
    return options->map ? map : map + drawn;
}
