/* SPDX-License-Identifier: MIT
 *
 * The progress line. It appears after the first second and is written at most four times a second, without escape
 * sequences: it is padded with spaces and erased with them. */
#include "progress.h"

#include <platform.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "interrupt.h"
#include "terminal.h"

double ast_cli_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void ast_cli_progress_start(ast_cli_progress *progress, const ast_cli_common *common, size_t points) {
    *progress = (ast_cli_progress){.points = points, .started = ast_cli_now()};
    progress->show = !common->quiet && (common->progress || isatty(STDERR_FILENO));
    progress->last = common->progress ? 0 : progress->started + 0.75; /* first line a second after the start */
}

/* Whether the line is due. */
static int is_due(ast_cli_progress *progress) {
    double time = ast_cli_now();
    if (!progress->show || time - progress->last < 0.25)
        return 0;
    progress->last = time;
    return 1;
}

/* Over what the line said before. */
static void show(ast_cli_progress *progress, const char *line, int width) {
    fprintf(stderr, "\r%s%*s", line, progress->width > width ? progress->width - width : 0, "");
    fflush(stderr);
    progress->width = width;
}

/* Seconds to wait, no finer than one can know them. */
static void describe_wait(double seconds, char *text, size_t size) {
    if (seconds < 120)
        snprintf(text, size, ", about %.0f s left", ceil(seconds));
    else if (seconds < 7200)
        snprintf(text, size, ", about %.0f min left", seconds / 60);
    else
        snprintf(text, size, ", about %.1f h left", seconds / 3600);
}

/* What is left when `share` of the work is done; nothing where that is not known, or too little to tell. */
static void describe_share(const ast_cli_progress *progress, double share, char *text, size_t size) {
    double seconds = progress->last - progress->started;
    text[0] = 0;
    if (share > 0 && share <= 1)
        describe_wait(seconds * (1 - share) / share, text, size);
}

/* How much of all passes is over, or 0 where their number is not known. */
static double passes_over(const ast_cli_progress *progress, const ast_progress *state) {
    double part = progress->passes ? (double)state->iteration / (double)progress->passes : 0;
    return progress->runs ? ((double)state->restart + part) / (double)progress->runs : 0;
}

/* Within a pass over an input that is read in parts. */
static void show_part(ast_cli_progress *progress, const ast_progress *state) {
    char line[200], clusters[AST_GROUPED];
    double share = progress->points ? 100.0 * (double)(progress->points - state->left) / (double)progress->points : 0;
    double seconds = progress->last - progress->started;
    int width = state->iteration ? snprintf(line, sizeof line, "pass %d, %.0f%% of the points, %s clusters, %.1f s",
                                            state->iteration, share, ast_grouped(state->clusters, clusters), seconds)
                                 : snprintf(line, sizeof line, "looking at the rows, %.0f%%, %.1f s", share, seconds);
    show(progress, line, width);
}

int ast_cli_progress_step(const ast_progress *state, void *data) {
    ast_cli_progress *progress = data;
    if (ast_cli_interrupted() || !is_due(progress))
        return ast_cli_interrupted();
    if (state->left > 0) {
        show_part(progress, state);
        return 0;
    }
    char line[200], restart[32] = "", clusters[AST_GROUPED], left[40];
    if (state->restart > 0)
        snprintf(restart, sizeof restart, "run %d, ", state->restart + 1);
    ast_grouped(state->clusters, clusters);
    describe_share(progress, passes_over(progress, state), left, sizeof left);
    double seconds = progress->last - progress->started;
    if (state->iteration == 0) {
        int drawn = snprintf(line, sizeof line, "%s%s starts drawn, %.1f s%s", restart, clusters, seconds, left);
        show(progress, line, drawn);
        return 0;
    }
    if (state->joining) {
        int joined = snprintf(line, sizeof line, "%sjoining clusters, %s left, %.1f s", restart, clusters, seconds);
        show(progress, line, joined);
        return 0;
    }
    double share = progress->points ? 100.0 * (double)state->changed / (double)progress->points : 0;
    int width = snprintf(line, sizeof line, "%spass %d, %s clusters, %.3g%% of the points changed, %.1f s%s", restart,
                         state->iteration, clusters, share, seconds, left);
    show(progress, line, width);
    return 0;
}

void ast_cli_progress_share(ast_cli_progress *progress, size_t done, size_t count, const char *what, double share) {
    if (!(share > 0) || !is_due(progress))
        return;
    char line[160], grouped[2][AST_GROUPED], left[40];
    describe_share(progress, share, left, sizeof left);
    int width = snprintf(line, sizeof line, "%s of %s %s%s", ast_grouped(done, grouped[0]),
                         ast_grouped(count, grouped[1]), what, left);
    show(progress, line, width);
}

void ast_cli_progress_left(ast_cli_progress *progress, size_t done, size_t count, const char *what) {
    ast_cli_progress_share(progress, done, count, what, count ? (double)done / (double)count : 0);
}

void ast_cli_progress_frame(ast_cli_progress *progress, const ast_frame *frame, uint64_t done, size_t left) {
    if (!is_due(progress))
        return;
    char line[160], duration[AST_CLI_DURATION], wait[40] = "";
    if (left != SIZE_MAX)
        describe_share(progress, (double)done / ((double)done + (double)left), wait, sizeof wait);
    int width = snprintf(line, sizeof line, "frame %" PRIu64 ", %zu clusters, %s%s", frame->frame, frame->clusters,
                         ast_cli_duration(frame->seconds, duration), wait);
    show(progress, line, width);
}

int ast_cli_progress_drawn(size_t drawn, void *data) {
    ast_cli_progress *progress = data;
    ast_cli_progress_left(progress, drawn, progress->points, "points");
    return ast_cli_interrupted();
}

void ast_cli_progress_end(ast_cli_progress *progress) {
    if (progress->width)
        fprintf(stderr, "\r%*s\r", progress->width, "");
    progress->width = 0;
}
