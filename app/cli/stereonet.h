/* SPDX-License-Identifier: MIT
 *
 * --stereonet: the figure of directions in two or three dimensions, for cluster, tune and assign. */
#pragma once

#include <report.h>

#include "directions.h"

/* The rows of a table of options. */
#define AST_CLI_STEREONET_OPTIONS(FLAG)                                                                                \
    {"stereonet",                                                                                                      \
     AST_CLI_TEXT,                                                                                                     \
     "FILE.svg|png",                                                                                                   \
     "draw the directions on the lower hemisphere, equal area, with the density, the means, their planes and 95% "     \
     "cones; in two dimensions a rose diagram",                                                                        \
     .writes = AST_CLI_WRITES_OWN,                                                                                     \
     .not_in = AST_CLI_ON_RANKS | AST_CLI_IN_PARTS,                                                                    \
     .more = "docs/field.md shows one."},                                                                              \
    {                                                                                                                  \
        "equal-angle", AST_CLI_FLAG, NULL, "with --stereonet: Wulff's net, which keeps angles, instead of areas",      \
            .offset = (FLAG), .needs = "stereonet"                                                                     \
    }

/* Refuses names without these extensions. */
int ast_cli_stereonet_check(const ast_cli_common *common);

/* What is drawn; labels (count) of `clusters` clusters. */
typedef struct ast_cli_stereonet {
    const ast_cli_common *common;
    const ast_points *points;
    const int32_t *labels;
    size_t clusters;
    const char *input;
    ast_notation notation;
    int axial, equal_angle;
    const ast_orientation *orientation; /* or NULL */
    const ast_cluster_info *means;      /* (clusters), or NULL: found from the labels */
} ast_cli_stereonet;

/* Writes it, if it was asked for. */
int ast_cli_stereonet_write(const ast_cli_stereonet *drawn);
