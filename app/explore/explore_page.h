/* SPDX-License-Identifier: MIT
 *
 * The open pages of explore, each with a worker. Functions with a page are called on the server's thread. */
#pragma once

#include <pthread.h>
#include <map.h>
#include <server.h>

#include "explore_message.h"

/* The maximum number of pages at once: each has its own labels and working memory. */
enum { AST_EXPLORE_PAGES = 8 };

/* Messages for a page, in the order in which they are sent. Of each kind only the newest one waits. */
typedef enum ast_explore_kind {
    AST_MESSAGE_HELLO,
    AST_MESSAGE_POINTS,
    AST_MESSAGE_CANCELLED,
    AST_MESSAGE_RESULT,
    AST_MESSAGE_PROBLEM,
    AST_MESSAGE_DETAILS,
    AST_MESSAGE_STABILITY,
    AST_MESSAGE_MEMBERS,
    AST_MESSAGE_SWEEP,
    AST_MESSAGE_MAP,
    AST_MESSAGE_SAVED,
    AST_MESSAGE_REPORT,
    AST_EXPLORE_KINDS
} ast_explore_kind;

typedef struct ast_explore_page ast_explore_page;
typedef struct ast_explore_sweeps ast_explore_sweeps;
typedef struct ast_explore_map ast_explore_map;

/* What all pages share. */
typedef struct ast_explore_pages {
    const ast_explored *explored;
    const ast_drawn *drawn;
    ast_explore_request first; /* what a page shows at first */
    ast_explore_sweeps *sweeps;
    ast_explore_map *map; /* NULL: these rows get none */
    pthread_mutex_t lock; /* protects what follows, and the pages' tasks and messages */
    pthread_cond_t changed;
    ast_server *server; /* to be woken; NULL: it is closed or not open yet */
    ast_explore_page *list;
    size_t count;
} ast_explore_pages;

bool ast_explore_pages_init(ast_explore_pages *pages);
void ast_explore_pages_free(ast_explore_pages *pages); /* all pages must be closed: waits for their workers */

/* The server that sends the messages, or NULL before it is closed. */
void ast_explore_pages_serve(ast_explore_pages *pages, ast_server *server);

/* For ast_server_app. */
void *ast_explore_page_open(void *data);
void ast_explore_page_close(void *data, void *which);
bool ast_explore_page_hear(void *data, void *which, const char *text, size_t size);
ast_shared_text *ast_explore_page_next(void *data, void *which);

/* Puts a message, which it takes over, into the page's slot of that kind. NULL is allowed: there was no memory. */
void ast_explore_page_post(ast_explore_page *page, ast_explore_kind kind, ast_shared_text *message);

/* ---- Sweeps (explore_sweep.c) ------------------------------------------------------------------------------------ */

/* Which sweep suits a request: rows as they are, axial or centred rows, rows whose metric tune decides, mapped rows. */
typedef enum ast_explore_rows {
    AST_ROWS_PLAIN,
    AST_ROWS_AXIAL,
    AST_ROWS_CENTRED,
    AST_ROWS_AUTO,
    AST_ROWS_LOCAL,
    AST_ROW_KINDS
} ast_explore_rows;

/* Runs tune for the kinds of rows that pages look at, one after the other, on threads of idle priority. NULL without
 * memory or threads. */
ast_explore_sweeps *ast_explore_sweeps_open(ast_explore_pages *pages);
void ast_explore_sweeps_close(ast_explore_sweeps *sweeps); /* NULL is allowed */

/* The page looks at such rows now: the sweep is computed if it was not, and the page gets what there is. */
void ast_explore_sweeps_want(ast_explore_sweeps *sweeps, ast_explore_page *page, ast_explore_rows rows);

/* The pages that look at such rows get the message, which is taken over. */
void ast_explore_pages_tell(ast_explore_pages *pages, ast_explore_rows rows, ast_shared_text *message);

/* All pages get it; it stays the caller's. */
void ast_explore_pages_tell_all(ast_explore_pages *pages, ast_explore_kind kind, ast_shared_text *message);

/* Whether a page looks at such rows. */
bool ast_explore_pages_want(ast_explore_pages *pages, ast_explore_rows rows);

/* ---- The map (explore_map.c) ------------------------------------------------------------------------------------- */

/* Makes the map of the drawn rows on threads of idle priority and tells the pages when it is there. NULL without memory
 * or threads. */
ast_explore_map *ast_explore_map_open(ast_explore_pages *pages);
void ast_explore_map_stop(ast_explore_map *of); /* its thread; pages may still use the map. NULL is allowed */
void ast_explore_map_close(ast_explore_map *of);

/* The map, or its message for a page, once it is made; NULL before. The lock is held. */
const ast_map *ast_explore_map_made(const ast_explore_map *of);
ast_shared_text *ast_explore_map_message(const ast_explore_map *of);
