/* SPDX-License-Identifier: MIT
 *
 * Model files: the bytes of an ast_model as the library makes and checks them. */
#pragma once

#include <asterism.h>
#include <formats.h>

/* Reads a model for points of `dimension` components: -1, or the exit code after the sentence. The caller closes it. */
int ast_cli_read_model(const char *path, ast_context *context, size_t dimension, ast_model **model);

/* Writes the model of these numbers to an output that is open. */
int ast_cli_write_model(ast_context *context, const ast_model_info *info, ast_output *output);
