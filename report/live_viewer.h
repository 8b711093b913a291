/* SPDX-License-Identifier: MIT
 *
 * The viewers of a live view: a box for each, and the thread that empties it. How a text gets to a browser is not known
 * here. */
#ifndef ASTERISM_REPORT_LIVE_VIEWER_H
#define ASTERISM_REPORT_LIVE_VIEWER_H

#include "live.h"

#include <pthread.h>

typedef struct ast_viewer ast_viewer;

/* All viewers; zeroed at first. */
typedef struct ast_viewers {
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t changed;
    ast_viewer *first;
    size_t count;
    uint64_t missed;
    ast_parcel *end; /* NULL: the stream goes on */
    ast_recording *recording;
    /* Sends a text to the viewer's browser, which may take long: false once that is in vain. */
    bool (*send)(void *browser, const char *text, size_t size);
    /* Sending has failed for good: the connection is of no use any more. */
    void (*hang_up)(void *browser);
} ast_viewers;

bool ast_viewers_init(ast_viewers *viewers);
void ast_viewers_free(ast_viewers *viewers); /* all viewers are gone */

/* A browser has come: its thread begins with what there was. NULL without memory or threads, or if they are too many.
 */
ast_viewer *ast_viewer_open(ast_viewers *viewers, void *browser);

/* It has gone: waits for its thread. */
void ast_viewer_close(ast_viewers *viewers, ast_viewer *viewer);

/* As ast_live_publish, ast_live_end, ast_live_waiting. */
void ast_viewers_publish(ast_viewers *viewers, ast_parcel *parcel);
void ast_viewers_end(ast_viewers *viewers, const char *reason);
size_t ast_viewers_waiting(ast_viewers *viewers);

#endif
