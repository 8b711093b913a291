/* SPDX-License-Identifier: MIT
 *
 * The sweep of tune, in the background: its curves grow on the pages while it runs. Its threads have idle priority, so
 * that a drag never waits for them. */
#include "explore_worker.h"

#include <platform.h>
#include <stdlib.h>

#define PAUSE 0.25 /* seconds between two messages */

/* A sweep over one kind of rows. */
typedef struct sweep {
    ast_text rows;           /* the angles so far, without the brackets */
    ast_shared_text *latest; /* the newest message */
    bool done;
    ast_metric_kind metric; /* of what was found; AST_METRIC_AUTO: nothing */
} sweep;

static const ast_metric_kind metrics[AST_ROW_KINDS] = {[AST_ROWS_PLAIN] = AST_METRIC_PLAIN,
                                                       [AST_ROWS_AXIAL] = AST_METRIC_PLAIN,
                                                       [AST_ROWS_CENTRED] = AST_METRIC_PLAIN,
                                                       [AST_ROWS_AUTO] = AST_METRIC_AUTO,
                                                       [AST_ROWS_LOCAL] = AST_METRIC_LOCAL};

struct ast_explore_sweeps {
    ast_explore_pages *pages;
    pthread_t thread;
    ast_context *context; /* of the thread */
    double told;          /* when the last message was sent */
    /* Protected by the lock of all pages */
    sweep all[AST_ROW_KINDS];
    bool wanted[AST_ROW_KINDS];
    ast_explore_rows now; /* what runs */
    bool stopping;
};

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* `found` NULL: the sweep is not over; `problem`: why there is none. */
static ast_shared_text *write_message(const ast_explore_sweeps *sweeps, ast_explore_rows kind, double done,
                                      const ast_tune_report *found, const char *problem) {
    ast_explore_text text;
    const sweep *of = &sweeps->all[kind];
    ast_explore_begin(&text, "sweep");
    ast_json_boolean(&text.json, "axial", kind == AST_ROWS_AXIAL);
    ast_json_boolean(&text.json, "center", kind == AST_ROWS_CENTRED);
    ast_json_string(&text.json, "metric", ast_explore_metric_name(metrics[kind]));
    ast_json_number(&text.json, "progress", done, 3);
    ast_json_string(&text.json, "problem", problem);
    ast_json_open(&text.json, "angles", '[');
    if (of->rows.size)
        ast_text_add(&text.json, of->rows.bytes, of->rows.size);
    ast_json_close(&text.json, ']');
    if (found) {
        ast_json_open(&text.json, "tuned", '{');
        sweeps->pages->explored->command->put_tuned(sweeps->context, found, NULL, &text.json);
        ast_json_close(&text.json, '}');
    }
    return ast_explore_end(&text);
}

