/* SPDX-License-Identifier: MIT
 *
 * The JSON writer: a text that grows, and functions that append to it. Errors are not reported along the way: after a
 * failed allocation the text stays in the failed state and ignores further input; the caller checks once at the end. */
#ifndef ASTERISM_REPORT_JSON_H
#define ASTERISM_REPORT_JSON_H

#include <formats.h>

#include <stdio.h>

typedef struct ast_text {
    char *bytes; /* (size) plus a final zero; NULL while empty */
    size_t size, room;
    bool failed; /* memory ran out */
    char last;   /* the last appended byte, printed or not: it tells whether a comma is needed */
    int indent;  /* of JSON, in spaces; 0: everything on one line */
    int depth;   /* of JSON: open objects and lists */
} ast_text;

void ast_text_add(ast_text *text, const void *bytes, size_t size);
void ast_text_put(ast_text *text, const char *string);
void ast_text_printf(ast_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ast_text_free(ast_text *text); /* leaves it empty */

/* Writes the text to the file and empties it, so that a long text need not be in memory as a whole. False if the text
 * has failed; errors of the file show in the file. */
bool ast_text_print(ast_text *text, FILE *file);

/* The same for an output, whose failures show at once. */
bool ast_text_write(ast_text *text, ast_output *output, ast_format_error *error);

/* The number of bytes of the UTF-8 character that begins here, or 0 if it is invalid. */
size_t ast_utf8_size(const char *character);

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* Every function below appends one value: with its key in an object, with a NULL key in a list or alone. It writes the
 * comma before the value; only callers that want another layout write ",\n" or similar first. Keys must not need
 * escaping. */

void ast_json_open(ast_text *json, const char *key, char bracket); /* '{' or '[' */
void ast_json_close(ast_text *json, char bracket);                 /* '}' or ']' */

/* Invalid UTF-8, as in some file names, becomes the replacement character; NULL becomes null. "</" and "<!" are escaped
 * so that the text can be inside a <script> of an HTML page. */
void ast_json_string(ast_text *json, const char *key, const char *string);

void ast_json_integer(ast_text *json, const char *key, int64_t value);
void ast_json_boolean(ast_text *json, const char *key, bool value);

/* With the given number of digits; null if not finite. A real number always has a point or an exponent. */
void ast_json_number(ast_text *json, const char *key, double value, int digits);
/* A list of numbers, without negative zeros. */
void ast_json_numbers(ast_text *json, const char *key, const double *numbers, size_t count, int digits);

void ast_json_real(ast_text *json, const char *key, double value, int digits);

/* Bytes as base64, in quotes; a PNG as a data URL. */
void ast_json_base64(ast_text *json, const char *key, const void *bytes, size_t size);
void ast_json_data_url(ast_text *json, const char *key, const void *png, size_t size);

/* The key only; the caller appends the value. */
void ast_json_key(ast_text *json, const char *key);

#endif
