/* SPDX-License-Identifier: MIT
 *
 * asterism explore: a page on which the angle is dragged and the clusters follow. */
#include "explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <viewer.h>

#include "cli.h"
#include "explore_page.h"
#include "interrupt.h"
#include "pages.h"
#include "recommend.h"
#include "stream_state.h"
#include "terminal.h"

typedef ast_cli_explore_settings settings;

#define AT(field) offsetof(settings, field)
static const ast_cli_option options_table[] = {
    {"angle", AST_CLI_REAL, "DEG", "the angle that the page starts with", AT(angle), 0, 180, .standard = "30"},
    {"cosine", AST_CLI_COSINE, "C", "the same as a cosine similarity, -1 to 1", AT(angle), -1, 1, .excludes = "angle"},
    {"axial", AST_CLI_FLAG, NULL, "start with x and -x as the same", AT(axial),
     .inputs = AST_CLI_ANY_INPUT & ~AST_CLI_SPARSE},
    {"center", AST_CLI_FLAG, NULL, "start with the rows without their common direction, as cluster --center",
     AT(center), .inputs = AST_CLI_POINTS, .excludes = "axial dip-direction strike-dip trend-plunge"},
    {"labels", AST_CLI_TEXT, "FILE", "the file into which the page can save the labels: int32 .npy, or text",
     AT(labels), .more = "A page writes nowhere else. Without this option it saves none."},
    {"names", AST_CLI_NAME, "FILE", "a text with one name per row", AT(names),
     .inputs = AST_CLI_POINTS | AST_CLI_SPARSE, .excludes = "name-column"},
    {"name-column", AST_CLI_TEXT, "N|NAME",
     "the column of a text table that holds the names, by number or by its name in the header; it is no coordinate",
     AT(reading.source.names), .inputs = AST_CLI_POINTS, .excludes = "transpose"},
    {"port", AST_CLI_COUNT, "PORT", "serve on this port; by default on any free port", AT(port), 1, 65535,
     .excludes = "once"},
    {"bind", AST_CLI_TEXT, "ADDRESS", "serve at this address instead of 127.0.0.1, this machine alone", AT(bind),
     .excludes = "once"},
    {"once", AST_CLI_TEXT, "FILE.json", "compute the sweep that the page shows, write it to this file, and end",
     AT(once), .more = "It has what `tune --json` prints; - is standard output."},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, AST_CLI_READING_GROUPS(AT(reading)), {0}};

typedef struct job {
    settings given;
    ast_context *context;
    ast_explored explored;
} job;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int find_input(void *data) {
    job *work = data;
    settings *given = data;
    given->axial |= given->reading.cloud.undirected;
    work->explored.given = given;
    return ast_cli_reading_find(&given->reading, &given->common, &given->input);
}

static int check(void *data) {
    const settings *given = data;
    const ast_cli_target target = {.option = "labels", .path = given->labels}, *labels = &target;
    int code = given->once ? -1 : ast_cli_serving_check("explore", given->bind);
    if (code < 0)
        code = ast_cli_reading_check(&given->reading, &given->common, given->input);
    if (code < 0 && given->labels && strcmp(given->labels, "-") == 0)
        code = ast_cli_fail(AST_CLI_USAGE, "--labels of explore is a file that a page writes; it cannot be -");
    if (code < 0)
        code = ast_cli_check_targets(labels, 1, given->input, 0);
    if (code < 0)
        code = ast_cli_reading_kept(&given->reading, labels, 1);
    if (code < 0)
        code = ast_cli_check_kept(labels, 1, given->names);
    return code < 0 && given->labels ? ast_cli_check_writable(given->labels) : code;
}

/* Whether any row has a direction. */
static int check_rows(const ast_explored *explored) {
    double *row = malloc((explored->points.dimension + 1) * sizeof *row);
    size_t i = 0;
    if (!row)
        return ast_cli_no_memory("a row");
    while (i < explored->points.count && !ast_unit_row(&explored->points, i, row))
        i++;
    free(row);
    return i < explored->points.count ? -1 : ast_cli_no_usable_row(explored->given->input);
}

static int read_names(ast_explored *explored) {
    const settings *given = explored->given;
    int code = !given->names
                   ? -1
                   : ast_cli_read_names(given->names, given->input, explored->points.count, &explored->names_read);
    const ast_names *names = given->names ? &explored->names_read : &explored->directions.input.names;
    explored->names = names->count ? names : NULL;
    return code;
}

static int read_all(void *data) {
    job *work = data;
    const settings *given = data;
    ast_explored *explored = &work->explored;
    int code = ast_cli_open_context(&given->common, &work->context);
    if (code < 0)
        code = ast_cli_directions_read(&explored->directions, &given->reading, &given->common, given->input,
                                       work->context, NULL);
    explored->points = explored->directions.points;
    if (code < 0)
        code = read_names(explored);
    return code < 0 ? check_rows(explored) : code;
}

/* ---- Once -------------------------------------------------------------------------------------------------------- */

static char *recommended_command(const ast_explored *explored, const ast_tune_report *found) {
    ast_explore_request request = ast_explore_first(explored, found->angle);
    request.order = AST_ORDER_CONTENT;
    request.merge = found->merge;
    request.merge_count = found->merge_count;
    return ast_explore_command(explored, &request);
}

