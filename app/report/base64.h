/* SPDX-License-Identifier: MIT
 *
 * Base64 (RFC 4648). */
#ifndef ASTERISM_REPORT_BASE64_H
#define ASTERISM_REPORT_BASE64_H

#include <stddef.h>

/* One to three bytes as four characters. */
static inline void ast_base64_group(const unsigned char *bytes, size_t count, char out[4]) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = (unsigned)bytes[0] << 16;
    group |= count > 1 ? (unsigned)bytes[1] << 8 : 0;
    group |= count > 2 ? (unsigned)bytes[2] : 0;
    out[0] = digits[group >> 18];
    out[1] = digits[group >> 12 & 63];
    out[2] = count > 1 ? digits[group >> 6 & 63] : '=';
    out[3] = count > 2 ? digits[group & 63] : '=';
}

#endif
