/* SPDX-License-Identifier: MIT
 *
 * A text that grows. It doubles, so that a long one is copied few times. */
#include "json_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `size` more bytes and the zero. */
static bool make_room(ast_text *text, size_t size) {
    if (text->failed || size < text->room - text->size)
        return !text->failed;
    size_t room = text->room + (text->room > size ? text->room : size) + 64;
    char *larger = realloc(text->bytes, room);
    text->failed = !larger;
    if (larger) {
        text->bytes = larger;
        text->room = room;
    }
    return larger != NULL;
}

void ast_text_add(ast_text *text, const void *bytes, size_t size) {
    if (!make_room(text, size))
        return;
    if (size > 0)
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

void ast_text_put(ast_text *text, const char *string) {
    ast_text_add(text, string, strlen(string));
}

void ast_text_printf(ast_text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && make_room(text, (size_t)length)) {
        vsnprintf(text->bytes + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void ast_text_free(ast_text *text) {
    free(text->bytes);
    *text = (ast_text){0};
}
