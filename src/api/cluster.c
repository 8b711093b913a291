/* SPDX-License-Identifier: MIT
 *
 * ast_cluster and ast_assign: check, run, translate. Restarts, shuffles and weights are turned into what the methods
 * know: points in an order, with weights relative to the smallest. */
#include "call.h"

#include "assign.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef ast_call call;

static ast_status prepare_order(call *c, int restart, ast_fault *fault) {
    size_t count = c->points->count;
    bool ordered = c->options->method == AST_DP || c->options->method == AST_DPMEANS;
    bool shuffle = c->options->shuffle || (restart > 0 && ordered);
    if (shuffle) {
        ast_random random;
        if (!c->order)
            c->order = ast_allocate(count, sizeof *c->order);
        if (!c->order)
            return ast_fail_memory(fault);
        ast_random_seed(&random, c->options->seed, (uint64_t)restart << 32 | 1);
        ast_random_permutation(&random, c->order, count);
    }
    if (!c->points->weights)
        return AST_OK;
    if (!c->weights)
        c->weights = ast_allocate(count, sizeof *c->weights);
    for (size_t i = 0; c->weights && i < count; i++)
        c->weights[i] = c->points->weights[c->order ? c->order[i] : i];
    return c->weights ? AST_OK : ast_fail_memory(fault);
}

void ast_describe_cluster(const ast_labelling *l, int32_t slot, ast_cluster_info *info) {
    double weight = ast_clusters_weight(&l->clusters, slot);
    double resultant = weight > 0 ? ast_clusters_length(&l->clusters, slot) / weight : 0;
    bool equal = l->clusters.members[slot] < 2 || resultant >= 1 - 0x1p-26; /* as close as sums of floats can tell */
    info->resultant = resultant < 1 ? resultant : 1;
    info->kappa = equal ? NAN : ast_vmf_kappa(l->cloud.dimension, resultant);
}

/* Where the method has components their numbers are part of the result. */
static void describe_component(const ast_components *components, size_t k, ast_cluster_info *info) {
    info->share = components->count ? components->weights[k] : NAN;
    if (components->count)
        info->kappa = components->kappas[k];
}

/* Sizes and weights as the caller counts them: points of weight 0 are members too. Each rank goes on where the one
 * before stopped. */
static void count_members(const call *c, const ast_labelling *l, ast_cluster_info *info) {
    const double *weights = c->points->weights;
    for (size_t k = 0; !weights && k < l->clusters.live; k++)
        info[k].weight = (double)(info[k].count = (size_t)l->clusters.members[l->clusters.order[k]]);
    for (int turn = 0; weights && turn < ast_comm_size(l->comm); turn++) {
        for (size_t i = 0; turn == ast_comm_rank(l->comm) && i < l->cloud.count; i++)
            if (c->labels[i] >= 0) {
                info[c->labels[i]].count++;
                info[c->labels[i]].weight += weights[i];
            }
        ast_comm_broadcast(l->comm, info, l->clusters.live * sizeof *info, turn);
    }
}

/* Labels in the caller's order and as ranks; clusters with their sizes. */
static ast_status translate(call *c, ast_labelling *l, ast_fault *fault) {
    size_t clusters = l->clusters.live, dimension = l->cloud.dimension;
    int32_t *rank = ast_allocate(l->clusters.slots + 1, sizeof *rank);
    ast_cluster_info *info = ast_allocate_zero(clusters, sizeof *info);
    float *means = ast_allocate(clusters * dimension, sizeof *means);
    ast_status status = rank && info && means ? AST_OK : ast_fail_memory(fault);
    status = ast_comm_agree(l->comm, status, fault);
    if (status != AST_OK) {
        free(rank);
        free(info);
        free(means);
        return status;
    }
    bool same = !c->order; /* labels are what the caller will see: no slot was used twice */
    for (size_t k = 0; k < clusters; k++) {
        rank[l->clusters.order[k]] = (int32_t)k;
        same = same && l->clusters.order[k] == (int32_t)k;
    }
    if (same && l->cloud.count)
        memcpy(c->labels, l->labels, l->cloud.count * sizeof *c->labels);
    for (size_t i = 0; !same && i < l->cloud.count; i++)
        c->labels[c->order ? c->order[i] : i] = l->labels[i] < 0 ? -1 : rank[l->labels[i]];
    count_members(c, l, info);
    for (size_t k = 0; k < clusters; k++) {
        int32_t slot = l->clusters.order[k];
        ast_describe_cluster(l, slot, &info[k]);
        describe_component(&c->components, k, &info[k]);
        info[k].mean =
            memcpy(means + k * dimension, l->clusters.means + (size_t)slot * dimension, dimension * sizeof *means);
        if (l->axial)
            ast_choose_side(means + k * dimension, dimension);
    }
    free(rank);
    free(c->clusters);
    free(c->means);
    c->clusters = info;
    c->means = means;
    return AST_OK;
}

