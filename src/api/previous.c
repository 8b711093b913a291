/* SPDX-License-Identifier: MIT
 *
 * ast_cluster with options.previous. If the previous run is given by labels or means, the run is the same as without
 * it, and its clusters get their ids afterwards (lineage.c). If it is given by a model, rows that fit none of the
 * model's clusters are clustered among themselves, and then all rows join the nearest of the old and new means. */
#include "previous.h"

#include "call.h"
#include "lineage.h"
#include "memory.h"
#include "metric.h"
#include "model.h"
#include "scorer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDEST 90 /* degrees that a mean moves at most where no option says */

typedef struct naming {
    ast_context *context;
    const ast_points *points;
    const ast_options *options;
    const ast_previous *previous;
    const ast_model_info *model; /* or NULL */
    ast_options run;             /* options of every run */
    ast_transformed_rows rows;   /* by the model */
    int32_t *labels;             /* (N) of the last run */
    int32_t *nearest;            /* (N) of the means below */
    float *similarity;           /* (N) */
    double *weights;             /* (N) of rows that fit no old cluster; 0 for others */
    float *means;                /* (olds + news, D) */
    float *least;                /* (olds + news) below which a row fits no more */
    size_t olds, news;
    int32_t *same; /* of each cluster of the last run the old one, or -1 */
    ast_report report;
    ast_row_overlaps overlaps;
} naming;

/* ---- What is possible -------------------------------------------------------------------------------------------- */

const char *ast_previous_problem(const ast_options *o) {
    const ast_previous *p = o->previous;
    const char *problem = ast_size_problem(p, sizeof *p);
    if (problem)
        return "the previous run was not initialised: its size is not set";
    const ast_model_info *m = p->model ? &p->model->info : NULL;
    return ast_problem_of(
        {!p->model + !p->means + !p->labels != 2, "a previous run is a model, means or labels: one of them"},
        {p->next_id < 0, "next_id must be at least 0"},
        {!isnan(p->angle) && !(p->angle >= 0 && p->angle <= 180), "the angle must be between 0 and 180 degrees"},
        {p->means && (p->means_count == 0 || p->means_count > INT32_MAX), "the previous run has no means"},
        {p->model && (o->method != AST_DP || o->resume || o->dp.sample || o->start.by == AST_GIVEN),
         "a previous model is for AST_DP, without resume, sample and means to start from"},
        {m && (m->shares || m->lengths),
         "the previous model is one of components or lengths: only the nearest mean can "
         "say what fits it"},
        {m && !m->thresholds && !m->fits && isnan(m->angle),
         "the previous model does not say which rows fit it: it has neither thresholds nor an angle"});
}

static ast_status check(const naming *n) {
    ast_fault *fault = &n->context->fault;
    const ast_previous *p = n->previous;
    size_t dimension = n->points->dimension;
    for (size_t k = 1; p->ids && p->means && k < p->means_count; k++)
        if (p->ids[k] <= p->ids[k - 1] || p->ids[0] < 0)
            return ast_fail(fault, AST_BAD_OPTION, "the ids of the previous run do not increase from 0");
    if (n->model && n->model->dimension != dimension)
        return ast_fail(fault, AST_BAD_DATA, "the points have dimension %zu, but the previous model %zu", dimension,
                        n->model->dimension);
    if (n->model && p->model->context != n->context)
        return ast_fail(fault, AST_BAD_OPTION, "the previous model is one of another context");
    return AST_OK;
}

/* ---- A model ----------------------------------------------------------------------------------------------------- */

/* Labels all rows with the first `count` means. */
static ast_status find_nearest(naming *n, size_t count) {
    ast_assign_options known = ast_assign_to(n->means, count);
    known.axial = n->model->axial;
    return ast_assign_call(n->context, &n->rows.points, &known, n->nearest, n->similarity);
}

static bool reserve(naming *n) {
    size_t rows = n->points->count;
    return ast_replace_arrays(AST_REQUEST(n->nearest, rows), AST_REQUEST(n->similarity, rows),
                              AST_REQUEST(n->weights, rows), AST_REQUEST(n->means, n->olds * n->points->dimension),
                              AST_REQUEST(n->least, n->olds));
}

