/* SPDX-License-Identifier: MIT
 *
 * Pages and what they wait for. A page's worker is a thread (explore_worker.c); here is what it shares with the
 * server's thread. */
#include "explore_worker.h"

#include <platform.h>
#include <stdlib.h>

bool ast_explore_pages_init(ast_explore_pages *pages) {
    if (pthread_mutex_init(&pages->lock, NULL) != 0)
        return false;
    bool good = ast_condition_open(&pages->changed) == 0;
    if (!good)
        pthread_mutex_destroy(&pages->lock);
    return good;
}

void ast_explore_pages_free(ast_explore_pages *pages) {
    pthread_mutex_lock(&pages->lock);
    while (pages->count > 0)
        pthread_cond_wait(&pages->changed, &pages->lock);
    pthread_mutex_unlock(&pages->lock);
    pthread_cond_destroy(&pages->changed);
    pthread_mutex_destroy(&pages->lock);
}

void ast_explore_pages_serve(ast_explore_pages *pages, ast_server *server) {
    pthread_mutex_lock(&pages->lock);
    pages->server = server;
    pthread_mutex_unlock(&pages->lock);
}

/* The lock is held. */
static void wake(const ast_explore_pages *pages) {
    if (pages->server)
        ast_server_wake(pages->server);
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

/* The worker frees itself when the page is gone, so that the server never waits for a run. */
static bool start_worker(ast_explore_page *page) {
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool good = pthread_create(&thread, &detached, ast_explore_work, page) == 0;
    pthread_attr_destroy(&detached);
    return good;
}

void *ast_explore_page_open(void *data) {
    ast_explore_pages *pages = data;
    ast_explore_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->all = pages;
    page->out[AST_MESSAGE_HELLO] = ast_explore_hello(pages->explored, pages->drawn, &pages->first);
    pthread_mutex_lock(&pages->lock);
    page->out[AST_MESSAGE_MAP] = ast_explore_map_message(pages->map);
    bool good = pages->count < AST_EXPLORE_PAGES && page->out[AST_MESSAGE_HELLO] && start_worker(page);
    if (good) {
        page->next = pages->list;
        pages->list = page;
        pages->count++;
    }
    pthread_mutex_unlock(&pages->lock);
    if (good)
        return page;
    ast_shared_text_release(page->out[AST_MESSAGE_HELLO]);
    ast_shared_text_release(page->out[AST_MESSAGE_MAP]);
    free(page);
    return NULL;
}

void ast_explore_page_close(void *data, void *which) {
    ast_explore_pages *pages = data;
    ast_explore_page *page = which;
    pthread_mutex_lock(&pages->lock);
    page->gone = true;
    pthread_cond_broadcast(&pages->changed);
    pthread_mutex_unlock(&pages->lock);
}

void ast_explore_page_leave(ast_explore_page *page) {
    ast_explore_pages *pages = page->all;
    pthread_mutex_lock(&pages->lock);
    ast_explore_page **at = &pages->list;
    while (*at != page)
        at = &(*at)->next;
    *at = page->next;
    pages->count--;
    pthread_cond_broadcast(&pages->changed);
    pthread_mutex_unlock(&pages->lock);
    for (size_t kind = 0; kind < AST_EXPLORE_KINDS; kind++)
        ast_shared_text_release(page->out[kind]);
    free(page);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

ast_shared_text *ast_explore_page_next(void *data, void *which) {
    ast_explore_pages *pages = data;
    ast_explore_page *page = which;
    ast_shared_text *message = NULL;
    pthread_mutex_lock(&pages->lock);
    for (size_t kind = 0; kind < AST_EXPLORE_KINDS && !message; kind++) {
        message = page->out[kind];
        page->out[kind] = NULL;
    }
    pthread_mutex_unlock(&pages->lock);
    return message;
}

void ast_explore_page_post(ast_explore_page *page, ast_explore_kind kind, ast_shared_text *message) {
    ast_explore_pages *pages = page->all;
    pthread_mutex_lock(&pages->lock);
    ast_shared_text *older = message ? page->out[kind] : NULL;
    if (message)
        page->out[kind] = message;
    wake(pages);
    pthread_mutex_unlock(&pages->lock);
    ast_shared_text_release(older);
}

static ast_explore_rows rows_of(const ast_explore_request *request) {
    static const ast_explore_rows of_metric[] = {AST_ROWS_PLAIN, AST_ROWS_LOCAL, AST_ROWS_AUTO};
    return request->axial ? AST_ROWS_AXIAL : request->center ? AST_ROWS_CENTRED : of_metric[request->metric];
}

bool ast_explore_page_hear(void *data, void *which, const char *text, size_t size) {
    ast_explore_pages *pages = data;
    ast_explore_page *page = which;
    ast_explore_task task;
    ast_explore_request request;
    size_t cluster;
    const char *problem = ast_explore_read(pages->explored, text, size, &task, &request, &cluster);
    if (problem) {
        ast_explore_page_post(page, AST_MESSAGE_PROBLEM, ast_explore_words("problem", 0, problem));
        return true;
    }
    ast_explore_rows rows = rows_of(&request);
    pthread_mutex_lock(&pages->lock);
    page->wanted[task] = request;
    page->wants[task] = true;
    if (task == AST_TASK_MEMBERS)
        page->cluster = cluster;
    bool other = !page->swept || page->rows != rows;
    page->swept = true;
    page->rows = rows;
    pthread_cond_broadcast(&pages->changed);
    pthread_mutex_unlock(&pages->lock);
    if (other)
        ast_explore_sweeps_want(pages->sweeps, page, rows);
    return true;
}

void ast_explore_pages_tell(ast_explore_pages *pages, ast_explore_rows rows, ast_shared_text *message) {
    if (!message)
        return;
    pthread_mutex_lock(&pages->lock);
    for (ast_explore_page *page = pages->list; page; page = page->next) {
        if (!page->swept || page->rows != rows)
            continue;
        ast_shared_text_release(page->out[AST_MESSAGE_SWEEP]);
        page->out[AST_MESSAGE_SWEEP] = ast_shared_text_share(message);
    }
    wake(pages);
    pthread_mutex_unlock(&pages->lock);
    ast_shared_text_release(message);
}

void ast_explore_pages_tell_all(ast_explore_pages *pages, ast_explore_kind kind, ast_shared_text *message) {
    pthread_mutex_lock(&pages->lock);
    for (ast_explore_page *page = pages->list; page; page = page->next) {
        ast_shared_text_release(page->out[kind]);
        page->out[kind] = ast_shared_text_share(message);
    }
    wake(pages);
    pthread_mutex_unlock(&pages->lock);
}

bool ast_explore_pages_want(ast_explore_pages *pages, ast_explore_rows rows) {
    bool wanted = false;
    pthread_mutex_lock(&pages->lock);
    for (const ast_explore_page *page = pages->list; page; page = page->next)
        wanted |= !page->gone && page->swept && page->rows == rows;
    pthread_mutex_unlock(&pages->lock);
    return wanted;
}
