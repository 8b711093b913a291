/* SPDX-License-Identifier: MIT
 *
 * The values of a page: one after the other (PLAIN), numbers of values in a dictionary, or all first bytes, then all
 * second bytes (BYTE_STREAM_SPLIT). */
#include "parquet.h"

#include "npy.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE 1024 /* numbers in the dictionary */

static bool make_room(ast_parquet_pages *pages, ast_buffer *place, size_t size) {
    if (place->place && place->capacity >= size)
        return true;
    void *grown = realloc(place->place, size + 1);
    pages->no_memory |= !grown;
    if (grown)
        *place = (ast_buffer){grown, size, 0};
    return grown;
}

static bool is_dictionary(const ast_parquet_pages *pages) {
    return pages->encoding == AST_PARQUET_RLE_DICTIONARY || pages->encoding == AST_PARQUET_PLAIN_DICTIONARY;
}

/* The numbers in the dictionary begin with how many bits each has. */
static bool begin_runs(const ast_parquet_pages *pages, ast_parquet_runs *runs) {
    if (pages->values == pages->values_end || *pages->values > 32)
        return false;
    *runs = (ast_parquet_runs){.at = pages->values + 1, .end = pages->values_end, .width = *pages->values};
    return true;
}

static bool look_up(ast_parquet_pages *pages, unsigned char *place) {
    ast_parquet_runs runs;
    uint32_t numbers[AT_ONCE];
    size_t width = pages->column->width, known = pages->dictionary_count;
    if (known > pages->dictionary_page.filled / width || !begin_runs(pages, &runs))
        return false;
    for (size_t left = pages->present, part; left > 0; left -= part) {
        part = left < AT_ONCE ? left : AT_ONCE;
        if (!ast_parquet_runs_take(&runs, numbers, part))
            return false;
        for (size_t i = 0; i < part; i++)
            if (numbers[i] >= known)
                return false;
        const unsigned char *from = pages->dictionary_page.place;
        for (size_t i = 0; i < part && width == 4; i++) /* a size that the compiler knows */
            memcpy(place + i * 4, from + (size_t)numbers[i] * 4, 4);
        for (size_t i = 0; i < part && width != 4; i++)
            memcpy(place + i * width, from + numbers[i] * width, width);
        place += part * width;
    }
    return true;
}

static void join(const ast_parquet_pages *pages, unsigned char *place) {
    size_t width = pages->column->width, count = pages->present;
    for (size_t b = 0; b < width; b++)
        for (size_t i = 0; i < count; i++)
            place[i * width + b] = pages->values[b * count + i];
}

const unsigned char *ast_parquet_fixed(ast_parquet_pages *pages, ast_buffer *place) {
    size_t width = pages->column->width, size = pages->present * width;
    size_t room = (size_t)(pages->values_end - pages->values);
    bool swapped = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && width > 1;
    if (pages->present == 0)
        return pages->unpacked.place;
    if (pages->encoding == AST_PARQUET_PLAIN && size <= room && !swapped)
        return pages->values;
    if (!make_room(pages, place, size))
        return NULL;
    if (pages->encoding == AST_PARQUET_PLAIN && size <= room)
        memcpy(place->place, pages->values, size);
    else if (pages->encoding == AST_PARQUET_SPLIT && size <= room)
        join(pages, place->place);
    else if (!is_dictionary(pages) || !look_up(pages, place->place))
        return NULL;
    if (swapped)
        ast_scalar_swap(place->place, pages->present, width);
    return place->place;
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

static bool make_places(ast_parquet_pages *pages, ast_parquet_strings *strings, size_t count) {
    bool good = ast_array_grow(&strings->begins, &strings->capacity, count + 1, sizeof *strings->begins) &&
                ast_array_grow(&strings->lengths, &strings->lengths_capacity, count + 1, sizeof *strings->lengths);
    pages->no_memory |= !good;
    return good;
}

/* Strings behind their lengths, from number `first` on. */
static bool plain_strings(ast_parquet_strings *strings, size_t first, size_t count, const unsigned char *at,
                          const unsigned char *end) {
    for (size_t i = first; i < first + count; i++) {
        uint64_t size = end - at >= 4 ? ast_little(at, 4) : UINT64_MAX;
        if (size == UINT64_MAX || size > (size_t)(end - at - 4))
            return false;
        strings->begins[i] = at + 4;
        strings->lengths[i] = (uint32_t)size;
        at += 4 + size;
    }
    return true;
}

bool ast_parquet_take_strings(ast_parquet_pages *pages, ast_parquet_strings *strings) {
    size_t count = pages->present, known = pages->dictionary_count;
    if (pages->encoding == AST_PARQUET_PLAIN)
        return make_places(pages, strings, count) && plain_strings(strings, 0, count, pages->values, pages->values_end);
    ast_parquet_runs runs;
    const unsigned char *page = pages->dictionary_page.place;
    if (!is_dictionary(pages) || !page || known > pages->dictionary_page.filled / 4 ||
        !make_places(pages, strings, count + known) || !begin_runs(pages, &runs) ||
        !plain_strings(strings, count, known, page, page + pages->dictionary_page.filled))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        if (!ast_parquet_runs_take(&runs, &number, 1) || number >= known)
            return false;
        strings->begins[i] = strings->begins[count + number];
        strings->lengths[i] = strings->lengths[count + number];
    }
    return true;
}

void ast_parquet_strings_free(ast_parquet_strings *strings) {
    free(strings->begins);
    free(strings->lengths);
    *strings = (ast_parquet_strings){0};
}
