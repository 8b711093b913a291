/* SPDX-License-Identifier: MIT
 *
 * A page and its worker. */
#pragma once

#include "explore_page.h"

/* The state of a worker; only its thread uses it. */
typedef struct ast_explore_worker {
    ast_context *context;
    int32_t *labels;     /* (N) of the run */
    int32_t *leaves;     /* (N) scratch of the details */
    ast_explore_run run; /* the last one, if `ran` */
    bool ran;
    size_t detailed;       /* how many of its details were sent */
    ast_explore_view view; /* how its rows are seen, if `view_valid` */
    float *center;         /* (D) of the view */
    ast_metric metric;     /* of the run, if it has one: copies, to free() with `mapped` */
    float *mapped;         /* (N, D) the rows after it */
    bool view_valid, view_center, view_axial, view_local;
    bool view_provisional; /* the axes are those of an unfinished run, and hold until one is finished */
    ast_method view_method;
    double deadline; /* seconds of a clock at which the run is given up; infinity: none */
    bool patient;    /* other tasks do not cancel what runs */
    bool idle;       /* any task cancels what runs */
    bool slow;       /* the last run took long */
} ast_explore_worker;

struct ast_explore_page {
    ast_explore_pages *all;
    ast_explore_page *next;
    /* Protected by the lock of all pages */
    ast_explore_request wanted[AST_TASKS];
    bool wants[AST_TASKS];
    size_t cluster; /* of AST_TASK_MEMBERS */
    ast_shared_text *out[AST_EXPLORE_KINDS];
    bool gone;
    bool swept; /* it looks at `rows` */
    ast_explore_rows rows;
    /* The worker's own */
    ast_explore_worker worker;
};

/* The worker's thread: does what the page wants until the page is gone, then frees it. */
void *ast_explore_work(void *data);

/* Takes the page out of the list and frees it. */
void ast_explore_page_leave(ast_explore_page *page);

/* ---- Parts of its work ------------------------------------------------------------------------------------------- */

/* Seconds of a clock that only goes forward. */
double ast_explore_clock(void);

/* The options of a run that repeats the last one, or varies it: with the metric that it has learned. */
ast_options ast_explore_repeat(const ast_explore_page *page);

/* Runs the request unless it is the last run: AST_OK or AST_CANCELLED; the page has been told of other failures. A
 * newer request cancels the run unless `patient`. */
ast_status ast_explore_ensure(ast_explore_page *page, const ast_explore_request *request, bool patient);

/* The next detail of a finished run, while the page asks for nothing. False: there is none left. */
bool ast_explore_next_detail(ast_explore_page *page);

/* Writes the labels to --labels; makes the report. Both tell the page. */
void ast_explore_save(ast_explore_page *page);
void ast_explore_report(ast_explore_page *page);
