/* SPDX-License-Identifier: MIT
 *
 * Words, lines and numbers of the text in 3-D files. It looks at no byte behind the file's end but the NUL there. */
#include "solid_readers.h"

#include "number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *ast_solid_line(const char *at, const char *end) {
    while (at < end && !ast_solid_line_end(*at))
        at++;
    return at;
}

const char *ast_solid_next_line(const char *at, const char *end) {
    while (at < end && (ast_solid_blank(*at) || ast_solid_line_end(*at)))
        at++;
    return at;
}

/* A byte that may follow a number. A NUL or a backslash is not a blank, so the reader reports it next, unless the
 * backslash joins two lines. */
static bool ends_word(char byte) {
    return ast_solid_blank(byte) || ast_solid_line_end(byte) || byte == '\0' || byte == '\\';
}

const char *ast_solid_pass_word(const char *at, const char *end) {
    while (at < end && !ast_solid_blank(*at) && !ast_solid_line_end(*at))
        at++;
    return at;
}

/* "nan", "-nan(ind)", "inf", "Infinity"; the sign of what is no place anyway does not matter. */
static const char *not_finite(const char *at, double *value) {
    if (*at == '-' || *at == '+')
        at++;
    bool infinite = strncasecmp(at, "inf", 3) == 0;
    if (strncasecmp(at, "nan", 3) != 0 && !infinite)
        return NULL;
    *value = infinite ? (double)INFINITY : (double)NAN;
    while (isalnum((unsigned char)*at) || *at == '(' || *at == ')')
        at++;
    return ends_word(*at) ? at : NULL;
}

const char *ast_solid_real(const char *at, double *value) {
    const char *end = ast_number_parse(at, true, value);
    if (end && ends_word(*end))
        return end;
    /* What old Microsoft libraries print: "1.#QNAN", "-1.#IND00", "1.#INF". */
    if (end && *end == '#') {
        *value = strncasecmp(end, "#inf", 4) == 0 ? (double)INFINITY : (double)NAN;
        do
            end++;
        while (isalnum((unsigned char)*end));
        return ends_word(*end) ? end : NULL;
    }
    return not_finite(at, value);
}

bool ast_solid_no_number(const ast_solid_file *file, const char *at) {
    char excerpt[AST_EXCERPT];
    const char *end = ast_solid_pass_word(at, file->end);
    if (end == at)
        return ast_solid_fail(file, at, "ends where a number is needed");
    ast_excerpt(excerpt, at, (size_t)(end - at));
    return ast_solid_fail(file, at, "'%s' is not a number", excerpt);
}

bool ast_solid_too_many(const ast_solid_file *file, ast_word number) {
    char excerpt[AST_EXCERPT];
    ast_excerpt(excerpt, number.text, number.length);
    return ast_solid_fail(file, number.text, "promises %s of them; at most 2^31 - 1 can be read", excerpt);
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

size_t ast_solid_words(const char *begin, const char *end, ast_word *words, size_t most) {
    size_t count = 0;
    while (true) {
        while (begin < end && ast_solid_blank(*begin))
            begin++;
        if (begin == end)
            return count;
        const char *stop = ast_solid_pass_word(begin, end);
        if (count < most)
            words[count] = (ast_word){begin, (size_t)(stop - begin)};
        count++;
        begin = stop;
    }
}

bool ast_word_is(ast_word word, const char *text) {
    return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

bool ast_word_count(ast_word word, uint64_t *value) {
    const char *end = word.text + word.length;
    return ast_whole_parse(word.text, end, value) == end;
}
