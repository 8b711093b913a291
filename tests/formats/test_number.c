/* SPDX-License-Identifier: MIT
 *
 * The number parser against strtod: the same double to the last bit, and with `as_float` the same float, on numbers of
 * every length, size and shape, ties included. */
#include "helpers.h"

#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void check(const char *text) {
    double right = strtod(text, NULL), found, near;
    const char *end = text + strlen(text);
    if (ast_number_parse(text, false, &found) != end || memcmp(&found, &right, sizeof found) != 0)
        fail_msg("%s is %.17g and not %.17g", text, found, right);
    assert_ptr_equal(ast_number_parse(text, true, &near), end);
    float right_float = (float)right, near_float = (float)near;
    if (memcmp(&near_float, &right_float, sizeof near_float) != 0)
        fail_msg("%s as float is %.9g and not %.9g", text, (double)near_float, (double)right_float);
}

static void known_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "0.0",
                                        "-0.000",
                                        "1",
                                        "00012.500",
                                        "1e22",
                                        "1e23",
                                        "-1e-22",
                                        "1e-23",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "1.7976931348623157e308",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "1e400",
                                        "-1e400",
                                        "1e-400",
                                        "0e999999999",
                                        "0.1",
                                        "0.3",
                                        "5e-1",
                                        ".5",
                                        "5.",
                                        "+7",
                                        "1e+5",
                                        "1E-05",
                                        "16777217",
                                        "16777217.0000000001",
                                        "16777216.9999999999",
                                        "3.4028235677973366e38",
                                        "0.000000000000000000000000000000000000011754944",
                                        "123456789012345678901234567890e-10",
                                        "0.99999997019767761230468750000000000000001",
                                        "0.9999999701976776123046875",
                                        "8.5899345919999999999e9"};
    for (size_t i = 0; i < ITEMS(texts); i++)
        check(texts[i]);
}

static void random_digits(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    char text[128];
    for (int i = 0; i < 300000; i++) {
        int before = (int)(next_random(&seed) % 12), after = (int)(next_random(&seed) % 14), length = 0;
        if (next_random(&seed) % 2)
            text[length++] = '-';
        for (int d = 0; d <= before; d++)
            text[length++] = (char)('0' + next_random(&seed) % 10);
        text[length++] = '.';
        for (int d = 0; d < after; d++)
            text[length++] = (char)('0' + next_random(&seed) % 10);
        if (next_random(&seed) % 3 == 0)
            length += sprintf(text + length, "e%d", (int)(next_random(&seed) % 700) - 350);
        text[length] = '\0';
        check(text);
    }
}

/* Floats, and the middle between two floats, where the fast way must see that it cannot tell. */
static void halfway_cases(void **state) {
    (void)state;
    uint64_t seed = 362436069;
    char text[400];
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)next_random(&seed) & 0x7FFFFFFF;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        double middle = ((double)value + (double)nextafterf(value, INFINITY)) / 2;
        for (int digits = 6; digits <= 21; digits++) {
            sprintf(text, "%.*g", digits, isfinite(middle) && i % 2 ? middle : (double)value);
            check(text);
        }
    }
}

static void no_numbers(void **state) {
    (void)state;
    double value;
    static const char *const texts[] = {"", "-", "+", ".", "-.", "e5", ".e5", "nan", "inf", "x1", " 1"};
    for (size_t i = 0; i < ITEMS(texts); i++)
        assert_null(ast_number_parse(texts[i], false, &value));
    const char *text = "12e,";
    assert_ptr_equal(ast_number_parse(text, false, &value), text + 2);
    assert_true(value == 12);
    text = "1.5e+x";
    assert_ptr_equal(ast_number_parse(text, true, &value), text + 3);
    text = "0x10";
    assert_ptr_equal(ast_number_parse(text, true, &value), text + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_numbers), cmocka_unit_test(random_digits),
                                       cmocka_unit_test(halfway_cases), cmocka_unit_test(no_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
