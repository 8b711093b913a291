/* SPDX-License-Identifier: MIT
 *
 * Tables of text: separators, headers, comments, line ends, missing numbers, columns, and a sentence with line and
 * column for everything that is wrong. */
#include "helpers.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float six[] = {1, 2, 3, 4, 5, 6};

static void separators(void **state) {
    (void)state;
    static const char *const texts[] = {
        "1,2,3\n4,5,6\n",      "1;2;3\n4;5;6\n",     "1\t2\t3\n4\t5\t6\n",         "1 2 3\n4 5 6\n",
        "  1   2  3 \n4 5 6 ", "1, 2, 3\n4, 5, 6",   "1 ,2 ,3\n 4 ,5 , 6\n",       "1 ; 2 ; 3\n4;5;6",
        "1 \t2\t 3\n4\t5\t6",  " 1\t 2 3\n4 5\t6\n", "\"1\",\"2\",3\n4,5,\" 6 \"", "+1,2.0,3e0\n4.,.5e1,60E-1\n"};
    for (size_t i = 0; i < ITEMS(texts); i++)
        expect_table(texts[i], NULL, 2, 3, six);
}

static void line_ends(void **state) {
    (void)state;
    static const char *const texts[] = {"1,2,3\r\n4,5,6\r\n",
                                        "1,2,3\r4,5,6\r",
                                        "1,2,3\r\r\n4,5,6\r\r\n",
                                        "\n\n1,2,3\n \n4,5,6\n\n",
                                        "\xEF\xBB\xBF"
                                        "1,2,3\n4,5,6",
                                        "1 2 3\r\n\r\n4 5 6"};
    for (size_t i = 0; i < ITEMS(texts); i++)
        expect_table(texts[i], NULL, 2, 3, six);
    expect_problem("1,2\r\n3,4\r\n5,x\r\n", NULL, "line 3, column 2: 'x'");
    expect_problem("1,2\r3,4\r5,x\r", NULL, "line 3, column 2: 'x'");
}

static void headers(void **state) {
    (void)state;
    static const char *const texts[] = {"x,y,z\n1,2,3\n4,5,6\n",    "\"x\",\"y, or so\",\"z\"\n1,2,3\n4,5,6\n",
                                        ",x,y\n1,2,3\n4,5,6\n",     "# made by us\n\nx y z\n1 2 3\n4 5 6\n",
                                        "only one\n1,2,3\n4,5,6\n", "x\ty\tz\textra\n1\t2\t3\n4\t5\t6\n"};
    for (size_t i = 0; i < ITEMS(texts); i++)
        expect_table(texts[i], NULL, 2, 3, six);
    /* Text in columns that are not wanted makes no header. */
    expect_table("a,1,2,3\nb,4,5,6\n", "2-4", 2, 3, six);
    expect_table("name,x,y,z\na,1,2,3\nb,4,5,6\n", "2-4", 2, 3, six);
    /* By name, mixed with numbers, in any case of letters, quoted. */
    expect_table("name,x,y,z\na,1,2,3\nb,4,5,6\n", "x,y,z", 2, 3, six);
    expect_table("# made by us\nz y name x\n3 2 a 1\n6 5 b 4\n", "X,2,z", 2, 3, six);
    expect_table("\"x, or so\",\"y\",z,w\n9,1,2,3\n9,4,5,6\n", "y,3-4", 2, 3, six);
    expect_table("X,x,y,z\n9,1,2,3\n9,4,5,6\n", "x, y ,z", 2, 3, six);
    expect_problem("x,y\n1,2\n", "x,z", "points.csv: has no column 'z'; its columns are x, y");
    expect_problem("X,x\n1,2\n", "x,2", "names column 2 twice");
    expect_problem("X,x\n1,2\n", "x,2", "points.csv: the list of columns '2,2'");
    expect_problem("a,A\n1,2\n", "x,2", "has no column 'x'");
    expect_problem("1,2\n3,4\n", "x,y", "has no header with names of columns; give the columns by number");
    expect_problem("x,y\n1,2\n", "x,3", "line 2 has 2 columns, and column 3 is asked for");
    expect_problem("x,y\n", "x,y", "points.csv: has no row of numbers");
    expect_problem("", "x,y", "has no header with names of columns");
    /* Half a header is a mistake, not a header: it would be a row lost. */
    expect_problem("1,abc,3\n4,5,6\n", NULL, "points.csv: line 1, column 2: 'abc' is not a number");
    expect_problem("abc,2,3\n4,5,6\n", NULL,
                   "points.csv: line 1, column 1: 'abc' is not a number; if some columns "
                   "hold text, choose the others, such as --columns 2-101");
    expect_problem("x,y\nx,y\n1,2\n", NULL, "line 2, column 1: 'x'");
    expect_problem("x,y,z\n", NULL, "points.csv: has no row of numbers");
    expect_problem("inf,x\n1,2\n", NULL, "line 1, column 1: 'inf' is infinite");
}

