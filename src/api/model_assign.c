/* SPDX-License-Identifier: MIT
 *
 * Labels points by a model: with the nearest mean, as ast_assign does, or with the best component. Then rows that the
 * model's run would have left without a label lose theirs. A source is read block by block. */
#include "model.h"

#include "memory.h"
#include "center.h"
#include "lifted.h"
#include "metric.h"
#include "plan.h"
#include "scorer.h"

#include <math.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 20)
#define MOST_ROWS ((size_t)1 << 20)

/* ---- The best component ------------------------------------------------------------------------------------------ */

typedef struct best_job {
    ast_tiles tiles;
    const ast_model *model;
    const ast_points *given;
    int32_t *labels;   /* (N) the number of the component; the number of components for the background */
    float *similarity; /* (N) */
} best_job;

static void find_best(void *data, ast_tile_memory *memory, size_t chunk, size_t first) {
    const best_job *b = data;
    const ast_components *c = &b->model->components;
    const ast_rowset *rows = b->tiles.v.rows;
    size_t n = b->tiles.tile;
    float buffer[AST_MAX_DIMENSION];
    (void)chunk;
    ast_tile_logits(&b->tiles, first, c, memory);
    for (size_t at = 0; at < n && first + at < rows->count; at++) {
        size_t i = first + at, best = 0, mean = 0;
        if (b->tiles.v.labels[i] == AST_MISSING)
            continue;
        for (size_t k = 1; k < ast_components_all(c); k++) {
            best = memory->logits[k * n + at] > memory->logits[best * n + at] ? k : best;
            mean = k < c->count && memory->logits[k * n + at] > memory->logits[mean * n + at] ? k : mean;
        }
        const float *mean_row = b->model->info.means + mean * c->dimension;
        b->labels[i] = (int32_t)best;
        if (rows->sparse) {
            b->similarity[i] = (float)ast_rows_exact_score(rows, NULL, i, mean_row);
            continue;
        }
        const float *row = ast_rowset_row(rows, i, buffer);
        if (!ast_components_are_vmf(c)) { /* the rows are features */
            ast_read_row(b->given, i, buffer);
            double score =
                ast_exact_score(buffer, b->model->info.means + mean * b->given->dimension, b->given->dimension);
            b->similarity[i] = (float)(b->model->info.axial ? fabs(score) : score);
            continue;
        }
        b->similarity[i] = (float)ast_exact_score(row, mean_row, c->dimension);
    }
}

static ast_status assign_components(ast_model *model, const ast_points *points, int32_t *labels, float *similarity) {
    ast_context *context = model->context;
    ast_fault *fault = &context->fault;
    bool vmf = ast_components_are_vmf(&model->components);
    ast_status status = vmf && points->dimension <= AST_MIXTURE_DIMENSION && model->info.shares
                            ? AST_OK
                            : ast_refuse_sparse(points, "this mixture", fault);
    ast_labelling *l = context->labelling;
    ast_transformed_rows lifted = {.points = *points};
    if (status == AST_OK && !vmf)
        status = ast_lift_points(context, points, &model->components.family, &lifted);
    ast_labelling_input input = {.kernels = context->kernels, .pool = context->pool, .points = &lifted.points};
    best_job b = {.model = model, .given = points, .labels = labels, .similarity = similarity};
    for (size_t i = 0; i < points->count; i++) {
        labels[i] = -1;
        similarity[i] = NAN;
    }
    if (status == AST_OK)
        status = ast_labelling_load(l, &input, fault);
    if (status == AST_OK && !ast_tiles_open(&b.tiles, l, ast_components_all(&model->components), false))
        status = ast_fail_memory(fault);
    if (status != AST_OK)
        ast_labelling_clear(l);
    else if (!ast_tiles_each(&b.tiles, find_best, &b))
        status = ast_fail_cancelled(fault);
    ast_tiles_free(&b.tiles);
    ast_transformed_rows_free(&lifted);
    return status;
}

/* ---- Rows in memory ---------------------------------------------------------------------------------------------- */

static ast_status assign_nearest(ast_model *model, const ast_points *points, int32_t *labels, float *similarity) {
    ast_assign_options known = ast_assign_to(model->info.means, model->info.clusters);
    known.axial = model->info.axial;
    return ast_assign_call(model->context, points, &known, labels, similarity);
}

ast_status ast_model_transform_rows(const ast_model *model, const ast_points *points, ast_transformed_rows *changed) {
    const ast_model_info *m = &model->info;
    ast_fault *fault = &model->context->fault;
    const ast_metric metric = {sizeof metric, m->dimension, m->center, m->matrix, m->mapped_center};
    changed->points = *points;
    if (!m->center)
        return AST_OK;
    ast_status status = ast_refuse_sparse(points, "a model with a centre", fault);
    if (status != AST_OK || !m->matrix)
        return status == AST_OK ? ast_subtract_points(model->context, points, m->center, changed) : status;
    changed->rows = ast_allocate(points->count * points->dimension, sizeof *changed->rows);
    changed->points = ast_points_f4(changed->rows, points->count, points->dimension);
    changed->points.weights = points->weights;
    return changed->rows ? ast_metric_map(model->context, points, &metric, changed->rows) : ast_fail_memory(fault);
}

