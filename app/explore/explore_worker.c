/* SPDX-License-Identifier: MIT
 *
 * The worker of a page: clusters what the page wants to see. A run that is not over after a moment is given up for one
 * pass over the first rows, which is shown as unfinished, and then begun again; nothing of the unfinished run is used.
 */
#include "explore_worker.h"

#include <platform.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 0.1     /* seconds before something unfinished is shown */
#define GLANCE 0.03      /* seconds for the unfinished run */
#define LONGEST 0.06     /* seconds after which the unfinished run is cancelled */
#define MOST_PASSES 1000 /* of it */
#define QUIET 0.2        /* seconds without a task before details are computed */
enum { FIRST_ROWS = 500 };
#define MOST_NUMBERS ((size_t)1 << 18) /* of points whose principal axes are found */
#define MOST_MAPPED ((size_t)1 << 28)  /* numbers of mapped rows, which are a copy */

double ast_explore_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- Cancelling -------------------------------------------------------------------------------------------------- */

static bool wants_any(const ast_explore_page *page) {
    bool any = false;
    for (size_t task = 0; task < AST_TASKS; task++)
        any |= page->wants[task];
    return any;
}

/* For ast_set_cancel. */
static int is_over(void *data) {
    ast_explore_page *page = data;
    const ast_explore_worker *worker = &page->worker;
    pthread_mutex_lock(&page->all->lock);
    bool over = page->gone || (worker->idle && wants_any(page)) || (!worker->patient && page->wants[AST_TASK_RUN]);
    pthread_mutex_unlock(&page->all->lock);
    return over || ast_explore_clock() > worker->deadline;
}

static int is_over_after_pass(const ast_progress *state, void *data) {
    (void)state;
    return is_over(data);
}

/* ---- How rows are seen ------------------------------------------------------------------------------------------- */

/* Some of the points or means, so that their axes are found in a moment. */
static ast_points some_points(const ast_points *points) {
    ast_points some = *points;
    size_t most = MOST_NUMBERS / points->dimension + 100, step = (points->count + most - 1) / most;
    some.row_stride *= (ptrdiff_t)step;
    some.count = points->starts ? (points->count < most ? points->count : most) : points->count / step;
    return some;
}

/* More than three dimensions: along the principal axes of the means or, if there are too few of them, of the points. */
static bool find_axes(const ast_explore_run *run, ast_projection *projection) {
    ast_format_error error;
    const ast_points *points = &run->points;
    size_t dimension = points->dimension, means = run->report.clusters;
    ast_points all = means > 3 && dimension > 3 ? ast_points_f4(run->clusters->mean, means, dimension) : *points;
    ast_points view = some_points(&all);
    return ast_projection_find(projection, &view, &error);
}

static bool keep_center(ast_explore_worker *worker, const ast_report *report) {
    size_t size = report->dimension * sizeof *worker->center;
    free(worker->center);
    worker->center = report->center ? malloc(size) : NULL;
    if (worker->center)
        memcpy(worker->center, report->center, size);
    worker->view.center = worker->center;
    return !report->center || worker->center;
}

/* Points keep their places until the rows change: nobody could follow axes that turn with every step. */
static bool is_view_valid(const ast_explore_worker *worker, const ast_explore_request *request) {
    return worker->view_valid && worker->view_center == request->center && worker->view_axial == request->axial &&
           worker->view_local == ast_explore_is_local(request) && worker->view_method == request->method;
}

static bool find_view(ast_explore_worker *worker, const ast_explore_run *run) {
    ast_projection_free(&worker->view.projection);
    return keep_center(worker, &run->report) && find_axes(run, &worker->view.projection);
}

