/* SPDX-License-Identifier: MIT
 *
 * asterism reproduce: the options of the paper's experiments, and what only the command can do for them. */
#include <platform.h>
#include <errno.h>
#include <experiments.h>
#include <math.h>
#include <nyu.h>
#include <scene_list.h>
#include <stdlib.h>
#include <string.h>

#include "frame_normals.h"
#include "interrupt.h"
#include "pages.h"
#include "progress.h"
#include "stream_poses.h"
#include "targets.h"
#include "terminal.h"

typedef struct job {
    ast_cli_common common;
    ast_cli_camera camera;
    const char *what, *input, *mat, *chosen;
    int experiment; /* which */
    ast_experiment plan;
    ast_cli_progress progress;
    ast_frame_list list;
    size_t *numbers; /* (list.count) nyu: in the whole input */
    ast_cli_frames frames;
    ast_cli_frame_normals made;
    ast_cli_poses poses;
    char *poses_path, *truths;
    ast_points normals;
    ast_chart_page page;
} job;

enum { SYNTHETIC = 1, STREAM = 2, NYU = 4 };
static const ast_cli_methods experiment_names = {.word = "reproduce",
                                                 .names = (const char *const[]){"synthetic", "stream", "nyu", NULL},
                                                 .bits = (const unsigned[]){SYNTHETIC, STREAM, NYU}};

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"output", AST_CLI_NAME, "DIR", "the folder for figures and tables; it is made if necessary", AT(plan.output),
     .required = "a folder for figures and tables"},
    {"quick", AST_CLI_FLAG, NULL,
     "synthetic: a tenth of the points, 3 runs, fewer settings\n"
     "nyu: up to 20 scenes, fewer settings, the guided filter",
     AT(plan.quick), .methods = SYNTHETIC | NYU},
    {"runs", AST_CLI_COUNT, "N", "data sets to average over (default 50)", AT(plan.runs), 1, 100000,
     .methods = SYNTHETIC},
    {"restarts", AST_CLI_COUNT, "R", "restarts of dp and spkm where both have as many (default 50, with --quick 5)",
     AT(plan.restarts), 1, 10000, .methods = SYNTHETIC},
    {"samplers", AST_CLI_COUNT, "N",
     "the FSD sampler, 5000 sweeps, and the CRP sampler, 100 sweeps, on the first N data sets (the paper: 10 runs)",
     AT(plan.samplers), 0, 100000, .standard = "1", .methods = SYNTHETIC},
    {"input", AST_CLI_TEXT, "DIR...",
     "a folder of depth images; of 'sample --scene hallway' with the true directions; nyu takes several, of one camera",
     AT(input), .methods = STREAM | NYU},
    AST_CLI_REPORT_OPTION(.writes = AST_CLI_WRITES_OWN),
    {"angle", AST_CLI_REAL, "DEG", "the angle of the rows beside the paper's 100 degrees (default 75)", AT(plan.angle),
     0, 180, .methods = STREAM},
    {"mat", AST_CLI_TEXT, "FILE", "the data set, nyu_depth_v2_labeled.mat", AT(mat), .methods = NYU,
     .excludes = "input"},
    {"frames", AST_CLI_TEXT, "LIST", "scenes, counted from 0, such as 0-99, 5,17 or every tenth as 0-/10 (default all)",
     AT(chosen), .methods = NYU},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {
    {.group = &own_group}, {&ast_cli_camera_group, .offset = AT(camera), .methods = STREAM | NYU}, {0}};

