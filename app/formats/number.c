/* SPDX-License-Identifier: MIT
 *
 * The idea is Clinger's: a decimal mantissa below 2^53 times or over a power of ten up to 10^22 is one correctly
 * rounded operation on two exact doubles. Numbers with up to 19 digits are off by two such roundings, and if
 * everything within that error rounds to one float, that float is the answer too. The rest goes to strtod. */
#include "number.h"

#include "platform.h"

#include <stddef.h>
#include <stdlib.h>

#define EXACT_POWER 22 /* 10^22 is the largest power of ten that is a double */
#define EXACT_MANTISSA ((uint64_t)1 << 53)
#define MANTISSA_DIGITS 19    /* as many digits fit 64 bits whatever they are */
#define EXPONENT_LIMIT 100000 /* beyond this every number is zero or infinite */

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* mantissa * 10^exponent; `exact` unless digits were left out. */
typedef struct decimal {
    uint64_t mantissa;
    int digits; /* of the mantissa, without leading zeros */
    int exponent;
    bool exact;
} decimal;

static const char *scan_digits(const char *text, decimal *number, int fraction) {
    for (; *text >= '0' && *text <= '9'; text++) {
        if (number->digits < MANTISSA_DIGITS) {
            number->mantissa = number->mantissa * 10 + (uint64_t)(*text - '0');
            number->digits += number->mantissa > 0;
            number->exponent -= fraction;
        } else {
            number->exact = false;
        }
    }
    return text;
}

/* An exponent behind a mantissa, if there is a whole one: "1e" is a number followed by text. */
static const char *scan_exponent(const char *text, decimal *number) {
    const char *cursor = text + 1;
    bool negative = *cursor == '-';
    if (*cursor == '-' || *cursor == '+')
        cursor++;
    if (*cursor < '0' || *cursor > '9')
        return text;
    int exponent = 0;
    for (; *cursor >= '0' && *cursor <= '9'; cursor++)
        if (exponent < EXPONENT_LIMIT)
            exponent = exponent * 10 + (*cursor - '0');
    number->exponent += negative ? -exponent : exponent;
    return cursor;
}

static const char *scan_decimal(const char *text, decimal *number) {
    const char *integer_end = scan_digits(text, number, 0);
    const char *end = integer_end;
    ptrdiff_t digits = integer_end - text;
    if (*end == '.') {
        end = scan_digits(integer_end + 1, number, 1);
        digits += end - integer_end - 1;
    }
    if (digits == 0)
        return NULL;
    return *end == 'e' || *end == 'E' ? scan_exponent(end, number) : end;
}

/* One or two roundings; false where that does not settle it. */
static bool quick_value(const decimal *number, bool as_float, double *value) {
    if (!number->exact || number->exponent < -EXACT_POWER || number->exponent > EXACT_POWER)
        return false;
    double mantissa = (double)number->mantissa;
    *value = number->exponent < 0 ? mantissa / powers[-number->exponent] : mantissa * powers[number->exponent];
    if (number->mantissa <= EXACT_MANTISSA)
        return true;
    /* Two roundings of 2^-53 each; the margin of 2^-51 also covers the rounding of the bounds themselves. */
    return as_float && (float)(*value * (1 - 0x1p-51)) == (float)(*value * (1 + 0x1p-51));
}

const char *ast_number_parse(const char *text, bool as_float, double *value) {
    decimal number = {.exact = true};
    bool negative = *text == '-';
    const char *end = scan_decimal(text + (*text == '-' || *text == '+'), &number);
    if (!end)
        return NULL;
    if (quick_value(&number, as_float, value))
        *value = negative ? -*value : *value;
    else
        *value = ast_parse_number(text);
    return end;
}

const char *ast_whole_parse(const char *text, const char *end, uint64_t *value) {
    const char *start = text;
    for (*value = 0; text != end && *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*text - '0'), value))
            *value = UINT64_MAX;
    return text > start ? text : NULL;
}
