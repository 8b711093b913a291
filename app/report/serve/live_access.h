/* SPDX-License-Identifier: MIT
 *
 * Access control of a live view. The view may show what somebody's camera sees, and a browser visits many other pages
 * at the same time. So the address contains a secret, no other page may make requests through the browser, and only the
 * page and its socket can be requested. */
#ifndef ASTERISM_REPORT_LIVE_ACCESS_H
#define ASTERISM_REPORT_LIVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

enum { AST_LIVE_TOKEN = 32, AST_LIVE_ADDRESS = 64 };

typedef struct ast_live_access {
    char token[AST_LIVE_TOKEN + 1]; /* hexadecimal digits */
    char address[AST_LIVE_ADDRESS]; /* the address that is listened on, such as 127.0.0.1; numeric */
    unsigned port;
} ast_live_access;

/* The parts of a request; NULL if not present. */
typedef struct ast_live_request {
    const char *method, *path;
    const char *host, *origin, *upgrade, *connection, *content_length, *transfer_encoding;
    const char *key, *version; /* of a WebSocket */
} ast_live_request;

typedef enum ast_live_answer {
    AST_LIVE_PAGE = 200,
    AST_LIVE_SOCKET = 101,
    AST_LIVE_BAD = 400,       /* this is no request */
    AST_LIVE_FORBIDDEN = 403, /* not a GET, a body, another host, a request of another page */
    AST_LIVE_NOTHING = 404,   /* everything else, including a wrong token: both look the same from outside */
    AST_LIVE_FULL = 503       /* there are too many viewers */
} ast_live_answer;

/* Makes a token; false if the system has no random numbers. */
bool ast_live_token(char token[AST_LIVE_TOKEN + 1]);

/* Whether this is a numeric address, IPv6 with or without brackets; a host name is not. */
bool ast_live_numeric(const char *address);

ast_live_answer ast_live_judge(const ast_live_access *access, const ast_live_request *request);

#endif
