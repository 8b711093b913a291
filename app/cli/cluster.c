/* SPDX-License-Identifier: MIT
 *
 * asterism cluster: points in, clusters out. The work is read, open, cluster, deliver, in this order. */
#include <asterism.h>
#include <formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "cluster.h"
#include "depth_missing.h"
#include "interrupt.h"
#include "pages.h"
#include "ranks.h"
#include "terminal.h"

typedef ast_cli_cluster_settings settings;
typedef ast_cli_cluster_job job;

static int read_inputs(job *work);
static int open_targets(job *work);
static int find_angle(job *work);
static int cluster(job *work);
static void free_job(job *work);

static int run_once(const settings *given);
static int run_each(const settings *given);

int ast_cli_cluster_run(int argc, char **argv) {
    settings given = {0};
    char *line = NULL;
    int code = ast_cli_cluster_plan(&given, argc, argv);
    if (code < 0) {
        given.line = line = given.report ? ast_cli_command_line(&ast_cli_cluster, argc, argv) : NULL;
        code = ast_cli_camera_every(&given.reading.camera) ? run_each(&given) : run_once(&given);
    }
    free(line);
    ast_cli_reading_free(&given.reading);
    return code;
}

/* The state is a file of its own. */
static int check_state(const job *work) {
    const settings *given = work->given;
    const char *read[] = {given->input, given->weights, given->names,
                          ast_cli_names_start(given->init) ? NULL : given->init};
    ast_cli_target names[AST_CLI_TARGETS + 1] = {[AST_CLI_TARGETS] = {.option = "state", .path = given->state}};
    memcpy(names, work->targets, sizeof work->targets);
    for (size_t i = 0; i <= AST_CLI_TARGETS; i++)
        names[i].own = true;
    int code = given->state ? ast_cli_check_targets(names, AST_CLI_TARGETS + 1, given->input, 0) : -1;
    for (size_t i = 0; given->state && i < sizeof read / sizeof *read && code < 0; i++)
        code = ast_cli_check_kept(&names[AST_CLI_TARGETS], 1, read[i]);
    if (given->state && code < 0)
        code = ast_cli_reading_kept(&given->reading, &names[AST_CLI_TARGETS], 1);
    return code;
}

static int run_once(const settings *given) {
    job work = {.given = given,
                .options = given->options,
                .targets = {[AST_CLI_LABELS] = {.option = "labels", .path = given->labels},
                            [AST_CLI_MEANS] = {.option = "means", .path = given->means, .table = true},
                            [AST_CLI_MEMBERSHIPS] = {.option = "memberships", .path = given->memberships},
                            [AST_CLI_SAMPLES] = {.option = "samples", .path = given->samples},
                            [AST_CLI_TRACE] = {.option = "trace", .path = given->trace, .own = true},
                            [AST_CLI_COLORED] = {.option = "colored", .path = given->colored, .own = true},
                            [AST_CLI_TREE] = {.option = "tree", .path = given->tree, .extension = ".json", .own = true},
                            [AST_CLI_LEAVES] = {.option = "leaf-labels", .path = given->leaf_labels},
                            [AST_CLI_CENTER] = {.option = "center-file", .path = given->center_file},
                            [AST_CLI_PLANES] = {.option = "planes", .path = given->planes, .own = true},
                            [AST_CLI_OUTLINES] = {.option = "plane-outlines", .path = given->outlines, .own = true},
                            [AST_CLI_REPORT] = {.option = "report", .path = given->report, .own = true}}};
    int code = ast_cli_check_targets(work.targets, AST_CLI_TARGETS, given->input, given->common.json);
    if (code < 0)
        code = ast_cli_reading_kept(&given->reading, work.targets, AST_CLI_TARGETS);
    if (code < 0)
        code = ast_cli_check_kept(work.targets, AST_CLI_TARGETS, given->weights);
    if (code < 0)
        code = ast_cli_check_kept(work.targets, AST_CLI_TARGETS, given->names);
    if (code < 0)
        code = check_state(&work);
    if (code < 0)
        code = read_inputs(&work);
    code = ast_cli_agree(code);
    if (code < 0)
        code = ast_cli_agree(ast_cli_cluster_slice(&work));
    if (code < 0)
        code = open_targets(&work);
    if (code < 0 && isinf(given->options.angle))
        code = find_angle(&work);
    if (code < 0 && given->state)
        code = ast_cli_checkpoint_open(&work.state, given->state);
    if (code < 0)
        code = work.directions.in_parts ? ast_cli_larger_run(&work) : ast_cli_agree(cluster(&work));
    if (code < 0)
        code = ast_cli_cluster_deliver(&work);
    free_job(&work);
    return code;
}

