/* SPDX-License-Identifier: MIT
 *
 * One converter makes the normals of all frames, in memory that is used again. */
#include "frame_normals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "progress.h"
#include "terminal.h"

static int open_maker(ast_cli_frame_normals *made, const ast_cli_frames *frames, ast_context *context) {
    const char *source = frames->frame.source;
    if (!made->maker) {
        if (ast_depth_open(&made->maker, context, &frames->options) != AST_OK ||
            ast_depth_frame_open(&made->frame, context) != AST_OK)
            return ast_cli_fail("%s: %s", source, ast_message(context));
        made->normals = malloc(3 * frames->width * frames->height * sizeof *made->normals);
    }
    return made->normals ? -1 : ast_cli_fail("%s: there is no memory for its normals", source);
}

int ast_cli_frame_points(ast_cli_frame_normals *made, const ast_cli_frames *frames, ast_context *context,
                         ast_points *points) {
    *points = frames->frame.points;
    if (!frames->list->depth)
        return -1;
    int code = open_maker(made, frames, context);
    if (code >= 0)
        return code;
    double start = ast_cli_now();
    ast_status status = ast_depth_compute(made->maker, &frames->frame.image, NULL, NULL, made->normals, made->frame);
    made->seconds += ast_cli_now() - start;
    made->report.size = sizeof made->report;
    if (status == AST_OK)
        status = ast_depth_describe(made->frame, &made->report);
    *points = ast_points_f4(made->normals, frames->width * frames->height, 3);
    points->late = made->report.late;
    return ast_cli_status(status, context, frames->frame.source);
}

void ast_cli_frame_normals_close(ast_cli_frame_normals *made) {
    ast_depth_close(made->maker);
    ast_depth_frame_close(made->frame);
    free(made->normals);
}

/* ---- Pixels without a label -------------------------------------------------------------------------------------- */

enum { SURFACE = 192, SENTENCE = 400 };

/* What most of the pixels that are on no plane lie on instead. */
static const char *name_surface(const ast_depth_report *found, double epsilon, char text[SURFACE]) {
    if (found->uncertain > found->uneven && found->uncertain > found->small) {
        snprintf(
            text, SURFACE,
            "planes too narrow or too far away for a sure direction with --filter-epsilon %g, the deviation at 1 m "
            "that counts as noise",
            epsilon);
        return text;
    }
    return found->small > found->uneven ? "planes smaller than 1/480 of the image"
                                        : "surfaces that fit no plane: curved, cluttered, or noisy beyond measure";
}

static void explain(const ast_depth_report *report, const ast_depth_options *o, double angle, char text[SENTENCE]) {
    char surface[SURFACE], end[96] = "";
    if (o->smooth != AST_SMOOTH_PLANES && o->smooth != AST_SMOOTH_PLANES_ONLY) {
        snprintf(text, SENTENCE,
                 "the depth jumps between neighbouring pixels (--edge-jump %g), so that they have no normal", o->jump);
        return;
    }
    if (o->smooth == AST_SMOOTH_PLANES && !isnan(angle))
        snprintf(end, sizeof end, ", farther than %g degrees from every cluster", angle);
    snprintf(text, SENTENCE, "most lie on %s%s; --smooth guided gives each pixel a normal of its own",
             name_surface(report, o->filter_epsilon, surface), end);
}

void ast_cli_missing_note(ast_cli_frame_normals *made, const ast_cli_frames *frames, size_t unlabelled, double angle) {
    char cause[SENTENCE];
    size_t pixels = made->report.pixels, holes = frames->width * frames->height - pixels;
    if (!made->maker || unlabelled <= holes || 2 * (unlabelled - holes) <= pixels)
        return;
    if (made->mostly_missing++ > 0)
        return;
    explain(&made->report, &frames->options, angle, cause);
    ast_cli_warn("%s: %.0f%% of the pixels with depth have no label: %s", frames->frame.source,
                 100 * (double)(unlabelled - holes) / (double)pixels, cause);
}

void ast_cli_missing_end(const ast_cli_frame_normals *made, uint64_t count) {
    if (made->mostly_missing > 1)
        ast_cli_warn("in %zu of %" PRIu64 " frames more than half of the pixels with depth have no label",
                     made->mostly_missing, count);
}
