/* SPDX-License-Identifier: MIT
 *
 * What the tests of pages share: reading back what was written. */
#ifndef ASTERISM_TESTS_PAGES_COMMON_H
#define ASTERISM_TESTS_PAGES_COMMON_H

#include "formats/helpers.h"

#include <jansson.h>
#include <page.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The object of a text, which must be nothing but that. */
static inline json_t *parsed(const char *bytes, size_t size) {
    json_error_t problem;
    json_t *object = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        fail_msg("%s at %d", problem.text, problem.position);
    return object;
}

/* Base64 back to bytes, with a table of its own; to free(). */
static inline unsigned char *decoded(const char *text, size_t *size) {
    size_t length = strlen(text);
    unsigned char *bytes = malloc(length + 1);
    uint32_t group = 0;
    *size = 0;
    assert_int_equal(length % 4, 0);
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 26
                    : c >= '0' && c <= '9' ? c - '0' + 52
                    : c == '+'             ? 62
                    : c == '/'             ? 63
                    : c == '='             ? 0
                                           : -1;
        assert_true(value >= 0);
        group = group << 6 | (uint32_t)value;
        if (i % 4 == 3) {
            for (int k = 2; k >= 0; k--)
                bytes[(*size)++] = (unsigned char)(group >> 8 * k);
        }
    }
    *size -= (length > 0 && text[length - 1] == '=') + (length > 1 && text[length - 2] == '=');
    return bytes;
}

static inline double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    assert_non_null(value);
    return json_is_null(value) ? NAN : json_number_value(value);
}

static inline bool has_note(const json_t *page, const char *part) {
    size_t index;
    json_t *note;
    json_array_foreach(json_object_get(page, "notes"), index, note) {
        if (strstr(json_string_value(note), part))
            return true;
    }
    return false;
}

/* Coordinate k of point i of a list of int16. */
static inline double coordinate(const unsigned char *xyz, size_t i, size_t k) {
    const unsigned char *at = xyz + 6 * i + 2 * k;
    return (int16_t)(at[0] | at[1] << 8) / 32767.0;
}

static inline int32_t label_of(const unsigned char *labels, size_t i) {
    const unsigned char *at = labels + 4 * i;
    return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

#endif
