/* SPDX-License-Identifier: MIT
 *
 * One field after the other from a buffer that moves over the file. The common case, a number with a separator right
 * behind it, is tried first and costs one pass over its digits; everything else takes the slow way. */
#include "text.h"

#include "platform.h"
#include "number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool slow_field(ast_fields *text, size_t column, ast_field *field, char **word, ast_format_error *error);
static bool end_field(ast_fields *text, char *cursor, size_t column, ast_field *field, ast_format_error *error);

static bool is_blank(const ast_fields *text, char byte) {
    return byte == ' ' || (byte == '\t' && text->separator != '\t');
}

static char *skip_blanks(const ast_fields *text, char *cursor) {
    while (is_blank(text, *cursor))
        cursor++;
    return cursor;
}

/* Whether a field ends at the cursor. NUL ends one only where the buffer does. */
static bool is_field_end(const ast_fields *text, const char *cursor) {
    char byte = *cursor;
    return byte == text->separator || ast_is_line_end(byte) || cursor == text->end ||
           (text->separator == ' ' && byte == '\t');
}

/* Half a step above FLT_MAX: from there on a double rounds to no finite float. */
static bool is_large(const ast_fields *text, double value) {
    return fabs(value) >= (text->doubles ? (double)INFINITY : 0x1.ffffffp127);
}

static bool too_long(const ast_fields *text, size_t column, ast_format_error *error) {
    return ast_format_fail(error, "%s: line %llu, column %zu: is longer than %zu bytes, or its quote is never closed",
                           text->bytes->name, (unsigned long long)text->line, column, (size_t)AST_FIELD_LIMIT);
}

bool ast_fields_begin(ast_fields *text, ast_bytes *bytes, ast_format_error *error) {
    text->bytes = bytes;
    text->line = 1;
    text->buffer = malloc(AST_TEXT_BUFFER + 1);
    text->cursor = text->end = text->buffer;
    return text->buffer || ast_format_no_memory(error, bytes->name);
}

void ast_fields_end(ast_fields *text) {
    free(text->buffer);
}

bool ast_fields_fill(ast_fields *text, ast_format_error *error) {
    size_t left = (size_t)(text->end - text->cursor);
    if (left >= AST_FIELD_LIMIT || text->ended)
        return true;
    memmove(text->buffer, text->cursor, left);
    size_t got;
    bool good = ast_bytes_read(text->bytes, text->buffer + left, AST_TEXT_BUFFER - left, &got, error);
    text->ended = !good || got < AST_TEXT_BUFFER - left;
    text->cursor = text->buffer;
    text->end = text->buffer + left + (good ? got : 0);
    *text->end = '\0';
    return good;
}

void ast_fields_skip_blanks(ast_fields *text) {
    text->cursor = skip_blanks(text, text->cursor);
}

bool ast_fields_skip_line(ast_fields *text, ast_format_error *error) {
    for (;;) {
        while (text->cursor < text->end && !ast_is_line_end(*text->cursor))
            text->cursor++;
        if (text->cursor < text->end || text->ended)
            break;
        if (!ast_fields_fill(text, error))
            return false;
    }
    ast_field ignored;
    return end_field(text, text->cursor, 1, &ignored, error);
}

bool ast_field_next(ast_fields *text, bool wanted, size_t column, ast_field *field, ast_format_error *error) {
    if (!ast_fields_fill(text, error))
        return false;
    char *cursor = skip_blanks(text, text->cursor);
    char *stop;
    if (wanted) {
        stop = (char *)ast_number_parse(cursor, !text->doubles, &field->value);
        if (!stop || !is_field_end(text, stop))
            return slow_field(text, column, field, NULL, error);
        field->kind = is_large(text, field->value) ? AST_FIELD_LARGE : AST_FIELD_NUMBER;
        if (field->kind == AST_FIELD_LARGE)
            ast_excerpt(field->excerpt, cursor, (size_t)(stop - cursor));
    } else {
        if (*cursor == '"' && text->separator != ' ')
            return slow_field(text, column, field, NULL, error);
        for (stop = cursor; !is_field_end(text, stop);)
            stop++;
    }
    return end_field(text, stop, column, field, error);
}

