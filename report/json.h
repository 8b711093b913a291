/* SPDX-License-Identifier: MIT
 *
 * The one writer of JSON: a text that grows, and functions that append to it. Nothing is checked on the way: a text
 * that found no memory stays failed and takes nothing more; the caller asks once, at the end. */
#ifndef ASTERISM_REPORT_JSON_H
#define ASTERISM_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct ast_text {
    char *bytes; /* (size) and a zero behind them; NULL while empty */
    size_t size, room;
    bool failed; /* for lack of memory */
    char last;   /* byte that was appended, printed or not: it tells whether a comma is due */
    int indent;  /* of JSON, by spaces; 0: all on one line */
    int depth;   /* of JSON: objects and lists that are open */
} ast_text;

void ast_text_add(ast_text *text, const void *bytes, size_t size);
void ast_text_put(ast_text *text, const char *string);
void ast_text_printf(ast_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ast_text_free(ast_text *text); /* leaves it empty */

/* Writes what there is and forgets it, so that a long text need not be in memory as a whole. False if the text has
 * failed; whether the file took it shows there. */
bool ast_text_print(ast_text *text, FILE *file);

/* The bytes of the UTF-8 character that begins here, or 0 if none does. */
size_t ast_utf8_size(const char *character);

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* Every function below appends one value: with its key in an object, with a NULL key in a list or by itself. The comma
 * before it is theirs; only a caller that wants another layout puts ",\n" or the like first. Keys are ours and plain.
 */

void ast_json_open(ast_text *json, const char *key, char bracket); /* '{' or '[' */
void ast_json_close(ast_text *json, char bracket);                 /* '}' or ']' */

/* What is no UTF-8, as in names of files, becomes the replacement character; NULL becomes null. "</" and "<!" are
 * written so that the text can stand inside a <script> of an HTML page. */
void ast_json_string(ast_text *json, const char *key, const char *string);

void ast_json_integer(ast_text *json, const char *key, int64_t value);
void ast_json_boolean(ast_text *json, const char *key, bool value);

/* As many digits as are asked for; null for what is not finite. A real always has a point or an exponent. */
void ast_json_number(ast_text *json, const char *key, double value, int digits);
void ast_json_real(ast_text *json, const char *key, double value, int digits);

/* Bytes as base64, in quotes; a PNG as a data URL. */
void ast_json_base64(ast_text *json, const char *key, const void *bytes, size_t size);
void ast_json_data_url(ast_text *json, const char *key, const void *png, size_t size);

/* The key alone: the value is appended by the caller. */
void ast_json_key(ast_text *json, const char *key);

#endif
