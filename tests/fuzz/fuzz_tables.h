/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a binary table: in memory, with and without columns, and through a pipe that does not know its size. */
#ifndef ASTERISM_TESTS_FUZZ_TABLES_H
#define ASTERISM_TESTS_FUZZ_TABLES_H

#include "fuzz.h"

static inline void as_table(const uint8_t *bytes, size_t size, ast_input_options options) {
    ast_format_error error = {""};
    ast_input input;
    if (ast_input_open_memory(&input, "fuzz", bytes, size, &options, &error))
        touch_points(&input.points);
    else
        check_failure(&input, &error);
    ast_input_close(&input);
}

static inline void as_piped_table(const uint8_t *bytes, size_t size, const char *format) {
    ast_format_error error = {""};
    ast_input input = {0};
    ast_resolved how;
    ast_bytes source;
    require(ast_resolve(&how, "fuzz", &(ast_input_options){.format = format}, &error));
    require(ast_bytes_open_memory(&source, "fuzz", bytes, size, false, &error));
    source.sized = false;
    if (ast_table_open(&input, &source, &how, &error))
        touch_points(&input.points);
    ast_input_close(&input);
    ast_bytes_close(&source);
    ast_columns_free(&how.columns);
}

#endif
