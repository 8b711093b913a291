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

typedef ast_reproduce_settings settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"output", AST_CLI_TEXT, "DIR", "the folder for figures and tables; it is made if need be", AT(output), 0, 0, NULL},
    {"quick", AST_CLI_FLAG, NULL, "synthetic: a tenth of the points, 3 runs, fewer settings", AT(quick), 0, 0, NULL},
    {"runs", AST_CLI_COUNT, "N", "synthetic: data sets to average over (default 50)", AT(runs), 1, 100000, NULL},
    {"samplers", AST_CLI_COUNT, "N",
     "synthetic: also the FSD sampler on the first N data sets,\n"
     "5000 sweeps each (the paper: 10 runs; default 0)",
     AT(samplers), 0, 100000, NULL},
    {"input", AST_CLI_TEXT, "DIR",
     "stream: a folder of depth images; of 'sample --scene\n"
     "hallway' with the true directions",
     AT(input), 0, 0, NULL},
    {"angle", AST_CLI_REAL, "DEG", "stream: the angle (default 75; the paper: 100)", AT(angle), 0, 180, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

static const ast_cli_group shared_options[] = {{ast_cli_camera_options, AT(camera), "Options for the camera"},
                                               {NULL, 0, NULL}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_reproduce = {
    .name = "reproduce",
    .summary = "run the paper's experiments",
    .usage = "reproduce synthetic --output DIR [options]\n"
             "reproduce stream --input DIR --output DIR --camera NAME [options]",
    .about = "Runs an experiment of the paper and prints its numbers beside the paper's.\n\n"
             "synthetic: 30 von Mises-Fisher clusters on the sphere, 30,000 points, 50 data sets;\n"
             "DP-vMF-means over the angle, spherical k-means over K. Writes synthetic.csv,\n"
             "synthetic.svg and sphere.svg. Ctrl-C keeps the runs that are finished.\n\n"
             "stream: time and consistency of dp, sdp, ddp and spkm with K = 5, frame by frame.\n"
             "Writes stream.csv and the shares of ddp as shares.svg. With the true directions beside\n"
             "the images, as in a hallway of 'sample', it says how many pixels have the one id of\n"
             "their direction over the whole run; without, how many change their id between frames.",
    .examples = "asterism reproduce synthetic --output figures\n"
                "asterism reproduce synthetic --quick --output figures --json\n"
                "asterism reproduce stream --input hall --intrinsics 259.5,259.5,159.5,119.5 --output figures",
    .input = "an experiment: synthetic or stream",
    .options = options_table,
    .shared = shared_options,
    .run = run};

static int check(const settings *given, int stream) {
    if (!given->output)
        return ast_cli_fail(AST_CLI_USAGE, "reproduce needs --output DIR, a folder for figures and tables");
    if (strcmp(given->output, "-") == 0)
        return ast_cli_fail(AST_CLI_USAGE, "--output needs the name of a folder, not standard output");
    if (stream && !given->input)
        return ast_cli_fail(AST_CLI_USAGE, "reproduce stream needs --input DIR, a folder of depth images");
    if (stream && (given->quick || given->runs))
        return ast_cli_fail(AST_CLI_USAGE, "--%s is for reproduce synthetic", given->quick ? "quick" : "runs");
    if (!stream && (given->input || !isnan(given->angle)))
        return ast_cli_fail(AST_CLI_USAGE, "--%s is for reproduce stream", given->input ? "input" : "angle");
    return -1;
}

static int run(int argc, char **argv) {
    settings given = {.common = ast_cli_common_default(), .camera = ast_cli_camera_default(), .angle = NAN};
    int code = ast_cli_parse(&ast_cli_reproduce, argc, argv, &given, &given.what);
    if (code >= 0)
        return code;
    int stream = strcmp(given.what, "stream") == 0;
    if (!stream && strcmp(given.what, "synthetic") != 0)
        return ast_cli_fail(AST_CLI_USAGE, "there is no experiment '%s'; there are synthetic and stream", given.what);
    code = check(&given, stream);
    if (code >= 0)
        return code;
    return stream ? ast_reproduce_stream(&given) : ast_reproduce_synthetic(&given);
}

int ast_reproduce_file(const settings *given, const char *name, ast_reproduce_writer *write, const void *data) {
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
