/* SPDX-License-Identifier: MIT
 *
 * ast_assign and ast_assign_source: points are labelled with known means, window by window. Rows in memory are one
 * window. */
#include "metric.h"

#include "memory.h"
#include "methods.h"
#include "plan.h"

#include <math.h>

static ast_status check_options(const ast_assign_options *o, ast_fault *fault) {
    ast_status status = ast_check_struct(o, sizeof *o, "options", fault);
    if (status != AST_OK)
        return status;
    const char *problem = ast_problem_of(
        {!o->means || o->means_count == 0, "there are no means to assign points to"},
        {!isnan(o->angle) && !(o->angle >= 0 && o->angle <= 180), "the angle must be between 0 and 180 degrees"},
        {(o->center || o->metric) && o->axial, "axial rows cannot be centred or mapped: x and -x would differ"},
        {o->center && o->metric, "a metric centres the rows itself: give either a centre or a metric"});
    return ast_fail_option(problem, fault);
}

typedef struct assignment {
    ast_labelling *l;
    int32_t *labels;   /* (padded rows of a window) */
    float *similarity; /* the same, or NULL */
} assignment;

/* The labelling is loaded: it gets the means. */
static ast_status prepare(assignment *a, const ast_assign_options *options, bool similarity, ast_fault *fault) {
    const ast_labelling_view v = ast_view_of(a->l);
    ast_options given = {.start = {.means = options->means, .means_count = options->means_count}};
    size_t rows = v.window_rows;
    a->labels = ast_allocate(rows, sizeof *a->labels);
    a->similarity = similarity ? ast_allocate(rows, sizeof *a->similarity) : NULL;
    if (!a->labels || (similarity && !a->similarity))
        return ast_fail_memory(fault);
    ast_labelling_set_rule(a->l, &ast_nearest_rule, options->angle);
    return ast_start_given(a->l, &given, fault);
}

static ast_status assign_window(assignment *a, size_t number, const ast_label_sink *sink, ast_fault *fault) {
    const ast_rowset *rows = ast_view_of(a->l).rows;
    const ast_nearest_query query = {.labels = a->labels, .scores = a->similarity};
    ast_status status = ast_labelling_open_window(a->l, number, fault);
    if (status == AST_OK)
        status = ast_labelling_nearest(a->l, &query, fault);
    for (size_t i = 0; i < rows->count && status == AST_OK; i++)
        a->labels[i] = a->labels[i] < 0 ? -1 : a->labels[i];
    if (status == AST_OK && sink->write(rows->offset, rows->count, a->labels, a->similarity, sink->data) != 0)
        status = ast_fail(fault, AST_CANCELLED, "cancelled after row %zu", rows->offset + rows->count);
    return status;
}

/* Both calls: loads the input, and gives the labels of each window to the sink. */
static ast_status assign(ast_context *context, ast_labelling_input *input, const ast_assign_options *options,
                         bool similarity, const ast_label_sink *sink) {
    ast_fault *fault = &context->fault;
    assignment a = {.l = context->labelling};
    ast_status status = ast_labelling_load(a.l, input, fault);
    const ast_labelling_view v = ast_view_of(a.l);
    if (status == AST_OK)
        status = prepare(&a, options, similarity, fault);
    for (size_t n = 0; status == AST_OK && n < v.windows && v.points > 0; n++)
        status = assign_window(&a, n, sink, fault);
    ast_free_all(a.labels, a.similarity);
    if (status != AST_OK || input->source) /* the memory for a source is planned call by call */
        ast_labelling_clear(a.l);
    return status;
}

/* ---- Rows in memory ---------------------------------------------------------------------------------------------- */

typedef struct copy {
    int32_t *labels;
    float *similarity; /* or NULL */
} copy;

static int copy_labels(size_t first, size_t count, const int32_t *labels, const float *similarity, void *data) {
    const copy *to = data;
    for (size_t i = 0; i < count; i++) {
        to->labels[first + i] = labels[i];
        if (to->similarity)
            to->similarity[first + i] = similarity[i];
    }
    return 0;
}

/* What a call for rows in memory also finds. */
typedef struct runners_up {
    const ast_labelling *l;
    float *cosines;   /* (N) or NULL */
    int32_t *numbers; /* the same */
} runners_up;

/* The means are in order of their numbers. */
static void compare_row(const runners_up *r, const ast_labelling_view *v, size_t i) {
    const ast_cluster_list *c = v->clusters;
    float buffer[AST_MAX_DIMENSION];
    double best = -4, second = -4;
    int32_t first = -1, number = -1;
    const float *row = v->labels[i] == AST_MISSING ? NULL : ast_rowset_row(v->rows, i, buffer);
    for (size_t k = 0; k < c->live && row; k++) {
        double cosine = ast_exact_score(row, c->means + (size_t)c->order[k] * c->dimension, c->dimension);
        cosine = v->rows->axial ? fabs(cosine) : cosine;
        if (cosine > best) {
            second = best;
            number = first;
            best = cosine;
            first = (int32_t)k;
        } else if (cosine > second) {
            second = cosine;
            number = (int32_t)k;
        }
    }
    if (r->cosines)
        r->cosines[i] = number < 0 ? NAN : (float)second;
    if (r->numbers)
        r->numbers[i] = number;
}

