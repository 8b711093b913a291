/* SPDX-License-Identifier: MIT
 *
 * asterism identities: who is in a saved state of a stream, and what users change about them, by id. A change is made
 * by the library and saved by a rename, as stream does it: a kill leaves the old state or the new one. */
#include <report.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files.h"
#include "stream_state.h"
#include "table.h"
#include "targets.h"
#include "terminal.h"

typedef enum action { LIST, NAME, ENROLL, JOIN, SPLIT, FORGET, FORBID, LOCK, UNLOCK, SET, LOG, ACTIONS } action;

/* What follows the action: its ids, then a name, then a file. */
typedef struct form {
    const char *word, *arguments;
    int ids, name, file;
    const char *options; /* that it takes */
} form;

static const form forms[ACTIONS] = {
    [LIST] = {"list", "", 0, 0, 0, ""},
    [NAME] = {"name", " ID NAME", 1, 1, 0, ""},
    [ENROLL] = {"enroll", " FILE --name NAME", 0, 0, 1, "name id"},
    [JOIN] = {"join", " A B", 2, 0, 0, ""},
    [SPLIT] = {"split", " ID FILE, or split ID --mean N", 1, 0, 1, "mean"},
    [FORGET] = {"forget", " ID", 1, 0, 0, ""},
    [FORBID] = {"forbid", " ID FILE", 1, 0, 1, ""},
    [LOCK] = {"lock", " ID", 1, 0, 0, ""},
    [UNLOCK] = {"unlock", " ID", 1, 0, 0, ""},
    [SET] = {"set", " --angle DEG, --drift DEG or --lifetime FRAMES", 0, 0, 0, "angle cosine drift lifetime"},
    [LOG] = {"log", "", 0, 0, 0, ""}};

static const char *const events[] = {"named",     "enrolled", "joined",   "split", "forgotten",
                                     "forbidden", "locked",   "unlocked", "set"};

typedef struct job {
    ast_cli_common common;
    const char *name;
    double angle, drift;
    size_t id, mean, lifetime; /* SIZE_MAX: not given, but lifetime 0 */
    action what;
    const char *state, *file, *text;
    int32_t ids[2];
    ast_cli_saved_stream saved;
    ast_stream_options options;
    ast_context *context;
    ast_stream *stream;
    float *rows;
    size_t count, columns;
} job;

#define AT(field) offsetof(job, field)
static const ast_cli_option options_table[] = {
    {"name", AST_CLI_TEXT, "NAME", "enroll: the name of the new identity", .offset = AT(name)},
    {"id", AST_CLI_MAYBE, "ID", "enroll: the rows are further ones of this identity", AT(id), .high = 2147483647,
     .excludes = "name"},
    {"mean", AST_CLI_MAYBE, "N", "split: this one of its means, from 0, becomes a new identity", AT(mean),
     .high = 2147483647},
    {"angle", AST_CLI_REAL, "DEG", "set: how far a row may be from its mean", AT(angle), .high = 180},
    {"cosine", AST_CLI_COSINE, "C", "set: the same as a cosine, -1 to 1", AT(angle), -1, 1, .excludes = "angle"},
    {"drift", AST_CLI_REAL, "DEG", "set: how many degrees a direction moves per frame", AT(drift), 1e-9, .high = 180},
    {"lifetime", AST_CLI_COUNT, "FRAMES", "set: after so many frames without rows an id is closed", AT(lifetime), 2,
     .high = 4294967295},
    {0}};

static const ast_cli_group own_group = {.title = "Options", .options = options_table};
static const ast_cli_use uses[] = {{.group = &own_group}, {0}};

/* ---- The command line -------------------------------------------------------------------------------------------- */

static int unknown_action(const char *word) {
    const char *words[ACTIONS + 1] = {NULL};
    char list[AST_CLI_LIST];
    for (int a = 0; a < ACTIONS; a++)
        words[a] = forms[a].word;
    return ast_cli_misuse("identities knows %s, not '%s'", ast_cli_join(list, words, ACTIONS, " and "), word);
}

