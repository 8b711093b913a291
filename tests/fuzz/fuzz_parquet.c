/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a Parquet file: its lists, and its ids. */
#include "fuzz_tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_table(bytes, size, (ast_input_options){.format = "parquet"});
    as_table(bytes, size, (ast_input_options){.format = "parquet", .column = "embedding", .names = "id"});
    as_table(bytes, size, (ast_input_options){.format = "parquet", .names = "number"});
    return 0;
}
