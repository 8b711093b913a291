/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a state file of asterism stream, as `identities` reads it: with the checksum of the file, and as they
 * are. */
#include "fuzz_memory_file.h"

#include <bytes.h>
#include <cli.h>
#include <fnv.h>

static void list(const uint8_t *bytes, size_t size) {
    static memory_file file;
    const char *words[] = {"asterism", "identities", as_file(&file, bytes, size), "list", "--json", "--threads",
                           "1",        NULL};
    int code = ast_cli_main(7, (char **)words);
    require(code == AST_CLI_DONE || code == AST_CLI_FAILED);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    list(bytes, size);
    if (size < 8)
        return 0;
    uint8_t *copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, bytes, size);
    ast_put_little(copy + size - 8, ast_fnv(AST_FNV_START, copy, size - 8), 8);
    list(copy, size);
    free(copy);
    return 0;
}
