/* SPDX-License-Identifier: MIT
 *
 * The progress line. It appears after the first second and is written at most four times a second, without escape
 * sequences: it is padded with spaces and erased with them. */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

int ast_cli_progress_step(const ast_progress *state, void *data) {
    ast_cli_progress *progress = data;
    if (ast_cli_interrupted() || !is_due(progress))
        return ast_cli_interrupted();
    char line[160], restart[32] = "", clusters[AST_CLI_GROUPED];
    if (state->restart > 0)
        snprintf(restart, sizeof restart, "run %d, ", state->restart + 1);
    ast_cli_grouped(state->clusters, clusters);
    double seconds = progress->last - progress->started;
    if (state->iteration == 0) {
        int drawn = snprintf(line, sizeof line, "%s%s starts drawn, %.1f s", restart, clusters, seconds);
        show(progress, line, drawn);
        return 0;
    }
    double share = progress->points ? 100.0 * (double)state->changed / (double)progress->points : 0;
    int width = snprintf(line, sizeof line, "%spass %d, %s clusters, %.3g%% of the points changed, %.1f s", restart,
                         state->iteration, clusters, share, seconds);
    show(progress, line, width);
    return 0;
}

void ast_cli_progress_count(ast_cli_progress *progress, size_t done, size_t count, const char *what) {
    if (!is_due(progress))
        return;
    char line[120], grouped[2][AST_CLI_GROUPED];
    int width = snprintf(line, sizeof line, "%s of %s %s, %.1f s", ast_cli_grouped(done, grouped[0]),
                         ast_cli_grouped(count, grouped[1]), what, progress->last - progress->started);
    show(progress, line, width);
}

/* Seconds to wait, no finer than one can know them. */
static void describe_wait(double seconds, char *text, size_t size) {
    if (seconds < 120)
        snprintf(text, size, "%.0f s", ceil(seconds));
    else if (seconds < 7200)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

void ast_cli_progress_left(ast_cli_progress *progress, size_t done, size_t count, const char *what) {
    if (done == 0 || !is_due(progress))
        return;
    char line[160], grouped[2][AST_CLI_GROUPED], left[32];
    double seconds = progress->last - progress->started;
    describe_wait(seconds * (double)(count - done) / (double)done, left, sizeof left);
    int width = snprintf(line, sizeof line, "%s of %s %s, about %s left", ast_cli_grouped(done, grouped[0]),
                         ast_cli_grouped(count, grouped[1]), what, left);
    show(progress, line, width);
}

void ast_cli_progress_frame(ast_cli_progress *progress, const ast_frame *frame) {
    if (!is_due(progress))
        return;
    char line[160], duration[AST_CLI_DURATION];
    int width = snprintf(line, sizeof line, "frame %" PRIu64 ", %zu clusters, %s", frame->frame, frame->clusters,
                         ast_cli_duration(frame->seconds, duration));
    show(progress, line, width);
}

int ast_cli_progress_drawn(size_t drawn, void *data) {
    ast_cli_progress *progress = data;
    ast_cli_progress_count(progress, drawn, progress->points, "points");
    return ast_cli_interrupted();
}

void ast_cli_progress_end(ast_cli_progress *progress) {
    if (progress->width)
        fprintf(stderr, "\r%*s\r", progress->width, "");
    progress->width = 0;
}
