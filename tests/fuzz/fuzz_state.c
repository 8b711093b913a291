/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a state file of asterism stream, as `identities` reads it: with the checksums of its head and of the
 * frames behind the state, and as they are. */
#include "fuzz_memory_file.h"

#include <bytes.h>
#include <cli.h>
#include <fnv.h>
#include <stream_state_layout.h>

static void list(const uint8_t *bytes, size_t size) {
    static memory_file file;
    const char *words[] = {"asterism", "identities", as_file(&file, bytes, size), "list", "--json", "--threads",
                           "1",        NULL};
    int code = ast_cli_main(7, (char **)words);
    require(code == AST_CLI_DONE || code == AST_CLI_FAILED);
}

/* Puts the checksum of bytes from..end-1 behind them, if there is room. */
static void seal(uint8_t *bytes, size_t size, uint64_t from, uint64_t end) {
    if (from <= end && end <= size && size - end >= CHECKSUM_SIZE)
        ast_put_little(bytes + end, ast_fnv(AST_FNV_START, bytes + from, (size_t)(end - from)), CHECKSUM_SIZE);
}

static uint64_t small(const uint8_t *bytes, size_t width) {
    uint64_t number = ast_little(bytes, width);
    return number < UINT32_MAX ? number : UINT32_MAX;
}

static void seal_all(uint8_t *bytes, size_t size) {
    if (size < HEAD_SIZE)
        return;
    uint64_t end = ast_cli_state_padded(HEAD_SIZE + small(bytes + 40, 8) + small(bytes + 48, 8) + small(bytes + 56, 8));
    seal(bytes, size, 0, end);
    if (end + CHECKSUM_SIZE + 24 > size)
        return;
    size_t at = end + CHECKSUM_SIZE + small(bytes + end + CHECKSUM_SIZE + 16, 8);
    while (at < size && size - at >= FRAME_SIZE) {
        uint64_t names = small(bytes + at + 24, 4) + small(bytes + at + 28, 4), changes = small(bytes + at + 32, 8);
        seal(bytes, size, at, at + FRAME_SIZE - CHECKSUM_SIZE);
        seal(bytes, size, at + FRAME_SIZE, at + FRAME_SIZE + names);
        at += FRAME_SIZE + names + CHECKSUM_SIZE + changes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    list(bytes, size);
    uint8_t *copy = malloc(size + 1);
    require(copy != NULL);
    if (size)
        memcpy(copy, bytes, size);
    seal_all(copy, size);
    list(copy, size);
    free(copy);
    return 0;
}
