/* SPDX-License-Identifier: MIT
 *
 * ast_tune (docs/tune.md has the rule and its reasons):
 *
 *     1. a sample of the points, and the tree of joins of its clusters at a small angle
 *     2. the level of the tree with the best evidence: no more clusters than that
 *     3. the silhouette of every level, less the largest that draws without clusters have at that level: the excess
 *     4. the peaks of the excess, and a sweep over plain angles
 *     5. the peak that the widest range of angles finds without merging, or the most stable one, by merging
 *     6. a run with these options on all points, which is what the report describes
 *
 * methods/tune.c has the rules of 4 and 5. */
#include "tune_call.h"

#include "center.h"
#include "degree.h"
#include "memory.h"
#include "rounding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LEAVES 20000 /* of the tree over all points */
#define LEAF_STEP 5       /* degrees: the tree starts at the smallest multiple with so few leaves */
#define LEAF_STEPS 18     /* up to 90 degrees */
#define WEAK_CLUSTERS 20  /* weak data: smaller angles than those with so many clusters are not looked at */
#define MOST_ANGLES 20000
#define OTHER_DRAWS 3   /* of each null but one von Mises-Fisher distribution */
#define METRIC_ROUNDS 2 /* of clusters and the map from their scatter */

/* ---- Calls of the library ---------------------------------------------------------------------------------------- */

ast_status ast_tune_take_fault(ast_tuning *t, ast_status status) {
    if (status != AST_OK)
        t->context->fault = t->inner->fault;
    return status;
}

static ast_status report_step(ast_tuning *t) {
    const ast_tune_options *o = t->options;
    double done = t->planned ? (double)t->steps / (double)t->planned : 0;
    t->stopped = t->stopped || (o->progress && o->progress(fmin(done, 1), o->progress_data) != 0);
    return t->stopped || ast_pool_poll(t->context->pool) ? ast_fail_cancelled(t->fault) : AST_OK;
}

ast_status ast_tune_step(ast_tuning *t) {
    t->steps++;
    return report_step(t);
}

/* After every pass of a run. */
static int watch(const ast_progress *state, void *data) {
    ast_tuning *t = data;
    t->too_many = t->most_clusters && state->clusters > t->most_clusters;
    return t->too_many || report_step(t) != AST_OK;
}

ast_options ast_tune_run_options(ast_tuning *t, double angle) {
    ast_options options;
    ast_options_init(&options);
    options.angle = angle;
    options.axial = t->options->axial;
    options.rounding = t->rounding;
    options.dp.order = AST_ORDER_CONTENT;
    options.seed = AST_TUNE_SEED;
    options.progress = watch;
    options.progress_data = t;
    return options;
}

ast_status ast_tune_run(ast_tuning *t, const ast_points *points, const ast_options *options, int32_t *labels,
                        ast_report *report) {
    t->too_many = false;
    return ast_tune_take_fault(t, ast_cluster(t->inner, points, options, labels, report));
}

ast_status ast_tune_silhouette(ast_tuning *t, const ast_points *points, const int32_t *labels, size_t clusters,
                               double *silhouette) {
    ast_dissimilarity kind = t->options->axial ? AST_AXIAL_COSINE : AST_COSINE;
    *silhouette = NAN;
    if (clusters < 2)
        return AST_OK;
    return ast_tune_take_fault(t, ast_silhouette(t->inner, points, labels, kind, AST_TUNE_SEED, silhouette, NULL));
}

/* ---- Leaves and levels ------------------------------------------------------------------------------------------- */

/* Finds the smallest multiple of 5 degrees with few leaves: nearly always 5. */
static ast_status find_leaves(ast_tuning *t) {
    int low = 0, high = LEAF_STEPS, step = 1;
    double grown = 0, share = (double)t->present / (double)t->sample.points.count; /* all points, over the sample */
    ast_status status = AST_OK;
    while (high - low > 1 && status == AST_OK) {
        grown = step * LEAF_STEP;
        status = ast_tune_grow_tree(t, &t->sample, grown);
        double leaves = (double)t->sample.leaf_count * share;
        *(leaves <= MOST_LEAVES ? &high : &low) = step;
        step = (low + high) / 2;
    }
    t->report->leaf_angle = high * LEAF_STEP;
    if (status == AST_OK && grown != t->report->leaf_angle)
        status = ast_tune_grow_tree(t, &t->sample, t->report->leaf_angle);
    return status;
}