/* Folders may stand behind that of --input. */
static int check(void *data) {
    job *work = data;
    ast_cli_input *inputs = work->common.inputs;
    const ast_cli_camera *camera = &work->camera;
    bool is_nyu = experiment_names.bits[work->experiment] == NYU;
    work->what = inputs[0].path;
    if (work->mat || work->input)
        inputs[0] = ast_cli_look_up(&work->common, work->mat ? work->mat : work->input, NULL);
    if (inputs[1].path && !(is_nyu && work->input))
        return ast_cli_misuse("reproduce takes one experiment, and only nyu more than one folder, behind "
                              "--input; '%s' is neither",
                              inputs[1].path);
    if (is_nyu && !work->mat && !work->input)
        return ast_cli_misuse("reproduce nyu needs --mat FILE, the data set nyu_depth_v2_labeled.mat, or "
                              "--input DIR, a folder of depth images");
    if (experiment_names.bits[work->experiment] == STREAM && !work->input)
        return ast_cli_misuse("reproduce stream needs --input DIR, a folder of depth images");
    if (work->chosen && ast_scene_list_mark(work->chosen, 0, NULL, NULL) != AST_SCENES_FINE)
        return ast_cli_misuse(
            "--frames must be scenes from 0, such as 0-99, 5,17, every tenth as 0-/10, or all, not '%s'", work->chosen);
    if (is_nyu && camera->frame)
        return ast_cli_misuse("--frame is one scene; reproduce nyu takes --frames, such as --frames 0-99");
    if (work->mat && (!isnan(camera->scale) || camera->raw[0]))
        return ast_cli_misuse("--%s is not for --mat: a .mat file has its size and metres",
                              camera->raw[0] ? "raw" : "depth-scale");
    return -1;
}

static void end(void *data) {
    job *work = data;
    ast_cli_frame_normals_close(&work->made);
    ast_frames_close(work->frames.frames);
    ast_close(work->plan.context);
    ast_frame_list_free(&work->list);
    ast_cli_poses_free(&work->poses);
    ast_chart_page_free(&work->page);
    free(work->numbers);
    free(work->poses_path);
    free(work->truths);
}

/* ---- The input --------------------------------------------------------------------------------------------------- */

/* Of the list, only the scenes that --frames names, or with --quick some of them, spread evenly. */
static int choose_scenes(job *work) {
    enum { QUICK_SCENES = 20 };
    ast_frame_list *list = &work->list;
    size_t count = list->count, kept = 0, beyond;
    bool *wanted = calloc(count, sizeof *wanted);
    work->numbers = malloc(count * sizeof *work->numbers);
    int code = wanted && work->numbers ? -1 : ast_cli_fail("there is no memory for the list of scenes");
    size_t some = work->plan.quick && count > QUICK_SCENES ? QUICK_SCENES : count;
    if (code < 0 && !work->chosen)
        for (size_t i = 0; i < some; i++)
            wanted[i * count / some] = true;
    else if (code < 0 && ast_scene_list_mark(work->chosen, count, wanted, &beyond) != AST_SCENES_FINE)
        code = ast_cli_fail("--frames: there is no scene %zu in %s, which has %zu, from 0", beyond, work->plan.input,
                            count);
    for (size_t i = 0; i < count && code < 0; i++) {
        if (!wanted[i]) {
            free(list->files[i].path);
            continue;
        }
        work->numbers[kept] = i;
        list->files[kept++] = list->files[i];
        list->count = kept;
    }
    free(wanted);
    return code;
}

/* The name of something in the input folder if it is there. */
static int find(const char *folder, const char *name, char **path) {
    if (asprintf(path, "%s/%s", folder, name) < 0) {
        *path = NULL;
        return ast_cli_fail("there is no memory for the name of %s", name);
    }
    struct stat status;
    if (stat(*path, &status) != 0) {
        free(*path);
        *path = NULL;
    }
    return -1;
}

static int open_poses(job *work) {
    const char *folder = work->input;
    int code = find(folder, "poses.txt", &work->poses_path);
    if (code < 0)
        code = find(folder, "truth", &work->truths);
    if (code < 0 && work->poses_path)
        code = ast_cli_poses_read(&work->poses, work->poses_path);
    if (code < 0 && work->poses_path && work->poses.count != work->list.count)
        code = ast_cli_fail("%s has %zu rows, but there are %zu frames; it needs one row a frame", work->poses_path,
                            work->poses.count, work->list.count);
    work->plan.poses = work->poses_path;
    work->plan.truths = work->truths;
    return code;
}