static int write_once(const ast_explored *explored, const ast_tune_report *found) {
    ast_format_error error;
    ast_text json = {0};
    char *command = recommended_command(explored, found);
    ast_output *output = command ? ast_output_open(explored->given->once, false, &error) : NULL;
    if (!command)
        return ast_cli_no_memory("the command");
    ast_json_open(&json, NULL, '{');
    ast_cli_put_tuned(found, command, &json);
    ast_json_close(&json, '}');
    ast_text_put(&json, "\n");
    bool good = output && (!json.failed || ast_format_fail(&error, "there is no memory for the sweep")) &&
                ast_output_write(output, json.bytes, json.size, &error);
    int code =
        ast_output_close(output, good, &error) && good ? AST_CLI_DONE : ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    ast_text_free(&json);
    free(command);
    return code;
}

static int sweep_once(const ast_explored *explored, ast_context *context) {
    ast_tune_options options;
    ast_tune_report found = {.size = sizeof found};
    ast_cli_tuned_input from = {context, &explored->directions, &explored->points, explored->given->input};
    ast_tune_options_init(&options);
    options.axial = explored->given->axial;
    options.center = explored->given->center;
    ast_cli_watch_signals();
    int code = ast_cli_recommend(&from, &options, &explored->given->common, &found);
    return code < 0 ? write_once(explored, &found) : code;
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

/* The page, which holds nothing but the name of what is explored: the rest follows over its socket. */
static bool make_html(const ast_explored *explored, ast_text *html) {
    ast_text json = {0};
    size_t length;
    const char *page = ast_viewer_page(&length);
    ast_json_open(&json, NULL, '{');
    ast_json_integer(&json, "format", 1);
    ast_json_string(&json, "kind", "explore");
    ast_json_string(&json, "title", ast_cli_name(explored->given->input));
    ast_json_string(&json, "version", ast_version());
    ast_json_close(&json, '}');
    bool good = ast_page_fill(page, length, &json, html);
    ast_text_free(&json);
    return good;
}

static int serve(ast_explore_pages *pages) {
    ast_format_error error;
    const settings *given = pages->explored->given;
    ast_text html = {0};
    const ast_server_app app = {.data = pages,
                                .open = ast_explore_page_open,
                                .close = ast_explore_page_close,
                                .hear = ast_explore_page_hear,
                                .next = ast_explore_page_next};
    if (!make_html(pages->explored, &html))
        return ast_cli_no_memory("the page");
    ast_server *server =
        ast_server_open(given->bind ? given->bind : AST_CLI_LOOPBACK, (unsigned)given->port, &html, &app, &error);
    if (!server)
        return ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    ast_explore_pages_serve(pages, server);
    ast_cli_watch_signals();
    fprintf(stderr, "asterism: look at %s (Ctrl-C ends)\n", ast_server_url(server));
    ast_cli_serve_on();
    ast_explore_pages_serve(pages, NULL);
    ast_server_close(server);
    return AST_CLI_DONE;
}

static int explore(const ast_explored *explored) {
    ast_format_error error;
    ast_drawn drawn = {0};
    ast_explore_pages pages = {
        .explored = explored, .drawn = &drawn, .first = ast_explore_first(explored, explored->given->angle)};
    if (!ast_explore_pages_init(&pages))
        return ast_cli_no_memory("the pages");
    int code = ast_drawn_choose(&drawn, explored, &error) ? -1 : ast_cli_fail(AST_CLI_FAILED, "%s", error.text);
    if (code < 0) {
        pages.sweeps = ast_explore_sweeps_open(&pages);
        code = pages.sweeps ? serve(&pages) : ast_cli_no_memory("the sweep");
    }
    ast_explore_sweeps_close(pages.sweeps);
    ast_explore_pages_free(&pages);
    ast_drawn_free(&drawn);
    return code;
}

/* A report, the lines of a stream or its state have been computed: what there is to explore is their timeline. */
int ast_cli_is_recorded(int argc, char **argv) {
    static const char *const extensions[] = {".html", ".htm", ".jsonl", ".ndjson"};
    for (int k = 0; k < argc; k++) {
        if (argv[k][0] == '-')
            continue;
        for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
            if (ast_has_extension(argv[k], extensions[i]))
                return 1;
        if (ast_cli_is_state(argv[k]))
            return 1;
    }
    return 0;
}

static int sweep_or_serve(void *data) {
    const job *work = data;
    return work->given.once ? sweep_once(&work->explored, work->context) : explore(&work->explored);
}

static void end(void *data) {
    job *work = data;
    ast_names_free(&work->explored.names_read);
    ast_cli_directions_close(&work->explored.directions);
    ast_cli_reading_free(&work->given.reading);
    ast_close(work->context);
}

static ast_cli_step *const steps[] = {find_input, check, read_all, sweep_or_serve, NULL};

const ast_cli_command ast_cli_explore = {
    .name = "explore",
    .summary = "drag the angle in a browser and see the clusters change",
    .usage = "explore INPUT [options]",
    .about =
        "Serves a page on this machine until Ctrl-C, and prints its address. On the page the angle (or the number of "
        "clusters), merging, the smallest size, centring, axes and the order of visit are changed, and INPUT is "
        "clustered again at every step. Behind the slider are the curves of tune. What the page shows is what the "
        "command beside it gives, bit for bit.",
    .more =
        "INPUT may also be a report (.html) or the lines of a stream (.jsonl): then it is shown as `view` does, with "
        "its timeline.\n\n"
        "The address contains a secret, as that of --view (`REPORTS AND THE LIVE VIEW`); explore opens no browser by "
        "itself, since other users of the machine could read the secret from its command line. No data leaves the "
        "machine. Up to 8 pages can be open at once, and each is computed for by itself; the newest request of a "
        "page cancels the one that runs, and a page that is closed cancels everything.\n\n"
        "All points are clustered. At most 100,000 of them, a uniform sample, are drawn, and the page says so; of an "
        "image every n-th pixel. A run that takes longer than a moment first shows one pass over the first rows, "
        "marked as unfinished.",
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
