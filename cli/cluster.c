/* SPDX-License-Identifier: MIT
 *
 * asterism cluster: points in, clusters out. The work is read, open, cluster, deliver, in this order. */
#include <asterism.h>
#include <formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "depth.h"
#include "files.h"
#include "interrupt.h"
#include "mixtures.h"
#include "passes.h"
#include "progress.h"
#include "result.h"
#include "sweep.h"
#include "targets.h"
#include "terminal.h"

enum { LABELS, MEANS, MEMBERSHIPS, SAMPLES, TRACE, TARGETS };

static const char *const automatic[] = {"auto", NULL};
/* In the order of ast_method. */
static const char *const methods[] = {"dp", "spkm", "movmf", "fsd", "crp", "ospkm", "dpmeans", NULL};

typedef struct settings {
    ast_cli_common common;
    ast_cli_source source;
    ast_cli_passes passes;
    ast_cli_mixtures mixtures;
    ast_cli_camera camera;
    const char *input, *weights, *init, *labels, *means;
    int method, shuffle, axial;
    double angle;
    size_t clusters, restarts;
} settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"angle", AST_CLI_REAL, "DEG",
     "dp, dpmeans: how far a point may be from its mean, 0 to 180\n"
     "degrees; the larger, the fewer clusters; auto: as tune\n"
     "recommends (dp)",
     AT(angle), 0, 180, automatic},
    {"method", AST_CLI_CHOICE, "NAME",
     "dp: as many clusters as the angle asks for (the default)\n"
     "spkm: spherical k-means, as many as --clusters says\n"
     "movmf: a mixture of --clusters von Mises-Fisher distributions\n"
     "fsd: samples of such a mixture, at most --clusters of them\n"
     "crp: samples of a Dirichlet process mixture, any number\n"
     "ospkm: online spherical k-means\n"
     "dpmeans: DP-means, which takes directions for points",
     AT(method), 0, 0, methods},
    {"clusters", AST_CLI_COUNT, "K",
     "all but dp and dpmeans: the number of clusters; fsd: the most;\n"
     "crp: how many to start from (default 1)",
     AT(clusters), 1, 2147483647, NULL},
    {"init", AST_CLI_TEXT, "START",
     "a file of means to start from, or with --clusters also\n"
     "k-means++ (the default) or random",
     AT(init), 0, 0, NULL},
    {"axial", AST_CLI_FLAG, NULL,
     "x and -x are the same: undirected normals, poles of planes,\n"
     "lines, quaternions",
     AT(axial), 0, 0, NULL},
    {"weights", AST_CLI_TEXT, "FILE", "one number a point: how much it counts", AT(weights), 0, 0, NULL},
    {"restarts", AST_CLI_COUNT, "R", "runs, of which the best is kept (default 1)", AT(restarts), 1, 1000000, NULL},
    {"shuffle", AST_CLI_FLAG, NULL, "dp, dpmeans: visit the points in a random order", AT(shuffle), 0, 0, NULL},
    {"labels", AST_CLI_TEXT, "FILE",
     "write one label a row, -1 for missing rows: int32 .npy, or\n"
     "text; - is standard output",
     AT(labels), 0, 0, NULL},
    {"means", AST_CLI_TEXT, "FILE", "write the means, one a row: float32 .npy, or text", AT(means), 0, 0, NULL},
    {NULL, AST_CLI_FLAG, NULL, NULL, 0, 0, 0, NULL}};

static const ast_cli_group shared_options[] = {
    {ast_cli_passes_options, AT(passes), NULL},
    {ast_cli_mixtures_options, AT(mixtures), "Options for mixtures and samplers"},
    {ast_cli_camera_options, AT(camera), "Options for depth images"},
    {ast_cli_source_options, AT(source), "Options for tables of points"},
    {NULL, 0, NULL}};

static int run(int argc, char **argv);

