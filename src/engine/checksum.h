/* SPDX-License-Identifier: MIT
 *
 * One number for many bytes. It finds damage and other data, not malice. */
#ifndef AST_CHECKSUM_H
#define AST_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Of a whole: its size takes part. */
uint64_t ast_checksum(const void *bytes, size_t size);

/* Goes on from `sum`, which must not be 0. No step loses a bit: 8 bytes that differ never give the same number. */
uint64_t ast_checksum_add(uint64_t sum, const void *bytes, size_t size);

#endif
