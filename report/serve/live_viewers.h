/* SPDX-License-Identifier: MIT
 *
 * The viewers of a live view: a queue per viewer, and the thread that empties it. How a text is sent to a browser is
 * not known here. */
#ifndef ASTERISM_REPORT_LIVE_VIEWER_H
#define ASTERISM_REPORT_LIVE_VIEWER_H

#include "live.h"

#include <pthread.h>

typedef struct ast_viewer ast_viewer;

/* All viewers; start with zeros. */
typedef struct ast_viewers {
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t changed;
    ast_viewer *first;
    size_t count;
    uint64_t missed;
    ast_shared_text *end; /* NULL while the stream runs */
    ast_recording *recording;
    /* Sends a text to the viewer's browser, which may take long; false if the connection failed. */
    bool (*send)(void *browser, const char *text, size_t size);
    /* Called after sending has failed: the connection must be closed. */
    void (*hang_up)(void *browser);
} ast_viewers;

bool ast_viewers_init(ast_viewers *viewers);
void ast_viewers_free(ast_viewers *viewers); /* all viewers must be gone */

/* A browser has connected: its thread first sends what there is so far. NULL if there is no memory or thread, or too
 * many viewers. */
ast_viewer *ast_viewer_open(ast_viewers *viewers, void *browser);

/* A browser has disconnected: waits for its thread. */
void ast_viewer_close(ast_viewers *viewers, ast_viewer *viewer);

/* As ast_live_publish, ast_live_end, ast_live_waiting. */
void ast_viewers_publish(ast_viewers *viewers, ast_shared_text *shared);
void ast_viewers_end(ast_viewers *viewers, const char *reason);
size_t ast_viewers_waiting(ast_viewers *viewers);

#endif
