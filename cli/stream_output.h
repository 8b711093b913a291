/* SPDX-License-Identifier: MIT
 *
 * What asterism stream puts out for a frame: a file of labels and a line of JSON. */
#ifndef AST_CLI_STREAM_OUTPUT_H
#define AST_CLI_STREAM_OUTPUT_H

#include <asterism.h>

#include "stream_inputs.h"

/* Every function returns -1 to go on, or the exit code after printing the sentence. */

/* Makes the folder for label files and makes sure that no two files get the same one, and none replaces its input. */
int ast_cli_labels_prepare(const char *folder, const ast_cli_inputs *inputs);

/* Writes the labels of the current frame: folder/stem.npy for a file, folder/000017.npy for frames of an array or of
 * standard input, `frame` being the frame's number in the stream. */
int ast_cli_labels_write(const char *folder, int durable, const ast_cli_inputs *inputs, uint64_t frame,
                         const int32_t *labels, size_t count);

/* Prints the line and flushes it. */
int ast_cli_print_frame(const char *source, const ast_frame *frame, const ast_tracked *clusters, size_t count,
                        size_t dimension);

#endif
