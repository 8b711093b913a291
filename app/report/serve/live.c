/* SPDX-License-Identifier: MIT
 *
 * The live view: a queue of messages for every viewer behind the sockets of a server. The lock is held only briefly,
 * never while something is sent or written, so that a slow browser does not slow down the stream. Only the server's
 * thread takes messages out. */
#include "live.h"

#include "server.h"

#include <pthread.h>
#include <stdlib.h>

/* A browser. */
typedef struct live_viewer {
    ast_shared_text *queue[AST_LIVE_QUEUE]; /* ring of waiting messages */
    size_t begin, count;
    uint64_t frames;   /* that the first message contained */
    bool greeted;      /* the first message is on its way */
    bool ending, told; /* the end is on its way; it was sent */
    struct live_viewer *next;
} live_viewer;

struct ast_live {
    ast_server *server;
    ast_recording *recording;
    pthread_mutex_t lock; /* protects everything below */
    live_viewer *first;
    size_t count;
    uint64_t missed;
    ast_shared_text *end; /* NULL while the stream runs */
};

/* ---- What a viewer gets ------------------------------------------------------------------------------------------ */

/* Everything so far as one message. The frames in it are not sent again. */
static ast_shared_text *make_hello(ast_live *live, live_viewer *viewer) {
    ast_text text = {0};
    ast_json_open(&text, NULL, '{');
    ast_json_string(&text, "type", "hello");
    ast_json_key(&text, "data");
    bool good = ast_recording_json(live->recording, true, &text, &viewer->frames);
    ast_json_close(&text, '}');
    if (!good)
        ast_text_free(&text);
    return good ? ast_shared_text_make(&text, 0) : NULL;
}

static ast_shared_text *take(live_viewer *viewer) {
    ast_shared_text *shared = viewer->queue[viewer->begin];
    viewer->begin = (viewer->begin + 1) % AST_LIVE_QUEUE;
    viewer->count--;
    return shared;
}

/* The next frame that the first message did not contain, or the end; the lock is held. */
static ast_shared_text *next_of(ast_live *live, live_viewer *viewer) {
    while (viewer->count > 0) {
        ast_shared_text *shared = take(viewer);
        if (shared->index >= viewer->frames)
            return shared;
        ast_shared_text_release(shared);
    }
    viewer->told |= viewer->ending;
    if (!live->end || viewer->told)
        return NULL;
    viewer->ending = true;
    return ast_shared_text_share(live->end);
}

static ast_shared_text *next_message(void *data, void *visitor) {
    ast_live *live = data;
    live_viewer *viewer = visitor;
    if (!viewer->greeted) {
        viewer->greeted = true;
        return make_hello(live, viewer);
    }
    pthread_mutex_lock(&live->lock);
    ast_shared_text *shared = next_of(live, viewer);
    pthread_mutex_unlock(&live->lock);
    return shared;
}

/* ---- Coming and going -------------------------------------------------------------------------------------------- */

static void join_list(ast_live *live, live_viewer *viewer) {
    viewer->next = live->first;
    live->first = viewer;
    live->count++;
}

static void leave_list(ast_live *live, live_viewer *viewer) {
    live_viewer **at = &live->first;
    while (*at != viewer)
        at = &(*at)->next;
    *at = viewer->next;
    live->count--;
}

static void *open_viewer(void *data) {
    ast_live *live = data;
    live_viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return NULL;
    pthread_mutex_lock(&live->lock);
    bool room = live->count < AST_LIVE_VIEWERS;
    if (room)
        join_list(live, viewer);
    pthread_mutex_unlock(&live->lock);
    if (room)
        return viewer;
    free(viewer);
    return NULL;
}

static void close_viewer(void *data, void *visitor) {
    ast_live *live = data;
    live_viewer *viewer = visitor;
    pthread_mutex_lock(&live->lock);
    leave_list(live, viewer);
    pthread_mutex_unlock(&live->lock);
    while (viewer->count > 0)
        ast_shared_text_release(take(viewer));
    free(viewer);
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

/* If the queue is full, removes and returns the oldest message. */
static ast_shared_text *enqueue(live_viewer *viewer, ast_shared_text *shared) {
    ast_shared_text *oldest = viewer->count == AST_LIVE_QUEUE ? take(viewer) : NULL;
    viewer->queue[(viewer->begin + viewer->count++) % AST_LIVE_QUEUE] = ast_shared_text_share(shared);
    return oldest;
}

void ast_live_publish(ast_live *live, ast_shared_text *shared) {
    pthread_mutex_lock(&live->lock);
    for (live_viewer *viewer = live->first; viewer; viewer = viewer->next) {
        ast_shared_text *oldest = enqueue(viewer, shared);
        live->missed += oldest != NULL;
        ast_shared_text_release(oldest);
    }
    pthread_mutex_unlock(&live->lock);
    ast_shared_text_release(shared);
    ast_server_wake(live->server);
}

void ast_live_end(ast_live *live, const char *reason) {
    ast_text text = {0};
    ast_json_open(&text, NULL, '{');
    ast_json_string(&text, "type", "end");
    ast_json_string(&text, "reason", reason);
    ast_json_close(&text, '}');
    ast_shared_text *end = ast_shared_text_make(&text, 0);
    pthread_mutex_lock(&live->lock);
    if (!live->end)
        live->end = end;
    else
        ast_shared_text_release(end);
    pthread_mutex_unlock(&live->lock);
    ast_server_wake(live->server);
}

size_t ast_live_waiting(ast_live *live) {
    size_t count = 0;
    pthread_mutex_lock(&live->lock);
    for (const live_viewer *viewer = live->first; viewer; viewer = viewer->next)
        count += !viewer->told;
    pthread_mutex_unlock(&live->lock);
    return count;
}

size_t ast_live_viewers(ast_live *live) {
    pthread_mutex_lock(&live->lock);
    size_t count = live->count;
    pthread_mutex_unlock(&live->lock);
    return count;
}

uint64_t ast_live_missed(ast_live *live) {
    pthread_mutex_lock(&live->lock);
    uint64_t missed = live->missed;
    pthread_mutex_unlock(&live->lock);
    return missed;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

/* The page sends nothing (no `hear`). A client that sends something is not the page. */
ast_live *ast_live_open(const char *address, unsigned port, ast_text *html, ast_recording *recording,
                        ast_format_error *error) {
    ast_live *live = calloc(1, sizeof *live);
    if (live && pthread_mutex_init(&live->lock, NULL) != 0) {
        free(live);
        live = NULL;
    }
    if (!live) {
        ast_text_free(html);
        ast_format_fail(error, "there is not enough memory for the live view");
        return NULL;
    }
    live->recording = recording;
    ast_server_app app = {
        .data = live, .open = recording ? open_viewer : NULL, .close = close_viewer, .next = next_message};
    live->server = ast_server_open(address, port, html, &app, error);
    if (live->server)
        return live;
    ast_live_close(live);
    return NULL;
}

void ast_live_close(ast_live *live) {
    if (!live)
        return;
    ast_server_close(live->server);
    ast_shared_text_release(live->end);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

const char *ast_live_url(const ast_live *live) {
    return ast_server_url(live->server);
}
