/* SPDX-License-Identifier: MIT
 *
 * A page on which options are changed and the clusters follow. The command reads the input and hands it over with a few
 * functions; this room serves pages and clusters for them. It sees the library, `report`, `formats` and the viewer, and
 * no header of `cli`.
 *
 * The main idea: every page has a worker with a library context of its own. The newest request of a page wins: it
 * cancels the one that runs. Nothing is warm: what a page shows is what the command beside it gives, bit for bit. */
#pragma once

#include <images.h>
#include <keywords.h>
#include <map.h>
#include <report.h>
#include <solids.h>

#include <stdbool.h>

/* The options of the run that a page wants to see. */
typedef struct ast_explore_request {
    uint64_t id; /* the page's number for it */
    ast_method method;
    double angle;    /* AST_DP */
    size_t clusters; /* AST_SPKM */
    ast_merge merge;
    double merge_angle;
    size_t merge_count;
    double min_size;
    bool center, axial;
    ast_metric_kind metric; /* AST_METRIC_AUTO: plain, and what tune finds is shown */
    ast_order order;
} ast_explore_request;

/* A finished run of a page, or a part of one. */
typedef struct ast_explore_run {
    ast_explore_request request;
    ast_report report;
    ast_points points;                /* the rows that are compared, but for the centre: mapped ones with the metric */
    const ast_cluster_info *clusters; /* (report.clusters); of the context */
    const int32_t *labels;            /* (rows) */
    size_t rows;                      /* that have labels: all, or the first ones of an unfinished run */
    bool unfinished;
    const ast_map *map; /* of the rows, for the report; NULL: not made yet */
    double seconds;     /* from the request to the result */
} ast_explore_run;

/* What only the command can do. `data` is that of ast_explored. */
typedef struct ast_explore_command {
    /* The command line that gives the result of the request; to free(). NULL without memory. */
    char *(*line)(const void *data, const ast_explore_request *request);
    /* The report of a finished run, whose clusters are the last ones of the context. */
    bool (*report)(const void *data, ast_context *context, const ast_explore_run *run, ast_text *html,
                   ast_format_error *error);
    /* The members of the JSON of tune; an angle of its sweep, as an object. */
    void (*put_tuned)(const ast_context *context, const ast_tune_report *found, const char *command, ast_text *json);
    void (*put_angle)(const ast_tune_angle *angle, ast_text *json);
} ast_explore_command;

/* What is explored. Nothing in it changes while pages are open. */
typedef struct ast_explored {
    ast_points points;
    const ast_names *names;       /* or texts of the rows; NULL: they have none */
    const ast_corpus *corpus;     /* what keywords come from; NULL: there are none */
    size_t width, height;         /* of an image, whose points are its pixels row by row; 0 otherwise */
    const ast_depth_image *depth; /* that the points are the normals of; NULL otherwise */
    double units_per_metre;       /* of it */
    const ast_solid *solid;       /* whose points or, if it has any, faces the rows are; NULL otherwise */
    ast_notation notation;        /* how means are written besides their components */
    bool undirected;              /* rows are axial in any case */
    const char *input;            /* its name */
    const char *labels;           /* the file into which a page can save labels, or NULL */
    uint64_t seed;
    int threads;
    double angle;       /* that a page starts with, */
    bool given;         /* because it was asked for: otherwise it goes on to the angle of tune, */
    bool axial, center; /* and its rows */
    ast_metric_kind metric;
    const ast_explore_command *command;
    const void *data;
} ast_explored;

/* The request that a page starts with. */
ast_explore_request ast_explore_first(const ast_explored *explored);

/* "given", "content" or "random". */
const char *ast_explore_order_name(ast_order order);

/* "plain", "local" or "auto". */
const char *ast_explore_metric_name(ast_metric_kind metric);

/* Whether the rows of the run are mapped. */
bool ast_explore_is_local(const ast_explore_request *request);

/* The options of the library for a request. */
ast_options ast_explore_options(const ast_explored *explored, const ast_explore_request *request);

/* Serves pages at this address and port (0: any) until it is closed. NULL after a failure, with its sentence. What is
 * explored must live as long. */
typedef struct ast_explorer ast_explorer;
ast_explorer *ast_explorer_open(const ast_explored *explored, const char *address, unsigned port,
                                ast_format_error *error);
const char *ast_explorer_url(const ast_explorer *explorer);
void ast_explorer_close(ast_explorer *explorer); /* NULL is allowed */
