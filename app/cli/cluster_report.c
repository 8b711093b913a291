/* SPDX-License-Identifier: MIT
 *
 * The report of asterism cluster: what it was asked for, what came out, and the points to look at. */
#include "cluster.h"

#include <math.h>
#include <stdlib.h>

#include "pages.h"
#include "terminal.h"

typedef ast_cli_cluster_settings settings;
typedef ast_cli_cluster_job job;

static void fill_parameters(const job *work, ast_page_head *head) {
    const settings *given = work->given;
    double angle = ast_cli_angle(work);
    ast_page_parameter(head, "method", ast_cli_batch_names[given->options.method], NAN);
    if (!isnan(angle))
        ast_page_parameter(head, "angle", NULL, angle);
    if (given->options.clusters)
        ast_page_parameter(head, "clusters", NULL, (double)given->options.clusters);
    if (given->options.axial)
        ast_page_parameter(head, "axial", "yes", NAN);
    if (given->options.center)
        ast_page_parameter(head, "center", "yes", NAN);
    if (work->options.metric)
        ast_page_parameter(head, "metric", "local", NAN);
    if (given->weights)
        ast_page_parameter(head, "weights", given->weights, NAN);
    if (work->directions.kind == AST_CLI_SURFACE)
        ast_page_parameter(head, "normals", ast_cli_surface_word(&work->directions.surface), NAN);
    ast_page_parameter(head, "seed", NULL, (double)given->common.seed);
}

/* A measure that not every run has. */
static void fill_known(ast_page_head *head, const char *name, double number) {
    if (isfinite(number))
        ast_page_measure(head, name, number);
}

static void fill_measures(const ast_options *options, const ast_report *report, ast_page_head *head) {
    ast_page_measure(head, "points", (double)report->points);
    ast_page_measure(head, "missing", (double)report->missing);
    if (options->merge.min_size > 0 || options->mixture.background || !isnan(options->outliers))
        ast_page_measure(head, "outliers", (double)report->outliers);
    ast_page_measure(head, "clusters", (double)report->clusters);
    if (options->merge.by != AST_MERGE_NONE)
        ast_page_measure(head, "merged from", (double)report->merged);
    ast_page_measure(head, "objective", report->objective);
    fill_known(head, "silhouette", report->silhouette);
    fill_known(head, "stability", report->stability);
    fill_known(head, "log_likelihood", report->log_likelihood);
    fill_known(head, "bic", report->bic);
    ast_page_measure(head, "iterations", report->iterations);
    ast_page_measure(head, "seconds", report->seconds);
}

static void fill_notes(const job *work, ast_page_notes *notes) {
    const ast_report *report = &work->report;
    char about[AST_CLI_SURFACE_TEXT], missing[AST_GROUPED], outliers[AST_GROUPED];
    if (ast_cli_cluster_about(work, about))
        ast_note(notes, "Read from %s.", about);
    if (report->center)
        ast_note(notes,
                 "The rows are centred: their mean, of length %.3f, is subtracted. Points and means are those of the "
                 "centred rows.",
                 ast_cli_center_length(report));
    if (report->metric)
        ast_note(notes,
                 "Rows are compared after a linear map, learned from them, that makes clusters round. Points and "
                 "means are those of the mapped rows.");
    if (report->missing)
        ast_note(notes, "%s row%s no direction.", ast_grouped(report->missing, missing),
                 report->missing == 1 ? " has" : "s have");
    if (report->outliers && isfinite(report->background))
        ast_note(notes, "%s point%s most probably belong to the background, %.1f%% of the mixture.",
                 ast_grouped(report->outliers, outliers), report->outliers == 1 ? "" : "s", 100 * report->background);
    else if (report->outliers && !isnan(work->options.outliers))
        ast_note(notes, "%s point%s outlier%s: less similar to %s mean than the threshold of the cluster.",
                 ast_grouped(report->outliers, outliers), report->outliers == 1 ? " is an" : "s are",
                 report->outliers == 1 ? "" : "s", report->outliers == 1 ? "its" : "their");
    else if (report->outliers)
        ast_note(notes, "%s point%s outlier%s: the small cluster was dissolved, and no other mean is within the angle.",
                 ast_grouped(report->outliers, outliers), report->outliers == 1 ? " is an" : "s are",
                 report->outliers == 1 ? "" : "s");
    if (ast_cli_has_chain(report) && !report->settled)
        ast_note(notes, "The chain has not settled: the second half of the sweeps disagrees with the first.");
    if (!report->converged && !ast_cli_has_chain(report))
        ast_note(notes, "The run stopped after %d passes and has not converged.", report->iterations);
    if (isfinite(report->improvement))
        ast_note(notes,
                 "Found by looking at some of the points: one more iteration over all of them would add %.3g%% to the "
                 "objective.",
                 100 * report->improvement / fabs(report->objective));
    if (work->tuned.reason)
        ast_note(notes, "The angle: %s.", work->tuned.reason);
}

