/* SPDX-License-Identifier: MIT
 *
 * Any bytes as an .npy file: as points in memory and through a pipe, with and without columns, and as labels. */
#include "fuzz.h"

static void as_points(const uint8_t *bytes, size_t size, const char *columns, bool transpose) {
    ast_input_options options = {.format = "npy", .columns = columns, .transpose = transpose};
    ast_format_error error = {""};
    ast_input input;
    if (ast_input_open_memory(&input, "fuzz", bytes, size, &options, &error))
        touch_points(&input.points);
    else
        check_failure(&input, &error);
    ast_input_close(&input);
}

/* A source that does not know its size, as a pipe does not. */
static ast_bytes as_pipe(const uint8_t *bytes, size_t size) {
    ast_bytes source;
    ast_format_error error;
    require(ast_bytes_open_memory(&source, "fuzz", bytes, size, false, &error));
    source.sized = false;
    return source;
}

static void through_a_pipe(const uint8_t *bytes, size_t size) {
    ast_resolved how = {0};
    ast_bytes source = as_pipe(bytes, size);
    ast_input input = {0};
    ast_format_error error = {""};
    if (ast_npy_open(&input, &source, &how, &error))
        touch_points(&input.points);
    ast_input_close(&input);
    ast_bytes_close(&source);
    ast_values values = {0};
    source = as_pipe(bytes, size);
    require(ast_npy_values(&values, &source, &how, &error) == (values.numbers != NULL));
    free(values.numbers);
    ast_bytes_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_points(bytes, size, NULL, false);
    as_points(bytes, size, "2-3", true);
    as_points(bytes, size, "4,1,2", false);
    through_a_pipe(bytes, size);
    return 0;
}
