/* SPDX-License-Identifier: MIT
 *
 * asterism explore: a page on which the angle is dragged and the clusters follow. */
#include <explore.h>
#include <projection.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <viewer.h>

#include "cluster.h"
#include "field.h"
#include "interrupt.h"
#include "pages.h"
#include "recommend.h"
#include "terminal.h"
#include "topics.h"

typedef struct job {
    ast_cli_subject from;
    const char *once, *bind, *names_file;
    double angle;
    int center;
    int metric; /* ast_metric_kind */
    size_t port;
    ast_names names; /* with --names */
    ast_cli_topic_files topic_files;
    ast_cli_topics topics;
    ast_explored explored;
} job;

static const char *const metrics[] = {"plain", "local", "auto", NULL}; /* ast_metric_kind */

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"angle", AST_CLI_REAL, "DEG", "the angle that the page starts with", AT(angle), 0, 180, .standard = "30"},
    {"cosine", AST_CLI_COSINE, "C", "the same as a cosine similarity, -1 to 1", AT(angle), -1, 1, .excludes = "angle"},
    {"axial", AST_CLI_FLAG, NULL, "start with x and -x as the same", AT(from.axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE},
    {"center", AST_CLI_FLAG, NULL, "start with the rows without their common direction, as cluster --center",
     AT(center), .inputs = AST_CLI_POINTS, .excludes = "axial dip-direction strike-dip trend-plunge"},
    {"metric", AST_CLI_CHOICE, "plain|local|auto",
     "start with rows as they are, or mapped so that clusters are round; auto: as tune finds", AT(metric),
     .choices = metrics, .standard = "auto", .more = "docs/metric.md has the rule."},
    {"labels", AST_CLI_TEXT, "FILE", "the file into which the page can save the labels: int32 .npy, or text",
     .writes = AST_CLI_WRITES_ARRAY, .more = "A page writes nowhere else. Without this option it saves none."},
    {"names", AST_CLI_NAME, "FILE", "a text with one name per row", AT(names_file),
     .inputs = AST_CLI_POINTS | AST_CLI_SPARSE, .excludes = "name-column"},
    {"name-column", AST_CLI_TEXT, "N|NAME",
     "the column of a text table that holds the names, by number or by its name in the header; it is no coordinate",
     AT(from.reading.source.names), .inputs = AST_CLI_POINTS, .excludes = "transpose"},
    {"id", AST_CLI_TEXT, "NAME",
     "the column of a text table or a .parquet file that identifies the rows: their names on the page",
     AT(from.reading.source.names), .inputs = AST_CLI_POINTS, .excludes = "name-column names transpose"},
    {"port", AST_CLI_COUNT, "PORT", "serve on this port; by default on any free port", AT(port), 1, 65535,
     .excludes = "once"},
    {"bind", AST_CLI_TEXT, "ADDRESS", "serve at this address instead of 127.0.0.1, this machine alone", AT(bind),
     .excludes = "once"},
    {"once", AST_CLI_TEXT, "FILE.json", "compute the sweep that the page shows, write it to this file, and end",
     AT(once), .more = "It has what `tune --json` prints; - is standard output."},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group},
                                   {&ast_cli_topics_group, .offset = AT(topic_files)},
                                   AST_CLI_READING_GROUPS(AT(from.reading)),
                                   {0}};

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* --once names no file that is read, and none that the page writes. */
static int check_once(const job *work) {
    const ast_cli_common *common = &work->from.common;
    const ast_cli_target once = {.option = "once", .path = work->once};
    int code = ast_cli_check_apart("labels", ast_cli_typed(common, "labels"), "once", work->once);
    if (code < 0)
        code = ast_cli_check_target(&once, common->inputs[0].path);
    for (size_t i = 0; i < common->typed_count && code < 0; i++)
        if (common->typed[i]->kind == AST_CLI_READ || common->typed[i]->kind == AST_CLI_NAME)
            code = ast_cli_check_target(&once, common->values[i]);
    return code < 0 && strcmp(work->once, "-") != 0 ? ast_cli_check_writable(work->once) : code;
}

