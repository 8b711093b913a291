/* SPDX-License-Identifier: MIT
 *
 * Charts and tables as the data of a page. The input is the files that the commands write anyway, so code that makes a
 * figure or a table does not need to know pages. */
#include "page.h"

#include <platform.h>
#include <stdlib.h>
#include <string.h>

/* Adds a string that is not terminated by a zero. */
static void put_part(ast_text *json, const char *key, const char *bytes, size_t size) {
    char *copy = strndup(bytes, size);
    json->failed |= !copy;
    if (copy)
        ast_json_string(json, key, copy);
    free(copy);
}

static void put_svg_title(ast_text *json, const char *svg) {
    const char *begin = strstr(svg, "<title>"), *end = begin ? strstr(begin, "</title>") : NULL;
    if (end)
        put_part(json, "title", begin + strlen("<title>"), (size_t)(end - begin) - strlen("<title>"));
    else
        ast_json_string(json, "title", "");
}

/* Another object of a list that stands by itself. */
static void begin_object(ast_text *json) {
    ast_text_put(json, json->size ? ",\n" : "");
    ast_json_open(json, NULL, '{');
}

void ast_chart_page_svg(ast_chart_page *page, const char *svg) {
    begin_object(&page->charts);
    put_svg_title(&page->charts, svg);
    ast_json_string(&page->charts, "svg", svg);
    ast_json_close(&page->charts, '}');
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* A number as it is written, if it is valid JSON; "nan" and empty fields are null; everything else is a string. */
static void put_field(ast_text *json, const char *field, size_t size) {
    char word[40], *end;
    bool digits = size > 0 && size < sizeof word && strspn(field, "0123456789+-.eE") >= size;
    if (size == 0 || (size == 3 && strncmp(field, "nan", 3) == 0) || (size == 4 && strncmp(field, "-nan", 4) == 0)) {
        ast_json_string(json, NULL, NULL);
        return;
    }
    if (digits) {
        memcpy(word, field, size);
        word[size] = 0;
        double value = strtod(word, &end);
        if (*end == 0) {
            ast_json_number(json, NULL, value, 17);
            return;
        }
    }
    put_part(json, NULL, field, size);
}

static const char *put_line(ast_text *json, const char *key, const char *line, bool names) {
    ast_json_open(json, key, '[');
    for (;; line++) {
        size_t size = strcspn(line, ",\n");
        if (names)
            put_part(json, NULL, line, size);
        else
            put_field(json, line, size);
        line += size;
        if (*line != ',')
            break;
    }
    ast_json_close(json, ']');
    return *line ? line + 1 : line;
}

void ast_chart_page_csv(ast_chart_page *page, const char *title, const char *csv) {
    ast_text *json = &page->tables;
    begin_object(json);
    ast_json_string(json, "title", title);
    const char *line = put_line(json, "columns", csv, true);
    ast_json_open(json, "rows", '[');
    for (bool first = true; *line; first = false) {
        ast_text_put(json, first ? "" : ",\n");
        line = put_line(json, NULL, line, false);
    }
    ast_json_close(json, ']');
    ast_json_close(json, '}');
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void put_list(ast_text *json, const char *key, const ast_text *list) {
    ast_json_open(json, key, '[');
    if (list->size)
        ast_text_add(json, list->bytes, list->size);
    ast_json_close(json, ']');
    json->failed |= list->failed;
}

bool ast_chart_page_json(const ast_chart_page *page, const ast_page_head *head, const char *recommended, ast_text *json,
                         ast_format_error *error) {
    ast_page_begin(json, head, "charts", false, NULL);
    put_list(json, "charts", &page->charts);
    put_list(json, "tables", &page->tables);
    if (recommended)
        ast_json_string(json, "recommended", recommended);
    ast_json_close(json, '}');
    return !json->failed || ast_format_fail(error, "there is not enough memory for the report");
}

void ast_chart_page_free(ast_chart_page *page) {
    ast_text_free(&page->charts);
    ast_text_free(&page->tables);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

bool ast_chart_page_add(ast_chart_page *page, const char *name, ast_page_writer *write, const void *data,
                        ast_format_error *error) {
    ast_text text = {0};
    write(data, &text);
    bool good = !text.failed || ast_format_fail(error, "there is not enough memory for the report");
    if (good && ast_has_extension(name, ".svg"))
        ast_chart_page_svg(page, text.bytes);
    else if (good)
        ast_chart_page_csv(page, name, text.bytes);
    ast_text_free(&text);
    return good;
}