static void compare_rows(void *data, size_t first, size_t last) {
    const runners_up *r = data;
    const ast_labelling_view v = ast_view_of(r->l);
    for (size_t i = first; i < last; i++)
        compare_row(r, &v, i);
}

enum { COMPARED = 64 }; /* rows of a task */

static ast_status assign_rows(ast_context *context, const ast_points *points, const ast_assign_options *options,
                              int32_t *labels, float *similarity, runners_up *second) {
    ast_fault *fault = &context->fault;
    ast_status status = check_options(options, fault);
    if (status == AST_OK)
        status = ast_check_points(points, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK && options->axial)
        status = ast_refuse_sparse(points, "axial assignment", fault);
    if (status == AST_OK && options->center)
        status = ast_refuse_sparse(points, "centring", fault);
    if (status == AST_OK && options->metric)
        status = ast_refuse_sparse(points, "a metric", fault);
    if (status == AST_OK && options->metric)
        status = ast_check_metric(options->metric, points->dimension, fault);
    ast_transformed_rows centred = {0};
    if (status == AST_OK && options->metric)
        status = ast_map_points(context, points, options->metric, &centred);
    if (status == AST_OK && options->center)
        status = ast_subtract_points(context, points, options->center, &centred);
    if (status != AST_OK) {
        ast_transformed_rows_free(&centred);
        return status;
    }
    copy to = {labels, similarity};
    ast_label_sink sink = {.size = sizeof sink, .write = copy_labels, .data = &to};
    ast_labelling_input input =
        ast_resident_input(context, centred.rows ? &centred.points : points, options->axial != 0);
    status = assign(context, &input, options, similarity != NULL, &sink);
    if (status == AST_OK && second) {
        second->l = context->labelling;
        ast_pool_ranges(context->pool, points->count, COMPARED, compare_rows, second);
        status = ast_check_cancelled(context);
    }
    ast_transformed_rows_free(&centred);
    return status;
}

ast_status ast_assign_call(ast_context *context, const ast_points *points, const ast_assign_options *options,
                           int32_t *labels, float *similarity) {
    return assign_rows(context, points, options, labels, similarity, NULL);
}

static ast_status assign_and_compare(ast_context *context, const ast_points *points, const ast_assign_options *options,
                                     int32_t *labels, float *similarity, runners_up *second) {
    ast_status status = ast_check_points(points, &context->fault);
    if (status == AST_OK)
        status = ast_refuse_sparse(points, "the second nearest mean", &context->fault);
    return status == AST_OK ? assign_rows(context, points, options, labels, similarity, second) : status;
}

ast_status ast_assign_compare(ast_context *context, const ast_points *points, const ast_assign_options *options,
                              int32_t *labels, float *similarity, float *runner_up, int32_t *runner_up_label) {
    runners_up second = {.cosines = runner_up, .numbers = runner_up_label};
    return ast_enter(context)
               ? ast_leave(context, assign_and_compare(context, points, options, labels, similarity, &second))
               : AST_BAD_OPTION;
}

ast_status ast_assign(ast_context *context, const ast_points *points, const ast_assign_options *options,
                      int32_t *labels, float *similarity) {
    return ast_enter(context) ? ast_leave(context, ast_assign_call(context, points, options, labels, similarity))
                              : AST_BAD_OPTION;
}

/* ---- A source ---------------------------------------------------------------------------------------------------- */

/* Rows of some 64 MiB at a time, and no more than a million. */
static size_t rows_at_a_time(const ast_source *source) {
    size_t rows = ((size_t)64 << 20) / (source->dimension * ast_type_size(source->type));
    rows = rows < ((size_t)1 << 20) ? rows : (size_t)1 << 20;
    return (rows / AST_WINDOW_STEP + 1) * AST_WINDOW_STEP;
}

static ast_status assign_source(ast_context *context, const ast_source *source, const ast_assign_options *options,
                                const ast_label_sink *sink) {
    ast_fault *fault = &context->fault;
    ast_status status = check_options(options, fault);
    if (status == AST_OK)
        status = ast_check_source(source, fault);
    if (status == AST_OK)
        status = ast_check_struct(sink, sizeof *sink, "sink", fault);
    if (status == AST_OK && !sink->write)
        status = ast_fail(fault, AST_BAD_OPTION, "the sink has no function that writes labels");
    ast_transformed_rows centred = {0};
    if (status == AST_OK && options->center)
        status = ast_subtract_source(context, source, options->center, &centred);
    if (status == AST_OK && options->metric)
        status = ast_check_metric(options->metric, source->dimension, fault);
    if (status == AST_OK && options->metric)
        status = ast_map_source(context, source, options->metric, &centred);
    if (status != AST_OK)
        return status;
    ast_labelling_input input = ast_resident_input(context, NULL, options->axial != 0);
    input.source = options->center || options->metric ? &centred.source : source;
    input.window = rows_at_a_time(source);
    input.unbounded = true;
    input.max_clusters = SIZE_MAX;
    status = assign(context, &input, options, true, sink);
    ast_transformed_rows_free(&centred);
    return status;
}

ast_status ast_assign_source(ast_context *context, const ast_source *source, const ast_assign_options *options,
                             const ast_label_sink *sink) {
    return ast_enter(context) ? ast_leave(context, assign_source(context, source, options, sink)) : AST_BAD_OPTION;
}
