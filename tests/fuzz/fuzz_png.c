/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a PNG, as they are and with the check sums made right, which no fuzzer would guess. */
#include "fuzz_images.h"

#include <zlib.h>

static uint32_t get_number(const uint8_t *place) {
    return (uint32_t)place[0] << 24 | (uint32_t)place[1] << 16 | (uint32_t)place[2] << 8 | place[3];
}

static void mend(uint8_t *file, size_t size) {
    static const uint8_t signature[] = "\x89PNG\r\n\x1A\n";
    memcpy(file, signature, size < 8 ? size : 8);
    for (size_t place = 8; size - place >= 12;) {
        uint32_t length = get_number(file + place);
        if (length > size - place - 12)
            break;
        uint32_t sum = (uint32_t)crc32(0, file + place + 4, length + 4);
        for (int i = 0; i < 4; i++)
            file[place + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        place += (size_t)length + 12;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_depth(bytes, size);
    if (size < 8)
        return 0;
    uint8_t *copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, bytes, size);
    mend(copy, size);
    as_depth(copy, size);
    free(copy);
    return 0;
}
