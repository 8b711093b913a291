/* SPDX-License-Identifier: MIT
 *
 * A small client for the tests of the live view: requests byte by byte as they are wanted, and WebSocket messages read
 * back. It is no browser: it can be rude. */
#ifndef ASTERISM_TESTS_LIVE_CLIENT_H
#define ASTERISM_TESTS_LIVE_CLIENT_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct client {
    int handle;
    unsigned port;
    char token[64];
} client;

/* From http://127.0.0.1:PORT/TOKEN/; connected, or with a handle below 0. Gives up on a silence of two minutes. */
static inline client client_open(const char *url) {
    client made = {.handle = -1};
    struct timeval patience = {.tv_sec = 120};
    if (sscanf(url, "http://127.0.0.1:%u/%63[0-9a-f]/", &made.port, made.token) != 2)
        return made;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)made.port)};
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    made.handle = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(made.handle, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(made.handle, (struct sockaddr *)&address, sizeof address) != 0) {
        close(made.handle);
        made.handle = -1;
    }
    return made;
}

static inline void client_close(client *of) {
    if (of->handle >= 0)
        close(of->handle);
    of->handle = -1;
}

static inline bool client_write(const client *of, const void *bytes, size_t size) {
    return send(of->handle, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static inline bool client_read(const client *of, void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t part = recv(of->handle, (char *)bytes + done, size - done, 0);
        if (part <= 0)
            return false;
        done += (size_t)part;
    }
    return true;
}

/* The status of the answer, whose head is read; 0 if there is none. */
static inline int client_status(const client *of) {
    char head[4096] = "";
    size_t size = 0;
    int status = 0;
    while (size < sizeof head - 1 && !strstr(head, "\r\n\r\n")) {
        if (!client_read(of, head + size, 1))
            return 0;
        head[++size] = 0;
    }
    return sscanf(head, "HTTP/1.1 %d", &status) == 1 ? status : 0;
}

/* Asks for the socket with further header lines, or NULL; the status. */
static inline int client_upgrade(const client *of, const char *token, const char *host, const char *lines) {
    char request[1024];
    int size = snprintf(request, sizeof request,
                        "GET /%s/live HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
                        token, host, lines ? lines : "");
    return client_write(of, request, (size_t)size) ? client_status(of) : 0;
}

/* Opens the socket as a browser would. */
static inline client client_watch(const char *url) {
    char host[64];
    client made = client_open(url);
    snprintf(host, sizeof host, "127.0.0.1:%u", made.port);
    if (made.handle >= 0 && client_upgrade(&made, made.token, host, NULL) != 101)
        client_close(&made);
    return made;
}

/* The next text message, with a zero behind it; to free(). NULL after the last. */
static inline char *client_message(const client *of, size_t *size) {
    unsigned char head[2], length[8];
    *size = 0;
    if (!client_read(of, head, 2) || (head[0] & 15) != 1)
        return NULL;
    size_t extra = (head[1] & 127) == 126 ? 2 : (head[1] & 127) == 127 ? 8 : 0;
    *size = extra ? 0 : head[1] & 127;
    if (!client_read(of, length, extra))
        return NULL;
    for (size_t i = 0; i < extra; i++)
        *size = *size << 8 | length[i];
    char *text = malloc(*size + 1);
    if (!text || !client_read(of, text, *size)) {
        free(text);
        return NULL;
    }
    text[*size] = 0;
    return text;
}

#endif
