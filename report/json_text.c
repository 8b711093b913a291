/* SPDX-License-Identifier: MIT
 *
 * JSON as text: only the pieces, since the writers know what they write. */
#include "json_text.h"

#include <math.h>
#include <string.h>

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
    bool beyond = (c[0] == 0xed && low > 0x9f) || (c[0] == 0xf4 && low > 0x8f); /* surrogates, and after the last */
    return overlong || beyond ? 0 : size;
}

/* What may not stand inside a <script>: the end of one, and the beginning of a comment. */
static bool is_markup(const char *c) {
    return c[0] == '<' && (c[1] == '/' || c[1] == '!');
}

void ast_json_string(ast_text *text, const char *string) {
    if (!string) {
        ast_text_put(text, "null");
        return;
    }
    ast_text_put(text, "\"");
    for (const char *c = string; *c;) {
        size_t size = ast_utf8_size(c);
        if (*c == '"' || *c == '\\')
            ast_text_printf(text, "\\%c", *c);
        else if ((unsigned char)*c < ' ' || *c == 127)
            ast_text_printf(text, "\\u%04x", (unsigned)*c);
        else if (size == 0)
            ast_text_put(text, "\\ufffd");
        else if (is_markup(c))
            ast_text_put(text, c[1] == '/' ? "<\\/" : "<\\u0021");
        else
            ast_text_add(text, c, size);
        c += is_markup(c) ? 2 : size ? size : 1;
    }
    ast_text_put(text, "\"");
}

void ast_json_key(ast_text *text, const char *key) {
    bool first = text->size > 0 && text->bytes[text->size - 1] == '{';
    ast_text_printf(text, "%s\"%s\": ", first ? "" : ", ", key);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

void ast_json_number(ast_text *text, double value, int digits) {
    if (isfinite(value))
        ast_text_printf(text, "%.*g", digits, value);
    else
        ast_text_put(text, "null");
}

void ast_json_boolean(ast_text *text, bool value) {
    ast_text_put(text, value ? "true" : "false");
}

/* Three bytes at a time through a small buffer: appending four characters one by one would take ten times as long. */
enum { GROUPS = 256 };

static void encode(const unsigned char *bytes, size_t count, char out[4]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = (unsigned)bytes[0] << 16;
    group |= count > 1 ? (unsigned)bytes[1] << 8 : 0;
    group |= count > 2 ? (unsigned)bytes[2] : 0;
    out[0] = digits[group >> 18];
    out[1] = digits[group >> 12 & 63];
    out[2] = count > 1 ? digits[group >> 6 & 63] : '=';
    out[3] = count > 2 ? digits[group & 63] : '=';
}

/* With the closing quote. */
static void put_base64(ast_text *text, const void *bytes, size_t size) {
    const unsigned char *next = bytes;
    char out[4 * GROUPS];
    while (size > 0) {
        size_t used = 0;
        for (; size > 0 && used < sizeof out; used += 4) {
            size_t count = size < 3 ? size : 3;
            encode(next, count, out + used);
            next += count;
            size -= count;
        }
        ast_text_add(text, out, used);
    }
    ast_text_put(text, "\"");
}

void ast_json_base64(ast_text *text, const void *bytes, size_t size) {
    ast_text_put(text, "\"");
    put_base64(text, bytes, size);
}

void ast_json_data_url(ast_text *text, const void *png, size_t size) {
    ast_text_put(text, "\"data:image/png;base64,");
    put_base64(text, png, size);
}
