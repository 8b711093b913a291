/* SPDX-License-Identifier: MIT
 *
 * asterism sample: directions whose true clusters are known, drawn from a mixture of von Mises-Fisher distributions.
 * With --scene it makes frames of a depth camera instead: sample_scene.c. */
#include <asterism.h>
#include <formats.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "files.h"
#include "progress.h"
#include "sample_scene.h"
#include "targets.h"
#include "terminal.h"

enum { POINTS, LABELS, MEANS, TARGETS };

typedef struct settings {
    ast_cli_common common;
    const char *output, *labels, *means;
    size_t points, dimension, clusters; /* 0: not given */
    double kappa, separation, noise;    /* NaN: not given */
    int axial;
    ast_cli_scene scene;
} settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"points", AST_CLI_COUNT, "N", "how many points", AT(points), 1, 2147483647, NULL},
    {"dimension", AST_CLI_COUNT, "D", "of how many components, 2 to 4096", AT(dimension), 2, 4096, NULL},
    {"clusters", AST_CLI_COUNT, "K", "from how many clusters, equally likely", AT(clusters), 1, 2147483647, NULL},
    {"kappa", AST_CLI_REAL, "X", "how concentrated each cluster is; 0 is uniform", AT(kappa), 0, 1e15, NULL},
    {"separation", AST_CLI_REAL, "DEG", "how far the means are apart at least (default 0)", AT(separation), 0, 180,
     NULL},
    {"noise", AST_CLI_REAL, "SHARE", "share of uniform points, 0 to 1, labelled -1 (default 0)", AT(noise), 0, 1, NULL},
    {"axial", AST_CLI_FLAG, NULL, "give every row a random sign; the separation is that of axes", AT(axial), 0, 0,
     NULL},
    {"output", AST_CLI_TEXT, "FILE",
     "write the points: float32 .npy, or text; - is standard\n"
     "output; of a scene: its folder",
     AT(output), 0, 0, NULL},
    {"labels", AST_CLI_TEXT, "FILE", "write the true labels: int32 .npy, or text", AT(labels), 0, 0, NULL},
    {"means", AST_CLI_TEXT, "FILE", "write the true means: float32 .npy, or text", AT(means), 0, 0, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

static const ast_cli_group groups[] = {{ast_cli_scene_options, AT(scene), "Options for a scene"}, {NULL, 0, NULL}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_sample = {
    .name = "sample",
    .summary = "draw points, or make depth frames, whose clusters are known",
    .usage = "sample --points N --dimension D --clusters K --kappa X --output FILE [options]\n"
             "sample --scene hallway --output DIR [options]",
    .about = "Draws points from a mixture of von Mises-Fisher distributions, in random order, with\n"
             "the label of each. Or makes frames of a depth camera that walks through a corridor with\n"
             "a turn: depth/000000.png in millimetres, truth/000000.npy with the number of the true\n"
             "direction of each pixel (-1: a hole, or a curved surface), poses.txt with a row \"time tx\n"
             "ty tz qx qy qz qw\" a frame, and camera.json. The same seed gives the same files.",
    .examples = "asterism sample --points 300000 --dimension 3 --clusters 30 --kappa 400 --separation 30 \\\n"
                "    --seed 1 --output points.npy --labels truth.npy\n"
                "asterism sample --points 1000 --dimension 50 --clusters 5 --kappa 90 --noise 0.05 \\\n"
                "    --output points.csv\n"
                "asterism sample --scene hallway --frames 120 --output hallway",
    .input = NULL,
    .options = options_table,
    .shared = groups,
    .run = run};

typedef struct job {
    const settings *given;
    ast_context *context;
    float *points, *means;
    int32_t *labels;
    ast_cli_target targets[TARGETS];
} job;

static int check_kind(const settings *given);
static int check(const job *work);
static int prepare(job *work);
static int draw(job *work);
static int deliver(job *work);

static int run(int argc, char **argv) {
    settings given = {.common = ast_cli_common_default(), .kappa = NAN, .separation = NAN, .noise = NAN};
    given.scene.name = -1;
    int code = ast_cli_parse(&ast_cli_sample, argc, argv, &given, NULL);
    if (code < 0)
        code = check_kind(&given);
    if (code >= 0)
        return code;
    if (given.scene.name >= 0)
        return ast_cli_scene_run(&given.common, &given.scene, given.output);
    job work = {.given = &given,
                .targets = {[POINTS] = {.option = "output", .path = given.output},
                            [LABELS] = {.option = "labels", .path = given.labels},
                            [MEANS] = {.option = "means", .path = given.means}}};
    code = check(&work);
    if (code < 0)
        code = prepare(&work);
    if (code < 0)
        code = draw(&work);
    if (code < 0)
        code = deliver(&work);
    ast_cli_abandon_targets(work.targets, TARGETS);
    ast_close(work.context);
    free(work.points);
    free(work.means);
    free(work.labels);
    return code;
}

/* Options of the one kind of sample say nothing about the other. */
static int check_kind(const settings *given) {
    const char *of_scene = ast_cli_scene_given(&given->scene);
    const char *of_points = given->points               ? "points"
                            : given->dimension          ? "dimension"
                            : given->clusters           ? "clusters"
                            : !isnan(given->kappa)      ? "kappa"
                            : !isnan(given->separation) ? "separation"
                            : !isnan(given->noise)      ? "noise"
                            : given->axial              ? "axial"
                            : given->labels             ? "labels"
                            : given->means              ? "means"
                                                        : NULL;
    if (given->scene.name >= 0 && of_points)
        return ast_cli_fail(AST_CLI_USAGE, "--%s is for a mixture of clusters, which a --scene is not", of_points);
    if (given->scene.name < 0 && of_scene)
        return ast_cli_fail(AST_CLI_USAGE, "--%s is for frames of a scene: it needs --scene hallway", of_scene);
    return -1;
}

static int check(const job *work) {
    const settings *given = work->given;
    const char *missing = !given->points        ? "--points N"
                          : !given->dimension   ? "--dimension D"
                          : !given->clusters    ? "--clusters K"
                          : isnan(given->kappa) ? "--kappa X"
                          : !given->output      ? "--output FILE"
                                                : NULL;
    if (missing)
        return ast_cli_fail(AST_CLI_USAGE, "sample needs %s", missing);
    if (given->axial && given->separation > 90)
        return ast_cli_fail(AST_CLI_USAGE, "--separation %g is more than the 90 degrees that axes can be apart",
                            given->separation);
    return ast_cli_check_targets(work->targets, TARGETS, NULL, given->common.json);
}

/* rows x columns x size bytes, or NULL where that is more than there can be. */
static void *table_of(size_t rows, size_t columns, size_t size) {
    if (rows > SIZE_MAX / size / columns)
        return NULL;
    return malloc(rows * columns * size);
}

static int prepare(job *work) {
    const settings *given = work->given;
    work->points = table_of(given->points, given->dimension, sizeof *work->points);
    work->means = table_of(given->clusters, given->dimension, sizeof *work->means);
    work->labels = table_of(given->points, 1, sizeof *work->labels);
    if (!work->points || !work->means || !work->labels)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory for %zu points of %zu dimensions", given->points,
                            given->dimension);
    int code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0)
        code = ast_cli_open_targets(work->targets, TARGETS);
    return code;
}

