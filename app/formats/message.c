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

#define NO_MEMORY "there is not enough memory to read it"
#define NO_THREAD "cannot start the thread that "

bool ast_format_no_memory(ast_format_error *error, const char *name) {
    return ast_format_fail(error, "%s: " NO_MEMORY, name);
}

bool ast_format_no_thread(ast_format_error *error, const char *what, int problem) {
    return ast_format_fail(error, NO_THREAD "%s: %s", what, strerror(problem));
}

bool ast_format_is_lack(const ast_format_error *error) {
    size_t length = strlen(error->text), end = strlen(NO_MEMORY);
    return strncmp(error->text, NO_THREAD, strlen(NO_THREAD)) == 0 ||
           (length >= end && strcmp(error->text + length - end, NO_MEMORY) == 0);
}

void ast_excerpt_of(char *excerpt, size_t most, const char *text, size_t length) {
    size_t kept = length < most ? length : most;
    if (kept < length)
        while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80)
            kept--;
    for (size_t i = 0; i < kept; i++)
        excerpt[i] = text[i] ? text[i] : '?';
    excerpt[kept] = 0;
    ast_make_harmless(excerpt);
    strcpy(excerpt + kept, kept < length ? "..." : "");
}

size_t ast_harmful(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x20 || c[0] == 0x7F)
        return c[0] != 0;
    if (c[0] == 0xC2) /* U+0080 to U+009F */
        return c[1] >= 0x80 && c[1] < 0xA0 ? 2 : 0;
    bool lines_or_bidi = c[0] == 0xE2 && ((c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE) || /* U+2028 to U+202E */
                                          (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));  /* U+2066 to U+2069 */
    return lines_or_bidi ? 3 : 0;
}

void ast_make_harmless(char *text) {
    for (char *c = text; *c;) {
        size_t size = ast_harmful(c);
        /* A byte of this range by itself is a control character where the terminal is not in UTF-8. */
        if (size == 0 && ((unsigned char)*c & 0xE0) == 0x80)
            size = 1;
        for (size_t i = 0; i < size; i++)
            c[i] = '?';
        c += size ? size : 1;
        while (size == 0 && ((unsigned char)*c & 0xC0) == 0x80 && (unsigned char)c[-1] >= 0x80)
            c++;
    }
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
