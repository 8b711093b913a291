/* SPDX-License-Identifier: MIT
 *
 * Who is let in to a live view. The view shows what somebody's camera sees, and a browser visits many other pages at
 * the same time; so the address holds a secret, no other page may ask in the browser's name, and there is nothing to
 * ask for but the page and its socket. */
#ifndef ASTERISM_REPORT_LIVE_DOOR_H
#define ASTERISM_REPORT_LIVE_DOOR_H

#include <stdbool.h>
#include <stddef.h>

enum { AST_LIVE_TOKEN = 32, AST_LIVE_ADDRESS = 64 };

typedef struct ast_live_door {
    char token[AST_LIVE_TOKEN + 1]; /* hexadecimal digits */
    char address[AST_LIVE_ADDRESS]; /* what is listened on, such as 127.0.0.1; numeric */
    unsigned port;
} ast_live_door;

/* What a request says; NULL where it says nothing. */
typedef struct ast_live_request {
    const char *method, *path;
    const char *host, *origin, *upgrade, *content_length, *transfer_encoding;
} ast_live_request;

typedef enum ast_live_answer {
    AST_LIVE_PAGE = 200,
    AST_LIVE_SOCKET = 101,
    AST_LIVE_FORBIDDEN = 403, /* not a GET, a body, another host, another page's request */
    AST_LIVE_NOTHING = 404    /* everything else, a wrong token included: both look the same from outside */
} ast_live_answer;

/* A new token; false if the system has no random numbers. */
bool ast_live_token(char token[AST_LIVE_TOKEN + 1]);

/* Whether this is a numeric address, with or without brackets if of IPv6; a host's name is none. */
bool ast_live_numeric(const char *address);

ast_live_answer ast_live_judge(const ast_live_door *door, const ast_live_request *request);

#endif
