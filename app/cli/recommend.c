/* SPDX-License-Identifier: MIT */
#include "recommend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "pages.h"
#include "progress.h"
#include "terminal.h"

static int show(double done, void *data) {
    ast_cli_progress_share(data, (size_t)(100 * done), 100, "percent", done);
    return ast_cli_interrupted();
}

int ast_cli_metric_check(ast_metric_kind metric, bool axial, bool center) {
    if (metric == AST_METRIC_LOCAL && axial)
        return ast_cli_misuse("--metric local is not for axial rows: x and -x would be mapped to different axes");
    if (metric == AST_METRIC_LOCAL && center)
        return ast_cli_misuse("--metric local centres the rows itself: leave --center out");
    return -1;
}

int ast_cli_recommend(const ast_cli_tuned_input *input, const ast_tune_options *options, const ast_cli_common *common,
                      ast_tune_report *report) {
    ast_cli_progress progress = {0};
    ast_tune_options asked = *options;
    ast_cli_progress_start(&progress, common, input->points->count);
    asked.seed = common->seed;
    asked.progress = show;
    asked.progress_data = &progress;
    report->size = sizeof *report;
    ast_status status = ast_tune(input->context, input->points, &asked, input->labels, report);
    ast_cli_progress_end(&progress);
    return ast_cli_directions_status(input->directions, status, input->context, input->name);
}

const char *ast_cli_shortest(double number, char text[AST_CLI_SHORTEST]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, AST_CLI_SHORTEST, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    return text;
}

const char *ast_cli_recommended(const ast_tune_report *report, char text[AST_CLI_RECOMMENDED]) {
    char angle[AST_CLI_SHORTEST];
    int used =
        snprintf(text, AST_CLI_RECOMMENDED, "--angle %s --order content", ast_cli_shortest(report->angle, angle));
    if (report->merge == AST_MERGE_COUNT)
        used += snprintf(text + used, AST_CLI_RECOMMENDED - (size_t)used, " --merge-to %zu", report->merge_count);
    if (report->metric == AST_METRIC_LOCAL)
        snprintf(text + used, AST_CLI_RECOMMENDED - (size_t)used, " --metric local");
    return text;
}

