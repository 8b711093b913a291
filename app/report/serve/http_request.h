/* SPDX-License-Identifier: MIT
 *
 * The head of an HTTP/1.1 request, read strictly: what a browser never sends is not a request. */
#ifndef ASTERISM_REPORT_HTTP_REQUEST_H
#define ASTERISM_REPORT_HTTP_REQUEST_H

#include "live_access.h"

/* The longest head. Browsers send the cookies of every other server on this machine along. */
enum { AST_HTTP_HEAD = 16384 };

typedef enum ast_http_state {
    AST_HTTP_PART,  /* the head is not complete yet */
    AST_HTTP_WHOLE, /* the request is filled in */
    AST_HTTP_BAD    /* this is not a request, or not one that has a single meaning */
} ast_http_state;

/* Reads the head at the beginning of `bytes`, and cuts it into strings there: the fields of the request point into it.
 * A line without its line end, a folded line, a control character, and a second line of any header that the server
 * looks at (such as Host) make it bad. What is behind the head is not looked at. */
ast_http_state ast_http_read(char *bytes, size_t size, ast_live_request *request);

#endif
