/* SPDX-License-Identifier: MIT
 *
 * Which first line of a text is a header, and which first column an index: what pandas, R and numpy write, and rows
 * that only look like it. */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct header_case {
    const char *text, *columns, *names;
    ast_header header;
    size_t rows, width;
    double first, last; /* numbers of the table */
    const char *remark; /* part of it; NULL: there is none */
} header_case;

#define INDEX "points.csv: column 1 counts the rows and has no name: it is left out as an index; --columns 1-"
#define GUESS "points.csv: line 1 holds the numbers of the columns and is taken as a header; --header no"
#define KEPT "points.csv: column 1 has no name and is read as a coordinate; --columns 2-"

static void expect_case(const header_case *one) {
    ast_input input;
    ast_format_error error;
    char remark[AST_REMARK] = "";
    ast_input_options options = {
        .format = "csv", .columns = one->columns, .names = one->names, .header = one->header, .remark = remark};
    if (!ast_input_open_memory(&input, "points.csv", one->text, strlen(one->text), &options, &error))
        fail_msg("%s: %s", one->text, error.text);
    if (input.points.count != one->rows || input.points.dimension != one->width)
        fail_msg("%s: %zu x %zu, not %zu x %zu", one->text, input.points.count, input.points.dimension, one->rows,
                 one->width);
    if (element(&input.points, 0, 0) != one->first ||
        element(&input.points, one->rows - 1, one->width - 1) != one->last)
        fail_msg("%s: from %g to %g", one->text, element(&input.points, 0, 0),
                 element(&input.points, one->rows - 1, one->width - 1));
    if (one->remark ? !strstr(remark, one->remark) : remark[0] != '\0')
        fail_msg("%s: the remark is '%s'", one->text, remark);
    assert_int_equal(input.names.count, one->names ? one->rows : 0);
    ast_input_close(&input);
}

static void expect_cases(const header_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        expect_case(&cases[i]);
}

static void what_pandas_writes(void **state) {
    (void)state;
    static const header_case cases[] = {
        /* to_csv() of a frame of an array, of named columns, of a slice; read and written again; with tabs; one row */
        {",0,1,2\n0,.5,.25,2\n1,.5,.5,3\n", .rows = 2, .width = 3, .first = .5, .last = 3, .remark = INDEX "4"},
        {",x,y\n0,.5,2\n1,.25,3\n2,.5,4\n", .rows = 3, .width = 2, .first = .5, .last = 4, .remark = INDEX "3"},
        {",0,1\n100,.5,2\n101,.25,3\n", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = INDEX "3"},
        {"Unnamed: 0,0,1\n0,.5,2\n1,.25,3\n", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = INDEX "3"},
        {"\t0\t1\n0\t.5\t2\n1\t.25\t3\n", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = INDEX "3"},
        {",0,1\n0,.5,2\n", .rows = 1, .width = 2, .first = .5, .last = 2, .remark = INDEX "3"},
        {",1,2\n0,.5,2\n1,.5,2\n", .rows = 2, .width = 2, .first = .5, .last = 2, .remark = INDEX "3"},
        {"\"\" 0 1\n0 .5 2\n1 .5 3\n", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = INDEX "3"},
        /* An index that does not count is kept, with a word. */
        {",0,1\n7,.5,2\n3,.25,3\n", .rows = 2, .width = 3, .first = 7, .last = 3, .remark = KEPT "3"},
        /* Without an index, without a header */
        {"0,1,2\n.5,.25,2\n.5,.5,3\n", .rows = 2, .width = 3, .first = .5, .last = 3, .remark = GUESS},
        {"1,2\n.5,.25\n", .rows = 1, .width = 2, .first = .5, .last = .25, .remark = GUESS},
        {"0,1,2,3,4,5,6,7\n5,0,0,0,0,0,0,9\n", .rows = 1, .width = 8, .first = 5, .last = 9, .remark = GUESS},
        {"0,.5,2\n1,.25,3\n2,.5,4\n", .rows = 3, .width = 2, .first = .5, .last = 4, .remark = INDEX "3"},
        /* So is one that is called an id. Of ids that do not count the file says nothing. */
        {"ID,0,1\n0,.5,2\n1,.25,3\n", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = "and is called an id"},
        {"id,x,y\n7,.5,2\n3,.25,3\n", .rows = 2, .width = 3, .first = 7, .last = 3},
        /* An index of another name is a column like others, and a name that counts is its header. */
        {"day,0,1\n0,.5,2\n1,.25,3\n", .rows = 2, .width = 3, .first = 0, .last = 3},
        {"title,0,1\na,.5,2\nb,.25,3\n", .names = "title", .rows = 2, .width = 2, .first = .5, .last = 3},
        {"title,0,1\na,.5,.5\nb,.25,3\n", .names = "1", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = GUESS},
        {",0,1\na,.5,.5\nb,.25,3\n", .names = "1", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = GUESS},
        /* The user has decided. */
        {",0,1\n0,.5,2\n1,.25,3\n", "1-3", .rows = 2, .width = 3, .first = 0, .last = 3},
        {",0,1\n0,.5,.5\n1,.25,3\n", "2-3", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = GUESS},
        {"0,1,2\n.5,.25,2\n", .header = AST_HEADER_NO, .rows = 2, .width = 3, .first = 0, .last = 2},
        {"7,8\n.5,.25\n", .header = AST_HEADER_YES, .rows = 1, .width = 2, .first = .5, .last = .25},
        {"a,8,b\n5,6,7\n", .header = AST_HEADER_YES, .rows = 1, .width = 3, .first = 5, .last = 7},
    };
    expect_cases(cases, ITEMS(cases));
}

