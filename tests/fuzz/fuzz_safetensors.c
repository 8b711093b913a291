/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a .safetensors file: the only tensor, one by its name, and one that is not there. */
#include "fuzz_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_table(bytes, size, (ast_input_options){.format = "safetensors"});
    as_table(bytes, size, (ast_input_options){.format = "safetensors", .tensor = "a", .columns = "2,1"});
    as_table(bytes, size, (ast_input_options){.format = "safetensors", .tensor = "\xC3\xA9\n"});
    as_piped_table(bytes, size, "safetensors");
    return 0;
}