static void take_old(naming *n) {
    const ast_model_info *m = n->model;
    const float *least = m->thresholds ? m->thresholds : m->fits;
    memcpy(n->means, m->means, n->olds * m->dimension * sizeof *n->means);
    for (size_t k = 0; k < n->olds; k++)
        n->least[k] = least ? least[k] : (float)ast_least_score(m->angle);
}

/* Rows that fit weigh nothing, so that they take no part. Returns how many do not. */
static size_t weigh_misfits(naming *n) {
    const double *given = n->points->weights;
    size_t found = 0;
    for (size_t i = 0; i < n->points->count; i++) {
        bool misfit = n->nearest[i] >= 0 && n->similarity[i] < n->least[n->nearest[i]] && !(given && given[i] == 0);
        n->weights[i] = !misfit ? 0 : given ? given[i] : 1;
        found += misfit;
    }
    return found;
}

/* The clusters of the misfits become means behind the old ones. */
static ast_status find_new(naming *n) {
    ast_points misfits = n->rows.points;
    size_t dimension = misfits.dimension, olds = n->olds;
    misfits.weights = n->weights;
    n->run.calibrate = 0;
    n->run.outliers = NAN;
    n->run.merge.tree = 0;
    n->run.merge.leaves = NULL;
    n->run.representatives = 0;
    ast_status status = ast_cluster_call(n->context, &misfits, &n->run, n->labels, &n->report);
    if (status != AST_OK)
        return status;
    n->news = n->report.clusters;
    float *means = ast_allocate((olds + n->news) * dimension, sizeof *means);
    float *least = ast_allocate(olds + n->news, sizeof *least);
    if (means && least) {
        memcpy(means, n->means, olds * dimension * sizeof *means);
        memcpy(least, n->least, olds * sizeof *least);
        if (n->news)
            memcpy(means + olds * dimension, n->context->last.means, n->news * dimension * sizeof *means);
    }
    ast_free_all(n->means, n->least);
    n->means = means;
    n->least = least;
    return means && least ? AST_OK : ast_fail_memory(&n->context->fault);
}

/* Every row joins the nearest mean: a pass in which no cluster is born. */
static ast_status join_all(naming *n) {
    int converged = n->report.converged, iterations = n->report.iterations;
    n->run = *n->options;
    n->run.previous = NULL;
    n->run.metric = AST_METRIC_PLAIN;
    n->run.map = NULL;
    n->run.center = 0;
    n->run.axial = n->model->axial;
    n->run.angle = 180;
    n->run.max_iterations = n->run.restarts = 1;
    n->run.dp.order = AST_ORDER_GIVEN;
    n->run.merge.by = AST_MERGE_NONE;
    n->run.merge.min_size = 0;
    n->run.outliers = NAN;
    n->run.calibrate = 1;
    n->run.start.by = AST_GIVEN;
    n->run.start.means = n->means;
    n->run.start.means_count = n->olds + n->news;
    n->report = (ast_report){.size = sizeof n->report};
    ast_status status = ast_cluster_call(n->context, &n->rows.points, &n->run, n->labels, &n->report);
    n->report.converged = converged;
    n->report.iterations = iterations + 1;
    return status;
}

/* Clusters of the result get the means that their rows have joined; with outliers, rows that fit none lose their
 * label. */
static void keep_means(naming *n, const int32_t *known) {
    ast_result *last = &n->context->last;
    size_t dimension = n->points->dimension;
    bool removes = !isnan(n->options->outliers);
    for (size_t k = 0; k < last->report.clusters; k++) {
        memcpy(last->means + k * dimension, n->means + (size_t)known[k] * dimension, dimension * sizeof *last->means);
        last->fits[k] = (size_t)known[k] < n->olds ? n->least[known[k]] : last->fits[k];
        n->same[k] = (size_t)known[k] < n->olds ? known[k] : -1;
    }
    for (size_t i = 0; removes && i < n->points->count; i++)
        if (n->labels[i] >= 0 && n->similarity[i] < last->fits[n->labels[i]]) {
            ast_cluster_info *cluster = &last->clusters[n->labels[i]];
            cluster->count--;
            cluster->weight -= n->points->weights ? n->points->weights[i] : 1;
            n->labels[i] = -1;
            n->report.outliers++;
        }
    if (removes) {
        last->thresholds = last->fits;
        last->fits = NULL;
    }
}