static int wrong_form(const form *f) {
    return ast_cli_misuse("%s is used as: asterism identities STATE %s%s", f->word, f->word, f->arguments);
}

static int read_id(const char *word, int32_t *id) {
    char *end;
    errno = 0;
    long value = strtol(word, &end, 10);
    if (*end || errno || value < 0 || value > INT32_MAX)
        return ast_cli_misuse("'%s' is no id; an id is a whole number from 0, as identities STATE list prints it",
                              word);
    *id = (int32_t)value;
    return -1;
}

/* Whether every option is one of this action. */
static int check_options(const job *work, const form *f) {
    for (size_t i = 0; i < work->common.typed_count; i++) {
        const ast_cli_option *option = work->common.typed[i];
        int own = option >= options_table && option < options_table + sizeof options_table / sizeof *options_table;
        if (own && !ast_cli_lists(f->options, option->name))
            return ast_cli_misuse("--%s is not for identities %s", option->name, f->word);
    }
    return -1;
}

static int check(void *data) {
    job *work = data;
    const ast_cli_input *words = work->common.inputs;
    work->state = words[0].path;
    const char *word = words[1].path ? words[1].path : "list";
    while (work->what < ACTIONS && strcmp(forms[work->what].word, word) != 0)
        work->what++;
    if (work->what == ACTIONS)
        return unknown_action(word);
    const form *f = &forms[work->what];
    int code = check_options(work, f);
    const ast_cli_input *next = words + (words[1].path ? 2 : 1);
    for (int i = 0; i < f->ids && code < 0; i++, next++)
        code = next->path ? read_id(next->path, &work->ids[i]) : wrong_form(f);
    if (code < 0 && f->name)
        code = next->path ? (work->text = next++->path, -1) : wrong_form(f);
    int by_mean = work->what == SPLIT && work->mean != SIZE_MAX;
    if (code < 0 && f->file && !by_mean)
        code = next->path ? (work->file = next++->path, -1) : wrong_form(f);
    if (code < 0 && next->path)
        code = wrong_form(f);
    if (code < 0 && work->what == SET && isnan(work->angle) && isnan(work->drift) && !work->lifetime)
        code = wrong_form(f);
    return code < 0 && work->file ? ast_cli_check_read("FILE", work->file) : code;
}

/* ---- The state --------------------------------------------------------------------------------------------------- */

static int library_failed(const job *work, const char *name) {
    return ast_cli_fail("%s: %s", name, ast_message(work->context));
}

static int open_state(void *data) {
    job *work = data;
    int code = ast_cli_state_read(work->state, &work->saved);
    if (code < 0 && !work->saved.bytes)
        code = ast_cli_fail("%s: there is no such file; asterism stream --state writes it", work->state);
    if (code < 0)
        code = ast_cli_open_context(&work->common, &work->context);
    if (code >= 0)
        return code;
    ast_stream_options_init(&work->options);
    if (ast_stream_saved(work->context, work->saved.state, work->saved.state_size, &work->options) != AST_OK ||
        ast_stream_open(&work->stream, work->context, &work->options) != AST_OK ||
        ast_stream_load(work->stream, work->saved.state, work->saved.state_size) != AST_OK)
        return library_failed(work, work->state);
    return -1;
}