/* What a point and a cluster are compared by: the cosine, or the log density of the component. */
static double affinity(const call *c, const ast_labelling *l, size_t k, size_t i, const float *row) {
    const ast_cluster_list *list = &l->clusters;
    const ast_components *components = &c->components;
    const float *mean = list->means + (size_t)list->order[k] * list->dimension;
    double cosine = row ? ast_exact_score(row, mean, list->dimension) : ast_cloud_exact_score(&l->cloud, i, mean, NULL);
    if (components->count)
        return components->offsets[k] + components->kappas[k] * cosine;
    return l->axial ? fabs(cosine) : cosine;
}

/* Points of weight 0 took no part; now they get the label of the cluster that suits them best. */
static void label_weightless(const call *c, ast_labelling *l) {
    bool any = false;
    for (size_t i = 0; c->weights && i < l->cloud.count; i++)
        any |= c->weights[i] == 0;
    if (!any || l->clusters.live == 0)
        return;
    ast_cluster_list *list = &l->clusters;
    for (size_t i = 0; i < l->cloud.count; i++) {
        if (c->weights[i] != 0)
            continue;
        if (ast_cloud_kind(&l->cloud, i, l->workers[0].row) == AST_ROW_MISSING)
            continue;
        const float *row = l->cloud.sparse ? NULL : ast_cloud_row(&l->cloud, i, l->workers[0].row);
        double best = -INFINITY;
        for (size_t k = 0; k < list->live; k++) {
            double score = affinity(c, l, k, i, row);
            if (score > best) {
                best = score;
                l->labels[i] = list->order[k];
            }
        }
    }
}

ast_status ast_check_counts(const ast_options *o, size_t present, ast_fault *fault) {
    size_t wanted = o->start == AST_GIVEN ? o->means_count : o->clusters;
    bool fixed = o->method != AST_DP && o->method != AST_DPMEANS;
    if (!fixed || wanted <= present || (wanted == 1 && o->method == AST_CRP))
        return AST_OK;
    if (present == 0)
        return ast_fail(fault, AST_BAD_DATA, "there is no usable row: every one is zero or holds a NaN");
    return ast_fail(fault, AST_BAD_DATA, "%zu clusters are asked for, but there %s only %zu usable point%s", wanted,
                    present == 1 ? "is" : "are", present, present == 1 ? "" : "s");
}

static ast_status run_once(call *c, ast_labelling *l, int restart, ast_fault *fault) {
    ast_run run = {.options = c->options, .restart = restart, .log_likelihood = NAN, .bic = NAN, .improvement = NAN};
    run.start_points = c->options->start_points;
    l->bounds = c->options->bounds != 0;
    l->crowd = c->context->crowd ? c->context->crowd : l->crowd;
    ast_labelling_set_axial(l, c->options->axial != 0);
    ast_status status = ast_check_counts(c->options, l->everyone, fault);
    if (status == AST_OK && c->resume)
        status = ast_standing_take(c, l, &run, fault);
    c->run = &run;
    if (status == AST_OK)
        status = ast_run_method(l, &run, fault);
    c->run = NULL;
    ast_standing_free(c);
    if (status == AST_OK) /* what the last pass left to be told */
        status = ast_comm_agree(l->comm,
                                atomic_load(&l->failed) ? ast_fail_memory(fault)
                                : l->pending != AST_OK  ? l->pending
                                                        : ast_check_cancelled(c->context),
                                fault);
    if (status != AST_OK || (restart > 0 && !(run.objective > c->report.objective))) {
        ast_components_free(&run.components);
        return status;
    }
    ast_components_free(&c->components);
    c->components = run.components;
    label_weightless(c, l);
    status = translate(c, l, fault);
    if (status == AST_OK)
        c->report = (ast_report){.size = sizeof c->report,
                                 .points = c->total,
                                 .missing = c->missing,
                                 .dimension = l->cloud.dimension,
                                 .clusters = l->clusters.live,
                                 .objective = run.objective,
                                 .log_likelihood = run.log_likelihood,
                                 .bic = run.bic,
                                 .iterations = run.iterations,
                                 .converged = run.converged,
                                 .oir_restarts = run.oir_restarts,
                                 .improvement = run.improvement};
    return status;
}

