/* SPDX-License-Identifier: MIT */
#include "http_request.h"

#include <platform.h>
#include <string.h>

#define END "\r\n\r\n"
#define NAME_CHARACTERS "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The field of a header that the server looks at; NULL for all others. */
static const char **field_of(ast_live_request *request, const char *name) {
    const struct {
        const char *name;
        const char **field;
    } known[] = {{"host", &request->host},
                 {"origin", &request->origin},
                 {"upgrade", &request->upgrade},
                 {"connection", &request->connection},
                 {"content-length", &request->content_length},
                 {"transfer-encoding", &request->transfer_encoding},
                 {"sec-websocket-key", &request->key},
                 {"sec-websocket-version", &request->version}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(name, known[i].name) == 0)
            return known[i].field;
    return NULL;
}

/* Control characters other than those of the line ends that were already cut off. */
static bool is_plain(const char *line) {
    for (; *line; line++)
        if (((unsigned char)*line < ' ' && *line != '\t') || *line == 127)
            return false;
    return true;
}

/* METHOD PATH HTTP/1.1 */
static bool read_first(char *line, ast_live_request *request) {
    char *path = strchr(line, ' '), *version = path ? strchr(path + 1, ' ') : NULL;
    if (!version || strcmp(version, " HTTP/1.1") != 0 || path == line || version == path + 1)
        return false;
    *path = *version = 0;
    request->method = line;
    request->path = path + 1;
    return line[strspn(line, NAME_CHARACTERS)] == 0;
}

/* NAME: VALUE, without the blanks around the value. */
static bool read_header(char *line, ast_live_request *request) {
    size_t length = strspn(line, NAME_CHARACTERS);
    if (length == 0 || line[length] != ':')
        return false;
    line[length] = 0;
    char *value = line + length + 1 + strspn(line + length + 1, " \t"), *end = value + strlen(value);
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = 0;
    const char **field = field_of(request, line);
    if (field && *field)
        return false;
    if (field)
        *field = value;
    return true;
}

ast_http_state ast_http_read(char *bytes, size_t size, ast_live_request *request) {
    char *end = memmem(bytes, size, END, strlen(END)), *line = bytes;
    *request = (ast_live_request){0};
    if (!end)
        return size < AST_HTTP_HEAD ? AST_HTTP_PART : AST_HTTP_BAD;
    end += 2;
    *end = 0;
    if (strlen(bytes) != (size_t)(end - bytes))
        return AST_HTTP_BAD;
    while (line < end) {
        char *next = strstr(line, "\r\n");
        *next = 0;
        if (!is_plain(line) || !(line == bytes ? read_first(line, request) : read_header(line, request)))
            return AST_HTTP_BAD;
        line = next + 2;
    }
    return AST_HTTP_WHOLE;
}
