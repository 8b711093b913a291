/* SPDX-License-Identifier: MIT
 *
 * What the subcommands that serve a page share: where, and for how long. */
#ifndef AST_CLI_SERVING_H
#define AST_CLI_SERVING_H

#include <live.h>

/* The address that is listened on where nothing else is said: this machine's own. */
#define AST_CLI_LOOPBACK "127.0.0.1"

/* Whether this build can serve a page, which `option` (or a subcommand, without dashes) asks for, and whether the
 * address, or NULL, is one. */
int ast_cli_serving_check(const char *option, const char *address);

/* Serves the page of a text, which is taken over, and prints its address. *live is to be closed in any case. */
int ast_cli_serve(ast_live **live, const char *address, size_t port, ast_text *html, ast_recording *recording);

/* Serves until a signal asks to stop. */
void ast_cli_serve_on(void);

/* Waits until every viewer knows of the end, for a few seconds at most. */
void ast_cli_serve_out(ast_live *live);

#endif
