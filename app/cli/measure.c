/* SPDX-License-Identifier: MIT
 *
 * asterism measure: how good a labelling is, against the truth (NMI, ARI), against the points (silhouette), or both. */
#include <asterism.h>
#include <formats.h>

#include <stdbool.h>
#include <stdlib.h>

#include "cli.h"
#include "directions.h"
#include "ranks.h"
#include "targets.h"
#include "terminal.h"

static const char *const dissimilarities[] = {"cosine", "angle", NULL}; /* in the order of ast_dissimilarity */

typedef struct settings {
    ast_cli_common common;
    ast_cli_reading reading;
    const char *labels, *truth, *points;
    int dissimilarity; /* -1: not given */
    int axial;
} settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"labels", AST_CLI_READ, "FILE", "the labelling to measure: integers, .npy or text", AT(labels),
     .required = "the labelling to measure"},
    {"truth", AST_CLI_READ, "FILE", "the true labelling, for NMI and ARI", AT(truth),
     .more = "NMI is the normalised mutual information, over the geometric mean of the entropies; ARI is the "
             "adjusted Rand index."},
    {"points", AST_CLI_TEXT, "FILE", "the points, for the silhouette; any input of cluster", .offset = AT(points)},
    {"dissimilarity", AST_CLI_CHOICE, "NAME",
     "of the silhouette: cosine, 1 - x.y, over all points (the default), or angle, over a seeded sample "
     "of at most 20000",
     AT(dissimilarity), .choices = dissimilarities, .needs = "points"},
    {"axial", AST_CLI_FLAG, NULL,
     "treat x and -x as the same: the silhouette by 1 - (x.y)^2, or by the angle between axes", AT(axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE, .needs = "points",
     .more = "It is exact unless clusters and dimensions are so many that it takes a sample too."},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_READING_GROUPS(AT(reading)), {0}};

typedef struct job {
    settings given;
    ast_context *context;
    ast_cli_directions directions;
    int32_t *labels, *truth;
    size_t count;
    ast_points points;
    size_t first, own; /* several ranks: the points that this one has */
    ast_agreement agreement;
    double silhouette;
    size_t sampled;
} job;

static int find_input(void *data) {
    settings *given = &((job *)data)->given;
    given->axial |= given->reading.cloud.undirected;
    return ast_cli_reading_find(&given->reading, &given->common, &given->points);
}

static int check(void *data) {
    const settings *given = data;
    if (!given->truth && !given->points)
        return ast_cli_misuse("measure needs --truth FILE or --points FILE to measure the labels against");
    return given->points ? ast_cli_reading_check(&given->reading, &given->common, given->points) : -1;
}

static int read_all(job *work) {
    const settings *given = &work->given;
    size_t count;
    int code = ast_cli_read_labels(given->labels, &work->labels, &work->count);
    if (code < 0)
        code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0 && given->truth) {
        code = ast_cli_read_labels(given->truth, &work->truth, &count);
        if (code < 0 && count != work->count)
            code = ast_cli_fail("%s has %zu labels, but %s has %zu", given->labels, work->count, given->truth, count);
    }
    if (code >= 0 || !given->points)
        return code;
    code =
        ast_cli_directions_read(&work->directions, &given->reading, &given->common, given->points, work->context, NULL);
    work->points = work->directions.points;
    if (code < 0 && work->points.count != work->count)
        code = ast_cli_fail("%s has %zu labels, but %s has %zu points", given->labels, work->count,
                            ast_cli_name(given->points), work->points.count);
    return code;
}

static int read_inputs(void *work) {
    return ast_cli_agree(read_all(work));
}

/* Several ranks: all of them see the same, and each has its part of it. */
static int share(void *data) {
    job *work = data;
    const settings *given = &work->given;
    work->own = work->count;
    if (!ast_cli_ranks())
        return -1;
    int code = ast_cli_same_labels(work->labels, work->count, given->labels);
    if (code < 0 && given->truth)
        code = ast_cli_same_labels(work->truth, work->count, given->truth);
    if (code < 0 && given->points && work->points.starts)
        return ast_cli_fail("%s has sparse rows, which work on one rank: start it without mpirun",
                            ast_cli_name(given->points));
    if (code < 0 && given->points)
        code = ast_cli_same_points(&work->points, given->points);
    if (code >= 0)
        return code;
    ast_cli_slice(work->count, &work->first, &work->own);
    if (given->points)
        ast_cli_cut(&work->points, &work->first);
    return ast_cli_status(ast_join(work->context, ast_cli_ranks()), work->context, given->labels);
}

