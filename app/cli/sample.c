/* SPDX-License-Identifier: MIT
 *
 * asterism sample: directions whose true clusters are known, drawn from a mixture of von Mises-Fisher distributions.
 * With --scene it makes frames of a depth camera instead: sample_scene.c. */

#include <platform.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "files.h"
#include "progress.h"
#include "sample_scene.h"
#include "targets.h"
#include "terminal.h"

typedef struct job {
    ast_cli_common common;
    size_t count, dimension, clusters; /* 0: not given */
    double kappa, separation, noise;   /* kappa NaN: not given */
    int axial;
    int distribution;    /* an ast_distribution, or -1 */
    double beta, radius; /* NaN: not given */
    ast_cli_scene scene;
    ast_context *context;
    float *points, *means;
    int32_t *labels;
} job;

static const char *const distributions[] = {"vmf", "watson", "kent", "bingham", "small-circle", NULL};

#define ROUND_RATIO 3.0 /* of the half-axes of Kent and Bingham clusters, where no beta is given */

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"points", AST_CLI_COUNT, "N", "number of points", AT(count), 1, 2147483647, .excludes = "scene"},
    {"dimension", AST_CLI_COUNT, "D", "number of components, 2 to 4096", AT(dimension), 2, 4096, .excludes = "scene"},
    {"clusters", AST_CLI_COUNT, "K", "number of clusters, equally likely", AT(clusters), 1, 2147483647,
     .excludes = "scene"},
    {"kappa", AST_CLI_REAL, "X", "concentration of each cluster; 0 is uniform; watson: below 0 is a girdle", AT(kappa),
     -1e15, 1e15, .excludes = "scene"},
    {"distribution", AST_CLI_CHOICE, "NAME",
     "of each cluster; t is the cosine to its mean, axis or pole:\n"
     "vmf: von Mises-Fisher, exp(kappa t)\n"
     "watson: of axes, exp(kappa t^2)\n"
     "kent: elliptical, D = 3: exp(kappa t + beta (u^2 - v^2))\n"
     "bingham: elliptical, of axes: exp(kappa t^2 + beta u^2)\n"
     "small-circle: exp(-kappa (t - cos radius)^2)",
     AT(distribution), .choices = distributions, .standard = "vmf", .excludes = "scene",
     .more = "u and v are the components along two random directions across the mean. Draws are exact."},
    {"beta", AST_CLI_REAL, "X",
     "kent: 0 to kappa / 2 (default: 0.4 kappa); bingham: 0 to kappa (default: 8/9 kappa); the defaults make "
     "ellipses three times as long as wide",
     AT(beta), 0, 1e15, .excludes = "scene"},
    {"radius", AST_CLI_REAL, "DEG", "of small circles, from the pole to the circle", AT(radius), 0, 180,
     .standard = "45", .excludes = "scene"},
    {"separation", AST_CLI_REAL, "DEG", "smallest angle between two means", AT(separation), 0, 180, .standard = "0",
     .excludes = "scene"},
    {"noise", AST_CLI_REAL, "SHARE", "share of uniform points, 0 to 1, labelled -1", AT(noise), 0, 1, .standard = "0",
     .excludes = "scene"},
    {"axial", AST_CLI_FLAG, NULL, "give every row a random sign; the separation, at most 90 degrees, is that of axes",
     AT(axial), .excludes = "scene"},
    {"output", AST_CLI_TEXT, "FILE",
     "write the points: float32 .npy, .fvecs, .fbin, or text; - is standard output; of a scene: its folder",
     .writes = AST_CLI_WRITES_ROWS, .more = "docs/depth-cameras.md describes the folder of a scene."},
    {"labels", AST_CLI_TEXT, "FILE", "write the true labels: int32 .npy, or text", .writes = AST_CLI_WRITES_ARRAY,
     .excludes = "scene"},
    {"means", AST_CLI_TEXT, "FILE", "write the true means: float32 .npy, .fvecs, .fbin, or text",
     .writes = AST_CLI_WRITES_ROWS, .excludes = "scene"},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, {&ast_cli_scene_group, .offset = AT(scene)}, {0}};

/* A scene is all that is made. */
static int make_scene(void *data) {
    const job *work = data;
    return work->scene.name < 0 ? -1 : ast_cli_scene_run(&work->common, &work->scene);
}

static int check(void *data) {
    const job *work = data;
    const char *missing = !work->count                                  ? "--points N"
                          : !work->dimension                            ? "--dimension D"
                          : !work->clusters                             ? "--clusters K"
                          : isnan(work->kappa)                          ? "--kappa X"
                          : !ast_cli_target_of(&work->common, "output") ? "--output FILE"
                                                                        : NULL;
    if (missing)
        return ast_cli_misuse("sample needs %s", missing);
    const char *name = distributions[work->distribution];
    if (work->kappa < 0 && work->distribution != AST_WATSON)
        return ast_cli_misuse("--kappa %g is below 0, which is for --distribution watson alone", work->kappa);
    if (!isnan(work->beta) && work->distribution != AST_KENT && work->distribution != AST_BINGHAM)
        return ast_cli_misuse("--beta is for --distribution kent and bingham, not %s", name);
    if (ast_cli_typed(&work->common, "radius") && work->distribution != AST_SMALL_CIRCLE)
        return ast_cli_misuse("--radius is for --distribution small-circle, not %s", name);
    if (work->axial && work->distribution == AST_SMALL_CIRCLE)
        return ast_cli_misuse("--axial is not for --distribution small-circle, whose poles have a side");
    bool axes = work->axial || work->distribution == AST_WATSON || work->distribution == AST_BINGHAM;
    if (axes && work->separation > 90)
        return ast_cli_misuse("--separation %g is more than the 90 degrees that axes can be apart", work->separation);
    return ast_cli_check_targets(&work->common, NULL);
}

