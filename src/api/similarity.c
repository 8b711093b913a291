/* SPDX-License-Identifier: MIT
 *
 * ast_similarity: how similar rows are to the means of their clusters, by the exact score. */
#include "metric.h"

#include <math.h>

typedef struct scoring {
    ast_labelling_view v;
    const float *means;
    const int32_t *labels;
    float *similarity;
} scoring;

static void score_chunk(void *data, ast_chunk *memory, size_t first, size_t last) {
    const scoring *s = data;
    const ast_rowset *rows = s->v.rows;
    ast_rows_fetch(rows, &memory->rows);
    for (size_t i = first; i < last; i++) {
        s->similarity[i] = NAN;
        if (s->labels[i] < 0 || s->v.labels[i] == AST_MISSING)
            continue;
        double score = ast_rows_exact_score(rows, &memory->rows, i, s->means + (size_t)s->labels[i] * rows->dimension);
        s->similarity[i] = (float)(rows->axial ? fabs(score) : score);
    }
}

static ast_status check(const ast_context *context, const ast_points *points, const int32_t *labels,
                        const float *similarity, ast_fault *fault) {
    const ast_report *report = &context->last.report;
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(similarity, "similarity", fault);
    if (status == AST_OK && !context->last.means)
        return ast_fail(fault, AST_BAD_OPTION,
                        "there are no clusters yet: similarities need the result of ast_cluster");
    if (status == AST_OK && points->dimension != report->dimension)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu, but the means %zu", points->dimension,
                        report->dimension);
    for (size_t i = 0; i < points->count && status == AST_OK; i++)
        if (labels[i] >= 0 && (size_t)labels[i] >= report->clusters)
            return ast_fail(fault, AST_BAD_DATA, "row %zu has the label %d, but there are %zu clusters", i + 1,
                            labels[i], report->clusters);
    return status;
}

static ast_status find(ast_context *context, const ast_points *points, const int32_t *labels, float *similarity) {
    ast_fault *fault = &context->fault;
    const ast_result *last = &context->last;
    ast_status status = check(context, points, labels, similarity, fault);
    if (status != AST_OK)
        return status;
    ast_transformed_rows centred = {0};
    if (last->metric.matrix)
        status = ast_map_points(context, points, &last->metric.map, &centred);
    else if (last->center)
        status = ast_subtract_points(context, points, last->center, &centred);
    ast_labelling *l = context->labelling;
    ast_labelling_input input = ast_resident_input(context, centred.rows ? &centred.points : points, last->axial != 0);
    scoring s = {.means = last->means, .labels = labels, .similarity = similarity};
    if (status == AST_OK)
        status = ast_labelling_load(l, &input, fault);
    if (status == AST_OK) {
        s.v = ast_view_of(l);
        status = ast_labelling_each_chunk(l, score_chunk, &s, fault);
    }
    ast_labelling_clear(l);
    ast_transformed_rows_free(&centred);
    return status;
}

ast_status ast_similarity(ast_context *context, const ast_points *points, const int32_t *labels, float *similarity) {
    return ast_enter(context) ? ast_leave(context, find(context, points, labels, similarity)) : AST_BAD_OPTION;
}
