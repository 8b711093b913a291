/* SPDX-License-Identifier: MIT
 *
 * The viewers of a live view. The lock is held for moments only, never while something is sent or written: that is what
 * keeps a slow browser from slowing the stream. */
#include "live_viewer.h"

#include <stdlib.h>

struct ast_viewer {
    ast_viewers *all;
    void *browser;
    pthread_t thread;
    ast_parcel *box[AST_LIVE_BOX]; /* a ring of those that wait */
    size_t begin, count;
    bool closing, told; /* to be left alone; knows of the end */
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
    ast_parcel_drop(viewers->end);
    pthread_cond_destroy(&viewers->changed);
    pthread_mutex_destroy(&viewers->lock);
}

/* ---- The thread of a viewer -------------------------------------------------------------------------------------- */

/* Everything so far as one message; *frames of them are in it. */
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

/* Waits for the next parcel; NULL when it is to stop. The end comes after everything else, and is *last. */
static ast_parcel *next_parcel(ast_viewer *viewer, bool *last) {
    ast_viewers *all = viewer->all;
    ast_parcel *parcel = NULL;
    *last = false;
    pthread_mutex_lock(&all->lock);
    while (!viewer->closing && viewer->count == 0 && (!all->end || viewer->told))
        pthread_cond_wait(&all->changed, &all->lock);
    if (!viewer->closing && viewer->count > 0) {
        parcel = viewer->box[viewer->begin];
        viewer->begin = (viewer->begin + 1) % AST_LIVE_BOX;
        viewer->count--;
    } else if (!viewer->closing) {
        parcel = ast_parcel_share(all->end);
        *last = true;
    }
    pthread_mutex_unlock(&all->lock);
    return parcel;
}

/* Sends a parcel unless the hello had it. */
static bool deliver(ast_viewer *viewer, ast_parcel *parcel, bool last, uint64_t frames) {
    size_t size;
    const char *text = ast_parcel_text(parcel, &size);
    bool good = (!last && ast_parcel_place(parcel) < frames) || viewer->all->send(viewer->browser, text, size);
    pthread_mutex_lock(&viewer->all->lock);
    viewer->told |= last;
    pthread_cond_broadcast(&viewer->all->changed);
    pthread_mutex_unlock(&viewer->all->lock);
    ast_parcel_drop(parcel);
    return good;
}

static void *serve(void *data) {
    ast_viewer *viewer = data;
    uint64_t frames = 0;
    bool good = send_hello(viewer, &frames), last;
    while (good) {
        ast_parcel *parcel = next_parcel(viewer, &last);
        if (!parcel)
            return NULL;
        good = deliver(viewer, parcel, last, frames);
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
    for (; viewer->count > 0; viewer->count--, viewer->begin = (viewer->begin + 1) % AST_LIVE_BOX)
        ast_parcel_drop(viewer->box[viewer->begin]);
    free(viewer);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* Where the box is full the oldest goes, and is returned. */
static ast_parcel *put_in_box(ast_viewer *viewer, ast_parcel *parcel) {
    ast_parcel *oldest = NULL;
    if (viewer->count == AST_LIVE_BOX) {
        oldest = viewer->box[viewer->begin];
        viewer->begin = (viewer->begin + 1) % AST_LIVE_BOX;
        viewer->count--;
    }
    viewer->box[(viewer->begin + viewer->count++) % AST_LIVE_BOX] = ast_parcel_share(parcel);
    return oldest;
}

void ast_viewers_publish(ast_viewers *viewers, ast_parcel *parcel) {
    pthread_mutex_lock(&viewers->lock);
    for (ast_viewer *viewer = viewers->first; viewer; viewer = viewer->next) {
        ast_parcel *oldest = put_in_box(viewer, parcel);
        viewers->missed += oldest != NULL;
        ast_parcel_drop(oldest);
    }
    pthread_cond_broadcast(&viewers->changed);
    pthread_mutex_unlock(&viewers->lock);
    ast_parcel_drop(parcel);
}

void ast_viewers_end(ast_viewers *viewers, const char *reason) {
    ast_text text = {0};
    ast_json_open(&text, NULL, '{');
    ast_json_string(&text, "type", "end");
    ast_json_string(&text, "reason", reason);
    ast_json_close(&text, '}');
    ast_parcel *end = ast_parcel_make(&text, 0);
    pthread_mutex_lock(&viewers->lock);
    if (!viewers->end)
        viewers->end = end;
    else
        ast_parcel_drop(end);
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