/* The rows that were clustered, if they are not those of the input: centred or mapped. */
static bool changed_rows(const job *work, float **rows, ast_format_error *error) {
    const ast_report *report = &work->report;
    *rows = NULL;
    if (report->center)
        *rows = ast_centred_rows(&work->points, report->center);
    if (report->metric)
        *rows = malloc(work->points.count * work->points.dimension * sizeof **rows);
    if ((report->center || report->metric) && !*rows)
        return ast_format_fail(error, "there is no memory for the rows of the report");
    if (report->metric && ast_metric_apply(work->context, &work->points, report->metric, *rows) != AST_OK) {
        free(*rows);
        return ast_format_fail(error, "%s", ast_message(work->context));
    }
    return true;
}

static bool make_object(const job *work, ast_page_head *head, const ast_picture *image, ast_text *json,
                        ast_format_error *error) {
    float *rows;
    if (!changed_rows(work, &rows, error))
        return false;
    ast_points centred = ast_points_f4(rows, work->points.count, work->points.dimension);
    ast_page_planes planes = {.dip = true};
    planes.list = ast_plane_list(work->planes, &planes.count);
    ast_batch_page page = {.head = head,
                           .points = rows ? &centred : &work->points,
                           .labels = work->labels,
                           .label_count = work->points.count,
                           .clusters = work->clusters,
                           .count = work->report.clusters,
                           .labels_name = work->given->input,
                           .seed = work->given->common.seed,
                           .image = image,
                           .notation = ast_cli_cluster_notation(work),
                           .surface = work->directions.kind == AST_CLI_SURFACE,
                           .names = work->topics.texts.count ? &work->topics.texts : ast_cli_cluster_names(work),
                           .keywords = work->keywords,
                           .map = work->map,
                           .threads = (int)work->given->common.threads,
                           .planes = work->planes ? &planes : NULL,
                           .layers = &work->layers};
    bool good = ast_batch_page_json(&page, json, error);
    free(rows);
    return good;
}

bool ast_cli_cluster_page(job *work, ast_page_head *head, ast_text *json, ast_format_error *error) {
    ast_picture image = {0};
    const ast_cli_frames *depth = &work->directions.depth;
    int pictured = work->directions.kind == AST_CLI_IMAGES;
    head->axial = work->given->options.axial;
    fill_parameters(work, head);
    fill_measures(&work->options, &work->report, head);
    fill_notes(work, &head->notes);
    bool good = !pictured ||
                ast_overlay_depth(&image, &depth->frame.image, depth->options.units_per_metre, work->labels, error);
    good = good && make_object(work, head, pictured ? &image : NULL, json, error);
    ast_pixels_free(&image);
    return good;
}

int ast_cli_cluster_report(void *data) {
    job *work = data;
    ast_format_error error;
    ast_page_head head = {0};
    ast_text json = {0};
    ast_output *output = ast_cli_output_of(&work->given->common, "report");
    if (!output)
        return -1;
    int code = ast_cli_page_head(&head, &ast_cli_cluster, work->given->input, work->given->line, &work->title);
    if (code >= 0)
        return code;
    bool good = ast_cli_cluster_page(work, &head, &json, &error) && ast_page_write(&json, output, &error);
    ast_text_free(&json);
    return ast_cli_outcome(good, &error);
}
