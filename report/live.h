/* SPDX-License-Identifier: MIT
 *
 * The live view: a page for browsers on this machine, and the frames of a stream that follow it over a WebSocket.
 *
 * The one idea: the stream never waits. A frame is a parcel made once; publishing it puts a pointer into the box of
 * every viewer, in which the oldest makes way for the newest, and a thread of each viewer's own does the sending. */
#ifndef ASTERISM_REPORT_LIVE_H
#define ASTERISM_REPORT_LIVE_H

#include "recording.h"

/* Frames that wait for a viewer at most, and viewers at most. */
enum { AST_LIVE_BOX = 8, AST_LIVE_VIEWERS = 32 };

typedef struct ast_live ast_live;

/* Whether this build can serve at all: it had civetweb. */
bool ast_live_there(void);

/* Serves `html`, which it takes over, on the numeric `address` and `port` (0: any that is free); and to its socket what
 * the recording has and what is published later, unless that is NULL. The recording outlives the view. */
ast_live *ast_live_open(const char *address, unsigned port, ast_text *html, ast_recording *recording,
                        ast_format_error *error);

/* Where browsers find it, the secret included. */
const char *ast_live_url(const ast_live *live);

/* A frame for everybody who watches; takes the parcel over. */
void ast_live_publish(ast_live *live, ast_parcel *parcel);

/* The stream is over, and why. Whoever comes later is told too. */
void ast_live_end(ast_live *live, const char *reason);

/* Viewers who have not been told the end yet. */
size_t ast_live_waiting(ast_live *live);

/* Viewers there are, and frames that slow ones missed so far. */
size_t ast_live_viewers(ast_live *live);
uint64_t ast_live_missed(ast_live *live);

/* Stops serving. NULL is fine. */
void ast_live_close(ast_live *live);

#endif
