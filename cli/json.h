/* SPDX-License-Identifier: MIT
 *
 * JSON on standard output. */
#ifndef AST_CLI_JSON_H
#define AST_CLI_JSON_H

#include <jansson.h>

/* Prints the object on a line of its own and gives it up. 0 if it is NULL: there was no memory to make it. */
int ast_cli_print_object(json_t *object);

#endif
