/* SPDX-License-Identifier: MIT
 *
 * Damage to bytes that the library itself has saved, so that a corpus outlives versions of the layout. An input is a
 * list of edits: a place (3 bytes), a kind (1 byte), and what the kind takes. Afterwards the bytes get the size and
 * the checksum that they would need: they are as a liar would write them. */
#ifndef ASTERISM_TESTS_FUZZ_EDITS_H
#define ASTERISM_TESTS_FUZZ_EDITS_H

#include "fuzz.h"

#include <checksum.h>

typedef struct edited {
    uint8_t *bytes;
    size_t size;
} edited;

/* The next `count` bytes of the input as a number; zeros behind its end. */
static inline uint64_t take(const uint8_t **at, const uint8_t *end, size_t count) {
    uint64_t number = 0;
    for (size_t i = 0; i < count && *at < end; i++)
        number |= (uint64_t) * (*at)++ << 8 * i;
    return number;
}

static inline void edit(edited *of, size_t place, unsigned kind, const uint8_t **at, const uint8_t *end) {
    static const double wild[] = {0, -1, 1, 1e300, -1e300, 1e-310, (double)INFINITY, (double)NAN};
    size_t width = kind % 6 == 0 ? 1 : kind % 6 == 1 ? 4 : 8;
    uint64_t number = kind % 6 == 3 ? 0 : take(at, end, kind % 6 == 5 ? 3 : kind % 6 == 4 ? 1 : width);
    if (kind % 6 == 4)
        memcpy(&number, &wild[number % (sizeof wild / sizeof *wild)], sizeof number);
    if (kind % 6 == 3) /* cut off, or zeros behind the end */
        of->size = place;
    else if (kind % 6 == 5 && number % of->size + width <= of->size) /* from elsewhere */
        memmove(of->bytes + place, of->bytes + number % of->size, place + width <= of->size ? width : 0);
    else if (place + width <= of->size)
        memcpy(of->bytes + place, &number, width);
}

/* A copy of what was saved, changed; to free(). */
static inline edited edit_all(const void *saved, size_t size, const uint8_t *at, size_t count) {
    const uint8_t *end = at + count;
    edited of = {malloc(size + 8), size};
    require(of.bytes != NULL);
    memcpy(of.bytes, saved, size);
    memset(of.bytes + size, 0, 8);
    while (at < end && of.size > 0) {
        size_t place = (size_t)take(&at, end, 3) % (of.size + (of.size < size ? 0 : 8));
        edit(&of, place, (unsigned)take(&at, end, 1), &at, end);
    }
    return of;
}

/* The size at byte 16 and the checksum at the end. */
static inline void seal(edited *of) {
    uint64_t size = of->size;
    if (size < 32)
        return;
    memcpy(of->bytes + 16, &size, sizeof size);
    uint64_t sum = ast_checksum(of->bytes, of->size - sizeof sum);
    memcpy(of->bytes + of->size - sizeof sum, &sum, sizeof sum);
}

#endif
