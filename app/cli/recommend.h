/* SPDX-License-Identifier: MIT
 *
 * ast_tune as tune and cluster --angle auto call it: with a line of progress, and the command that it recommends. */
#pragma once

#include <asterism_field.h>
#include <json.h>
#include <stdbool.h>

#include "directions.h"
#include "options.h"

/* What was read, and what messages call it. */
typedef struct ast_cli_tuned_input {
    ast_context *context;
    const ast_cli_directions *directions;
    const ast_points *points;
    const char *name;
    int32_t *labels; /* (count) become those of the recommended run; NULL: they are not wanted */
} ast_cli_tuned_input;

/* Whether rows that are axial or centred can have this metric: says so if not. */
int ast_cli_metric_check(ast_metric_kind metric, bool axial, bool center);

int ast_cli_recommend(const ast_cli_tuned_input *input, const ast_tune_options *options, const ast_cli_common *common,
                      ast_tune_report *report);

/* "--angle 22.5 --order content", with what else the recommended run needs. */
enum { AST_CLI_RECOMMENDED = 96 };
const char *ast_cli_recommended(const ast_tune_report *report, char text[AST_CLI_RECOMMENDED]);

/* The whole command: asterism cluster, the input, the options of tune that cluster has too as they were typed, and the
 * recommended ones; to free(). NULL without memory. */
char *ast_cli_recommended_command(const ast_cli_common *common, const ast_tune_report *report);

/* The orientation of three-dimensional points that are not centred; otherwise its size stays 0. */
int ast_cli_find_orientation(const ast_cli_tuned_input *input, int axial, int center, ast_orientation *orientation);

/* What all points say together (docs/errors.md), as members; nothing if its size is 0. */
void ast_cli_put_orientation(const ast_orientation *orientation, int axial, ast_text *json);

/* The members of the JSON of tune, with the records of the context that made the report; and one of its angles, as an
 * object. */
void ast_cli_put_angle(const ast_tune_angle *row, ast_text *json);
void ast_cli_put_tuned(const ast_context *context, const ast_tune_report *found, const char *command, ast_text *json);

/* The shortest text that reads as this number; returns `text`. */
enum { AST_CLI_SHORTEST = 32 };
const char *ast_cli_shortest(double number, char text[AST_CLI_SHORTEST]);
