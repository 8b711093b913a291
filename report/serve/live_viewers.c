/* SPDX-License-Identifier: MIT
 *
 * The viewers of a live view. The lock is held only briefly, never while something is sent or written, so that a slow
 * browser does not slow down the stream. */
#include "live_viewers.h"

#include <stdlib.h>

struct ast_viewer {
    ast_viewers *all;
    void *browser;
    pthread_t thread;
    ast_shared_text *queue[AST_LIVE_QUEUE]; /* ring of waiting messages */
    size_t begin, count;
    bool closing, told; /* must stop; knows of the end */
    ast_viewer *next;
};

bool ast_viewers_init(ast_viewers *viewers) {
    if (pthread_mutex_init(&viewers->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&viewers->changed, NULL) == 0)
        return true;
    pthread_mutex_destroy(&viewers->lock);
    return false;
}

void ast_viewers_free(ast_viewers *viewers) {
    ast_shared_text_release(viewers->end);
    pthread_cond_destroy(&viewers->changed);
    pthread_mutex_destroy(&viewers->lock);
}

/* ---- The thread of a viewer -------------------------------------------------------------------------------------- */

/* Sends everything so far as one message; *frames becomes the number of frames in it. */
static bool send_hello(ast_viewer *viewer, uint64_t *frames) {
    ast_text text = {0};
    ast_json_open(&text, NULL, '{');
    ast_json_string(&text, "type", "hello");
    ast_json_key(&text, "data");
    bool good = ast_recording_json(viewer->all->recording, true, &text, frames);
    ast_json_close(&text, '}');
    good = good && !text.failed && viewer->all->send(viewer->browser, text.bytes, text.size);
    ast_text_free(&text);
    return good;
}

/* Waits for the next message; NULL if it must stop. The end comes after everything else and sets *last. */
static ast_shared_text *next_message(ast_viewer *viewer, bool *last) {
    ast_viewers *all = viewer->all;
    ast_shared_text *shared = NULL;
    *last = false;
    pthread_mutex_lock(&all->lock);
    while (!viewer->closing && viewer->count == 0 && (!all->end || viewer->told))
        pthread_cond_wait(&all->changed, &all->lock);
    if (!viewer->closing && viewer->count > 0) {
        shared = viewer->queue[viewer->begin];
        viewer->begin = (viewer->begin + 1) % AST_LIVE_QUEUE;
        viewer->count--;
    } else if (!viewer->closing) {
        shared = ast_shared_text_share(all->end);
        *last = true;
    }
    pthread_mutex_unlock(&all->lock);
    return shared;
}

/* Sends a message unless the first message contained it. */
static bool deliver(ast_viewer *viewer, ast_shared_text *shared, bool last, uint64_t frames) {
    size_t size;
    const char *text = ast_shared_text_bytes(shared, &size);
    bool good = (!last && ast_shared_text_index(shared) < frames) || viewer->all->send(viewer->browser, text, size);
    pthread_mutex_lock(&viewer->all->lock);
    viewer->told |= last;
    pthread_cond_broadcast(&viewer->all->changed);
    pthread_mutex_unlock(&viewer->all->lock);
    ast_shared_text_release(shared);
    return good;
}

static void *serve(void *data) {
    ast_viewer *viewer = data;
    uint64_t frames = 0;
    bool good = send_hello(viewer, &frames), last;
    while (good) {
        ast_shared_text *shared = next_message(viewer, &last);
        if (!shared)
            return NULL;
        good = deliver(viewer, shared, last, frames);
    }
    viewer->all->hang_up(viewer->browser);
    return NULL;
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void join_list(ast_viewers *viewers, ast_viewer *viewer) {
    viewer->next = viewers->first;
    viewers->first = viewer;
    viewers->count++;
}

static void leave_list(ast_viewers *viewers, ast_viewer *viewer) {
    ast_viewer **at = &viewers->first;
    while (*at != viewer)
        at = &(*at)->next;
    *at = viewer->next;
    viewers->count--;
}

ast_viewer *ast_viewer_open(ast_viewers *viewers, void *browser) {
    ast_viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return NULL;
    viewer->all = viewers;
    viewer->browser = browser;
    pthread_mutex_lock(&viewers->lock);
    bool good = viewers->count < AST_LIVE_VIEWERS && pthread_create(&viewer->thread, NULL, serve, viewer) == 0;
    if (good)
        join_list(viewers, viewer);
    pthread_mutex_unlock(&viewers->lock);
    if (good)
        return viewer;
    free(viewer);
    return NULL;
}

void ast_viewer_close(ast_viewers *viewers, ast_viewer *viewer) {
    pthread_mutex_lock(&viewers->lock);
    viewer->closing = true;
    pthread_cond_broadcast(&viewers->changed);
    pthread_mutex_unlock(&viewers->lock);
    pthread_join(viewer->thread, NULL);
    pthread_mutex_lock(&viewers->lock);
    leave_list(viewers, viewer);
    pthread_cond_broadcast(&viewers->changed);
    pthread_mutex_unlock(&viewers->lock);
    for (; viewer->count > 0; viewer->count--, viewer->begin = (viewer->begin + 1) % AST_LIVE_QUEUE)
        ast_shared_text_release(viewer->queue[viewer->begin]);
    free(viewer);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* If the queue is full, removes and returns the oldest message. */
static ast_shared_text *enqueue(ast_viewer *viewer, ast_shared_text *shared) {
    ast_shared_text *oldest = NULL;
    if (viewer->count == AST_LIVE_QUEUE) {
        oldest = viewer->queue[viewer->begin];
        viewer->begin = (viewer->begin + 1) % AST_LIVE_QUEUE;
        viewer->count--;
    }
    viewer->queue[(viewer->begin + viewer->count++) % AST_LIVE_QUEUE] = ast_shared_text_share(shared);
    return oldest;
}

void ast_viewers_publish(ast_viewers *viewers, ast_shared_text *shared) {
    pthread_mutex_lock(&viewers->lock);
    for (ast_viewer *viewer = viewers->first; viewer; viewer = viewer->next) {
        ast_shared_text *oldest = enqueue(viewer, shared);
        viewers->missed += oldest != NULL;
        ast_shared_text_release(oldest);
    }
    pthread_cond_broadcast(&viewers->changed);
    pthread_mutex_unlock(&viewers->lock);
    ast_shared_text_release(shared);
}

void ast_viewers_end(ast_viewers *viewers, const char *reason) {
    ast_text text = {0};
    ast_json_open(&text, NULL, '{');
    ast_json_string(&text, "type", "end");
    ast_json_string(&text, "reason", reason);
    ast_json_close(&text, '}');
    ast_shared_text *end = ast_shared_text_make(&text, 0);
    pthread_mutex_lock(&viewers->lock);
    if (!viewers->end)
        viewers->end = end;
    else
        ast_shared_text_release(end);
    pthread_cond_broadcast(&viewers->changed);
    pthread_mutex_unlock(&viewers->lock);
}

size_t ast_viewers_waiting(ast_viewers *viewers) {
    size_t count = 0;
    pthread_mutex_lock(&viewers->lock);
    for (const ast_viewer *viewer = viewers->first; viewer; viewer = viewer->next)
        count += !viewer->told;
    pthread_mutex_unlock(&viewers->lock);
    return count;
}
