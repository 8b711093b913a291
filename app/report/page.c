/* SPDX-License-Identifier: MIT
 *
 * What all pages have in common, and how the data is put into the page. */
#include "page.h"

#include <platform.h>
#include <viewer.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE "<script type=\"application/json\" id=\"asterism-data\">"
#define BEHIND "</script>"

/* ---- Sentences and values ---------------------------------------------------------------------------------------- */

void ast_note(ast_page_notes *notes, const char *format, ...) {
    if (notes->count == AST_NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes->lines[notes->count++], AST_NOTE, format, arguments);
    va_end(arguments);
}

const char *ast_grouped(uint64_t number, char text[AST_GROUPED]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = 0;
    return text;
}

void ast_page_parameter(ast_page_head *head, const char *name, const char *text, double number) {
    if (head->parameter_count < AST_PAGE_VALUES)
        head->parameters[head->parameter_count++] = (ast_page_value){name, text, number};
}

void ast_page_measure(ast_page_head *head, const char *name, double number) {
    if (head->measure_count < AST_PAGE_VALUES)
        head->measures[head->measure_count++] = (ast_page_value){name, NULL, number};
}

/* ---- The object -------------------------------------------------------------------------------------------------- */

static void put_values(ast_text *json, const char *key, const ast_page_value *values, size_t count) {
    ast_json_open(json, key, '{');
    for (size_t i = 0; i < count; i++) {
        if (values[i].text)
            ast_json_string(json, values[i].name, values[i].text);
        else
            ast_json_number(json, values[i].name, values[i].number, 10);
    }
    ast_json_close(json, '}');
}

static void put_notes(ast_text *json, const ast_page_notes *notes) {
    ast_json_open(json, "notes", '[');
    for (size_t i = 0; i < notes->count; i++)
        ast_json_string(json, NULL, notes->lines[i]);
    ast_json_close(json, ']');
}

static void put_projection(ast_text *json, const ast_projection *projection) {
    if (!projection || !projection->basis) {
        ast_json_string(json, "projection", NULL);
        return;
    }
    ast_json_open(json, "projection", '{');
    ast_json_xyz(json, "explained", projection->explained);
    ast_json_close(json, '}');
}

void ast_page_begin(ast_text *json, const ast_page_head *head, const char *kind, bool live,
                    const ast_projection *projection) {
    ast_json_open(json, NULL, '{');
    ast_json_integer(json, "format", 1);
    ast_json_string(json, "kind", kind);
    ast_json_boolean(json, "live", live);
    ast_json_string(json, "run", head->run);
    ast_json_string(json, "title", head->title);
    ast_json_string(json, "command", head->command);
    ast_json_string(json, "version", ast_version());
    put_values(json, "parameters", head->parameters, head->parameter_count);
    put_values(json, "measures", head->measures, head->measure_count);
    put_notes(json, &head->notes);
    ast_json_integer(json, "dimension", projection ? (int64_t)projection->dimension : 0);
    ast_json_boolean(json, "axial", head->axial);
    put_projection(json, projection);
}

/* Five digits are finer than the eye can see, also in the tables. */
void ast_json_xyz(ast_text *json, const char *key, const double xyz[3]) {
    ast_json_open(json, key, '[');
    for (int k = 0; k < 3; k++)
        ast_json_number(json, NULL, xyz[k], 5);
    ast_json_close(json, ']');
}

void ast_json_colour(ast_text *json, const char *key, int32_t id) {
    ast_colour colour = ast_palette(id);
    char text[8];
    snprintf(text, sizeof text, "#%02x%02x%02x", colour.red, colour.green, colour.blue);
    ast_json_string(json, key, text);
}

void ast_json_colours(ast_text *json, const int32_t *ids, size_t count) {
    char key[16];
    ast_json_open(json, "colors", '{');
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%" PRId32, ids[i]);
        if (i == 0 || ids[i] != ids[i - 1])
            ast_json_colour(json, key, ids[i]);
    }
    ast_json_close(json, '}');
}

bool ast_json_png(ast_text *json, const char *key, ast_output *output, bool good, ast_format_error *error) {
    unsigned char *bytes;
    size_t size;
    if (!good)
        ast_output_abandon(output);
    if (!good || !ast_output_take(output, &bytes, &size, error))
        return false;
    ast_json_data_url(json, key, bytes, size);
    free(bytes);
    return true;
}

/* ---- The largest clusters ---------------------------------------------------------------------------------------- */

static int by_index(const void *a, const void *b) {
    const ast_ranked *one = a, *other = b;
    return (one->index > other->index) - (one->index < other->index);
}

static int by_size(const void *a, const void *b) {
    const ast_ranked *one = a, *other = b;
    if (one->size != other->size)
        return one->size > other->size ? -1 : 1;
    return by_index(a, b);
}

void ast_sort_ranked(ast_ranked *entries, size_t count) {
    qsort(entries, count, sizeof *entries, by_size);
}

size_t ast_keep_largest(ast_ranked *entries, size_t count, size_t most) {
    if (count <= most)
        return count;
    ast_sort_ranked(entries, count);
    qsort(entries, most, sizeof *entries, by_index);
    return most;
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

bool ast_page_there(void) {
    size_t length;
    return ast_viewer_page(&length) != NULL;
}

bool ast_page_fill(const char *page, size_t length, const ast_text *json, ast_text *html) {
    const char *marker = memmem(page, length, AST_VIEWER_MARKER, strlen(AST_VIEWER_MARKER));
    if (!marker || json->failed)
        return false;
    const char *rest = marker + strlen(AST_VIEWER_MARKER);
    ast_text_add(html, page, (size_t)(marker - page));
    ast_text_put(html, BEFORE);
    ast_text_add(html, json->bytes, json->size);
    ast_text_put(html, BEHIND);
    ast_text_add(html, rest, length - (size_t)(rest - page));
    return !html->failed;
}

bool ast_page_write(const ast_text *json, ast_output *output, ast_format_error *error) {
    size_t length;
    ast_text html = {0};
    const char *page = ast_viewer_page(&length);
    if (!page)
        return ast_format_fail(error, "this build has no page for reports");
    bool good =
        ast_page_fill(page, length, json, &html) || ast_format_fail(error, "there is not enough memory for the report");
    good = good && ast_output_write(output, html.bytes, html.size, error);
    ast_text_free(&html);
    return good;
}