static int check(void *data) {
    const job *work = data;
    const char *labels = ast_cli_typed(&work->from.common, "labels");
    int code = work->once ? -1 : ast_cli_serving_check("explore", work->bind);
    if (code < 0 && labels && strcmp(labels, "-") == 0)
        code = ast_cli_misuse("--labels of explore is a file that a page writes; it cannot be -");
    if (code < 0)
        code = ast_cli_metric_check((ast_metric_kind)work->metric,
                                    work->from.axial || work->from.reading.cloud.undirected, work->center);
    if (code < 0)
        code = ast_cli_subject_check(data);
    if (code < 0 && work->once)
        code = check_once(work);
    return code < 0 && labels ? ast_cli_check_writable(labels) : code;
}

static int read_names(void *data) {
    job *work = data;
    size_t count = work->from.directions.points.count;
    int code = work->names_file ? ast_cli_read_names(work->names_file, work->from.input, count, &work->names) : -1;
    return code < 0 ? ast_cli_topics_read(&work->topics, &work->topic_files, &work->from.directions.points,
                                          work->from.reading.sparse.tf_idf, work->from.input)
                    : code;
}

/* Whether any row has a direction. */
static int check_rows(void *data) {
    const job *work = data;
    const ast_points *points = &work->from.directions.points;
    double *row = malloc((points->dimension + 1) * sizeof *row);
    size_t i = 0;
    if (!row)
        return ast_cli_no_memory("a row");
    while (i < points->count && !ast_unit_row(points, i, row))
        i++;
    free(row);
    return i < points->count ? -1 : ast_cli_no_usable_row(work->from.input);
}

/* ---- For the pages ----------------------------------------------------------------------------------------------- */

static void add_number(ast_text *line, const char *name, double value) {
    char text[AST_CLI_SHORTEST];
    ast_cli_line_option(line, name, ast_cli_shortest(value, text));
}

static void add_request(ast_text *line, const ast_explore_request *request, const ast_explored *explored) {
    if (request->method == AST_SPKM)
        ast_text_printf(line, " --method spkm --clusters %zu", request->clusters);
    else
        add_number(line, "angle", request->angle);
    if (request->method == AST_DP &&
        (request->order != AST_ORDER_GIVEN || ast_explore_first(explored).order != AST_ORDER_GIVEN))
        ast_cli_line_option(line, "order", ast_explore_order_name(request->order));
    if (request->merge == AST_MERGE_EVIDENCE)
        ast_cli_line_option(line, "merge", "evidence");
    if (request->merge == AST_MERGE_ANGLE)
        add_number(line, "merge", request->merge_angle);
    if (request->merge == AST_MERGE_COUNT)
        ast_text_printf(line, " --merge-to %zu", request->merge_count);
    if (request->min_size > 0)
        add_number(line, "min-size", request->min_size);
    if (ast_explore_is_local(request))
        ast_cli_line_option(line, "metric", "local");
}

/* Options of reading are carried as they were typed; the others follow from the page. --undirected makes rows axial by
 * itself. */
static char *make_line(const void *data, const ast_explore_request *request) {
    const job *work = data;
    ast_text line = {0};
    ast_cli_line_begin(&line, &work->from.common,
                       "angle cosine labels port bind once names name-column axial center metric");
    if (request->axial && !work->from.reading.cloud.undirected)
        ast_cli_line_option(&line, "axial", NULL);
    if (request->center)
        ast_cli_line_option(&line, "center", NULL);
    add_request(&line, request, &work->explored);
    if (work->explored.names)
        ast_cli_line_option(&line, "representatives", "5");
    if (work->names_file || work->from.reading.source.names)
        ast_cli_line_option(&line,
                            work->names_file                          ? "names"
                            : ast_cli_typed(&work->from.common, "id") ? "id"
                                                                      : "name-column",
                            work->names_file ? work->names_file : work->from.reading.source.names);
    if (work->explored.labels)
        ast_cli_line_option(&line, "labels", work->explored.labels);
    return ast_cli_line_end(&line);
}

