/* SPDX-License-Identifier: MIT
 *
 * LZF, as PCD files have it. A control byte below 32 is followed by that many bytes and one more as they are. Any other
 * is a copy of what came out before: its upper three bits are the length minus 2 (all set: the next byte is added), its
 * lower five and the byte behind them the distance minus 1. */
#include "pcd.h"

#include <string.h>

typedef struct stream {
    const unsigned char *at, *end;
    unsigned char *begin, *place, *limit;
} stream;

static bool copy_plain(stream *s, size_t length) {
    if ((size_t)(s->end - s->at) < length || (size_t)(s->limit - s->place) < length)
        return false;
    memcpy(s->place, s->at, length);
    s->at += length;
    s->place += length;
    return true;
}

/* The copy may reach into itself: a distance of 1 repeats a byte. */
static bool copy_back(stream *s, unsigned control) {
    size_t length = control >> 5;
    if (s->end - s->at < (length == 7 ? 2 : 1))
        return false;
    if (length == 7)
        length += *s->at++;
    length += 2;
    size_t distance = ((size_t)(control & 31) << 8 | *s->at++) + 1;
    if (distance > (size_t)(s->place - s->begin) || length > (size_t)(s->limit - s->place))
        return false;
    const unsigned char *from = s->place - distance;
    if (distance >= length)
        memcpy(s->place, from, length);
    else
        for (size_t i = 0; i < length; i++)
            s->place[i] = from[i];
    s->place += length;
    return true;
}

bool ast_lzf_decompress(unsigned char *place, size_t size, const unsigned char *input, size_t input_size) {
    stream s = {.at = input, .end = input + input_size, .begin = place, .place = place, .limit = place + size};
    bool good = true;
    while (s.at < s.end && good) {
        unsigned control = *s.at++;
        good = control < 32 ? copy_plain(&s, (size_t)control + 1) : copy_back(&s, control);
    }
    return good && s.place == s.limit;
}
