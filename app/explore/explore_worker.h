/* SPDX-License-Identifier: MIT
 *
 * A page and its worker. */
#ifndef AST_EXPLORE_WORKER_H
#define AST_EXPLORE_WORKER_H

#include "explore_page.h"

/* What a worker has for itself. */
typedef struct ast_explore_desk {
    ast_context *context;
    int32_t *labels;     /* (N) of the run */
    int32_t *leaves;     /* (N) scratch of the details */
    ast_explore_run run; /* the last one, if `ran` */
    bool ran;
    size_t detailed; /* how many of its details were sent */
    ast_sight sight; /* how its rows are seen, if `sighted` */
    float *center;   /* (D) of the sight */
    bool sighted, sighted_center, sighted_axial;
    bool guessed; /* the axes are those of an unfinished run, and hold until one is finished */
    ast_method sighted_method;
    double deadline; /* seconds of a clock at which the run is given up; infinity: none */
    bool patient;    /* other wishes do not cancel what runs */
    bool idle;       /* any wish cancels what runs */
    bool slow;       /* the last run took long */
} ast_explore_desk;

struct ast_explore_page {
    ast_explore_pages *all;
    ast_explore_page *next;
    /* Protected by the lock of all pages */
    ast_explore_request wanted[AST_WISHES];
    bool wants[AST_WISHES];
    size_t cluster; /* of AST_WISH_MEMBERS */
    ast_shared_text *out[AST_EXPLORE_KINDS];
    bool gone;
    bool swept; /* it looks at `rows` */
    ast_explore_rows rows;
    /* The worker's own */
    ast_explore_desk desk;
};

/* The worker's thread: does what the page wants until the page is gone, then frees it. */
void *ast_explore_work(void *data);

/* Takes the page out of the list and frees it. */
void ast_explore_page_leave(ast_explore_page *page);

/* ---- Parts of its work ------------------------------------------------------------------------------------------- */

/* Seconds of a clock that only goes forward. */
double ast_explore_clock(void);

/* The run of this request, unless it is the last one: AST_OK, or AST_CANCELLED; other failures have told the page. A
 * newer request cancels it unless it is patient. */
ast_status ast_explore_ensure(ast_explore_page *page, const ast_explore_request *request, bool patient);

/* What follows a finished run when the page asks for nothing: step 0, 1, ... of it. False: there is nothing more. */
bool ast_explore_next_detail(ast_explore_page *page);

/* Writes the labels to --labels; makes the report. Both tell the page. */
void ast_explore_save(ast_explore_page *page);
void ast_explore_report(ast_explore_page *page);

#endif