static int open_input(job *work) {
    ast_experiment *plan = &work->plan;
    ast_cli_camera camera = work->camera;
    bool is_nyu = experiment_names.bits[work->experiment] == NYU;
    plan->input = work->common.inputs[0].path;
    ast_cli_camera_resolve(&camera, &work->common, is_nyu && !work->plan.quick ? AST_SMOOTH_TV : AST_SMOOTH_GUIDED);
    if (work->common.inputs[0].format.holds == AST_HOLDS_SCENES)
        ast_cli_camera_beside(&camera, work->common.inputs);
    for (const ast_cli_input *input = work->common.inputs; input->path; input++)
        if (access(input->path, F_OK) != 0)
            return ast_cli_fail("%s: %s", input->path, strerror(errno));
    int code = ast_cli_frames_list(&work->list, &camera, &(ast_cli_source){0}, &work->common, NULL);
    if (code < 0 && !work->list.depth)
        code = ast_cli_fail("%s holds no depth images (16-bit .png or .pgm)", plan->input);
    if (code < 0 && work->list.nyu)
        plan->depths = work->list.nyu->has_raw ? "raw" : "filled-in";
    if (code < 0)
        code = is_nyu ? choose_scenes(work) : open_poses(work);
    if (code < 0)
        code = ast_cli_frames_open(&work->frames, &work->list, &camera, NULL, 0, 0);
    plan->frames = work->list.count;
    plan->numbers = work->numbers;
    plan->depth = work->frames.options;
    plan->smoothing = (const char *const[]){"guided", "tv", "none", "planes"}[plan->depth.smooth];
    return code;
}

/* ---- What the command does for an experiment --------------------------------------------------------------------- */

static int stopped(void) {
    return ast_cli_interrupted() ? AST_CLI_SIGNAL + ast_cli_interrupted() : 0;
}

static void progress(void *data, size_t done, size_t count, const char *what, double share) {
    ast_cli_progress_share(&((job *)data)->progress, done, count, what, share);
}

static int print(void *data, const ast_experiment_printer *printer, const void *result) {
    job *work = data;
    ast_cli_progress_end(&work->progress);
    return ast_cli_print(&work->common, &(ast_cli_printer){printer->json, printer->table, result});
}

static int next(void *data, ast_input_frame *frame, int *found) {
    job *work = data;
    int code = ast_cli_frames_next(&work->frames, found);
    *frame = work->frames.frame;
    return code;
}

static int normals(void *data, ast_points *points) {
    job *work = data;
    ast_set_cancel(work->plan.context, NULL, NULL); /* milliseconds; the experiment itself sees the signal next */
    int code = ast_cli_frame_points(&work->made, &work->frames, work->plan.context, points);
    ast_set_cancel(work->plan.context, ast_cli_cancel, NULL);
    work->normals = *points;
    return code;
}

static int turn(void *data) {
    job *work = data;
    return ast_cli_poses_turn_normals(&work->poses, &work->frames.frame, work->made.normals, work->normals.count);
}

static const ast_experiment_command command = {.fail = ast_cli_end,
                                               .status = ast_cli_status,
                                               .stopped = stopped,
                                               .now = ast_cli_now,
                                               .progress = progress,
                                               .print = print,
                                               .next = next,
                                               .normals = normals,
                                               .turn = turn};

static int prepare(void *data) {
    job *work = data;
    ast_experiment *plan = &work->plan;
    plan->command = &command;
    plan->data = work;
    plan->seed = work->common.seed;
    plan->page = ast_cli_target_of(&work->common, "report") ? &work->page : NULL;
    plan->angle = isnan(plan->angle) ? 75 : plan->angle;
    int code = experiment_names.bits[work->experiment] == SYNTHETIC ? -1 : open_input(work);
    return code < 0 ? ast_cli_open_context(&work->common, &work->plan.context) : code;
}

