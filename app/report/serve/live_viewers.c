/* SPDX-License-Identifier: MIT
 *
 * The viewers of a live view. The lock is held only briefly, never while something is sent or written, so that a slow
 * browser does not slow down the stream. Only the server's thread takes messages out. */
#include "live_viewers.h"

#include <stdlib.h>

struct ast_viewer {
    ast_shared_text *queue[AST_LIVE_QUEUE]; /* ring of waiting messages */
    size_t begin, count;
    uint64_t frames;   /* that the first message contained */
    bool greeted;      /* the first message is on its way */
    bool ending, told; /* the end is on its way; it was sent */
    ast_viewer *next;
};

bool ast_viewers_init(ast_viewers *viewers) {
    return pthread_mutex_init(&viewers->lock, NULL) == 0;
}

void ast_viewers_free(ast_viewers *viewers) {
    ast_shared_text_release(viewers->end);
    pthread_mutex_destroy(&viewers->lock);
}

/* ---- What a viewer gets ------------------------------------------------------------------------------------------ */

/* Everything so far as one message. The frames in it are not sent again. */
static ast_shared_text *make_hello(ast_viewers *viewers, ast_viewer *viewer) {
    ast_text text = {0};
    ast_json_open(&text, NULL, '{');
    ast_json_string(&text, "type", "hello");
    ast_json_key(&text, "data");
    bool good = ast_recording_json(viewers->recording, true, &text, &viewer->frames);
    ast_json_close(&text, '}');
    if (!good)
        ast_text_free(&text);
    return good ? ast_shared_text_make(&text, 0) : NULL;
}

static ast_shared_text *take(ast_viewer *viewer) {
    ast_shared_text *shared = viewer->queue[viewer->begin];
    viewer->begin = (viewer->begin + 1) % AST_LIVE_QUEUE;
    viewer->count--;
    return shared;
}

/* The next frame that the first message did not contain, or the end; the lock is held. */
static ast_shared_text *next_of(ast_viewers *viewers, ast_viewer *viewer) {
    while (viewer->count > 0) {
        ast_shared_text *shared = take(viewer);
        if (ast_shared_text_index(shared) >= viewer->frames)
            return shared;
        ast_shared_text_release(shared);
    }
    viewer->told |= viewer->ending;
    if (!viewers->end || viewer->told)
        return NULL;
    viewer->ending = true;
    return ast_shared_text_share(viewers->end);
}

ast_shared_text *ast_viewer_next(ast_viewers *viewers, ast_viewer *viewer) {
    if (!viewer->greeted) {
        viewer->greeted = true;
        return make_hello(viewers, viewer);
    }
    pthread_mutex_lock(&viewers->lock);
    ast_shared_text *shared = next_of(viewers, viewer);
    pthread_mutex_unlock(&viewers->lock);
    return shared;
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

ast_viewer *ast_viewer_open(ast_viewers *viewers) {
    ast_viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return NULL;
    pthread_mutex_lock(&viewers->lock);
    bool room = viewers->count < AST_LIVE_VIEWERS;
    if (room)
        join_list(viewers, viewer);
    pthread_mutex_unlock(&viewers->lock);
    if (room)
        return viewer;
    free(viewer);
    return NULL;
}

void ast_viewer_close(ast_viewers *viewers, ast_viewer *viewer) {
    pthread_mutex_lock(&viewers->lock);
    leave_list(viewers, viewer);
    pthread_mutex_unlock(&viewers->lock);
    while (viewer->count > 0)
        ast_shared_text_release(take(viewer));
    free(viewer);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* If the queue is full, removes and returns the oldest message. */
static ast_shared_text *enqueue(ast_viewer *viewer, ast_shared_text *shared) {
    ast_shared_text *oldest = viewer->count == AST_LIVE_QUEUE ? take(viewer) : NULL;
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
