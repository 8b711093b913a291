/* SPDX-License-Identifier: MIT
 *
 * The sweep over angles that the paper does by hand: DP-vMF-means from large angles to small ones, what came out at
 * each, and which of them to take. Functions return -1 to go on, or the exit code after printing the sentence. */
#ifndef AST_CLI_SWEEP_H
#define AST_CLI_SWEEP_H

#include <asterism.h>

#include "options.h"

/* Which angles. */
typedef struct ast_cli_angles {
    double from, to, step; /* degrees; from the larger one down */
    size_t max_clusters;   /* the sweep ends before the first angle with more */
    int axial;             /* x and -x are the same */
} ast_cli_angles;

extern const ast_cli_group ast_cli_angles_group; /* all but axial */

/* What an angle came to. */
typedef struct ast_cli_swept {
    double angle;
    size_t clusters;
    double silhouette; /* NaN with fewer than two clusters */
    double stability;  /* NMI with the labels of the next larger angle; NaN at the largest */
    double objective;
    int warm;     /* whether the start from the next larger angle's means was the better one */
    float *means; /* (clusters, D) */
} ast_cli_swept;

typedef struct ast_cli_sweep {
    ast_cli_swept *rows; /* (count), largest angle first */
    size_t count;
    size_t points; /* that were used: all, or every so-manieth of more than a million */
    size_t dimension;
    int cut;            /* whether max_clusters ended it */
    int stopped;        /* the signal that ended it, after at least one angle, or 0 */
    size_t planned;     /* angles that there would have been */
    size_t best;        /* the row to take; count if there is none */
    size_t first, last; /* the rows around it with as many clusters that are as good */
    double highest;     /* the highest silhouette of all */
    char reason[320];   /* a sentence */
} ast_cli_sweep;

/* Runs it; `input` names the points in sentences. To be freed in any case. */
int ast_cli_sweep_run(ast_cli_sweep *sweep, ast_context *context, const ast_points *points, const char *input,
                      const ast_cli_angles *angles, const ast_cli_common *common);
void ast_cli_sweep_free(ast_cli_sweep *sweep);

/* Below this silhouette nothing at any angle deserves to be called a cluster (Rousseeuw's table begins at 0.25). */
#define AST_CLI_WEAK 0.25

#endif
