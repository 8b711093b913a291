/* SPDX-License-Identifier: MIT
 *
 * A server for one page and its sockets, on one thread that never waits for a browser. It answers every request itself,
 * reads no file, and knows nothing of what is said: the application behind it says what comes next.
 *
 * Whoever has not shown the token gets one of a few slots and a few seconds. A new connection takes the slot of the
 * oldest one, so that any number of half-sent requests cannot keep a browser out.
 *
 * Why no library: civetweb keeps a thread for every connection until its timeout, and answers requests that it was not
 * asked to; libmicrohttpd has no WebSockets, and its timeouts count from the last byte; libwebsockets has both, but its
 * slots and timeouts need more code around it than the protocol itself, which is a fixed request and short messages. */
#ifndef ASTERISM_REPORT_SERVER_H
#define ASTERISM_REPORT_SERVER_H

#include "live_access.h"
#include "recording.h"

/* Connections that have not shown the token, and the seconds that they have; connections in all. */
enum { AST_SERVER_STRANGERS = 16, AST_SERVER_PATIENCE = 2, AST_SERVER_CONNECTIONS = 96 };

/* What is behind the sockets. All functions are called on the server's thread. */
typedef struct ast_server_app {
    void *data;
    /* A browser opens a socket: its visitor, or NULL if there is no room. NULL: the page has no socket. */
    void *(*open)(void *data);
    void (*close)(void *data, void *visitor);
    /* The browser says something, of at most AST_FRAME_MOST bytes, which end with a zero; false ends the connection. */
    bool (*hear)(void *data, void *visitor, const char *text, size_t size);
    /* The next message for it, which the server releases, or NULL: nothing now. Called again whenever the last message
     * has been sent, and after ast_server_wake. */
    ast_shared_text *(*next)(void *data, void *visitor);
} ast_server_app;

typedef struct ast_server ast_server;

/* Serves `html`, which it takes over, on the numeric `address` and `port` (0: any free port). */
ast_server *ast_server_open(const char *address, unsigned port, ast_text *html, const ast_server_app *app,
                            ast_format_error *error);

/* The address for browsers, including the secret. */
const char *ast_server_url(const ast_server *server);

/* There may be something to send. Any thread may call it. */
void ast_server_wake(ast_server *server);

/* Closes every connection and stops. NULL is allowed. */
void ast_server_close(ast_server *server);

#endif
