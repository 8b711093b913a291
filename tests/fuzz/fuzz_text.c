/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a table of text: as points, with and without columns and names, as doubles, and what looks like gzip as
 * that. */
#include "fuzz.h"

#include <math.h>

static void as_points(const uint8_t *bytes, size_t size, const char *format, const char *columns, bool transpose,
                      const char *names) {
    ast_input_options options = {.format = format, .columns = columns, .transpose = transpose, .names = names};
    ast_format_error error = {""};
    ast_input input;
    if (ast_input_open_memory(&input, "fuzz", bytes, size, &options, &error)) {
        touch_points(&input.points);
        require(input.names.count == (names ? input.points.count : 0));
        for (size_t i = 0; i < input.names.count; i++)
            require(memchr(input.names.list[i], 0, size + 1) != NULL);
        const float *numbers = input.points.data;
        for (size_t i = 0; i < input.points.count * input.points.dimension; i++)
            require(!isinf(numbers[i]));
    } else {
        check_failure(&input, &error);
    }
    ast_input_close(&input);
}

static void as_values(const uint8_t *bytes, size_t size) {
    ast_resolved how;
    ast_values values = {0};
    ast_format_error error = {""};
    ast_bytes source;
    require(ast_bytes_open_memory(&source, "fuzz", bytes, size, false, &error));
    require(ast_resolve(&how, "fuzz", &(ast_input_options){.format = "csv"}, &error));
    require(ast_text_values(&values, &source, &how, &error) == (values.numbers != NULL));
    for (size_t i = 0; i < values.count; i++)
        require(!isinf(values.numbers[i]));
    free(values.numbers);
    ast_bytes_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_points(bytes, size, "csv", NULL, false, NULL);
    as_points(bytes, size, "csv", "2-3", true, NULL);
    as_points(bytes, size, "csv", "3,1", false, NULL);
    as_points(bytes, size, "csv", "x,2", false, NULL);
    as_points(bytes, size, "csv", NULL, false, "1");
    as_points(bytes, size, "csv", "1-2", false, "3");
    as_points(bytes, size, "tsv", "2", false, "x");
    as_points(bytes, size, "tsv", NULL, false, NULL);
    as_points(bytes, size, "tsv", "dec,inc", true, NULL);
    as_values(bytes, size);
    if (size > 2 && bytes[0] == 0x1F && bytes[1] == 0x8B)
        as_points(bytes, size, "csv.gz", NULL, false, NULL);
    return 0;
}