/* The largest silhouette of all draws of one kind at every level. */
static ast_status measure_draws(ast_tuning *t, ast_null kind, int draws) {
    ast_status status = AST_OK;
    for (int i = 0; i < draws && status == AST_OK; i++) {
        ast_tune_set draw = {0};
        status = ast_tune_draw_null(t, kind, i, &draw);
        if (status == AST_OK)
            status = ast_tune_grow_tree(t, &draw, t->report->leaf_angle);
        if (status == AST_OK)
            status = ast_tune_measure_levels(t, &draw, kind);
        ast_tune_set_free(&draw);
    }
    return status;
}

/* One von Mises-Fisher distribution has all draws, the others fewer: they decide where it does not. */
static int draws_of(const ast_tuning *t, ast_null kind, int draws, bool final) {
    if (kind == AST_NULL_ONE)
        return draws;
    return final && ast_null_applies(t, kind) ? draws < OTHER_DRAWS ? draws : OTHER_DRAWS : 0;
}

static bool is_sparse(const ast_tuning *t) {
    return t->points->starts != NULL;
}

/* The levels and their peaks. `stable`: with the stability of every level. */
static ast_status find_levels(ast_tuning *t, int draws, bool stable) {
    const ast_tune_options *o = t->options;
    ast_tuned *tuned = t->tuned;
    size_t limit = t->report->limit > o->min_clusters ? t->report->limit : o->min_clusters,
           most = o->max_clusters && o->max_clusters < limit ? o->max_clusters : limit;
    if (!ast_replace_arrays(AST_REQUEST(tuned->levels, AST_TUNE_LEVELS(most)),
                            AST_REQUEST(tuned->nulls, AST_TUNE_LEVELS(most))))
        return ast_fail_memory(t->fault);
    tuned->level_count = ast_tune_list_levels(o->min_clusters, most, tuned->levels);
    int sets = 1 + (stable ? ast_tune_splits(t) : 0);
    for (ast_null kind = 0; kind < AST_NULLS; kind++)
        sets += draws_of(t, kind, draws, stable);
    t->planned = t->steps + tuned->level_count * (size_t)sets + tuned->angles_planned + 1;
    ast_status status = ast_tune_measure_levels(t, &t->sample, AST_NULLS);
    for (ast_null kind = 0; kind < AST_NULLS && status == AST_OK; kind++)
        status = measure_draws(t, kind, draws_of(t, kind, draws, stable));
    if (status == AST_OK && stable)
        status = ast_tune_measure_stability(t);
    if (status == AST_OK)
        ast_tune_mark_peaks(tuned->levels, tuned->level_count, is_sparse(t));
    return status;
}

/* The tree of the sample, the level that its evidence prefers, and the levels, unless one cluster is best. */
static ast_status look_at_sample(ast_tuning *t, int draws, bool stable) {
    t->tuned->level_count = 0;
    ast_status status = find_leaves(t);
    if (status == AST_OK)
        status = ast_tune_find_best_by_evidence(t, &t->sample, &t->report->limit, &t->report->evidence);
    if (status == AST_OK && (t->report->limit > 1 || t->options->min_clusters > 2))
        status = find_levels(t, draws, stable);
    return status;
}

/* ---- The metric -------------------------------------------------------------------------------------------------- */

/* The labels of the finest scale of the sample; one cluster if there are no levels. labels: (count) */
static ast_status label_finest_scale(ast_tuning *t, int32_t *labels) {
    size_t count = t->sample.points.count, clusters = ast_tune_finest_scale(t->tuned->levels, t->tuned->level_count);
    ast_tune_cut cut;
    memset(labels, 0, count * sizeof *labels);
    if (clusters < 2 || clusters > t->sample.leaf_count)
        return AST_OK;
    ast_status status = ast_tune_cut_open(t, &t->sample, clusters, &cut);
    if (status == AST_OK)
        status = ast_tune_cut_at(t, &cut, clusters);
    if (status == AST_OK)
        memcpy(labels, cut.labels, count * sizeof *labels);
    t->map_clusters = clusters;
    ast_tune_cut_close(&cut);
    return status;
}

