/* SPDX-License-Identifier: MIT
 *
 * asterism cluster: points in, clusters out. The points are in memory or, if they have no room there, read from their
 * file in parts. The steps of a run are listed at the end. `given` is what was typed, `work` what the run holds. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "field.h"
#include "interrupt.h"
#include "pages.h"
#include "ranks.h"
#include "terminal.h"

typedef ast_cli_cluster_settings settings;
typedef ast_cli_cluster_job job;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Bytes per point of a run in memory besides its row: two labels, bounds, weights. Rows of few components are
 * copied. */
#define POINT_BYTES 26
#define WEIGHT_BYTES 16
#define COLUMN_BYTES 4
#define CENTRED_BYTES 4 /* centred rows are a copy */
#define MAPPED_BYTES 12 /* mapped rows, and what the map is learned from */

/* The start that --init names. */
static int read_start(void *data) {
    job *work = data;
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
        return ast_cli_fail("--clusters is %zu, but %s has %zu means", given->options.clusters, given->init,
                            options->start.means_count);
    options->start.by = AST_GIVEN;
    options->start.means = work->init;
    return -1;
}

/* Whether the options allow that the input is read in parts. */
static int check_parts(const job *work) {
    char text[AST_CLI_BYTES];
    const char *what = ast_cli_blocked(&work->given->common, AST_CLI_IN_PARTS);
    if (!what && isinf(work->given->options.angle))
        what = "--angle auto";
    if (!what && work->given->options.dp.order != AST_ORDER_GIVEN)
        what = "--order";
    if (!work->directions.in_parts || !what)
        return -1;
    return ast_cli_fail("%s does not fit into the memory budget of %s, and %s needs all of it in memory; cluster some "
                        "of the rows and label the file with assign",
                        work->given->input, ast_cli_bytes((double)work->directions.allowed, text), what);
}

/* Faces count by their area, unless other weights are given or the method counts every point once. */
static int read_points(void *data) {
    job *work = data;
    const settings *given = work->given;
    ast_cli_budget budget = {given->memory, POINT_BYTES + (given->weights ? WEIGHT_BYTES : 0),
                             COLUMN_BYTES + (given->options.center ? CENTRED_BYTES : 0) +
                                 (given->options.metric ? MAPPED_BYTES : 0)};
    int code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0)
        code = ast_cli_directions_read(&work->directions, &given->reading, &given->common, given->input, work->context,
                                       ast_cli_ranks() ? NULL : &budget);
    if (code < 0)
        code = check_parts(work);
    work->points = work->directions.points;
    if (given->options.center) /* which rows are late was found before centring: none is then */
        work->points.late = NULL;
    if (given->options.method == AST_FSD || given->options.method == AST_CRP)
        work->points.weights = NULL;
    if (code < 0 && given->frame_axes && work->points.dimension != 3)
        code = ast_cli_fail("--frame-axes is for three dimensions, and %s has %zu", ast_cli_name(given->input),
                            work->points.dimension);
    return code;
}

static int read_groups(job *work) {
    const settings *given = work->given;
    size_t count;
    int code = ast_cli_read_labels(given->groups, &work->groups, &count);
    if (code < 0 && count != work->directions.all)
        return ast_cli_fail("%s has %zu groups, but %s has %zu points: it needs one whole number per point",
                            given->groups, count, ast_cli_name(given->input), work->directions.all);
    work->options.groups = work->groups;
    work->points.late = NULL;
    return code;
}

/* What belongs to each row: weights, groups, names and texts. */
static int read_rows(void *data) {
    job *work = data;
    const settings *given = work->given;
    size_t count = work->directions.all;
    int code = -1;
    if (given->options.clusters > count)
        return ast_cli_fail("--clusters %zu is more than the %zu points of %s", given->options.clusters, count,
                            ast_cli_name(given->input));
    if (given->weights) {
        code = ast_cli_read_weights(given->weights, given->input, count, &work->weights);
        work->points.weights = work->weights;
    }
    if (code < 0 && given->groups)
        code = read_groups(work);
    if (code < 0 && given->names)
        code = ast_cli_read_names(given->names, given->input, count, &work->names);
    return code < 0 ? ast_cli_topics_read(&work->topics, &given->topics, &work->points, given->reading.sparse.tf_idf,
                                          given->input)
                    : code;
}

