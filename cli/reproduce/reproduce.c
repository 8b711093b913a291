/* SPDX-License-Identifier: MIT
 *
 * asterism reproduce: which experiment, and what they share. */
#include "reproduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "../targets.h"
#include "../frame_files.h"
#include "../terminal.h"
#include "frame_list.h"

typedef ast_reproduce_settings settings;

enum { SYNTHETIC = 1, STREAM = 2, NYU = 4 };
static const ast_cli_methods experiment_names = {.word = "reproduce",
                                                 .names = (const char *const[]){"synthetic", "stream", "nyu", NULL},
                                                 .bits = (const unsigned[]){SYNTHETIC, STREAM, NYU}};

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"output", AST_CLI_NAME, "DIR", "the folder for figures and tables; it is made if necessary", AT(output),
     .required = "a folder for figures and tables", .manual = "The folder for figures and tables, made if necessary."},
    {"quick", AST_CLI_FLAG, NULL,
     "synthetic: a tenth of the points, 3 runs, fewer settings\n"
     "nyu: up to 20 scenes, fewer settings, the guided filter",
     AT(quick), .methods = SYNTHETIC | NYU,
     .manual = "A tenth of the points, 3 runs, fewer settings. For `nyu`: up to 20 scenes, spread over the file, "
               "fewer settings, the guided filter."},
    {"runs", AST_CLI_COUNT, "N", "data sets to average over (default 50)", AT(runs), 1, 100000, .methods = SYNTHETIC,
     .manual = "Data sets to average over."},
    {"samplers", AST_CLI_COUNT, "N",
     "also the FSD sampler on the first N data sets, 5000 sweeps each (the paper: 10 runs)", AT(samplers), 0, 100000,
     .standard = "0", .methods = SYNTHETIC,
     .manual = "Runs the FSD sampler too, on the first *N* data sets, 5000 sweeps each with at most 50 components; "
               "the last sample counts. This takes seconds per run."},
    {"input", AST_CLI_TEXT, "DIR", "a folder of depth images; of 'sample --scene hallway' with the true directions",
     AT(input), .methods = STREAM, .required = "a folder of depth images", .manual = "The folder of depth images."},
    AST_CLI_REPORT_OPTION(AT(report)),
    {"angle", AST_CLI_REAL, "DEG", "the angle (default 75; the paper: 100)", AT(angle), 0, 180, .methods = STREAM,
     .manual = "The angle (default 75; the paper has 100)."},
    {"mat", AST_CLI_TEXT, "FILE", "the data set, nyu_depth_v2_labeled.mat", AT(mat), .methods = NYU,
     .required = "the data set nyu_depth_v2_labeled.mat", .manual = "The data set."},
    {"frames", AST_CLI_TEXT, "LIST", "scenes, counted from 0, such as 0-99, 5,17 or every tenth as 0-/10 (default all)",
     AT(frames), .methods = NYU,
     .manual = "Which scenes, counted from 0: numbers, ranges (`0-99`, or `100-` to the end), every n-th of a range "
               "(`0-/10`), with commas between them, or `all` (the default)."},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {
    {.group = &own_group}, {&ast_cli_camera_group, .offset = AT(camera), .methods = STREAM | NYU}, {0}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_reproduce = {
    .name = "reproduce",
    .summary = "run the paper's experiments",
    .usage = "reproduce synthetic --output DIR [options]\n"
             "reproduce stream --input DIR --output DIR --camera NAME [options]\n"
             "reproduce nyu --mat FILE --output DIR [options]",
    .about = "Runs an experiment of the paper and prints its numbers beside the paper's.\n\n"
             "synthetic: 30 von Mises-Fisher clusters on the sphere, 30,000 points, 50 data sets; DP-vMF-means "
             "over the angle, spherical k-means over K. Writes synthetic.csv, synthetic.svg and sphere.svg. "
             "Ctrl-C keeps the runs that are finished.\n\n"
             "stream: time and consistency of dp, sdp, ddp and spkm with K = 5, frame by frame. Writes stream.csv "
             "and the shares of ddp as shares.svg. With the true directions beside the images, as in a hallway of "
             "'sample', it says how many pixels have the one id of their direction over the whole run; without, "
             "how many change their id between frames.\n\n"
             "nyu: the scenes of NYU Depth v2 (nyu_depth_v2_labeled.mat, 2.8 GB, from its authors), normals "
             "clustered by DP-vMF-means over the angle and by spkm over K. Writes nyu.csv, nyu.svg, histogram.csv "
             "and scenes.csv, one row per scene. Ctrl-C keeps the scenes that are finished, and the same command "
             "resumes from them. The camera is that of the data set unless --intrinsics says otherwise, the "
             "smoothing tv as in the paper.",
    .manual = "Runs an experiment of the paper and prints its numbers beside the paper's; *docs/PAPER.md* says "
              "where they differ and why.\n\n"
              "`synthetic` draws 50 data sets of 30,000 points from 30 von Mises-Fisher distributions (kappa 200, "
              "means at least 30 degrees apart) and runs DP-vMF-means over the angle and spherical k-means, from "
              "random and from k-means++ starts, over K. It writes *synthetic.csv*, *synthetic.svg* and "
              "*sphere.svg*. Ctrl-C keeps the runs that are finished.\n\n"
              "`stream` follows the surfaces of depth images by dp, sdp and ddp and clusters each frame by spkm "
              "with K = 5. It prints milliseconds per frame, the flicker (pixels whose id is not that of the frame "
              "before) and, where the input has a folder *truth* as `sample --scene hallway` writes it, the "
              "consistency: pixels that have the one id of their true direction over the whole run. *poses.txt* of "
              "the input is used if it is there. It writes *stream.csv* and the shares of ddp as *shares.svg*.\n\n"
              "`nyu` takes the scenes of NYU Depth v2, *nyu_depth_v2_labeled.mat* (2.8 GB, to be had from its "
              "authors; reading it needs a build with libhdf5), makes normals of their depth and clusters these by "
              "DP-vMF-means over the angle and by spherical k-means over K. It prints the mean silhouettes at the "
              "best angle and K, and how many clusters the scenes have at that angle. It writes *nyu.csv* (one row "
              "per setting), *nyu.svg*, *histogram.csv* and *scenes.csv*, one row per scene. Ctrl-C keeps the "
              "scenes that are finished; the same command resumes from them, with the same or other --frames. The "
              "camera is that of the data set unless --intrinsics says otherwise, and the smoothing is `tv`, as in "
              "the paper, unless --smooth does. It takes a second or two per scene.",
    .examples = "asterism reproduce synthetic --output figures\n"
                "asterism reproduce synthetic --quick --output figures --json\n"
                "asterism reproduce stream --input hall --intrinsics 259.5,259.5,159.5,119.5 --output figures\n"
                "asterism reproduce nyu --mat nyu_depth_v2_labeled.mat --frames 0-/10 --output figures",
    .input = "an experiment: synthetic, stream or nyu",
    .methods = &experiment_names,
    .method = AT(experiment),
    .uses = uses,
    .run = run};

typedef int (*experiment)(const settings *given);
static const experiment experiments[] = {ast_reproduce_synthetic, ast_reproduce_stream, ast_reproduce_nyu};

static int check(const settings *given) {
    if (given->frames && ast_frame_list_mark(given->frames, 0, NULL, NULL) != AST_FRAMES_FINE)
        return ast_cli_fail(
            AST_CLI_USAGE, "--frames must be scenes from 0, such as 0-99, 5,17, every tenth as 0-/10, or all, not '%s'",
            given->frames);
    return -1;
}

static int with_report(settings *given, int argc, char **argv);

static int run(int argc, char **argv) {
    settings given = {0};
    ast_chart_page page = {0};
    int code = ast_cli_parse(&ast_cli_reproduce, argc, argv, &given, &given.what);
    if (code < 0)
        code = check(&given);
    if (code >= 0)
        return code;
    given.page = given.report ? &page : NULL;
    code = given.report ? with_report(&given, argc, argv) : experiments[given.experiment](&given);
    ast_chart_page_free(&page);
    return code;
}

/* ---- The report -------------------------------------------------------------------------------------------------- */

/* The page with what the experiment has put into it. */
static int write_report(const settings *given, const char *line, ast_output *output) {
    ast_format_error error;
    ast_page_head head = {0};
    ast_text json = {0};
    char *title;
    int code = ast_cli_page_head(&head, &ast_cli_reproduce, given->what, line, &title);
    if (code < 0 && !(ast_chart_page_json(given->page, &head, NULL, &json, &error) &&
                      ast_page_write(&json, output, &error) && ast_output_finish(output, &error)))
        code = ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    ast_text_free(&json);
    free(title);
    return code;
}

/* An experiment that a signal has stopped keeps what is finished, also in its report. */
static int with_report(settings *given, int argc, char **argv) {
    ast_format_error error;
    const ast_chart_page *page = given->page;
    ast_output *output = ast_output_open(given->report, false, &error);
    if (!output)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    char *line = ast_cli_command_line(&ast_cli_reproduce, argc, argv);
    int code = experiments[given->experiment](given), written = AST_CLI_FAILED;
    if ((code == AST_CLI_DONE || code > AST_CLI_SIGNAL) && page->charts.size + page->tables.size > 0)
        written = write_report(given, line, output);
    if (written >= 0)
        ast_output_abandon(output);
    else if (!ast_output_commit(output, &error))
        written = ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    free(line);
    return code == AST_CLI_DONE && written >= 0 ? written : code;
}

/* ---- What the experiments share ---------------------------------------------------------------------------------- */

int ast_reproduce_file(const settings *given, const char *name, ast_cli_writer *write, const void *data) {
    ast_format_error error;
    int code = ast_reproduce_keep(given, name, write, data);
    if (code < 0 && given->page && !ast_cli_page_add(given->page, name, write, data, &error))
        code = ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    return code;
}

int ast_reproduce_keep(const settings *given, const char *name, ast_cli_writer *write, const void *data) {
    ast_format_error error;
    char *path;
    if (asprintf(&path, "%s/%s", given->output, name) < 0)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for the name of %s", name);
    ast_output *output = ast_output_open(path, false, &error);
    free(path);
    if (!output)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    return ast_cli_frame_files_close(output, write(data, output, &error), &error);
}

void ast_moments_add(ast_moments *moments, double value) {
    double before = value - moments->mean;
    moments->mean += before / (double)++moments->count;
    moments->squares += before * (value - moments->mean);
}

double ast_moments_deviation(const ast_moments *moments) {
    return moments->count > 1 ? sqrt(moments->squares / (double)(moments->count - 1)) : 0;
}