/* Learns the map from clusters instead of neighbours, until they settle. */
static ast_status settle_metric(ast_tuning *t) {
    size_t count = t->sample.points.count;
    int32_t *labels = ast_allocate(count, sizeof *labels), *before = ast_allocate(count, sizeof *before);
    ast_status status = labels && before ? AST_OK : ast_fail_memory(t->fault);
    for (int round = 0; round < METRIC_ROUNDS && status == AST_OK; round++) {
        status = look_at_sample(t, 1, false);
        if (status == AST_OK)
            status = label_finest_scale(t, labels);
        count = t->sample.points.count;
        if (status != AST_OK || (round > 0 && memcmp(labels, before, count * sizeof *labels) == 0))
            break;
        memcpy(before, labels, count * sizeof *labels);
        status = ast_tune_refine_metric(t, labels);
    }
    ast_free_all(labels, before);
    return status;
}

/* ---- The sweep --------------------------------------------------------------------------------------------------- */

typedef struct sweep {
    int32_t *labels, *last, *merged; /* (sample) of this angle, of the one before, and after merging */
} sweep;

/* One angle with and without merging. */
static ast_status sweep_angle(ast_tuning *t, sweep *s, ast_tune_angle *row) {
    const ast_points *points = &t->sample.points, *given = ast_tune_original_points(t);
    ast_report report = {.size = sizeof report};
    ast_options options = ast_tune_run_options(t, row->angle);
    ast_agreement agreement = {.size = sizeof agreement};
    ast_status status = ast_tune_run(t, given, &options, s->labels, &report);
    row->clusters = report.clusters;
    row->objective = report.objective;
    row->stability = NAN;
    if (status == AST_OK)
        status = ast_tune_silhouette(t, points, s->labels, row->clusters, &row->silhouette);
    if (status == AST_OK)
        status = ast_tune_evidence(t, s->labels, row->clusters, &row->evidence);
    if (status == AST_OK && t->tuned->angle_count > 0) {
        status = ast_tune_take_fault(t, ast_compare(t->inner, s->labels, s->last, points->count, &agreement));
        row->stability = agreement.nmi;
    }
    row->merged = row->clusters;
    row->merged_silhouette = row->silhouette;
    if (status != AST_OK || row->clusters < 2)
        return status;
    options.merge.by = AST_MERGE_EVIDENCE;
    status = ast_tune_run(t, given, &options, s->merged, &report);
    row->merged = report.clusters;
    return status == AST_OK ? ast_tune_silhouette(t, points, s->merged, row->merged, &row->merged_silhouette) : status;
}

static ast_status sweep_angles(ast_tuning *t, sweep *s) {
    ast_tuned *tuned = t->tuned;
    ast_status status = AST_OK;
    while (tuned->angle_count < tuned->angles_planned && status == AST_OK) {
        ast_tune_angle *row = &tuned->angles[tuned->angle_count];
        row->angle = t->options->from - (double)tuned->angle_count * t->options->step;
        status = sweep_angle(t, s, row);
        if (t->too_many && !t->stopped) { /* the run was cancelled */
            t->report->cut = 1;
            return AST_OK;
        }
        int32_t *labels = s->labels;
        s->labels = s->last;
        s->last = labels;
        tuned->angle_count += status == AST_OK;
        if (status == AST_OK && t->options->angle_found)
            t->options->angle_found(row, t->options->progress_data);
        if (status == AST_OK)
            status = ast_tune_step(t);
    }
    return status;
}

static ast_status run_sweep(ast_tuning *t) {
    size_t count = t->sample.points.count, most = 2 * ast_tune_finest_peak(t->tuned->levels, t->tuned->level_count);
    sweep s = {0};
    bool ready =
        ast_replace_arrays(AST_REQUEST(s.labels, count), AST_REQUEST(s.last, count), AST_REQUEST(s.merged, count),
                           AST_REQUEST(t->tuned->angles, t->tuned->angles_planned));
    most = most ? most : WEAK_CLUSTERS;
    t->most_clusters = t->options->max_clusters && t->options->max_clusters < most ? t->options->max_clusters : most;
    ast_status status = ready ? sweep_angles(t, &s) : ast_fail_memory(t->fault);
    t->most_clusters = 0;
    t->too_many = false;
    ast_free_all(s.labels, s.last, s.merged);
    return status;
}

/* ---- The recommendation ------------------------------------------------------------------------------------------ */

