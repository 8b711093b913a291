/* SPDX-License-Identifier: MIT
 *
 * A clustering as the command prints it: a table for people or one JSON object for programs. */
#ifndef AST_CLI_RESULT_H
#define AST_CLI_RESULT_H

#include <asterism.h>
#include <asterism_depth.h>
#include <formats.h>
#include <json.h>
#include <report.h>

typedef struct ast_cli_result {
    const ast_report *report;
    const ast_cluster_info *clusters; /* (report->clusters) */
    const char *method;
    double angle;                 /* degrees, NaN where the method has none */
    int oir;                      /* whether oir_restarts means something */
    int weighted;                 /* whether the points had weights */
    int merge;                    /* whether clusters were merged after convergence */
    double min_size;              /* clusters of fewer points were dissolved; 0: none */
    int batches;                  /* whether iterations are batches */
    const ast_tune_report *tuned; /* with --angle auto: what chose the angle; else NULL */
    int axial;
    ast_notation notation;  /* how means are written besides their components */
    const char *about;      /* a line on what was read and how it became directions; or NULL */
    const char *normals;    /* the same in a word */
    int64_t frame;          /* the scene of a data set, or -1 */
    double total;           /* the weights of all points together; without weights the points with a direction */
    const ast_axes *axes;   /* the frame nearest to the means; NULL: not asked for */
    const int32_t *nearest; /* (report->clusters): 0..5 for +x -x +y -y +z -z of the frame */
    const ast_plan *plan;   /* of an input that was read in parts; NULL: it was in memory */
    size_t memory;          /* bytes that could be used then */
    const char *cosine;     /* as typed in place of the angle; NULL: it was not */
    const ast_names *names; /* of the rows; NULL: they have none */
} ast_cli_result;

/* The name of a row as one line of text that is safe to print, cut to fit; "row N" for an empty one. */
const char *ast_cli_row_name(const ast_cli_result *result, size_t row, char text[AST_EXCERPT]);

/* Of all points, or of their weights, how much belongs to the cluster: 0..1. */
double ast_cli_share(const ast_cli_result *result, const ast_cluster_info *cluster);

/* Degrees; the cosine is the mean cosine between the members and their mean. */
double ast_cli_spread(const ast_cluster_info *cluster);

/* Between two means of three components, in degrees; of axes at most 90. */
double ast_cli_between(const ast_cli_result *result, size_t a, size_t b);

/* How long the mean is that --center subtracted: near 1 if all rows are alike. */
double ast_cli_center_length(const ast_report *report);

/* "+x" and so on. */
const char *ast_cli_axis_name(int32_t axis);

void ast_cli_print_table(const ast_cli_result *result);

/* Appends the members of the JSON object. Clusters are printed as they come: thousands of means of a thousand
 * components each need not be in memory as text. */
void ast_cli_put_result(const ast_cli_result *result, ast_text *json);

#endif
