/* SPDX-License-Identifier: MIT
 *
 * A test program that skipped one of its tests, for example because real data are missing, ends with 77, which ctest
 * reports as skipped: cmocka by itself returns 0. The linker calls these functions in place of cmocka's (--wrap). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool skipped;

void __real__skip(const char *file, int line);
void __wrap__skip(const char *file, int line);
int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction begin, CMFixtureFunction end);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction begin, CMFixtureFunction end);

void __wrap__skip(const char *file, int line) {
    skipped = true;
    __real__skip(file, line);
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count,
                                   CMFixtureFunction begin, CMFixtureFunction end) {
    int failed = __real__cmocka_run_group_tests(name, tests, count, begin, end);
    return failed ? 1 : skipped ? 77 : 0; /* cmocka returns how many failed, which must not be taken for the 77 */
}
