/* SPDX-License-Identifier: MIT */
#include "recommend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files.h"
#include "interrupt.h"
#include "pages.h"
#include "progress.h"

static int show(double done, void *data) {
    ast_cli_progress_share(data, (size_t)(100 * done), 100, "percent", done);
    return ast_cli_interrupted();
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
    ast_status status = ast_tune(input->context, input->points, &asked, NULL, report);
    ast_cli_progress_end(&progress);
    return ast_cli_directions_status(input->directions, status, input->context, input->name);
}

/* The shortest text that reads as this number. */
static void write_angle(double angle, char text[32]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, angle);
        if (strtod(text, NULL) == angle)
            return;
    }
}

const char *ast_cli_recommended(const ast_tune_report *report, char text[AST_CLI_RECOMMENDED]) {
    char angle[32];
    write_angle(report->angle, angle);
    int used = snprintf(text, AST_CLI_RECOMMENDED, "--angle %s --order content", angle);
    if (report->merge == AST_MERGE_COUNT)
        snprintf(text + used, AST_CLI_RECOMMENDED - (size_t)used, " --merge-to %zu", report->merge_count);
    return text;
}

/* Whether the command of the recommendation has the option: one that changes what is read or found. */
static int carries(const ast_cli_option *option) {
    static const char *const others[] = {"json", "quiet", "progress", "threads", "means", "report"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option->name, others[i]) == 0)
            return 0;
    return ast_cli_find(&ast_cli_cluster, option->name, NULL) != NULL;
}

char *ast_cli_recommended_command(const ast_cli_common *common, const char *input, const ast_tune_report *report) {
    enum { NAME = 64 };
    char names[AST_CLI_MOST_TYPED][NAME], text[AST_CLI_RECOMMENDED], *words[2 * AST_CLI_MOST_TYPED + 8], *rest;
    int count = 0;
    words[count++] = (char *)input;
    for (size_t i = 0; i < common->typed_count; i++) {
        if (!carries(common->typed[i]))
            continue;
        snprintf(names[i], NAME, "--%s", common->typed[i]->name);
        words[count++] = names[i];
        if (common->values[i])
            words[count++] = (char *)common->values[i];
    }
    ast_cli_recommended(report, text);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return ast_cli_command_line(&ast_cli_cluster, count, words);
}