static int read_rows(void *data) {
    job *work = data;
    ast_format_error error;
    char remark[AST_REMARK] = "";
    if (!work->file)
        return -1;
    if (!ast_read_matrix(work->file, &(ast_input_options){.remark = remark}, &work->rows, &work->count, &work->columns,
                         &error))
        return ast_cli_fail("%s", error.text);
    ast_cli_say_remark(&work->common, remark);
    return -1;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static ast_status set(const job *work) {
    ast_stream_options options = work->options;
    options.angle = isnan(work->angle) ? options.angle : work->angle;
    options.drift = isnan(work->drift) ? options.drift : work->drift;
    options.lifetime = work->lifetime ? (uint32_t)work->lifetime : options.lifetime;
    return ast_stream_set(work->stream, &options);
}

static ast_status call(const job *work, const ast_points *rows) {
    ast_stream *s = work->stream;
    int32_t id = work->ids[0], new = work->id == SIZE_MAX ? -1 : (int32_t)work->id;
    switch (work->what) {
    case NAME:
        return ast_stream_name(s, id, work->text);
    case ENROLL:
        return ast_stream_enroll(s, rows, work->name, &new);
    case JOIN:
        return ast_stream_join(s, id, work->ids[1]);
    case SPLIT:
        return ast_stream_split(s, id, work->file ? rows : NULL, work->mean, &new);
    case FORGET:
        return ast_stream_forget(s, id);
    case FORBID:
        return ast_stream_forbid(s, id, rows);
    case LOCK:
        return ast_stream_lock(s, id);
    case UNLOCK:
        return ast_stream_unlock(s, id);
    default:
        return set(work);
    }
}

static int change(void *data) {
    job *work = data;
    if (work->what == LIST || work->what == LOG)
        return -1;
    ast_points rows = ast_points_f4(work->rows, work->count, work->columns);
    if (call(work, &rows) != AST_OK)
        return library_failed(work, work->file ? work->file : work->state);
    ast_cli_state_file file = {.path = work->state}; /* written anew: nothing of a person who is forgotten stays */
    return ast_cli_state_save(&file, work->stream, &work->saved);
}

/* ---- What is printed --------------------------------------------------------------------------------------------- */

static const ast_identity *identities(const job *work, size_t *count) {
    return ast_stream_list(work->stream, sizeof(ast_identity), count);
}

static const ast_identity_change *changes(const job *work, size_t *count) {
    return ast_stream_changes(work->stream, sizeof(ast_identity_change), count);
}

static void json_change(ast_text *json, const ast_identity_change *entry) {
    ast_json_string(json, "event", events[entry->kind]);
    ast_json_integer(json, "frame", (int64_t)entry->frame);
    if (entry->id >= 0)
        ast_json_integer(json, "id", entry->id);
    if (entry->other >= 0)
        ast_json_integer(json, entry->kind == AST_IDENTITY_JOINED ? "into" : "new", entry->other);
    if (entry->rows)
        ast_json_integer(json, "rows", entry->rows);
}

static void json_list(const job *work, ast_text *json) {
    size_t count;
    const ast_identity *list = identities(work, &count);
    ast_json_integer(json, "frames", (int64_t)work->saved.frames);
    ast_json_string(json, "source", work->saved.path);
    ast_json_integer(json, "dimension", (int64_t)work->options.dimension);
    ast_json_number(json, "angle", work->options.angle, 17);
    ast_json_number(json, "drift", work->options.drift, 17);
    ast_json_integer(json, "lifetime", work->options.lifetime);
    ast_json_open(json, "identities", '[');
    for (size_t k = 0; k < count; k++) {
        ast_json_open(json, NULL, '{');
        ast_json_integer(json, "id", list[k].id);
        if (list[k].name)
            ast_json_string(json, "name", list[k].name);
        ast_json_integer(json, "means", (int64_t)list[k].means);
        ast_json_integer(json, "age", list[k].age);
        ast_json_number(json, "weight", list[k].weight, 6);
        ast_json_boolean(json, "locked", list[k].locked);
        ast_json_integer(json, "forbidden", (int64_t)list[k].forbidden);
        ast_json_close(json, '}');
    }
    ast_json_close(json, ']');
}

static void print_json(const void *data, ast_text *json) {
    const job *work = data;
    size_t count;
    const ast_identity_change *log = changes(work, &count);
    if (work->what == LIST) {
        json_list(work, json);
    } else if (work->what == LOG) {
        ast_json_open(json, "log", '[');
        for (size_t e = 0; e < count; e++) {
            ast_json_open(json, NULL, '{');
            json_change(json, &log[e]);
            ast_json_close(json, '}');
        }
        ast_json_close(json, ']');
    } else if (count) {
        json_change(json, &log[count - 1]);
    }
}

static void print_change(const ast_identity_change *entry) {
    printf("frame %llu: ", (unsigned long long)entry->frame);
    if (entry->kind == AST_IDENTITY_SET)
        printf("the settings were changed");
    else
        printf("id %d %s", entry->id, events[entry->kind]);
    if (entry->other >= 0)
        printf(entry->kind == AST_IDENTITY_JOINED ? " into %d" : ", new id %d", entry->other);
    if (entry->rows)
        printf(" (%u row%s)", entry->rows, entry->rows == 1 ? "" : "s");
    printf("\n");
}

static void print_list(const job *work) {
    size_t count;
    const ast_identity *list = identities(work, &count);
    printf("%zu identit%s after %llu frames, the last one %s\n", count, count == 1 ? "y" : "ies",
           (unsigned long long)work->saved.frames, work->saved.path);
    if (count)
        printf("%8s %6s %8s %10s  %s\n", "id", "means", "age", "weight", "name");
    for (size_t k = 0; k < count; k++) {
        printf("%8d %6zu %8u %10.1f  %s%s", list[k].id, list[k].means, list[k].age, list[k].weight,
               list[k].name ? list[k].name : "-", list[k].locked ? " (locked)" : "");
        if (list[k].forbidden)
            printf(" (%zu forbidden row%s)", list[k].forbidden, list[k].forbidden == 1 ? "" : "s");
        printf("\n");
    }
}

static void print_table(const void *data) {
    const job *work = data;
    size_t count;
    const ast_identity_change *log = changes(work, &count);
    if (work->what == LIST)
        print_list(work);
    for (size_t e = work->what == LOG ? 0 : count - 1; work->what != LIST && e < count; e++)
        print_change(&log[e]);
}

static int deliver(void *data) {
    return ast_cli_deliver(data, &(ast_cli_printer){print_json, print_table, data});
}

static void end(void *data) {
    job *work = data;
    ast_stream_close(work->stream);
    ast_close(work->context);
    ast_cli_state_free(&work->saved);
    free(work->rows);
}

static ast_cli_step *const steps[] = {check, open_state, read_rows, change, deliver, NULL};

const ast_cli_command ast_cli_identities = {
    .name = "identities",
    .summary = "list and change the identities of a saved stream",
    .usage = "identities STATE [list|log]\n"
             "identities STATE name ID NAME\n"
             "identities STATE enroll FILE --name NAME|--id ID\n"
             "identities STATE join A B\n"
             "identities STATE split ID FILE|--mean N\n"
             "identities STATE forget|lock|unlock ID\n"
             "identities STATE forbid ID FILE\n"
             "identities STATE set [--angle DEG] [--drift DEG] [--lifetime FRAMES]",
    .about = "STATE is what asterism stream --state has written. Each call makes one change between two frames, prints "
             "it, and adds it to the log of the state. No call touches another identity; no id is ever given to "
             "somebody else. FILE holds one row per face or piece of speech, in any table format.",
    .more =
        "*join* A B: A and B are one person, who keeps the id B. *split*: these rows, or one mean, are somebody else "
        "and get a new id; the rows leave the mean. *forbid*: these rows are not that identity; a later row that "
        "is nearer to one of them than to its means gets another id. *lock*: the means stay where they are. "
        "*forget*: means, name and rows of a person are removed from the state. *set*: the next run of stream is "
        "with these values.",
    .examples = "asterism identities room.state\n"
                "asterism identities room.state name 3 Anna\n"
                "asterism identities room.state enroll ben.npy --name Ben\n"
                "asterism identities room.state join 7 3\n"
                "asterism identities room.state split 3 not-anna.npy\n"
                "asterism identities room.state forget 5\n"
                "asterism identities room.state set --angle 62 --lifetime 10000",
    .input = "the STATE of a stream, and what to do with it",
    .many = 1,
    .uses = uses,
    .job = sizeof(job),
    .steps = steps,
    .end = end};
