/* SPDX-License-Identifier: MIT
 *
 * The inside of the text reader: a buffer that moves over the file, the separator, and one field after the other. */
#ifndef ASTERISM_FORMATS_TEXT_H
#define ASTERISM_FORMATS_TEXT_H

#include "bytes.h"

/* A field, with the blanks around it, must be shorter than this, so that it lies in the buffer as a whole. The fuzzer
 * makes both small, so that short files cross many borders. */
#ifndef AST_FIELD_LIMIT
#define AST_FIELD_LIMIT ((size_t)1 << 16)
#define AST_TEXT_BUFFER ((size_t)1 << 20)
#endif

typedef struct ast_fields {
    ast_bytes *bytes;
    char *buffer;       /* AST_TEXT_BUFFER bytes and a NUL, which no number runs over */
    char *cursor, *end; /* what has not been looked at yet; *end is NUL */
    bool ended;         /* nothing comes after `end` */
    char separator;     /* ',' ';' '\t', or ' ' for any number of blanks */
    bool doubles;       /* numbers are wanted as doubles, not as floats */
    uint64_t line;      /* of the cursor, 1-based */
} ast_fields;

/* What a field holds. */
typedef enum ast_field_kind {
    AST_FIELD_NUMBER,
    AST_FIELD_MISSING, /* nan, NA */
    AST_FIELD_EMPTY,
    AST_FIELD_TEXT,
    AST_FIELD_INFINITE,
    AST_FIELD_LARGE /* a number out of range */
} ast_field_kind;

typedef struct ast_field {
    ast_field_kind kind;
    double value;              /* a number, or NaN where missing or empty */
    bool last;                 /* the line ended after it */
    char excerpt[AST_EXCERPT]; /* of text, of infinity and of large numbers */
} ast_field;

/* field.c. Sets up a text whose separator and `doubles` are set and which is otherwise zero; it is to be ended in any
 * case. */
bool ast_fields_begin(ast_fields *text, ast_bytes *bytes, ast_format_error *error);
void ast_fields_end(ast_fields *text);

/* Makes sure that a whole field is in the buffer, or the rest of the file. */
bool ast_fields_fill(ast_fields *text, ast_format_error *error);

/* Takes the field at the cursor and the separator or line end behind it. `column` (1-based) is for sentences. An
 * unwanted field is passed over, and its kind means nothing. False only where the file cannot be read or the field has
 * no end. */
bool ast_field_next(ast_fields *text, bool wanted, size_t column, ast_field *field, ast_format_error *error);

/* The same as a word, which is the caller's to free(). */
bool ast_field_word(ast_fields *text, size_t column, ast_field *field, char **word, ast_format_error *error);

/* Passes over the rest of the line. */
bool ast_fields_skip_line(ast_fields *text, ast_format_error *error);

/* text.c: skips the byte order mark and the comments at the top. `separator` 0 becomes the one of most numbers. */
bool ast_fields_begin_text(ast_fields *text, ast_format_error *error);

/* Passes over blanks, which stand for nothing at the start of a line. */
void ast_fields_skip_blanks(ast_fields *text);

/* sniff.c: the separator, from the first lines in the buffer. */
char ast_fields_separator(const char *begin, const char *end);

static inline bool ast_is_line_end(char byte) {
    return byte == '\n' || byte == '\r';
}

#endif