/* Of an input that is read in parts, what the memory allows. Weights are in memory already. */
static int plan_parts(job *work) {
    ast_cli_parts *parts = &work->parts;
    ast_source *source = &work->directions.input.source;
    size_t held = work->weights ? work->points.count * sizeof *work->weights : 0, allowed = work->directions.allowed;
    char text[2][AST_CLI_BYTES];
    source->weights = work->points.weights;
    parts->memory = allowed > held ? allowed - held : 0;
    parts->plan.size = sizeof parts->plan;
    ast_status status = ast_plan_source(work->context, source, &work->options, parts->memory, &parts->plan);
    if (status == AST_NO_MEMORY)
        return ast_cli_fail("%s needs at least %s of memory, and the budget is %s", work->given->input,
                            ast_cli_bytes((double)(parts->plan.least + held), text[0]),
                            ast_cli_bytes((double)allowed, text[1]));
    parts->plan.memory += held;
    return ast_cli_status(status, work->context, work->given->input);
}

/* Memory for the labels, unless they go from part to part into their file. */
static int make_room(void *data) {
    job *work = data;
    size_t own = work->points.count;
    bool in_parts = work->directions.in_parts;
    work->labels = in_parts ? NULL : malloc((own + 1) * sizeof *work->labels);
    work->leaves = work->options.merge.tree ? malloc((own + 1) * sizeof *work->leaves) : NULL;
    if ((!in_parts && !work->labels) || (work->options.merge.tree && !work->leaves))
        return ast_cli_fail("there is no memory for %zu labels", own);
    work->options.merge.leaves = work->leaves;
    return in_parts ? plan_parts(work) : -1;
}

/* Which order the rows have where the user names none: up to GIVEN_DIMENSIONS that of the paper. In more dimensions the
 * result of that order differs much between permutations of the rows, and content order is the same for all. */
#define GIVEN_DIMENSIONS 8
static int choose_order(void *data) {
    job *work = data;
    const settings *given = work->given;
    int chosen = given->shuffle || ast_cli_typed(&given->common, "order") || isinf(given->options.angle);
    if (given->options.method != AST_DP || chosen || work->points.dimension <= GIVEN_DIMENSIONS)
        return -1;
    if (!work->directions.in_parts && !ast_cli_ranks())
        work->options.dp.order = AST_ORDER_CONTENT;
    else if (!given->common.quiet)
        ast_cli_say(
            "the rows are visited in the given order: content order, the default for %zu dimensions, needs all of "
            "them in the memory of one process",
            work->points.dimension);
    return -1;
}

static int choose_rounding(void *data) {
    job *work = data;
    const settings *given = work->given;
    work->options.rounding = ast_cli_field_rounding(&given->common, &given->reading.source, given->options.rounding,
                                                    work->points.dimension, given->options.method == AST_MOVMF);
    bool by_copies = work->options.merge.by == AST_MERGE_EVIDENCE || work->options.merge.by == AST_MERGE_COUNT;
    if (by_copies && isnan(work->options.rounding) && work->points.dimension <= 3 &&
        (work->directions.in_parts || ast_cli_ranks()))
        return ast_cli_agree(
            ast_cli_fail("whether the angles of %s were rounded is found with all rows in the memory of one "
                         "process: give --rounding in degrees, 0 for none",
                         ast_cli_name(given->input)));
    return -1;
}

/* Normals of a cloud are noisy, whether they were computed here or stored in the file: a run splits one direction into
 * several clusters, and converges slowly. So clusters whose means are nearer than this share of the angle are merged,
 * and the run may end before it converges. */
#define ONE_DIRECTION (2 / 3.0)
#define NOISY_PASSES 300

static int choose_merge(void *data) {
    job *work = data;
    const settings *given = work->given;
    static const char *const others[] = {"merge", "merge-to", "tree", "layers", "state", "previous", "init"};
    bool chosen = given->options.method != AST_DP || isinf(given->options.angle);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        chosen |= ast_cli_typed(&given->common, others[i]) != NULL;
    if (chosen || !work->directions.surface.normals || work->directions.surface.origin == AST_CLI_FROM_FACES)
        return -1;
    work->options.merge.by = AST_MERGE_ANGLE;
    work->options.merge.angle = ONE_DIRECTION * given->options.angle;
    if (!ast_cli_typed(&given->common, "max-iterations"))
        work->options.max_iterations = NOISY_PASSES;
    return -1;
}

