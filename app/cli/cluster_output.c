/* SPDX-License-Identifier: MIT
 *
 * What comes out of asterism cluster: the table or JSON, and the files that were asked for. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "field.h"
#include "ranks.h"
#include "rows_output.h"
#include "stereonet.h"
#include "terminal.h"

enum { DIGITS = 17, PART = 1 << 16 }; /* of numbers in JSON; bytes of it that are written together */

typedef ast_cli_cluster_settings settings;
typedef ast_cli_cluster_job job;

const char *ast_cli_cluster_about(const job *work, char text[AST_CLI_SURFACE_TEXT]) {
    const ast_cli_directions *d = &work->directions;
    if (d->kind == AST_CLI_SURFACE)
        return ast_cli_surface_text(&d->surface, text);
    if (d->kind != AST_CLI_IMAGES || d->depth.frame.number == AST_WHOLE)
        return NULL;
    snprintf(text, AST_CLI_SURFACE_TEXT, "scene %zu of the data set, %zu x %zu pixels", (size_t)d->depth.frame.number,
             d->width, d->height);
    return text;
}

/* The normals of clouds and meshes are those of planes. */
ast_notation ast_cli_cluster_notation(const job *work) {
    return work->directions.kind == AST_CLI_SURFACE ? AST_DIP_DIRECTION
                                                    : ast_cli_field_notation(&work->given->reading.source);
}

const ast_names *ast_cli_cluster_names(const job *work) {
    const ast_names *names = work->given->names ? &work->names : &work->directions.input.names;
    return names->count ? names : NULL;
}

const ast_names *ast_cli_cluster_texts(const job *work) {
    return work->topics.texts.count ? &work->topics.texts : NULL;
}

static void print_json(const void *work, ast_text *json) {
    ast_cli_put_result(work, json);
    ast_cli_cluster_put_planes(work, json);
}

static void print_table(const void *work) {
    ast_cli_print_table(work);
    ast_cli_cluster_print_planes(work);
}

/* Memberships, samples and the trace, where they were asked for. */
static int fill_records(void *data) {
    job *work = data;
    ast_format_error error;
    const ast_cli_common *common = &work->given->common;
    ast_output *trace = ast_cli_output_of(common, "trace");
    size_t points = work->report.points, clusters = work->report.clusters;
    if (ast_cli_target_of(common, "memberships")) {
        work->memberships = malloc(points * clusters * sizeof *work->memberships);
        if (!work->memberships)
            return ast_cli_fail("there is no memory for %zu x %zu memberships", points, clusters);
        ast_status status = ast_memberships(work->context, &work->points, work->memberships, NULL);
        if (status != AST_OK)
            return ast_cli_status(status, work->context, work->given->input);
        ast_cli_fill_target(common, "memberships", ast_value_array(work->memberships, points, clusters));
    }
    if (work->record.samples_wanted && work->record.sample_count == 0)
        return ast_cli_fail("--samples has none to write: --max-iterations ends the run before the first");
    ast_cli_fill_target(common, "samples", ast_label_array(work->record.samples, work->record.sample_count, points));
    return ast_cli_outcome(!trace || ast_cli_write_trace(&work->record, trace, &error), &error);
}

/* The axes of the means, each with the weight of its cluster. */
static int find_axes(void *data) {
    job *work = data;
    size_t count = work->report.clusters;
    if (!work->given->frame_axes)
        return -1;
    const ast_cluster_info *clusters = ast_clusters(work->context, &count);
    double *weights = malloc((count + 1) * sizeof *weights);
    work->nearest = malloc((count + 1) * sizeof *work->nearest);
    ast_status status = AST_NO_MEMORY;
    work->axes.size = sizeof work->axes;
    for (size_t k = 0; weights && k < count; k++)
        weights[k] = clusters[k].weight;
    if (weights && work->nearest)
        status = ast_frame_axes(work->context, ast_means(work->context), weights, count, &work->axes, work->nearest);
    else
        ast_cli_fail("there is no memory for the axes of %zu means", count);
    int code = weights && work->nearest ? ast_cli_status(status, work->context, work->given->input) : AST_CLI_FAILED;
    free(weights);
    return code;
}

