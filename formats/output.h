/* SPDX-License-Identifier: MIT
 *
 * What the writers may ask an output. */
#ifndef ASTERISM_FORMATS_OUTPUT_H
#define ASTERISM_FORMATS_OUTPUT_H

#include "formats.h"

/* As given to ast_output_open; "standard output" for "-". */
const char *ast_output_name(const ast_output *output);

#endif
