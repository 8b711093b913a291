/* SPDX-License-Identifier: MIT
 *
 * asterism stream: frames in, clusters that keep their ids out. One frame after the other: read, turn, step, then the
 * label file, the JSON line and the state, in this order, so that whatever moment the process dies at, a resumed run
 * repeats at most the last frame and loses none. */
#include <asterism.h>
#include <formats.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"
#include "interrupt.h"
#include "stream_inputs.h"
#include "stream_output.h"
#include "stream_poses.h"
#include "stream_state.h"
#include "terminal.h"
#include "tracker.h"

/* A line goes out in one piece if it fits, so that a kill leaves no half of one in a file. */
enum { LINE_BUFFER = 1 << 20 };

typedef struct settings {
    ast_cli_common common;
    ast_cli_source source;
    ast_cli_passes passes;
    ast_cli_tracker tracker;
    const char **inputs; /* NULL-terminated */
    const char *labels, *poses, *state;
    int durable;
    size_t dimension, points; /* 0: not given */
} settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"labels", AST_CLI_TEXT, "DIR",
     "write one int32 .npy of ids a frame, -1 for missing rows,\n"
     "called as the file or, in arrays and standard input,\n"
     "000000.npy and so on; the folder is made if need be",
     AT(labels), 0, 0, NULL},
    {"poses", AST_CLI_TEXT, "FILE",
     "text with one row a frame, the last four columns being\n"
     "qx qy qz qw, camera to world: points are turned by it",
     AT(poses), 0, 0, NULL},
    {"state", AST_CLI_TEXT, "FILE",
     "resume from the file if it is there, save to it after\n"
     "every frame",
     AT(state), 0, 0, NULL},
    {"durable", AST_CLI_FLAG, NULL, "also sync the state and the labels to disk", AT(durable), 0, 0, NULL},
    {"dimension", AST_CLI_COUNT, "D", "components of a point: checked, and needed for raw frames", AT(dimension), 2,
     4096, NULL},
    {"points", AST_CLI_COUNT, "N",
     "with --dimension: standard input holds raw float32 frames\n"
     "of N x D numbers, without any header",
     AT(points), 1, 2147483647, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

static const ast_cli_group shared_options[] = {{ast_cli_tracker_options, AT(tracker)},
                                               {ast_cli_passes_options, AT(passes)},
                                               {ast_cli_source_options, AT(source)},
                                               {NULL, 0}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_stream = {
    .name = "stream",
    .summary = "follow clusters through a sequence of frames",
    .usage = "stream INPUT... --angle DEG [options]",
    .about = "Clusters one frame after the other. Directions drift, vanish and come back; every\n"
             "cluster keeps its id. INPUT is files in order, a folder, a T x N x D .npy, or - for\n"
             "standard input: .npy arrays one behind the other, or raw frames. Prints a line of\n"
             "JSON a frame.",
    .examples = "asterism stream frames/ --angle 70 --labels labels\n"
                "asterism stream scene.npy --angle 70 --drift 0.5 --lifetime 25 --state scene.state\n"
                "camera | asterism stream - --dimension 3 --points 307200 --angle 70 --poses poses.txt",
    .input = "an INPUT: files, a folder, or - for standard input",
    .many = 1,
    .options = options_table,
    .shared = shared_options,
    .run = run};

/* Everything a run holds; zeroed at first, so that it can be freed at any point. */
typedef struct job {
    const settings *given;
    ast_context *context;
    ast_stream_options options;
    ast_stream *stream; /* opened once the dimension is known */
    ast_cli_inputs inputs;
    ast_cli_poses poses;
    int32_t *labels;
    size_t capacity;
    double shown; /* when the progress line was last written */
    int width;    /* of that line */
} job;

static int check(const settings *given);
static int prepare(job *work);
static int process(job *work);

static int run(int argc, char **argv) {
    settings given = {
        .common = ast_cli_common_default(), .passes = AST_CLI_PASSES_DEFAULT, .tracker = ast_cli_tracker_default()};
    given.inputs = calloc((size_t)argc + 1, sizeof *given.inputs);
    if (!given.inputs)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the list of inputs");
    job work = {.given = &given};
    int code = ast_cli_parse(&ast_cli_stream, argc, argv, &given, given.inputs);
    if (code < 0)
        code = check(&given);
    if (code < 0)
        code = prepare(&work);
    if (code < 0)
        code = process(&work);
    ast_stream_close(work.stream);
    ast_close(work.context);
    ast_cli_inputs_free(&work.inputs);
    ast_cli_poses_free(&work.poses);
    free(work.labels);
    free(given.inputs);
    return code;
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

static int is_standard(const char *path) {
    return path && strcmp(path, "-") == 0;
}

static int check_raw(const settings *given) {
    int standard = 0;
    for (const char **input = given->inputs; *input; input++)
        standard |= is_standard(*input);
    if (given->points && !standard)
        return ast_cli_fail(AST_CLI_USAGE,
                            "--points is for raw frames on standard input, but - is not among the inputs");
    if (given->points && !given->dimension)
        return ast_cli_fail(AST_CLI_USAGE, "--points needs --dimension D too: raw frames have N x D numbers");
    if (given->points && given->source.format)
        return ast_cli_fail(AST_CLI_USAGE,
                            "--points says that standard input holds raw frames, so --format %s cannot be",
                            given->source.format);
    return -1;
}

static int check(const settings *given) {
    int code = ast_cli_tracker_check(&given->tracker, &given->passes, "stream");
    if (code >= 0)
        return code;
    const char *names[] = {given->labels, given->poses, given->state};
    const char *options[] = {"labels", "poses", "state"};
    for (int i = 0; i < 3; i++) {
        if (is_standard(names[i]))
            return ast_cli_fail(AST_CLI_USAGE, "--%s needs a name: only the points can come from standard input",
                                options[i]);
    }
    if (given->durable && !given->state && !given->labels)
        return ast_cli_fail(AST_CLI_USAGE, "--durable is for --state FILE and --labels DIR, and neither is given");
    return check_raw(given);
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static int open_stream(job *work, size_t dimension, const char *name) {
    work->options.dimension = dimension;
    const char *problem = ast_stream_options_problem(&work->options);
    if (problem)
        return ast_cli_fail(AST_CLI_FAILED, "%s: %s", name, problem);
    work->stream = ast_stream_open(work->context, &work->options);
    if (!work->stream)
        return ast_cli_fail(AST_CLI_FAILED, "%s: %s", name, ast_message(work->context));
    return -1;
}

static int take_over(job *work, const ast_cli_standing *standing) {
    const settings *given = work->given;
    if (standing->posed != (given->poses != NULL))
        return ast_cli_fail(AST_CLI_FAILED, "%s: the state was made with%s --poses, and this run is with%s",
                            given->state, standing->posed ? "" : "out", standing->posed ? "out" : "");
    if (given->dimension && !given->source.columns && given->dimension != standing->dimension)
        return ast_cli_fail(AST_CLI_FAILED,
                            "%s: the state was made with points of %" PRIu64 " dimensions, but --dimension is %zu",
                            given->state, standing->dimension, given->dimension);
    int code = open_stream(work, (size_t)standing->dimension, given->state);
    if (code >= 0)
        return code;
    if (ast_stream_load(work->stream, standing->state, standing->state_size) != AST_OK)
        return ast_cli_fail(AST_CLI_FAILED, "%s: %s", given->state, ast_message(work->context));
    return ast_cli_inputs_resume(&work->inputs, standing->path, standing->whole_path, standing->number,
                                 given->poses != NULL);
}

/* A frame is known by its name, so that two of the same name could not be told apart. */
static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_names(const job *work) {
    const ast_cli_inputs *inputs = &work->inputs;
    char **sorted = malloc((inputs->count + 1) * sizeof *sorted);
    if (!sorted)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the list of inputs");
    memcpy(sorted, inputs->paths, inputs->count * sizeof *sorted);
    qsort(sorted, inputs->count, sizeof *sorted, compare_names);
    int code = -1;
    for (size_t i = 1; i < inputs->count && code < 0; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            code = ast_cli_fail(AST_CLI_USAGE,
                                "%s is given twice; with --state the inputs must differ, since the state "
                                "names the last one",
                                sorted[i]);
    }
    free(sorted);
    return code;
}

static int resume(job *work) {
    ast_format_error error;
    ast_cli_standing standing;
    unsigned char *bytes;
    int code = check_names(work);
    if (code >= 0)
        return code;
    code = ast_cli_state_read(work->given->state, &bytes, &standing);
    if (code < 0 && bytes)
        code = take_over(work, &standing);
    free(bytes);
    if (code >= 0)
        return code;
    /* Whether it can be written shows before the first frame rather than after it. */
    ast_output *probe = ast_output_open(work->given->state, false, &error);
    if (!probe)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    ast_output_abandon(probe);
    return -1;
}

static int prepare(job *work) {
    const settings *given = work->given;
    work->options = ast_cli_tracker_set(&given->tracker, &given->passes);
    work->inputs.how = &given->source;
    work->inputs.raw = (ast_raw){.points = given->points, .dimension = given->dimension};
    int code = ast_cli_inputs_list(&work->inputs, given->inputs, given->poses);
    if (code < 0 && given->poses)
        code = ast_cli_poses_read(&work->poses, given->poses);
    if (code < 0)
        code = ast_cli_open_context(&given->common, &work->context);
    ast_cli_watch_signals();
    if (code < 0 && given->state)
        code = resume(work);
    if (code < 0 && given->labels)
        code = ast_cli_labels_prepare(given->labels, &work->inputs);
    return code;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* A frame without points may not know its dimension; it fits any stream. */
static int check_dimension(job *work, ast_points *points) {
    const settings *given = work->given;
    const char *source = work->inputs.source;
    /* Raw frames are D wide as they come, before --columns. */
    size_t wanted = given->source.columns ? 0 : given->dimension;
    if (work->stream)
        wanted = work->options.dimension;
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
                            work->stream ? "those of the frames before it have" : "--dimension is", wanted);
    return work->stream ? -1 : open_stream(work, points->dimension, source);
}

static int make_room(job *work, size_t count) {
    if (work->labels && count <= work->capacity)
        return -1;
    free(work->labels);
    work->capacity = count > 2 * work->capacity ? count : 2 * work->capacity;
    work->labels = malloc((work->capacity ? work->capacity : 1) * sizeof *work->labels);
    if (!work->labels)
        return ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for %zu labels", work->inputs.source, count);
    return -1;
}

static int save_state(job *work, uint64_t frames) {
    const settings *given = work->given;
    const ast_cli_inputs *inputs = &work->inputs;
    char *whole = is_standard(inputs->path) ? NULL : realpath(inputs->path, NULL);
    ast_cli_standing standing = {.path = inputs->path,
                                 .whole_path = whole ? whole : "",
                                 .number = inputs->number,
                                 .frames = frames,
                                 .dimension = work->options.dimension,
                                 .posed = given->poses != NULL};
    standing.state = ast_stream_save(work->stream, &standing.state_size);
    int code = standing.state ? ast_cli_state_write(given->state, given->durable, &standing)
                              : ast_cli_fail(AST_CLI_FAILED, "%s: there is no memory for the state", given->state);
    free(whole);
    return code;
}

/* A line on stderr that people watch, where the JSON goes elsewhere: at most four times a second. */
static void show_progress(job *work, const ast_frame *frame) {
    const ast_cli_common *common = &work->given->common;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    double now = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
    int watched = common->progress || (isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO));
    if (common->quiet || !watched || now - work->shown < 0.25)
        return;
    work->shown = now;
    char line[160], duration[AST_CLI_DURATION];
    int width = snprintf(line, sizeof line, "frame %" PRIu64 ", %zu clusters, %s", frame->frame, frame->clusters,
                         ast_cli_duration(frame->seconds, duration));
    fprintf(stderr, "\r%s%*s", line, work->width > width ? work->width - width : 0, "");
    fflush(stderr);
    work->width = width;
}

static void end_progress(job *work) {
    if (work->width)
        fprintf(stderr, "\r%*s\r", work->width, "");
    work->width = 0;
}

static int take_frame(job *work, ast_points *points) {
    const settings *given = work->given;
    const char *source = work->inputs.source;
    ast_frame frame = {0};
    int code = check_dimension(work, points);
    if (code < 0 && given->poses)
        code = ast_cli_poses_turn(&work->poses, work->inputs.row, source, points);
    if (code < 0)
        code = make_room(work, points->count);
    if (code < 0)
        code = ast_cli_status(ast_stream_step(work->stream, points, work->labels, &frame), work->context, source);
    if (code < 0 && given->labels)
        code = ast_cli_labels_write(given->labels, given->durable, &work->inputs, frame.frame, work->labels,
                                    points->count);
    if (code >= 0)
        return code;
    size_t count;
    const ast_tracked *clusters = ast_stream_clusters(work->stream, &count);
    code = ast_cli_print_frame(source, &frame, clusters, count, work->options.dimension);
    if (code < 0 && given->state)
        code = save_state(work, frame.frame + 1);
    if (code < 0)
        show_progress(work, &frame);
    return code;
}

static int process(job *work) {
    setvbuf(stdout, NULL, _IOFBF, LINE_BUFFER);
    int code = -1, found = 1;
    uint64_t frames = 0;
    while (code < 0 && found && !ast_cli_interrupted()) {
        ast_points points;
        code = ast_cli_inputs_next(&work->inputs, &points, &found);
        if (code < 0 && found) {
            code = take_frame(work, &points);
            frames += code < 0;
        }
    }
    end_progress(work);
    if (code < 0 && ast_cli_interrupted())
        code = ast_cli_fail(AST_CLI_SIGNAL + ast_cli_interrupted(), "stopped after %" PRIu64 " frame%s of this run",
                            frames, frames == 1 ? "" : "s");
    return code < 0 ? AST_CLI_DONE : code;
}
