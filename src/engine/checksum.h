/* SPDX-License-Identifier: MIT
 *
 * A 64-bit checksum. It detects damage and changed data, not forgery. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The checksum of a complete array, including its size. */
uint64_t ast_checksum(const void *bytes, size_t size);

/* Continues from `sum`, which must not be 0. Every step is invertible: two inputs that differ in one word of 8 bytes
 * have different checksums. */
uint64_t ast_checksum_add(uint64_t sum, const void *bytes, size_t size);
