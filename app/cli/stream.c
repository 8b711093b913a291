/* SPDX-License-Identifier: MIT
 *
 * asterism stream: frames in, clusters that keep their ids out. One frame after the other: read, turn, step, then the
 * label file, the JSON line and the state, in this order, so that whatever moment the process dies at, a resumed run
 * repeats at most the last frame and loses none. From standard input frames cannot be read again: there the state
 * comes before the line, so that a frame whose line is out is never lost. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream_enroll.h"
#include "stream_state.h"
#include "targets.h"
#include "terminal.h"

/* A line goes out in one piece if it fits, so that a kill hardly ever leaves half of one in a file. */
enum { LINE_BUFFER = 1 << 20 };

typedef struct job {
    ast_cli_tracking tracking;
    const char *state, *enroll, *names;
    int status;
    ast_cli_state_file file;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"state", AST_CLI_NAME, "FILE", "resume from the file if it exists, save to it after every frame", AT(state),
     .more =
         "A kill at any moment loses no frame. The last line may appear twice or, if frames come from standard input, "
         "be missing. docs/faces-and-voices.md shows it."},
    {"status", AST_CLI_FLAG, NULL, "print the last frame and the number of frames of --state, and end", AT(status),
     .needs = "state",
     .more = "No INPUT is needed: asterism stream --state FILE --status. A program that feeds a pipe asks which frames "
             "it need not send again."},
    {"enroll", AST_CLI_READ, "FILE", "people who are known: one row each, or several rows of one name", AT(enroll),
     .more = "They get the ids from 0 on, in order of their first rows, before the first frame, and may be closer to "
             "each other than the angle. A state in which somebody was enrolled keeps its people, and FILE is left "
             "out; asterism identities changes it."},
    {"names", AST_CLI_NAME, "FILE", "the names of the rows of --enroll, one per line", AT(names), .needs = "enroll"},
    {"durable", AST_CLI_FLAG, NULL, "also sync the state and the labels to disk, against power cuts",
     AT(tracking.given.durable), .needs = "state labels"},
    {"dimension", AST_CLI_COUNT, "D", "components of a point: checked, and needed for raw frames",
     AT(tracking.given.dimension), 2, 4096, .inputs = AST_CLI_POINTS},
    {"points", AST_CLI_COUNT, "N",
     "with --dimension: standard input holds raw float32 frames of N x D numbers, without a header",
     AT(tracking.given.points), 1, 2147483647, .inputs = AST_CLI_STANDARD_POINTS, .needs = "dimension",
     .excludes = "format"},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {
    {.group = &own_group}, AST_CLI_TRACKING_GROUPS, {&ast_cli_source_group, .offset = AT(tracking.given.source)}, {0}};

static int is_standard(const char *path) {
    return path && strcmp(path, "-") == 0;
}

/* ---- Before the first frame -------------------------------------------------------------------------------------- */

static int posed_how(const ast_cli_tracking_settings *given) {
    return given->poses ? 1 + given->flip_y : 0;
}

static int take_over(job *work, const ast_cli_saved_stream *saved) {
    const ast_cli_tracking_settings *given = &work->tracking.given;
    const char *state = work->state;
    ast_cli_tracking *tracking = &work->tracking;
    if (!saved->posed != !given->poses)
        return ast_cli_fail("%s: the state was made with%s --poses, and this run is with%s", state,
                            saved->posed ? "" : "out", saved->posed ? "out" : "");
    if (saved->posed != posed_how(given))
        return ast_cli_fail("%s: the state was made with%s --flip-y, and this run is with%s", state,
                            given->flip_y ? "out" : "", given->flip_y ? "" : "out");
    if (given->dimension && !given->source.columns && given->dimension != saved->dimension)
        return ast_cli_fail("%s: the state was made with points of %" PRIu64 " dimensions, but --dimension is %zu",
                            state, saved->dimension, given->dimension);
    int code = ast_cli_tracking_dimension(tracking, (size_t)saved->dimension, state);
    if (code >= 0)
        return code;
    if (ast_stream_load(tracking->stream, saved->state, saved->state_size) != AST_OK)
        return ast_cli_fail("%s: %s", state, ast_message(tracking->context));
    tracking->next = saved->frames;
    code = ast_cli_stream_planes_load(&tracking->planes, tracking->context, state, saved->planes, saved->planes_size);
    if (code >= 0)
        return code;
    return ast_cli_frames_resume(&tracking->inputs, saved->path, saved->whole_path, saved->number,
                                 given->poses != NULL);
}

/* A frame is known by its name, so that two of the same name could not be told apart. */
static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_names(const job *work) {
    const ast_frame_list *list = work->tracking.inputs.list;
    char **sorted = malloc((list->count + 1) * sizeof *sorted);
    if (!sorted)
        return ast_cli_no_memory("the list of inputs");
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = list->files[i].path;
    qsort(sorted, list->count, sizeof *sorted, compare_names);
    int code = -1;
    for (size_t i = 1; i < list->count && code < 0; i++) {
        if (!list->scenes && strcmp(sorted[i - 1], sorted[i]) == 0)
            code = ast_cli_misuse("%s is given twice; with --state the inputs must differ, since the state "
                                  "names the last one",
                                  sorted[i]);
    }
    free(sorted);
    return code;
}

