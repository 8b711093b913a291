/* SPDX-License-Identifier: MIT
 *
 * What people see: the one sentence of a failure, and what the terminal at the other end can show. */
#pragma once

#include <formats.h>
#include <page.h> /* ast_grouped */

#include <stdio.h>

#include "cli.h"

/* All of these print "asterism: " and the sentence on stderr as one line, whatever the file names in it hold. */
int ast_cli_end(int code, const char *format, ...) __attribute__((format(printf, 2, 3))); /* returns the code */
void ast_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));         /* with "warning: " */
void ast_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* a remark, by the first rank */
#define ast_cli_fail(...) ast_cli_end(AST_CLI_FAILED, __VA_ARGS__)
#define ast_cli_misuse(...) ast_cli_end(AST_CLI_USAGE, __VA_ARGS__)

/* -1 if it went well, to go on; otherwise 1 after printing the sentence of the error. */
int ast_cli_outcome(bool good, const ast_format_error *error);

/* 1 after saying that there is no memory for it. */
int ast_cli_no_memory(const char *what);

/* A path for a line that is printed: what terminals obey becomes '?'. Returns `text`. */
enum { AST_CLI_SHOWN = 4096 };
const char *ast_cli_shown(const char *path, char text[AST_CLI_SHOWN]);

/* Flushes standard output. 0, also if nobody reads it any more (`| head`); or 1 after saying that it could not be
 * written. */
int ast_cli_flush(void);

/* Whether standard output is a pipe whose reader has left. */
int ast_cli_closed(void);

/* Whether standard output shows colours: a terminal, unless NO_COLOR is set or TERM is dumb. */
int ast_cli_colour(void);

/* Whether the locale shows more than ASCII. */
int ast_cli_unicode(void);

/* 0.00012 as "0.12 ms", 3.4 as "3.4 s". */
enum { AST_CLI_DURATION = 32 };
const char *ast_cli_duration(double seconds, char *text);
