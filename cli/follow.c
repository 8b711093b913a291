/* SPDX-License-Identifier: MIT
 *
 * One frame after the other: read, turn, step, labels. What else is done with a frame is the subcommand's business. */
#include "follow.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "field.h"
#include "interrupt.h"
#include "terminal.h"

#define AT(field) offsetof(ast_cli_follow_settings, field)
static const ast_cli_option options_table[] = {
    {"labels", AST_CLI_NAME, "DIR",
     "write one int32 .npy of ids per frame, -1 for missing rows, named after the file or, for arrays and "
     "standard input, 000000.npy and so on; for depth images, an array of the image's shape; the folder "
     "is made if necessary",
     AT(labels),
     .manual = "Writes one int32 *.npy* of cluster ids for each frame into the folder, which is made if it does not "
               "exist. The labels of *17.csv* are *17.npy*; those of a frame of an array or of standard input are "
               "called by its number in the stream, *000017.npy*. Those of a depth image are an array of its height "
               "and width."},
    {"poses", AST_CLI_NAME, "FILE",
     "text with one row per frame, the last four columns being qx qy qz qw, camera to world: points are "
     "turned by it",
     AT(poses),
     .manual = "A text with one row for each frame of the inputs, whose last four columns are a quaternion qx qy qz "
               "qw that turns the camera into the world, as in *time tx ty tz qx qy qz qw*. Lines that begin with # "
               "are comments. The points, of three dimensions, are turned by it before anything else. Depth images "
               "must be as many as there are rows."},
    {0}};

const ast_cli_group ast_cli_follow_group = {.options = options_table};

int ast_cli_follow_parse(const ast_cli_command *command, int argc, char **argv, void *settings,
                         ast_cli_follow_settings *follow) {
    follow->inputs = calloc((size_t)argc + 1, sizeof *follow->inputs);
    if (!follow->inputs)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the list of inputs");
    int code = ast_cli_parse(command, argc, argv, settings, follow->inputs);
    /* Guided normals would split walls at the steps of a sensor. */
    ast_cli_camera_resolve(&follow->camera, settings, AST_SMOOTH_PLANES);
    return code < 0 ? ast_cli_follow_check(follow, settings) : code;
}

