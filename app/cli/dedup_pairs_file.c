/* SPDX-License-Identifier: MIT
 *
 * Text is written as the pairs come. A .npy says first how many there are, so that its numbers wait in memory. */
#include "dedup_pairs_file.h"

#include <platform.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CSV, JSONL, NPY, STYLES };
static const char *const extensions[STYLES] = {".csv", ".jsonl", ".npy"};

static int style_of(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (int s = 0; s < STYLES && dot; s++)
        if (strcasecmp(dot, extensions[s]) == 0)
            return s;
    return strcmp(path, "-") == 0 ? CSV : STYLES;
}

bool ast_cli_pairs_check(const char *path) {
    return style_of(path) < STYLES;
}

static bool write_text(ast_cli_pairs *pairs, const char *text, size_t length) {
    pairs->failed |= !ast_output_write(pairs->output, text, length, &pairs->error);
    return !pairs->failed;
}

void ast_cli_pairs_open(ast_cli_pairs *pairs, const char *path, ast_output *output) {
    *pairs = (ast_cli_pairs){.output = output, .style = style_of(path)};
    if (pairs->style == CSV)
        write_text(pairs, "i,j,cosine\n", 11);
}

static bool keep_numbers(ast_cli_pairs *pairs, const double *three) {
    if (pairs->used + 3 > pairs->capacity) {
        size_t capacity = pairs->capacity ? 2 * pairs->capacity : 3072;
        double *grown = realloc(pairs->numbers, capacity * sizeof *grown);
        if (!grown) {
            snprintf(pairs->error.text, sizeof pairs->error.text, "there is no memory for %zu pairs", capacity / 3);
            pairs->failed = true;
            return false;
        }
        pairs->numbers = grown;
        pairs->capacity = capacity;
    }
    memcpy(pairs->numbers + pairs->used, three, 3 * sizeof *three);
    pairs->used += 3;
    return true;
}

void ast_cli_put_field(ast_text *text, const char *field) {
    if (!strpbrk(field, ",\"\r\n")) {
        ast_text_put(text, field);
        return;
    }
    ast_text_put(text, "\"");
    for (const char *at = field; *at; at++) {
        char one[3] = {*at, *at == '"' ? '"' : 0, 0};
        ast_text_put(text, one);
    }
    ast_text_put(text, "\"");
}

/* The id of a row, or of one of --against, which are counted behind the others. */
static const char *id_of(const ast_cli_pairs *pairs, size_t row, char number[24]) {
    size_t own = pairs->ids->count;
    snprintf(number, 24, "%zu", row);
    if (row < own)
        return pairs->ids->list[row];
    return pairs->other_ids && row - own < pairs->other_ids->count ? pairs->other_ids->list[row - own] : number;
}

static bool add_ids(ast_cli_pairs *pairs, size_t i, size_t j, double cosine, const char *number) {
    char numbers[2][24];
    const char *a = id_of(pairs, i, numbers[0]), *b = id_of(pairs, j, numbers[1]);
    ast_text text = {0};
    if (pairs->style == CSV) {
        ast_cli_put_field(&text, a);
        ast_text_put(&text, ",");
        ast_cli_put_field(&text, b);
        ast_text_put(&text, ",");
        ast_text_put(&text, number);
    } else {
        ast_json_open(&text, NULL, '{');
        ast_json_string(&text, "i", a);
        ast_json_string(&text, "j", b);
        ast_json_real(&text, "cosine", cosine, 9);
        ast_json_close(&text, '}');
    }
    ast_text_put(&text, "\n");
    pairs->failed |= !ast_text_write(&text, pairs->output, &pairs->error);
    ast_text_free(&text);
    return !pairs->failed;
}

/* Nine digits, and a dot whatever the locale. */
bool ast_cli_pairs_add(ast_cli_pairs *pairs, size_t i, size_t j, double cosine) {
    char text[128], number[32];
    if (pairs->style == NPY)
        return keep_numbers(pairs, (double[]){(double)i, (double)j, cosine});
    snprintf(number, sizeof number, "%.9g", cosine);
    for (char *c = number; *c; c++)
        *c = *c == ',' ? '.' : *c;
    if (pairs->ids)
        return add_ids(pairs, i, j, cosine, number);
    int length = snprintf(text, sizeof text,
                          pairs->style == CSV ? "%zu,%zu,%s\n" : "{\"i\":%zu,\"j\":%zu,\"cosine\":%s}\n", i, j, number);
    return write_text(pairs, text, (size_t)length);
}

bool ast_cli_pairs_end(ast_cli_pairs *pairs) {
    char header[128];
    if (pairs->style != NPY || pairs->failed)
        return !pairs->failed;
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "<" : ">";
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    int length = snprintf(header + 10, sizeof header - 10,
                          "{'descr': '%sf8', 'fortran_order': False, 'shape': (%zu, 3), }", order, pairs->used / 3);
    header[10 + length] = ' ';
    header[sizeof header - 1] = '\n';
    return write_text(pairs, header, sizeof header) &&
           write_text(pairs, (const char *)pairs->numbers, pairs->used * sizeof *pairs->numbers);
}

void ast_cli_pairs_free(ast_cli_pairs *pairs) {
    free(pairs->numbers);
    pairs->numbers = NULL;
}