/* The result is one of rows that the model has changed. */
static ast_status keep_map(naming *n) {
    ast_result *last = &n->context->last;
    const ast_model_info *m = n->model;
    ast_fitted_metric *f = &last->metric;
    size_t d = m->dimension;
    last->angle = n->options->angle;
    if (m->matrix) {
        if (!ast_replace_arrays(AST_REQUEST(f->center, d), AST_REQUEST(f->mapped_center, d),
                                AST_REQUEST(f->matrix, d * d)))
            return ast_fail_memory(&n->context->fault);
        memcpy(f->center, m->center, d * sizeof *f->center);
        memcpy(f->mapped_center, m->mapped_center, d * sizeof *f->mapped_center);
        memcpy(f->matrix, m->matrix, d * d * sizeof *f->matrix);
        f->map = (ast_metric){sizeof f->map, d, f->center, f->matrix, f->mapped_center};
        n->report.metric = &f->map;
    } else if (m->center) {
        last->center = ast_allocate(d, sizeof *last->center);
        if (!last->center)
            return ast_fail_memory(&n->context->fault);
        memcpy(last->center, m->center, d * sizeof *last->center);
        n->report.center = last->center;
    }
    return AST_OK;
}

static ast_status read_same(naming *n) {
    size_t clusters = n->report.clusters;
    int32_t *known = ast_allocate(clusters, sizeof *known);
    n->same = ast_allocate(clusters, sizeof *n->same);
    ast_status status = known && n->same ? find_nearest(n, n->olds + n->news) : ast_fail_memory(&n->context->fault);
    for (size_t i = 0; status == AST_OK && i < n->points->count; i++)
        if (n->labels[i] >= 0 && !(n->points->weights && n->points->weights[i] == 0))
            known[n->labels[i]] = n->nearest[i];
    if (status == AST_OK && clusters)
        keep_means(n, known);
    ast_free(known);
    return status == AST_OK ? keep_map(n) : status;
}

static ast_status run_model(naming *n) {
    ast_fault *fault = &n->context->fault;
    n->olds = n->model->clusters;
    n->run.metric = AST_METRIC_PLAIN;
    n->run.map = NULL;
    n->run.center = 0;
    n->run.axial = n->model->axial;
    n->report = (ast_report){.size = sizeof n->report, .converged = 1};
    ast_status status =
        reserve(n) ? ast_model_transform_rows(n->previous->model, n->points, &n->rows) : ast_fail_memory(fault);
    n->rows.points.weights = n->points->weights;
    if (status != AST_OK)
        return status;
    take_old(n);
    status = find_nearest(n, n->olds);
    if (status == AST_OK && weigh_misfits(n) > 0)
        status = find_new(n);
    if (status == AST_OK)
        status = join_all(n);
    return status == AST_OK ? read_same(n) : status;
}

/* ---- Means ------------------------------------------------------------------------------------------------------- */

/* One side of the matching: the means that are still free, and the number of each. */
typedef struct side {
    const float *means;
    size_t count, left;
    float *rows;      /* (left, D) */
    int32_t *numbers; /* (left) */
    int32_t *nearest; /* (left) of the other side's free means, or -1 */
    int32_t *match;   /* (count) or -1 */
} side;

static bool open_side(side *s, const float *means, size_t count, size_t dimension) {
    *s = (side){.means = means, .count = count, .left = count};
    if (!ast_replace_arrays(AST_REQUEST(s->rows, count * dimension), AST_REQUEST(s->numbers, count),
                            AST_REQUEST(s->nearest, count), AST_REQUEST(s->match, count)))
        return false;
    memset(s->match, -1, count * sizeof *s->match);
    return true;
}

