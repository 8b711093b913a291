/* SPDX-License-Identifier: MIT
 *
 * What came out of the scenes: means over them, the histogram of K, tables and figures. */
#pragma once

#include "nyu_figure.h"
#include "nyu_scenes.h"
#include "experiments.h"

enum { AST_NYU_BARS = 64 }; /* of the histogram; the last one has all that have more clusters */

typedef struct ast_nyu_summary {
    const ast_experiment *plan;
    const ast_nyu_setting *settings;
    size_t setting_count;
    ast_moments clusters[AST_NYU_SETTINGS], silhouette[AST_NYU_SETTINGS];
    size_t scenes;      /* done */
    size_t again, idle; /* of those: from an earlier run; with too few normals, in none of the means */
    size_t histograms[AST_NYU_SETTINGS][AST_NYU_BARS]; /* scenes by their number of clusters */
    size_t width, height;
    double seconds;
    const ast_nyu_figure *figure;
    ast_format_error no_figure; /* why there is none, or an empty text */
} ast_nyu_summary;

/* Adds a scene to the means. */
void ast_nyu_add(ast_nyu_summary *summary, const ast_nyu_scene *scene);

/* Writes nyu.csv, histogram.csv, nyu.svg and segments.svg, prints the table. The exit code, 0 included. */
int ast_nyu_deliver(const ast_nyu_summary *summary);