static int compare(void *data) {
    job *work = data;
    const settings *given = &work->given;
    if (!given->truth)
        return -1;
    work->agreement.size = sizeof work->agreement;
    ast_status status =
        ast_compare(work->context, work->labels + work->first, work->truth + work->first, work->own, &work->agreement);
    int code = ast_cli_status(status, work->context, given->labels);
    if (code < 0 && work->agreement.points == 0)
        code = ast_cli_fail("%s and %s have no row that is labelled in both, so there is nothing to compare",
                            given->labels, given->truth);
    return ast_cli_agree(code);
}

static int silhouette(void *data) {
    job *work = data;
    const settings *given = &work->given;
    if (!given->points)
        return -1;
    ast_dissimilarity kind = given->dissimilarity == AST_ANGLE ? AST_ANGLE : AST_COSINE;
    if (given->axial)
        kind = kind == AST_ANGLE ? AST_AXIAL_ANGLE : AST_AXIAL_COSINE;
    ast_status status = ast_silhouette(work->context, &work->points, work->labels + work->first, kind,
                                       given->common.seed, &work->silhouette, &work->sampled);
    bool points = ast_fault_row(work->context) > 0; /* the fault is in the points, not in the labels */
    return ast_cli_agree(ast_cli_status(status, work->context, points ? given->points : given->labels));
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static const char *dissimilarity_name(const job *work) {
    return dissimilarities[work->given.dissimilarity < 0 ? AST_COSINE : work->given.dissimilarity];
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    if (work->given.truth) {
        ast_json_real(json, "nmi", work->agreement.nmi, 17);
        ast_json_real(json, "ari", work->agreement.ari, 17);
        ast_json_integer(json, "points", (int64_t)work->agreement.points);
        ast_json_integer(json, "clusters", (int64_t)work->agreement.clusters);
        ast_json_integer(json, "truths", (int64_t)work->agreement.truths);
    }
    if (work->given.points) {
        ast_json_real(json, "silhouette", work->silhouette, 17);
        ast_json_string(json, "dissimilarity", dissimilarity_name(work));
        ast_json_integer(json, "sampled", (int64_t)work->sampled);
    }
}

static void print_table(const void *data) {
    const job *work = data;
    char text[AST_GROUPED];
    if (work->given.truth) {
        const ast_agreement *agreement = &work->agreement;
        printf("%-12s%s\n", "points", ast_grouped(agreement->points, text));
        printf("%-12s%zu, in truth %zu\n", "clusters", agreement->clusters, agreement->truths);
        printf("%-12s%.6f  normalised mutual information, 0 to 1\n", "NMI", agreement->nmi);
        printf("%-12s%.6f  adjusted Rand index, about 0 for chance, 1 at most\n", "ARI", agreement->ari);
    }
    if (work->given.points)
        printf("%-12s%.6f  -1 to 1, by %s, over %s points\n", "silhouette", work->silhouette, dissimilarity_name(work),
               ast_grouped(work->sampled, text));
}

static int print(void *data) {
    const job *work = data;
    if (!ast_cli_is_first_rank())
        return AST_CLI_DONE;
    return ast_cli_print(&work->given.common, &(ast_cli_printer){print_json, print_table, work});
}

static void end(void *data) {
    job *work = data;
    ast_cli_directions_close(&work->directions);
    ast_cli_reading_free(&work->given.reading);
    ast_close(work->context);
    free(work->labels);
    free(work->truth);
}

static ast_cli_step *const steps[] = {find_input, check, read_inputs, share, compare, silhouette, print, NULL};

const ast_cli_command ast_cli_measure = {
    .name = "measure",
    .summary = "compare labels with the truth or with the points",
    .usage = "measure --labels FILE --truth FILE [options]\nmeasure --labels FILE --points FILE [options]",
    .about = "Compares labels with true labels (normalised mutual information and adjusted Rand index: 1 for the "
             "same partition), or with the points themselves (mean silhouette, -1 to 1), or both. Rows labelled "
             "-1 are left out.",
    .examples = "asterism measure --labels labels.npy --truth truth.npy\n"
                "asterism measure --labels labels.npy --points points.npy --json",
    .input = NULL,
    .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SEVERAL,
    .data = "points",
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