static void what_r_writes(void **state) {
    (void)state;
    static const header_case cases[] = {
        {"\"\",\"V1\",\"V2\"\n\"1\",.5,2\n\"2\",.25,3\n", .rows = 2, .width = 2, .first = .5, .last = 3,
         .remark = INDEX},
        {"\"V1\" \"V2\"\n1 .5 2\n2 .25 3\n", .rows = 2, .width = 2, .first = .5, .last = 3, .remark = INDEX "3"}};
    for (size_t i = 0; i < ITEMS(cases); i++)
        expect_case(&cases[i]);
}

static void what_is_neither(void **state) {
    (void)state;
    static const header_case cases[] = {
        /* Directions of two and three dimensions, whole ones, few rows */
        {"1,2\n3,4\n", .rows = 2, .width = 2, .first = 1, .last = 4},
        {"0 1\n1 0\n", .rows = 2, .width = 2, .first = 0, .last = 0},
        {"0 1\n0.6 1\n", .rows = 2, .width = 2, .first = 0, .last = 1},
        {"0 1 2\n1 1 2\n", .rows = 2, .width = 3, .first = 0, .last = 2},
        {"0 .5 1\n1 .5 1\n", .rows = 2, .width = 3, .first = 0, .last = 1},
        {"0 1 2\n", .rows = 1, .width = 3, .first = 0, .last = 2},
        {"0 .5\n1 .5\n2 .5\n", .rows = 3, .width = 2, .first = 0, .last = .5},
        {"0 .5 1\n1 .5 1\n3 .5 1\n", .rows = 3, .width = 3, .first = 0, .last = 1},
        {"0 .5 1\n1 .5 1\n1 .5 1\n", .rows = 3, .width = 3, .first = 0, .last = 1},
        {"x,y,z\n0,1,2\n1,2,3\n2,3,4\n", .rows = 3, .width = 3, .first = 0, .last = 4},
        {"5,6,7\n.5,.5,.5\n", .rows = 2, .width = 3, .first = 5, .last = .5},
    };
    expect_cases(cases, ITEMS(cases));
}

static void sentences(void **state) {
    (void)state;
    ast_input input;
    ast_format_error error;
    ast_input_options options = {.format = "csv", .header = AST_HEADER_NO};
    assert_false(ast_input_open_memory(&input, "points.csv", "x,y\n1,2\n", 8, &options, &error));
    assert_non_null(strstr(error.text, "points.csv: line 1, column 1: 'x' is not a number"));
    options.columns = "x";
    assert_false(ast_input_open_memory(&input, "points.csv", "x,y\n1,2\n", 8, &options, &error));
    assert_string_equal(error.text, "points.csv: --header no leaves no names of columns; give the columns by number");
    options = (ast_input_options){.header = AST_HEADER_YES};
    assert_false(ast_input_check("points.npy", &options, &error));
    assert_string_equal(error.text, "--header is for text, such as .csv, and points.npy is none");
    expect_problem("0,1,2\n0,.5,.25,2\n", NULL, "line 2 has 4 columns, but line 1, the first row, has 3");
}

/* A Series of pandas, as labels and weights; and labels that are numbers like any other. */
static void labels(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        int32_t last;
    } cases[] = {{",0\n0,5\n1,6\n2,7\n", 3, 7}, {",label\n0,5\n1,6\n", 2, 6}, {"0\n1\n2\n", 3, 2},
                 {"0 1 2 3\n", 4, 3},           {"0 1\n5 5\n", 4, 5},         {"0 7\n1 7\n2 8\n", 6, 8}};
    for (size_t i = 0; i < ITEMS(cases); i++) {
        int32_t *found;
        size_t count;
        ast_format_error error;
        write_text("labels.csv", cases[i].text);
        if (!ast_read_labels("labels.csv", NULL, &found, &count, &error))
            fail_msg("%s", error.text);
        assert_int_equal(count, cases[i].count);
        assert_int_equal(found[count - 1], cases[i].last);
        free(found);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_pandas_writes), cmocka_unit_test(what_r_writes),
                                       cmocka_unit_test(what_is_neither), cmocka_unit_test(sentences),
                                       cmocka_unit_test(labels)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