/* rows x columns x size bytes, or NULL where that is more than there can be. */
static void *table_of(size_t rows, size_t columns, size_t size) {
    if (rows > SIZE_MAX / size / columns)
        return NULL;
    return malloc(rows * columns * size);
}

static int prepare(void *data) {
    job *work = data;
    work->points = table_of(work->count, work->dimension, sizeof *work->points);
    work->means = table_of(work->clusters, work->dimension, sizeof *work->means);
    work->labels = table_of(work->count, 1, sizeof *work->labels);
    if (!work->points || !work->means || !work->labels)
        return ast_cli_fail("there is no memory for %zu points of %zu dimensions", work->count, work->dimension);
    int code = ast_cli_open_context(&work->common, &work->context);
    if (code < 0)
        code = ast_cli_open_targets(&work->common);
    return code;
}

/* The beta of ellipses that are ROUND_RATIO times as long as wide: for Kent the variances are 1 / (kappa -+ 2 beta),
 * for Bingham 1 / 2 (kappa - beta) and 1 / 2 kappa. */
static double beta_of(const job *work) {
    double square = ROUND_RATIO * ROUND_RATIO;
    if (!isnan(work->beta))
        return work->beta;
    return work->distribution == AST_KENT ? work->kappa / 2 * (square - 1) / (square + 1)
                                          : work->kappa * (square - 1) / square;
}

static int draw(void *data) {
    job *work = data;
    ast_cli_progress progress;
    ast_mixture mixture = {.size = sizeof mixture,
                           .points = work->count,
                           .dimension = work->dimension,
                           .clusters = work->clusters,
                           .kappa = work->kappa,
                           .separation = work->separation,
                           .noise = work->noise,
                           .axial = work->axial,
                           .distribution = (ast_distribution)work->distribution,
                           .beta = beta_of(work),
                           .radius = work->radius,
                           .seed = work->common.seed,
                           .progress = ast_cli_progress_drawn,
                           .progress_data = &progress};
    ast_cli_progress_start(&progress, &work->common, work->count);
    ast_status status = ast_sample_mixture(work->context, &mixture, work->points, work->labels, work->means);
    ast_cli_progress_end(&progress);
    return ast_cli_status(status, work->context, NULL);
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static size_t count_noise(const job *work) {
    size_t count = 0;
    for (size_t i = 0; i < work->count; i++)
        count += work->labels[i] < 0;
    return count;
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_json_integer(json, "points", (int64_t)work->count);
    ast_json_integer(json, "dimension", (int64_t)work->dimension);
    ast_json_integer(json, "clusters", (int64_t)work->clusters);
    ast_json_real(json, "kappa", work->kappa, 17);
    ast_json_integer(json, "noise", (int64_t)count_noise(work));
}

/* The files are the result. Only a person at a terminal is told so. */
static void print_line(const void *data) {
    const job *work = data;
    char text[AST_GROUPED], name[AST_CLI_SHOWN];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%s points of %zu clusters in %zu dimensions: %s\n", ast_grouped(work->count, text),
                work->clusters, work->dimension, ast_cli_shown(ast_cli_typed(&work->common, "output"), name));
}

static int deliver(void *data) {
    job *work = data;
    ast_cli_fill_target(&work->common, "output", ast_value_array(work->points, work->count, work->dimension));
    ast_cli_fill_target(&work->common, "labels", ast_label_array(work->labels, work->count, 0));
    ast_cli_fill_target(&work->common, "means", ast_value_array(work->means, work->clusters, work->dimension));
    return ast_cli_deliver(&work->common, &(ast_cli_printer){print_json, print_line, work});
}

static void end(void *data) {
    job *work = data;
    ast_close(work->context);
    free(work->points);
    free(work->means);
    free(work->labels);
}

static ast_cli_step *const steps[] = {make_scene, check, prepare, draw, deliver, NULL};

const ast_cli_command ast_cli_sample = {
    .name = "sample",
    .summary = "draw points, or make depth frames, whose clusters are known",
    .usage = "sample --points N --dimension D --clusters K --kappa X --output FILE [options]\n"
             "sample --scene hallway --output DIR [options]",
    .about =
        "Draws points from a mixture of von Mises-Fisher or other distributions, in random order, with the "
        "label of each. Or makes frames of a depth camera that walks through a corridor with a turn: depth/000000.png "
        "in millimetres, truth/000000.npy with the number of the true direction of each pixel (-1: a hole, "
        "or a curved surface), poses.txt with a row \"time tx ty tz qx qy qz qw\" a frame, and camera.json. "
        "The same seed gives the same files.",
    .more = "The depth has the noise of a structured-light sensor: a standard deviation of 1.2 mm + 1.9 mm (z - 0.4)^2 "
            "with z "
            "in metres, steps of 1/8 pixel of disparity, and holes.",
    .examples = "asterism sample --points 300000 --dimension 3 --clusters 30 --kappa 400 --separation 30 \\\n"
                "    --seed 1 --output points.npy --labels truth.npy\n"
                "asterism sample --points 1000 --dimension 50 --clusters 5 --kappa 90 --noise 0.05 \\\n"
                "    --output points.csv\n"
                "asterism sample --distribution watson --points 500 --dimension 3 --clusters 3 --kappa 20 \\\n"
                "    --separation 60 --output joints.npy\n"
                "asterism sample --scene hallway --frames 120 --output hallway",
    .input = NULL,
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
