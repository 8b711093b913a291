/* SPDX-License-Identifier: MIT
 *
 * A text that grows, and JSON as text. Nothing is checked on the way: a text that found no memory stays failed, takes
 * nothing more, and whoever wants to use it asks once at the end. */
#ifndef ASTERISM_REPORT_JSON_TEXT_H
#define ASTERISM_REPORT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ast_text {
    char *bytes; /* (size) and a zero behind them; NULL while empty */
    size_t size, room;
    bool failed; /* for lack of memory */
} ast_text;

void ast_text_add(ast_text *text, const void *bytes, size_t size);
void ast_text_put(ast_text *text, const char *string);
void ast_text_printf(ast_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ast_text_free(ast_text *text); /* leaves it empty */

/* The bytes of the UTF-8 character that begins here, or 0 if none does. */
size_t ast_utf8_size(const char *character);

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* In quotes. What is no UTF-8, as in names of files, becomes the replacement character; NULL becomes null. "</" and
 * "<!--" are written so that the text can stand inside a <script> of an HTML page. */
void ast_json_string(ast_text *text, const char *string);

/* The key of an object's member, with a comma before it unless it is the first. Keys are ours and plain. */
void ast_json_key(ast_text *text, const char *key);

/* As many digits as are asked for; null for what is not finite. */
void ast_json_number(ast_text *text, double value, int digits);
void ast_json_boolean(ast_text *text, bool value);

/* Bytes as base64, in quotes; a PNG as a data URL. */
void ast_json_base64(ast_text *text, const void *bytes, size_t size);
void ast_json_data_url(ast_text *text, const void *png, size_t size);

#endif
