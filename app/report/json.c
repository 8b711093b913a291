/* SPDX-License-Identifier: MIT
 *
 * JSON as text. */
#include "json.h"

#include "base64.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- A text that grows: it doubles, so that a long one is copied few times -------------------------------------- */

/* Makes room for `size` more bytes and the final zero. */
static bool make_room(ast_text *text, size_t size) {
    text->failed |= !ast_array_grow(&text->bytes, &text->room, text->size + size + 1, 1);
    return !text->failed;
}

/* `size` more bytes were written after the end. */
static void grew(ast_text *text, size_t size) {
    text->size += size;
    text->bytes[text->size] = 0;
    if (size > 0)
        text->last = text->bytes[text->size - 1];
}

void ast_text_add(ast_text *text, const void *bytes, size_t size) {
    if (!make_room(text, size))
        return;
    if (size > 0)
        memcpy(text->bytes + text->size, bytes, size);
    grew(text, size);
}

void ast_text_put(ast_text *text, const char *string) {
    ast_text_add(text, string, strlen(string));
}

/* First tried in the available room: numbers usually fit, and formatting them twice would take twice as long. */
void ast_text_printf(ast_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    make_room(text, 32);
    int length = text->failed ? -1 : vsnprintf(text->bytes + text->size, text->room - text->size, format, arguments);
    if (length >= 0 && (size_t)length >= text->room - text->size && make_room(text, (size_t)length))
        vsnprintf(text->bytes + text->size, (size_t)length + 1, format, again);
    if (length >= 0 && !text->failed)
        grew(text, (size_t)length);
    va_end(arguments);
    va_end(again);
}

bool ast_text_print(ast_text *text, FILE *file) {
    if (text->size > 0)
        fwrite(text->bytes, 1, text->size, file);
    text->size = 0;
    return !text->failed;
}

bool ast_text_write(ast_text *text, ast_output *output, ast_format_error *error) {
    if (text->failed)
        return ast_format_fail(error, "there is not enough memory for the text to write");
    bool good = text->size == 0 || ast_output_write(output, text->bytes, text->size, error);
    text->size = 0;
    return good;
}

void ast_text_free(ast_text *text) {
    free(text->bytes);
    *text = (ast_text){0};
}

/* ---- Objects and lists ------------------------------------------------------------------------------------------- */

static void break_line(ast_text *json) {
    ast_text_printf(json, "\n%*s", json->indent * json->depth, "");
}

/* Whether the object or list is still empty, or the caller has written the comma or the key. */
static bool is_first(const ast_text *json) {
    return strchr("{[ \n", json->last) != NULL; /* also at the beginning, where it is the final zero */
}

static void begin(ast_text *json, const char *key) {
    bool lines = json->indent > 0 && json->depth > 0;
    if (!is_first(json))
        ast_text_put(json, lines ? "," : ", ");
    if (lines)
        break_line(json);
    if (!key)
        return;
    ast_text_put(json, "\"");
    ast_text_put(json, key);
    ast_text_put(json, "\": ");
}

void ast_json_key(ast_text *json, const char *key) {
    begin(json, key);
}

void ast_json_open(ast_text *json, const char *key, char bracket) {
    begin(json, key);
    ast_text_add(json, &bracket, 1);
    json->depth++;
}

