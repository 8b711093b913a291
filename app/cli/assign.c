/* SPDX-License-Identifier: MIT
 *
 * asterism assign: labels for new points from known means. Nothing is learned. */

#include <math.h>
#include <stdlib.h>

#include "directions.h"
#include "interrupt.h"
#include "memory.h"
#include "model_file.h"
#include "progress.h"
#include "rows_output.h"
#include "field.h"
#include "stereonet.h"
#include "terminal.h"

typedef struct job {
    ast_cli_subject from;
    const char *means_file, *model_file, *center_file;
    ast_model *model;
    size_t memory;
    double angle;
    float *means, *center, *similarity;
    size_t means_count;
    int32_t *labels;
    float *second;       /* --runner-up: the cosines, */
    int32_t *runners_up; /* --runner-up-labels: and these means; NULL unless one of both is asked for */
    size_t missing, unassigned, assigned; /* points without a similarity, with one and no label, with both */
    ast_cli_rows_output rows;             /* --output */
    ast_format_error error;               /* of writing labels in parts */
    int failed;                           /* it is set */
    int equal_angle;
    ast_cli_progress progress;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"means", AST_CLI_READ, "FILE", "the means, one per row, as cluster --means writes them", AT(means_file),
     .required = "the means to compare with, or --model FILE"},
    {"model", AST_CLI_NAME, "FILE",
     "the model that cluster --model has written: rows get the labels that the run gives", AT(model_file),
     .excludes = "means center-file axial",
     .more = "It centres rows, weighs the components of mixtures, and gives -1 to rows that the run itself would have "
             "taken as outliers. Labels are the ids of its clusters."},
    {"angle", AST_CLI_REAL, "DEG", "points farther than this from every mean get the label -1", AT(angle), 0,
     .high = 180},
    {"cosine", AST_CLI_COSINE, "C", "points less similar than this cosine, -1 to 1, to every mean get the label -1",
     AT(angle), -1, 1, .excludes = "angle"},
    {"center-file", AST_CLI_READ, "FILE", "the mean that cluster --center subtracted: it is subtracted here, too",
     AT(center_file), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL,
     .excludes = "axial dip-direction strike-dip trend-plunge"},
    {"axial", AST_CLI_FLAG, NULL, "treat x and -x as the same: the mean with the largest |cosine|", AT(from.axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE, .more = "This |cosine| is the similarity."},
    {"labels", AST_CLI_TEXT, "FILE",
     "write one label per row, point or triangle, -1 for missing ones: int32 .npy, or text; for images, "
     "an array of the image's shape; - is standard output",
     .writes = AST_CLI_WRITES_ARRAY, .more = "A label is the number of the nearest mean, from 0."},
    {"similarity", AST_CLI_TEXT, "FILE",
     "write the cosine between each point and the nearest mean, NaN for missing rows: float32 .npy, or "
     "text",
     .writes = AST_CLI_WRITES_ARRAY},
    {"runner-up", AST_CLI_TEXT, "FILE",
     "write the cosine between each point and the second nearest mean: the nearer it is to the similarity, the less "
     "sure "
     "the label: float32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE, .needs = "means"},
    {"runner-up-labels", AST_CLI_TEXT, "FILE",
     "write the number of the second nearest mean, -1 for missing rows: int32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE, .needs = "means"},
    {"id", AST_CLI_TEXT, "NAME", "the column of a text table or a .parquet file that identifies the rows, for --output",
     AT(from.reading.source.names), .inputs = AST_CLI_POINTS | AST_CLI_SEVERAL, .needs = "output",
     .excludes = "transpose"},
    {"output", AST_CLI_TEXT, "FILE",
     "write a table with the id of each row (its number from 0 without --id), its label and its similarity to the "
     "mean: "
     ".csv, .jsonl or .parquet",
     .writes = AST_CLI_WRITES_OWN, .inputs = AST_CLI_POINTS | AST_CLI_SPARSE | AST_CLI_SEVERAL},
    AST_CLI_STEREONET_OPTIONS(AT(equal_angle)),
    AST_CLI_MEMORY_OPTION(AT(memory)),
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_READING_GROUPS(AT(from.reading)), {0}};

/* Bytes per point besides its row: label and similarity; rows of few components are copied. */
#define POINT_BYTES 30
#define COLUMN_BYTES 4
#define CENTRED_BYTES 4 /* centred rows are a copy */

static int read_model(job *work) {
    ast_model_info info = {.size = sizeof info};
    size_t dimension = work->from.directions.points.dimension;
    int code = ast_cli_read_model(work->model_file, work->from.context, dimension, &work->model);
    if (code < 0 && ast_model_view(work->model, &info) == AST_OK)
        work->means_count = info.clusters;
    return code;
}

static bool compares(const job *work) {
    return ast_cli_target_of(&work->from.common, "runner-up") ||
           ast_cli_target_of(&work->from.common, "runner-up-labels");
}

static int read_inputs(void *data) {
    job *work = data;
    bool copied = work->center_file || work->model_file;
    ast_cli_budget budget = {work->memory, POINT_BYTES, COLUMN_BYTES + (copied ? CENTRED_BYTES : 0)};
    int code = ast_cli_subject_read_within(&work->from, &budget);
    if (code < 0 && work->model_file)
        code = read_model(work);
    else if (code < 0)
        code = ast_cli_read_means(work->means_file, work->from.directions.points.dimension, &work->means,
                                  &work->means_count);
    if (code < 0 && work->center_file)
        code = ast_cli_read_center(work->center_file, work->from.directions.points.dimension, &work->center);
    if (code < 0 && work->from.directions.in_parts && compares(work))
        return ast_cli_fail(
            "%s is larger than the memory allowed; --runner-up and --runner-up-labels need it in memory",
            work->from.input);
    if (code >= 0 || work->from.directions.in_parts)
        return code;
    size_t count = work->from.directions.points.count;
    work->labels = malloc(count * sizeof *work->labels);
    work->similarity = malloc(count * sizeof *work->similarity);
    work->second = compares(work) ? malloc(count * sizeof *work->second) : NULL;
    work->runners_up = compares(work) ? malloc(count * sizeof *work->runners_up) : NULL;
    if (!work->labels || !work->similarity || (compares(work) && (!work->second || !work->runners_up)))
        return ast_cli_fail("there is no memory for %zu labels", count);
    return -1;
}

static void count_points(job *work, const int32_t *labels, const float *similarity, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (labels[i] >= 0)
            work->assigned++;
        else if (isnan(similarity[i]))
            work->missing++;
        else
            work->unassigned++;
    }
}

static ast_assign_options known_means(const job *work) {
    ast_assign_options known = ast_assign_to(work->means, work->means_count);
    known.angle = work->angle;
    known.axial = work->from.axial;
    known.center = work->center;
    return known;
}

/* ---- Means of other rows ----------------------------------------------------------------------------------------- */

enum { MOST_ASKED = 10000, LEAST_ASKED = 50, PLAIN_DIMENSIONS = 8 };
#define BESIDE 0.25

/* Adds what is left of the unit rows across the means that they were given to; returns the number of rows. */
static size_t add_rest(const job *work, double *row, double *rest) {
    const ast_points *points = &work->from.directions.points;
    size_t dimension = points->dimension, step = (points->count + MOST_ASKED - 1) / MOST_ASKED, taken = 0;
    for (size_t i = 0; i < points->count; i += step) {
        if (work->labels[i] < 0 || !ast_unit_row(points, i, row))
            continue;
        const float *mean = work->means + (size_t)work->labels[i] * dimension;
        double dot = 0, square = 0;
        for (size_t d = 0; d < dimension; d++) {
            dot += row[d] * (double)mean[d];
            square += (double)mean[d] * (double)mean[d];
        }
        for (size_t d = 0; d < dimension; d++)
            rest[d] += row[d] - dot / square * (double)mean[d];
        taken++;
    }
    return taken;
}

/* Members scatter around their own mean in all directions, so that what is left across the means cancels. Where it does
 * not, the means are those of other rows: of centred or mapped ones. In few dimensions means may be anything. */
static void warn_of_other_rows(const job *work) {
    size_t dimension = work->from.directions.points.dimension;
    if (work->model || work->center_file || work->from.axial || work->from.common.quiet ||
        dimension <= PLAIN_DIMENSIONS)
        return;
    double *row = malloc(dimension * sizeof *row), *rest = calloc(dimension, sizeof *rest), square = 0;
    size_t taken = row && rest ? add_rest(work, row, rest) : 0;
    for (size_t d = 0; taken && d < dimension; d++)
        square += rest[d] / (double)taken * (rest[d] / (double)taken);
    if (taken >= LEAST_ASKED && square > BESIDE * BESIDE)
        ast_cli_warn("the rows lie beside the means of %s, all on one side: if the run that wrote them had --center or "
                     "--metric, give assign its --model (or its --center-file)",
                     work->means_file);
    free(row);
    free(rest);
}

static int assign(job *work) {
    ast_assign_options known = known_means(work);
    const ast_points *points = &work->from.directions.points;
    ast_status status;
    if (work->model)
        status = ast_model_assign(work->model, points, work->angle, work->labels, work->similarity);
    else if (compares(work))
        status = ast_assign_compare(work->from.context, points, &known, work->labels, work->similarity, work->second,
                                    work->runners_up);
    else
        status = ast_assign(work->from.context, points, &known, work->labels, work->similarity);
    if (status != AST_OK)
        return ast_cli_directions_status(&work->from.directions, status, work->from.context, work->from.input);
    count_points(work, work->labels, work->similarity, work->from.directions.points.count);
    if (work->missing == work->from.directions.points.count)
        return ast_cli_no_usable_row(work->from.input);
    warn_of_other_rows(work);
    return -1;
}

/* ---- Larger than memory ------------------------------------------------------------------------------------------ */

static bool write_part(job *work, size_t first, size_t count, const int32_t *labels, const float *similarity) {
    ast_array known = ast_cli_directions_array(&work->from.directions, labels, NULL),
              near = ast_cli_directions_array(&work->from.directions, NULL, similarity);
    const ast_cli_common *common = &work->from.common;
    ast_output *one = ast_cli_output_of(common, "labels"), *other = ast_cli_output_of(common, "similarity");
    ast_format_error *error = &work->error;
    return (!one || ast_write_array_part(one, known, first, count, error)) &&
           (!other || ast_write_array_part(other, near, first, count, error)) &&
           ast_cli_rows_put(&work->rows, first, count, labels, similarity, error);
}

static int take_part(size_t first, size_t count, const int32_t *labels, const float *similarity, void *data) {
    job *work = data;
    count_points(work, labels, similarity, count);
    ast_cli_progress_left(&work->progress, first + count, work->from.directions.points.count, "points");
    work->failed = !write_part(work, first, count, labels, similarity);
    return work->failed || ast_cli_interrupted();
}

static int assign_parts(job *work) {
    size_t count = work->from.directions.points.count;
    for (size_t i = 0; i < work->from.common.target_count; i++)
        work->from.common.targets[i].writes = AST_CLI_WRITES_OWN;
    ast_cli_progress_start(&work->progress, &work->from.common, count);
    ast_label_sink sink = {sizeof sink, take_part, work};
    ast_assign_options known = known_means(work);
    const ast_source *source = &work->from.directions.input.source;
    ast_status status = work->model ? ast_model_assign_source(work->model, source, work->angle, &sink)
                                    : ast_assign_source(work->from.context, source, &known, &sink);
    ast_cli_progress_end(&work->progress);
    work->failed |= !ast_cli_rows_end(&work->rows, status == AST_OK && !work->failed, &work->error) && status == AST_OK;
    if (work->failed)
        return ast_cli_target_failed(ast_cli_target_of(&work->from.common, "labels"), &work->error);
    if (status == AST_OK && work->missing == count)
        return ast_cli_no_usable_row(work->from.input);
    return ast_cli_directions_status(&work->from.directions, status, work->from.context, work->from.input);
}

static int open_and_assign(void *data) {
    job *work = data;
    const ast_names *ids = &work->from.directions.input.names;
    int code = ast_cli_open_targets(&work->from.common);
    if (code < 0)
        code = ast_cli_rows_begin(&work->rows, &work->from.common, ids->count ? ids : NULL);
    if (code >= 0)
        return code;
    return work->from.directions.in_parts ? assign_parts(work) : assign(work);
}

/* ---- What came out ----------------------------------------------------------------------------------------------- */

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    ast_json_integer(json, "points", (int64_t)work->from.directions.points.count);
    ast_json_integer(json, "missing", (int64_t)work->missing);
    ast_json_integer(json, "dimension", (int64_t)work->from.directions.points.dimension);
    ast_json_integer(json, "clusters", (int64_t)work->means_count);
    ast_json_integer(json, "assigned", (int64_t)work->assigned);
    ast_json_integer(json, "unassigned", (int64_t)work->unassigned);
}

