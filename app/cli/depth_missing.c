/* SPDX-License-Identifier: MIT */
#include "depth_missing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "terminal.h"

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

static void explain(const ast_cli_frames *frames, double angle, char text[SENTENCE]) {
    char surface[SURFACE], end[96] = "";
    const ast_depth_options *o = &frames->options;
    if (o->smooth != AST_SMOOTH_PLANES && o->smooth != AST_SMOOTH_PLANES_ONLY) {
        snprintf(text, SENTENCE,
                 "the depth jumps between neighbouring pixels (--edge-jump %g), so that they have no normal", o->jump);
        return;
    }
    if (o->smooth == AST_SMOOTH_PLANES && !isnan(angle))
        snprintf(end, sizeof end, ", farther than %g degrees from every cluster", angle);
    snprintf(text, SENTENCE, "most lie on %s%s; --smooth guided gives each pixel a normal of its own",
             name_surface(&frames->report, o->filter_epsilon, surface), end);
}

void ast_cli_missing_note(ast_cli_frames *frames, size_t unlabelled, double angle) {
    char cause[SENTENCE];
    size_t pixels = frames->report.pixels, holes = frames->width * frames->height - pixels;
    if (!frames->maker || unlabelled <= holes || 2 * (unlabelled - holes) <= pixels)
        return;
    if (frames->mostly_missing++ > 0)
        return;
    explain(frames, angle, cause);
    ast_cli_fail(0, "warning: %s: %.0f%% of the pixels with depth have no label: %s", frames->frame.source,
                 100 * (double)(unlabelled - holes) / (double)pixels, cause);
}

void ast_cli_missing_end(const ast_cli_frames *frames, uint64_t count) {
    if (frames->mostly_missing > 1)
        ast_cli_fail(0, "warning: in %zu of %" PRIu64 " frames more than half of the pixels with depth have no label",
                     frames->mostly_missing, count);
}
