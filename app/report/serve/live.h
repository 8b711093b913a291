/* SPDX-License-Identifier: MIT
 *
 * The live view: a page for browsers on this machine, followed by the frames of a stream over a WebSocket.
 *
 * The main idea: the stream never waits. The message of a frame is made once. Publishing it puts a pointer into the
 * queue of every viewer; if a queue is full, the oldest message is dropped. The server's thread sends. */
#ifndef ASTERISM_REPORT_LIVE_H
#define ASTERISM_REPORT_LIVE_H

#include "recording.h"

/* The largest number of waiting frames per viewer, and of viewers. */
enum { AST_LIVE_QUEUE = 8, AST_LIVE_VIEWERS = 32 };

typedef struct ast_live ast_live;

/* Serves `html`, which it takes over, on the numeric `address` and `port` (0: any free port). Its socket sends what the
 * recording has and what is published later, unless the recording is NULL. The recording must outlive the view. */
ast_live *ast_live_open(const char *address, unsigned port, ast_text *html, ast_recording *recording,
                        ast_format_error *error);

/* The address for browsers, including the secret. */
const char *ast_live_url(const ast_live *live);

/* Sends a frame to all viewers; takes over the message. */
void ast_live_publish(ast_live *live, ast_shared_text *shared);

/* Ends the stream, with a reason. Viewers that come later are told too. */
void ast_live_end(ast_live *live, const char *reason);

/* The number of viewers that have not been told of the end yet. */
size_t ast_live_waiting(ast_live *live);

/* The number of viewers; the number of frames that slow viewers missed so far. */
size_t ast_live_viewers(ast_live *live);
uint64_t ast_live_missed(ast_live *live);

/* Stops serving. NULL is allowed. */
void ast_live_close(ast_live *live);

#endif
