/* SPDX-License-Identifier: MIT
 *
 * Sentences for people. They quote foreign bytes, so the quoting is done here, once and with care. */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define QUOTED 40

bool ast_format_fail(ast_format_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

bool ast_format_no_memory(ast_format_error *error, const char *name) {
    return ast_format_fail(error, "%s: there is not enough memory to read it", name);
}

void ast_excerpt(char excerpt[AST_EXCERPT], const char *text, size_t length) {
    size_t kept = length < QUOTED ? length : QUOTED;
    if (kept < length)
        while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
            kept--;
    for (size_t i = 0; i < kept; i++) {
        unsigned char byte = (unsigned char)text[i];
        excerpt[i] = byte < 0x20 || byte == 0x7F ? '?' : (char)byte;
    }
    strcpy(excerpt + kept, kept < length ? "..." : "");
}