void ast_json_close(ast_text *json, char bracket) {
    json->depth--;
    if (json->indent > 0 && !is_first(json))
        break_line(json);
    ast_text_add(json, &bracket, 1);
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

size_t ast_utf8_size(const char *character) {
    const unsigned char *c = (const unsigned char *)character;
    size_t size = c[0] < 0x80                   ? 1
                  : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                  : (c[0] & 0xf0) == 0xe0       ? 3
                  : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                : 0;
    for (size_t i = 1; i < size; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    }
    unsigned low = size > 1 ? c[1] : 0;
    bool overlong = (c[0] == 0xe0 && low < 0xa0) || (c[0] == 0xf0 && low < 0x90);
    bool beyond =
        (c[0] == 0xed && low > 0x9f) || (c[0] == 0xf4 && low > 0x8f); /* surrogates, and code points after the last */
    return overlong || beyond ? 0 : size;
}

/* Character sequences not allowed inside a <script>: its end tag, and the beginning of a comment. */
static bool is_markup(const char *c) {
    return c[0] == '<' && (c[1] == '/' || c[1] == '!');
}

/* Of a character of up to three bytes. */
static unsigned code_point(const char *c, size_t size) {
    unsigned point = (unsigned char)c[0] & (size == 1 ? 0x7F : size == 2 ? 0x1F : 0x0F);
    for (size_t i = 1; i < size; i++)
        point = point << 6 | ((unsigned char)c[i] & 0x3F);
    return point;
}

static void put_escaped(ast_text *json, const char *string) {
    ast_text_put(json, "\"");
    for (const char *c = string; *c;) {
        size_t size = ast_utf8_size(c), harmful = ast_harmful(c);
        if (*c == '"' || *c == '\\')
            ast_text_printf(json, "\\%c", *c);
        else if (harmful > 0)
            ast_text_printf(json, "\\u%04x", code_point(c, harmful));
        else if (size == 0)
            ast_text_put(json, "\\ufffd");
        else if (is_markup(c))
            ast_text_put(json, c[1] == '/' ? "<\\/" : "<\\u0021");
        else
            ast_text_add(json, c, size);
        c += is_markup(c) ? 2 : size ? size : 1;
    }
    ast_text_put(json, "\"");
}

void ast_json_string(ast_text *json, const char *key, const char *string) {
    begin(json, key);
    if (string)
        put_escaped(json, string);
    else
        ast_text_put(json, "null");
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

void ast_json_integer(ast_text *json, const char *key, int64_t value) {
    begin(json, key);
    ast_text_printf(json, "%" PRId64, value);
}

void ast_json_number(ast_text *json, const char *key, double value, int digits) {
    begin(json, key);
    if (isfinite(value))
        ast_text_printf(json, "%.*g", digits, value);
    else
        ast_text_put(json, "null");
}

void ast_json_numbers(ast_text *json, const char *key, const double *numbers, size_t count, int digits) {
    ast_json_open(json, key, '[');
    for (size_t i = 0; i < count; i++)
        ast_json_number(json, NULL, numbers[i] + 0.0, digits);
    ast_json_close(json, ']');
}

void ast_json_real(ast_text *json, const char *key, double value, int digits) {
    char text[64], *exponent;
    snprintf(text, sizeof text, "%.*g", digits, value);
    exponent = strchr(text, 'e');
    if (!isfinite(value) || (!exponent && strchr(text, '.'))) {
        ast_json_number(json, key, value, digits);
        return;
    }
    begin(json, key);
    if (exponent)
        ast_text_printf(json, "%.*se%d", (int)(exponent - text), text, atoi(exponent + 1));
    else
        ast_text_printf(json, "%s.0", text);
}

void ast_json_boolean(ast_text *json, const char *key, bool value) {
    begin(json, key);
    ast_text_put(json, value ? "true" : "false");
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Three bytes at a time through a small buffer: appending four characters one by one takes ten times as long. */
enum { GROUPS = 256 };

/* Including the closing quote. */
static void put_base64(ast_text *text, const void *bytes, size_t size) {
    const unsigned char *next = bytes;
    char out[4 * GROUPS];
    while (size > 0) {
        size_t used = 0;
        for (; size > 0 && used < sizeof out; used += 4) {
            size_t count = size < 3 ? size : 3;
            ast_base64_group(next, count, out + used);
            next += count;
            size -= count;
        }
        ast_text_add(text, out, used);
    }
    ast_text_put(text, "\"");
}

void ast_json_base64(ast_text *json, const char *key, const void *bytes, size_t size) {
    begin(json, key);
    ast_text_put(json, "\"");
    put_base64(json, bytes, size);
}

void ast_json_data_url(ast_text *json, const char *key, const void *png, size_t size) {
    begin(json, key);
    ast_text_put(json, "\"data:image/png;base64,");
    put_base64(json, png, size);
}