static void print_table(const void *data) {
    const job *work = data;
    char text[AST_GROUPED];
    printf("%12s point%s, %zu dimensions, %zu mean%s\n", ast_grouped(work->from.directions.points.count, text),
           work->from.directions.points.count == 1 ? "" : "s", work->from.directions.points.dimension,
           work->means_count, work->means_count == 1 ? "" : "s");
    printf("%12s assigned\n", ast_grouped(work->assigned, text));
    if (!isnan(work->angle))
        printf("%12s farther than %g degrees from every mean\n", ast_grouped(work->unassigned, text), work->angle);
    else if (work->unassigned)
        printf("%12s that fit no cluster of the model\n", ast_grouped(work->unassigned, text));
    printf("%12s missing\n", ast_grouped(work->missing, text));
}

static int check(void *data) {
    int code = ast_cli_stereonet_check(data);
    return code < 0 ? ast_cli_subject_check(data) : code;
}

static int draw_stereonet(void *data) {
    const job *work = data;
    if (!work->labels)
        return -1;
    return ast_cli_stereonet_write(&(ast_cli_stereonet){.common = data,
                                                        .points = &work->from.directions.points,
                                                        .labels = work->labels,
                                                        .clusters = work->means_count,
                                                        .input = work->from.input,
                                                        .notation = ast_cli_field_notation(&work->from.reading.source),
                                                        .axial = work->from.axial,
                                                        .equal_angle = work->equal_angle});
}

