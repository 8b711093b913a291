/* SPDX-License-Identifier: MIT
 *
 * SHA-1 is what the handshake asks for; nothing secret depends on it. */
#include "websocket.h"

#include "base64.h"

#include <string.h>

#define MAGIC "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

enum { BLOCK = 64, HASH = 20 };

/* ---- The handshake ----------------------------------------------------------------------------------------------- */

static uint32_t rotate(uint32_t value, int by) {
    return value << by | value >> (32 - by);
}

static uint32_t word_at(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* One block of SHA-1 (FIPS 180-4). */
static void hash_block(uint32_t state[5], const unsigned char block[BLOCK]) {
    uint32_t w[80] = {0}, a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (size_t t = 0; t < 80; t++)
        w[t] = t < 16 ? word_at(block + 4 * t) : rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (int t = 0; t < 80; t++) {
        uint32_t f = t < 20 ? (b & c) | (~b & d) : t < 40 || t >= 60 ? b ^ c ^ d : (b & c) | (b & d) | (c & d);
        uint32_t k = t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        uint32_t next = rotate(a, 5) + f + e + k + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* The hash of a short text: key and magic fill two blocks. */
static void hash(const char *text, size_t size, unsigned char out[HASH]) {
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    unsigned char blocks[2 * BLOCK] = {0};
    memcpy(blocks, text, size);
    blocks[size] = 0x80;
    blocks[2 * BLOCK - 2] = (unsigned char)(8 * size >> 8);
    blocks[2 * BLOCK - 1] = (unsigned char)(8 * size);
    hash_block(state, blocks);
    hash_block(state, blocks + BLOCK);
    for (size_t i = 0; i < HASH; i++)
        out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void ast_websocket_accept(const char *key, char answer[AST_SOCKET_ANSWER + 1]) {
    char text[AST_SOCKET_KEY + sizeof MAGIC];
    unsigned char bytes[HASH];
    memcpy(text, key, AST_SOCKET_KEY);
    memcpy(text + AST_SOCKET_KEY, MAGIC, sizeof MAGIC);
    hash(text, sizeof text - 1, bytes);
    for (size_t i = 0; i < HASH; i += 3)
        ast_base64_group(bytes + i, HASH - i < 3 ? HASH - i : 3, answer + i / 3 * 4);
    answer[AST_SOCKET_ANSWER] = 0;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

size_t ast_websocket_head(unsigned char head[AST_FRAME_HEAD], int opcode, size_t size) {
    size_t extra = size < 126 ? 0 : size < 65536 ? 2 : 8;
    head[0] = (unsigned char)(0x80 | opcode);
    head[1] = (unsigned char)(extra == 0 ? size : extra == 2 ? 126 : 127);
    for (size_t i = 0; i < extra; i++)
        head[2 + i] = (unsigned char)((uint64_t)size >> 8 * (extra - 1 - i));
    return 2 + extra;
}

static bool is_known(int opcode) {
    return opcode == AST_FRAME_TEXT || opcode == AST_FRAME_BINARY ||
           (opcode >= AST_FRAME_CLOSE && opcode <= AST_FRAME_PONG);
}

ast_frame_state ast_websocket_read(unsigned char *bytes, size_t size, ast_socket_message *message) {
    enum { FINAL = 0x80, RESERVED = 0x70, MASKED = 0x80, SHORT = 125, MASK = 4 };
    if (size < 2)
        return AST_FRAME_PART;
    int opcode = bytes[0] & 15;
    size_t length = bytes[1] & 127, extra = length == 126 ? 2 : 0;
    if (!(bytes[0] & FINAL) || (bytes[0] & RESERVED) || !(bytes[1] & MASKED) || !is_known(opcode) || length == 127 ||
        (opcode >= AST_FRAME_CLOSE && length > SHORT))
        return AST_FRAME_BAD;
    if (size < 2 + extra + MASK)
        return AST_FRAME_PART;
    if (extra)
        length = (size_t)bytes[2] << 8 | bytes[3];
    if (length > AST_FRAME_MOST)
        return AST_FRAME_BAD;
    unsigned char *mask = bytes + 2 + extra, *text = mask + MASK;
    if (size < 2 + extra + MASK + length)
        return AST_FRAME_PART;
    for (size_t i = 0; i < length; i++)
        text[i] ^= mask[i % MASK];
    *message = (ast_socket_message){opcode, (char *)text, length, 2 + extra + MASK + length};
    return AST_FRAME_WHOLE;
}