/* The report of the command beside the page: that of cluster. */
static bool make_report(const void *data, ast_context *context, const ast_explore_run *run, ast_text *html,
                        ast_format_error *error) {
    const job *work = data;
    size_t length;
    const char *viewer = ast_viewer_page(&length);
    ast_page_head head = {0};
    ast_text json = {0};
    int code;
    ast_cli_cluster_settings as = {.common = work->from.common,
                                   .reading = work->from.reading,
                                   .options = ast_explore_options(&work->explored, &run->request),
                                   .input = work->from.input,
                                   .names = work->names_file,
                                   .topics = work->topic_files,
                                   .line = make_line(data, &run->request)};
    ast_cli_cluster_job cluster = {.given = &as,
                                   .options = as.options,
                                   .context = context,
                                   .directions = work->from.directions,
                                   .points = work->from.directions.points,
                                   .names = work->names,
                                   .topics = work->topics,
                                   .labels = (int32_t *)run->labels,
                                   .report = run->report,
                                   .clusters = run->clusters,
                                   .map = run->map};
    cluster.keywords = ast_cli_topics_keywords(&work->topics, run->labels, run->clusters, run->report.clusters, &code);
    bool good = code >= 0 ? ast_format_fail(error, "there is not enough memory for the keywords") : true;
    good = good && (ast_cli_page_head(&head, &ast_cli_cluster, work->from.input, as.line, &cluster.title) < 0 ||
                    ast_format_fail(error, "there is not enough memory for the report"));
    good = good && ast_cli_cluster_page(&cluster, &head, &json, error) &&
           (ast_page_fill(viewer, length, &json, html) ||
            ast_format_fail(error, "there is not enough memory for the report"));
    ast_text_free(&json);
    free(as.line);
    free(cluster.title);
    free(cluster.keywords);
    return good;
}

static const ast_explore_command command = {
    .line = make_line, .report = make_report, .put_tuned = ast_cli_put_tuned, .put_angle = ast_cli_put_angle};

static int hand_over(void *data) {
    job *work = data;
    const ast_cli_directions *d = &work->from.directions;
    const ast_names *names = work->topics.texts.count ? &work->topics.texts
                             : work->names_file       ? &work->names
                                                      : &d->input.names;
    work->explored = (ast_explored){
        .points = d->points,
        .names = names->count ? names : NULL,
        .corpus = work->topics.corpus.starts ? &work->topics.corpus : NULL,
        .width = d->width,
        .height = d->height,
        .depth = d->kind == AST_CLI_IMAGES ? &d->depth.frame.image : NULL,
        .units_per_metre = d->depth.options.units_per_metre,
        .solid = d->kind == AST_CLI_SURFACE ? &d->surface.solid : NULL,
        .notation = d->kind == AST_CLI_SURFACE ? AST_DIP_DIRECTION : ast_cli_field_notation(&work->from.reading.source),
        .undirected = work->from.reading.cloud.undirected,
        .input = ast_cli_name(work->from.input),
        .labels = ast_cli_typed(&work->from.common, "labels"),
        .seed = work->from.common.seed,
        .threads = (int)work->from.common.threads,
        .angle = work->angle,
        .given = ast_cli_typed(&work->from.common, "angle") || ast_cli_typed(&work->from.common, "cosine"),
        .axial = work->from.axial,
        .center = work->center,
        .metric = (ast_metric_kind)work->metric,
        .command = &command,
        .data = work};
    return -1;
}

/* ---- Once -------------------------------------------------------------------------------------------------------- */

static int write_once(const job *work, const ast_context *context, const ast_tune_report *found,
                      const ast_orientation *orientation) {
    ast_format_error error;
    ast_text json = {0};
    ast_explore_request request = ast_explore_first(&work->explored);
    request.angle = found->angle;
    request.order = AST_ORDER_CONTENT;
    request.merge = found->merge;
    request.merge_count = found->merge_count;
    request.metric = found->metric;
    char *line = make_line(work, &request);
    ast_output *output = line ? ast_output_open(work->once, false, &error) : NULL;
    if (!line)
        return ast_cli_no_memory("the command");
    ast_json_open(&json, NULL, '{');
    ast_cli_put_tuned(context, found, line, &json);
    ast_cli_put_orientation(orientation, work->from.axial, &json);
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    bool good = output && ast_text_write(&json, output, &error);
    good = ast_output_close(output, good, &error) && good;
    bool left = strcmp(work->once, "-") == 0 && ast_cli_closed(); /* the reader has what it wanted */
    int code = good || left ? AST_CLI_DONE : ast_cli_fail("%s", error.text);
    ast_text_free(&json);
    free(line);
    return code;
}

