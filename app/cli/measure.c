/* SPDX-License-Identifier: MIT
 *
 * asterism measure: how good a labelling is, against the truth (NMI, ARI), against the points (silhouette), or both. */

#include <stdbool.h>
#include <stdlib.h>

#include "directions.h"
#include "ranks.h"
#include "terminal.h"

static const char *const dissimilarities[] = {"cosine", "angle", NULL}; /* in the order of ast_dissimilarity */

typedef struct job {
    ast_cli_subject from;
    const char *labels_file, *truth_file;
    int dissimilarity; /* -1: not given */
    int32_t *labels, *truth;
    size_t count;
    ast_points points;
    size_t first, own; /* several ranks: the points that this one has */
    ast_agreement agreement;
    double silhouette;
    size_t sampled;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"labels", AST_CLI_READ, "FILE", "the labelling to measure: integers, .npy or text", AT(labels_file),
     .required = "the labelling to measure"},
    {"truth", AST_CLI_READ, "FILE", "the true labelling, for NMI and ARI", AT(truth_file),
     .more = "NMI is the normalised mutual information, over the geometric mean of the entropies; ARI is the "
             "adjusted Rand index."},
    {"points", AST_CLI_TEXT, "FILE", "the points, for the silhouette; any input of cluster", .offset = AT(from.input)},
    {"dissimilarity", AST_CLI_CHOICE, "NAME",
     "of the silhouette: cosine, 1 - x.y, over all points (the default), or angle, over a seeded sample "
     "of at most 20000",
     AT(dissimilarity), .choices = dissimilarities, .needs = "points"},
    {"axial", AST_CLI_FLAG, NULL,
     "treat x and -x as the same: the silhouette by 1 - (x.y)^2, or by the angle between axes", AT(from.axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE, .needs = "points"},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_READING_GROUPS(AT(from.reading)), {0}};

static int check(void *data) {
    const job *work = data;
    if (!work->truth_file && !work->from.input)
        return ast_cli_misuse("measure needs --truth FILE or --points FILE to measure the labels against");
    return work->from.input ? ast_cli_subject_check(data) : -1;
}

static int read_all(job *work) {
    size_t count;
    int code = ast_cli_read_labels(work->labels_file, &work->labels, &work->count);
    if (code < 0 && work->truth_file) {
        code = ast_cli_read_labels(work->truth_file, &work->truth, &count);
        if (code < 0 && count != work->count)
            code = ast_cli_fail("%s has %zu labels, but %s has %zu", work->labels_file, work->count, work->truth_file,
                                count);
    }
    if (code < 0)
        code = work->from.input ? ast_cli_subject_read(work)
                                : ast_cli_open_context(&work->from.common, &work->from.context);
    if (code >= 0 || !work->from.input)
        return code;
    work->points = work->from.directions.points;
    if (code < 0 && work->points.count != work->count)
        code = ast_cli_fail("%s has %zu labels, but %s has %zu points", work->labels_file, work->count,
                            ast_cli_name(work->from.input), work->points.count);
    return code;
}

static int read_inputs(void *work) {
    return ast_cli_agree(read_all(work));
}

/* Several ranks: all of them see the same, and each has its part of it. */
static int share(void *data) {
    job *work = data;
    work->own = work->count;
    if (!ast_cli_ranks())
        return -1;
    int code = ast_cli_same_labels(work->labels, work->count, work->labels_file);
    if (code < 0 && work->truth_file)
        code = ast_cli_same_labels(work->truth, work->count, work->truth_file);
    if (code < 0 && work->from.input && work->points.starts)
        return ast_cli_fail("%s has sparse rows, which work on one rank: start it without mpirun",
                            ast_cli_name(work->from.input));
    if (code < 0 && work->from.input)
        code = ast_cli_same_points(&work->points, work->from.input);
    if (code >= 0)
        return code;
    ast_cli_slice(work->count, &work->first, &work->own);
    if (work->from.input)
        ast_cli_cut(&work->points, &work->first);
    return ast_cli_status(ast_join(work->from.context, ast_cli_ranks()), work->from.context, work->labels_file);
}

static int compare(void *data) {
    job *work = data;
    if (!work->truth_file)
        return -1;
    work->agreement.size = sizeof work->agreement;
    ast_status status = ast_compare(work->from.context, work->labels + work->first, work->truth + work->first,
                                    work->own, &work->agreement);
    int code = ast_cli_status(status, work->from.context, work->labels_file);
    if (code < 0 && work->agreement.points == 0)
        code = ast_cli_fail("%s and %s have no row that is labelled in both, so there is nothing to compare",
                            work->labels_file, work->truth_file);
    return ast_cli_agree(code);
}

static int silhouette(void *data) {
    job *work = data;
    if (!work->from.input)
        return -1;
    ast_dissimilarity kind = work->dissimilarity == AST_ANGLE ? AST_ANGLE : AST_COSINE;
    if (work->from.axial)
        kind = kind == AST_ANGLE ? AST_AXIAL_ANGLE : AST_AXIAL_COSINE;
    ast_status status = ast_silhouette(work->from.context, &work->points, work->labels + work->first, kind,
                                       work->from.common.seed, &work->silhouette, &work->sampled);
    bool points = ast_fault_row(work->from.context) > 0; /* the fault is in the points, not in the labels */
    return ast_cli_agree(ast_cli_status(status, work->from.context, points ? work->from.input : work->labels_file));
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static const char *dissimilarity_name(const job *work) {
    return dissimilarities[work->dissimilarity < 0 ? AST_COSINE : work->dissimilarity];
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    if (work->truth_file) {
        ast_json_real(json, "nmi", work->agreement.nmi, 17);
        ast_json_real(json, "ari", work->agreement.ari, 17);
        ast_json_integer(json, "points", (int64_t)work->agreement.points);
        ast_json_integer(json, "clusters", (int64_t)work->agreement.clusters);
        ast_json_integer(json, "truths", (int64_t)work->agreement.truths);
    }
    if (work->from.input) {
        ast_json_real(json, "silhouette", work->silhouette, 17);
        ast_json_string(json, "dissimilarity", dissimilarity_name(work));
        ast_json_integer(json, "sampled", (int64_t)work->sampled);
    }
}

static void print_table(const void *data) {
    const job *work = data;
    char text[AST_GROUPED];
    if (work->truth_file) {
        const ast_agreement *agreement = &work->agreement;
        printf("%-12s%s\n", "points", ast_grouped(agreement->points, text));
        printf("%-12s%zu, in truth %zu\n", "clusters", agreement->clusters, agreement->truths);
        printf("%-12s%.6f  normalised mutual information, 0 to 1\n", "NMI", agreement->nmi);
        printf("%-12s%.6f  adjusted Rand index, about 0 for chance, 1 at most\n", "ARI", agreement->ari);
    }
    if (work->from.input)
        printf("%-12s%.6f  -1 to 1, by %s, over %s points\n", "silhouette", work->silhouette, dissimilarity_name(work),
               ast_grouped(work->sampled, text));
}

static int print(void *data) {
    const job *work = data;
    if (!ast_cli_is_first_rank())
        return AST_CLI_DONE;
    return ast_cli_print(&work->from.common, &(ast_cli_printer){print_json, print_table, work});
}

static void end(void *data) {
    job *work = data;
    ast_cli_subject_end(data);
    free(work->labels);
    free(work->truth);
}

static ast_cli_step *const steps[] = {ast_cli_subject_find, check, read_inputs, share, compare,
                                      silhouette,           print, NULL};

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