char *ast_cli_recommended_command(const ast_cli_common *common, const ast_tune_report *report) {
    ast_text line = {0};
    char text[AST_CLI_RECOMMENDED];
    ast_cli_line_begin(&line, common, "report metric");
    ast_text_printf(&line, " %s", ast_cli_recommended(report, text));
    return ast_cli_line_end(&line);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

int ast_cli_find_orientation(const ast_cli_tuned_input *input, int axial, int center, ast_orientation *orientation) {
    const ast_points *points = input->points;
    if (points->dimension != 3 || points->starts || center)
        return -1;
    orientation->size = sizeof *orientation;
    ast_status status = ast_orientation_of(input->context, points, axial, orientation);
    return ast_cli_directions_status(input->directions, status, input->context, input->name);
}

void ast_cli_put_orientation(const ast_orientation *o, int axial, ast_text *json) {
    static const char *const shapes[] = {
        [AST_SHAPE_UNIFORM] = "uniform", [AST_SHAPE_CLUSTER] = "cluster", [AST_SHAPE_GIRDLE] = "girdle"};
    if (!o->size)
        return;
    ast_json_open(json, "preferred", '{');
    ast_json_string(json, "test", axial ? "gine_g" : "gine_f");
    ast_json_real(json, "statistic", o->statistic, 17);
    ast_json_real(json, "p", o->p, 17);
    ast_json_close(json, '}');
    ast_json_open(json, "eigenvalues", '[');
    for (int i = 0; i < 3; i++)
        ast_json_real(json, NULL, o->eigenvalues[i], 17);
    ast_json_close(json, ']');
    ast_json_real(json, "woodcock_shape", o->shape_ratio, 9);
    ast_json_real(json, "woodcock_strength", o->strength, 9);
    ast_json_string(json, "shape", shapes[o->shape]);
    if (o->shape != AST_SHAPE_GIRDLE)
        return;
    ast_json_open(json, "girdle_pole", '[');
    for (int i = 0; i < 3; i++)
        ast_json_real(json, NULL, o->axes[2][i], 9);
    ast_json_close(json, ']');
}

void ast_cli_put_angle(const ast_tune_angle *row, ast_text *json) {
    ast_json_open(json, NULL, '{');
    ast_json_real(json, "angle", row->angle, 17);
    ast_json_integer(json, "clusters", (int64_t)row->clusters);
    ast_json_real(json, "silhouette", row->silhouette, 17);
    ast_json_real(json, "stability", row->stability, 17);
    ast_json_real(json, "objective", row->objective, 17);
    ast_json_integer(json, "merged", (int64_t)row->merged);
    ast_json_real(json, "merged_silhouette", row->merged_silhouette, 17);
    ast_json_real(json, "evidence", row->evidence, 17);
    ast_json_close(json, '}');
}

static void put_levels(const ast_context *context, ast_text *json) {
    size_t count;
    const ast_tune_level *levels = ast_tune_levels(context, &count);
    ast_json_open(json, "levels", '[');
    for (const ast_tune_level *level = levels; level < levels + count; level++) {
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "clusters", (int64_t)level->clusters);
        ast_json_real(json, "silhouette", level->silhouette, 17);
        ast_json_real(json, "null", level->null, 17);
        ast_json_real(json, "null_any", level->null_any, 17);
        ast_json_real(json, "excess", level->excess, 17);
        ast_json_real(json, "stability", level->stability, 17);
        ast_json_boolean(json, "peak", level->peak);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

/* The levels that stand out, coarse to fine. */
static void put_peaks(const ast_context *context, ast_text *json) {
    size_t count;
    const ast_tune_level *levels = ast_tune_levels(context, &count);
    ast_json_open(json, "peaks", '[');
    for (const ast_tune_level *level = levels; level < levels + count; level++) {
        if (!level->local_peak)
            continue;
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "clusters", (int64_t)level->clusters);
        ast_json_real(json, "excess", level->excess, 17);
        ast_json_real(json, "stability", level->stability, 17);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

void ast_cli_put_tuned(const ast_context *context, const ast_tune_report *found, const char *command, ast_text *json) {
    size_t count;
    const ast_tune_angle *angles = ast_tune_angles(context, &count);
    ast_json_real(json, "angle", found->angle, 17);
    ast_json_string(json, "command", command);
    if (found->merge == AST_MERGE_COUNT)
        ast_json_integer(json, "merge_to", (int64_t)found->merge_count);
    else
        ast_json_string(json, "merge_to", NULL);
    ast_json_integer(json, "clusters", (int64_t)found->clusters);
    ast_json_real(json, "silhouette", found->silhouette, 17);
    ast_json_real(json, "from", found->last, 17);
    ast_json_real(json, "to", found->first, 17);
    ast_json_real(json, "evidence", found->evidence, 17);
    ast_json_real(json, "excess", found->excess, 17);
    ast_json_real(json, "stability", found->stability, 17);
    ast_json_string(json, "metric", found->metric == AST_METRIC_LOCAL ? "local" : "plain");
    put_peaks(context, json);
    ast_json_integer(json, "limit", (int64_t)found->limit);
    ast_json_boolean(json, "weak", found->weak);
    ast_json_string(json, "reason", found->reason);
    ast_json_integer(json, "points", (int64_t)found->points);
    ast_json_integer(json, "missing", (int64_t)found->missing);
    ast_json_real(json, "leaf_angle", found->leaf_angle, 17);
    ast_json_boolean(json, "cut", found->cut);
    ast_json_open(json, "angles", '[');
    for (size_t i = 0; i < count; i++)
        ast_cli_put_angle(&angles[i], json);
    ast_json_close(json, ']');
    put_levels(context, json);
}
