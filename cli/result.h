/* SPDX-License-Identifier: MIT
 *
 * A clustering as the command prints it: a table for people or one JSON object for programs. */
#ifndef AST_CLI_RESULT_H
#define AST_CLI_RESULT_H

#include <asterism.h>

typedef struct ast_cli_result {
    const ast_report *report;
    const ast_cluster_info *clusters; /* (report->clusters) */
    const char *method;
    double angle;       /* degrees, NaN where the method has none */
    int oir;            /* whether oir_restarts means something */
    int weighted;       /* whether the points had weights */
    const char *reason; /* why this angle, where a sweep chose it; else NULL */
} ast_cli_result;

void ast_cli_print_table(const ast_cli_result *result);

/* 0 if there is no memory for it. */
int ast_cli_print_json(const ast_cli_result *result);

#endif
