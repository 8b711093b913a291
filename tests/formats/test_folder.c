/* SPDX-License-Identifier: MIT
 *
 * Folders in natural order. */
#include "helpers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void natural_order(void **state) {
    (void)state;
    /* In order; every pair is compared both ways, so this also shows that the order is one. */
    static const char *const sorted[] = {"",
                                         "1",
                                         "09",
                                         "9",
                                         "10",
                                         "99999999999999999999",
                                         "100000000000000000000",
                                         "a",
                                         "a1b2",
                                         "a1b10",
                                         "a2b1",
                                         "a10",
                                         "a010b",
                                         "b",
                                         "frame9.png",
                                         "frame10.png",
                                         "frame100.png",
                                         "\xC3\xA4"};
    for (size_t i = 0; i < ITEMS(sorted); i++)
        for (size_t j = 0; j < ITEMS(sorted); j++) {
            int order = ast_natural_compare(sorted[i], sorted[j]);
            if ((order > 0) != (i > j) || (order < 0) != (i < j))
                fail_msg("'%s' and '%s' compare as %d", sorted[i], sorted[j], order);
        }
    assert_true(ast_natural_compare("09", "10") < 0 && ast_natural_compare("9", "010") < 0);
    assert_true(ast_natural_compare("x007y2", "x7y10") < 0);
}

static void listing(void **state) {
    (void)state;
    static const char *const names[] = {"10.npy", "9.npy", "1.npy", ".hidden", "100.npy", "2.npy"};
    static const char *const sorted[] = {"f/1.npy", "f/2.npy", "f/9.npy", "f/10.npy", "f/100.npy"};
    ast_format_error error;
    ast_folder folder;
    assert_int_equal(mkdir("f", 0755), 0);
    assert_int_equal(mkdir("f/5", 0755), 0);
    assert_int_equal(chdir("f"), 0);
    for (size_t i = 0; i < ITEMS(names); i++)
        write_text(names[i], "");
    assert_int_equal(chdir(".."), 0);
    for (int slash = 0; slash < 2; slash++) {
        assert_true(ast_folder_list(&folder, slash ? "f/" : "f", &error));
        assert_int_equal(folder.count, 5);
        for (size_t i = 0; i < 5; i++)
            assert_string_equal(folder.paths[i], sorted[i]);
        ast_folder_free(&folder);
    }
    assert_true(ast_folder_list(&folder, "f/5", &error));
    assert_int_equal(folder.count, 0);
    ast_folder_free(&folder);
    assert_false(ast_folder_list(&folder, "absent", &error));
    assert_string_equal(error.text, "absent: cannot be opened as a folder: No such file or directory");
    assert_false(ast_folder_list(&folder, "f/1.npy", &error));
    ast_folder_free(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(natural_order), cmocka_unit_test(listing)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