/* With --once: the sweep is all that is made. */
static int sweep_once(void *data) {
    const job *work = data;
    ast_tune_options options;
    ast_tune_report found = {.size = sizeof found};
    ast_orientation orientation = {0};
    ast_cli_tuned_input from = {work->from.context, &work->from.directions, &work->from.directions.points,
                                work->from.input, NULL};
    if (!work->once)
        return -1;
    ast_tune_options_init(&options);
    options.axial = work->from.axial;
    options.center = work->center;
    options.metric = (ast_metric_kind)work->metric;
    ast_cli_watch_signals();
    options.rounding =
        ast_cli_field_rounding(&work->from.common, &work->from.reading.source, NAN, from.points->dimension, false);
    int code = ast_cli_find_orientation(&from, work->from.axial, work->center, &orientation);
    if (code < 0)
        code = ast_cli_recommend(&from, &options, &work->from.common, &found);
    return code < 0 ? write_once(work, from.context, &found, &orientation) : code;
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static int serve(void *data) {
    ast_format_error error;
    const job *work = data;
    const char *address = work->bind ? work->bind : AST_CLI_LOOPBACK;
    ast_explorer *explorer = ast_explorer_open(&work->explored, address, (unsigned)work->port, &error);
    if (!explorer)
        return ast_cli_fail("%s", error.text);
    ast_cli_watch_signals();
    fprintf(stderr, "asterism: look at %s (Ctrl-C ends)\n", ast_explorer_url(explorer));
    ast_cli_serve_until_signal();
    ast_explorer_close(explorer);
    return AST_CLI_DONE;
}

/* A report or the lines of a stream have been computed: what there is to explore is their timeline. */
int ast_cli_is_recorded(int argc, char **argv) {
    static const char *const extensions[] = {".html", ".htm", ".jsonl", ".ndjson"};
    for (int k = 0; k < argc; k++) {
        if (argv[k][0] == '-')
            continue;
        for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
            if (ast_has_extension(argv[k], extensions[i]))
                return 1;
    }
    return 0;
}

static void end(void *data) {
    job *work = data;
    ast_names_free(&work->names);
    ast_cli_topics_free(&work->topics);
    ast_cli_subject_end(data);
}

static ast_cli_step *const steps[] = {
    ast_cli_subject_find, check, ast_cli_subject_read, read_names, check_rows, hand_over, sweep_once, serve, NULL};

const ast_cli_command ast_cli_explore = {
    .name = "explore",
    .summary = "drag the angle in a browser and see the clusters change",
    .usage = "explore INPUT [options]",
    .about =
        "Serves a page on this machine until Ctrl-C, and prints its address. On the page the angle (or the number of "
        "clusters), merging, the smallest size, the metric, centring, axes and the order of visit are changed, and "
        "INPUT is "
        "clustered again at every step. Behind the slider are the curves of tune. What the page shows is what the "
        "command beside it gives, bit for bit.",
    .more = "INPUT may also be a report (.html) or the lines of a stream (.jsonl): then it is shown as `view` "
            "does. The address contains a secret, as that of --view (`REPORTS AND THE LIVE VIEW`). docs/explore.md "
            "describes the page.",
    .examples = "asterism explore normals.npy\n"
                "asterism explore words.txt --columns 2-101 --name-column 1 --labels words.npy\n"
                "asterism explore depth.png --camera kinect --angle 60\n"
                "asterism explore room.pcd\n"
                "asterism explore normals.npy --once sweep.json",
    .input = "an INPUT file, or - for standard input",
    .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SEVERAL,
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
