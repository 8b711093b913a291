/* SPDX-License-Identifier: MIT
 *
 * The parts of the room. explore_request.c reads what a page asks for; explore_drawn.c chooses what is drawn;
 * explore_worker.c clusters for a page, explore_details.c finds what follows; explore_message.c writes what the pages
 * get; explore_tree.c and explore_members.c what a page shows of a finished run; explore_sweep.c runs tune in the
 * background, explore_map.c makes the map there; explore_save.c saves labels and reports; explore_page.c connects pages
 * and workers; explore.c serves. */
#pragma once

#include <projection.h>

#include "explore.h"

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

/* What a page can ask for besides a run. */
typedef enum ast_explore_task {
    AST_TASK_RUN,
    AST_TASK_MEMBERS,
    AST_TASK_SAVE,
    AST_TASK_REPORT,
    AST_TASKS
} ast_explore_task;

/* Reads a message of a page. NULL, or a sentence that says what is wrong with it. `cluster` is that of
 * AST_TASK_MEMBERS. */
const char *ast_explore_read(const ast_explored *explored, const char *text, size_t size, ast_explore_task *task,
                             ast_explore_request *request, size_t *cluster);

/* Whether both are the same run. */
bool ast_explore_same(const ast_explore_request *a, const ast_explore_request *b);

/* ---- What is drawn ----------------------------------------------------------------------------------------------- */

/* As many points as a browser draws in a frame without a graphics card. */
enum { AST_DRAWN_MOST = 100000 };

typedef struct ast_drawn {
    uint32_t *rows; /* (count) the rows that are drawn, in order */
    size_t count;
    size_t width, height; /* of an image: the drawn pixels are a grid; 0 otherwise */
    unsigned char *grey;  /* (height, width) the depth image behind them, or NULL */
    int16_t *places;      /* (count, 3) of a cloud or mesh: where its points or faces are, or NULL */
} ast_drawn;

/* Chooses a uniform sample, or a grid of an image's pixels; start with zeros, and free it in any case. */
bool ast_drawn_choose(ast_drawn *drawn, const ast_explored *explored, ast_format_error *error);
void ast_drawn_free(ast_drawn *drawn);

/* How rows are seen: as they are for D = 2 and 3, along the three principal axes of some means otherwise. */
typedef struct ast_explore_view {
    ast_projection projection;
    const float *center; /* (D) that was subtracted, or NULL */
    double scale;        /* of coordinates along the axes, so that the farthest point or mean is at 1 */
    double shown;        /* the share of the drawn points' squared lengths along the axes */
} ast_explore_view;

/* ---- What pages show of a run ------------------------------------------------------------------------------------ */

/* Places of the drawn rows: xyz (count, 3), 0 0 0 for rows without a direction. The view has its projection and
 * centre; scale and share are filled in, so that the rows and the means of the run can be seen. False without memory.
 */
bool ast_drawn_see(const ast_drawn *drawn, const ast_points *points, const ast_explore_run *run, ast_explore_view *view,
                   int16_t *xyz);

/* The place of a mean. */
void ast_explore_view_mean(const ast_explore_view *view, const float *mean, double xyz[3]);

/* Appends the tree of joins of the context's last run: at most 200 leaves, the others folded. leaves: (N) */
void ast_explore_put_tree(const ast_context *context, const int32_t *leaves, const int32_t *labels, size_t count,
                          ast_text *json);

/* Appends the members of a cluster nearest to and farthest from its mean. */
bool ast_explore_put_members(const ast_explored *explored, const ast_explore_run *run, size_t cluster, ast_text *json);
