/* SPDX-License-Identifier: MIT
 *
 * Sentences for people, which quote foreign bytes; and arrays that grow. */
#include "formats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

void ast_excerpt_of(char *excerpt, size_t most, const char *text, size_t length) {
    size_t kept = length < most ? length : most;
    if (kept < length)
        while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
            kept--;
    for (size_t i = 0; i < kept; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool control = byte < 0x20 || byte == 0x7F || (byte == 0xC2 && i + 1 < kept && (text[i + 1] & 0xE0) == 0x80);
        excerpt[i] = control ? '?' : (char)byte;
        if (control && byte == 0xC2) /* U+0080 to U+009F, which terminals obey too */
            excerpt[++i] = '?';
    }
    strcpy(excerpt + kept, kept < length ? "..." : "");
}

void ast_excerpt(char excerpt[AST_EXCERPT], const char *text, size_t length) {
    ast_excerpt_of(excerpt, QUOTED, text, length);
}

bool ast_has_extension(const char *path, const char *extension) {
    size_t length = strlen(path), size = strlen(extension);
    return length > size && strcasecmp(path + length - size, extension) == 0;
}

bool ast_array_grow(void *array, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity)
        return true;
    size_t wanted = 2 * *capacity > needed ? 2 * *capacity : needed < 16 ? 16 : needed;
    void *place;
    memcpy(&place, array, sizeof place);
    place = wanted <= SIZE_MAX / size ? realloc(place, wanted * size) : NULL;
    if (!place)
        return false;
    memcpy(array, &place, sizeof place);
    *capacity = wanted;
    return true;
}

int ast_find_word(const char *const *words, const char *word) {
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}
