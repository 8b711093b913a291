/* SPDX-License-Identifier: MIT
 *
 * Decimal numbers, fast and correctly rounded. */
#ifndef ASTERISM_FORMATS_NUMBER_H
#define ASTERISM_FORMATS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number that begins at `text`: sign, digits with a point among them, exponent. Returns where it ends, or
 * NULL if no number begins there ("nan", "inf" and hexadecimal are none). The text must end in a byte that belongs to
 * no number, such as NUL. The value is the nearest double, or infinity; with `as_float` it is only sure to round to
 * the same float as the nearest double does, which is all that a float needs and can be had faster.
 * The decimal separator is a point, whatever locale the program has set. */
const char *ast_number_parse(const char *text, bool as_float, double *value);

/* Reads the digits that begin at `text`, up to `end`; if that is NULL, up to a byte that is no digit. Returns where
 * they end, or NULL if there are none. The value is UINT64_MAX if it is too large for 64 bits. */
const char *ast_whole_parse(const char *text, const char *end, uint64_t *value);

#endif
