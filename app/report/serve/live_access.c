/* SPDX-License-Identifier: MIT
 *
 * Access control of a live view: strings in, a decision out. */
#include "live_access.h"

#include "sockets.h"
#include "websocket.h"

#include <platform.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ast_live_token(char token[AST_LIVE_TOKEN + 1]) {
    unsigned char bytes[AST_LIVE_TOKEN / 2];
    if (!ast_random_bytes(bytes, sizeof bytes))
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

bool ast_live_numeric(const char *address) {
    unsigned char parsed[sizeof(struct in6_addr)];
    char plain[AST_LIVE_ADDRESS];
    size_t length = strlen(address);
    if (length >= sizeof plain)
        return false;
    if (address[0] == '[' && address[length - 1] == ']') {
        memcpy(plain, address + 1, length - 2);
        plain[length - 2] = 0;
        return inet_pton(AF_INET6, plain, parsed) == 1;
    }
    return inet_pton(AF_INET, address, parsed) == 1 || inet_pton(AF_INET6, address, parsed) == 1;
}

/* ---- Hosts ------------------------------------------------------------------------------------------------------- */

/* Splits name:port; without a port it is that of HTTP. */
static bool split_host(const char *host, char name[256], unsigned *port) {
    size_t length = strlen(host);
    const char *bracket = strrchr(host, ']'), *colon = strrchr(host, ':');
    if (length == 0 || length >= 256)
        return false;
    *port = 80;
    if (colon && (!bracket || colon > bracket)) {
        if (!colon[1] || colon[1 + strspn(colon + 1, "0123456789")] || strlen(colon + 1) > 5)
            return false;
        *port = (unsigned)atoi(colon + 1);
        length = (size_t)(colon - host);
    }
    memcpy(name, host, length);
    name[length] = 0;
    return length > 0;
}

static bool is_everywhere(const char *address) {
    return strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0 || strcmp(address, "[::]") == 0;
}

/* Compares with the address without brackets. */
static bool same_address(const char *name, const char *address) {
    size_t skip = name[0] == '[', length = strlen(name) - 2 * skip;
    size_t other_skip = address[0] == '[', other = strlen(address) - 2 * other_skip;
    return length == other && strncasecmp(name + skip, address + other_skip, length) == 0;
}

/* A host name could be resolved to our address by any name server, so names are rejected; a numeric address cannot be
 * faked. */
static bool is_ours(const ast_live_access *access, const char *name) {
    char own[256] = "";
    if (strcasecmp(name, "localhost") == 0 || same_address(name, "127.0.0.1") || same_address(name, "::1") ||
        same_address(name, access->address))
        return true;
    if (!is_everywhere(access->address))
        return false;
    return ast_live_numeric(name) || (gethostname(own, sizeof own - 1) == 0 && strcasecmp(name, own) == 0);
}

static bool good_host(const ast_live_access *access, const char *host) {
    char name[256];
    unsigned port;
    return host && split_host(host, name, &port) && port == access->port && is_ours(access, name);
}

/* Browsers name the page that makes a request; other clients send no origin. */
static bool good_origin(const char *origin, const char *host) {
    return !origin || (strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0);
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

/* In constant time, so that the time does not reveal how many characters were right. */
static bool same_token(const char *path, const char *token) {
    unsigned char difference = 0;
    for (size_t i = 0; i < AST_LIVE_TOKEN; i++)
        difference |= (unsigned char)(path[i] ^ token[i]);
    return difference == 0;
}

/* Whether a list such as "keep-alive, Upgrade" contains the word. */
static bool lists(const char *list, const char *word) {
    size_t length = strlen(word);
    while (list) {
        list += strspn(list, " \t,");
        size_t size = strcspn(list, " \t,");
        if (size == length && strncasecmp(list, word, length) == 0)
            return true;
        list = size ? list + size : NULL;
    }
    return false;
}

static bool opens_socket(const ast_live_request *request) {
    return request->upgrade && strcasecmp(request->upgrade, "websocket") == 0 &&
           lists(request->connection, "upgrade") && request->version && strcmp(request->version, "13") == 0 &&
           request->key && strlen(request->key) == AST_SOCKET_KEY;
}

ast_live_answer ast_live_judge(const ast_live_access *access, const ast_live_request *request) {
    const char *path = request->path, *length = request->content_length;
    if (!request->method || strcmp(request->method, "GET") != 0 || request->transfer_encoding ||
        (length && strcmp(length, "0") != 0) || !good_host(access, request->host) ||
        !good_origin(request->origin, request->host))
        return AST_LIVE_FORBIDDEN;
    if (!path || strnlen(path, AST_LIVE_TOKEN + 2) < AST_LIVE_TOKEN + 2 || path[0] != '/' ||
        !same_token(path + 1, access->token))
        return AST_LIVE_NOTHING;
    if (strcmp(path + 1 + AST_LIVE_TOKEN, "/") == 0 && !request->upgrade)
        return AST_LIVE_PAGE;
    return strcmp(path + 1 + AST_LIVE_TOKEN, "/live") == 0 && opens_socket(request) ? AST_LIVE_SOCKET
                                                                                    : AST_LIVE_NOTHING;
}