static ast_status run_restarts(call *c, ast_fault *fault) {
    int restart = 0;
    ast_status status = c->options->resume ? ast_standing_open(c, &restart, fault) : AST_OK;
    for (; status == AST_OK && restart < c->options->restarts; restart++) {
        ast_labelling *labelling = &c->context->labelling;
        status = prepare_order(c, restart, fault);
        status = ast_comm_agree(c->context->comm, status, fault);
        if (status == AST_OK && c->context->comm)
            status = ast_labelling_load_rank(labelling, c->context->kernels, c->context->pool, c->context->comm,
                                             c->offset, c->points, c->weights, &c->missing, fault);
        else if (status == AST_OK)
            status = ast_labelling_load(labelling, c->context->kernels, c->context->pool, c->points, c->order,
                                        c->weights, &c->missing, fault);
        if (status == AST_OK)
            status = run_once(c, labelling, restart, fault);
        if (status != AST_OK)
            ast_labelling_free(labelling);
    }
    return status;
}

/* Means have all columns, however few the entries. What cannot be is refused before it is tried: memory is granted that
 * is not there, and taking it lasts. A column takes a number in the mean and the sum of each cluster, of which there is
 * memory for a few at first, and in the tables of means, one for all threads and one for each, which come in panels. */
static ast_status check_columns(const ast_context *context, const ast_points *points, const ast_options *options,
                                ast_fault *fault) {
    size_t known = options->start == AST_GIVEN ? options->means_count : options->clusters;
    double clusters = options->method == AST_DP || known == 0 ? 1 : (double)known;
    double table = ceil(clusters / AST_PANEL) * AST_PANEL * sizeof(float) * (1 + ast_pool_threads(context->pool));
    double lists = fmax(clusters, AST_FEW_SLOTS) * (sizeof(float) + sizeof(int64_t));
    double needed = (double)points->dimension * (lists + table), memory = ast_machine_memory();
    if (memory == 0 || needed <= memory)
        return AST_OK;
    return ast_fail(
        fault, AST_NO_MEMORY,
        "the points have %zu columns: %.0f cluster%s of them take%s %.0f GB, and this machine has %.0f; leave "
        "empty columns out",
        points->dimension, clusters, clusters > 1 ? "s" : "", clusters > 1 ? "" : "s", needed / 1e9, memory / 1e9);
}

/* Sparse rows are for the methods that need nothing but scores. */
static ast_status check_sparse(const ast_context *context, const ast_points *points, const ast_options *options,
                               ast_fault *fault) {
    if (!points->starts)
        return AST_OK;
    if (options->method != AST_DP && options->method != AST_SPKM && options->method != AST_MBSPKM)
        return ast_refuse_sparse(points, "this method", fault);
    return options->axial ? ast_refuse_sparse(points, "axial clustering", fault)
                          : check_columns(context, points, options, fault);
}

static ast_status check_call(const ast_context *context, const ast_points *points, const ast_options *options,
                             const int32_t *labels, const ast_report *report, ast_fault *fault) {
    const char *problem = ast_options_problem(options);
    if (problem)
        return ast_fail(fault, AST_BAD_OPTION, "%s", problem);
    ast_status status = ast_check_points(points, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK)
        status = ast_check_struct(report, sizeof *report, "report", fault);
    if (status == AST_OK && points->weights && (options->method == AST_FSD || options->method == AST_CRP))
        return ast_fail(fault, AST_BAD_OPTION, "samplers count every point once: weights are for the other methods");
    return status == AST_OK ? check_sparse(context, points, options, fault) : status;
}

void ast_keep_clusters(ast_context *context, ast_cluster_info *clusters, float *means, size_t count,
                       ast_components *components) {
    free(context->clusters);
    free(context->means);
    context->clusters = clusters;
    context->means = means;
    context->cluster_count = count;
    ast_components_free(&context->components);
    context->components = *components;
    *components = (ast_components){0};
}

static void keep_result(call *c) {
    ast_keep_clusters(c->context, c->clusters, c->means, c->report.clusters, &c->components);
    c->clusters = NULL;
    c->means = NULL;
}

/* The caller's progress function, and the question whether to cancel. */
static int tell(const ast_progress *state, void *data) {
    const call *c = data;
    const ast_options *given = c->given;
    int stop = given->progress ? given->progress(state, given->progress_data) : 0;
    return stop != 0 || ast_pool_poll(c->context->pool);
}

