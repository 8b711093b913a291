/* SPDX-License-Identifier: MIT
 *
 * Any bytes as what a browser sends to the live server: a request and messages of a socket. */
#include "fuzz.h"

#include <http_request.h>
#include <websocket.h>

static void check_text(const char *text, const char *from, size_t size) {
    require(!text || (text >= from && text + strlen(text) < from + size));
}

static void as_request(const uint8_t *bytes, size_t size) {
    const ast_live_access access = {.token = "0123456789abcdef0123456789abcdef", .address = "127.0.0.1", .port = 8080};
    ast_live_request request;
    size_t length = size < AST_HTTP_HEAD ? size : AST_HTTP_HEAD;
    char *copy = malloc(length + 1);
    require(copy != NULL);
    memcpy(copy, bytes, length);
    if (ast_http_read(copy, length, &request) == AST_HTTP_WHOLE) {
        const char *const parts[] = {request.method,         request.path,    request.host,
                                     request.origin,         request.upgrade, request.connection,
                                     request.content_length, request.key,     request.version};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            check_text(parts[i], copy, length);
        require(request.method && request.path);
        int answer = (int)ast_live_judge(&access, &request);
        require(answer == AST_LIVE_PAGE || answer == AST_LIVE_SOCKET || answer == AST_LIVE_FORBIDDEN ||
                answer == AST_LIVE_NOTHING);
        require(answer != AST_LIVE_SOCKET || (request.key && strlen(request.key) == AST_SOCKET_KEY));
    }
    free(copy);
}

static void as_messages(const uint8_t *bytes, size_t size) {
    unsigned char *copy = malloc(size + 1);
    size_t at = 0;
    ast_socket_message message;
    require(copy != NULL);
    memcpy(copy, bytes, size);
    while (ast_websocket_read(copy + at, size - at, &message) == AST_FRAME_WHOLE) {
        require(message.used >= message.size + 6 && message.used <= size - at && message.size <= AST_FRAME_MOST);
        require((unsigned char *)message.text + message.size == copy + at + message.used);
        at += message.used;
    }
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    as_request(bytes, size);
    as_messages(bytes, size);
    return 0;
}
