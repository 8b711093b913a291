/* SPDX-License-Identifier: MIT
 *
 * FNV-1a, 64 bits: the checksum of the files that the command writes for itself. It finds damage, not malice. */
#ifndef ASTERISM_FORMATS_FNV_H
#define ASTERISM_FORMATS_FNV_H

#include <stddef.h>
#include <stdint.h>

#define AST_FNV_START 0xcbf29ce484222325u

static inline uint64_t ast_fnv(uint64_t sum, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return sum;
}

#endif
