/* SPDX-License-Identifier: MIT
 *
 * Just enough JSON to write the results: commas and indentation, no reading. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdio.h>

typedef struct bench_json {
    FILE *file;
    int depth;
    int first; /* nothing stands yet in the object or list at hand */
} bench_json;

/* `key` is NULL within lists. */
void bench_json_open(bench_json *json, const char *key, char bracket); /* '{' or '[' */
void bench_json_close(bench_json *json, char bracket);                 /* '}' or ']' */
void bench_json_number(bench_json *json, const char *key, double value);
void bench_json_text(bench_json *json, const char *key, const char *value);

#endif