void ast_cli_follow_free(ast_cli_follow_settings *given) {
    if (given->list)
        ast_frame_list_free(given->list);
    free(given->list);
    free(given->inputs);
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

int ast_cli_follow_check(ast_cli_follow_settings *given, const ast_cli_common *common) {
    int code = ast_cli_tracker_check(&given->tracker, &given->passes);
    if (code < 0 && !(given->list = calloc(1, sizeof *given->list)))
        code = ast_cli_fail(AST_CLI_FAILED, "there is no memory for the list of inputs");
    if (code < 0)
        code = ast_cli_frames_list(given->list, &given->camera, &given->source, common, given->inputs, given->poses);
    return code;
}

/* Rows that do not match the frames one by one would turn the wrong ones, such as those of a tracker that is faster
 * than the camera. */
static int check_poses(const ast_cli_follow *follow) {
    size_t frames = ast_frames_count(follow->inputs.frames), rows = follow->poses.count;
    if (frames == SIZE_MAX || frames == rows)
        return -1;
    return ast_cli_fail(AST_CLI_FAILED, "%s has %zu row%s, but there are %zu frames; it needs one row a frame",
                        follow->given->poses, rows, rows == 1 ? "" : "s", frames);
}

int ast_cli_follow_open(ast_cli_follow *follow, const ast_cli_common *common, const ast_cli_follow_settings *given) {
    follow->common = common;
    follow->given = given;
    follow->options = ast_cli_tracker_set(&given->tracker, &given->passes);
    follow->files = (ast_cli_frame_files){
        .option = "labels", .folder = given->labels, .extension = "npy", .what = "labels", .durable = given->durable};
    if (given->list->depth && given->tracker.revive < 0) /* normals of planes have hardly any noise */
        follow->options.revive_near = isnan(given->tracker.beta);
    int code = ast_cli_frames_open(&follow->inputs, given->list, &given->camera, &given->source, given->points,
                                   given->dimension);
    if (code < 0 && given->poses)
        code = ast_cli_poses_read(&follow->poses, given->poses);
    if (code < 0 && given->poses)
        code = check_poses(follow);
    if (code < 0)
        code = ast_cli_open_context(common, &follow->context);
    if (code < 0)
        ast_set_cancel(follow->context, NULL, NULL); /* only a step is cut short */
    ast_cli_watch_signals();
    return code;
}

int ast_cli_follow_dimension(ast_cli_follow *follow, size_t dimension, const char *name) {
    follow->options.dimension = dimension;
    const char *problem = ast_stream_options_problem(&follow->options);
    if (problem)
        return ast_cli_fail(AST_CLI_FAILED, "%s: %s", name, problem);
    ast_stream_open(&follow->stream, follow->context, &follow->options);
    if (!follow->stream)
        return ast_cli_fail(AST_CLI_FAILED, "%s: %s", name, ast_message(follow->context));
    return -1;
}

int ast_cli_follow_begin(ast_cli_follow *follow) {
    return follow->given->labels ? ast_cli_frame_files_prepare(&follow->files, &follow->inputs, &follow->given->source)
                                 : -1;
}

void ast_cli_follow_close(ast_cli_follow *follow) {
    ast_stream_close(follow->stream);
    ast_cli_frames_close(&follow->inputs);
    ast_close(follow->context);
    ast_cli_poses_free(&follow->poses);
    free(follow->labels);
    free(follow->vectors);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* A frame without points may not know its dimension; it fits any stream. */
static int check_dimension(ast_cli_follow *follow, ast_points *points) {
    const ast_cli_follow_settings *given = follow->given;
    const char *source = follow->inputs.frame.source;
    /* Raw frames are D wide as they come, before --columns. */
    size_t wanted = given->source.columns || ast_cli_field_given(&given->source) ? 0 : given->dimension;
    if (follow->stream)
        wanted = follow->options.dimension;
    if (points->count == 0 && points->dimension == 0) {
        if (!wanted)
            return ast_cli_fail(AST_CLI_FAILED,
                                "%s holds no points, and no frame before it says how many dimensions "
                                "they have; --dimension D can",
                                source);
        points->dimension = wanted;
    }
    if (wanted && points->dimension != wanted)
        return ast_cli_fail(AST_CLI_FAILED, "%s has points of %zu dimensions, but %s %zu", source, points->dimension,
                            follow->stream ? "those of the frames before it have" : "--dimension is", wanted);
    return follow->stream ? -1 : ast_cli_follow_dimension(follow, points->dimension, source);
}

static int make_room(ast_cli_follow *follow, size_t count) {
    if (follow->labels && count <= follow->capacity)
        return -1;
    free(follow->labels);
    follow->capacity = count > 2 * follow->capacity ? count : 2 * follow->capacity;
    follow->labels = malloc((follow->capacity ? follow->capacity : 1) * sizeof *follow->labels);
    if (!follow->labels)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for %zu labels", follow->inputs.frame.source,
                            count);
    return -1;
}

static int write_labels(const ast_cli_follow *follow) {
    ast_format_error error;
    ast_output *output;
    const ast_cli_frames *inputs = &follow->inputs;
    int code = ast_cli_frame_files_open(&follow->files, &inputs->frame, follow->frame.frame, &output);
    if (code >= 0)
        return code;
    size_t rows = inputs->list->depth ? inputs->height : follow->frame.points;
    bool good = ast_write_array(output, ast_label_array(follow->labels, rows, inputs->width), &error);
    return ast_cli_frame_files_close(output, good, &error);
}

static int turn(ast_cli_follow *follow, ast_points *points) {
    const ast_cli_frames *inputs = &follow->inputs;
    const ast_input_frame *frame = &inputs->frame;
    if (inputs->list->depth)
        return ast_cli_poses_turn_normals(&follow->poses, frame->index, frame->source, inputs->normals, points->count);
    return ast_cli_poses_turn(&follow->poses, frame->index, frame->source, points);
}

/* A frame that a signal cuts short counts as not found: the stream is as it was before it. */
static int step(ast_cli_follow *follow, const ast_points *points, int *found) {
    follow->frame.size = sizeof follow->frame;
    ast_set_cancel(follow->context, ast_cli_cancel, NULL);
    ast_status status = ast_stream_step(follow->stream, points, follow->labels, &follow->frame);
    *found = status != AST_CANCELLED;
    int code = *found ? ast_cli_status(status, follow->context, follow->inputs.frame.source) : -1;
    ast_set_cancel(follow->context, NULL, NULL); /* frames are read to their end */
    return code;
}

static int take_frame(ast_cli_follow *follow, ast_points *points, int *found) {
    const char *source = follow->inputs.frame.source;
    const ast_cli_source *how = &follow->given->source;
    int code = -1;
    if (ast_cli_field_given(how))
        code = ast_cli_field_points(how, source, points, &follow->vectors, &follow->vector_capacity);
    if (code < 0)
        code = check_dimension(follow, points);
    if (code < 0 && follow->given->poses)
        code = turn(follow, points);
    if (code < 0)
        code = make_room(follow, points->count);
    if (code < 0)
        code = step(follow, points, found);
    if (code < 0 && *found && follow->given->labels)
        code = write_labels(follow);
    if (code < 0 && *found) {
        follow->points = *points;
        follow->clusters = ast_stream_clusters(follow->stream, &follow->count);
    }
    return code;
}

static int next_frame(ast_cli_follow *follow, int *found) {
    ast_points points;
    *found = 0;
    if (ast_cli_interrupted())
        return -1;
    int code = ast_cli_frames_next(&follow->inputs, found);
    if (code < 0 && *found)
        code = ast_cli_frames_points(&follow->inputs, follow->context, &points);
    return code < 0 && *found ? take_frame(follow, &points, found) : code;
}

static size_t frames_left(const ast_cli_follow *follow) {
    size_t all = ast_frames_count(follow->inputs.frames);
    return all == SIZE_MAX ? SIZE_MAX : all - (size_t)follow->inputs.frame.index - 1 + follow->more;
}

int ast_cli_follow_run(ast_cli_follow *follow, int (*take)(void *work), void *work) {
    ast_cli_progress progress;
    ast_cli_progress_start(&progress, follow->common, 0);
    progress.show &= follow->common->progress || !follow->lines || !isatty(STDOUT_FILENO);
    int code = -1, found = 1;
    while (code < 0 && found) {
        code = next_frame(follow, &found);
        if (code >= 0 || !found)
            break;
        code = take(work);
        follow->frames += code < 0;
        if (code < 0)
            ast_cli_progress_frame(&progress, &follow->frame, follow->frames, frames_left(follow));
    }
    ast_cli_progress_end(&progress);
    if (code < 0 && ast_cli_interrupted())
        code = ast_cli_fail(AST_CLI_SIGNAL + ast_cli_interrupted(), "stopped after %" PRIu64 " frame%s of this run",
                            follow->frames, follow->frames == 1 ? "" : "s");
    return code;
}
