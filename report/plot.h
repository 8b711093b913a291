/* SPDX-License-Identifier: MIT
 *
 * Figures of experiments: panels side by side, each with lines and bands of error, or bars; and points of the sphere as
 * two equal-area nets. They are drawn from numbers and know nothing of where these come from.
 *
 * The one idea: nothing depends on colour. Series differ in their marks and dashes too, and bands are light. */
#ifndef ASTERISM_REPORT_PLOT_H
#define ASTERISM_REPORT_PLOT_H

#include "report.h"

typedef struct ast_plot_series {
    const char *name;    /* for the legend */
    const double *x, *y; /* (count); what is not finite, or is beyond 1e30, interrupts the line */
    const double *error; /* (count) half the height of the band, or NULL */
    size_t count;
    int32_t look; /* which marks, dashes and colour; 0.. */
    bool bars;    /* from 0 up instead of a line; x are their centres, one apart */
} ast_plot_series;

/* Names, titles and labels are short and free of <, > and &. */
typedef struct ast_plot_panel {
    const char *title, *x_label, *y_label;
    const ast_plot_series *series;
    size_t count;
    double low, high; /* the range of y that is shown at least, bands ending there; equal: as the series have it */
    bool logarithmic; /* y by powers of ten: what is not above 0 is left out, and there are no bars */
    double x_mark;    /* a thin vertical line and ... */
    double y_mark;    /* ... a horizontal one, for a known or chosen value, always in sight; NaN: none */
} ast_plot_panel;

/* Up to four panels from left to right. `title` is for those who cannot see. */
bool ast_plot_write(const ast_plot_panel *panels, size_t count, const char *title, ast_output *output,
                    ast_format_error *error);

/* Points of the sphere (count, 3) by Lambert's azimuthal projection, which keeps areas: the hemisphere around +z on the
 * left, the one around -z on the right, each seen from outside. Points labelled below 0, or not finite, are left out;
 * of more than 4000 points every so-manieth is drawn. Light colours are darkened, so that they show on paper. Means
 * (means_count, 3), or NULL, are rings with their numbers. */
bool ast_net_write(const float *points, const int32_t *labels, size_t count, const float *means, size_t means_count,
                   const char *title, ast_output *output, ast_format_error *error);

#endif
