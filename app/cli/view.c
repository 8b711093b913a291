/* SPDX-License-Identifier: MIT
 *
 * asterism view: looks at what is there already: a report, the lines that stream printed, or points and
 * their labels. It clusters nothing. */
#include "view.h"

#include <platform.h>
#include <frames.h>

#include <stdlib.h>
#include <string.h>
#include <viewer.h>

#include "files.h"
#include "interrupt.h"
#include "pages.h"
#include "terminal.h"

typedef struct job {
    ast_cli_common common;
    const char *labels, *report, *bind, *names;
    ast_cli_source source;
    size_t port;
    const char *path; /* of the result */
    char *found;      /* the same, in a folder */
    ast_text html;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"labels", AST_CLI_READ, "FILE", "INPUT is points, and these are their labels", AT(labels),
     .more = "There are as many as points. The clusters are what the labels say, their means those of the "
             "members."},
    {"columns", AST_CLI_TEXT, "LIST", "columns of the points to read, as for cluster: 2-101, or dec,inc",
     AT(source.columns), .needs = "labels"},
    {"header", AST_CLI_CHOICE, "WHEN", "whether the first line of a text names the columns: auto, yes or no",
     AT(source.header), .choices = ast_cli_headers, .standard = "auto", .needs = "labels"},
    {"names", AST_CLI_NAME, "FILE", "a text with one name per row: the page shows those nearest to each mean",
     AT(names), .needs = "labels", .excludes = "name-column"},
    {"name-column", AST_CLI_TEXT, "N|NAME",
     "the column of a text table that holds the names, by number or by its name in the header; it is no coordinate",
     AT(source.names), .needs = "labels"},
    {"report", AST_CLI_PAGE, "FILE.html", "write the page instead of serving it", .offset = AT(report)},
    {"port", AST_CLI_COUNT, "PORT", "serve on this port; by default on any free port", AT(port), 1, 65535,
     .excludes = "report"},
    {"bind", AST_CLI_TEXT, "ADDRESS", "serve at this address instead of 127.0.0.1, this machine alone", AT(bind),
     .excludes = "report"},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, {0}};

static int check(void *data) {
    job *work = data;
    work->path = work->common.inputs[0].path;
    int code = work->report ? -1 : ast_cli_serving_check("view", work->bind);
    if (code < 0 && strcmp(work->path, "-") == 0)
        code = ast_cli_misuse("view needs the name of a file or a folder, not standard input");
    return code;
}

/* ---- Finding it -------------------------------------------------------------------------------------------------- */

static int is_report(const char *path) {
    return ast_has_extension(path, ".html") || ast_has_extension(path, ".htm");
}

static int is_lines(const char *path) {
    return ast_has_extension(path, ".jsonl") || ast_has_extension(path, ".ndjson") || ast_has_extension(path, ".json");
}

/* The one file of that kind in the folder; *count of them are there. */
static const char *only_one(const ast_folder *folder, int (*is)(const char *path), size_t *count) {
    const char *found = NULL;
    *count = 0;
    for (size_t i = 0; i < folder->count; i++) {
        if (is(folder->paths[i])) {
            found = folder->paths[i];
            ++*count;
        }
    }
    return found;
}

/* A folder stands for the one result that it holds. */
static int find_in_folder(void *data) {
    job *work = data;
    const char *path = work->path;
    ast_format_error error;
    ast_folder folder;
    size_t count;
    if (!ast_is_folder(path))
        return -1;
    if (!ast_folder_list(&folder, path, &error))
        return ast_cli_fail("%s", error.text);
    const char *one = only_one(&folder, is_report, &count);
    if (count == 0)
        one = only_one(&folder, is_lines, &count);
    int code = -1;
    if (count > 1)
        code = ast_cli_fail("%s holds %zu results; name one of them, such as %s", path, count, one);
    else if (count == 0)
        code = ast_cli_fail("%s holds no report (.html) and no lines of a stream (.jsonl)", path);
    else if (!(work->path = work->found = strdup(one)))
        code = ast_cli_fail("there is no memory for the name of %s", one);
    ast_folder_free(&folder);
    return code;
}

