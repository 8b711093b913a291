/* SPDX-License-Identifier: MIT
 *
 * What segment tells people when it is done. */
#ifndef AST_CLI_SEGMENT_TABLE_H
#define AST_CLI_SEGMENT_TABLE_H

#include <report.h>

typedef struct ast_cli_segments {
    const ast_shares *shares;
    const char *output; /* the folder */
    const char *method;
    double angle;
    uint64_t frames;
    size_t width, height;
    double seconds;             /* of the whole run */
    double normals, clustering; /* seconds of all frames together */
} ast_cli_segments;

/* 0 if there is no memory for it. */
int ast_cli_print_segments(const ast_cli_segments *segments);

#endif