const ast_cli_command ast_cli_cluster = {
    .name = "cluster",
    .summary = "find the clusters of directions",
    .usage = "cluster INPUT --angle DEG [options]\ncluster INPUT --method spkm --clusters K [options]\n"
             "cluster INPUT --method movmf|fsd|crp|ospkm|dpmeans [options]",
    .about = "Clusters the rows of INPUT as directions: their length does not matter. Rows that are\n"
             "zero or hold a NaN are missing and get the label -1. The same input and options give\n"
             "the same labels, bit for bit, on any number of threads and on any processor. INPUT may\n"
             "also be a depth image (16-bit PNG or PGM), whose surface normals are the points.",
    .examples = "asterism cluster normals.npy --angle 25\n"
                "asterism cluster normals.npy --angle 25 --labels labels.npy --means means.npy --json\n"
                "asterism cluster words.txt --columns 2-101 --method spkm --clusters 50 --restarts 5\n"
                "asterism cluster faces.npy --method movmf --clusters 12 --memberships belong.npy\n"
                "asterism cluster depth.png --camera kinect --angle 60 --labels labels.npy\n"
                "asterism cluster joints.txt --dip-direction --axial --angle 60\n"
                "zcat poles.csv.gz | asterism cluster - --format csv --angle 20 --labels -",
    .input = "an INPUT file, or - for standard input",
    .options = options_table,
    .shared = shared_options,
    .run = run};

/* Everything a run holds; zeroed at first, so that it can be freed at any point. */
typedef struct job {
    const settings *given;
    ast_options options;
    ast_context *context;
    ast_input input;
    ast_cli_depth depth; /* instead of the input, if it is a depth image */
    ast_points points;
    double *weights;
    float *init;
    int32_t *labels;
    ast_cli_target targets[TARGETS];
    ast_cli_progress progress;
    ast_report report;
    ast_cli_record record;
    float *prior_mean, *memberships;
    ast_cli_sweep sweep; /* with --angle auto */
} job;

static int check(const settings *given);
static int read_inputs(job *work);
static int find_angle(job *work);
static int cluster(job *work);
static int deliver(job *work);
static void free_job(job *work);

static int run(int argc, char **argv) {
    settings given = {.common = ast_cli_common_default(),
                      .passes = AST_CLI_PASSES_DEFAULT,
                      .mixtures = ast_cli_mixtures_default(),
                      .camera = ast_cli_camera_default(),
                      .angle = NAN,
                      .restarts = 1};
    int code = ast_cli_parse(&ast_cli_cluster, argc, argv, &given, &given.input);
    if (code < 0)
        code = check(&given);
    if (code >= 0)
        return code;
    job work = {.given = &given,
                .targets = {[LABELS] = {.option = "labels", .path = given.labels},
                            [MEANS] = {.option = "means", .path = given.means},
                            [MEMBERSHIPS] = {.option = "memberships", .path = given.mixtures.memberships},
                            [SAMPLES] = {.option = "samples", .path = given.mixtures.samples},
                            [TRACE] = {.option = "trace", .path = given.mixtures.trace, .own = true}}};
    code = ast_cli_check_targets(work.targets, TARGETS, given.input, given.common.json);
    if (code < 0)
        code = ast_cli_check_kept(work.targets, TARGETS, given.weights);
    if (code < 0)
        code = read_inputs(&work);
    if (code < 0) {
        ast_cli_progress_start(&work.progress, &given.common, work.points.count);
        code = ast_cli_open_targets(work.targets, TARGETS);
    }
    if (code < 0 && isinf(given.angle))
        code = find_angle(&work);
    if (code < 0)
        code = cluster(&work);
    if (code < 0)
        code = deliver(&work);
    free_job(&work);
    return code;
}

/* ---- The command line -------------------------------------------------------------------------------------------- */

static int names_start(const char *init) {
    return init && (strcmp(init, "random") == 0 || strcmp(init, "k-means++") == 0);
}