static void close_side(side *s) {
    ast_free_all(s->rows, s->numbers, s->nearest, s->match);
}

static void take_free(side *s, size_t dimension) {
    s->left = 0;
    for (size_t k = 0; k < s->count; k++)
        if (s->match[k] < 0) {
            memcpy(s->rows + s->left * dimension, s->means + k * dimension, dimension * sizeof *s->rows);
            s->numbers[s->left++] = (int32_t)k;
        }
}

static ast_status look(const naming *n, side *from, const side *to, double angle) {
    ast_points rows = ast_points_f4(from->rows, from->left, n->points->dimension);
    ast_assign_options known = ast_assign_to(to->rows, to->left);
    known.axial = n->options->axial;
    known.angle = angle;
    return ast_assign_call(n->context, &rows, &known, from->nearest, NULL);
}

/* The nearest pair first: rounds in which means that are nearest to each other become pairs. */
static ast_status pair_means(const naming *n, side *old, side *new, double angle) {
    size_t pairs = 1, dimension = n->points->dimension;
    ast_status status = AST_OK;
    while (pairs > 0 && status == AST_OK) {
        take_free(old, dimension);
        take_free(new, dimension);
        pairs = 0;
        if (old->left == 0 || new->left == 0)
            break;
        status = look(n, old, new, angle);
        if (status == AST_OK)
            status = look(n, new, old, angle);
        for (size_t k = 0; status == AST_OK && k < new->left; k++) {
            int32_t one = new->nearest[k];
            if (one < 0 || old->nearest[one] != (int32_t)k)
                continue;
            new->match[new->numbers[k]] = old->numbers[one];
            old->match[old->numbers[one]] = new->numbers[k];
            pairs++;
        }
    }
    return status;
}