static bool see(ast_explore_page *page, const ast_explore_run *run) {
    ast_explore_worker *worker = &page->worker;
    const ast_drawn *drawn = page->all->drawn;
    bool same = is_view_valid(worker, &run->request) && (run->unfinished || !worker->view_provisional);
    if (same && !ast_explore_is_local(&run->request))
        return true;
    /* Every run has a metric of its own, so mapped rows move a little; the axes stay. */
    int16_t *xyz = malloc((3 * drawn->count + 1) * sizeof *xyz);
    worker->view_valid =
        xyz && (same || find_view(worker, run)) && ast_drawn_see(drawn, &run->points, run, &worker->view, xyz);
    worker->view_provisional = run->unfinished;
    worker->view_center = run->request.center;
    worker->view_axial = run->request.axial;
    worker->view_local = ast_explore_is_local(&run->request);
    worker->view_method = run->request.method;
    if (worker->view_valid)
        ast_explore_page_post(page, AST_MESSAGE_POINTS, ast_explore_places(drawn, &worker->view, xyz, &run->request));
    free(xyz);
    return worker->view_valid;
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static void tell_problem(ast_explore_page *page, uint64_t id, const char *sentence) {
    ast_explore_page_post(page, AST_MESSAGE_PROBLEM, ast_explore_words("problem", id, sentence));
}

/* Clusters the first rows. `run` changes only if the call succeeds. */
static ast_status run_rows(ast_explore_page *page, const ast_options *options, size_t rows, ast_explore_run *run) {
    ast_explore_worker *worker = &page->worker;
    ast_points points = page->all->explored->points;
    ast_report report = {.size = sizeof report};
    size_t count;
    points.count = rows;
    ast_status status = ast_cluster(worker->context, &points, options, worker->labels, &report);
    if (status != AST_OK)
        return status;
    run->report = report;
    run->points = points;
    run->clusters = ast_clusters(worker->context, &count);
    run->labels = worker->labels;
    run->rows = rows;
    return AST_OK;
}

static ast_options options_of(ast_explore_page *page, const ast_explore_request *request) {
    ast_options options = ast_explore_options(page->all->explored, request);
    options.progress = is_over_after_pass;
    options.progress_data = page;
    return options;
}

static void show(ast_explore_page *page, ast_explore_run *run, double began) {
    run->seconds = ast_explore_clock() - began;
    ast_explore_page_post(page, AST_MESSAGE_RESULT,
                          ast_explore_result(page->all->explored, page->all->drawn, &page->worker.view, run));
}

/* One pass over as many rows as a moment allows or, if it allows all of them, more passes. */
static void show_unfinished(ast_explore_page *page, const ast_explore_request *request, double began) {
    ast_explore_worker *worker = &page->worker;
    ast_explore_run run = {.request = *request, .unfinished = true};
    ast_options options = options_of(page, request);
    double start = ast_explore_clock();
    size_t all = page->all->explored->points.count;
    options.max_iterations = 1;
    options.merge.by = AST_MERGE_NONE;
    options.merge.min_size = 0;
    worker->ran = false;
    worker->deadline = start + LONGEST;
    size_t rows = FIRST_ROWS < all ? FIRST_ROWS : all;
    while (ast_explore_clock() - start < GLANCE) {
        if (request->clusters <= rows && run_rows(page, &options, rows, &run) != AST_OK)
            break;
        if (rows == all && (run.report.converged || options.max_iterations > MOST_PASSES))
            break;
        if (rows == all)
            options.max_iterations *= 2;
        rows = rows < all / 2 ? 2 * rows : all;
    }
    if (run.rows > 0 && run.report.clusters > 0 && see(page, &run))
        show(page, &run, began);
}

static const char *describe_failure(ast_explore_page *page, ast_status status, const ast_report *report) {
    if (status == AST_NO_MEMORY)
        return "there is not enough memory for this run";
    if (status != AST_OK)
        return ast_message(page->worker.context);
    return report->missing == report->points ? "no row has a direction with these options" : NULL;
}

/* ---- The metric -------------------------------------------------------------------------------------------------- */

static void forget_metric(ast_explore_worker *worker) {
    free((float *)worker->metric.center);
    free((float *)worker->metric.matrix);
    free((float *)worker->metric.mapped_center);
    free(worker->mapped);
    worker->metric = (ast_metric){0};
    worker->mapped = NULL;
}

static float *copy_numbers(const float *numbers, size_t count) {
    float *copy = malloc(count * sizeof *copy);
    return copy ? memcpy(copy, numbers, count * sizeof *copy) : NULL;
}

/* Keeps the metric of the run, which the next call with the context ends, and the rows after it. */
static ast_status keep_metric(ast_explore_page *page, ast_explore_run *run) {
    ast_explore_worker *worker = &page->worker;
    const ast_metric *learned = run->report.metric;
    size_t dimension = run->report.dimension, count = run->rows, clusters;
    forget_metric(worker);
    if (!learned)
        return AST_OK;
    worker->metric = (ast_metric){.size = sizeof worker->metric,
                                  .dimension = dimension,
                                  .center = copy_numbers(learned->center, dimension),
                                  .matrix = copy_numbers(learned->matrix, dimension * dimension),
                                  .mapped_center = copy_numbers(learned->mapped_center, dimension)};
    worker->mapped = count <= MOST_MAPPED / dimension ? malloc(count * dimension * sizeof *worker->mapped) : NULL;
    if (!worker->metric.center || !worker->metric.matrix || !worker->metric.mapped_center || !worker->mapped)
        return AST_NO_MEMORY;
    run->report.metric = &worker->metric;
    run->points = ast_points_f4(worker->mapped, count, dimension);
    ast_status status =
        ast_metric_apply(worker->context, &page->all->explored->points, &worker->metric, worker->mapped);
    run->clusters = ast_clusters(worker->context, &clusters);
    return status;
}

ast_options ast_explore_repeat(const ast_explore_page *page) {
    const ast_explore_worker *worker = &page->worker;
    ast_options options = ast_explore_options(page->all->explored, &worker->run.request);
    if (worker->metric.matrix && ast_explore_is_local(&worker->run.request))
        options.map = &worker->metric;
    return options;
}

/* A whole run; given up at the deadline. */
static ast_status run_whole(ast_explore_page *page, const ast_explore_request *request, double deadline) {
    ast_explore_worker *worker = &page->worker;
    ast_options options = options_of(page, request);
    ast_explore_run run = {.request = *request};
    worker->ran = false;
    worker->deadline = deadline;
    ast_status status = run_rows(page, &options, page->all->explored->points.count, &run);
    if (status == AST_OK)
        status = keep_metric(page, &run);
    worker->deadline = INFINITY;
    if (status == AST_CANCELLED)
        return status;
    const char *problem = describe_failure(page, status, &run.report);
    if (problem) {
        tell_problem(page, request->id, problem);
        return AST_BAD_DATA;
    }
    if (!see(page, &run)) {
        tell_problem(page, request->id, "there is not enough memory to draw the points");
        return AST_NO_MEMORY;
    }
    run.report.center = worker->view.center;
    worker->run = run;
    worker->ran = true;
    worker->detailed = 0;
    return AST_OK;
}

static bool is_newer(ast_explore_page *page) {
    pthread_mutex_lock(&page->all->lock);
    bool newer = page->gone || page->wants[AST_TASK_RUN];
    pthread_mutex_unlock(&page->all->lock);
    return newer;
}

static void run_task(ast_explore_page *page, const ast_explore_request *request) {
    ast_explore_worker *worker = &page->worker;
    double began = ast_explore_clock();
    ast_status status = worker->slow ? AST_CANCELLED : run_whole(page, request, began + PATIENCE);
    if (status == AST_CANCELLED && !is_newer(page)) {
        worker->slow = true;                /* the next request starts with an unfinished run at once */
        if (!ast_explore_is_local(request)) /* a metric of the first rows says nothing about all of them */
            show_unfinished(page, request, began);
        status = run_whole(page, request, INFINITY);
    }
    if (status == AST_CANCELLED)
        ast_explore_page_post(page, AST_MESSAGE_CANCELLED, ast_explore_words("cancelled", request->id, NULL));
    else if (status == AST_OK)
        worker->slow = worker->run.report.seconds > PATIENCE;
    if (status != AST_OK)
        return;
    show(page, &worker->run, began);
}

ast_status ast_explore_ensure(ast_explore_page *page, const ast_explore_request *request, bool patient) {
    ast_explore_worker *worker = &page->worker;
    if (worker->ran && ast_explore_same(&worker->run.request, request)) {
        worker->run.request.id = request->id;
        return AST_OK;
    }
    worker->patient = patient;
    ast_status status = run_whole(page, request, INFINITY);
    worker->patient = false;
    return status;
}

static void tell_members(ast_explore_page *page, const ast_explore_request *request, size_t cluster) {
    ast_explore_text text;
    const ast_explore_run *run = &page->worker.run;
    if (ast_explore_ensure(page, request, false) != AST_OK)
        return;
    if (cluster >= run->report.clusters) {
        tell_problem(page, request->id, "this run has no such cluster");
        return;
    }
    ast_explore_begin(&text, "members");
    ast_json_integer(&text.json, "id", (int64_t)request->id);
    text.json.failed |= !ast_explore_put_members(page->all->explored, run, cluster, &text.json);
    ast_explore_page_post(page, AST_MESSAGE_MEMBERS, ast_explore_end(&text));
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void do_task(ast_explore_page *page, ast_explore_task task, const ast_explore_request *request, size_t cluster) {
    if (task == AST_TASK_RUN)
        run_task(page, request);
    else if (task == AST_TASK_MEMBERS)
        tell_members(page, request, cluster);
    else if (ast_explore_ensure(page, request, true) == AST_OK)
        (task == AST_TASK_SAVE ? ast_explore_save : ast_explore_report)(page);
}

static bool open_worker(ast_explore_page *page) {
    ast_explore_worker *worker = &page->worker;
    const ast_explored *explored = page->all->explored;
    worker->deadline = INFINITY;
    worker->labels = malloc((explored->points.count + 1) * sizeof *worker->labels);
    worker->leaves = malloc((explored->points.count + 1) * sizeof *worker->leaves);
    if (!worker->labels || !worker->leaves || ast_open(&worker->context, explored->threads) != AST_OK) {
        tell_problem(page, 0, "there is no memory or no thread for this page; close another one");
        return false;
    }
    ast_set_cancel(worker->context, is_over, page);
    return true;
}

static void close_worker(ast_explore_worker *worker) {
    ast_close(worker->context);
    ast_projection_free(&worker->view.projection);
    forget_metric(worker);
    free(worker->center);
    free(worker->labels);
    free(worker->leaves);
}

/* Waits for a task, the end, or a quiet moment, in which false is returned; the lock is held. */
static bool wait_for_task(ast_explore_page *page, bool details) {
    ast_moment until;
    ast_moment_after(&until, QUIET);
    while (!page->gone && !wants_any(page)) {
        if (!details)
            pthread_cond_wait(&page->all->changed, &page->all->lock);
        else if (!ast_condition_wait(&page->all->changed, &page->all->lock, &until))
            return wants_any(page);
    }
    return true;
}

/* Takes the first task; the lock is held. */
static ast_explore_task take_task(ast_explore_page *page) {
    size_t task = 0;
    while (task < AST_TASKS && !page->wants[task])
        task++;
    if (task < AST_TASKS)
        page->wants[task] = false;
    return (ast_explore_task)task;
}

static void work_on(ast_explore_page *page) {
    pthread_mutex_t *lock = &page->all->lock;
    bool details = false;
    pthread_mutex_lock(lock);
    while (!page->gone) {
        bool asked = wait_for_task(page, details);
        ast_explore_task task = asked ? take_task(page) : AST_TASKS;
        ast_explore_request request = page->wanted[task < AST_TASKS ? task : 0];
        size_t cluster = page->cluster;
        pthread_mutex_unlock(lock);
        if (task < AST_TASKS)
            do_task(page, task, &request, cluster);
        details = task < AST_TASKS ? page->worker.ran : !asked && ast_explore_next_detail(page);
        pthread_mutex_lock(lock);
    }
    pthread_mutex_unlock(lock);
}

void *ast_explore_work(void *data) {
    ast_explore_page *page = data;
    if (open_worker(page))
        work_on(page);
    pthread_mutex_lock(&page->all->lock);
    while (!page->gone) /* the server still holds a pointer to the page */
        pthread_cond_wait(&page->all->changed, &page->all->lock);
    pthread_mutex_unlock(&page->all->lock);
    close_worker(&page->worker);
    ast_explore_page_leave(page);
    return NULL;
}
