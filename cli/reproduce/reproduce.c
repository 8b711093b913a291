/* SPDX-License-Identifier: MIT
 *
 * asterism reproduce: which experiment, and what they share. */
#include "reproduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli.h"
#include "../folder.h"
#include "../frame_files.h"
#include "../terminal.h"
#include "frame_list.h"

typedef ast_reproduce_settings settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"output", AST_CLI_TEXT, "DIR", "the folder for figures and tables; it is made if need be", AT(output), 0, 0, NULL},
    {"quick", AST_CLI_FLAG, NULL,
     "synthetic: a tenth of the points, 3 runs, fewer settings\n"
     "nyu: up to 20 scenes, fewer settings, the guided filter",
     AT(quick), 0, 0, NULL},
    {"runs", AST_CLI_COUNT, "N", "synthetic: data sets to average over (default 50)", AT(runs), 1, 100000, NULL},
    {"samplers", AST_CLI_COUNT, "N",
     "synthetic: also the FSD sampler on the first N data sets,\n"
     "5000 sweeps each (the paper: 10 runs; default 0)",
     AT(samplers), 0, 100000, NULL},
    {"input", AST_CLI_TEXT, "DIR",
     "stream: a folder of depth images; of 'sample --scene\n"
     "hallway' with the true directions",
     AT(input), 0, 0, NULL},
    AST_CLI_REPORT_OPTION(AT(report)),
    {"angle", AST_CLI_REAL, "DEG", "stream: the angle (default 75; the paper: 100)", AT(angle), 0, 180, NULL},
    {"mat", AST_CLI_TEXT, "FILE", "nyu: the data set, nyu_depth_v2_labeled.mat", AT(mat), 0, 0, NULL},
    {"frames", AST_CLI_TEXT, "LIST",
     "nyu: which scenes, from 0, such as 0-99, 5,17 or every\n"
     "tenth as 0-/10 (default all)",
     AT(frames), 0, 0, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

static const ast_cli_group shared_options[] = {{ast_cli_camera_options, AT(camera), "Options for the camera"},
                                               {NULL, 0, NULL}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_reproduce = {
    .name = "reproduce",
    .summary = "run the paper's experiments",
    .usage = "reproduce synthetic --output DIR [options]\n"
             "reproduce stream --input DIR --output DIR --camera NAME [options]\n"
             "reproduce nyu --mat FILE --output DIR [options]",
    .about = "Runs an experiment of the paper and prints its numbers beside the paper's.\n\n"
             "synthetic: 30 von Mises-Fisher clusters on the sphere, 30,000 points, 50 data sets;\n"
             "DP-vMF-means over the angle, spherical k-means over K. Writes synthetic.csv,\n"
             "synthetic.svg and sphere.svg. Ctrl-C keeps the runs that are finished.\n\n"
             "stream: time and consistency of dp, sdp, ddp and spkm with K = 5, frame by frame.\n"
             "Writes stream.csv and the shares of ddp as shares.svg. With the true directions beside\n"
             "the images, as in a hallway of 'sample', it says how many pixels have the one id of\n"
             "their direction over the whole run; without, how many change their id between frames.\n\n"
             "nyu: the scenes of NYU Depth v2 (nyu_depth_v2_labeled.mat, 2.8 GB, from its authors),\n"
             "normals clustered by DP-vMF-means over the angle and by spkm over K. Writes nyu.csv,\n"
             "nyu.svg, histogram.csv and scenes.csv, a row a scene. Ctrl-C keeps the scenes that are\n"
             "finished, and the same command goes on from them. The camera is that of the data set\n"
             "unless --intrinsics says otherwise, the smoothing tv as in the paper.",
    .examples = "asterism reproduce synthetic --output figures\n"
                "asterism reproduce synthetic --quick --output figures --json\n"
                "asterism reproduce stream --input hall --intrinsics 259.5,259.5,159.5,119.5 --output figures\n"
                "asterism reproduce nyu --mat nyu_depth_v2_labeled.mat --frames 0-/10 --output figures",
    .input = "an experiment: synthetic, stream or nyu",
    .options = options_table,
    .shared = shared_options,
    .run = run};

enum { SYNTHETIC = 1, STREAM = 2, NYU = 4 };

typedef struct experiment {
    const char *name;
    int flag;
    int (*run)(const settings *given);
} experiment;

static const experiment experiments[] = {{"synthetic", SYNTHETIC, ast_reproduce_synthetic},
                                         {"stream", STREAM, ast_reproduce_stream},
                                         {"nyu", NYU, ast_reproduce_nyu}};

/* No option that is for other experiments. */
static int check_strays(const settings *given, int flag) {
    const struct {
        int given;
        const char *option;
        int where;
        const char *names;
    } options[] = {{given->quick, "quick", SYNTHETIC | NYU, "synthetic and nyu"},
                   {given->runs > 0, "runs", SYNTHETIC, "synthetic"},
                   {given->samplers > 0, "samplers", SYNTHETIC, "synthetic"},
                   {given->input != NULL, "input", STREAM, "stream"},
                   {!isnan(given->angle), "angle", STREAM, "stream"},
                   {given->mat != NULL, "mat", NYU, "nyu"},
                   {given->frames != NULL, "frames", NYU, "nyu"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && !(options[i].where & flag))
            return ast_cli_fail(AST_CLI_USAGE, "--%s is for reproduce %s", options[i].option, options[i].names);
    return flag == SYNTHETIC ? ast_cli_camera_unused(&given->camera, "the synthetic data") : -1;
}

static int check(const settings *given, int flag) {
    if (!given->output)
        return ast_cli_fail(AST_CLI_USAGE, "reproduce needs --output DIR, a folder for figures and tables");
    if (strcmp(given->output, "-") == 0)
        return ast_cli_fail(AST_CLI_USAGE, "--output needs the name of a folder, not standard output");
    if (flag == STREAM && !given->input)
        return ast_cli_fail(AST_CLI_USAGE, "reproduce stream needs --input DIR, a folder of depth images");
    if (flag == NYU && !given->mat)
        return ast_cli_fail(AST_CLI_USAGE, "reproduce nyu needs --mat FILE, the data set nyu_depth_v2_labeled.mat");
    if (given->frames && ast_frame_list_mark(given->frames, 0, NULL, NULL) != AST_FRAMES_FINE)
        return ast_cli_fail(
            AST_CLI_USAGE, "--frames must be scenes from 0, such as 0-99, 5,17, every tenth as 0-/10, or all, not '%s'",
            given->frames);
    return check_strays(given, flag);
}

static int with_report(settings *given, int argc, char **argv, const experiment *one);

static int run(int argc, char **argv) {
    settings given = {.common = ast_cli_common_default(), .camera = ast_cli_camera_default(), .angle = NAN};
    ast_chart_page page = {0};
    int code = ast_cli_parse(&ast_cli_reproduce, argc, argv, &given, &given.what);
    if (code >= 0)
        return code;
    given.page = given.report ? &page : NULL;
    for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
        if (strcmp(given.what, experiments[i].name) == 0) {
            code = check(&given, experiments[i].flag);
            if (code < 0)
                code = ast_cli_report_check("report", given.report);
            if (code < 0)
                code = given.report ? with_report(&given, argc, argv, &experiments[i]) : experiments[i].run(&given);
            ast_chart_page_free(&page);
            return code;
        }
    return ast_cli_fail(AST_CLI_USAGE, "there is no experiment '%s'; there are synthetic, stream and nyu", given.what);
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
static int with_report(settings *given, int argc, char **argv, const experiment *one) {
    ast_format_error error;
    const ast_chart_page *page = given->page;
    ast_output *output = ast_output_open(given->report, false, &error);
    if (!output)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    char *line = ast_cli_command_line(&ast_cli_reproduce, argc, argv);
    int code = one->run(given), written = AST_CLI_FAILED;
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