static ast_status match_means(naming *n) {
    const ast_previous *p = n->previous;
    double angle = !isnan(p->angle) ? p->angle : !isnan(n->options->angle) ? n->options->angle : WIDEST;
    side old = {0}, new = {0};
    bool ready = open_side(&old, p->means, p->means_count, n->points->dimension) &&
                 open_side(&new, n->context->last.means, n->report.clusters, n->points->dimension);
    ast_status status = ready ? pair_means(n, &old, &new, angle) : ast_fail_memory(&n->context->fault);
    if (status == AST_OK && n->report.clusters)
        memcpy(n->same, new.match, n->report.clusters * sizeof *n->same);
    close_side(&old);
    close_side(&new);
    return status;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* The old clusters without a row in common. */
static ast_status list_old(naming *n) {
    const int32_t *ids = n->model ? n->model->ids : n->previous->ids;
    n->overlaps.olds = n->model ? n->model->clusters : n->previous->means_count;
    n->overlaps.news = n->report.clusters;
    n->overlaps.ids = ast_allocate(n->overlaps.olds, sizeof *n->overlaps.ids);
    for (size_t k = 0; n->overlaps.ids && k < n->overlaps.olds; k++)
        n->overlaps.ids[k] = ids ? ids[k] : (int32_t)k;
    return n->overlaps.ids ? AST_OK : ast_fail_memory(&n->context->fault);
}

static ast_status match(naming *n) {
    ast_fault *fault = &n->context->fault;
    if (!n->model)
        n->same = ast_allocate(n->report.clusters, sizeof *n->same);
    if (!n->same)
        return ast_fail_memory(fault);
    if (n->model || n->previous->means) {
        ast_status status = list_old(n);
        return status == AST_OK && !n->model ? match_means(n) : status;
    }
    ast_status status = ast_row_overlaps_find(n->previous->labels, n->labels, n->points->count, n->report.clusters,
                                              &n->overlaps, fault);
    return status == AST_OK ? ast_row_overlaps_match(&n->overlaps, n->same, fault) : status;
}

static int32_t first_new_id(const naming *n) {
    const ast_row_overlaps *o = &n->overlaps;
    int32_t above = o->olds ? o->ids[o->olds - 1] + 1 : 0, given = n->previous->next_id;
    given = n->model && n->model->next_id > given ? n->model->next_id : given;
    return given > above ? given : above;
}

/* The arrays of the result in the order of ids; place: of each cluster. */
static bool reorder(naming *n, const size_t *order, int32_t *place) {
    ast_result *last = &n->context->last;
    size_t count = n->report.clusters, dimension = n->points->dimension;
    float *means = ast_allocate(count * dimension, sizeof *means), *least = ast_allocate(count, sizeof *least);
    ast_cluster_info *clusters = ast_allocate(count, sizeof *clusters);
    bool ready = means && least && clusters;
    for (size_t at = 0; ready && at < count; at++) {
        place[order[at]] = (int32_t)at;
        memcpy(means + at * dimension, last->means + order[at] * dimension, dimension * sizeof *means);
        clusters[at] = last->clusters[order[at]];
        clusters[at].mean = last->means + at * dimension;
    }
    if (ready && count) {
        memcpy(last->means, means, count * dimension * sizeof *means);
        memcpy(last->clusters, clusters, count * sizeof *clusters);
    }
    float *const both[] = {last->thresholds, last->fits};
    for (int i = 0; ready && i < 2; i++) {
        for (size_t at = 0; both[i] && at < count; at++)
            least[at] = both[i][order[at]];
        if (both[i] && count)
            memcpy(both[i], least, count * sizeof *least);
    }
    ast_free_all(means, least, clusters);
    return ready;
}

static ast_status name_clusters(naming *n) {
    ast_fault *fault = &n->context->fault;
    size_t *order = ast_allocate(n->report.clusters, sizeof *order);
    int32_t *place = ast_allocate(n->report.clusters, sizeof *place);
    ast_lineage_of_run lineage = {0};
    ast_status status = order && place ? match(n) : ast_fail_memory(fault);
    if (status == AST_OK && (size_t)first_new_id(n) + n->report.clusters > INT32_MAX)
        status = ast_fail(fault, AST_BAD_DATA, "the ids of the previous run leave no room for new ones below 2^31");
    if (status == AST_OK)
        status = ast_lineage_make(&n->overlaps, n->same, first_new_id(n), order, &lineage, fault);
    if (status == AST_OK && !reorder(n, order, place))
        status = ast_fail_memory(fault);
    for (size_t i = 0; status == AST_OK && i < n->points->count; i++)
        n->labels[i] = n->labels[i] < 0 ? -1 : place[n->labels[i]];
    if (status == AST_OK)
        n->context->last.lineage = lineage;
    else
        ast_lineage_free(&lineage);
    ast_free_all(order, place);
    return status;
}

static void free_naming(naming *n) {
    ast_row_overlaps_free(&n->overlaps);
    ast_transformed_rows_free(&n->rows);
    ast_free_all(n->labels, n->nearest, n->similarity, n->weights, n->means, n->least, n->same);
}

static ast_status run_plain(naming *n) {
    n->report = (ast_report){.size = sizeof n->report};
    return ast_cluster_call(n->context, n->points, &n->run, n->labels, &n->report);
}

ast_status ast_cluster_keeping_ids(ast_context *context, const ast_points *points, const ast_options *options,
                                   int32_t *labels, ast_report *report) {
    double start = ast_seconds();
    const ast_model *model = options->previous->model;
    naming n = {.context = context,
                .points = points,
                .options = options,
                .previous = options->previous,
                .model = model ? &model->info : NULL,
                .run = *options};
    n.run.previous = NULL;
    ast_status status = check(&n);
    if (status == AST_OK)
        n.labels = ast_allocate(points->count, sizeof *n.labels);
    if (status == AST_OK && !n.labels)
        status = ast_fail_memory(&context->fault);
    if (status == AST_OK)
        status = n.model ? run_model(&n) : run_plain(&n);
    if (status == AST_OK)
        status = name_clusters(&n);
    if (status == AST_OK && points->count)
        memcpy(labels, n.labels, points->count * sizeof *labels);
    if (status == AST_OK) {
        n.report.seconds = ast_seconds() - start;
        context->last.report = *report = n.report;
    }
    free_naming(&n);
    return status;
}
