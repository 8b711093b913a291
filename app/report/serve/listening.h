/* SPDX-License-Identifier: MIT
 *
 * The socket that a server listens on. */
#ifndef ASTERISM_REPORT_LISTENING_H
#define ASTERISM_REPORT_LISTENING_H

#include "live_access.h"

#include <formats.h>

/* Listens on the address and the port (0: any free port, whose number is filled in). -1 with a sentence on failure. */
int ast_listen(ast_live_access *access, ast_format_error *error);

/* The address for people, including the secret. */
enum { AST_LIVE_URL = 160 };
void ast_listening_url(const ast_live_access *access, char url[AST_LIVE_URL]);

#endif