static int run_experiment(job *work) {
    static int (*const experiments[])(const ast_experiment *plan) = {ast_experiment_synthetic, ast_experiment_stream,
                                                                     ast_experiment_nyu};
    ast_cli_watch_signals();
    ast_cli_progress_start(&work->progress, &work->common, 0);
    int code = experiments[work->experiment](&work->plan);
    ast_cli_progress_end(&work->progress);
    return code;
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

/* The page with what the experiment has put into it. */
static int write_report(job *work) {
    ast_format_error error;
    ast_page_head head = {0};
    ast_text json = {0};
    char *title, *line = ast_cli_command_line(&ast_cli_reproduce, work->common.argc, work->common.argv);
    ast_cli_target *report = ast_cli_target_of(&work->common, "report");
    int code = ast_cli_page_head(&head, &ast_cli_reproduce, work->what, line, &title);
    if (code < 0) {
        bool good = ast_chart_page_json(&work->page, &head, NULL, &json, &error) &&
                    ast_page_write(&json, report->output, &error);
        code = ast_cli_outcome(ast_output_close(report->output, good, &error), &error);
        report->output = NULL;
    }
    ast_text_free(&json);
    free(title);
    free(line);
    return code;
}

/* An experiment that a signal has stopped keeps what is finished, also in its report. */
static int reproduce(void *data) {
    job *work = data;
    int code = ast_cli_open_targets(&work->common);
    if (code >= 0)
        return code;
    code = run_experiment(work);
    bool finished = code == AST_CLI_DONE || code > AST_CLI_SIGNAL;
    int written = finished && work->page.charts.size + work->page.tables.size > 0 ? write_report(work) : -1;
    return code == AST_CLI_DONE && written >= 0 ? written : code;
}

static ast_cli_step *const steps[] = {check, prepare, reproduce, NULL};

const ast_cli_command ast_cli_reproduce = {
    .name = "reproduce",
    .summary = "run the paper's experiments",
    .usage = "reproduce synthetic --output DIR [options]\n"
             "reproduce stream --input DIR --output DIR --camera NAME [options]\n"
             "reproduce nyu --mat FILE --output DIR [options]\n"
             "reproduce nyu --input DIR... --output DIR --camera NAME [options]",
    .about =
        "Runs an experiment of the paper, writes its figures and tables, and prints its numbers beside the paper's; "
        "docs/PAPER.md says where they differ and why. Ctrl-C keeps what is finished.\n\n"
        "synthetic: 30 von Mises-Fisher clusters on the sphere, by DP-vMF-means, spherical k-means and the FSD and "
        "CRP samplers.\n\n"
        "stream: time and consistency of spkm, dp, sdp and ddp on a folder of depth images, with the truth if it is "
        "beside them, as in a hallway of 'sample'.\n\n"
        "nyu: the scenes of NYU Depth v2 (nyu_depth_v2_labeled.mat, from its authors) by DP-vMF-means and spkm; or, "
        "with --input, depth images in their place. The same command resumes. The camera is that of the data set "
        "unless --intrinsics says otherwise, the smoothing tv as in the paper.",
    .examples = "asterism reproduce synthetic --output figures\n"
                "asterism reproduce synthetic --quick --output figures --json\n"
                "asterism reproduce stream --input hall --intrinsics 259.5,259.5,159.5,119.5 --output figures\n"
                "asterism reproduce nyu --mat nyu_depth_v2_labeled.mat --frames 0-/10 --output figures\n"
                "asterism reproduce nyu --input office kitchen --camera kinect --output figures",
    .input = "an experiment: synthetic, stream or nyu",
    .many = 1,
    .methods = &experiment_names,
    .method = AT(experiment),
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
