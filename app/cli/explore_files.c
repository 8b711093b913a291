/* SPDX-License-Identifier: MIT
 *
 * What a page takes with it: the labels, in the file that the command line named, and the report, which the browser
 * saves. */
#include "explore_worker.h"

#include <math.h>
#include <page.h>
#include <stdio.h>
#include <stdlib.h>
#include <viewer.h>

#include "cli.h"
#include "files.h"
#include "methods.h"
#include "pages.h"
#include "terminal.h"

static void tell(ast_explore_page *page, ast_explore_kind kind, const char *type, const char *sentence) {
    ast_explore_page_post(page, kind, ast_explore_words(type, page->desk.run.request.id, sentence));
}

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

static bool write_labels(const ast_explored *explored, const int32_t *labels, ast_format_error *error) {
    ast_output *output = ast_output_open(explored->given->labels, false, error);
    bool good = output && ast_write_array(output, ast_cli_directions_array(&explored->directions, labels, NULL), error);
    return ast_output_close(output, good, error) && good;
}

void ast_explore_save(ast_explore_page *page) {
    ast_format_error error;
    const ast_explored *explored = page->all->explored;
    char number[AST_CLI_GROUPED], sentence[512];
    if (!explored->given->labels) {
        tell(page, AST_SAYS_PROBLEM, "problem", "the command line named no file: start explore with --labels FILE");
        return;
    }
    if (!write_labels(explored, page->desk.run.labels, &error)) {
        tell(page, AST_SAYS_PROBLEM, "problem", error.text);
        return;
    }
    snprintf(sentence, sizeof sentence, "%s labels are in %s", ast_cli_grouped(page->desk.run.rows, number),
             explored->given->labels);
    tell(page, AST_SAYS_SAVED, "saved", sentence);
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

static void fill_head(const ast_explore_run *run, ast_page_head *head) {
    const ast_explore_request *request = &run->request;
    const ast_report *report = &run->report;
    head->axial = request->axial;
    ast_page_parameter(head, "method", ast_cli_batch_names[request->method], NAN);
    if (request->method == AST_DP)
        ast_page_parameter(head, "angle", NULL, request->angle);
    else
        ast_page_parameter(head, "clusters", NULL, (double)request->clusters);
    if (request->axial)
        ast_page_parameter(head, "axial", "yes", NAN);
    if (request->center)
        ast_page_parameter(head, "center", "yes", NAN);
    ast_page_measure(head, "points", (double)report->points);
    ast_page_measure(head, "missing", (double)report->missing);
    if (request->min_size > 0)
        ast_page_measure(head, "outliers", (double)report->outliers);
    ast_page_measure(head, "clusters", (double)report->clusters);
    if (request->merge != AST_MERGE_NONE)
        ast_page_measure(head, "merged from", (double)report->merged);
    ast_page_measure(head, "objective", report->objective);
    ast_page_measure(head, "iterations", report->iterations);
    ast_page_measure(head, "seconds", report->seconds);
}

/* The object of the page. */
static bool make_object(ast_explore_page *page, ast_page_head *head, const ast_points *points, ast_text *json,
                        ast_format_error *error) {
    const ast_explore_run *run = &page->desk.run;
    const ast_explored *explored = page->all->explored;
    const ast_cli_frames *depth = &explored->directions.depth;
    ast_picture image = {0};
    bool pictured = explored->directions.kind == AST_CLI_IMAGES;
    ast_batch_page batch = {.head = head,
                            .points = points,
                            .labels = run->labels,
                            .label_count = points->count,
                            .clusters = run->clusters,
                            .count = run->report.clusters,
                            .labels_name = explored->given->input,
                            .seed = explored->given->common.seed,
                            .image = pictured ? &image : NULL,
                            .notation = explored->directions.kind == AST_CLI_SURFACE ? AST_DIP_DIRECTION : 0,
                            .names = explored->names};
    bool good =
        !pictured || ast_overlay_depth(&image, &depth->frame.image, depth->options.units_per_metre, run->labels, error);
    good = good && ast_batch_page_json(&batch, json, error);
    ast_pixels_free(&image);
    return good;
}

static bool make_page(ast_explore_page *page, ast_text *html, ast_format_error *error) {
    const ast_explored *explored = page->all->explored;
    const ast_explore_run *run = &page->desk.run;
    ast_page_head head = {0};
    ast_points points = explored->points;
    ast_text json = {0};
    size_t length;
    const char *viewer = ast_viewer_page(&length);
    char *line = ast_explore_command(explored, &run->request), *title = NULL;
    float *rows = run->report.center ? ast_explore_centred(&points, run->report.center) : NULL;
    bool good = line && (!run->report.center || rows) &&
                ast_cli_page_head(&head, &ast_cli_cluster, explored->given->input, line, &title) < 0;
    if (!good)
        ast_format_fail(error, "there is not enough memory for the report");
    if (rows)
        points = ast_points_f4(rows, points.count, points.dimension);
    if (good) {
        fill_head(run, &head);
        good = make_object(page, &head, &points, &json, error) &&
               (ast_page_fill(viewer, length, &json, html) ||
                ast_format_fail(error, "there is not enough memory for the report"));
    }
    ast_text_free(&json);
    free(rows);
    free(line);
    free(title);
    return good;
}

void ast_explore_report(ast_explore_page *page) {
    ast_format_error error;
    ast_explore_text text;
    ast_text html = {0};
    if (!make_page(page, &html, &error)) {
        tell(page, AST_SAYS_PROBLEM, "problem", error.text);
    } else {
        ast_explore_begin(&text, "report");
        ast_json_integer(&text.json, "id", (int64_t)page->desk.run.request.id);
        ast_explore_array(&text, "html", "u8", html.bytes, html.size);
        ast_explore_page_post(page, AST_SAYS_REPORT, ast_explore_end(&text));
    }
    ast_text_free(&html);
}
