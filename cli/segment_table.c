/* SPDX-License-Identifier: MIT
 *
 * The table of segment: the clusters, largest first, each with the colour it has in the pictures where the terminal
 * shows colours. */
#include "segment_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal.h"

enum { MOST_ROWS = 20 };

static void print_head(const ast_cli_segments *segments, size_t clusters) {
    char time[AST_CLI_DURATION], normals[AST_CLI_DURATION], clustering[AST_CLI_DURATION];
    double frames = (double)segments->frames;
    printf("%" PRIu64 " frame%s of %zu x %zu pixels, %zu cluster%s by %s at %g degrees\n", segments->frames,
           segments->frames == 1 ? "" : "s", segments->width, segments->height, clusters, clusters == 1 ? "" : "s",
           segments->method, segments->angle);
    printf("%s, %.3g frames a second from files to pictures; of each %s are for normals and %s for clustering\n\n",
           ast_cli_duration(segments->seconds, time), frames / segments->seconds,
           ast_cli_duration(segments->normals / frames, normals),
           ast_cli_duration(segments->clustering / frames, clustering));
}

static void print_row(const ast_shares_band *band, int colour) {
    if (colour) {
        ast_colour shown = ast_palette(band->id);
        printf("\033[48;2;%d;%d;%dm    \033[0m", shown.red, shown.green, shown.blue);
    }
    printf("%8" PRId32 "  %9.1f%%  %8zu  %8" PRIu64 "  %8" PRIu64 "  %8zu\n", band->id, 100 * band->share, band->frames,
           band->first, band->last, band->returns);
}

int ast_cli_print_segments(const ast_cli_segments *segments) {
    size_t count;
    int colour = ast_cli_colour();
    ast_shares_band *bands = ast_shares_bands(segments->shares, &count);
    if (!bands)
        return 0;
    print_head(segments, count);
    printf("%s%8s  %10s  %8s  %8s  %8s  %8s\n", colour ? "    " : "", "id", "mean share", "frames", "first", "last",
           "returned");
    for (size_t i = 0; i < count && i < MOST_ROWS; i++)
        print_row(&bands[i], colour);
    if (count > MOST_ROWS)
        printf("   ... and %zu more\n", count - MOST_ROWS);
    printf("\n%s holds %s\n", segments->output,
           segments->frames == 1 ? "the picture"
                                 : "a picture for each frame, contact-sheet.png, shares.svg and shares.csv");
    free(bands);
    return 1;
}