/* Every scene of a data set by itself, and its number in the names of the files it writes. */
static int run_each(const settings *given) {
    ast_frame_list *all = given->reading.list, scene = *all;
    int code = -1;
    scene.count = 1;
    for (size_t i = 0; i < all->count && code <= 0; i++, scene.files++) {
        settings one = *given;
        const char **names[] = {&one.labels, &one.means, &one.memberships, &one.samples, &one.trace, &one.report};
        enum { NAMES = sizeof names / sizeof *names };
        one.reading.list = &scene;
        code = ast_cli_numbered(names, NAMES, i);
        if (code < 0)
            code = run_once(&one);
        for (size_t n = 0; n < NAMES; n++)
            free((void *)*names[n]);
    }
    all->nyu = scene.nyu; /* which the runs have passed on */
    return code;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

/* What a point takes in a run in memory, besides its row: its label here and there, bounds, weights; and small ones are
 * copied. */
#define POINT_BYTES 26
#define WEIGHT_BYTES 16
#define COLUMN_BYTES 4
#define CENTRED_BYTES 4 /* centred rows are a copy */

/* The start that --init names. */
static int read_start(job *work) {
    const settings *given = work->given;
    ast_options *options = &work->options;
    if (!given->init || strcmp(given->init, "k-means++") == 0)
        return -1;
    if (strcmp(given->init, "random") == 0) {
        options->start.by = AST_RANDOM;
        return -1;
    }
    int code = ast_cli_read_means(given->init, work->points.dimension, &work->init, &options->start.means_count);
    if (code >= 0)
        return code;
    if (given->options.clusters && given->options.clusters != options->start.means_count)
        return ast_cli_fail(AST_CLI_FAILED, "--clusters is %zu, but %s has %zu means", given->options.clusters,
                            given->init, options->start.means_count);
    options->start.by = AST_GIVEN;
    options->start.means = work->init;
    return -1;
}

/* The one direction of --prior-mean. */
static int read_prior(job *work) {
    const char *path = work->given->prior_mean;
    size_t rows;
    if (!path)
        return -1;
    int code = ast_cli_read_means(path, work->points.dimension, &work->prior_mean, &rows);
    if (code < 0 && rows != 1)
        return ast_cli_fail(AST_CLI_FAILED, "%s has %zu directions; --prior-mean is one", path, rows);
    work->options.sampler.prior_mean = work->prior_mean;
    return code;
}

/* Faces count by their area, unless other weights are given or the method counts every point once. */
static int read_points(job *work) {
    const settings *given = work->given;
    ast_cli_budget budget = {given->memory, POINT_BYTES + (given->weights ? WEIGHT_BYTES : 0),
                             COLUMN_BYTES + (given->options.center ? CENTRED_BYTES : 0)};
    int code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0)
        code = ast_cli_directions_read(&work->directions, &given->reading, &given->common, given->input, work->context,
                                       ast_cli_ranks() ? NULL : &budget);
    if (code < 0 && work->directions.in_parts)
        code = ast_cli_larger_check(work);
    work->points = work->directions.points;
    if (given->options.center) /* rows without their mean have another one */
        work->points.late = NULL;
    if (given->options.method == AST_FSD || given->options.method == AST_CRP)
        work->points.weights = NULL;
    if (code < 0 && given->frame_axes && work->points.dimension != 3)
        code = ast_cli_fail(AST_CLI_FAILED, "--frame-axes is for three dimensions, and %s has %zu",
                            ast_cli_name(given->input), work->points.dimension);
    return code;
}

static int read_inputs(job *work) {
    const settings *given = work->given;
    int code = read_points(work);
    if (code >= 0)
        return code;
    size_t count = work->directions.all, own = work->points.count;
    if (given->options.clusters > count)
        return ast_cli_fail(AST_CLI_FAILED, "--clusters %zu is more than the %zu points of %s", given->options.clusters,
                            count, ast_cli_name(given->input));
    if (given->weights) {
        code = ast_cli_read_weights(given->weights, given->input, count, &work->weights);
        work->points.weights = work->weights;
    }
    if (code < 0 && given->names)
        code = ast_cli_read_names(given->names, given->input, count, &work->names);
    if (code < 0)
        code = read_start(work);
    if (code < 0)
        code = read_prior(work);
    if (code < 0 && work->directions.in_parts)
        return ast_cli_larger_plan(work);
    if (code < 0) {
        work->labels = malloc((own + 1) * sizeof *work->labels);
        work->leaves = given->tree ? malloc((own + 1) * sizeof *work->leaves) : NULL;
        if (!work->labels || (given->tree && !work->leaves))
            code = ast_cli_fail(AST_CLI_FAILED, "there is no memory for %zu labels", own);
    }
    return code;
}

/* Where there are several ranks one of them writes, and shows how far all are. */
static int open_targets(job *work) {
    const settings *given = work->given;
    ast_method method = work->options.method;
    ast_cli_progress_start(&work->progress, &given->common, work->all);
    work->progress.runs = (size_t)given->options.restarts;
    if (method == AST_FSD || method == AST_CRP || method == AST_OSPKM || method == AST_MBSPKM)
        work->progress.passes = (size_t)given->options.max_iterations;
    work->record = (ast_cli_record){.progress = &work->progress,
                                    .points = work->points.count,
                                    .passes_wanted = given->trace != NULL,
                                    .samples_wanted = given->samples != NULL};
    work->options.merge.leaves = work->leaves;
    work->options.progress = ast_cli_record_step;
    work->options.progress_data = &work->record;
    if (ast_cli_speaks())
        return ast_cli_agree(ast_cli_open_targets(work->targets, AST_CLI_TARGETS));
    work->progress.show = 0;
    ast_cli_watch_signals();
    return ast_cli_agree(-1);
}

