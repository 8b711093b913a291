/* SPDX-License-Identifier: MIT
 *
 * The compression inside PCD files. */
#ifndef ASTERISM_FORMATS_LZF_H
#define ASTERISM_FORMATS_LZF_H

#include <stdbool.h>
#include <stddef.h>

/* Three bytes stand for at most 264: nothing that is larger than this many times its input can come out of it. */
#define AST_LZF_GROWTH 88

/* Decompresses all of the input; false unless just `size` bytes come out. */
bool ast_lzf_decompress(unsigned char *place, size_t size, const unsigned char *input, size_t input_size);

#endif