static int draw(job *work) {
    const settings *given = work->given;
    ast_cli_progress progress;
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = given->points,
                           .dimension = given->dimension,
                           .clusters = given->clusters,
                           .kappa = given->kappa,
                           .separation = isnan(given->separation) ? 0 : given->separation,
                           .noise = isnan(given->noise) ? 0 : given->noise,
                           .axial = given->axial,
                           .seed = given->common.seed,
                           .progress = ast_cli_progress_drawn,
                           .progress_data = &progress};
    ast_cli_progress_start(&progress, &given->common, given->points);
    ast_status status = ast_sample_mixture(work->context, &mixture, work->points, work->labels, work->means);
    ast_cli_progress_end(&progress);
    return ast_cli_status(status, work->context, NULL);
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static size_t count_noise(const job *work) {
    size_t count = 0;
    for (size_t i = 0; i < work->given->points; i++)
        count += work->labels[i] < 0;
    return count;
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    const settings *given = work->given;
    ast_json_integer(json, "points", (int64_t)given->points);
    ast_json_integer(json, "dimension", (int64_t)given->dimension);
    ast_json_integer(json, "clusters", (int64_t)given->clusters);
    ast_json_real(json, "kappa", given->kappa, 17);
    ast_json_integer(json, "noise", (int64_t)count_noise(work));
}

/* The files are the result. Only a person at a terminal is told so. */
static void print_line(const void *data) {
    const settings *given = ((const job *)data)->given;
    char text[AST_CLI_GROUPED];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%s points of %zu clusters in %zu dimensions: %s\n", ast_cli_grouped(given->points, text),
                given->clusters, given->dimension, given->output);
}

static int deliver(job *work) {
    const settings *given = work->given;
    ast_cli_printer printer = {print_json, print_line, work};
    ast_cli_fill_values(&work->targets[POINTS], work->points, given->points, given->dimension);
    ast_cli_fill_labels(&work->targets[LABELS], work->labels, given->points, 0);
    ast_cli_fill_values(&work->targets[MEANS], work->means, given->clusters, given->dimension);
    return ast_cli_deliver(work->targets, TARGETS, &given->common, &printer);
}