/* The evidence prefers one cluster: there is nothing to choose from. */
static void recommend_least_bad(ast_tuning *t) {
    const ast_tuned *tuned = t->tuned;
    ast_tune_report *r = t->report;
    size_t row = ast_tune_least_bad(tuned->angles, tuned->angle_count);
    r->weak = 1;
    r->angle = tuned->angle_count ? tuned->angles[row].angle : t->options->from;
    r->clusters = tuned->angle_count ? tuned->angles[row].clusters : 1;
    r->silhouette = tuned->angle_count ? tuned->angles[row].silhouette : NAN;
}

/* The median, over the points, of the angle between the cluster of a point and the nearest other cluster, in the last
 * run of the inner context. */
static ast_status find_separation(ast_tuning *t, double *separation) {
    size_t count, dimension = t->points->dimension;
    const ast_cluster_info *clusters = ast_clusters(t->inner, &count);
    ast_apart *apart = ast_allocate(count, sizeof *apart);
    if (!apart)
        return ast_fail_memory(t->fault);
    for (size_t k = 0; k < count; k++) {
        double nearest = -1;
        for (size_t other = 0; other < count; other++) {
            double cosine = ast_exact_score(clusters[k].mean, clusters[other].mean, dimension);
            cosine = t->options->axial ? fabs(cosine) : cosine;
            nearest = other != k && cosine > nearest ? cosine : nearest;
        }
        apart[k] = (ast_apart){acos(fmin(nearest, 1)) / AST_DEGREE, clusters[k].weight};
    }
    *separation = ast_tune_median_separation(apart, count);
    ast_free(apart);
    return AST_OK;
}

/* Of the angles of a plateau, the one nearest to two thirds of the separation of its clusters. */
static ast_status choose_angle(ast_tuning *t, const ast_tune_range *range) {
    const ast_tune_angle *angles = t->tuned->angles;
    double separation = NAN;
    ast_report report = {.size = sizeof report};
    ast_options options = ast_tune_run_options(t, angles[(range->first + range->last) / 2].angle);
    int32_t *labels = ast_allocate(t->sample.points.count, sizeof *labels);
    ast_status status =
        labels ? ast_tune_run(t, ast_tune_original_points(t), &options, labels, &report) : ast_fail_memory(t->fault);
    if (status == AST_OK)
        status = find_separation(t, &separation);
    if (status == AST_OK)
        t->report->angle = angles[ast_tune_pick_angle(angles, range, separation)].angle;
    ast_free(labels);
    return status;
}

static void take_level(ast_tuning *t, const ast_tune_level *level) {
    ast_tune_report *r = t->report;
    r->clusters = level->clusters;
    r->silhouette = level->silhouette;
    r->excess = level->silhouette - level->null_any;
    r->stability = level->stability;
    r->weak = !ast_tune_stands_out(level, is_sparse(t));
    t->highest = t->tuned->nulls[level - t->tuned->levels];
}

/* What stands out must do so from one cloud that is as long along every axis. Three dimensions have nulls of their own,
 * and rows in the space that they span have too many axes. Documents have other limits. */
static ast_status compare_with_cloud(ast_tuning *t, const ast_tune_level *level) {
    double cloud;
    if (t->report->weak || t->options->axial || t->points->dimension <= 3 ||
        t->sample.points.dimension != t->points->dimension)
        return AST_OK;
    ast_status status = ast_tune_measure_cloud(t, level->clusters, &cloud);
    if (status == AST_OK && level->silhouette - cloud < t->report->excess) {
        t->report->excess = level->silhouette - cloud;
        t->highest = AST_NULL_CLOUD;
    }
    t->report->weak = status == AST_OK && !is_sparse(t) && t->report->excess < AST_TUNE_MIN_EXCESS;
    return status;
}

static void move_peak(ast_tune_level *levels, size_t from, size_t to) {
    levels[from].peak = levels[from].local_peak = 0;
    levels[to].peak = levels[to].local_peak = 1;
}

