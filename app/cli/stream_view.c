/* SPDX-License-Identifier: MIT
 *
 * The live view of a stream while it runs, and the report at its end. */
#include "stream_view.h"

#include <platform.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <viewer.h>

#include "targets.h"
#include "terminal.h"
#include "tracking.h"

enum { STAY, EXIT };
static const char *const endings[] = {"stay", "exit", NULL};

#define AT(field) offsetof(ast_cli_stream_view_settings, field)
static const ast_cli_option options_table[] = {
    AST_CLI_REPORT_OPTION(.writes = AST_CLI_WRITES_OWN),
    {"view", AST_CLI_MAYBE, "[PORT]",
     "serve the same page live while the stream runs; the address is printed on standard error", AT(view), 0, 65535,
     .more = "See `REPORTS AND THE LIVE VIEW`."},
    {"bind", AST_CLI_TEXT, "ADDRESS", "serve --view at this address instead of 127.0.0.1, this machine alone", AT(bind),
     .needs = "view"},
    {"view-end", AST_CLI_CHOICE, "HOW",
     "when the stream is over: stay and serve until Ctrl-C (the default on a terminal) or exit", AT(view_end),
     .choices = endings, .needs = "view"},
    {0}};

const ast_cli_group ast_cli_stream_view_group = {.options = options_table};

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static void fill_head(ast_page_head *head, const ast_cli_tracking *tracking) {
    const ast_stream_options *options = &tracking->options;
    head->axial = options->axial;
    ast_page_parameter(head, "method", ast_cli_stream_names[options->method], NAN);
    ast_page_parameter(head, "angle", NULL, options->angle);
    if (!isnan(options->beta))
        ast_page_parameter(head, "beta", NULL, options->beta);
    else
        ast_page_parameter(head, "drift", NULL, options->drift);
    ast_page_parameter(head, "lifetime", NULL, options->lifetime);
    if (tracking->given.poses)
        ast_page_parameter(head, "poses", tracking->given.poses, NAN);
    if (options->axial)
        ast_page_parameter(head, "axial", "yes", NAN);
    if (options->method != AST_STREAM_DDP)
        return;
    ast_page_parameter(head, "revive", options->revive_near ? "near" : "any", NAN);
    ast_page_parameter(head, "merge tracked", options->merge_tracked ? "on" : "off", NAN);
    if (options->rigid)
        ast_page_parameter(head, "rigid", "yes", NAN);
}

/* The page without frames: they follow over the socket. */
static int start_view(ast_cli_stream_view *view, const ast_cli_stream_view_settings *given) {
    ast_text json = {0}, html = {0};
    size_t length;
    const char *page = ast_viewer_page(&length);
    bool good = ast_recording_json(view->recording, true, &json, NULL) && ast_page_fill(page, length, &json, &html);
    ast_text_free(&json);
    if (!good) {
        ast_text_free(&html);
        return ast_cli_no_memory("the live view");
    }
    return ast_cli_serve(&view->live, given->bind, given->view, &html, view->recording);
}