/* dp and dpmeans, which find the number of clusters from the angle. */
static int check_angle(const settings *given) {
    const char *method = methods[given->method];
    if (given->clusters)
        return ast_cli_fail(
            AST_CLI_USAGE,
            "--clusters is for --method spkm, movmf, fsd, crp and ospkm; %s finds their number from --angle", method);
    if (isnan(given->angle))
        return ast_cli_fail(AST_CLI_USAGE, "cluster needs --angle DEG, how far a point may be from its mean, such "
                                           "as --angle 25 (or --method spkm --clusters K)");
    if (isinf(given->angle) && given->method != AST_DP)
        return ast_cli_fail(AST_CLI_USAGE, "--angle auto is for --method dp; %s needs degrees, such as --angle 25",
                            method);
    if (isinf(given->angle) && (given->init || given->shuffle || given->restarts > 1))
        return ast_cli_fail(AST_CLI_USAGE, "--angle auto starts by itself; --%s needs an angle in degrees",
                            given->init      ? "init"
                            : given->shuffle ? "shuffle"
                                             : "restarts");
    if (names_start(given->init))
        return ast_cli_fail(AST_CLI_USAGE, "--init %s is for --method spkm; %s starts from a file or from nothing",
                            given->init, method);
    return -1;
}

static int check_method(const settings *given) {
    int from_file = given->init && !names_start(given->init);
    const char *method = methods[given->method];
    int code = ast_cli_mixtures_check(&given->mixtures, (ast_method)given->method, method);
    if (code >= 0)
        return code;
    if (given->axial && given->method != AST_DP && given->method != AST_SPKM)
        return ast_cli_fail(AST_CLI_USAGE, "--axial is for --method dp and spkm; %s takes directions", method);
    if (given->method == AST_DP || given->method == AST_DPMEANS)
        return check_angle(given);
    if (!isnan(given->angle))
        return ast_cli_fail(AST_CLI_USAGE, "--angle is for --method dp and dpmeans; %s takes --clusters K", method);
    if (given->shuffle)
        return ast_cli_fail(AST_CLI_USAGE,
                            "--shuffle is for --method dp and dpmeans, which depend on the order; %s "
                            "does not",
                            method);
    if (given->weights && (given->method == AST_FSD || given->method == AST_CRP))
        return ast_cli_fail(AST_CLI_USAGE, "--weights does not go with --method %s, which counts every point once",
                            method);
    if (given->restarts > 1 && given->mixtures.samples)
        return ast_cli_fail(AST_CLI_USAGE, "--samples are of one run; --restarts makes %zu", given->restarts);
    if (!given->clusters && !from_file && given->method != AST_CRP)
        return ast_cli_fail(AST_CLI_USAGE, "--method %s needs --clusters K, such as --clusters 10", method);
    return -1;
}

static int check_input(const settings *given, int *depth) {
    return ast_cli_depth_check(&given->camera, &given->source, (const char *const[]){given->input, NULL}, depth);
}