/* The level is a cut of the tree: where there are more rows than those of the sample, they decide as well. */
static ast_status recommend_level(ast_tuning *t, size_t chosen) {
    ast_tune_report *r = t->report;
    ast_tune_level *levels = t->tuned->levels;
    size_t settled = chosen;
    double excess = r->excess;
    ast_status status = r->weak || is_sparse(t) ? AST_OK : ast_tune_recheck_level(t, &settled);
    if (settled != chosen) {
        move_peak(levels, chosen, settled);
        ast_null highest = t->highest;
        take_level(t, &levels[settled]);
        t->highest = excess < r->excess ? highest : t->highest;
        r->excess = fmin(r->excess, excess); /* what one cloud gives was measured at the level before */
    }
    r->angle = r->leaf_angle;
    r->merge = AST_MERGE_COUNT;
    r->merge_count = levels[settled].clusters;
    return status;
}

static ast_status recommend(ast_tuning *t) {
    const ast_tuned *tuned = t->tuned;
    ast_tune_report *r = t->report;
    ast_tune_range range;
    if (tuned->level_count == 0) {
        recommend_least_bad(t);
        return AST_OK;
    }
    size_t chosen = ast_tune_choose(tuned->levels, tuned->level_count, tuned->angles, tuned->angle_count, &range);
    if (!range.found && !is_sparse(t)) {
        size_t peak = chosen;
        chosen = ast_tune_steadiest(tuned->levels, tuned->level_count, peak);
        move_peak(tuned->levels, peak, chosen);
    }
    take_level(t, &tuned->levels[chosen]);
    ast_status status = compare_with_cloud(t, &tuned->levels[chosen]);
    if (status != AST_OK)
        return status;
    if (!range.found)
        return recommend_level(t, chosen);
    r->first = tuned->angles[range.first].angle;
    r->last = tuned->angles[range.last].angle;
    return choose_angle(t, &range);
}

/* Equal rows are neighbours in the order of content. */
static bool one_direction(const ast_tune_set *set) {
    size_t bytes = set->points.dimension * sizeof *set->rows;
    bool same = true;
    for (size_t i = 1; i < set->points.count && same; i++)
        same = memcmp(set->rows, set->rows + i * set->points.dimension, bytes) == 0;
    return same;
}

static void explain(ast_tuning *t) {
    const ast_tune_report *r = t->report;
    char *text = t->tuned->reason;
    size_t room = sizeof t->tuned->reason;
    int used = 0;
    if (t->present <= t->sample.points.count && one_direction(&t->sample)) {
        snprintf(text, room, "nothing stands out: %s, at every angle",
                 t->present == 1 ? "there is one point, which is one cluster"
                                 : "all points have the same direction and are one cluster");
        return;
    }
    if (r->weak && t->tuned->level_count == 0) {
        snprintf(text, room,
                 "nothing stands out: one von Mises-Fisher distribution explains the points better than any clusters; "
                 "this angle is only the least bad one");
        return;
    }
    if (r->weak)
        used = snprintf(text, room, "nothing stands out: ");
    if (isfinite(r->first) && t->present > r->points) /* all rows may have another number */
        used += snprintf(text + used, room - (size_t)used,
                         "every angle from %g to %g degrees finds the same number of clusters", r->last, r->first);
    else if (isfinite(r->first))
        used += snprintf(text + used, room - (size_t)used, "every angle from %g to %g degrees finds %zu clusters",
                         r->last, r->first, r->clusters);
    else
        used += snprintf(text + used, room - (size_t)used,
                         "the number of clusters changes with every angle, and %zu is the best level of the tree of "
                         "joins from %g degrees",
                         r->merge_count, r->leaf_angle);
    used += snprintf(text + used, room - (size_t)used, ", silhouette %.2f%s, %.2f %s what %s gives", r->silhouette,
                     t->present > r->points ? " in the sample" : "", fabs(r->excess), r->excess < 0 ? "below" : "above",
                     ast_null_name(t->highest));
    if (r->weak && is_sparse(t))
        snprintf(text + used, room - (size_t)used,
                 "; two halves of the documents agree to %.2f, and below %g that may be chance", r->stability,
                 AST_TUNE_STABLE);
    else if (r->weak && r->excess > 0)
        snprintf(text + used, room - (size_t)used, "; below 0.05 that may be chance");
}