/* ---- Making the page --------------------------------------------------------------------------------------------- */

static int read_report(const char *path, ast_text *html) {
    ast_format_error error;
    unsigned char *bytes;
    size_t size;
    if (!ast_read_file(path, &bytes, &size, &error))
        return ast_cli_fail("%s", error.text);
    int ours = memmem(bytes, size, "id=\"asterism-data\"", strlen("id=\"asterism-data\"")) != NULL;
    if (ours)
        ast_text_add(html, bytes, size);
    free(bytes);
    if (!ours)
        return ast_cli_fail("%s is no report of asterism: it holds no result", path);
    return html->failed ? ast_cli_fail("%s: there is no memory to show it", path) : -1;
}

static int make_object(const job *work, const char *path, ast_page_head *head, ast_text *json) {
    if (work->labels)
        return ast_cli_view_labels(&(ast_cli_view_input){&work->common, path, work->labels, work->names, &work->source},
                                   head, json);
    if (is_lines(path))
        return ast_cli_view_lines(path, head, json);
    return ast_cli_fail("%s is neither a report (.html) nor the lines of a stream (.jsonl); points need --labels FILE",
                        path);
}

static int make_page(void *data) {
    job *work = data;
    const char *path = work->path;
    ast_page_head head = {0};
    ast_text json = {0};
    size_t length;
    char *title = NULL;
    const char *page = ast_viewer_page(&length);
    if (!work->labels && is_report(path))
        return read_report(path, &work->html);
    char *line = ast_cli_command_line(&ast_cli_view, work->common.argc, work->common.argv);
    int code = ast_cli_page_head(&head, &ast_cli_view, path, line, &title);
    if (code < 0)
        code = make_object(work, path, &head, &json);
    if (code < 0 && !ast_page_fill(page, length, &json, &work->html))
        code = ast_cli_fail("%s: there is no memory to show it", path);
    ast_text_free(&json);
    free(title);
    free(line);
    return code;
}

static int write_page(const char *path, const ast_text *html) {
    ast_format_error error;
    ast_output *output = ast_output_open(path, false, &error);
    bool good = output && ast_output_write(output, html->bytes, html->size, &error);
    return ast_output_close(output, good, &error) ? AST_CLI_DONE : ast_cli_fail("%s", error.text);
}

static int serve_page(const job *work, ast_text *html) {
    ast_live *live;
    ast_cli_watch_signals();
    int code = ast_cli_serve(&live, work->bind, work->port, html, NULL);
    if (code >= 0)
        return code;
    ast_cli_serve_until_signal();
    ast_live_close(live);
    return AST_CLI_DONE;
}

static int show_page(void *data) {
    job *work = data;
    const char *report = work->report;
    return report ? write_page(report, &work->html) : serve_page(work, &work->html);
}

static void end(void *data) {
    job *work = data;
    ast_text_free(&work->html);
    free(work->found);
}

static ast_cli_step *const steps[] = {check, find_in_folder, make_page, show_page, NULL};

const ast_cli_command ast_cli_view = {
    .name = "view",
    .summary = "look at a finished result in a browser",
    .usage = "view FILE.html|FILE.jsonl|DIR [options]\nview POINTS --labels FILE [options]",
    .about = "Serves a page that shows a finished result, until Ctrl-C, and prints its address. The result is a report "
             "(.html); the lines that stream printed (.jsonl), which hold neither points nor pictures; a folder that "
             "holds a report or "
             "lines; or points and their labels. It clusters nothing.",
    .examples = "asterism view hall.html\n"
                "asterism view lines.jsonl --port 8080\n"
                "asterism view points.npy --labels labels.npy\n"
                "asterism view words.txt --labels labels.npy --columns 2-101 --name-column 1\n"
                "asterism view lines.jsonl --report lines.html",
    .input = "a report (.html), the lines of a stream (.jsonl), a folder, or points with --labels",
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