/* The orientation tensor of three-dimensional points that are in memory. */
static int find_orientation(void *data) {
    job *work = data;
    if (work->report.dimension != 3 || work->directions.in_parts || ast_cli_ranks() || work->points.starts ||
        work->report.center || work->report.metric)
        return -1;
    work->orientation.size = sizeof work->orientation;
    ast_status status = ast_orientation_of(work->context, &work->points, work->options.axial, &work->orientation);
    return ast_cli_status(status, work->context, work->given->input);
}

static int fill_stereonet(void *data) {
    const job *work = data;
    return ast_cli_stereonet_write(
        &(ast_cli_stereonet){.common = &work->given->common,
                             .points = &work->points,
                             .labels = work->labels,
                             .clusters = work->report.clusters,
                             .input = work->given->input,
                             .notation = ast_cli_cluster_notation(work),
                             .axial = work->options.axial,
                             .equal_angle = work->given->equal_angle,
                             .orientation = work->orientation.size ? &work->orientation : NULL,
                             .means = work->clusters});
}

/* By plane, if planes were asked for. */
static int fill_colored(void *data) {
    job *work = data;
    ast_format_error error;
    ast_output *output = ast_cli_output_of(&work->given->common, "colored");
    const int32_t *labels = work->plane_of ? work->plane_of : work->labels;
    return ast_cli_outcome(!output || ast_cli_surface_colour(&work->directions.surface, labels, output, &error),
                           &error);
}

/* ---- The tree of joins ------------------------------------------------------------------------------------------- */

/* A long tree is written in parts. */
static bool write_part(ast_text *json, ast_output *output, ast_format_error *error) {
    return json->size < PART || ast_text_write(json, output, error);
}

static void put_join(const ast_tree_join *join, ast_text *json) {
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "a", (int64_t)join->a);
    ast_json_integer(json, "b", (int64_t)join->b);
    ast_json_integer(json, "into", (int64_t)join->into);
    ast_json_real(json, "loss", join->loss, DIGITS);
    ast_json_real(json, "angle", join->angle, DIGITS);
    ast_json_integer(json, "size", (int64_t)join->count);
    ast_json_close(json, '}');
}

static bool write_tree(const job *work, ast_output *output, ast_format_error *error) {
    ast_text json = {0};
    size_t count;
    const ast_tree_join *joins = ast_tree(work->context, &count);
    bool good = true;
    ast_json_open(&json, NULL, '{');
    ast_json_integer(&json, "clusters", (int64_t)work->report.merged);
    ast_json_open(&json, "joins", '[');
    for (size_t t = 0; t < count && good; t++) {
        put_join(&joins[t], &json);
        good = write_part(&json, output, error);
    }
    ast_json_close(&json, ']');
    if (!ast_cli_target_of(&work->given->common, "leaf-labels")) {
        ast_json_open(&json, "leaves", '[');
        for (size_t i = 0; i < work->all && good; i++) {
            ast_json_integer(&json, NULL, work->leaves[i]);
            good = write_part(&json, output, error);
        }
        ast_json_close(&json, ']');
    }
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    good = good && ast_text_write(&json, output, error);
    ast_text_free(&json);
    return good;
}