/* The options that tune recommends. A merge that was typed stands. */
static int find_angle(job *work) {
    const settings *given = work->given;
    ast_tune_options options;
    ast_tune_options_init(&options);
    options.axial = given->options.axial;
    options.center = given->options.center;
    options.describe = 0;
    ast_cli_tuned_input from = {work->context, &work->directions, &work->points, given->input};
    int code = ast_cli_recommend(&from, &options, &given->common, &work->tuned);
    if (code >= 0)
        return code;
    if (work->tuned.weak && !given->common.quiet)
        ast_cli_fail(0, "warning: %s", work->tuned.reason);
    work->options.angle = work->tuned.angle;
    work->options.dp.order = AST_ORDER_CONTENT;
    if (work->options.merge.by == AST_MERGE_NONE && !given->merge_text) {
        work->options.merge.by = work->tuned.merge;
        work->options.merge.count = work->tuned.merge_count;
    }
    return -1;
}

/* The run is kept in a file, and goes on from it. */
static void keep_state(job *work) {
    work->state.durable = work->given->durable;
    work->state.context = work->context;
    ast_set_cancel(work->context, ast_cli_checkpoint_cancel, &work->state);
    work->state.record = &work->record;
    work->state.restarts = (size_t)work->given->options.restarts;
    work->options.resume = ast_cli_checkpoint_found(&work->state);
    work->options.progress = ast_cli_checkpoint_step;
    work->options.progress_data = &work->state;
}

/* Where mbspkm starts by itself, as asterism.h says: k-means++ among as many points as a batch has, or 10 a cluster. */
static size_t start_points(const ast_options *o) {
    size_t each = 10 * o->clusters, batch = o->minibatch.points ? o->minibatch.points : each > 1024 ? each : 1024;
    return batch > each ? batch : each;
}

/* Mini-batches become full iterations with the usual limit, a sample all points. */
static ast_options full_options(const job *work) {
    ast_options full = work->options, usual;
    ast_options_init(&usual);
    full.dp.sample = full.minibatch.points = 0;
    if (full.method == AST_MBSPKM) {
        full.method = AST_SPKM;
        full.max_iterations = usual.max_iterations;
        full.start.points = full.start.by == AST_PLUSPLUS ? start_points(&work->options) : 0;
    }
    return full;
}

/* With --compare: the run over all points all the time, from the same start. The labels are of no use after it. */
static int compare(job *work) {
    ast_options full = full_options(work);
    full.progress = ast_cli_progress_step;
    full.progress_data = &work->progress;
    work->full.size = sizeof work->full;
    ast_status status = ast_cluster(work->context, &work->points, &full, work->labels, &work->full);
    if (status != AST_OK)
        ast_cli_progress_end(&work->progress);
    return ast_cli_status(status, work->context, work->given->input);
}

int ast_cli_cluster_nothing(const settings *given) {
    if (given->options.center)
        return ast_cli_fail(AST_CLI_FAILED,
                            "%s: nothing is left after --center: every row is missing or equals the mean",
                            ast_cli_name(given->input));
    return ast_cli_no_usable_row(given->input);
}

static int cluster(job *work) {
    const settings *given = work->given;
    int code = given->compare ? compare(work) : -1;
    if (code >= 0)
        return code;
    if (given->state)
        keep_state(work);
    work->report.size = sizeof work->report;
    ast_status status = ast_cluster(work->context, &work->points, &work->options, work->labels, &work->report);
    ast_cli_progress_end(&work->progress);
    if (work->record.failed)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory to keep the %s", given->samples ? "samples" : "trace");
    if (status == AST_OK && ast_cli_interrupted())
        status = AST_CANCELLED;
    code = given->state ? ast_cli_checkpoint_verdict(&work->state, status) : -1;
    if (code >= 0)
        return code;
    if (status == AST_OK && work->report.missing == work->report.points)
        return ast_cli_cluster_nothing(given);
    if (status == AST_OK)
        ast_cli_missing_note(&work->directions.depth, work->report.missing + work->report.outliers,
                             work->options.angle);
    return ast_cli_directions_status(&work->directions, status, work->context, given->input);
}

static void free_job(job *work) {
    ast_cli_abandon_targets(work->targets, AST_CLI_TARGETS);
    ast_cli_checkpoint_close(&work->state);
    ast_plane_map_close(work->planes);
    ast_cli_directions_close(&work->directions);
    ast_close(work->context);
    free(work->nearest);
    free(work->plane_of);
    free(work->weights);
    free(work->init);
    free(work->labels);
    free(work->leaves);
    free(work->prior_mean);
    free(work->memberships);
    ast_names_free(&work->names);
    ast_cli_record_free(&work->record);
    ast_scratch_close(&work->parts.scratch);
    free(work->title);
}
