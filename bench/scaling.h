/* SPDX-License-Identifier: MIT
 *
 * How time grows with points, clusters, dimensions, processes and threads, births. Each is a panel of curves whose
 * slope on logarithmic axes shows the growth of the work; docs/SCALE.md takes its constants from here. */
#ifndef BENCH_SCALING_H
#define BENCH_SCALING_H

#include "goals.h"

#include <json.h>

#define BENCH_CURVE_POINTS 16
#define BENCH_PANEL_CURVES 3

typedef struct bench_curve {
    const char *name;
    int count;
    double x[BENCH_CURVE_POINTS], seconds[BENCH_CURVE_POINTS]; /* the minimum of the repetitions */
    double from;                                               /* the slope is that of the points from this x on */
} bench_curve;

enum {
    BENCH_BY_POINTS,
    BENCH_BY_CLUSTERS,      /* three dimensions */
    BENCH_BY_CLUSTERS_WIDE, /* 300 */
    BENCH_BY_DIMENSION,
    BENCH_BY_WORKERS, /* ranks, threads */
    BENCH_BY_BIRTHS,
    BENCH_PANELS
};

typedef struct bench_panel {
    char title[96];
    const char *x_label;
    int curves;
    bench_curve curve[BENCH_PANEL_CURVES];
} bench_panel;

#define BENCH_LARGE_PASSES 8

typedef struct bench_large_pass {
    double seconds, scored; /* the minimum of the repetitions; points that were compared with every mean */
} bench_large_pass;

/* DP-vMF-means without initial means over all points. */
typedef struct bench_large {
    size_t points, clusters;
    double bare, call; /* seconds: the bare pass, the whole call */
    int passes;        /* that are known */
    bench_large_pass pass[BENCH_LARGE_PASSES];
} bench_large;

typedef struct bench_scaling {
    int threads; /* 0: not requested */
    int full;    /* the full set, which takes minutes and 6 GB of memory, instead of seconds */
    int repetitions;
    char without[160]; /* why processes were not measured, or "" */
    bench_panel panel[BENCH_PANELS];
    bench_large large;
} bench_scaling;

/* `panel`: one of them, or NULL for all. */
void bench_scaling_run(bench_scaling *scaling, const char *panel, int full, int threads, int repetitions);
int bench_panel_known(const char *name);

/* NaN for fewer than two points. */
double bench_curve_slope(const bench_curve *curve);

void bench_scaling_goals(const bench_scaling *scaling, bench_goals *goals);
void bench_scaling_print(const bench_scaling *scaling);
void bench_scaling_write(const bench_scaling *scaling, ast_text *json);
void bench_scaling_draw(const bench_scaling *scaling, const char *path); /* as SVG; exits with a sentence on failure */

/* ---- between these files ---- */

bench_curve *bench_panel_curve(bench_panel *panel, const char *name, double from);

/* Records a time: a new point of the curve, or, if there is one with this x, the smaller of the two times. */
void bench_curve_note(bench_curve *curve, double x, double seconds);

/* Processes and threads, through mpirun. */
void bench_scaling_workers(bench_scaling *scaling);

/* Points (count, 3) of clusters whose means (clusters, 3) are known; labels: (count), scratch. */
void bench_scaling_large(bench_scaling *scaling, const float *points, size_t count, const float *means, size_t clusters,
                         int32_t *labels);
void bench_large_goals(const bench_large *large, bench_goals *goals);
void bench_large_print(const bench_large *large);
void bench_large_write(const bench_large *large, ast_text *json);

#endif