bool ast_field_word(ast_fields *text, size_t column, ast_field *field, char **word, ast_format_error *error) {
    return ast_fields_fill(text, error) && slow_field(text, column, field, word, error);
}

/* Takes what follows a field: blanks, then a separator, a line end or the end of the file. */
static bool end_field(ast_fields *text, char *cursor, size_t column, ast_field *field, ast_format_error *error) {
    cursor = skip_blanks(text, cursor);
    if (cursor == text->end && !text->ended)
        return too_long(text, column, error);
    text->cursor = cursor;
    field->last = cursor == text->end || ast_is_line_end(*cursor);
    if (!field->last) {
        /* Where blanks separate, they have been skipped already. */
        text->cursor += text->separator != ' ';
        return true;
    }
    if (cursor == text->end)
        return true;
    if (*cursor == '\r') {
        /* Its line feed may be the first byte of the next part. */
        if (!ast_fields_fill(text, error))
            return false;
        text->cursor += text->cursor[1] == '\n';
    }
    text->cursor++;
    text->line++;
    return true;
}

static bool same_word(const char *begin, size_t length, const char *word) {
    return strlen(word) == length && strncasecmp(begin, word, length) == 0;
}

/* What a field that is not simply a number holds. begin..begin+length has no blanks and no quotes around it. */
static void judge(const ast_fields *text, const char *begin, size_t length, ast_field *field) {
    size_t sign = length > 0 && (*begin == '-' || *begin == '+');
    const char *word = begin + sign;
    size_t size = length - sign;
    double value;
    field->value = (double)NAN;
    if (length == 0)
        field->kind = AST_FIELD_EMPTY;
    else if (same_word(word, size, "nan") || same_word(begin, length, "na"))
        field->kind = AST_FIELD_MISSING;
    else if (same_word(word, size, "inf") || same_word(word, size, "infinity"))
        field->kind = AST_FIELD_INFINITE;
    else if (ast_number_parse(begin, !text->doubles, &value) == begin + length)
        field->kind = AST_FIELD_NUMBER;
    else
        field->kind = AST_FIELD_TEXT;
    if (field->kind == AST_FIELD_NUMBER) {
        field->value = value;
        if (is_large(text, value))
            field->kind = AST_FIELD_LARGE;
    }
    ast_excerpt(field->excerpt, begin, length);
}

/* The closing quote of a field that begins at `cursor` with a quote, or NULL. Doubled quotes are part of the text, and
 * so are line ends, which are counted. */
static char *closing_quote(ast_fields *text, char *cursor) {
    for (cursor++; cursor < text->end; cursor++) {
        if (*cursor == '"' && cursor[1] != '"')
            return cursor;
        cursor += *cursor == '"';
        text->line += *cursor == '\n';
    }
    return NULL;
}

/* `word`, if it is not NULL, becomes a copy of the field. */
static bool slow_field(ast_fields *text, size_t column, ast_field *field, char **word, ast_format_error *error) {
    char *begin = skip_blanks(text, text->cursor);
    char *stop;
    uint64_t line = text->line;
    bool quoted = *begin == '"' && text->separator != ' ';
    if (quoted) {
        stop = closing_quote(text, begin);
        text->line = stop ? text->line : line;
        if (!stop)
            return too_long(text, column, error);
        begin = skip_blanks(text, begin + 1);
    } else {
        for (stop = begin; !is_field_end(text, stop);)
            stop++;
    }
    char *after = stop + quoted;
    if (quoted && !is_field_end(text, skip_blanks(text, after)))
        return ast_format_fail(error, "%s: line %llu, column %zu: there is text behind the closing quote",
                               text->bytes->name, (unsigned long long)text->line, column);
    while (stop > begin && is_blank(text, stop[-1]))
        stop--;
    judge(text, begin, (size_t)(stop - begin), field);
    if (word && !(*word = strndup(begin, (size_t)(stop - begin))))
        return ast_format_no_memory(error, text->bytes->name);
    return end_field(text, after, column, field, error);
}