static ast_status cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                          ast_report *report) {
    double start = ast_seconds();
    ast_fault *fault = &context->fault;
    call c = {.context = context, .points = points, .given = options, .options = options};
    ast_status status = check_call(context, points, options, labels, report, fault);
    if (context->comm)
        status = ast_ranks_meet(context, points, options, status, &c.offset, &c.total);
    if (status != AST_OK)
        return status;
    ast_options told = *options;
    if (context->cancel) {
        told.progress = tell;
        told.progress_data = &c;
        c.options = &told;
    }
    c.total = context->comm ? c.total : points->count;
    bool several = options->restarts > 1; /* one run writes labels only when nothing can fail any more */
    c.labels = several ? ast_allocate(points->count, sizeof *c.labels) : labels;
    status = several && !c.labels ? ast_fail_memory(fault) : AST_OK;
    status = ast_comm_agree(context->comm, status, fault);
    context->call = &c;
    if (status == AST_OK)
        status = run_restarts(&c, fault);
    context->call = NULL;
    ast_standing_free(&c);
    if (status == AST_OK) {
        if (several && points->count)
            memcpy(labels, c.labels, points->count * sizeof *labels);
        keep_result(&c);
        *report = c.report;
        report->seconds = ast_seconds() - start;
    }
    if (several)
        free(c.labels);
    free(c.order);
    free(c.weights);
    free(c.clusters);
    free(c.means);
    ast_components_free(&c.components);
    return status;
}

ast_status ast_cluster(ast_context *context, const ast_points *points, const ast_options *options, int32_t *labels,
                       ast_report *report) {
    ast_status status = ast_enter(context);
    return status == AST_OK ? ast_leave(context, cluster(context, points, options, labels, report)) : status;
}

/* A version that appends fields repacks the records for callers of the versions before it. */
const ast_cluster_info *ast_cluster_records(const ast_context *context, size_t record, size_t *count) {
    bool known = context && count && record == sizeof *context->clusters;
    if (count)
        *count = known ? context->cluster_count : 0;
    return known ? context->clusters : NULL;
}

const float *ast_means(const ast_context *context) {
    return context ? context->means : NULL;
}

ast_status ast_check_assign(const ast_assign_options *o, ast_fault *fault) {
    ast_status status = ast_check_struct(o, sizeof *o, "options", fault);
    if (status != AST_OK)
        return status;
    if (!o->means || o->means_count == 0)
        return ast_fail(fault, AST_BAD_OPTION, "there are no means to assign points to");
    if (!isnan(o->angle) && !(o->angle >= 0 && o->angle <= 180))
        return ast_fail(fault, AST_BAD_OPTION, "the angle must be between 0 and 180 degrees");
    return AST_OK;
}

ast_status ast_assign_call(ast_context *context, const ast_points *points, const ast_assign_options *options,
                           int32_t *labels, float *similarity) {
    ast_fault *fault = &context->fault;
    ast_status status = ast_check_assign(options, fault);
    if (status == AST_OK)
        status = ast_check_points(points, fault);
    if (status == AST_OK && points->count > 0)
        status = ast_check_pointer(labels, "labels", fault);
    if (status == AST_OK && options->axial)
        status = ast_refuse_sparse(points, "axial assignment", fault);
    if (status != AST_OK)
        return status;
    ast_labelling *l = &context->labelling;
    size_t missing;
    ast_options given = {.means = options->means, .means_count = options->means_count};
    ast_points unweighted = *points;
    unweighted.weights = NULL;
    status = ast_labelling_load(l, context->kernels, context->pool, &unweighted, NULL, NULL, &missing, fault);
    if (status == AST_OK)
        status = ast_run_given(l, &given, fault);
    float *scores = status == AST_OK && similarity ? ast_allocate(points->count, sizeof *scores) : NULL;
    int32_t *result = status == AST_OK ? ast_allocate(l->cloud.padded, sizeof *result) : NULL;
    if (status == AST_OK && (!result || (similarity && !scores)))
        status = ast_fail_memory(fault);
    if (status == AST_OK) {
        l->crowd = context->crowd ? context->crowd : l->crowd;
        ast_labelling_set_axial(l, options->axial != 0);
        ast_labelling_set_angle(l, options->angle);
        status = ast_assign_points(l, result, scores, fault);
    }
    if (status == AST_OK)
        status = ast_check_cancelled(context);
    for (size_t i = 0; status == AST_OK && i < points->count; i++) {
        labels[i] = result[i] < 0 ? -1 : result[i];
        if (similarity)
            similarity[i] = scores[i];
    }
    free(result);
    free(scores);
    if (status != AST_OK)
        ast_labelling_free(l);
    return status;
}

ast_status ast_assign(ast_context *context, const ast_points *points, const ast_assign_options *options,
                      int32_t *labels, float *similarity) {
    ast_status status = ast_enter(context);
    return status == AST_OK ? ast_leave(context, ast_assign_call(context, points, options, labels, similarity))
                            : status;
}
