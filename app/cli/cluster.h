/* SPDX-License-Identifier: MIT
 *
 * The parts of asterism cluster: what the command line says, and everything a run holds. cluster_options.c has the
 * options, cluster.c reads and clusters, cluster_labels.c keeps the labels, cluster_state.c keeps the run in a file,
 * cluster_output.c writes and prints, cluster_planes.c finds planes, cluster_report.c makes the page. */
#ifndef AST_CLI_CLUSTER_H
#define AST_CLI_CLUSTER_H

#include <asterism.h>
#include <formats.h>
#include <page.h>

#include "cluster_state.h"
#include "directions.h"
#include "memory.h"
#include "plane_files.h"
#include "progress.h"
#include "recommend.h"
#include "result.h"
#include "run_record.h"
#include "targets.h"

typedef struct ast_cli_cluster_settings {
    ast_cli_common common;
    ast_cli_reading reading;
    ast_cli_passes passes;
    ast_options options; /* all that follows from the command line alone */
    const char *input, *weights, *init;
    char *line; /* the command line, for the report */
    const char *merge_text, *names;
    int shuffle, frame_axes, durable;
    size_t memory; /* bytes, 0: not given */
    ast_cli_plane_settings plane;
} ast_cli_cluster_settings;

/* An input that is larger than memory, and its labels (cluster_labels.c). */
typedef struct ast_cli_parts {
    ast_plan plan;
    size_t memory; /* that the library may use */
    ast_scratch scratch;
    ast_format_error error; /* of writing labels */
    int failed;             /* it is set */
} ast_cli_parts;

/* Everything a run holds; zeroed at first, so that it can be freed at any point. */
typedef struct ast_cli_cluster_job {
    const ast_cli_cluster_settings *given;
    ast_options options;
    ast_context *context;
    ast_cli_directions directions;
    ast_points points;
    double *weights;
    float *init;
    int32_t *labels;
    int32_t *leaves;   /* with --tree */
    size_t first, all; /* several ranks: the first of its points; all of them together */
    double total;      /* the weights of the points that have a direction, together */
    ast_cli_progress progress;
    ast_report report;
    ast_cli_record record;
    ast_cli_checkpoint state; /* with --state */
    float *memberships;
    ast_names names;       /* with --names */
    ast_tune_report tuned; /* with --angle auto */
    ast_axes axes;         /* with --frame-axes */
    int32_t *nearest;
    ast_cli_parts parts;
    ast_plane_map *planes; /* with --planes */
    int32_t *plane_of;     /* of the points or faces */
    double plane_seconds;
    char about[AST_CLI_SURFACE_TEXT];
    char *title; /* of the report */
} ast_cli_cluster_job;

/* Whether --init names a way to start and no file. */
int ast_cli_names_start(const char *init);

/* The steps of the run that are in files of their own. */
int ast_cli_cluster_run(void *data); /* all of it, once the options are checked */
int ast_cli_cluster_slice(void *data);    /* several ranks: the points become those of this rank */
int ast_cli_cluster_deliver(void *work);  /* the end of a run: files and what is printed */
int ast_cli_cluster_total(void *data);    /* the weights of all labelled points of all ranks */
int ast_cli_cluster_labels(void *data);   /* several ranks: writes the labels of all of them to one file */
int ast_cli_cluster_planes(void *data);   /* with --planes: finds and writes them */
int ast_cli_cluster_report(void *data);   /* with --report: writes the page */

/* Of an input that is read in parts: where its labels are kept, and what the run came to. */
int ast_cli_cluster_store(ast_cli_cluster_job *work, ast_label_store *store);
int ast_cli_cluster_store_status(ast_cli_cluster_job *work, ast_status status);

/* With --planes: what the table and the JSON say of them. */
void ast_cli_cluster_print_planes(const ast_cli_cluster_job *work);
void ast_cli_cluster_put_planes(const ast_cli_cluster_job *work, ast_text *json);

/* The object of the report's page; `head` has the title, the command and the input. */
bool ast_cli_cluster_page(ast_cli_cluster_job *work, ast_page_head *head, ast_text *json, ast_format_error *error);

/* What the table, JSON and the report tell. */
ast_cli_result ast_cli_cluster_result(ast_cli_cluster_job *work);
const ast_names *ast_cli_cluster_names(const ast_cli_cluster_job *work); /* NULL: rows have no names */
ast_notation ast_cli_cluster_notation(const ast_cli_cluster_job *work);

#endif
