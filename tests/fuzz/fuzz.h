/* SPDX-License-Identifier: MIT
 *
 * What the fuzzers share: the entry point of libFuzzer, and checks that hold whatever the bytes are. */
#ifndef ASTERISM_TESTS_FUZZ_H
#define ASTERISM_TESTS_FUZZ_H

#include "frames.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void require(bool truth) {
    if (!truth)
        abort();
}

/* A failure has one sentence, and it names the file. */
static inline void check_failure(const ast_input *input, const ast_format_error *error) {
    require(strncmp(error->text, "fuzz: ", 6) == 0 && strchr(error->text, '\n') == NULL);
    require(input->body.owned == NULL && input->body.mapped == NULL);
}

/* Every element of a view can be read. */
static inline void touch_sparse(const ast_points *points) {
    const int32_t *starts = points->starts, *columns = points->columns;
    const double *values = points->data;
    double sum = 0;
    require(points->type == AST_F8 && points->index == AST_I4 && starts[0] == 0);
    for (size_t i = 0; i < points->count; i++) {
        require(starts[i] <= starts[i + 1]);
        for (int32_t e = starts[i]; e < starts[i + 1]; e++) {
            require(columns[e] >= 0 && (size_t)columns[e] < points->dimension);
            require(e == starts[i] || columns[e - 1] < columns[e]);
            sum += values[e];
        }
    }
    volatile double keep = sum;
    (void)keep;
}

static inline void touch_points(const ast_points *points) {
    size_t item = ast_number_type_of(points->type)->item;
    require(points->count > 0 && points->dimension > 0 && points->weights == NULL);
    unsigned char seen = 0, number[8];
    for (size_t i = 0; i < points->count; i++)
        for (size_t d = 0; d < points->dimension; d++) {
            const char *place =
                (const char *)points->data + (ptrdiff_t)i * points->row_stride + (ptrdiff_t)d * points->column_stride;
            require((uintptr_t)place % item == 0);
            memcpy(number, place, item);
            seen ^= number[0];
        }
    volatile unsigned char keep = seen;
    (void)keep;
}

#endif
