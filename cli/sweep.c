/* SPDX-License-Identifier: MIT
 *
 * Every angle is run twice, from nothing and from the means of the next larger angle, and the better objective is kept:
 * the first knows nothing of the past, the second changes only what the smaller angle asks for. From large to small,
 * since means that are too many never merge, while points that are too far open new clusters. */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files.h"
#include "interrupt.h"
#include "progress.h"
#include "terminal.h"

enum { MOST_POINTS = 1000000, MOST_PASSES = 50 };

/* Silhouettes closer than this are the same to the eye; then the wider range of angles decides. */
#define ALIKE 0.01

#define AT(field) offsetof(ast_cli_angles, field)
static const ast_cli_option options_table[] = {
    {"from", AST_CLI_REAL, "DEG", "the largest angle", AT(from), 0, 180, .standard = "120",
     .manual = "The largest angle (default 120)."},
    {"to", AST_CLI_REAL, "DEG", "the smallest angle", AT(to), 0, 180, .standard = "5",
     .manual = "The smallest one (default 5)."},
    {"step", AST_CLI_REAL, "DEG", "from one angle to the next", AT(step), 0.01, 180, .standard = "2.5",
     .manual = "From one to the next (default 2.5)."},
    {"max-clusters", AST_CLI_COUNT, "K", "end before the first angle with more clusters", AT(max_clusters), 2,
     2147483647, .standard = "500",
     .manual = "The sweep ends before the first angle with more clusters (default 500)."},
    {0}};
const ast_cli_group ast_cli_angles_group = {.title = "Options", .options = options_table};

typedef struct job {
    ast_cli_sweep *sweep;
    ast_context *context;
    ast_points points;
    const char *input;
    const ast_cli_angles *angles;
    ast_cli_progress progress;
    uint64_t seed;
    int32_t *labels, *other, *last; /* (N): of this angle, of its second start, of the angle before */
    int too_many;
} job;

static int prepare(job *work);
static int ended(const job *work);
static int sweep_angle(job *work, double angle);
static void choose(ast_cli_sweep *sweep);
static void explain(ast_cli_sweep *sweep);

int ast_cli_sweep_run(ast_cli_sweep *sweep, ast_context *context, const ast_points *points, const char *input,
                      const ast_cli_angles *angles, const ast_cli_common *common) {
    job work = {
        .sweep = sweep, .context = context, .points = *points, .input = input, .angles = angles, .seed = common->seed};
    int code = prepare(&work);
    ast_cli_progress_start(&work.progress, common, sweep->points);
    for (size_t i = 0; i < sweep->planned && code < 0 && !ended(&work); i++) {
        ast_cli_progress_left(&work.progress, i, sweep->planned, "angles");
        code = sweep_angle(&work, angles->from - (double)i * angles->step);
    }
    ast_cli_progress_end(&work.progress);
    sweep->cut = work.too_many && !ast_cli_interrupted();
    if (code < 0 && sweep->count < sweep->planned && ast_cli_interrupted())
        code = sweep->count ? -1 : ast_cli_stopped();
    if (code < 0 && sweep->count < sweep->planned)
        sweep->stopped = ast_cli_take_signal();
    free(work.labels);
    free(work.other);
    free(work.last);
    if (code < 0) {
        choose(sweep);
        explain(sweep);
    }
    return code;
}

void ast_cli_sweep_free(ast_cli_sweep *sweep) {
    for (size_t i = 0; i < sweep->count; i++)
        free(sweep->rows[i].means);
    free(sweep->rows);
    *sweep = (ast_cli_sweep){0};
}

/* ---- Angles ------------------------------------------------------------------------------------------------------ */

/* Every so-manieth of very many points: a view, nothing is copied. Weights and sparse rows do not bend that way: then
 * all are used. */
static void thin_out(ast_points *points) {
    size_t step = points->weights || points->starts ? 1 : (points->count + MOST_POINTS - 1) / MOST_POINTS;
    if (step < 2)
        return;
    points->row_stride *= (ptrdiff_t)step;
    points->count = (points->count + step - 1) / step;
}

static int prepare(job *work) {
    ast_cli_sweep *sweep = work->sweep;
    const ast_cli_angles *angles = work->angles;
    thin_out(&work->points);
    size_t count = work->points.count;
    sweep->points = count;
    sweep->dimension = work->points.dimension;
    sweep->planned = (size_t)floor((angles->from - angles->to) / angles->step + 1e-9) + 1;
    sweep->rows = calloc(sweep->planned, sizeof *sweep->rows);
    work->labels = malloc((count + 1) * sizeof *work->labels);
    work->other = malloc((count + 1) * sizeof *work->other);
    work->last = malloc((count + 1) * sizeof *work->last);
    if (!sweep->rows || !work->labels || !work->other || !work->last)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the labels of %zu points", count);
    return -1;
}

static int watch(const ast_progress *state, void *data) {
    job *work = data;
    work->too_many = state->clusters > work->angles->max_clusters;
    return work->too_many || ast_cli_interrupted();
}

/* Whether this angle does not count, and none after it. */
static int ended(const job *work) {
    return work->too_many || ast_cli_interrupted();
}