/* The tree, and the leaf of every row, in it or in a file of its own (--leaf-labels). */
static int fill_tree(void *data) {
    job *work = data;
    ast_format_error error;
    const ast_cli_common *common = &work->given->common;
    ast_output *output = ast_cli_output_of(common, "tree");
    if (!ast_cli_ranks()) /* otherwise they are written */
        ast_cli_fill_target(common, "leaf-labels", ast_cli_directions_array(&work->directions, work->leaves, NULL));
    return ast_cli_outcome(!output || write_tree(work, output, &error), &error);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int warn_chain(void *data) {
    const job *work = data;
    const ast_report *report = &work->report;
    if (ast_cli_has_chain(report) && !report->settled && !work->given->common.quiet && ast_cli_is_first_rank())
        ast_cli_warn("the chain has not settled: the second half of its %d sweeps disagrees with the first, or they "
                     "are worth too few independent samples (%.0f); raise --max-iterations",
                     report->iterations, report->effective_samples);
    return -1;
}

/* Many clusters of one row mean, most often, that the angle was given as a cosine. */
static int warn_singletons(void *data) {
    const job *work = data;
    const ast_report *report = &work->report;
    size_t rows = report->points - report->missing;
    double angle = ast_cli_angle(work);
    if (angle <= 1 && angle > 0 && rows > 10 && report->clusters > rows / 2 && !work->given->common.quiet &&
        ast_cli_is_first_rank() && !ast_cli_typed(&work->given->common, "cosine"))
        ast_cli_warn(
            "most rows are a cluster of their own: --angle %g is in degrees; if it is a cosine, give --cosine %g",
            angle, angle);
    return -1;
}

/* One rank writes and prints; the others are done. */
static int leave_other_ranks(void *work) {
    (void)work;
    return ast_cli_is_first_rank() ? -1 : AST_CLI_DONE;
}

/* The words that are frequent in each cluster and rare in the others. */
static int find_keywords(void *data) {
    job *work = data;
    int code;
    work->keywords = ast_cli_topics_keywords(&work->topics, work->labels, work->clusters, work->report.clusters, &code);
    return code;
}

/* Before ast_cli_cluster_name_labels: labels are still numbers of clusters. */
static int find_similarity(void *data) {
    job *work = data;
    if (!ast_cli_target_of(&work->given->common, "output"))
        return -1;
    work->similarity = malloc((work->points.count + 1) * sizeof *work->similarity);
    if (!work->similarity)
        return ast_cli_fail("there is no memory for %zu similarities", work->points.count);
    ast_status status = ast_similarity(work->context, &work->points, work->labels, work->similarity);
    return ast_cli_status(status, work->context, work->given->input);
}

static int fill_rows(job *work) {
    ast_format_error error;
    ast_cli_rows_output rows;
    const ast_cli_common *common = &work->given->common;
    const ast_names *ids = work->directions.input.names.count ? &work->directions.input.names : NULL;
    int code = ast_cli_rows_begin(&rows, common, ids);
    if (code >= 0 || !rows.output)
        return code;
    bool good = ast_cli_rows_put(&rows, 0, work->points.count, work->labels, work->similarity, &error);
    return ast_cli_rows_end(&rows, good, &error) ? -1
                                                 : ast_cli_target_failed(ast_cli_target_of(common, "output"), &error);
}

/* The records belong to the context, which another call may overwrite: so this step comes after those that call the
 * library with the points. */
static int take_clusters(void *data) {
    job *work = data;
    size_t count;
    work->clusters = ast_clusters(work->context, &count);
    return -1;
}

/* The end: the labels become ids, the arrays go to their targets, and all files are written and put in place. */
static int put_in_place(void *data) {
    job *work = data;
    const ast_cli_common *common = &work->given->common;
    const ast_report *report = &work->report;
    ast_cli_cluster_name_labels(work);
    int code = fill_rows(work);
    if (code >= 0)
        return code;
    ast_cli_fill_target(common, "labels", ast_cli_directions_array(&work->directions, work->labels, NULL));
    ast_cli_fill_target(common, "means",
                        ast_value_array(ast_means(work->context), report->clusters, report->dimension));
    ast_cli_fill_target(common, "center-file", ast_value_array(report->center, 1, report->dimension));
    return ast_cli_deliver(common, &(ast_cli_printer){print_json, print_table, work});
}

int ast_cli_cluster_deliver(void *work) {
    static ast_cli_step *const steps[] = {ast_cli_cluster_total,
                                          warn_chain,
                                          warn_singletons,
                                          ast_cli_cluster_rank_labels,
                                          ast_cli_cluster_rank_leaves,
                                          leave_other_ranks,
                                          fill_records,
                                          ast_cli_cluster_planes,
                                          fill_colored,
                                          fill_tree,
                                          ast_cli_cluster_layers,
                                          find_axes,
                                          find_orientation,
                                          find_similarity,
                                          find_keywords,
                                          ast_cli_cluster_model,
                                          ast_cli_cluster_warn_means,
                                          take_clusters,
                                          ast_cli_cluster_take_ids,
                                          ast_cli_cluster_report,
                                          fill_stereonet,
                                          put_in_place,
                                          NULL};
    return ast_cli_steps(steps, work);
}
