/* SPDX-License-Identifier: MIT
 *
 * What the headers of .npy and .safetensors have in common: blanks, single characters and whole numbers. */
#ifndef ASTERISM_FORMATS_SCAN_H
#define ASTERISM_FORMATS_SCAN_H

#include "number.h"

/* A header that is being read. Strings of .safetensors are decoded in place. */
typedef struct ast_scan {
    char *cursor, *end;
} ast_scan;

static inline void ast_scan_blanks(ast_scan *scan) {
    while (scan->cursor < scan->end &&
           (*scan->cursor == ' ' || *scan->cursor == '\t' || *scan->cursor == '\n' || *scan->cursor == '\r'))
        scan->cursor++;
}

/* Skips blanks and then the character, if it is there. */
static inline bool ast_scan_accept(ast_scan *scan, char wanted) {
    ast_scan_blanks(scan);
    if (scan->cursor == scan->end || *scan->cursor != wanted)
        return false;
    scan->cursor++;
    return true;
}

/* A whole number that is not negative. False if there is none, or it is too large. */
static inline bool ast_scan_number(ast_scan *scan, uint64_t *number) {
    ast_scan_blanks(scan);
    const char *after = ast_whole_parse(scan->cursor, scan->end, number);
    if (!after || *number == UINT64_MAX)
        return false;
    scan->cursor += after - scan->cursor;
    return true;
}

#endif
