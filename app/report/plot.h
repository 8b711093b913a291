/* SPDX-License-Identifier: MIT
 *
 * Figures of experiments: panels side by side, each with lines and error bands, or bars; and points of the sphere as
 * two equal-area nets. They are drawn from numbers and do not know where these come from.
 *
 * The main idea: nothing depends on colour alone. Series also differ in marks and dashes, and bands are light. */
#ifndef ASTERISM_REPORT_PLOT_H
#define ASTERISM_REPORT_PLOT_H

#include "report.h"

typedef struct ast_plot_series {
    const char *name;    /* for the legend */
    const double *x, *y; /* (count); values that are not finite, or beyond 1e30, interrupt the line */
    const double *error; /* (count) half the height of the error band, or NULL */
    size_t count;
    int32_t look; /* selects marks, dashes and colour; 0.. */
    bool bars;    /* bars from 0 instead of a line; x are their centres, at a distance of one */
} ast_plot_series;

/* Names, titles and labels must be short and must not contain <, > or &. */
typedef struct ast_plot_panel {
    const char *title, *x_label, *y_label;
    const ast_plot_series *series;
    size_t count;
    double low, high; /* the least range of y to show, where bands end; if equal, the range of the series */
    bool logarithmic; /* y in powers of ten; values that are not positive are left out, and there are no bars */
    double x_mark;    /* position of a thin vertical line and ... */
    double y_mark;    /* ... of a horizontal one, for a known or chosen value, always visible; NaN for none */
} ast_plot_panel;

/* Up to four panels from left to right. `title` is the description for screen readers. */
void ast_plot_draw(const ast_plot_panel *panels, size_t count, const char *title, ast_text *svg);

/* Points of the sphere (count, 3) by Lambert's azimuthal equal-area projection: the hemisphere around +z on the left,
 * the one around -z on the right, each seen from outside. Points with negative labels, or not finite, are left out; of
 * more than 4000 points an evenly spaced part is drawn. Light colours are darkened, so that they are visible on paper.
 * Means (means_count, 3), or NULL, are drawn as rings with their numbers. */
void ast_net_draw(const float *points, const int32_t *labels, size_t count, const float *means, size_t means_count,
                  const char *title, ast_text *svg);

#endif
