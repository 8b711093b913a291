/* SPDX-License-Identifier: MIT
 *
 * What the fuzzers of sparse formats share: the bytes as rows and as columns. */
#ifndef ASTERISM_TESTS_FUZZ_SPARSE_H
#define ASTERISM_TESTS_FUZZ_SPARSE_H

#include "fuzz.h"

static inline void read_sparse(const char *format, const uint8_t *bytes, size_t size, const char *columns,
                               bool transpose) {
    ast_input_options options = {.format = format, .columns = columns, .transpose = transpose};
    ast_format_error error = {""};
    ast_input input;
    if (ast_input_open_memory(&input, "fuzz", bytes, size, &options, &error))
        touch_sparse(&input.points);
    else
        check_failure(&input, &error);
    ast_input_close(&input);
}

#endif