static int deliver(void *data) {
    job *work = data;
    const ast_cli_common *common = data;
    size_t count = work->from.directions.points.count;
    if (work->rows.output && !work->from.directions.in_parts) {
        bool good = ast_cli_rows_put(&work->rows, 0, count, work->labels, work->similarity, &work->error);
        if (!ast_cli_rows_end(&work->rows, good, &work->error))
            return ast_cli_target_failed(ast_cli_target_of(common, "output"), &work->error);
    }
    ast_cli_fill_target(common, "labels", ast_cli_directions_array(&work->from.directions, work->labels, NULL));
    ast_cli_fill_target(common, "similarity", ast_cli_directions_array(&work->from.directions, NULL, work->similarity));
    ast_cli_fill_target(common, "runner-up", ast_cli_directions_array(&work->from.directions, NULL, work->second));
    ast_cli_fill_target(common, "runner-up-labels",
                        ast_cli_directions_array(&work->from.directions, work->runners_up, NULL));
    return ast_cli_deliver(common, &(ast_cli_printer){print_json, print_table, work});
}

static void end(void *data) {
    job *work = data;
    ast_model_close(work->model);
    free(work->means);
    free(work->center);
    free(work->labels);
    free(work->similarity);
    free(work->second);
    free(work->runners_up);
    ast_parquet_writer_free(work->rows.parquet);
    ast_cli_subject_end(data);
}

