/* SPDX-License-Identifier: MIT
 *
 * The part of the WebSocket protocol (RFC 6455) that a page of ours needs: the handshake, messages out, short messages
 * in. Bytes in, bytes out: nothing here knows of sockets. */
#ifndef ASTERISM_REPORT_WEBSOCKET_H
#define ASTERISM_REPORT_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AST_FRAME_TEXT = 1, AST_FRAME_BINARY = 2, AST_FRAME_CLOSE = 8, AST_FRAME_PING = 9, AST_FRAME_PONG = 10 };

/* The key of a browser, and the length of the answer to it, both base64. */
enum { AST_SOCKET_KEY = 24, AST_SOCKET_ANSWER = 28 };

/* Sec-WebSocket-Accept for that key. */
void ast_websocket_accept(const char *key, char answer[AST_SOCKET_ANSWER + 1]);

/* Writes the head of a whole message of the server; returns its length. */
enum { AST_FRAME_HEAD = 10 };
size_t ast_websocket_head(unsigned char head[AST_FRAME_HEAD], int opcode, size_t size);

/* The longest message that is taken from a browser. */
enum { AST_FRAME_MOST = 4096 };

typedef enum ast_frame_state { AST_FRAME_PART, AST_FRAME_WHOLE, AST_FRAME_BAD } ast_frame_state;

/* A message of a browser, in the bytes that it was read from. */
typedef struct ast_socket_message {
    int opcode;
    char *text;
    size_t size;
    size_t used; /* bytes that it took */
} ast_socket_message;

/* Reads the message at the beginning of `bytes` and unmasks it there. Bad: not masked, in several frames, longer than
 * AST_FRAME_MOST, of an unknown kind. */
ast_frame_state ast_websocket_read(unsigned char *bytes, size_t size, ast_socket_message *message);

#endif