/* One run into `labels`; from the means of `start` if that is not NULL. */
static int cluster(job *work, double angle, const ast_cli_swept *start, int32_t *labels, ast_report *report) {
    ast_options options;
    ast_options_init(&options);
    options.angle = angle;
    options.axial = work->angles->axial;
    options.max_iterations = MOST_PASSES;
    options.progress = watch;
    options.progress_data = work;
    if (start) {
        options.start = AST_GIVEN;
        options.means = start->means;
        options.means_count = start->clusters;
    }
    ast_status status = ast_cluster(work->context, &work->points, &options, labels, report);
    if (status == AST_CANCELLED)
        return -1; /* and it has ended */
    if (status == AST_OK && report->missing == report->points)
        return ast_cli_no_usable_row(work->input);
    return ast_cli_status(status, work->context, work->input);
}

/* The means of the last run stay with the row, or none if it is not to be kept. */
static int keep(job *work, const ast_report *report, ast_cli_swept *row) {
    size_t size = report->clusters * report->dimension * sizeof *row->means;
    float *means = realloc(row->means, size ? size : 1);
    if (!means)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for %zu means", report->clusters);
    memcpy(means, ast_means(work->context), size);
    row->means = means;
    row->clusters = report->clusters;
    row->objective = report->objective;
    return -1;
}

static int measure(job *work, ast_cli_swept *row) {
    ast_agreement agreement = {.size = sizeof agreement};
    size_t sampled;
    int code;
    ast_dissimilarity kind = work->angles->axial ? AST_AXIAL_COSINE : AST_COSINE;
    row->silhouette = row->stability = NAN;
    ast_status status = AST_OK;
    if (row->clusters > 1)
        status =
            ast_silhouette(work->context, &work->points, work->labels, kind, work->seed, &row->silhouette, &sampled);
    if (status == AST_CANCELLED)
        return -1; /* and it has ended */
    code = ast_cli_status(status, work->context, work->input);
    if (code < 0 && work->sweep->count > 0) {
        code = ast_cli_status(ast_compare(work->context, work->labels, work->last, work->points.count, &agreement),
                              work->context, work->input);
        row->stability = agreement.nmi;
    }
    return code;
}

static void swap(int32_t **a, int32_t **b) {
    int32_t *c = *a;
    *a = *b;
    *b = c;
}

static int drop(ast_cli_swept *row, int code) {
    free(row->means);
    row->means = NULL;
    return code;
}

static int sweep_angle(job *work, double angle) {
    ast_cli_sweep *sweep = work->sweep;
    ast_cli_swept *row = &sweep->rows[sweep->count], *before = sweep->count ? row - 1 : NULL;
    ast_report cold = {.size = sizeof cold}, warm = {.size = sizeof warm};
    row->angle = angle;
    int code = cluster(work, angle, NULL, work->labels, &cold);
    if (code < 0 && !ended(work))
        code = keep(work, &cold, row);
    if (code < 0 && !ended(work) && before)
        code = cluster(work, angle, before, work->other, &warm);
    if (code >= 0 || ended(work))
        return drop(row, code);
    if (before && warm.objective > cold.objective) {
        row->warm = 1;
        code = keep(work, &warm, row);
        swap(&work->labels, &work->other);
    }
    if (code < 0)
        code = measure(work, row);
    swap(&work->labels, &work->last);
    if (isnan(row->silhouette) && row->clusters > 1 && ended(work))
        return drop(row, code);
    sweep->count++;
    return code;
}

/* ---- The choice -------------------------------------------------------------------------------------------------- */

static int as_good(const ast_cli_sweep *sweep, size_t i) {
    return sweep->rows[i].silhouette >= sweep->highest - ALIKE;
}

/* The end of the run of rows from `first` on that have as many clusters and are as good. */
static size_t run_end(const ast_cli_sweep *sweep, size_t first) {
    size_t end = first;
    while (end < sweep->count && as_good(sweep, end) && sweep->rows[end].clusters == sweep->rows[first].clusters)
        end++;
    return end;
}

/* Among the runs whose silhouettes are the highest, the widest one, and its middle; the first, largest, of equals. */
static void choose(ast_cli_sweep *sweep) {
    sweep->highest = -INFINITY;
    sweep->best = sweep->count;
    for (size_t i = 0; i < sweep->count; i++)
        sweep->highest = fmax(sweep->highest, sweep->rows[i].silhouette); /* fmax passes over NaN */
    size_t widest = 0;
    for (size_t i = 0; i < sweep->count;) {
        size_t end = run_end(sweep, i);
        if (end - i > widest) {
            widest = end - i;
            sweep->first = i;
            sweep->last = end - 1;
            sweep->best = (i + end - 1) / 2;
        }
        i = end > i ? end : i + 1;
    }
}

static void explain(ast_cli_sweep *sweep) {
    char *text = sweep->reason;
    size_t room = sizeof sweep->reason;
    if (sweep->best == sweep->count) {
        snprintf(text, room, "no angle of the sweep finds more than one cluster");
        return;
    }
    const ast_cli_swept *best = &sweep->rows[sweep->best];
    int used;
    if (sweep->first == sweep->last)
        used = snprintf(text, room, "%zu clusters with silhouette %.2f, the highest%s; no neighbouring angle agrees",
                        best->clusters, best->silhouette, best->silhouette < sweep->highest ? " but for 0.01" : "");
    else
        used = snprintf(
            text, room, "every angle from %g to %g degrees finds %zu clusters, silhouette %.2f, the highest of all",
            sweep->rows[sweep->last].angle, sweep->rows[sweep->first].angle, best->clusters, best->silhouette);
    const char *doubt = sweep->highest < AST_CLI_WEAK ? "; but below 0.25 nothing is well separated: take the angle "
                                                        "from what the data mean"
                        : best->clusters == 2         ? "; two clusters may be no more than the two halves of one"
                                                      : "";
    snprintf(text + used, room - (size_t)used, "%s", doubt);
}
