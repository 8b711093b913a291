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

/* The rest, or an array that is too short for lanes. */
static uint64_t fold_words(uint64_t sum, const unsigned char *at, size_t size) {
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sum = fold(sum, word);
    }
    word = 0;
    if (size > 0)
        memcpy(&word, at, size);
    return size > 0 ? fold(sum, word) : sum;
}

uint64_t ast_checksum_add(uint64_t sum, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    if (size >= 2 * LANES * sizeof(uint64_t))
        sum = fold_lanes(sum, &at, &size);
    return fold_words(sum, at, size);
}

/* ---- In parts ---------------------------------------------------------------------------------------------------- */

enum { STEP = LANES * sizeof(uint64_t) };

void ast_checksum_begin(ast_checksum_parts *p, size_t size) {
    *p = (ast_checksum_parts){.sum = ast_mix64(size), .in_lanes = size >= 2 * STEP};
    for (size_t j = 0; j < LANES; j++)
        p->lane[j] = p->sum + j;
}

static void step(ast_checksum_parts *p, const unsigned char *at) {
    uint64_t word;
    for (size_t j = 0; j < LANES; j++) {
        memcpy(&word, at + j * sizeof word, sizeof word);
        p->lane[j] = fold(p->lane[j], word);
    }
}

void ast_checksum_part(ast_checksum_parts *p, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    while (size > 0) {
        bool whole = p->in_lanes && p->count == 0 && size >= STEP;
        size_t room = (p->in_lanes ? (size_t)STEP : sizeof p->held) - p->count, some = room < size ? room : size;
        if (whole) {
            step(p, at);
        } else {
            memcpy(p->held + p->count, at, some);
            p->count += some;
        }
        if (p->in_lanes && p->count == STEP) {
            step(p, p->held);
            p->count = 0;
        }
        at += some;
        size -= some;
    }
}

uint64_t ast_checksum_end(const ast_checksum_parts *p) {
    uint64_t sum = p->sum;
    for (size_t j = 0; j < LANES && p->in_lanes; j++)
        sum = fold(sum, p->lane[j]);
    return ast_mix64(fold_words(sum, p->held, p->count));
}
