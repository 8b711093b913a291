/* SPDX-License-Identifier: MIT */
#include "listening.h"

#include "sockets.h"

#include <errno.h>
#include <platform.h>
#include <stdio.h>
#include <string.h>

enum { BACKLOG = 128 };

typedef union form {
    struct sockaddr any;
    struct sockaddr_in narrow;
    struct sockaddr_in6 wide;
} form;

static bool is_wide(const char *address) {
    return strchr(address, ':') != NULL; /* IPv6 */
}

/* The address in the system's form; returns its size. */
static socklen_t convert(const ast_live_access *access, form *out) {
    *out = (form){.wide = {0}};
    if (is_wide(access->address)) {
        out->wide.sin6_family = AF_INET6;
        out->wide.sin6_port = htons((uint16_t)access->port);
        inet_pton(AF_INET6, access->address, &out->wide.sin6_addr);
        return sizeof out->wide;
    }
    out->narrow.sin_family = AF_INET;
    out->narrow.sin_port = htons((uint16_t)access->port);
    inet_pton(AF_INET, access->address, &out->narrow.sin_addr);
    return sizeof out->narrow;
}

static int fail(const ast_live_access *access, int handle, ast_format_error *error) {
    int problem = errno;
    if (handle >= 0)
        close(handle);
    if (problem == EADDRINUSE)
        ast_format_fail(error,
                        "port %u of %s is in use by another program; use another port, or give none to use "
                        "any free port",
                        access->port, access->address);
    else
        ast_format_fail(error, "port %u of %s cannot be served: %s", access->port, access->address, strerror(problem));
    return -1;
}

int ast_listen(ast_live_access *access, ast_format_error *error) {
    form own;
    int on = 1;
    socklen_t size = convert(access, &own), room = sizeof own;
    int handle = ast_socket(own.any.sa_family);
    if (handle < 0)
        return fail(access, handle, error);
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(handle, &own.any, size) != 0 || listen(handle, BACKLOG) != 0 || getsockname(handle, &own.any, &room) != 0)
        return fail(access, handle, error);
    access->port = ntohs(is_wide(access->address) ? own.wide.sin6_port : own.narrow.sin_port);
    return handle;
}

void ast_listening_url(const ast_live_access *access, char url[AST_LIVE_URL]) {
    const char *address = access->address;
    const char *shown = strcmp(address, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(address, "::") == 0 ? "::1" : address;
    snprintf(url, AST_LIVE_URL, is_wide(shown) ? "http://[%s]:%u/%s/" : "http://%s:%u/%s/", shown, access->port,
             access->token);
}