int ast_cli_stream_view_open(ast_cli_tracking *tracking) {
    const ast_cli_common *common = &tracking->common;
    const ast_cli_stream_view_settings *given = &tracking->given.view;
    ast_cli_stream_view *view = &tracking->view;
    ast_page_head head = {0};
    if (common->target_count == 0 && given->view == SIZE_MAX)
        return -1;
    view->line = ast_cli_command_line(common->command, common->argc, common->argv);
    int code = ast_cli_page_head(&head, common->command, common->inputs[0].path, view->line, &view->title);
    if (code >= 0)
        return code;
    fill_head(&head, tracking);
    view->recording = ast_recording_open(&head);
    if (!view->recording)
        return ast_cli_no_memory("the report");
    code = ast_cli_open_targets(common);
    return code < 0 && given->view != SIZE_MAX ? start_view(view, given) : code;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

int ast_cli_stream_view_frame(ast_cli_tracking *tracking) {
    ast_format_error error;
    ast_cli_stream_view *view = &tracking->view;
    const ast_cli_frames *depth = &tracking->inputs;
    if (!view->recording)
        return -1;
    ast_thumbnail small = {.labels = tracking->labels,
                           .width = depth->width,
                           .height = depth->height,
                           .depth = &depth->frame.image,
                           .units_per_metre = depth->options.units_per_metre};
    ast_page_planes planes = {.list = tracking->planes.planes,
                              .count = tracking->planes.count,
                              .width = depth->width,
                              .height = depth->height,
                              .camera = depth->options.camera,
                              .pose = tracking->given.poses ? tracking->planes.pose : NULL};
    const ast_cli_rotation *turned = &tracking->rotation;
    ast_recorded_rotation rotation = {.rank = turned->rank};
    memcpy(rotation.quaternion, turned->quaternion, sizeof rotation.quaternion);
    memcpy(rotation.deviation, turned->deviation, sizeof rotation.deviation);
    ast_recorded frame = {.frame = &tracking->frame,
                          .source = tracking->inputs.frame.source,
                          .clusters = tracking->clusters,
                          .count = tracking->count,
                          .points = &tracking->points,
                          .labels = tracking->labels,
                          .image = depth->list->depth ? &small : NULL,
                          .planes = tracking->planes.map ? &planes : NULL,
                          .rotation = turned->known ? &rotation : NULL};
    ast_shared_text *parcel = NULL;
    if (view->frames == 0 && tracking->frame.frame > 0)
        ast_recording_note(view->recording, "The run went on from a state; the frames before it are not shown.");
    if (!ast_recording_add(view->recording, &frame, tracking->options.dimension, view->live ? &parcel : NULL, &error))
        return ast_cli_fail("%s", error.text);
    if (view->live)
        ast_live_publish(view->live, parcel);
    view->frames++;
    view->seconds += tracking->frame.seconds;
    return -1;
}

/* ---- After the last frame ---------------------------------------------------------------------------------------- */

static bool write_report(ast_cli_stream_view *view, ast_cli_target *report, ast_format_error *error) {
    ast_text json = {0};
    ast_output *output = report->output;
    bool good = ast_recording_json(view->recording, false, &json, NULL)
                    ? ast_page_write(&json, output, error)
                    : ast_format_fail(error, "there is no memory for the report");
    ast_text_free(&json);
    report->output = NULL;
    return ast_output_close(output, good, error);
}

static int finish_report(ast_cli_tracking *tracking, int code) {
    ast_format_error error;
    ast_cli_stream_view *view = &tracking->view;
    ast_cli_target *report = ast_cli_target_of(&tracking->common, "report");
    if (code > AST_CLI_DONE && code <= AST_CLI_SIGNAL)
        return code;
    ast_recording_measure(view->recording, "frames", (double)view->frames);
    if (view->frames)
        ast_recording_measure(view->recording, "milliseconds a frame", 1e3 * view->seconds / (double)view->frames);
    if (code > AST_CLI_SIGNAL)
        ast_recording_note(view->recording, "The run was stopped before its inputs ended.");
    if (report && !write_report(view, report, &error))
        return ast_cli_fail("%s", error.text);
    return code;
}

/* A run that was stopped or has failed ends, whatever was asked for its end. */
static void finish_view(const ast_cli_stream_view *view, int end, int code) {
    char reason[96];
    snprintf(reason, sizeof reason, "The stream %s after %" PRIu64 " frame%s.",
             code == AST_CLI_DONE    ? "ended"
             : code > AST_CLI_SIGNAL ? "was stopped"
                                     : "failed",
             view->frames, view->frames == 1 ? "" : "s");
    ast_live_end(view->live, reason);
    if (end < 0)
        end = isatty(STDERR_FILENO) ? STAY : EXIT;
    if (code == AST_CLI_DONE && end == STAY) {
        fprintf(stderr, "asterism: the stream is over; the view stays until Ctrl-C\n");
        ast_cli_serve_until_signal();
    } else {
        ast_cli_serve_until_told(view->live);
    }
}

int ast_cli_stream_view_end(ast_cli_tracking *tracking, int code) {
    ast_cli_stream_view *view = &tracking->view;
    if (!view->recording)
        return code;
    code = finish_report(tracking, code);
    if (view->live)
        finish_view(view, tracking->given.view.view_end, code);
    return code;
}

void ast_cli_stream_view_close(ast_cli_stream_view *view) {
    ast_live_close(view->live);
    ast_recording_close(view->recording);
    free(view->line);
    free(view->title);
}