static int check(const settings *given) {
    int depth, code = check_method(given);
    if (code < 0)
        code = check_input(given, &depth);
    if (code < 0 && !depth)
        code = ast_cli_check_points(given->input, &given->source);
    if (code < 0)
        code = ast_cli_check_read("weights", given->weights);
    if (code < 0 && !names_start(given->init))
        code = ast_cli_check_read("init", given->init);
    if (code < 0)
        code = ast_cli_check_read("prior-mean", given->mixtures.prior_mean);
    return code;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static int read_start(job *work) {
    const settings *given = work->given;
    ast_options *options = &work->options;
    if (!given->init || strcmp(given->init, "k-means++") == 0)
        return -1;
    if (strcmp(given->init, "random") == 0) {
        options->start = AST_RANDOM;
        return -1;
    }
    int code = ast_cli_read_means(given->init, work->points.dimension, &work->init, &options->means_count);
    if (code >= 0)
        return code;
    if (given->clusters && given->clusters != options->means_count)
        return ast_cli_fail(AST_CLI_FAILED, "--clusters is %zu, but %s has %zu means", given->clusters, given->init,
                            options->means_count);
    options->start = AST_GIVEN;
    options->means = work->init;
    return -1;
}

/* The one direction of --prior-mean. */
static int read_prior(job *work) {
    const char *path = work->given->mixtures.prior_mean;
    size_t rows;
    if (!path)
        return -1;
    int code = ast_cli_read_means(path, work->points.dimension, &work->prior_mean, &rows);
    if (code < 0 && rows != 1)
        return ast_cli_fail(AST_CLI_FAILED, "%s has %zu directions; --prior-mean is one", path, rows);
    work->options.prior_mean = work->prior_mean;
    return code;
}

/* The normals of a depth image, which take the context's threads. */
static int read_depth(job *work) {
    const settings *given = work->given;
    int code = ast_cli_depth_open(&work->depth, &given->camera, (const char *const[]){given->input, NULL});
    if (code < 0)
        code = ast_cli_depth_single(&work->depth, "cluster", given->input);
    if (code < 0)
        code = ast_cli_depth_normals(&work->depth, work->context, &work->points);
    return code;
}

static int read_points(job *work) {
    const settings *given = work->given;
    int depth, code = check_input(given, &depth);
    if (code < 0)
        code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0 && depth)
        return read_depth(work);
    if (code < 0)
        code = ast_cli_open_points(&work->input, given->input, &given->source);
    work->points = work->input.points;
    return code;
}

static int read_inputs(job *work) {
    const settings *given = work->given;
    ast_options_init(&work->options);
    int code = read_points(work);
    if (code >= 0)
        return code;
    size_t count = work->points.count;
    if (given->clusters > count)
        return ast_cli_fail(AST_CLI_FAILED, "--clusters %zu is more than the %zu points of %s", given->clusters, count,
                            ast_cli_name(given->input));
    if (given->weights) {
        code = ast_cli_read_weights(given->weights, given->input, count, &work->weights);
        work->points.weights = work->weights;
    }
    if (code < 0)
        code = read_start(work);
    if (code < 0)
        code = read_prior(work);
    if (code < 0) {
        work->labels = malloc(count * sizeof *work->labels);
        if (!work->labels)
            code = ast_cli_fail(AST_CLI_FAILED, "there is no memory for %zu labels", count);
    }
    return code;
}

/* The sweep's own means at that angle are the start, so that the result is what it saw. */
static int find_angle(job *work) {
    const settings *given = work->given;
    ast_cli_sweep *sweep = &work->sweep;
    ast_cli_angles angles = ast_cli_angles_default();
    angles.axial = given->axial;
    int code = ast_cli_sweep_run(sweep, work->context, &work->points, given->input, &angles, &given->common);
    if (code >= 0)
        return code;
    if (sweep->best == sweep->count)
        return ast_cli_fail(AST_CLI_FAILED, "%s: --angle auto finds no angle, since %s; give one, such as --angle 25",
                            ast_cli_name(given->input), sweep->reason);
    work->options.start = AST_GIVEN;
    work->options.means = sweep->rows[sweep->best].means;
    work->options.means_count = sweep->rows[sweep->best].clusters;
    return -1;
}

