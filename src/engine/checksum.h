/* SPDX-License-Identifier: MIT
 *
 * A 64-bit checksum. It detects damage and changed data, not forgery. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The checksum of a complete array, including its size. */
uint64_t ast_checksum(const void *bytes, size_t size);

/* The same for an array that comes in parts, of `size` bytes in all. */
typedef struct ast_checksum_parts {
    uint64_t sum, lane[4];
    unsigned char held[64]; /* (count) too few for a step of all lanes */
    size_t count;
    bool in_lanes;
} ast_checksum_parts;

void ast_checksum_begin(ast_checksum_parts *parts, size_t size);
void ast_checksum_part(ast_checksum_parts *parts, const void *bytes, size_t size);
uint64_t ast_checksum_end(const ast_checksum_parts *parts);

/* Continues from `sum`, which must not be 0. Every step is invertible: two inputs that differ in one word of 8 bytes
 * have different checksums. */
uint64_t ast_checksum_add(uint64_t sum, const void *bytes, size_t size);
