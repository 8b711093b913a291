/* SPDX-License-Identifier: MIT
 *
 * The parts of asterism cluster: what the command line says, and everything a run holds. cluster_options.c has the
 * options, their checks and ast_cli_cluster, whose last step is the run in cluster.c: read, cluster, deliver.
 * cluster_labels.c keeps the labels, cluster_state.c keeps the run in a file, cluster_output.c writes and prints,
 * cluster_planes.c finds planes, cluster_report.c makes the page. */
#pragma once

#include <layers.h>
#include <math.h>
#include <page.h>

#include "cluster_state.h"
#include "memory.h"
#include "plane_files.h"
#include "recommend.h"
#include "topics.h"

/* What --metric says. AUTO: plain, and with --angle auto as tune finds. */
enum { AST_CLI_METRIC_UNSET = -1, AST_CLI_METRIC_PLAIN, AST_CLI_METRIC_LOCAL, AST_CLI_METRIC_AUTO };

typedef struct ast_cli_cluster_settings {
    ast_cli_common common;
    ast_cli_reading reading;
    ast_cli_passes passes;
    ast_cli_topic_files topics;
    ast_options options; /* all that follows from the command line alone */
    const char *input, *weights, *groups, *init;
    char *line; /* the command line, for the report */
    const char *merge_text, *names, *previous;
    int shuffle, frame_axes, durable, equal_angle;
    int shape;                         /* an ast_component_shape */
    int metric;                        /* one of AST_CLI_METRIC_... */
    size_t top;                        /* clusters in the table */
    size_t memory;                     /* bytes, 0: not given */
    double plane_distance, plane_area; /* NaN: not given */
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
    int32_t *groups;
    float *init;
    int32_t *labels;
    int32_t *leaves;   /* with --tree or --layers */
    ast_layers layers; /* with --layers */
    size_t first, all; /* several ranks: the first of its points; all of them together */
    double total;      /* the weights of the points that have a direction, together */
    ast_cli_progress progress;
    ast_report report;
    const ast_cluster_info *clusters; /* (report.clusters) */
    ast_cli_record record;
    ast_cli_checkpoint state; /* with --state */
    float *memberships;
    ast_names names;             /* with --names */
    ast_cli_topics topics;       /* with --texts or --terms */
    ast_keywords *keywords;      /* (report.clusters), or NULL */
    const ast_map *map;          /* of the report; NULL: it makes its own */
    ast_tune_report tuned;       /* with --angle auto */
    ast_axes axes;               /* with --frame-axes */
    ast_orientation orientation; /* of all points, D = 3 on one rank and in memory; size 0: it was not found */
    ast_previous previous;       /* with --previous, as the next three */
    ast_model *previous_model;
    float *previous_means;
    int32_t *previous_labels;
    int32_t *ids;               /* (report.clusters) that clusters keep; NULL: 0, 1, ... */
    const ast_lineage *lineage; /* (lineage_count) */
    size_t lineage_count;
    int32_t *nearest;
    float *similarity; /* with --output */
    ast_cli_parts parts;
    ast_plane_map *planes; /* with --planes */
    int32_t *plane_of;     /* of the points or faces */
    double plane_seconds;
    char *title; /* of the report */
} ast_cli_cluster_job;

/* Whether --init is one of the words random and k-means++, not a file. */
int ast_cli_names_start(const char *init);

/* The steps of the run that are in files of their own. */
int ast_cli_cluster_run(void *data);         /* all of it, once the options are checked */
int ast_cli_cluster_slice(void *data);       /* several ranks: the points become those of this rank */
int ast_cli_cluster_deliver(void *work);     /* the end of a run: files and what is printed */
int ast_cli_cluster_total(void *data);       /* the weights of all labelled points of all ranks */
int ast_cli_cluster_rank_labels(void *data); /* several ranks: writes the labels of all of them to one file */
int ast_cli_cluster_rank_leaves(void *data); /* several ranks: the leaves of all of them, with --tree */
int ast_cli_cluster_layers(void *data);      /* with --layers: cuts the tree and writes them */
int ast_cli_cluster_planes(void *data);      /* with --planes: finds and writes them */
int ast_cli_cluster_model(void *data);       /* with --model: writes it */
int ast_cli_cluster_warn_means(void *data);
int ast_cli_cluster_report(void *data); /* with --report: writes the page */