static int cluster(job *work) {
    const settings *given = work->given;
    ast_options *options = &work->options;
    options->method = (ast_method)given->method;
    options->angle = work->sweep.count ? work->sweep.rows[work->sweep.best].angle : given->angle;
    options->clusters = given->clusters;
    options->max_iterations = (int)given->passes.max_iterations;
    options->restarts = (int)given->restarts;
    options->shuffle = given->shuffle;
    options->axial = given->axial;
    options->seed = given->common.seed;
    options->parallel = (ast_parallel)given->passes.parallel;
    options->bounds = !given->passes.no_bounds;
    ast_cli_mixtures_apply(&given->mixtures, options);
    work->record = (ast_cli_record){.progress = &work->progress,
                                    .points = work->points.count,
                                    .passes_wanted = given->mixtures.trace != NULL,
                                    .samples_wanted = given->mixtures.samples != NULL};
    options->progress = ast_cli_record_step;
    options->progress_data = &work->record;
    ast_status status = ast_cluster(work->context, &work->points, options, work->labels, &work->report);
    ast_cli_progress_end(&work->progress);
    if (work->record.failed)
        return ast_cli_fail(AST_CLI_FAILED, "there is no memory to keep the %s",
                            given->mixtures.samples ? "samples" : "trace");
    if (status == AST_OK && ast_cli_interrupted())
        status = AST_CANCELLED;
    if (status == AST_OK && work->report.missing == work->report.points)
        return ast_cli_no_usable_row(given->input);
    return ast_cli_status(status, work->context, given->input);
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static ast_cli_result result_of(const job *work) {
    const settings *given = work->given;
    size_t count;
    return (ast_cli_result){
        .report = &work->report,
        .clusters = ast_clusters(work->context, &count),
        .method = methods[given->method],
        .angle = work->options.method == AST_DP || work->options.method == AST_DPMEANS ? work->options.angle : NAN,
        .reason = work->sweep.count ? work->sweep.reason : NULL,
        .oir = given->passes.parallel == AST_OIR,
        .weighted = work->weights != NULL};
}

static int print_json(const void *work) {
    ast_cli_result result = result_of(work);
    return ast_cli_print_json(&result);
}

static void print_table(const void *work) {
    ast_cli_result result = result_of(work);
    ast_cli_print_table(&result);
}

/* Memberships, samples and the trace, where they were asked for. */
static int fill_records(job *work) {
    ast_format_error error;
    ast_cli_target *targets = work->targets;
    size_t points = work->report.points, clusters = work->report.clusters;
    if (targets[MEMBERSHIPS].path) {
        work->memberships = malloc(points * clusters * sizeof *work->memberships);
        if (!work->memberships)
            return ast_cli_fail(AST_CLI_FAILED, "there is no memory for %zu x %zu memberships", points, clusters);
        ast_status status = ast_memberships(work->context, &work->points, work->memberships, NULL);
        if (status != AST_OK)
            return ast_cli_status(status, work->context, work->given->input);
        ast_cli_fill_values(&targets[MEMBERSHIPS], work->memberships, points, clusters);
    }
    if (targets[SAMPLES].path && work->record.sample_count == 0)
        return ast_cli_fail(AST_CLI_FAILED,
                            "--samples has none to write: --max-iterations ends the run before the first");
    ast_cli_fill_labels(&targets[SAMPLES], work->record.samples, work->record.sample_count, points);
    if (targets[TRACE].output && !ast_cli_write_trace(&work->record, targets[TRACE].output, &error))
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    return -1;
}

static int deliver(job *work) {
    int code = fill_records(work);
    if (code >= 0)
        return code;
    ast_cli_printer printer = {print_json, print_table, work};
    if (work->depth.width)
        ast_cli_fill_labels(&work->targets[LABELS], work->labels, work->depth.height, work->depth.width);
    else
        ast_cli_fill_labels(&work->targets[LABELS], work->labels, work->report.points, 0);
    ast_cli_fill_values(&work->targets[MEANS], ast_means(work->context), work->report.clusters, work->report.dimension);
    return ast_cli_deliver(work->targets, TARGETS, &work->given->common, &printer);
}

static void free_job(job *work) {
    ast_cli_abandon_targets(work->targets, TARGETS);
    ast_input_close(&work->input);
    ast_cli_depth_close(&work->depth);
    ast_close(work->context);
    free(work->weights);
    free(work->init);
    free(work->labels);
    free(work->prior_mean);
    free(work->memberships);
    ast_cli_record_free(&work->record);
    ast_cli_sweep_free(&work->sweep);
}
