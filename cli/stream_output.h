/* SPDX-License-Identifier: MIT
 *
 * A frame as one line of JSON. */
#ifndef AST_CLI_STREAM_OUTPUT_H
#define AST_CLI_STREAM_OUTPUT_H

#include <asterism.h>

/* Prints the line and flushes it. -1 to go on, or the exit code after printing the sentence. */
int ast_cli_print_frame(const char *source, const ast_frame *frame, const ast_tracked *clusters, size_t count,
                        size_t dimension);

#endif