static int check_output(void *data) {
    return ast_cli_check_rows_output(data);
}

static ast_cli_step *const steps[] = {check_output,    ast_cli_subject_find, check,   read_inputs,
                                      open_and_assign, draw_stereonet,       deliver, NULL};

const ast_cli_command ast_cli_assign = {
    .name = "assign",
    .summary = "label new points with known means",
    .usage = "assign INPUT... --model FILE|--means FILE [options]",
    .about = "Gives every row of INPUT the number of the nearest mean (from 0, the largest cosine; of equal ones "
             "the lowest number). Nothing is learned: the means stay as they are. INPUT may also be a depth "
             "image, a cloud, a mesh, or several files, as for cluster.",
    .examples = "asterism assign new.npy --model topics.model --labels labels.npy\n"
                "asterism assign new.npy --means means.npy --labels labels.npy\n"
                "asterism assign new.npy --means means.npy --center-file c.npy --cosine 0.5 --labels labels.npy\n"
                "asterism assign scan.pcd --means means.npy --angle 30 --labels labels.npy\n"
                "asterism assign new.csv --means means.npy --angle 25 --labels - --similarity cosine.txt",
    .input = "an INPUT file, or - for standard input",
    .many = 1,
    .inputs = AST_CLI_ANY_INPUT,
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