/* The silhouette of the labels of all points, after the map of the run. */
static ast_status describe_silhouette(ast_tuning *t, const ast_metric *metric, const int32_t *labels, size_t clusters,
                                      double *silhouette) {
    const ast_points *points = t->points;
    if (!metric)
        return ast_tune_silhouette(t, points, labels, clusters, silhouette);
    float *rows = ast_allocate(points->count * points->dimension, sizeof *rows);
    ast_status status = rows ? ast_metric_map(t->context, points, metric, rows) : ast_fail_memory(t->fault);
    ast_points mapped = ast_points_f4(rows, points->count, points->dimension);
    mapped.weights = points->weights;
    if (status == AST_OK)
        status = ast_tune_silhouette(t, &mapped, labels, clusters, silhouette);
    ast_free(rows);
    return status;
}

/* Runs the recommended options on all points, and describes the result. labels: (N) */
static ast_status describe(ast_tuning *t, int32_t *labels) {
    ast_tune_report *r = t->report;
    ast_report report = {.size = sizeof report};
    ast_options options = ast_tune_run_options(t, r->angle);
    options.seed = t->options->seed;
    options.merge.by = r->merge;
    options.merge.count = r->merge_count;
    options.metric = r->metric;
    ast_status status = ast_tune_run(t, t->points, &options, labels, &report);
    if (status == AST_OK)
        status = describe_silhouette(t, report.metric, labels, report.clusters, &r->silhouette);
    r->clusters = report.clusters;
    return status;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

static const char *problem_of(const ast_tune_options *o) {
    return ast_problem_of({!(o->from >= 0 && o->from <= 180) || !(o->to >= 0 && o->to <= 180),
                           "from and to must be between 0 and 180 degrees"},
                          {o->to > o->from, "to is above from; the sweep goes from large angles to small ones"},
                          {!(o->step > 0) || (o->from - o->to) / o->step >= MOST_ANGLES,
                           "step must be above 0, and large enough for at most 20000 angles"},
                          {o->max_clusters == 1, "max_clusters must be at least 2, or 0 for no limit"},
                          {o->min_clusters < 2, "min_clusters must be at least 2"},
                          {o->max_clusters && o->min_clusters > o->max_clusters, "min_clusters is above max_clusters"},
                          {(unsigned)o->metric > AST_METRIC_AUTO, "metric must be a value of ast_metric_kind"},
                          {o->metric == AST_METRIC_LOCAL && o->axial, "axial rows have no local metric"},
                          {o->draws < 1, "draws must be at least 1"},
                          {o->rounding < 0 || o->rounding > 45, "rounding must be between 0 and 45 degrees, or NaN"});
}

static ast_status check(ast_tuning *t) {
    ast_status status = ast_check_struct(t->options, sizeof *t->options, "options", t->fault);
    if (status == AST_OK)
        status = ast_check_struct(t->report, sizeof *t->report, "report", t->fault);
    if (status == AST_OK)
        status = ast_check_points(t->points, t->fault);
    if (status != AST_OK)
        return status;
    if (problem_of(t->options))
        return ast_fail(t->fault, AST_BAD_OPTION, "%s", problem_of(t->options));
    if (t->context->comm)
        return ast_fail(t->fault, AST_BAD_OPTION, "ast_tune works on one rank, which has all points");
    if (t->points->starts && t->options->axial)
        return ast_refuse_sparse(t->points, "axial clustering", t->fault);
    if (t->options->center && t->options->axial)
        return ast_fail(t->fault, AST_BAD_OPTION, "axial rows cannot be centred: x and -x would differ");
    if (t->options->metric == AST_METRIC_LOCAL && t->points->starts)
        return ast_refuse_sparse(t->points, "the local metric", t->fault);
    if (t->options->center && t->points->starts)
        return ast_refuse_sparse(t->points, "centring", t->fault);
    if (t->points->dimension > AST_TUNE_MAX_COLUMNS)
        return ast_fail(t->fault, AST_BAD_DATA,
                        "the points have %zu columns; ast_tune takes at most %d, since it compares with dense draws",
                        t->points->dimension, AST_TUNE_MAX_COLUMNS);
    return AST_OK;
}

static ast_status tune(ast_tuning *t) {
    const ast_tune_options *o = t->options;
    ast_tune_report *r = t->report;
    t->tuned->angles_planned = (size_t)floor((o->from - o->to) / o->step + 1e-9) + 1;
    t->planned = 10 * (t->tuned->angles_planned + 1);
    ast_status status = ast_tune_open_sample(t);
    if (status == AST_OK)
        status =
            ast_rounding_find(&t->sample.points, o->axial != 0, o->rounding, t->context->pool, &t->rounding, t->fault);
    if (status == AST_OK)
        status = ast_tune_open_metric(t);
    if (status == AST_OK && r->metric == AST_METRIC_LOCAL)
        status = settle_metric(t);
    if (status == AST_OK)
        status = look_at_sample(t, o->draws, true);
    if (status == AST_OK)
        status = run_sweep(t);
    if (status == AST_OK)
        status = recommend(t);
    if (status == AST_OK)
        explain(t);
    return status;
}

/* The inner context works on the caller's threads. */
static ast_status open_inner(ast_tuning *t) {
    const ast_context *context = t->context;
    t->inner = ast_allocate_zero(1, sizeof *t->inner);
    t->tuned = ast_allocate_zero(1, sizeof *t->tuned);
    if (t->inner)
        t->inner->labelling = ast_labelling_new();
    if (!t->inner || !t->tuned || !t->inner->labelling)
        return ast_fail_memory(t->fault);
    t->inner->pool = context->pool;
    t->inner->kernels = context->kernels;
    t->inner->cells_from = context->cells_from;
    t->inner->heads = context->heads;
    t->inner->cancel = context->cancel;
    t->inner->cancel_data = context->cancel_data;
    return AST_OK;
}

static void close_inner(ast_context *inner) {
    if (inner) {
        ast_labelling_free(inner->labelling);
        ast_result_free(&inner->last);
    }
    ast_free(inner);
}

void ast_tuned_free(ast_tuned *tuned) {
    if (tuned)
        ast_free_all(tuned->angles, tuned->levels, tuned->nulls, tuned);
}

/* The described run becomes the last result of the caller's context, and the tables its tables. */
static void hand_over(ast_tuning *t, ast_tune_report *report) {
    ast_context *context = t->context;
    if (t->options->describe)
        ast_keep_result(context, &t->inner->last);
    ast_tuned_free(context->tuned);
    context->tuned = t->tuned;
    t->tuned = NULL;
    t->report->reason = context->tuned->reason;
    *report = *t->report;
}

ast_status ast_tune(ast_context *context, const ast_points *points, const ast_tune_options *options, int32_t *labels,
                    ast_tune_report *report) {
    if (!ast_enter(context))
        return AST_BAD_OPTION;
    ast_tuning t = {
        .context = context, .fault = &context->fault, .points = points, .options = options, .report = report};
    ast_tune_report own = {.size = sizeof own, .excess = NAN, .stability = NAN, .first = NAN, .last = NAN};
    ast_status status = check(&t);
    ast_transformed_rows centred = {0};
    t.report = &own;
    if (status == AST_OK && options->center) {
        status = ast_center_points(context, points, points->count, &centred);
        t.points = &centred.points;
    }
    if (status == AST_OK)
        status = open_inner(&t);
    if (status == AST_OK)
        status = tune(&t);
    int32_t *found = status == AST_OK && options->describe ? ast_allocate(points->count, sizeof *found) : NULL;
    if (status == AST_OK && options->describe)
        status = found ? describe(&t, found) : ast_fail_memory(t.fault);
    if (status == AST_OK)
        hand_over(&t, report);
    if (status == AST_OK && found && labels)
        memcpy(labels, found, points->count * sizeof *labels);
    ast_free(found);
    ast_tune_set_free(&t.sample);
    ast_tune_sparse_rows_free(&t.entries);
    ast_tune_close_metric(&t);
    ast_tuned_free(t.tuned);
    close_inner(t.inner);
    ast_transformed_rows_free(&centred);
    return ast_leave(context, status);
}

const ast_tune_angle *ast_tune_angle_records(const ast_context *context, size_t record, size_t *count) {
    const ast_tuned *tuned = context && context->tuned ? context->tuned : &(const ast_tuned){0};
    return ast_records_of_size(tuned->angles, tuned->angle_count, sizeof *tuned->angles, record, count);
}

const ast_tune_level *ast_tune_level_records(const ast_context *context, size_t record, size_t *count) {
    const ast_tuned *tuned = context && context->tuned ? context->tuned : &(const ast_tuned){0};
    return ast_records_of_size(tuned->levels, tuned->level_count, sizeof *tuned->levels, record, count);
}
