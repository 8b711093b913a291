/* SPDX-License-Identifier: MIT
 *
 * The map of the drawn rows, made once in the background: it does not depend on what pages ask for. */
#include "explore_page.h"

#include <platform.h>
#include <page.h>
#include <stdlib.h>

struct ast_explore_map {
    ast_explore_pages *pages;
    pthread_t thread;
    ast_map map; /* of the thread, until it is made */
    /* Protected by the lock of all pages */
    ast_shared_text *message; /* NULL: it is not made yet */
    bool stopping;
};

static int is_over(void *data) {
    ast_explore_map *of = data;
    pthread_mutex_lock(&of->pages->lock);
    bool stopping = of->stopping;
    pthread_mutex_unlock(&of->pages->lock);
    return stopping;
}

/* Without memory there is no map. */
static void *work(void *data) {
    ast_explore_map *of = data;
    const ast_explored *explored = of->pages->explored;
    const ast_drawn *drawn = of->pages->drawn;
    ast_format_error error;
    ast_run_when_idle(); /* the library's threads inherit it */
    if (!ast_map_make(&of->map, &explored->points, drawn->rows, drawn->count, explored->threads, is_over, of, &error))
        return NULL;
    ast_shared_text *message = ast_explore_mapped(explored, drawn, &of->map);
    pthread_mutex_lock(&of->pages->lock);
    of->message = message;
    pthread_mutex_unlock(&of->pages->lock);
    if (message)
        ast_explore_pages_tell_all(of->pages, AST_MESSAGE_MAP, message);
    return NULL;
}

const ast_map *ast_explore_map_made(const ast_explore_map *of) {
    return of && of->message ? &of->map : NULL;
}

ast_shared_text *ast_explore_map_message(const ast_explore_map *of) {
    return of && of->message ? ast_shared_text_share(of->message) : NULL;
}

ast_explore_map *ast_explore_map_open(ast_explore_pages *pages) {
    ast_explore_map *of = calloc(1, sizeof *of);
    if (!of)
        return NULL;
    of->pages = pages;
    if (pthread_create(&of->thread, NULL, work, of) == 0)
        return of;
    free(of);
    return NULL;
}

void ast_explore_map_stop(ast_explore_map *of) {
    if (!of)
        return;
    pthread_mutex_lock(&of->pages->lock);
    of->stopping = true;
    pthread_mutex_unlock(&of->pages->lock);
    pthread_join(of->thread, NULL);
}

void ast_explore_map_close(ast_explore_map *of) {
    if (!of)
        return;
    ast_shared_text_release(of->message);
    ast_map_free(&of->map);
    free(of);
}
