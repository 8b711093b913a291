/* SPDX-License-Identifier: MIT
 *
 * How the readers and writers put their one sentence together. */
#ifndef ASTERISM_FORMATS_MESSAGE_H
#define ASTERISM_FORMATS_MESSAGE_H

#include "formats.h"

/* Fills in the sentence, cut to fit, and returns false, so that `return ast_format_fail(...)` reads as what it is. */
bool ast_format_fail(ast_format_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for the lack of memory. */
bool ast_format_no_memory(ast_format_error *error, const char *name);

#define AST_EXCERPT 48

/* What is safe to quote of a file: at most 40 bytes, no control characters, no half of a UTF-8 character. */
void ast_excerpt(char excerpt[AST_EXCERPT], const char *text, size_t length);

#endif
