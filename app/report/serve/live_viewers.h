/* SPDX-License-Identifier: MIT
 *
 * The viewers of a live view: a queue of messages for each. How a message gets to a browser is not known here. */
#ifndef ASTERISM_REPORT_LIVE_VIEWER_H
#define ASTERISM_REPORT_LIVE_VIEWER_H

#include "live.h"

#include <pthread.h>

typedef struct ast_viewer ast_viewer;

/* All viewers; start with zeros. */
typedef struct ast_viewers {
    pthread_mutex_t lock; /* protects everything below */
    ast_viewer *first;
    size_t count;
    uint64_t missed;
    ast_shared_text *end; /* NULL while the stream runs */
    ast_recording *recording;
} ast_viewers;

bool ast_viewers_init(ast_viewers *viewers);
void ast_viewers_free(ast_viewers *viewers); /* all viewers must be gone */

/* A browser has connected. NULL if there is no memory, or too many viewers. */
ast_viewer *ast_viewer_open(ast_viewers *viewers);

/* A browser has disconnected. */
void ast_viewer_close(ast_viewers *viewers, ast_viewer *viewer);

/* The next message for a viewer, to be released: first everything so far, then what was published, then the end. NULL:
 * nothing now. The message before it has been sent. */
ast_shared_text *ast_viewer_next(ast_viewers *viewers, ast_viewer *viewer);

/* As ast_live_publish, ast_live_end, ast_live_waiting. */
void ast_viewers_publish(ast_viewers *viewers, ast_shared_text *shared);
void ast_viewers_end(ast_viewers *viewers, const char *reason);
size_t ast_viewers_waiting(ast_viewers *viewers);

#endif
