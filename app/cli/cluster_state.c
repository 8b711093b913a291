/* SPDX-License-Identifier: MIT
 *
 * The file changes by a rename only, so that a kill at any moment leaves the old one or the new one. Several ranks
 * write their parts into one temporary file, which rank 0 opens and renames. */
#include "cluster_state.h"

#include <platform.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "interrupt.h"
#include "progress.h"
#include "ranks.h"
#include "targets.h"
#include "terminal.h"

/* The pause between two checkpoints is the largest of LEAST_PAUSE seconds (short runs write once), WRITING times the
 * duration of a write (writing takes at most a twentieth of the time), and the run so far over PART, which is about
 * what a kill costs, but of that at most MOST_PAUSE seconds. */
#define LEAST_PAUSE 0.1
#define WRITING 20
#define PART 50
#define MOST_PAUSE 60.0
#define GRACE 0.2 /* seconds after a signal in which a pass may still end and be written */

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static int read_bytes(uint64_t offset, void *bytes, size_t size, void *data) {
    return ast_read_at(((const ast_cli_checkpoint *)data)->descriptor, offset, bytes, size);
}

/* A missing file is no error. A pipe or a device cannot be resumed from. */
static int find(ast_cli_checkpoint *s) {
    struct stat status;
    s->descriptor = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->descriptor < 0 && errno == ENOENT)
        return -1;
    if (s->descriptor < 0)
        return ast_cli_fail("%s: cannot be read: %s", s->path, strerror(errno));
    s->opened = 1;
    if (fstat(s->descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return ast_cli_fail("%s: is no regular file, and --state needs one", s->path);
    s->found =
        (ast_storage){.size = sizeof(ast_storage), .bytes = (uint64_t)status.st_size, .read = read_bytes, .data = s};
    return -1;
}

/* The ranks must see the same file, or none. */
static int compare(const ast_cli_checkpoint *s) {
    const ast_comm *ranks = ast_cli_ranks();
    int first = s->opened;
    if (!ranks)
        return -1;
    ranks->broadcast(ranks->data, &first, sizeof first, 0);
    if (first == s->opened)
        return -1;
    return ast_cli_fail("%s is there on rank %d, but not on rank %d", s->path, first ? 0 : ranks->rank,
                        first ? ranks->rank : 0);
}

int ast_cli_checkpoint_open(ast_cli_checkpoint *s, const char *path) {
    s->path = path;
    s->began = s->when = ast_cli_now();
    int code = ast_cli_agree(find(s));
    if (code < 0)
        code = ast_cli_agree(compare(s));
    return code < 0 ? ast_cli_agree(ast_cli_is_first_rank() ? ast_cli_check_writable(s->path) : -1) : code;
}

void ast_cli_checkpoint_close(ast_cli_checkpoint *s) {
    if (s->opened)
        close(s->descriptor);
    s->opened = 0;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static int write_bytes(uint64_t offset, const void *bytes, size_t size, void *data) {
    ast_cli_checkpoint *s = data;
    bool good = s->output ? ast_output_write(s->output, bytes, size, &s->error)
                          : ast_write_part(s->name, offset, bytes, size, &s->error);
    return !good;
}

/* The temporary file; on several ranks all know its name. */
static int begin(ast_cli_checkpoint *s) {
    const ast_comm *ranks = ast_cli_ranks();
    bool good = true;
    s->output = NULL;
    if (ast_cli_is_first_rank()) {
        s->output = ast_output_open_sole(s->path, s->durable, &s->error);
        good = s->output && (!ranks || ast_output_share(s->output, s->name, sizeof s->name, &s->error));
    }
    int code = ast_cli_agree(good ? -1 : ast_cli_fail("%s", s->error.text));
    if (code < 0 && ranks)
        ranks->broadcast(ranks->data, s->name, sizeof s->name, 0);
    return code;
}

static int write_state(ast_cli_checkpoint *s) {
    ast_storage storage = {.size = sizeof storage, .write = write_bytes, .data = s};
    s->error.text[0] = 0;
    int code = begin(s);
    if (code < 0 && ast_checkpoint(s->context, &storage) != AST_OK)
        code = ast_cli_fail("%s%s%s", s->error.text[0] ? "" : s->path, s->error.text[0] ? "" : ": ",
                            s->error.text[0] ? s->error.text : ast_message(s->context));
    code = ast_cli_agree(code);
    ast_output *output = s->output;
    s->output = NULL;
    if (code >= 0)
        ast_output_abandon(output);
    else if (output && !ast_output_commit(output, &s->error))
        code = ast_cli_fail("%s", s->error.text);
    return ast_cli_agree(code);
}

static double pause_of(const ast_cli_checkpoint *s) {
    double pause = fmin((ast_cli_now() - s->began) / PART, MOST_PAUSE);
    return fmax(LEAST_PAUSE, fmax(pause, s->cost * WRITING));
}

/* All ranks act on a signal that any of them got, and on the clock of rank 0. Returns whether to write. */
static int decide(ast_cli_checkpoint *s, const ast_progress *progress) {
    const ast_comm *ranks = ast_cli_ranks();
    int over = progress->last && (size_t)progress->restart + 1 == s->restarts;
    int due = ast_cli_is_first_rank() && ast_cli_now() - s->when >= pause_of(s), number = ast_cli_interrupted();
    uint64_t told[3] = {(uint64_t)due, number != 0, (uint64_t)number};
    if (ranks)
        ranks->sum(ranks->data, told, 3);
    s->stopped = told[1] ? (int)(told[2] / told[1]) : 0;
    return over || told[0] || told[1];
}

int ast_cli_checkpoint_step(const ast_progress *progress, void *data) {
    ast_cli_checkpoint *s = data;
    int stop = ast_cli_record_step(progress, s->record);
    if (progress->iteration == 0 || progress->merging)
        return stop || ast_cli_interrupted();
    if (!decide(s, progress))
        return 0;
    double began = ast_cli_now();
    int code = write_state(s);
    s->code = code >= 0 ? code : 0;
    s->pass = code < 0 ? progress->iteration : s->pass;
    s->when = ast_cli_now();
    s->cost = s->when - began;
    return s->stopped || s->code;
}

int ast_cli_checkpoint_cancel(void *data) {
    ast_cli_checkpoint *s = data;
    if (!ast_cli_interrupted())
        return 0;
    s->asked = s->asked > 0 ? s->asked : ast_cli_now();
    return ast_cli_now() - s->asked >= GRACE;
}

int ast_cli_checkpoint_verdict(const ast_cli_checkpoint *s, ast_status status) {
    if (s->code)
        return s->code;
    if (status == AST_BAD_STATE)
        return ast_cli_fail("%s: %s", s->path, ast_message(s->context));
    if (status != AST_CANCELLED || s->pass == 0)
        return -1;
    int number = s->stopped ? s->stopped : ast_cli_interrupted();
    return ast_cli_end(AST_CLI_SIGNAL + number, "stopped after pass %d; the same command goes on from %s", s->pass,
                       s->path);
}
