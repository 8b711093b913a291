/* SPDX-License-Identifier: MIT
 *
 * A picture that is mostly black needs a word: a warning if more than half of the pixels with depth have no label. */
#ifndef AST_CLI_DEPTH_MISSING_H
#define AST_CLI_DEPTH_MISSING_H

#include "input_frames.h"

/* After the current frame was clustered at that angle (NaN: without one): of its pixels, holes included, `unlabelled`
 * have no label. Only the first such frame gets a sentence. */
void ast_cli_missing_note(ast_cli_frames *frames, size_t unlabelled, double angle);

/* After the last of `count` frames: how many there were. */
void ast_cli_missing_end(const ast_cli_frames *frames, uint64_t count);

#endif
