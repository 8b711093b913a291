/* SPDX-License-Identifier: MIT
 *
 * Any bytes as .fbin, .u8bin, .i8bin, .fvecs and .bvecs. */
#include "fuzz_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const formats[] = {"fbin", "u8bin", "i8bin", "fvecs", "bvecs"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        as_table(bytes, size, (ast_input_options){.format = formats[i]});
        as_table(bytes, size, (ast_input_options){.format = formats[i], .columns = "2,1,3", .transpose = true});
        as_piped_table(bytes, size, formats[i]);
    }
    return 0;
}
