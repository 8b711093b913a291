/* SPDX-License-Identifier: MIT */
#include "png_maker.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* The passes of Adam7: first column and row, and the steps between them. */
typedef struct png_pass {
    unsigned x, y, dx, dy;
} png_pass;

static const png_pass adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                 {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
static const png_pass whole = {0, 0, 1, 1};

size_t png_channels(int colour) {
    return colour == PNG_RGB ? 3 : colour == PNG_RGB_ALPHA ? 4 : colour == PNG_GREY_ALPHA ? 2 : 1;
}

static void put_number(unsigned char *place, uint32_t value) {
    for (int i = 0; i < 4; i++)
        place[i] = (unsigned char)(value >> (24 - 8 * i));
}

static uint32_t get_number(const unsigned char *place) {
    return (uint32_t)place[0] << 24 | (uint32_t)place[1] << 16 | (uint32_t)place[2] << 8 | place[3];
}

void mend_chunk(unsigned char *file, size_t place) {
    uint32_t length = get_number(file + place);
    put_number(file + place + 8 + length, (uint32_t)crc32(0, file + place + 4, length + 4));
}

void put_chunk(unsigned char *file, size_t *size, const char *type, const void *data, size_t length) {
    unsigned char *place = file + *size;
    put_number(place, (uint32_t)length);
    memcpy(place + 4, type, 4);
    if (length > 0)
        memcpy(place + 8, data, length);
    mend_chunk(file, *size);
    *size += length + 12;
}

size_t find_chunk(const unsigned char *file, size_t size, const char *type) {
    size_t place = 8;
    while (place + 12 <= size) {
        if (memcmp(file + place + 4, type, 4) == 0)
            return place;
        place += get_number(file + place) + (size_t)12;
    }
    return SIZE_MAX;
}

static unsigned char paeth(int a, int b, int c) {
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return (unsigned char)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* row and above: `length` bytes, above NULL in the first row of a pass; the result has the type in front. */
static void filter_row(unsigned char *place, int type, const unsigned char *row, const unsigned char *above,
                       size_t length, size_t pixel) {
    *place++ = (unsigned char)type;
    for (size_t i = 0; i < length; i++) {
        int a = i >= pixel ? row[i - pixel] : 0, b = above ? above[i] : 0,
            c = above && i >= pixel ? above[i - pixel] : 0;
        int guess = type == 0 ? 0 : type == 1 ? a : type == 2 ? b : type == 3 ? (a + b) / 2 : paeth(a, b, c);
        place[i] = (unsigned char)(row[i] - guess);
    }
}

static void pack_row(unsigned char *row, const png_kind *kind, const uint16_t *samples, const png_pass *pass,
                     unsigned y, size_t pixels) {
    size_t channels = png_channels(kind->colour), bit = 0;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++, bit += (size_t)kind->bits) {
            uint16_t value = samples[((size_t)y * kind->width + pass->x + i * pass->dx) * channels + c];
            if (kind->bits == 16)
                row[bit / 8] = (unsigned char)(value >> 8), row[bit / 8 + 1] = (unsigned char)value;
            else
                row[bit / 8] |= (unsigned char)(value << (8 - kind->bits - (int)(bit % 8)));
        }
}

/* Appends the filtered rows of a pass; an empty pass has none. */
static void put_pass(unsigned char *rows, size_t *size, const png_kind *kind, const uint16_t *samples,
                     const png_pass *pass) {
    if (pass->x >= kind->width || pass->y >= kind->height)
        return;
    size_t pixels = (kind->width - pass->x + pass->dx - 1) / pass->dx;
    size_t bits = (size_t)kind->bits * png_channels(kind->colour), length = (pixels * bits + 7) / 8;
    unsigned char *row = calloc(2, length), *above = NULL;
    int type = 4;
    for (unsigned y = pass->y; y < kind->height; y += pass->dy) {
        unsigned char *here = above == row ? row + length : row;
        memset(here, 0, length);
        pack_row(here, kind, samples, pass, y, pixels);
        filter_row(rows + *size, type, here, above, length, bits < 8 ? 1 : bits / 8);
        *size += length + 1;
        type = (type + 1) % 5;
        above = here;
    }
    free(row);
}

static void put_header(unsigned char *file, size_t *size, const png_kind *kind) {
    unsigned char header[13] = {0};
    memcpy(file, "\x89PNG\r\n\x1A\n", 8);
    *size = 8;
    put_number(header, kind->width);
    put_number(header + 4, kind->height);
    header[8] = (unsigned char)kind->bits;
    header[9] = (unsigned char)kind->colour;
    header[12] = kind->interlaced;
    put_chunk(file, size, "IHDR", header, sizeof header);
    if (kind->colour == PNG_PALETTE)
        put_chunk(file, size, "PLTE", kind->palette, (size_t)3 << kind->bits);
}

unsigned char *make_png(const png_kind *kind, const uint16_t *samples, size_t *size) {
    size_t most = (size_t)kind->height * (kind->width * png_channels(kind->colour) * 2 + 8) * 2 + 64, length = 0;
    unsigned char *rows = malloc(most);
    for (size_t i = 0; i < (kind->interlaced ? sizeof adam7 / sizeof *adam7 : 1); i++)
        put_pass(rows, &length, kind, samples, kind->interlaced ? &adam7[i] : &whole);
    uLongf packed_size = compressBound(length);
    unsigned char *packed = malloc(packed_size), *file = malloc(packed_size + 4096);
    compress2(packed, &packed_size, rows, length, 6);
    put_header(file, size, kind);
    /* In two chunks, as writers do with large images. */
    put_chunk(file, size, "IDAT", packed, packed_size / 2);
    put_chunk(file, size, "IDAT", packed + packed_size / 2, packed_size - packed_size / 2);
    put_chunk(file, size, "IEND", NULL, 0);
    free(packed);
    free(rows);
    return file;
}