/* With --previous (cluster_previous.c): reads it; takes the ids and the lineage from the context; the id of a cluster;
 * labels become ids; what JSON and table say. Labels are numbers of clusters until they are written. */
int ast_cli_cluster_read_previous(void *data);
int ast_cli_cluster_take_ids(void *data);
int32_t ast_cli_cluster_id(const ast_cli_cluster_job *work, size_t cluster);
void ast_cli_cluster_name_labels(ast_cli_cluster_job *work);
void ast_cli_cluster_put_lineage(const ast_cli_cluster_job *work, ast_text *json);
void ast_cli_cluster_print_lineage(const ast_cli_cluster_job *work);

/* Of an input that is read in parts: where its labels are kept, and what the run came to. */
int ast_cli_cluster_store(ast_cli_cluster_job *work, ast_label_store *store);
int ast_cli_cluster_store_status(ast_cli_cluster_job *work, ast_status status);

/* With --planes: what the table and the JSON say of them. */
void ast_cli_cluster_print_planes(const ast_cli_cluster_job *work);
void ast_cli_cluster_put_planes(const ast_cli_cluster_job *work, ast_text *json);

/* The object of the report's page; `head` has the title, the command and the input. */
bool ast_cli_cluster_page(ast_cli_cluster_job *work, ast_page_head *head, ast_text *json, ast_format_error *error);

/* ---- The result -------------------------------------------------------------------------------------------------- */

/* Names of the rows, or NULL; their texts, or NULL; how means are written besides their components; a line on what was
 * read and how it became directions, or NULL; the angle in degrees, NaN where the method has none. */
const ast_names *ast_cli_cluster_names(const ast_cli_cluster_job *work);
const ast_names *ast_cli_cluster_texts(const ast_cli_cluster_job *work);
ast_notation ast_cli_cluster_notation(const ast_cli_cluster_job *work);
const char *ast_cli_cluster_about(const ast_cli_cluster_job *work, char text[AST_CLI_SURFACE_TEXT]);
double ast_cli_angle(const ast_cli_cluster_job *work);

/* The name of a row as one line of text that is safe to print, cut to fit; "row N" for an empty one. */
const char *ast_cli_row_name(const ast_names *names, size_t row, char text[AST_EXCERPT]);

/* Whether the posterior of the number of clusters is that of a sampler. */
static inline int ast_cli_has_chain(const ast_report *report) {
    return report->cluster_posterior && !isnan(report->effective_samples);
}

/* Of all points, or of their weights, how much belongs to the cluster: 0..1. */
double ast_cli_share(const ast_cli_cluster_job *work, const ast_cluster_info *cluster);

/* Degrees; the cosine is the mean cosine between the members and their mean. */
double ast_cli_spread(const ast_cluster_info *cluster);

/* Between two means of three components, in degrees; of axes at most 90. */
double ast_cli_between(const ast_cli_cluster_job *work, size_t a, size_t b);

/* How long the mean is that --center subtracted: near 1 if all rows are alike. */
double ast_cli_center_length(const ast_report *report);

/* "+x" and so on. */
const char *ast_cli_axis_name(int32_t axis);

void ast_cli_print_table(const ast_cli_cluster_job *work);

/* Appends the members of the JSON object. Clusters are printed as they come: thousands of means of a thousand
 * components each need not be in memory as text. */
void ast_cli_put_result(const ast_cli_cluster_job *work, ast_text *json);
