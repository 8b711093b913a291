/* SPDX-License-Identifier: MIT
 *
 * The figure of field measurements: directions in three dimensions on the lower hemisphere, with density contours, the
 * planes and the confidence cones of means; in two dimensions a rose diagram. It is drawn from directions and labels;
 * means and their errors are computed here, by the formulas of docs/errors.md, unless the run has them. */
#ifndef ASTERISM_REPORT_NET_H
#define ASTERISM_REPORT_NET_H

#include "report.h"

typedef struct ast_stereonet {
    const char *title;
    const ast_points *points; /* of two or three dimensions */
    const int32_t *labels;    /* (count), negative: none; NULL: one set */
    size_t clusters;
    bool axial;
    bool equal_angle;                   /* Wulff's net instead of Schmidt's */
    ast_notation notation;              /* how means are written; of planes the great circles are drawn, too */
    const ast_orientation *orientation; /* its girdle is drawn, if it is one; or NULL */
    const ast_cluster_info *means;      /* (clusters) means with their cones or ellipses; NULL: found from the labels */
} ast_stereonet;

/* Writes it as SVG or as PNG. */
bool ast_stereonet_write(const ast_stereonet *net, bool png, ast_output *output, ast_format_error *error);

/* Draws it as SVG. False without memory. */
bool ast_stereonet_draw(const ast_stereonet *net, ast_text *svg);

#endif