/* Keeps the newest message for pages that come later, and tells those that are there. */
static void tell(ast_explore_sweeps *sweeps, ast_explore_rows kind, double done, const ast_tune_report *found,
                 const char *problem) {
    pthread_mutex_lock(&sweeps->pages->lock);
    sweep *of = &sweeps->all[kind];
    ast_shared_text *message = write_message(sweeps, kind, done, found, problem);
    if (message) {
        ast_shared_text_release(of->latest);
        of->latest = ast_shared_text_share(message);
    }
    of->done |= found || problem;
    of->metric = found ? found->metric : AST_METRIC_AUTO;
    pthread_mutex_unlock(&sweeps->pages->lock);
    ast_explore_pages_tell(sweeps->pages, kind, message);
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

/* Cancels a sweep whose rows no page looks at any more. */
static int is_over(void *data) {
    ast_explore_sweeps *sweeps = data;
    pthread_mutex_lock(&sweeps->pages->lock);
    bool stopping = sweeps->stopping;
    pthread_mutex_unlock(&sweeps->pages->lock);
    return stopping || !ast_explore_pages_want(sweeps->pages, sweeps->now);
}

/* Limits the rate: every message makes the pages draw. */
static int show_progress(double done, void *data) {
    ast_explore_sweeps *sweeps = data;
    double now = ast_explore_clock();
    if (now - sweeps->told >= PAUSE) {
        sweeps->told = now;
        tell(sweeps, sweeps->now, done, NULL, NULL);
    }
    return is_over(data);
}

static void take_angle(const ast_tune_angle *row, void *data) {
    ast_explore_sweeps *sweeps = data;
    pthread_mutex_lock(&sweeps->pages->lock);
    sweeps->pages->explored->command->put_angle(row, &sweeps->all[sweeps->now].rows);
    pthread_mutex_unlock(&sweeps->pages->lock);
}

static void run_sweep(ast_explore_sweeps *sweeps, ast_explore_rows kind) {
    const ast_explored *explored = sweeps->pages->explored;
    ast_tune_options options;
    ast_tune_report found = {.size = sizeof found};
    ast_tune_options_init(&options);
    options.axial = kind == AST_ROWS_AXIAL;
    options.center = kind == AST_ROWS_CENTRED;
    options.seed = explored->seed;
    options.metric = metrics[kind];
    options.progress = show_progress;
    options.progress_data = sweeps;
    options.angle_found = take_angle;
    pthread_mutex_lock(&sweeps->pages->lock);
    sweeps->now = kind;
    ast_text_free(&sweeps->all[kind].rows);
    pthread_mutex_unlock(&sweeps->pages->lock);
    ast_status status = ast_tune(sweeps->context, &explored->points, &options, NULL, &found);
    if (status == AST_CANCELLED)
        return;
    tell(sweeps, kind, 1, status == AST_OK ? &found : NULL, status == AST_OK ? NULL : ast_message(sweeps->context));
}

/* The next kind that somebody wants; AST_ROW_KINDS to stop. */
static ast_explore_rows next_kind(ast_explore_sweeps *sweeps) {
    size_t kind = AST_ROW_KINDS;
    pthread_mutex_lock(&sweeps->pages->lock);
    while (!sweeps->stopping) {
        for (kind = 0; kind < AST_ROW_KINDS && (!sweeps->wanted[kind] || sweeps->all[kind].done); kind++)
            ;
        if (kind < AST_ROW_KINDS)
            break;
        pthread_cond_wait(&sweeps->pages->changed, &sweeps->pages->lock);
    }
    if (kind < AST_ROW_KINDS)
        sweeps->wanted[kind] = false;
    size_t found = sweeps->stopping ? AST_ROW_KINDS : kind;
    pthread_mutex_unlock(&sweeps->pages->lock);
    return (ast_explore_rows)found;
}

static void *work(void *data) {
    ast_explore_sweeps *sweeps = data;
    ast_run_when_idle(); /* the context's threads inherit it */
    if (ast_open(&sweeps->context, sweeps->pages->explored->threads) != AST_OK)
        return NULL;
    ast_set_cancel(sweeps->context, is_over, sweeps);
    for (ast_explore_rows kind = next_kind(sweeps); kind < AST_ROW_KINDS; kind = next_kind(sweeps))
        run_sweep(sweeps, kind);
    ast_close(sweeps->context);
    return NULL;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

ast_explore_sweeps *ast_explore_sweeps_open(ast_explore_pages *pages) {
    ast_explore_sweeps *sweeps = calloc(1, sizeof *sweeps);
    if (!sweeps)
        return NULL;
    sweeps->pages = pages;
    if (pthread_create(&sweeps->thread, NULL, work, sweeps) == 0)
        return sweeps;
    free(sweeps);
    return NULL;
}

void ast_explore_sweeps_close(ast_explore_sweeps *sweeps) {
    if (!sweeps)
        return;
    pthread_mutex_lock(&sweeps->pages->lock);
    sweeps->stopping = true;
    pthread_cond_broadcast(&sweeps->pages->changed);
    pthread_mutex_unlock(&sweeps->pages->lock);
    pthread_join(sweeps->thread, NULL);
    for (size_t kind = 0; kind < AST_ROW_KINDS; kind++) {
        ast_text_free(&sweeps->all[kind].rows);
        ast_shared_text_release(sweeps->all[kind].latest);
    }
    free(sweeps);
}

/* Rows with the metric that tune has chosen need no sweep of their own. The lock is held. */
static ast_explore_rows sweep_of(const ast_explore_sweeps *sweeps, ast_explore_rows rows) {
    const sweep *chosen = &sweeps->all[AST_ROWS_AUTO];
    bool same = (rows == AST_ROWS_PLAIN || rows == AST_ROWS_LOCAL) && chosen->done && chosen->metric == metrics[rows];
    return same ? AST_ROWS_AUTO : rows;
}

void ast_explore_sweeps_want(ast_explore_sweeps *sweeps, ast_explore_page *page, ast_explore_rows rows) {
    pthread_mutex_lock(&sweeps->pages->lock);
    rows = sweep_of(sweeps, rows);
    ast_shared_text *latest = sweeps->all[rows].latest;
    ast_shared_text *message = latest ? ast_shared_text_share(latest) : NULL;
    sweeps->wanted[rows] = true;
    pthread_cond_broadcast(&sweeps->pages->changed);
    pthread_mutex_unlock(&sweeps->pages->lock);
    ast_explore_page_post(page, AST_MESSAGE_SWEEP, message);
}
