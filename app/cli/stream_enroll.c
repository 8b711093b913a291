/* SPDX-License-Identifier: MIT
 *
 * asterism stream --enroll: people who are known before the first frame; and --status: how far a saved stream is. */
#include "stream_enroll.h"

#include <inttypes.h>
#include <report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "stream_state.h"
#include "terminal.h"

/* ---- Known people ------------------------------------------------------------------------------------------------ */

typedef struct people {
    const char *file;
    float *rows, *some; /* (count, columns); rows of one name */
    size_t count, columns;
    ast_names names; /* none: every row is somebody */
} people;

static int read_people(people *p, const char *names) {
    ast_format_error error;
    char remark[AST_REMARK] = "";
    if (!ast_read_matrix(p->file, &(ast_input_options){.remark = remark}, &p->rows, &p->count, &p->columns, &error))
        return ast_cli_fail("%s", error.text);
    p->some = malloc(p->count * p->columns * sizeof *p->some);
    if (!p->some)
        return ast_cli_no_memory("the rows to enroll");
    return names ? ast_cli_read_names(names, p->file, p->count, &p->names) : -1;
}

static int was_enrolled(ast_stream *stream) {
    size_t count;
    const ast_identity_change *log = ast_stream_changes(stream, sizeof *log, &count);
    for (size_t e = 0; e < count; e++)
        if (log[e].kind == AST_IDENTITY_ENROLLED)
            return 1;
    return 0;
}

static const char *name_of(const people *p, size_t row) {
    return p->names.count ? p->names.list[row] : NULL;
}

/* Whether an earlier row has the name of this one. */
static int is_taken(const people *p, size_t row) {
    for (size_t i = 0; name_of(p, row) && i < row; i++)
        if (strcmp(name_of(p, i), name_of(p, row)) == 0)
            return 1;
    return 0;
}

/* The person of this row, with all later rows of the same name. */
static int enroll_one(ast_cli_tracking *tracking, const people *p, size_t row) {
    const char *name = name_of(p, row);
    size_t count = 0;
    int32_t id = -1;
    for (size_t i = row; i < p->count; i++)
        if (i == row || (name && strcmp(name_of(p, i), name) == 0))
            memcpy(p->some + count++ * p->columns, p->rows + i * p->columns, p->columns * sizeof *p->some);
    ast_points rows = ast_points_f4(p->some, count, p->columns);
    if (ast_stream_enroll(tracking->stream, &rows, name, &id) == AST_OK)
        return -1;
    return ast_cli_fail("%s: %s%s%s", p->file, name ? name : "", name ? ": " : "", ast_message(tracking->context));
}

int ast_cli_stream_enroll(ast_cli_tracking *tracking, const char *file, const char *names) {
    people p = {.file = file};
    int code = read_people(&p, names);
    if (code < 0 && !tracking->stream)
        code = ast_cli_tracking_dimension(tracking, p.columns, file);
    for (size_t row = 0; code < 0 && row < p.count && !(row == 0 && was_enrolled(tracking->stream)); row++)
        if (!is_taken(&p, row))
            code = enroll_one(tracking, &p, row);
    free(p.rows);
    free(p.some);
    ast_names_free(&p.names);
    return code;
}

/* ---- How far a saved stream is ----------------------------------------------------------------------------------- */

typedef struct job {
    ast_cli_common common;
    const char *state;
    int status;
    ast_cli_saved_stream saved;
    ast_context *context;
    ast_stream *stream;
    ast_text json;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"state", AST_CLI_NAME, "FILE", "the state", .offset = AT(state), .required = "the FILE of the state"},
    {"status", AST_CLI_FLAG, NULL, "print the last frame and the number of frames of --state, and end",
     .offset = AT(status)},
    {0}};
static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, {0}};

static int count_ids(job *work, const ast_cli_saved_stream *saved, size_t *count) {
    ast_stream_options options;
    ast_stream_options_init(&options);
    if (ast_stream_saved(work->context, saved->state, saved->state_size, &options) != AST_OK ||
        ast_stream_open(&work->stream, work->context, &options) != AST_OK ||
        ast_stream_load(work->stream, saved->state, saved->state_size) != AST_OK)
        return ast_cli_fail("%s: %s", work->state, ast_message(work->context));
    ast_stream_list(work->stream, sizeof(ast_identity), count);
    return -1;
}

static int print_status(void *data) {
    job *work = data;
    size_t count = 0;
    int code = ast_cli_state_read(work->state, &work->saved);
    if (code < 0 && !work->saved.bytes)
        code = ast_cli_fail("%s: there is no such file; asterism stream --state writes it", work->state);
    if (code < 0)
        code = ast_cli_open_context(&work->common, &work->context);
    if (code < 0)
        code = count_ids(work, &work->saved, &count);
    if (code >= 0)
        return code;
    ast_json_open(&work->json, NULL, '{');
    ast_json_integer(&work->json, "frame", (int64_t)work->saved.frames - 1);
    ast_json_integer(&work->json, "frames", (int64_t)work->saved.frames);
    ast_json_string(&work->json, "source", work->saved.path);
    if (work->saved.number != AST_WHOLE)
        ast_json_integer(&work->json, "number", (int64_t)work->saved.number);
    ast_json_integer(&work->json, "identities", (int64_t)count);
    ast_json_close(&work->json, '}');
    ast_text_put(&work->json, "\n");
    if (!ast_text_print(&work->json, stdout))
        return ast_cli_no_memory("the status");
    return ast_cli_flush();
}

static void end(void *data) {
    job *work = data;
    ast_stream_close(work->stream);
    ast_close(work->context);
    ast_text_free(&work->json);
    ast_cli_state_free(&work->saved);
}

static ast_cli_step *const steps[] = {print_status, NULL};

const ast_cli_command ast_cli_stream_status = {.name = "stream",
                                               .summary = "how far a saved stream is",
                                               .usage = "stream --state FILE --status",
                                               .uses = uses,
                                               .job = sizeof(job),
                                               .steps = steps,
                                               .end = end};

/* Whether nothing else is asked for: no INPUT is needed then. */
int ast_cli_asks_for_status(int argc, char **argv) {
    int asks = 0, others = 0;
    for (int i = 0; i < argc; i++) {
        asks |= strcmp(argv[i], "--status") == 0;
        if (strcmp(argv[i], "--state") == 0)
            i++;
        else
            others |= !ast_cli_lists("--status --json --quiet", argv[i]) && strncmp(argv[i], "--state=", 8) != 0;
    }
    return asks && !others;
}

int ast_cli_stream_print_status(const ast_cli_common *common, const char *state) {
    job work = {.common = *common, .state = state};
    int code = print_status(&work);
    end(&work);
    return code;
}
