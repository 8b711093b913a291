/* SPDX-License-Identifier: MIT
 *
 * The server of a system whose sockets are not those of POSIX: none. Reports are files there as everywhere. */
#include "server.h"

#include <formats.h>

ast_server *ast_server_open(const char *address, unsigned port, ast_text *html, const ast_server_app *app,
                            ast_format_error *error) {
    (void)address, (void)port, (void)app;
    ast_text_free(html);
    ast_format_fail(error, "this build for Windows serves no live pages; --report writes the page to a file instead");
    return NULL;
}

const char *ast_server_url(const ast_server *server) {
    (void)server;
    return "";
}

void ast_server_wake(ast_server *server) {
    (void)server;
}

void ast_server_close(ast_server *server) {
    (void)server;
}
