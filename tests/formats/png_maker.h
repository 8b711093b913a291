/* SPDX-License-Identifier: MIT
 *
 * PNG files put together by hand, of every kind that the format has: the reader is tested against this, not only
 * against our writer. zlib does the packing, the rest is here: chunks, the five filters, Adam7. */
#ifndef ASTERISM_TESTS_FORMATS_PNG_MAKER_H
#define ASTERISM_TESTS_FORMATS_PNG_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PNG_GREY = 0, PNG_RGB = 2, PNG_PALETTE = 3, PNG_GREY_ALPHA = 4, PNG_RGB_ALPHA = 6 };

typedef struct png_kind {
    unsigned width, height;
    int bits, colour;
    bool interlaced;
    const unsigned char *palette; /* (1 << bits, 3), for PNG_PALETTE */
} png_kind;

size_t png_channels(int colour);

/* The file of these samples, (height, width, channels), with every filter among its rows; to free(). */
unsigned char *make_png(const png_kind *kind, const uint16_t *samples, size_t *size);

/* Appends a chunk to a file that has room for it. */
void put_chunk(unsigned char *file, size_t *size, const char *type, const void *data, size_t length);

/* Where the first chunk of this type begins (its length), or SIZE_MAX. */
size_t find_chunk(const unsigned char *file, size_t size, const char *type);

/* Makes the check sum of the chunk at `place` right again. */
void mend_chunk(unsigned char *file, size_t place);

#endif
