/* SPDX-License-Identifier: MIT
 *
 * What people watch of a stream. */
#include "watch.h"

#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "pages.h"
#include "terminal.h"

#define AT(field) offsetof(ast_cli_watch_settings, field)
const ast_cli_option ast_cli_watch_options[] = {AST_CLI_REPORT_OPTION(AT(report)),
                                                {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

int ast_cli_watch_check(const ast_cli_watch_settings *given) {
    return ast_cli_report_check("report", given->report);
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static void fill_head(ast_page_head *head, const ast_cli_follow *follow) {
    static const char *const methods[] = {"ddp", "sdp", "dp"}; /* in the order of ast_stream_method */
    const ast_stream_options *options = &follow->options;
    const ast_cli_follow_settings *given = follow->given;
    head->axial = options->axial;
    ast_page_parameter(head, "method", methods[options->method], NAN);
    ast_page_parameter(head, "angle", NULL, options->angle);
    if (!isnan(options->beta))
        ast_page_parameter(head, "beta", NULL, options->beta);
    else
        ast_page_parameter(head, "drift", NULL, options->drift);
    ast_page_parameter(head, "lifetime", NULL, options->lifetime);
    if (given->poses)
        ast_page_parameter(head, "poses", given->poses, NAN);
    if (options->axial)
        ast_page_parameter(head, "axial", "yes", NAN);
}

int ast_cli_watch_open(ast_cli_watch *watch, const ast_cli_watch_settings *given, const ast_cli_command *command,
                       int argc, char **argv, const ast_cli_follow *follow) {
    ast_format_error error;
    ast_page_head head = {0};
    watch->given = given;
    if (!given->report)
        return -1;
    watch->line = ast_cli_command_line(command, argc, argv);
    int code = ast_cli_page_head(&head, command, follow->given->inputs[0], watch->line, &watch->title);
    if (code >= 0)
        return code;
    fill_head(&head, follow);
    watch->recording = ast_recording_open(&head);
    if (!watch->recording)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the report");
    watch->output = ast_output_open(given->report, false, &error);
    return watch->output ? -1 : ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

int ast_cli_watch_frame(ast_cli_watch *watch, const ast_cli_follow *follow, const ast_picture *picture) {
    ast_format_error error;
    const ast_cli_depth *depth = &follow->inputs.depth;
    if (!watch->recording)
        return -1;
    ast_small small = {.labels = follow->labels,
                       .width = depth->width,
                       .height = depth->height,
                       .depth = picture ? NULL : &depth->frame.image,
                       .units_per_metre = depth->options.units_per_metre,
                       .picture = picture};
    ast_recorded frame = {.frame = &follow->frame,
                          .source = follow->inputs.source,
                          .clusters = follow->clusters,
                          .count = follow->count,
                          .points = &follow->points,
                          .labels = follow->labels,
                          .image = follow->inputs.camera ? &small : NULL};
    if (!ast_recording_add(watch->recording, &frame, follow->options.dimension, NULL, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    watch->frames++;
    watch->seconds += follow->frame.seconds;
    return -1;
}

/* ---- After the last frame ---------------------------------------------------------------------------------------- */

static bool write_report(ast_cli_watch *watch, ast_format_error *error) {
    ast_text json = {0};
    bool good = ast_recording_json(watch->recording, false, &json);
    if (!good)
        snprintf(error->text, sizeof error->text, "there is no memory for the report");
    good = good && ast_page_write(&json, watch->output, error);
    ast_text_free(&json);
    if (good) {
        ast_output *output = watch->output;
        watch->output = NULL;
        good = ast_output_commit(output, error);
    }
    return good;
}

int ast_cli_watch_end(ast_cli_watch *watch, int code) {
    ast_format_error error;
    if (!watch->recording || (code > AST_CLI_DONE && code <= AST_CLI_SIGNAL))
        return code;
    ast_recording_measure(watch->recording, "frames", (double)watch->frames);
    if (watch->frames)
        ast_recording_measure(watch->recording, "milliseconds a frame", 1e3 * watch->seconds / (double)watch->frames);
    if (code > AST_CLI_SIGNAL)
        ast_recording_note(watch->recording, "The run was stopped before its inputs ended.");
    if (watch->output && !write_report(watch, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    return code;
}

void ast_cli_watch_close(ast_cli_watch *watch) {
    ast_output_abandon(watch->output);
    ast_recording_close(watch->recording);
    free(watch->line);
    free(watch->title);
}