static int resume(void *data) {
    job *work = data;
    ast_cli_saved_stream saved;
    int code = work->state ? check_names(work) : -1;
    if (code < 0 && !work->state && work->enroll)
        return ast_cli_stream_enroll(&work->tracking, work->enroll, work->names);
    if (code >= 0 || !work->state)
        return code;
    work->file = (ast_cli_state_file){.path = work->state, .durable = work->tracking.given.durable};
    code = ast_cli_state_read(work->state, &saved);
    if (code < 0 && saved.bytes)
        code = take_over(work, &saved);
    if (code < 0 && saved.bytes)
        ast_cli_state_resume(&work->file, &saved);
    ast_cli_state_free(&saved);
    if (code < 0 && work->enroll)
        code = ast_cli_stream_enroll(&work->tracking, work->enroll, work->names);
    if (code >= 0)
        return code;
    return ast_cli_check_writable(work->state);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

static int save_state(job *work) {
    const ast_cli_tracking *tracking = &work->tracking;
    const ast_input_frame *frame = &tracking->inputs.frame;
    char *whole = is_standard(frame->path) ? NULL : realpath(frame->path, NULL);
    ast_cli_saved_stream saved = {.path = frame->path,
                                  .whole_path = whole ? whole : "",
                                  .number = frame->number,
                                  .frames = tracking->frame.frame + 1,
                                  .dimension = tracking->options.dimension,
                                  .posed = posed_how(&tracking->given)};
    int code = ast_cli_stream_planes_save(&tracking->planes, tracking->context, &saved.planes, &saved.planes_size);
    if (code < 0)
        code = ast_cli_state_save(&work->file, tracking->stream, &saved);
    free(whole);
    return code;
}

static int take_frame(void *data) {
    job *work = data;
    bool first = work->state && is_standard(work->tracking.inputs.frame.path);
    int code = first ? save_state(work) : -1;
    if (code < 0)
        code = ast_cli_tracking_print(&work->tracking);
    if (code < 0)
        code = ast_cli_stream_view_frame(&work->tracking);
    return code < 0 && work->state && !first ? save_state(work) : code;
}

static int process(void *data) {
    job *work = data;
    setvbuf(stdout, NULL, _IOFBF, LINE_BUFFER);
    if (work->state)
        ast_cli_state_drop_half_line();
    work->tracking.lines = 1;
    work->tracking.lasting = work->state != NULL;
    int code = ast_cli_tracking_run(&work->tracking, take_frame, work);
    return ast_cli_stream_view_end(&work->tracking, code < 0 ? AST_CLI_DONE : code);
}

static void end(void *data) {
    job *work = data;
    ast_cli_state_close(&work->file);
    ast_cli_tracking_end(data);
}

static int status(void *data) {
    job *work = data;
    return work->status ? ast_cli_stream_print_status(&work->tracking.common, work->state) : -1;
}

static ast_cli_step *const steps[] = {
    status, ast_cli_tracking_find, ast_cli_tracking_open, resume, ast_cli_tracking_begin, process, NULL};

const ast_cli_command ast_cli_stream = {
    .name = "stream",
    .summary = "follow clusters through a sequence of frames",
    .usage = "stream INPUT... --angle DEG [options]",
    .about = "Clusters one frame after the other. Directions drift, vanish and come back; every cluster keeps its "
             "id. INPUT is files in order, a folder, a T x N x D .npy, or - for standard input: .npy arrays one "
             "behind the other, or raw frames; or depth images, whose surface normals are the points: 16-bit PNG "
             "or PGM files, a folder of them, a TUM RGB-D folder, or raw frames. Prints a line of JSON per frame.",
    .more = "An id is never used again. Frames may differ in size and may be empty, but not differ in dimension; depth "
            "images all have one size. When the reader of standard output leaves, a run that writes labels, planes, a "
            "state or a report goes on without it, and any other ends with exit code 0.",
    .examples = "asterism stream frames/ --angle 70 --labels labels\n"
                "asterism stream scene.npy --angle 70 --drift 0.5 --lifetime 25 --state scene.state\n"
                "asterism stream depth/ --camera kinect --angle 60 --labels labels\n"
                "asterism stream depth/ --camera kinect --angle 60 --report depth.html >frames.jsonl\n"
                "camera | asterism stream - --raw 640x480 --camera kinect --angle 60 --view\n"
                "camera | asterism stream - --dimension 3 --points 307200 --angle 70 --poses poses.txt",
    .input = "an INPUT: files, a folder, or - for standard input",
    .many = 1,
    .inputs = AST_CLI_POINTS | AST_CLI_DEPTH,
    .methods = &ast_cli_stream_methods,
    .method = AST_CLI_TRACKING_AT(options.method),
    .uses = uses,
    .job = sizeof(job),
    .defaults = ast_cli_tracking_defaults,
    .steps = steps,
    .end = end};