static void comments(void **state) {
    (void)state;
    expect_table("# a\n1,2,3\n# b\n  # c\n4,5,6\n#", NULL, 2, 3, six);
    expect_table("#1,2,3\n1,2,3\n#1,1,1\n4,5,6\n", NULL, 2, 3, six);
    /* A table of words may hold the words # and " and , and nan. */
    static const float words[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    expect_table("the 1 2\n# 3 4\n\" 5 6\n, 7 8\nnan 9 10\n#tag 11 12\n", "2-3", 6, 2, words);
    expect_table(", 1 2\n\" 3 4\n\"x 5 6\n", "2-3", 3, 2, six);
    /* But a comment is none of them: text, or too few or too many fields. */
    expect_table("# time x y\na 1 2 3\n# done so far\n# 1\n# 1 2 3 4\nb 4 5 6\n", "2-4", 2, 3, six);
}

static void missing_numbers(void **state) {
    (void)state;
    static const float gaps[] = {1, NAN, 3, NAN, 5, NAN};
    expect_table("1,,3\n,5,\n", NULL, 2, 3, gaps);
    expect_table("1;;3\n;5;\n", NULL, 2, 3, gaps);
    expect_table("1\t\t3\n\t5\t\n", NULL, 2, 3, gaps);
    expect_table("1 nan 3\nNaN 5 NAN\n", NULL, 2, 3, gaps);
    expect_table("1,-nan,3\nNA,5,\"\"\n", NULL, 2, 3, gaps);
    static const float none[] = {NAN, NAN};
    expect_table("nan,nan\n", NULL, 1, 2, none);
}

static void wrong_fields(void **state) {
    (void)state;
    expect_problem("1,2,3\n4,abc,6\n", NULL, "points.csv: line 2, column 2: 'abc' is not a number");
    expect_problem("1 2 3\n4 5 6x\n", NULL, "line 2, column 3: '6x' is not a number");
    expect_problem("1,2\n1,0x10\n", NULL, "column 2: '0x10' is not a number");
    expect_problem("1,2\n1,1e\n", NULL, "'1e' is not a number");
    expect_problem("1,2\n1,.\n", NULL, "'.' is not a number");
    expect_problem("1,2\n1,-\n", NULL, "'-' is not a number");
    expect_problem("1,2\n1,--1\n", NULL, "'--1' is not a number");
    expect_problem("1,2\n1,1 2\n", NULL, "'1 2' is not a number");
    expect_problem("x;y\n38,5;81\n", NULL, "'38,5' is not a number; decimals have a point, not a comma");
    expect_problem("1,2\n1,inf\n", NULL, "line 2, column 2: 'inf' is infinite");
    expect_problem("1,2\n-Infinity,1\n", NULL, "line 2, column 1: '-Infinity' is infinite");
    expect_problem("1,2\n1,3.5e38\n", NULL, "line 2, column 2: '3.5e38' is out of range");
    expect_problem("1,2\n1,\"-1e999\"\n", NULL, "'-1e999' is out of range");
    expect_problem("1,2\n1,1e99999999999999999999\n", NULL, "out of range");
    expect_problem("1,2\n1,\"2\" x\n", NULL, "line 2, column 2: there is text behind the closing quote");
    expect_problem("1,2\n1,\"2\n", NULL, "line 2, column 2");
    expect_problem("1,2\n\"two\nlines\",1\n", NULL, "'two?lines' is not a number");
    expect_problem("1,2\n\x01\x7F"
                   "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz,2\n",
                   NULL, "'??abcdefghij");
    expect_problem("", NULL, "has no row");
    expect_problem("\n\n  \n", NULL, "has no row");
    expect_problem("\xFF\xFE"
                   "1\0,\0",
                   NULL, "UTF-16");
    static const float edge[] = {3.4028235e38f, -3.4028235e38f, 0, 1e-45f};
    expect_table("3.4028235e38,-3.40282351e38,1e-60,1.4e-45\n", NULL, 1, 4, edge);
}

static void ragged_rows(void **state) {
    (void)state;
    expect_problem("x,y,z\n1,2,3\n4,5\n", NULL, "points.csv: line 3 has 2 columns, but line 2, the first row, has 3");
    expect_problem("1,2,3\n4,5,6,7\n", NULL, "line 2 has 4 columns, but line 1");
    expect_problem("1 2 3\n4 5 6\n7\n", NULL, "line 3 has 1 column, but");
    expect_problem("a,1,2\nb,1,2,3\n", "2", "line 2 has 4 columns");
    expect_problem("1,2,3\n4,5,6\n", "4", "line 1 has 3 columns, and column 4 is asked for");
}

static void columns_in_any_order(void **state) {
    (void)state;
    static const float picked[] = {3, 1, 6, 4};
    expect_table("1,2,3\n4,5,6\n", "3,1", 2, 2, picked);
    expect_table("1 2 3\n4 5 6\n", "3,1", 2, 2, picked);
    expect_problem("1,2\n", "0", "'0' is no list of columns");
    expect_problem("1,2\n", "2-1", "runs backwards");
}

static void transposed(void **state) {
    (void)state;
    ast_input input;
    ast_format_error error;
    assert_true(open_text(&input, "1 2 3\n4 5 6\n", "2-3", true, &error));
    assert_int_equal(input.points.count, 2);
    assert_int_equal(input.points.dimension, 2);
    assert_true(element(&input.points, 0, 1) == 5 && element(&input.points, 1, 0) == 3);
    ast_input_close(&input);
}

/* Fields, lines and line ends that cross the border of two buffers, at every place around it. */
static void long_files(void **state) {
    (void)state;
    size_t rows = 200000;
    char *text = malloc(rows * 24 + 4096);
    for (int shift = 0; shift < 24; shift++) {
        size_t size = (size_t)sprintf(text, "#%*s\r\n", shift, "");
        for (size_t i = 0; i < rows; i++)
            size += (size_t)sprintf(text + size, "%zu,%zu.25\r\n", i, i % 1000);
        ast_input_options options = {.format = "csv"};
        ast_format_error error;
        ast_input input;
        if (!ast_input_open_memory(&input, "long.csv", text, size, &options, &error))
            fail_msg("%s", error.text);
        assert_int_equal(input.points.count, rows);
        const float *numbers = input.points.data;
        for (size_t i = 0; i < rows; i++)
            assert_true(numbers[2 * i] == (float)i && numbers[2 * i + 1] == (float)(i % 1000) + 0.25f);
        ast_input_close(&input);
        text[size - 3] = 'x';
        assert_false(ast_input_open_memory(&input, "long.csv", text, size, &options, &error));
        assert_non_null(strstr(error.text, "long.csv: line 200001, column 2"));
    }
    free(text);
}

static void very_long_fields(void **state) {
    (void)state;
    size_t size = 3 << 20;
    char *text = malloc(size + 16);
    ast_input_options options = {.format = "csv"};
    ast_format_error error;
    ast_input input;
    memset(text, '1', size);
    assert_false(ast_input_open_memory(&input, "long.csv", text, size, &options, &error));
    assert_non_null(strstr(error.text, "line 1, column 1: is longer than"));
    memset(text, ' ', size);
    assert_false(ast_input_open_memory(&input, "long.csv", text, size, &options, &error));
    /* A comment may be as long as it likes. */
    memset(text, '#', size);
    strcpy(text + size, "\n1,2\n");
    assert_true(ast_input_open_memory(&input, "long.csv", text, size + 5, &options, &error));
    assert_int_equal(input.points.count, 1);
    ast_input_close(&input);
    /* The quote of the long field is not closed in sight. */
    memset(text, 'a', size);
    memcpy(text, "1,2\n\"", 5);
    assert_false(ast_input_open_memory(&input, "long.csv", text, size, &options, &error));
    assert_non_null(strstr(error.text, "quote is never closed"));
    free(text);
}

static void cut_at_every_byte(void **state) {
    (void)state;
    static const char whole[] = "\xEF\xBB\xBF# c\r\n\"x\",\"y\"\"z\"\r\n1.5e3,\"-2\"\r\nnan,\r\n";
    for (size_t cut = 0; cut < sizeof whole; cut++) {
        char *part = malloc(cut ? cut : 1);
        memcpy(part, whole, cut);
        ast_input_options options = {.format = "txt"};
        ast_format_error error = {""};
        ast_input input;
        bool opened = ast_input_open_memory(&input, "cut.txt", part, cut, &options, &error);
        assert_true(opened || strncmp(error.text, "cut.txt: ", 9) == 0);
        ast_input_close(&input);
        free(part);
    }
}

static void nul_bytes(void **state) {
    (void)state;
    ast_input_options options = {.format = "csv"};
    ast_format_error error;
    ast_input input;
    assert_false(ast_input_open_memory(&input, "nul.csv", "1,2\n3,\0\n", 8, &options, &error));
    assert_string_equal(error.text, "nul.csv: line 2, column 2: '?' is not a number");
}

/* Where the program's locale writes decimal commas, files still have points. */
static void other_locales(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool set = false;
    for (size_t i = 0; i < ITEMS(names) && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set)
        print_message("no locale with decimal commas is installed: tested in the C locale only\n");
    static const float expected[] = {0.123456791f, 1.5f};
    expect_table("0.12345678901234567890123,1.5\n", NULL, 1, 2, expected);
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators),       cmocka_unit_test(line_ends),
        cmocka_unit_test(headers),          cmocka_unit_test(comments),
        cmocka_unit_test(missing_numbers),  cmocka_unit_test(wrong_fields),
        cmocka_unit_test(ragged_rows),      cmocka_unit_test(columns_in_any_order),
        cmocka_unit_test(transposed),       cmocka_unit_test(long_files),
        cmocka_unit_test(very_long_fields), cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(nul_bytes),        cmocka_unit_test(other_locales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
