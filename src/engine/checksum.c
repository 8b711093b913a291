/* SPDX-License-Identifier: MIT
 *
 * Words of 8 bytes are added to the checksum one after the other; the last one is padded with zeros. */
#include "checksum.h"

#include "random.h"

#include <string.h>

#define LANES 4

uint64_t ast_checksum(const void *bytes, size_t size) {
    return ast_mix64(ast_checksum_add(ast_mix64(size), bytes, size));
}

static uint64_t fold(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

/* Four independent chains: a single chain would wait for its multiplications. */
static uint64_t fold_lanes(uint64_t sum, const unsigned char **at, size_t *size) {
    uint64_t lane[LANES], word;
    for (size_t j = 0; j < LANES; j++)
        lane[j] = sum + j;
    for (; *size >= sizeof lane; *size -= sizeof lane)
        for (size_t j = 0; j < LANES; j++, *at += sizeof word) {
            memcpy(&word, *at, sizeof word);
            lane[j] = fold(lane[j], word);
        }
    for (size_t j = 0; j < LANES; j++)
        sum = fold(sum, lane[j]);
    return sum;
}

uint64_t ast_checksum_add(uint64_t sum, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    uint64_t word;
    if (size >= 2 * LANES * sizeof word)
        sum = fold_lanes(sum, &at, &size);
    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = fold(sum, word);
    }
    word = 0;
    if (size > 0)
        memcpy(&word, at, size);
    return size > 0 ? fold(sum, word) : sum;
}