/* Numbers of clusters become ids, and -1 for points that fit none. */
static void name_labels(const ast_model_info *m, double angle, size_t count, int32_t *labels, const float *similarity) {
    double least = isnan(angle) ? -INFINITY : ast_least_score(angle);
    for (size_t i = 0; i < count; i++) {
        size_t k = (size_t)labels[i];
        if (labels[i] < 0)
            continue;
        bool fits =
            k < m->clusters && (double)similarity[i] >= least && !(m->thresholds && similarity[i] < m->thresholds[k]);
        labels[i] = !fits ? -1 : m->ids ? m->ids[k] : (int32_t)k;
    }
}

static ast_status check(const ast_model *model, const ast_points *points, double angle, const int32_t *labels) {
    ast_fault *fault = &model->context->fault;
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK && !isnan(angle) && !(angle >= 0 && angle <= 180))
        return ast_fail(fault, AST_BAD_OPTION, "the angle must be between 0 and 180 degrees");
    if (status == AST_OK && points->dimension != model->info.dimension)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu, but the model %zu", points->dimension,
                        model->info.dimension);
    return status;
}

static ast_status assign(ast_model *model, const ast_points *points, double angle, int32_t *labels, float *similarity) {
    ast_status status = check(model, points, angle, labels);
    if (status != AST_OK)
        return status;
    float *own = similarity ? similarity : ast_allocate(points->count, sizeof *own);
    if (!own)
        return ast_fail_memory(&model->context->fault);
    ast_transformed_rows changed = {0};
    status = ast_model_transform_rows(model, points, &changed);
    if (status == AST_OK)
        status = model->components.count ? assign_components(model, &changed.points, labels, own)
                                         : assign_nearest(model, &changed.points, labels, own);
    ast_transformed_rows_free(&changed);
    if (status == AST_OK)
        name_labels(&model->info, angle, points->count, labels, own);
    if (!similarity)
        ast_free_all(own);
    return status;
}

ast_status ast_model_assign(ast_model *model, const ast_points *points, double angle, int32_t *labels,
                            float *similarity) {
    return ast_enter(model ? model->context : NULL)
               ? ast_leave(model->context, assign(model, points, angle, labels, similarity))
               : AST_BAD_OPTION;
}

/* ---- A source ---------------------------------------------------------------------------------------------------- */

typedef struct block {
    void *rows;
    int32_t *labels;
    float *similarity;
    size_t most; /* rows of one */
} block;

static ast_status assign_block(ast_model *model, const ast_source *source, const block *b, size_t first, double angle,
                               const ast_label_sink *sink) {
    ast_fault *fault = &model->context->fault;
    size_t count = source->count - first < b->most ? source->count - first : b->most;
    if (source->read(first, count, b->rows, source->data) != 0)
        return ast_fail(fault, AST_NO_INPUT, "the rows from row %zu (counting from 1) on could not be read", first + 1);
    ast_points points = ast_points_dense(b->rows, source->type, ast_type_size(source->type), count, source->dimension);
    ast_status status = assign(model, &points, angle, b->labels, b->similarity);
    if (status == AST_BAD_DATA && fault->row) /* it was counted from the block on */
        return ast_fail_infinite(fault, first + fault->row);
    if (status == AST_OK && sink->write(first, count, b->labels, b->similarity, sink->data) != 0)
        return ast_fail(fault, AST_CANCELLED, "cancelled after row %zu", first + count);
    return status;
}

static ast_status assign_source(ast_model *model, const ast_source *source, double angle, const ast_label_sink *sink) {
    ast_fault *fault = &model->context->fault;
    ast_status status = ast_check_source(source, fault);
    if (status == AST_OK)
        status = ast_check_struct(sink, sizeof *sink, "sink", fault);
    if (status == AST_OK && !sink->write)
        return ast_fail(fault, AST_BAD_OPTION, "the sink has no function that writes labels");
    if (status != AST_OK)
        return status;
    size_t row = source->dimension * ast_type_size(source->type);
    block b = {.most = BLOCK_BYTES / row + 1 < MOST_ROWS ? BLOCK_BYTES / row + 1 : MOST_ROWS};
    b.rows = ast_allocate(b.most, row);
    b.labels = ast_allocate(b.most, sizeof *b.labels);
    b.similarity = ast_allocate(b.most, sizeof *b.similarity);
    if (!b.rows || !b.labels || !b.similarity)
        status = ast_fail_memory(fault);
    for (size_t first = 0; first < source->count && status == AST_OK; first += b.most)
        status = assign_block(model, source, &b, first, angle, sink);
    ast_free_all(b.rows, b.labels, b.similarity);
    ast_labelling_clear(model->context->labelling); /* it looks at the rows of the last block */
    return status;
}

ast_status ast_model_assign_source(ast_model *model, const ast_source *source, double angle,
                                   const ast_label_sink *sink) {
    return ast_enter(model ? model->context : NULL)
               ? ast_leave(model->context, assign_source(model, source, angle, sink))
               : AST_BAD_OPTION;
}