/* All ranks stop here if one of them cannot read. */
static int read_inputs(void *work) {
    static ast_cli_step *const steps[] = {read_points, read_rows, read_start, ast_cli_cluster_read_previous,
                                          make_room,   NULL};
    return ast_cli_agree(ast_cli_steps(steps, work));
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* On several ranks the first one writes the files and shows the progress of all. */
static int open_targets(void *data) {
    job *work = data;
    const settings *given = work->given;
    ast_method method = work->options.method;
    ast_cli_progress_start(&work->progress, &given->common, work->all);
    work->progress.runs = (size_t)given->options.restarts;
    if (method == AST_FSD || method == AST_CRP || method == AST_OSPKM || method == AST_MBSPKM)
        work->progress.passes = (size_t)given->options.max_iterations;
    work->record = (ast_cli_record){.progress = &work->progress,
                                    .points = work->points.count,
                                    .passes_wanted = ast_cli_target_of(&given->common, "trace") != NULL,
                                    .samples_wanted = ast_cli_target_of(&given->common, "samples") != NULL};
    work->options.calibrate = ast_cli_target_of(&given->common, "model") != NULL;
    work->options.progress = ast_cli_record_step;
    work->options.progress_data = &work->record;
    if (ast_cli_is_first_rank())
        return ast_cli_agree(ast_cli_open_targets(&given->common));
    work->progress.show = 0;
    ast_cli_watch_signals();
    return ast_cli_agree(-1);
}

/* The metric for tune: what was typed. Rows that are centred or whose run is kept in a state are plain. */
static ast_metric_kind metric_to_tune(const settings *given) {
    if (given->metric == AST_CLI_METRIC_LOCAL)
        return AST_METRIC_LOCAL;
    bool plain = given->metric == AST_CLI_METRIC_PLAIN || given->options.center ||
                 ast_cli_target_of(&given->common, "state") != NULL;
    return plain ? AST_METRIC_PLAIN : AST_METRIC_AUTO;
}

/* Takes the options that tune recommends. A typed --merge-to is not replaced. A level that tune has chosen holds no
 * more clusters than the evidence supports, so that --merge evidence keeps it; where tune recommends an angle alone, it
 * merges. */
static int find_angle(void *data) {
    job *work = data;
    const settings *given = work->given;
    ast_tune_options options;
    if (!isinf(given->options.angle))
        return -1;
    ast_tune_options_init(&options);
    options.rounding = work->options.rounding;
    options.axial = given->options.axial;
    options.center = given->options.center;
    options.metric = metric_to_tune(given);
    options.describe = 0;
    ast_cli_tuned_input from = {work->context, &work->directions, &work->points, given->input, NULL};
    int code = ast_cli_recommend(&from, &options, &given->common, &work->tuned);
    if (code >= 0)
        return code;
    if (work->tuned.weak && !given->common.quiet)
        ast_cli_warn("%s", work->tuned.reason);
    work->options.angle = work->tuned.angle;
    work->options.dp.order = AST_ORDER_CONTENT;
    work->options.metric = work->tuned.metric;
    /* The angle is that of the clusters before they are merged. */
    work->options.merge.any_angle =
        given->merge_text || work->options.merge.by != AST_MERGE_NONE || work->tuned.merge != AST_MERGE_NONE;
    bool evidence = work->options.merge.by == AST_MERGE_EVIDENCE && work->tuned.merge == AST_MERGE_COUNT;
    if (evidence || (work->options.merge.by == AST_MERGE_NONE && !given->merge_text)) {
        work->options.merge.by = work->tuned.merge;
        work->options.merge.count = work->tuned.merge_count;
    }
    return -1;
}

/* With --state: the run is saved to a file, and resumes from it. */
static int keep_state(void *data) {
    job *work = data;
    const char *path = ast_cli_typed(&work->given->common, "state");
    int code = path ? ast_cli_checkpoint_open(&work->state, path) : -1;
    if (!path || code >= 0)
        return code;
    work->state.durable = work->given->durable;
    work->state.context = work->context;
    ast_set_cancel(work->context, ast_cli_checkpoint_cancel, &work->state);
    work->state.record = &work->record;
    work->state.restarts = (size_t)work->given->options.restarts;
    work->options.resume = work->state.opened ? &work->state.found : NULL;
    work->options.progress = ast_cli_checkpoint_step;
    work->options.progress_data = &work->state;
    return -1;
}

static void announce_parts(const job *work) {
    const ast_plan *plan = &work->parts.plan;
    char text[4][AST_CLI_BYTES], name[AST_CLI_SHOWN];
    if (work->given->common.quiet)
        return;
    fprintf(stderr, "%s is read in parts: memory budget %s, at most %s is used; a pass reads %s",
            ast_cli_shown(work->given->input, name), ast_cli_bytes((double)work->directions.allowed, text[0]),
            ast_cli_bytes((double)plan->memory, text[1]), ast_cli_bytes((double)plan->pass_bytes, text[2]));
    if (plan->label_bytes)
        fprintf(stderr, ", and reads and writes %s of labels", ast_cli_bytes((double)plan->label_bytes, text[3]));
    fprintf(stderr, "%s\n", plan->bounds ? " at most" : "");
}

/* Over points in memory or over the file. */
static int call_library(job *work, ast_status *status) {
    ast_label_store store;
    work->report.size = sizeof work->report;
    if (!work->directions.in_parts) {
        *status = ast_cluster(work->context, &work->points, &work->options, work->labels, &work->report);
        return -1;
    }
    announce_parts(work);
    int code = ast_cli_cluster_store(work, &store);
    if (code < 0)
        *status = ast_cluster_source(work->context, &work->directions.input.source, &work->options, work->parts.memory,
                                     &store, &work->report);
    return code;
}

static int no_row(const settings *given) {
    if (given->options.center)
        return ast_cli_fail("%s: nothing is left after --center: every row is missing or equals the mean",
                            ast_cli_name(given->input));
    return ast_cli_no_usable_row(given->input);
}

static int cluster(job *work) {
    const settings *given = work->given;
    ast_status status = AST_OK;
    int code = call_library(work, &status);
    ast_cli_progress_end(&work->progress);
    if (code >= 0)
        return code;
    if (work->record.failed)
        return ast_cli_fail("there is no memory to keep the %s", work->record.samples_wanted ? "samples" : "trace");
    if (status == AST_OK && ast_cli_interrupted())
        status = AST_CANCELLED;
    code = work->state.path ? ast_cli_checkpoint_verdict(&work->state, status) : -1;
    if (code >= 0)
        return code;
    if (status == AST_OK && work->report.missing == work->report.points)
        return no_row(given);
    if (status == AST_OK)
        ast_cli_missing_note(&work->directions.made, &work->directions.depth,
                             work->report.missing + work->report.outliers, work->options.angle);
    return ast_cli_cluster_store_status(work, status);
}

static int cluster_points(void *work) {
    return ast_cli_agree(cluster(work));
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static void free_job(job *work) {
    ast_cli_abandon_targets(&work->given->common);
    ast_cli_checkpoint_close(&work->state);
    ast_plane_map_close(work->planes);
    ast_model_close(work->previous_model);
    ast_cli_directions_close(&work->directions);
    ast_close(work->context);
    free(work->previous_means);
    free(work->previous_labels);
    free(work->ids);
    free(work->nearest);
    free(work->similarity);
    free(work->plane_of);
    free(work->weights);
    free(work->groups);
    free(work->init);
    free(work->labels);
    free(work->leaves);
    ast_layers_free(&work->layers);
    free(work->memberships);
    ast_names_free(&work->names);
    ast_cli_topics_free(&work->topics);
    free(work->keywords);
    ast_cli_record_free(&work->record);
    ast_scratch_close(&work->parts.scratch);
    free(work->title);
}

/* One input, from the names of its files to its result. */
static ast_cli_step *const steps[] = {
    read_inputs, choose_order,   choose_rounding,         choose_merge, ast_cli_cluster_slice, open_targets, find_angle,
    keep_state,  cluster_points, ast_cli_cluster_deliver, NULL};

int ast_cli_cluster_run(void *data) {
    settings *given = data;
    const ast_cli_common *common = &given->common;
    if (ast_cli_target_of(common, "report"))
        given->line = ast_cli_command_line(&ast_cli_cluster, common->argc, common->argv);
    job work = {.given = given, .options = given->options};
    int code = ast_cli_steps(steps, &work);
    free_job(&work);
    return code;
}
