/* SPDX-License-Identifier: MIT
 *
 * Writing JSON. */
#include "json.h"

#include <math.h>

static void begin(bench_json *json, const char *key) {
    if (json->depth > 0)
        fprintf(json->file, "%s\n%*s", json->first ? "" : ",", 2 * json->depth, "");
    json->first = 0;
    if (key)
        fprintf(json->file, "\"%s\": ", key);
}

void bench_json_open(bench_json *json, const char *key, char bracket) {
    begin(json, key);
    fputc(bracket, json->file);
    json->depth++;
    json->first = 1;
}

void bench_json_close(bench_json *json, char bracket) {
    json->depth--;
    if (!json->first)
        fprintf(json->file, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->file);
    json->first = 0;
    if (json->depth == 0)
        fputc('\n', json->file);
}

void bench_json_number(bench_json *json, const char *key, double value) {
    begin(json, key);
    if (isfinite(value))
        fprintf(json->file, "%.9g", value);
    else
        fputs("null", json->file);
}

void bench_json_text(bench_json *json, const char *key, const char *value) {
    begin(json, key);
    fputc('"', json->file);
    for (; *value; value++)
        if ((unsigned char)*value >= ' ' && *value != '"' && *value != '\\')
            fputc(*value, json->file);
        else
            fprintf(json->file, "\\u%04x", (unsigned char)*value);
    fputc('"', json->file);
}
